#!/bin/sh
# Performance gates of gpuobj's commands; see cli.py. Usage: cli.sh DIR
#
# DIR holds real files (corpus/get.sh); what is missing is skipped. GPUOBJ names the program,
# which should be built with optimization.

set -u
[ $# = 1 ] || {
	sed -n '2,/^$/s/^# \{0,1\}//p' "$0" >&2
	exit 2
}
dir=$1
here=$(cd "$(dirname "$0")" && pwd)
: "${GPUOBJ:?names gpuobj}"
work=$(mktemp -d "${TMPDIR:-/var/tmp}/gpuobjfs-bench.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
cc -O2 -o "$work/readpass" "$here/readpass.c" || exit 1
# shellcheck disable=SC2046 # flags are words
cc -O2 -o "$work/decodepass" "$here/decodepass.c" $(pkg-config --cflags --libs liblz4 libzstd) || exit 1
export READPASS="$work/readpass" DECODEPASS="$work/decodepass" PYTHONDONTWRITEBYTECODE=1
python3 "$here/cli.py" "$dir"
