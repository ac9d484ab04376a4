# /queues from a shell: packets arrive whole however they are written, traces can be followed,
# waits and polls wake.
. "$TESTS/mount/lib.sh"
. "$EXAMPLES/packets.sh"

mount_fg m --sample || finish
q=m/queues
mkdir $q/q0 || finish
file() { cat "$q/$1"; }
submitted() { same "$1: read_index" "$(file q0/read_index)" "$2"; }
captured() { od -An -v -tx1 "$1" | tr -d ' \n'; }

# A packet full of newlines, as bash's printf writes it line by line, and dash's does not.
nl='\012'
newlines="\002\000\003\000$nl\000$nl\000$nl\000\000\000\012\012\000\000\012\012\000\000\012\012\000\000"
newlines="$newlines$nl$nl$nl$nl$nl\000\000\000$nl$nl$nl$nl$nl$nl$nl$nl"
newlines="$newlines\000\000\000\000\000\000\000\000$nl$nl$nl$nl$nl$nl$nl$nl\000\000\000\000\000\000\000\000"
n=0
want=$(env printf "$newlines" | od -An -v -tx1 | tr -d ' \n')
same "the packet with newlines has 64 bytes" "${#want}" 128
for shell in dash bash sh; do
	command -v $shell >/dev/null || continue
	check "newlines by $shell" $shell -c "printf '$newlines' >$q/q0/packets"
	n=$((n + 1))
	submitted "newlines by $shell" $n
	same "newlines by $shell arrive whole" "$(captured $q/captures/$((n - 1)).aql)" "$want"
	check "newlines by $shell, appended" $shell -c "printf '$newlines' >>$q/q0/packets"
	n=$((n + 1))
	submitted "newlines by $shell, appended" $n
done

# The same bytes in all kinds of pieces.
dispatch 0x1402 64 256 0xABCD 0 0 >one
i=0
while [ $i -lt 100 ]; do
	cat one
	i=$((i + 1))
done >hundred
put() { # TEXT PACKETS COMMAND...
	text=$1
	more=$2
	shift 2
	quiet "$text" "$@"
	n=$((n + more))
	submitted "$text" $n
}
put "cat" 1 sh -c "cat one >$q/q0/packets"
put "more than the ring holds" 100 sh -c "cat hundred >$q/q0/packets"
put "append" 100 sh -c "cat hundred >>$q/q0/packets"
put "dd" 100 dd if=hundred of=$q/q0/packets bs=64 status=none
put "dd conv=notrunc" 100 dd if=hundred of=$q/q0/packets bs=64 conv=notrunc status=none
put "dd oflag=append" 100 dd if=hundred of=$q/q0/packets bs=192 oflag=append conv=notrunc status=none
put "dd of pieces of 1 byte" 1 dd if=one of=$q/q0/packets bs=1 status=none
put "dd of pieces of 7 bytes" 100 dd if=hundred of=$q/q0/packets bs=7 status=none
put "dd of pieces of 100 bytes" 100 dd if=hundred of=$q/q0/packets bs=100 status=none
put "dd of 1 MiB and more" 20000 sh -c "for i in \$(seq 200); do cat hundred; done | dd of=$q/q0/packets bs=2M iflag=fullblock status=none"
put "one open file, two commands" 2 sh -c "{ cat one; cat one; } >$q/q0/packets"
put "cp" 1 cp one $q/q0/packets
put "tee" 1 sh -c "tee $q/q0/packets <one >/dev/null"

# What is left of a packet when its writer goes is dropped, and told.
put "63 bytes" 0 dd if=one of=$q/q0/packets bs=63 count=1 status=none
put "65 bytes" 1 dd if=hundred of=$q/q0/packets bs=65 count=1 status=none
same "short packets" "$(file q0/state)" "active
short-packet 2"
sh -c "head -c 100 hundred; exec sleep 100" >$q/q0/packets &
writer=$!
until [ "$(file q0/read_index)" = $((n + 1)) ]; do :; done
kill -KILL $writer
wait $writer 2>/dev/null
n=$((n + 1))
until [ "$(file q0/state | tail -1)" = "short-packet 3" ]; do :; done

# An offset that the stream has not reached.
fails 1 "dd seek=" dd if=one of=$q/q0/packets bs=64 seek=3 conv=notrunc status=none
grep -q 'Illegal seek' fails.err || fail "dd seek= says $(cat fails.err)"
submitted "dd seek=" $n

# The ring takes bytes anywhere inside, and no more.
put "dd into the ring" 0 dd if=one of=$q/q0/ring bs=64 seek=3 status=none
check "the ring has it" sh -c "dd if=$q/q0/ring bs=64 skip=3 count=1 status=none | cmp - one"
put "dd into the ring, conv=notrunc" 0 dd if=one of=$q/q0/ring bs=64 seek=63 conv=notrunc status=none
fails 1 "behind the ring" dd if=one of=$q/q0/ring bs=64 seek=64 conv=notrunc status=none
fails 1 "across its end" dd if=hundred of=$q/q0/ring bs=6400 count=1 conv=notrunc status=none
fails 1 "a larger ring" truncate -s 4097 $q/q0/ring
quiet "a smaller one is nothing" truncate -s 0 $q/q0/ring
same "the ring keeps its size" "$(stat -c %s $q/q0/ring)" 4096

