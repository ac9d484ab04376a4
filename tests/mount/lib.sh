# What the cases share. Sourced; the working directory is empty and their own.
#
# check TEXT CMD...   the command must succeed
# quiet TEXT CMD...   it must succeed and say nothing on stderr
# fails N TEXT CMD... it must end with status N and one line on stderr
# finish              at the end of every case

set -u
failures=0
checks=0
umask 022
# Not a wrapper that starts a shell each time; another user may not reach root's.
python=${PYTHON:-}
[ -n "$python" ] && [ -x "$python" ] || python=$(python3 -c 'import sys; print(sys.executable)')

fail() {
	failures=$((failures + 1))
	echo "FAIL: $*" >&2
}

note() {
	echo "note: $*"
}

show() {
	sed 's/^/    /' "$1" | head -20 >&2
}

check() {
	text=$1
	shift
	checks=$((checks + 1))
	"$@" >check.new 2>&1
	status=$?
	mv check.new check.log # the command may read what the last one said
	[ $status = 0 ] && return 0
	fail "$text: status $status: $*"
	show check.log
	return 1
}

quiet() {
	text=$1
	shift
	checks=$((checks + 1))
	"$@" >quiet.out 2>quiet.err
	status=$?
	if [ $status = 0 ] && [ ! -s quiet.err ]; then
		return 0
	fi
	fail "$text: status $status: $*"
	show quiet.err
	return 1
}

same() {
	checks=$((checks + 1))
	[ "$2" = "$3" ] || fail "$1: got '$2', want '$3'"
}

# One clear sentence. After a wrong command line a second line may point to --help.
fails() {
	want=$1 text=$2
	shift 2
	checks=$((checks + 1))
	"$@" >fails.out 2>fails.err
	status=$?
	if [ $status != "$want" ]; then
		fail "$text: status $status, want $want: $*"
		show fails.err
		return 1
	fi
	lines=$(wc -l <fails.err)
	if [ "$lines" != 1 ] && { [ "$want" != 2 ] || [ "$lines" != 2 ]; }; then
		fail "$text: not one line on stderr: $*"
		show fails.err
	fi
}

device() {
	stat -c %d "$1" 2>/dev/null
}

# A mount point has another device than its parent. A dead mount cannot be asked.
is_mounted() {
	d=$(device "$1") || return 0
	[ "$d" != "$(device "$1/..")" ]
}

in_mountinfo() {
	grep -q " $(pwd)/$1 " /proc/self/mountinfo
}

# mounts_fg DIR ARGUMENTS...: in the foreground, as a child; $pid is its number. It is ready
# when this returns, or has ended with $status, and this gives 1.
mounts_fg() {
	dir=$1
	shift
	mkdir -p "$dir"
	"$GPUOBJFS" -f "$@" "$dir" >"$dir.log" 2>&1 &
	pid=$!
	# One process a look, and the look waits for who serves the mount.
	until mountpoint -q "$dir"; do
		if ! kill -0 $pid 2>/dev/null; then
			wait $pid
			status=$?
			return 1
		fi
	done
}

# The same, where it must not end.
mount_fg() {
	mounts_fg "$@" && return
	fail "gpuobjfs -f $* ended with status $status before it was mounted"
	show "$1.log"
	return 1
}

# After an unmount: the child must end with 0, and have said nothing that a sanitizer says.
ended() {
	wait "$1"
	status=$?
	checks=$((checks + 1))
	[ $status = 0 ] || {
		fail "gpuobjfs for $2 ended with status $status"
		show "$2.log"
	}
	if grep -Eq 'Sanitizer|runtime error' "$2.log"; then
		fail "sanitizer report of $2"
		show "$2.log"
	fi
}

unmount() {
	check "unmount $1" fusermount3 -u "$1"
}

# stop DIR PID
stop() {
	unmount "$1"
	ended "$2" "$1"
	is_mounted "$1" && fail "$1 is still mounted"
}

# Every device of a mount, or two where all were walked on another.
few='--devices 2'
[ -z "${GPUOBJFS_EVERY:-}" ] || few=

# An ELF library with CUDA code, a plain HIP bundle, LZ4 and zstd entries and a bare code
# object behind it: one file with nearly everything. Its parts are 4096-aligned.
make_mixed() {
	: >"$1"
	for part in cuda/host/libtwo.so amd/bundle/plain_noalign.hipfb \
		cuda/fatbin/compress_all_speed.fatbin amd/co/gfx900_llvm14_v2.hsaco \
		cuda/fatbin/debug_named.fatbin; do
		cat "$DATA/$part" >>"$1"
		truncate -s %4096 "$1"
	done
}

# -S: these need no packages, whose folders are slow to look up.
truth() {
	"$python" -S "$TESTS/truth/compare.py" "$@"
}

survey() {
	"$python" -S "$TESTS/mount/survey.py" "$@"
}

finish() {
	echo "$checks checks, $failures failures ($WHO)"
	[ $failures = 0 ] && [ $checks -gt 0 ]
	exit
}
