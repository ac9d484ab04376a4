# Every way to end: exit 0, nothing mounted. Daemons are ready when the command returns.
. "$TESTS/mount/lib.sh"

cp "$DATA/cuda/host/libtwo.so" lib.so
# A shell starts what runs behind it with SIGINT ignored, which libfuse respects.
{
	echo '#!/bin/sh'
	echo "exec env --default-signal=INT '$GPUOBJFS' \"\$@\""
} >default
chmod +x default
program=$GPUOBJFS
for signal in TERM INT HUP; do
	GPUOBJFS=./default
	mount_fg m lib.so || continue
	GPUOBJFS=$program
	ls m/targets >/dev/null || fail "ls before SIG$signal"
	kill -$signal $pid
	ended $pid m
	is_mounted m && fail "SIG$signal leaves a mount"
	in_mountinfo m && fail "SIG$signal leaves a mount in mountinfo"
done

"$GPUOBJ" cat lib.so objects/00000/payload >m.payload || fail "gpuobj cat"
# With a file open, and a directory as somebody's working directory.
mount_fg m lib.so || finish
exec 5<m/objects/00000/payload
kill -TERM $pid
ended $pid m
is_mounted m && fail "SIGTERM with an open file leaves a mount"
exec 5<&-

mount_fg m lib.so || finish
exec 5<m/objects/00000/payload
if fusermount3 -u m 2>busy.err; then
	fail "fusermount3 -u of a busy mount succeeds"
fi
exec 5<&-
stop m $pid

# Nobody waits for a report that is being made then: its reader is told so. The signal may
# come too early or too late for that, but not always.
cp lib.so many.so
for i in 1 2 3 4 5 6 7 8 9; do
	cat many.so many.so >twice.so && mv twice.so many.so
done
tries=0
: >cat.err
until grep -q 'Interrupted system call' cat.err; do
	tries=$((tries + 1))
	[ $tries -le 20 ] || {
		fail "SIGTERM waits for a report"
		break
	}
	mount_fg m many.so || break
	cat m/inspect/report.json >/dev/null 2>cat.err &
	reader=$!
	until grep -qs '^State:.*\(sleeping\|zombie\)' /proc/$reader/status; do :; done
	kill -TERM $pid
	ended $pid m
	wait $reader
done
rm many.so

# The next command of a script can use the mount.
mkdir -p d
i=0
while [ $i -lt 20 ]; do
	"$GPUOBJFS" lib.so d && ls d/targets >d.ls || fail "daemon $i"
	same "targets of daemon $i" "$(tr '\n' ' ' <d.ls)" "compute_120f sm_120f sm_75 sm_90a "
	unmount d
	i=$((i + 1))
done

# The daemons end, too: nothing but this script is left in our process namespace.
tries=0
while grep -lsx gpuobjfs /proc/[0-9]*/comm >/dev/null; do
	tries=$((tries + 1))
	[ $tries -lt 2000 ] || {
		fail "daemons are left"
		break
	}
done

# SIGTERM to a daemon.
"$GPUOBJFS" lib.so d || fail "daemon"
daemon=$(grep -lsx gpuobjfs /proc/[0-9]*/comm | head -1 | cut -d/ -f3)
kill -TERM "$daemon"
tries=0
while [ -e "/proc/$daemon" ]; do
	tries=$((tries + 1))
	[ $tries -lt 200000 ] || {
		fail "the daemon does not end"
		break
	}
done
is_mounted d && fail "SIGTERM to the daemon leaves a mount"

# Standard streams of a daemon are closed: a pipe to it ends.
check "a daemon closes its streams" sh -c '"$GPUOBJFS" lib.so d | cat'
unmount d

# Where they were closed before, what is opened must not take their place.
"$GPUOBJFS" lib.so d <&- >&- 2>&- || fail "a daemon without standard streams"
check "a payload without standard streams" cmp d/objects/00000/payload m.payload
unmount d

# A working directory that goes away, and relative paths.
mkdir -p sub
(cd sub && "$GPUOBJFS" ../lib.so ../d) || fail "relative paths"
rmdir sub
check "payload after the directory is gone" cat d/objects/00000/payload
unmount d
finish