# A trace that is read ends; one that is followed goes on.
check "cat ends" timeout 10 cat $q/trace
same "the trace is bounded" "$(file trace | wc -l)" 512
same "its size" "$(stat -c %s $q/trace)" "$(file trace | wc -c)"
echo 1 >$q/reset
mkdir $q/q0
n=0
mount_events=$(file trace | wc -l)
tail -n +1 -f -s 0.05 $q/q0/trace >followed 2>tail.err &
follower=$!
for i in 1 2 3; do
	cat one >$q/q0/packets
	events=$(file q0/trace | wc -l)
	tries=0
	until [ "$(wc -l <followed)" = "$events" ]; do
		tries=$((tries + 1))
		[ $tries -lt 2000 ] || {
			fail "tail -f shows $(wc -l <followed) of $events events"
			break
		}
	done
done
kill $follower
wait $follower 2>/dev/null
check "tail -f has what cat has" sh -c "cat $q/q0/trace | cmp - followed"
[ "$mount_events" -gt 0 ] || fail "no events after reset"

# Write, then read: by one open file.
mkdir $q/signals/s
ask() { # COMMAND of wait
	exec 3<>$q/signals/s/wait
	echo "$1" >&3
	read -r answer <&3
	exec 3>&-
	echo "$answer"
}
same "eq" "$(ask 'eq 1')" "satisfied 1"
same "ne, at once" "$(ask 'ne 1 0')" "timed_out 1"
same "lt, after a while" "$(ask 'lt 1 50000000')" "timed_out 1"
same "gte" "$(ask 'gte -5 18446744073709551615')" "satisfied 1"
ask 'eq 7' >answer &
waiter=$!
ask 'eq 8 30000000000' >answer8 &
waiter8=$!
until [ "$(ls -l /proc/*/fd 2>/dev/null | grep -c signals/s/wait)" -ge 2 ]; do :; done
echo 7 >$q/signals/s/value
wait $waiter
same "a waiter wakes" "$(cat answer)" "satisfied 7"
rmdir $q/signals/s
wait $waiter8
case $(cat answer8) in
"cancelled 7" | "") ;; # "": it was too late to ask
*) fail "a removed signal answers '$(cat answer8)'" ;;
esac
same "reserve" "$( (echo 3 >&3 && cat <&3) 3<>$q/q0/reserve)" 3
same "reserve again" "$( (echo 1 >&3 && cat <&3) 3<>$q/q0/reserve)" 6
same "write_index" "$(file q0/write_index)" 7
same "files that wait give nothing unasked" "$(cat $q/replay $q/q0/reserve $q/q0/packets)" ""

# poll() wakes for what changed, in every kind.
check "poll" timeout 60 "$python" - $q <<'PY'
import os, select, subprocess, sys, threading, time
q = sys.argv[1]
os.mkdir(q + "/p")
os.mkdir(q + "/signals/p")


def write(name, data):
    fd = os.open(q + "/" + name, os.O_WRONLY)
    os.write(fd, data)
    os.close(fd)


def expect(name, flags, action, want, forget=True):
    fd = os.open(q + "/" + name, flags | os.O_NONBLOCK)
    if forget:
        while flags != os.O_WRONLY:
            try:
                if not os.read(fd, 1 << 16) or not name.endswith("pipe"):
                    break
            except BlockingIOError:
                break
    p = select.poll()
    p.register(fd, want)
    assert not p.poll(0), (name, "is ready at first")
    t = threading.Timer(0.05, action)
    t.start()
    got = p.poll(20000)
    assert got and got[0][1] & want, (name, got)
    t.join()
    os.close(fd)


