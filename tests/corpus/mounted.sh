#!/bin/sh
# Compares the tree of FILE with the truth through a mount in a namespace of its own; where
# that is not possible, through a copy that gpuobj makes. Usage: mounted.sh FILE
# With ORDERS in the environment: compares a second mount, read in no order, with the first
# instead, and of the files of kernels only so many.
set -u
self=$0
file=$1
here=$(cd "$(dirname "$0")/.." && pwd)

if [ $# = 2 ]; then
	m=$2
	"$GPUOBJFS" -o ro "$file" "$m" || exit 1
	if [ -n "${ORDERS:-}" ]; then
		mkdir "$m.2" && "$GPUOBJFS" -o ro "$file" "$m.2" || exit 1
		python3 "$here/mount/orders.py" "$m" "$m.2" "$ORDERS"
		status=$?
		fusermount3 -u "$m.2" && rmdir "$m.2" || exit 1
	else
		python3 "$here/truth/compare.py" --artifact "$file" "$m"
		status=$?
	fi
	fusermount3 -u "$m" || exit 1
	exit $status
fi

m=$(mktemp -d "${TMPDIR:-/var/tmp}/gpuobjfs-corpus.XXXXXX") || exit 1
trap 'rm -rf --one-file-system "$m"' EXIT
spaces=-mpf
[ "$(id -u)" = 0 ] || spaces=-Urmpf
if [ -x "$GPUOBJFS" ] && (exec 3<>/dev/fuse) 2>/dev/null &&
	unshare $spaces --mount-proc true 2>/dev/null; then
	unshare $spaces --kill-child --mount-proc sh "$self" "$file" "$m"
	exit
fi
[ -z "${ORDERS:-}" ] || {
	echo "SKIP: no mount here"
	exit 77
}
echo "no mount here: a copy is compared"
"$GPUOBJ" cp "$file" / "$m" && python3 "$here/truth/compare.py" --artifact "$file" "$m"
