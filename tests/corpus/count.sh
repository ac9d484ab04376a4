#!/bin/sh
# Usage: count.sh FILE CONTAINERS OBJECTS: what artifact.json must say, and ls must show.
set -u
got=$("$GPUOBJ" cat "$1" /artifact.json | python3 -c '
import json, sys
a = json.load(sys.stdin)
print(a["containers"], a["objects"], a["inventory"]["state"])')
[ "$got" = "$2 $3 complete" ] || {
	echo "artifact.json: $got, want $2 $3 complete"
	exit 1
}
listed="$("$GPUOBJ" ls "$1" /containers | wc -l) $("$GPUOBJ" ls "$1" /objects | wc -l)"
[ "$listed" = "$2 $3" ] || {
	echo "ls: $listed, want $2 $3"
	exit 1
}
