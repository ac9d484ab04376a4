# What /queues refuses, and with which errno; objects that go while they are in use; the ends
# of every range.
. "$TESTS/mount/lib.sh"
. "$EXAMPLES/packets.sh"

mount_fg m --sample || finish
q=m/queues
dispatch 2 64 64 1 0 0 >one
cat >errno.py <<'PY'
import errno, os, struct, sys
q = sys.argv[1]
bad = 0


def attempt(text, want, fn, *args):
    """fn must fail with this errno; 0: it must not fail."""
    global bad
    got = 0
    try:
        fn(*args)
    except OSError as e:
        got = e.errno
    if got != want:
        print("%s: %s, want %s" % (text, errno.errorcode.get(got, got), errno.errorcode.get(want, want)))
        bad += 1


def path(name):
    return os.path.join(q, name)


def store(name, data, flags=os.O_WRONLY, at=None):
    fd = os.open(path(name), flags)
    try:
        if at is not None:
            os.lseek(fd, at, os.SEEK_SET)
        return os.write(fd, data)
    finally:
        os.close(fd)


def rows(*table):
    for name, data, want in table:
        attempt("%s < %r" % (name, data[:40]), want, store, name, data)


# Directories.
for d in ("q", "signals/s", "memory/m"):
    attempt("mkdir " + d, 0, os.mkdir, path(d))
    attempt("mkdir again", errno.EEXIST, os.mkdir, path(d))
for name in ("trace", "signals", "trace_pipe", "reset"):
    attempt("mkdir " + name, errno.EEXIST, os.mkdir, path(name))
for name in ("a b", "a%", "\xe9", "x" * 65, "signals/a:b", "memory/+"):
    attempt("mkdir " + name, errno.EINVAL, os.mkdir, path(name))
attempt("mkdir of 64 bytes", 0, os.mkdir, path("x" * 64))
attempt("rmdir of 64 bytes", 0, os.rmdir, path("x" * 64))
attempt("mkdir of 256 bytes", errno.ENAMETOOLONG, os.mkdir, path("x" * 256))
for d in ("q/x", "captures/x", "regions/x", "defaults/x", "q/slots/x", "signals/s/x"):
    attempt("mkdir " + d, errno.EPERM, os.mkdir, path(d))
for d in ("signals", "memory", "captures", "regions", "defaults", "q/slots", "regions/region_coarse"):
    attempt("rmdir " + d, errno.EBUSY, os.rmdir, path(d))
attempt("rmdir of nothing", errno.ENOENT, os.rmdir, path("nothing"))
attempt("rmdir of a file", errno.ENOTDIR, os.rmdir, path("trace"))
attempt("rmdir queues", errno.EROFS, os.rmdir, q)
attempt("mkdir outside", errno.EROFS, os.mkdir, path("../x"))
attempt("unlink", errno.EPERM, os.unlink, path("q/state"))
attempt("rename", errno.EPERM, os.rename, path("q"), path("r"))
attempt("rename of a file", errno.EPERM, os.rename, path("q/size"), path("q/r"))
attempt("link", errno.EPERM, os.link, path("q/size"), path("l"))
attempt("symlink", errno.EPERM, os.symlink, "x", path("l"))
attempt("mknod", errno.EPERM, os.mkfifo, path("f"))
attempt("chmod", errno.EPERM, os.chmod, path("q/size"), 0o777)
if os.getuid() == 0:
    attempt("chown", errno.EPERM, os.chown, path("q/size"), 1, 1)
attempt("create", errno.EACCES, store, "new", b"x", os.O_WRONLY | os.O_CREAT)
attempt("create in a queue", errno.EACCES, store, "q/new", b"x", os.O_WRONLY | os.O_CREAT)
attempt("touch", 0, os.utime, path("q/doorbell"))
attempt("read of a directory", errno.EISDIR, lambda: os.open(path("q"), os.O_RDWR))

# Files that are not for writing.
for name in ("trace", "trace_stats", "trace_pipe", "info.json", "q/id", "q/state", "q/verdicts",
             "q/slots/0.json", "regions/region_coarse/size", "signals/s/handle", "memory/m/address"):
    attempt("write to " + name, errno.EACCES, store, name, b"1")

