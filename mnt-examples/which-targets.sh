#!/bin/sh
# Prints which GPUs the code in libraries is for: one line per target, from the inventory alone.
#
# Usage: which-targets.sh LIB...
#
# GPUOBJ names the program (gpuobj). Needs jq. Exit status 1 if a library cannot be read.

set -u
. "$(dirname "$(readlink -f "$0")")/start.sh"
[ $# -gt 0 ] || wrong_usage
need "$gpuobj" jq

status=0
for lib; do
	targets=$("$gpuobj" ls "$lib" /targets) || {
		status=1
		continue
	}
	echo "$lib: $(echo "$targets" | grep -c .) targets"
	[ -n "$targets" ] || continue
	"$gpuobj" cat "$lib" 'targets/*/target.json' |
		jq -r '"  " + ([.target, .vendor, .kind, .family // "-", "\(.objects) objects"] | join("\t"))'
done
exit $status
