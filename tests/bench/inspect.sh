#!/bin/sh
# Performance gates of inspection; see inspect.py. Usage: inspect.sh DIR
#
# DIR holds real files (corpus/get.sh); what is missing is skipped. GPUOBJFS and GPUOBJ name
# the programs, which should be built with optimization. Run it on a machine that does nothing
# else.

set -u
[ $# = 1 ] || {
	sed -n '2,/^$/s/^# \{0,1\}//p' "$0" >&2
	exit 2
}
dir=$1
here=$(cd "$(dirname "$0")" && pwd)
: "${GPUOBJFS:?names the mount program}" "${GPUOBJ:?names gpuobj}"

if ! (exec 3<>/dev/fuse) 2>/dev/null; then
	echo "SKIP: /dev/fuse cannot be opened"
	exit 77
fi
work=$(mktemp -d "${TMPDIR:-/var/tmp}/gpuobjfs-bench.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
# shellcheck disable=SC2046 # flags are words
cc -O2 -o "$work/decodepass" "$here/decodepass.c" $(pkg-config --cflags --libs liblz4 libzstd) || exit 1
export DECODEPASS="$work/decodepass" GPUOBJFS GPUOBJ PYTHONDONTWRITEBYTECODE=1

spaces=-mpf
[ "$(id -u)" = 0 ] || spaces=-Urmpf
unshare $spaces --kill-child --mount-proc python3 "$here/inspect.py" "$dir"