# Numbers: what is one, and the ends of their ranges.
top, over = b"18446744073709551615", b"18446744073709551616"
rows(("q/write_index", b"", 0), ("q/write_index", b"0\n", 0), ("q/write_index", b"  0x0\t\n", 0),
     ("q/write_index", b"x", errno.EINVAL), ("q/write_index", b"1 2", errno.EINVAL),
     ("q/write_index", b"1\n\n", errno.EINVAL), ("q/write_index", b"-1", errno.EINVAL),
     ("q/write_index", b"+1", errno.EINVAL), ("q/write_index", b"0x", errno.EINVAL),
     ("q/write_index", b"1a", errno.EINVAL), ("q/write_index", b"\n", errno.EINVAL),
     ("q/write_index", b"0\0", errno.EINVAL), ("q/write_index", b"1" * 200, errno.EINVAL),
     ("q/read_index", over, errno.ERANGE), ("q/write_index", over, errno.ERANGE),
     ("q/reserve", over, errno.ERANGE), ("q/reserve", b"x", errno.EINVAL),
     ("q/doorbell", b"9223372036854775807", 0), ("q/doorbell", b"9223372036854775808", errno.ERANGE),
     ("q/doorbell", b"-9223372036854775808", 0), ("q/doorbell", b"-9223372036854775809", errno.ERANGE),
     ("q/doorbell", b"0xffffffffffffffff", errno.ERANGE), ("q/doorbell", b"-", errno.EINVAL),
     ("signals/s/value", b"9223372036854775808", errno.ERANGE), ("signals/s/value", b"-1", 0),
     ("q/paused", b"2", errno.EINVAL), ("q/paused", over, errno.ERANGE), ("q/paused", b"1", 0),
     ("q/paused", b"0", 0), ("reset", b"0", errno.EINVAL), ("reset", over, errno.ERANGE),
     ("q/mode", b"cuda", errno.EINVAL), ("q/mode", b"hsa\n", 0), ("q/mode", b"softgpu", 0),
     ("defaults/size", b"63", errno.EINVAL), ("defaults/size", b"96", errno.EINVAL),
     ("defaults/size", b"32768", errno.EINVAL), ("defaults/size", b"0x8000000000000000", errno.EINVAL),
     ("defaults/size", over, errno.ERANGE), ("defaults/size", b"16384", 0), ("defaults/size", b"64", 0),
     ("defaults/type", b"both", errno.EINVAL), ("defaults/type", b"single", 0),
     ("defaults/type", b"multi", 0), ("defaults/initial", b"9223372036854775808", errno.ERANGE),
     ("defaults/initial", b"1", 0), ("signals/s/wait", b"eq", errno.EINVAL),
     ("signals/s/wait", b"is 1", errno.EINVAL), ("signals/s/wait", b"eq 1 2 3", errno.EINVAL),
     ("signals/s/wait", b"eq 9223372036854775808", errno.ERANGE),
     ("signals/s/wait", b"eq 1 " + over, errno.ERANGE), ("signals/s/wait", b"eq 1 " + top, 0),
     ("replay", b"x" * 65536, 0), ("replay", b"x" * 65537, errno.EFBIG))
for name in ("q/size", "q/type"):  # fixed; who may not write hears that first
    attempt(name, errno.EBUSY if os.getuid() == 0 else errno.EACCES, store, name, b"64")
attempt("an offset", errno.EINVAL, store, "q/doorbell", b"1", os.O_WRONLY, 5)
attempt("an offset with O_APPEND", 0, store, "q/doorbell", b"1", os.O_WRONLY | os.O_APPEND, 5)

# Memory.
rows(("memory/m/data", b"x", errno.EFBIG), ("memory/m/space", b"attic", errno.EINVAL),
     ("memory/m/space", b"pool_fine_host", 0), ("memory/m/size", b"0", errno.EINVAL),
     ("memory/m/size", b"67108865", errno.EFBIG), ("memory/m/size", b"0x8000000000000000", errno.EFBIG),
     ("memory/m/size", over, errno.ERANGE), ("memory/m/size", b"4097", 0),
     ("memory/m/size", b"1", errno.EBUSY), ("memory/m/space", b"region_coarse", errno.EBUSY),
     ("memory/m/data", b"hello", 0))
attempt("behind the memory", errno.EFBIG, store, "memory/m/data", b"x", os.O_WRONLY, 8192)
attempt("truncate", 0, os.truncate, path("memory/m/data"), 0)
attempt("grow", errno.EFBIG, os.truncate, path("memory/m/data"), 8193)
for i in range(4):
    os.mkdir(path("memory/big%d" % i))
    attempt("64 MiB, %d" % i, errno.ENOMEM if i == 3 else 0, store, "memory/big%d/size" % i, b"67108864")
for i in range(4):
    os.rmdir(path("memory/big%d" % i))

# Full: nothing moves while it is paused.
packet = open("one", "rb").read()
store("q/write_index", b"0")
store("q/paused", b"1")
fd = os.open(path("q/packets"), os.O_WRONLY | os.O_NONBLOCK)
if os.write(fd, packet * 100) != 6400 - 36 * 64:
    print("not a short count when the ring is full")
    bad += 1
