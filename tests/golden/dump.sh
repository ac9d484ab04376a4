#!/bin/sh
# One artifact's tree as text: every JSON file and list as it is, every payload by size and
# sha256. Usage: dump.sh GPUOBJ FILE
set -eu
gpuobj=$1
file=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
"$gpuobj" cp "$file" / "$scratch" 2>"$scratch.err" || true
sed 's/^/gpuobj: /' "$scratch.err" | sed "s|$(dirname "$file")/||g; s|$scratch/||g"
rm -f "$scratch.err"
cd "$scratch"
find . \( -path ./queues -o -path ./devices -o -name inspect \) -prune -o -type f -print |
	LC_ALL=C sort | while read -r path; do
	case $path in
	*/payload | */encoded | */decoded)
		printf '== %s: %s bytes, %s\n' "${path#./}" "$(wc -c <"$path")" "$(sha256sum <"$path" | cut -d' ' -f1)"
		;;
	*)
		printf '== %s\n' "${path#./}"
		cat "$path"
		;;
	esac
done
