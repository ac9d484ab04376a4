# Nothing can be changed, and the answer is "Read-only file system".
. "$TESTS/mount/lib.sh"

cp "$DATA/cuda/host/libtwo.so" lib.so
mount_fg m lib.so || finish
survey m >before || fail "survey"
if [ "$(id -u)" = 0 ]; then
	check "writes" "$python" -S "$TESTS/mount/writes.py" m EROFS
else
	# The kernel may look at the mode bits first.
	check "writes" "$python" -S "$TESTS/mount/writes.py" m EROFS EACCES EPERM
	same "touch of a file we may not write" "$(touch m/objects/x 2>&1 | grep -c 'Read-only\|denied')" 1
fi
check "survey after" survey m
check "nothing changed" cmp before check.log
stop m $pid

mount_fg m -o ro lib.so || finish
check "writes with -o ro" "$python" -S "$TESTS/mount/writes.py" m EROFS
[ ! -e m/queues ] || fail "-o ro has queues"
check "survey with -o ro" survey m
check "-o ro has the same tree" cmp before check.log
stop m $pid
finish