attempt("full, O_NONBLOCK", errno.EAGAIN, os.write, fd, packet)
os.close(fd)
attempt("full", errno.ENOSPC, store, "q/packets", packet)
attempt("full, a piece", 0, store, "q/packets", packet[:5])
attempt("mode is fixed", errno.EBUSY, store, "q/mode", b"hsa")
store("q/paused", b"0")
attempt("drained", 0, store, "q/packets", packet)
os.mkdir(path("h"))
store("h/mode", b"hsa")
store("h/packets", b"\4" + bytes(63))
attempt("in error", errno.EIO, store, "h/packets", packet)
os.rmdir(path("h"))

# 65 queues, and the room that one leaves.
for i in range(63):
    os.mkdir(path("n%d" % i))
attempt("the 65th queue", errno.ENOSPC, os.mkdir, path("n63"))
os.rmdir(path("n5"))
attempt("once one is gone", 0, os.mkdir, path("n63"))
for i in range(64):
    if i != 5:
        os.rmdir(path("n%d" % i))

# What is removed while it is open.
inode = os.stat(path("q")).st_ino
held = [os.open(path(n), os.O_RDWR) for n in ("q/doorbell", "q/ring", "q/packets", "q/reserve",
                                               "signals/s/value", "memory/m/data")]
held.append(os.open(path("q/trace"), os.O_RDONLY))
for d in ("q", "signals/s", "memory/m"):
    os.rmdir(path(d))
for fd in held[:-1]:
    attempt("write after rmdir", errno.ENODEV, os.write, fd, packet)
for fd in held:
    if fd != held[2]:
        attempt("read after rmdir", errno.ENODEV, os.read, fd, 10)
    os.close(fd)
os.mkdir(path("q"))
if os.stat(path("q")).st_ino == inode:
    print("an inode number comes again")
    bad += 1

# Handles that are stale or made up change nothing.
os.mkdir(path("signals/s"))
handle = int(open(path("signals/s/handle")).read(), 16)
os.rmdir(path("signals/s"))
os.mkdir(path("signals/t"))
for h in (handle, 1, 2**64 - 1, int(open(path("q/doorbell_handle")).read(), 16)):
    store("q/packets", packet[:56] + struct.pack("<Q", h))
if open(path("signals/t/value")).read() != "1\n" or "true" in open(path("q/verdicts")).read():
    print("a handle that is not live was stored to")
    bad += 1

# A reset takes everything along, and captures count from 0 again, with other inodes.
before = os.stat(path("captures/0.aql")).st_ino
pipe = os.open(path("signals/t/wait"), os.O_RDWR)
os.write(pipe, b"eq 77")
store("reset", b"1\n")
if os.read(pipe, 100) != b"cancelled 1\n":
    print("a reset does not cancel waits")
    bad += 1
if os.listdir(path("signals")) or os.path.exists(path("q")) or os.listdir(path("captures")):
    print("a reset leaves something")
    bad += 1
os.mkdir(path("q"))
store("q/packets", packet)
if sorted(os.listdir(path("captures"))) != ["0.aql", "0.json", "0.replay.json"]:
    print("captures after a reset: %s" % os.listdir(path("captures")))
    bad += 1
if os.stat(path("captures/0.aql")).st_ino == before:
    print("the inode number of a capture comes again")
    bad += 1
sys.exit(bad != 0)
PY
check "errno" timeout 100 "$python" errno.py $q

# Unmounting ends every reader that waits.
mkdir $q/signals/s
timeout 60 cat $q/trace_pipe >pipe.out 2>pipe.err &
reader=$!
sh -c 'exec 3<>"$0"; echo "eq 123" >&3; exec cat <&3' $q/signals/s/wait >wait.out 2>wait.err &
waiter=$!
until [ -s pipe.out ] && [ "$(readlink /proc/$waiter/exe)" != "$(readlink /proc/$$/exe)" ]; do :; done
kill -TERM $pid
ended $pid m
wait $reader && fail "a reader of trace_pipe ends well when the mount goes"
wait $waiter && fail "a waiter ends well when the mount goes"
for f in pipe.err wait.err; do
	same "one line in $f" "$(grep -c 'not connected\|abort' $f)" 1
done
is_mounted m && fail "still mounted"

# A reader that is killed while it waits leaves nothing, and the mount works on.
mount_fg m --sample || finish
mkdir $q/signals/s $q/q0
for i in 1 2 3; do
	sh -c 'exec 3<>"$0"; echo "eq 123" >&3; exec cat <&3' $q/signals/s/wait >wait.out 2>&1 &
	waiter=$!
	until [ "$(readlink /proc/$waiter/exe)" != "$(readlink /proc/$$/exe)" ]; do :; done
	kill -INT $waiter
	kill -KILL $waiter
	wait $waiter 2>/dev/null
done
timeout 60 cat $q/trace_pipe >pipe.out &
reader=$!
until [ -s pipe.out ]; do :; done
rmdir $q/q0
until grep -q queue_destroy pipe.out; do :; done
kill $reader
wait $reader 2>/dev/null
stop m $pid
finish
