#!/bin/sh
# Compares the tree of FILE with the truth through a mount in a namespace of its own; where
# that is not possible, through a copy that gpuobj makes. Usage: mounted.sh FILE
# LOOK=orders in the environment: compares a second mount, read in no order, with the first
# instead. LOOK=second: compares it with what LLVM's tools read.
set -u
self=$0
file=$1
here=$(cd "$(dirname "$0")/.." && pwd)

# Of a library's million files of kernels so many are read in no order.
KERNELS=2000

look() { # TREE
	case ${LOOK:-truth} in
	truth) python3 "$here/truth/compare.py" --artifact "$file" "$1" ;;
	second) python3 "$here/corpus/second.py" "$file" "$1" ;;
	orders)
		mkdir "$1.2" && "$GPUOBJFS" -o ro "$file" "$1.2" || return 1
		python3 "$here/mount/orders.py" "$1" "$1.2" $KERNELS
		set -- "$1" $?
		fusermount3 -u "$1.2" && rmdir "$1.2" || return 1
		return "$2"
		;;
	esac
}

if [ $# = 2 ]; then
	m=$2
	"$GPUOBJFS" -o ro "$file" "$m" || exit 1
	look "$m"
	status=$?
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
[ "${LOOK:-}" != orders ] || {
	echo "SKIP: no mount here"
	exit 77
}
echo "no mount here: a copy is compared"
"$GPUOBJ" cp "$file" / "$m" && look "$m"
