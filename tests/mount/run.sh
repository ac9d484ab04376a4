#!/bin/sh
# Runs one case of the mount suite in namespaces of its own, so that no daemon and no mount
# outlives it, however it ends.
#
# Usage: run.sh root|user CASE        CASE is a script beside this one, without ".sh"
# GPUOBJFS and GPUOBJ name the programs. Exit 77: cannot mount here, and says why.
#
# "root" needs root. "user" is an unprivileged user: from root by setpriv, with a device node
# of mode 0666 over /dev/fuse that only this case sees; else whoever runs this.

set -u
self=$0
who=$1
name=$2
nobody=65534

skip() {
	echo "SKIP: $*"
	exit 77
}

outside() {
	for tool in unshare setpriv fusermount3 python3; do
		command -v $tool >/dev/null || skip "$tool is not installed"
	done
	test -x "${GPUOBJFS:?}" || skip "$GPUOBJFS was not built (no libfuse)"
	if [ "$(id -u)" = 0 ]; then
		spaces=-mpf
	elif [ "$who" = root ]; then
		skip "needs root"
	else
		spaces=-Urmpf
	fi
	unshare $spaces --mount-proc true 2>/dev/null || skip "unshare $spaces is not permitted"
	scratch=$(mktemp -d "${TMPDIR:-/tmp}/gpuobjfs-test.XXXXXX") || exit 1
	# In the background, so that a signal to us ends it at once and the folder goes, too.
	unshare $spaces --kill-child --mount-proc sh "$self" "$who" "$name" "$scratch" &
	child=$!
	trap 'kill -KILL $child' HUP INT TERM
	wait $child
	status=$?
	rmdir "$scratch"
	exit $status
}

inside() {
	here=$(cd "$(dirname "$self")/.." && pwd)
	mount -t tmpfs -o mode=755 tmpfs "$scratch" || exit 1
	mkdir "$scratch/bin" "$scratch/tests" "$scratch/examples" "$scratch/docs" "$scratch/work"
	cp "$GPUOBJFS" "$scratch/bin/gpuobjfs" && cp "$GPUOBJ" "$scratch/bin/gpuobj" || exit 1
	cp "$here/../README.md" "$scratch/README.md" || exit 1
	mount --rbind "$here" "$scratch/tests" || exit 1
	mount --rbind "$here/../mnt-examples" "$scratch/examples" || exit 1
	mount --rbind "$here/../docs" "$scratch/docs" || exit 1
	drop='' brief=''
	if [ "$who" = user ] && [ "$(cat /proc/self/uid_map | tr -s ' ')" = " 0 0 4294967295" ]; then
		mkdir "$scratch/dev"
		mknod "$scratch/dev/fuse" c 10 229 2>/dev/null || skip "mknod is not permitted"
		chmod 666 "$scratch/dev/fuse"
		mount --bind "$scratch/dev/fuse" /dev/fuse || skip "no /dev/fuse to bind over"
		chown $nobody:$nobody "$scratch/work"
		PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin
		[ -n "${GPUOBJFS_EVERY:-}" ] || brief=1 # root does the long loops
		drop="setpriv --reuid=$nobody --regid=$nobody --clear-groups"
	fi
	$drop sh -c 'exec 3<>/dev/fuse' 2>/dev/null || skip "/dev/fuse cannot be opened"
	if [ -n "${GPUOBJFS_SAMPLES:-}" ]; then
		mkdir "$scratch/samples"
		mount --rbind "$GPUOBJFS_SAMPLES" "$scratch/samples" && GPUOBJFS_SAMPLES=$scratch/samples
	fi
	cd "$scratch/work" || exit 1
	export PATH GPUOBJFS_SAMPLES="${GPUOBJFS_SAMPLES:-}"
	export GPUOBJFS="$scratch/bin/gpuobjfs" GPUOBJ="$scratch/bin/gpuobj"
	export TESTS="$scratch/tests" EXAMPLES="$scratch/examples"
	export DATA="$scratch/tests/data" WHO="$who" BRIEF="$brief"
	export HOME="$scratch/work" TMPDIR="$scratch/work" LC_ALL=C PYTHONDONTWRITEBYTECODE=1
	exec $drop sh "$TESTS/mount/$name.sh"
}

if [ $# = 3 ]; then
	scratch=$3
	inside
fi
outside
