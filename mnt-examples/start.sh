# How the scripts here begin. Sourced, below their usage:
#   . "$(dirname "$(readlink -f "$0")")/start.sh"
# With -h or --help the script prints its usage and ends here. GPUOBJ and GPUOBJFS name the
# programs, $gpuobj and $gpuobjfs from here on.
#
# wrong_usage           ends with the usage on stderr
# complain TEXT...      a sentence on stderr, after the name that the script was called by
# die TEXT...           ends with one
# say TEXT              prints a line; where nobody reads it, the script ends without a word
# need PROGRAM...       ends if one of them is not there
# work_folder           $work is a folder that goes with the script, and the mounts in it
# can_mount             whether mounts can be made here
# mount_in NAME FILE    mounts a file at $work/NAME; status 1 where that cannot be done

usage() {
	sed -n '2,/^$/s/^# \{0,1\}//p' "$0"
}

wrong_usage() {
	usage >&2
	exit 2
}

complain() {
	echo "${0##*/}: $*" >&2
}

die() {
	complain "$@"
	exit 2
}

# A shell that has a trap on PIPE complains of a reader that is gone; one below it just ends.
say() {
	(printf '%s\n' "$1") || exit
}

need() {
	for program; do
		command -v "$program" >/dev/null || die "$program is not there"
	done
}

work_folder() {
	work=
	trap 'clean_up' EXIT
	trap 'exit 2' HUP INT TERM
	trap 'exit 141' PIPE
	work=$(mktemp -d) || exit 2
}

clean_up() {
	[ -n "$work" ] || return
	for folder in "$work"/*/; do
		fusermount3 -u "$folder" 2>/dev/null
	done
	rm -rf "$work"
}

can_mount() {
	(exec 3<>/dev/fuse) 2>/dev/null && command -v "$gpuobjfs" >/dev/null
}

mount_in() {
	mkdir -p "$work/$1"
	can_mount && "$gpuobjfs" -o ro "$2" "$work/$1" 2>/dev/null
}

gpuobj=${GPUOBJ:-gpuobj}
gpuobjfs=${GPUOBJFS:-gpuobjfs}
case ${1:-} in
-h | --help)
	usage
	exit 0
	;;
esac