packet = open("one", "rb").read()
expect("trace_pipe", os.O_RDONLY, lambda: write("p/packets", packet), select.POLLIN)
expect("p/read_index", os.O_RDONLY, lambda: write("p/packets", packet), select.POLLIN | select.POLLPRI)
expect("signals/p/value", os.O_RDONLY, lambda: write("signals/p/value", b"5\n"), select.POLLPRI)
write("p/paused", b"1")
expect("p/state", os.O_RDONLY, lambda: write("p/paused", b"0"), select.POLLIN)
write("p/paused", b"1")
write("p/packets", packet * 64)
expect("p/packets", os.O_WRONLY, lambda: write("p/paused", b"0"), select.POLLOUT)
fd = os.open(q + "/signals/p/wait", os.O_RDWR)
os.write(fd, b"eq 9")
p = select.poll()
p.register(fd, select.POLLIN)
assert not p.poll(0)
threading.Timer(0.05, lambda: write("signals/p/value", b"9")).start()
assert p.poll(20000)
assert os.read(fd, 100) == b"satisfied 9\n"
os.write(fd, b"eq 10 100000000")
assert not p.poll(0)
assert p.poll(20000), "the deadline does not wake poll"
assert os.read(fd, 100) == b"timed_out 9\n"
gone = os.open(q + "/p/state", os.O_RDONLY)
os.rmdir(q + "/p")
p = select.poll()
p.register(gone, select.POLLIN)
assert p.poll(0)[0][1] & select.POLLHUP
fixed = os.open(q + "/../artifact.json", os.O_RDONLY)
p = select.poll()
p.register(fixed, select.POLLIN)
assert p.poll(0) == [(fixed, select.POLLIN)]

# Edge-triggered: every change is one wake-up, none is lost.
fd = os.open(q + "/trace_pipe", os.O_RDONLY | os.O_NONBLOCK)
e = select.epoll()
e.register(fd, select.EPOLLIN | select.EPOLLET)


def drain():
    data = b""
    try:
        while True:
            data += os.read(fd, 1 << 16)
    except BlockingIOError:
        return data


drain()
e.poll(0)
seen = 0
for i in range(300):
    write("signals/p/value", b"1")  # no event
    os.mkdir(q + "/signals/x")
    os.rmdir(q + "/signals/x")
    while seen < 2 * (i + 1):
        assert e.poll(20), (i, "lost wake-up")
        seen += drain().count(b"\n")
assert seen == 600, seen
os.rmdir(q + "/signals/p")
PY

# Modes, and who may write.
same "modes" "$(stat -c %a $q $q/q0 $q/q0/id $q/q0/size $q/q0/packets $q/trace $q/reset $q/q0/slots/0.json | tr '\n' ' ')" \
	"755 755 444 444 644 444 644 444 "
if [ "$(id -u)" != 0 ]; then
	if echo 1 2>/dev/null >$q/q0/id; then fail "a file of mode 444 takes a write"; fi
fi
rmdir $q/q0
stop m $pid

mount_fg m -o queue_mode=0600 --sample || finish
mkdir $q/q0
same "queue_mode=0600" "$(stat -c %a $q $q/q0 $q/q0/id $q/q0/packets | tr '\n' ' ')" "700 700 400 600 "
stop m $pid
for bad in 0777 8 rw 00000 ''; do
	fails 2 "queue_mode=$bad" "$GPUOBJFS" -o queue_mode=$bad --sample m
done
for bad in queue_max=65 queue_captures=0 queue_trace=1G queue_memory=1 queue_signals=x; do
	"$GPUOBJFS" -o $bad --sample m 2>bad.err && fail "$bad is taken"
	grep -q "${bad%%=*}" bad.err || fail "$bad: the message is $(cat bad.err)"
done
mount_fg m -o queue_trace=4,queue_captures=2,queue_max=1,queue_verdicts=1,queue_memory=8K --sample || finish
mkdir $q/q0
same "queue_max" "$(mkdir $q/q1 2>&1 | grep -c 'No space')" 1
cat one one one >$q/q0/packets
same "queue_trace" "$(file trace_stats)" '{"total":18,"retained":4,"dropped":14,"capacity":4}'
same "queue_captures" "$(ls $q/captures | tr '\n' ' ')" "1.aql 1.json 1.replay.json 2.aql 2.json 2.replay.json "
same "queue_verdicts" "$(file q0/verdict_stats)" '{"total":3,"retained":1,"dropped":2,"capacity":1}'
same "queue_memory" "$(cat $q/regions/region_coarse/size)" 8192
stop m $pid

# Others: not by default; with queue_mode they may.
if [ "$WHO" = root ]; then
	other() { setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; }
	mount_fg m -o allow_other --sample || finish
	mkdir $q/q0
	chmod 644 one
	check "another user reads" other cat $q/q0/state
	for command in "cat one >$q/q0/packets" "echo 1 >$q/q0/doorbell" "mkdir $q/q1" "rmdir $q/q0"; do
		if other sh -c "$command" 2>other.err; then fail "another user: $command"; fi
		grep -q 'denied\|not permitted' other.err || fail "$command: $(cat other.err)"
	done
	stop m $pid
	mount_fg m -o allow_other,queue_mode=0666 --sample || finish
	check "queue_mode=0666: mkdir" other mkdir $q/q0
	check "queue_mode=0666: write" other sh -c "cat one >$q/q0/packets"
	same "queue_mode=0666" "$(file q0/read_index)" 1
	check "queue_mode=0666: rmdir" other rmdir $q/q0
	stop m $pid
fi

# With -o ro there is none of it.
mount_fg m -o ro --sample || finish
[ ! -e m/queues ] || fail "-o ro has queues"
stop m $pid
finish
