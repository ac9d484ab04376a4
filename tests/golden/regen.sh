#!/bin/sh
# Writes every golden anew. Usage: regen.sh GPUOBJ. Read the diff before it is committed.
set -eu
gpuobj=$1
here=$(cd "$(dirname "$0")" && pwd)
while read -r name file; do
	case $name in '' | '#'*) continue ;; esac
	sh "$here/dump.sh" "$gpuobj" "$here/../data/$file" >"$here/$name.txt"
done <"$here/list"
