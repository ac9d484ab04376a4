#!/bin/sh
# Prints which GPUs the code in libraries is for: one line per target, from the inventory alone.
#
# Usage: which-targets.sh LIB...
#
# GPUOBJ names the program (gpuobj). Needs jq. Exit status 1 if a library cannot be read.

set -u
usage() {
	sed -n '2,/^$/s/^# \{0,1\}//p' "$0"
}
case ${1:-} in
-h | --help)
	usage
	exit 0
	;;
'')
	usage >&2
	exit 2
	;;
esac
gpuobj=${GPUOBJ:-gpuobj}
for program in "$gpuobj" jq; do
	command -v "$program" >/dev/null || {
		echo "which-targets.sh: $program is not there" >&2
		exit 2
	}
done

status=0
for lib; do
	targets=$("$gpuobj" ls "$lib" /targets) || {
		status=1
		continue
	}
	echo "$lib: $(echo "$targets" | grep -c .) targets"
	echo "$targets" | while IFS= read -r target; do
		[ -z "$target" ] || "$gpuobj" cat "$lib" "/targets/${target%/}/target.json"
	done | jq -r '"  " + ([.target, .vendor, .kind, .family // "-", "\(.objects) objects"] | join("\t"))'
done
exit $status
