#!/bin/sh
# Builds gpuobjfs, mounts an artifact, shows what is in it, unmounts.
#
# Usage: quickstart.sh [ARTIFACT]      without one: the sample that is built in
#
# Missing packages are installed by apt-get, as root or with sudo, after saying so. Where
# /dev/fuse cannot be used, gpuobj shows the same tree without a mount. Exit status 0: all that
# was shown worked.

set -u
here=$(dirname "$(readlink -f "$0")")
. "$here/start.sh"
root=$(dirname "$here")
artifact=${1:-}
if [ -n "$artifact" ]; then
	[ -f "$artifact" ] || die "$artifact: not a file"
	artifact=$(cd -- "$(dirname -- "$artifact")" && pwd)/$(basename -- "$artifact")
fi
cd "$root" || exit 1

. tests/packages.sh
packages=$(missing_packages build)
# The programs need no tests here.
packages=$(echo "$packages" | sed 's/libcmocka-dev//')
if [ -n "$(echo "$packages" | tr -d ' ')" ]; then
	# shellcheck disable=SC2086 # words
	install_packages $packages || exit 1
fi

build=${BUILD:-build-quickstart}
echo "building in $build/"
if [ ! -e "$build/build.ninja" ]; then
	meson setup -Dtests=false -Dbuildtype=release "$build" >"$build.log" 2>&1 || {
		cat "$build.log"
		exit 1
	}
	rm -f "$build.log"
fi
meson compile -C "$build" >/dev/null || exit 1
programs=$(cd "$build/fs" && pwd)
gpuobj=$programs/gpuobj
gpuobjfs=$programs/gpuobjfs

quoted() { # WORD: as it is typed
	case $1 in
	*[!A-Za-z0-9_/.,:=+-]*) printf "'%s'\n" "$(printf '%s\n' "$1" | sed "s/'/'\\\\''/g")" ;;
	*) echo "$1" ;;
	esac
}

# The artifact as an argument: a path, or the option for the sample.
artifact=${artifact:---sample}
what=$(quoted "$artifact")

show_mount() {
	first=$(ls "$work/mnt/objects" | head -1)
	run "ls $dir"
	run "cat $dir/artifact.json"
	run "ls $dir/targets"
	if [ -n "$first" ]; then
		run "cat $dir/objects/$first/object.json"
		run "ls -l $dir/objects/$first"
		run "od -An -tx1c -N16 $dir/objects/$first/payload"
		run "cat $dir/containers/$(ls "$work/mnt/containers" | head -1)/container.json"
	fi
	run "find $dir -type f | wc -l"
}

show_without() {
	first=$("$gpuobj" ls "$artifact" /objects | head -1 | tr -d /)
	run "gpuobj ls $what"
	run "gpuobj cat $what /artifact.json"
	run "gpuobj ls $what /targets"
	if [ -n "$first" ]; then
		run "gpuobj cat $what /objects/$first/object.json"
		run "gpuobj ls -l $what /objects/$first"
		run "gpuobj cat $what /objects/$first/payload | head -c 16 | od -An -tx1c"
		run "gpuobj cat $what /containers/$("$gpuobj" ls "$artifact" /containers | head -1 | tr -d /)/container.json"
	fi
}

status=0
run() { # COMMAND, as it is typed; one that fails is no reason not to show the rest
	say "
\$ $1"
	PATH=$programs:$PATH sh -c "$1" >"$work/said" || status=1
	cut -c1-120 "$work/said" | head -40 || exit
}

work_folder
dir=$(quoted "$work/mnt")
mkdir "$work/mnt"
if can_mount; then
	run "gpuobjfs $what $dir"
	if [ $status = 0 ]; then
		show_mount
		run "fusermount3 -u $dir"
		exit $status
	fi
	status=0
fi
say "
/dev/fuse cannot be used here; gpuobj shows the same tree without a mount."
show_without
exit $status
