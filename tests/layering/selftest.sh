#!/bin/sh
# The check can fail: planted wrong includes in a scratch copy are refused, each by its name.
# Usage: selftest.sh ROOT [CC]

set -u
root=$1
cc=${2:-cc}
here=$(cd "$(dirname "$0")" && pwd)
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
bad=0
tree=$scratch/tree
mkdir "$tree"
cp -R "$root/decode" "$root/softgpu" "$root/fs" "$tree/"

planted() { # FILE LINE EXPECTED [MODE]
	if [ -e "$tree/$1" ]; then
		cp "$tree/$1" "$scratch/saved"
	else
		: >"$scratch/saved"
	fi
	{
		echo "$2"
		cat "$scratch/saved"
	} >"$tree/$1"
	if sh "$here/check.sh" "$tree" "$cc" "${4:-names}" >"$scratch/out" 2>&1; then
		echo "not refused: $2 in $1"
		bad=$((bad + 1))
	elif ! grep -q "^$1.*$3" "$scratch/out"; then
		echo "refused for another reason: $2 in $1"
		sed 's/^/    /' "$scratch/out" | head -5
		bad=$((bad + 1))
	fi
	cp "$scratch/saved" "$tree/$1"
}

sh "$here/check.sh" "$tree" "$cc" names >"$scratch/out" 2>&1 || {
	echo "the tree as it is, is refused"
	cat "$scratch/out"
	bad=$((bad + 1))
}
planted decode/scan.c '#include <fuse_lowlevel.h>' 'only the fuse front end'
planted decode/scan.c '#include "softgpu.h"' 'another room'
planted decode/scan.c '#include "node.h"' 'another room'
planted softgpu/planted.c '#include "decode.h"' 'another room'
planted softgpu/planted.c '#include <fuse3/fuse.h>' 'only the fuse front end'
planted softgpu/planted.c '# include "../decode/view.h"' 'no "../"'
planted fs/json.c '#include "../decode/internal.h"' 'no "../"'
planted fs/json.c '#include "view.h"' 'another room'
planted fs/json.c '#include <fuse_lowlevel.h>' 'only the fuse front end'
planted decode/view.h 'struct undeclared planted(size_t n, struct dec_object o);' 'does not compile alone' decode
planted decode/include/inspect.h '#include "view.h"' 'does not compile alone' decode
echo "planted includes: $bad not refused"
[ $bad = 0 ]
