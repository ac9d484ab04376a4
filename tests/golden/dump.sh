#!/bin/sh
# One artifact's tree as text: every JSON file and list as it is, every payload by size and
# sha256. Usage: dump.sh GPUOBJ FILE
set -eu
gpuobj=$1
file=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch" "$scratch".*' EXIT
"$gpuobj" cp "$file" artifact.json problems.json containers objects targets "$scratch" \
	2>"$scratch.err" || true
sed "s/^/gpuobj: /; s|$(dirname "$file")/||g; s|$scratch/||g" "$scratch.err"
cd "$scratch"
# All sizes and digests by two programs, then the files in order by one.
find . -name inspect -prune -o -type f -printf '%P %s\n' | LC_ALL=C sort >"$scratch.sizes"
cut -d' ' -f1 "$scratch.sizes" | grep -E '(^|/)(payload|encoded|decoded)$' | xargs -r sha256sum >"$scratch.digests"
awk '
FILENAME == ARGV[1] {
	digest[$2] = $1
	next
}
$1 in digest {
	printf "== %s: %s bytes, %s\n", $1, $2, digest[$1]
	next
}
{
	print "== " $1
	while ((getline line <$1) > 0)
		print line
	close($1)
}' "$scratch.digests" "$scratch.sizes"
