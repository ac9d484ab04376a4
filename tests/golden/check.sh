#!/bin/sh
# Compares each golden with what gpuobj gives now. Usage: check.sh GPUOBJ
# When a difference is meant: golden/regen.sh GPUOBJ, and read the diff.
set -u
gpuobj=$1
here=$(cd "$(dirname "$0")" && pwd)
new=$(mktemp)
trap 'rm -f "$new"' EXIT
bad=0
count=0
while read -r name file; do
	case $name in '' | '#'*) continue ;; esac
	count=$((count + 1))
	sh "$here/dump.sh" "$gpuobj" "$here/../data/$file" >"$new"
	if ! diff -u --label "golden/$name.txt" --label "now" "$here/$name.txt" "$new"; then
		bad=$((bad + 1))
	fi
done <"$here/list"
echo "$count goldens, $bad differ"
[ $bad = 0 ] && [ $count -gt 0 ]
