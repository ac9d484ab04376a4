#!/bin/sh
# CPU time of reading every payload through a mount; see payloads.py. Usage: payloads.sh DIR [FILE...]
#
# DIR holds real files (corpus/get.sh); FILE... stand for the default choice of them. GPUOBJFS
# names the program, which should be built with optimization. Run it on a machine that does
# nothing else.

set -u
[ $# -ge 1 ] || {
	sed -n '2,/^$/s/^# \{0,1\}//p' "$0" >&2
	exit 2
}
dir=$1
shift
here=$(cd "$(dirname "$0")" && pwd)
: "${GPUOBJFS:?names the mount program}"

if ! (exec 3<>/dev/fuse) 2>/dev/null; then
	echo "SKIP: /dev/fuse cannot be opened"
	exit 77
fi
[ $# -gt 0 ] || set -- "$dir/nodellama-linux-libggml-cuda.so"
[ -e "$1" ] || {
	echo "SKIP: no $1"
	exit 77
}
work=$(mktemp -d "${TMPDIR:-/var/tmp}/gpuobjfs-bench.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
# shellcheck disable=SC2046 # flags are words
cc -O2 -o "$work/decodepass" "$here/decodepass.c" $(pkg-config --cflags --libs liblz4 libzstd) || exit 1
# shellcheck disable=SC2046
cc -O2 -D_GNU_SOURCE -o "$work/barefs" "$here/barefs.c" $(pkg-config --cflags --libs fuse3 liblz4 libzstd) || exit 1
export DECODEPASS="$work/decodepass" BAREFS="$work/barefs" GPUOBJFS PYTHONDONTWRITEBYTECODE=1
export TMPDIR="$work"

spaces=-mpf
[ "$(id -u)" = 0 ] || spaces=-Urmpf
unshare $spaces --kill-child --mount-proc python3 "$here/payloads.py" "$@"
