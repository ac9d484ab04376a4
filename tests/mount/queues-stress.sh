# Four writers, a reader of the pipe: nothing is lost, nothing comes twice, order is kept.
# GPUOBJFS_STRESS=N packets for each writer instead of a small number.
. "$TESTS/mount/lib.sh"

each=4000
[ -z "$BRIEF" ] || each=1000 # root sends more
each=${GPUOBJFS_STRESS:-$each}
mount_fg m -o queue_captures=65536,queue_kernarg=16,queue_verdicts=65536 --sample || finish
check "four writers of $each packets" timeout 250 "$python" -S - m/queues "$each" <<'PY'
import json, os, random, select, struct, subprocess, sys, threading
q, each = sys.argv[1], int(sys.argv[2])
WRITERS = 4
os.mkdir(q + "/q0")
os.mkdir(q + "/q1")
cat = subprocess.Popen(["cat", q + "/trace_pipe"], stdout=open("pipe.out", "wb"))


def packet(writer, n):
    return struct.pack("<HHHHHHIIIIIQQQQ", 2, 1, 64, 1, 1, 0, 64, 1, 1, 0, 0, writer << 32 | n, 0, 0, 0)


def send(fd, data):
    while data:
        data = data[os.write(fd, data):]


def write(writer):
    rng = random.Random(writer)
    fd = os.open(q + "/q%d/packets" % (writer % 2), os.O_WRONLY)
    n = 0
    while n < each:
        count = min(rng.choice((1, 3, 64, 500, 16384)), each - n)
        data = b"".join(packet(writer, n + i) for i in range(count))
        if rng.random() < 0.2:  # in two pieces that are not whole packets
            cut = rng.randrange(1, len(data))
            send(fd, data[:cut])
            data = data[cut:]
        send(fd, data)
        n += count
    os.close(fd)


threads = [threading.Thread(target=write, args=(i,)) for i in range(WRITERS)]
for t in threads:
    t.start()
for t in threads:
    t.join()


def read(name):
    with open(q + "/" + name) as f:
        return f.read()


total = json.loads(read("trace_stats"))["total"]
for i in (0, 1):
    assert int(read("q%d/read_index" % i)) == 2 * each, read("q%d/read_index" % i)
    assert int(read("q%d/write_index" % i)) == 2 * each
    assert json.loads(read("q%d/verdict_stats" % i))["total"] == 2 * each
    assert read("q%d/state" % i) == "active\n", read("q%d/state" % i)
captures = json.loads(read("captures_stats"))
assert captures["total"] == WRITERS * each, captures

# Every event was read, or is counted as lost.
seen = lost = seq = 0
with open("pipe.out", "rb") as f:
    while seen + lost < total:
        line = f.readline()
        if not line.endswith(b"\n"):
            f.seek(-len(line), 1)
            continue
        event = json.loads(line)
        if event["type"] == "trace_lost":
            lost += event["count"]
            continue
        assert event["seq"] > seq, (event, seq)
        assert event["seq"] == seen + lost + 1, (event, seen, lost)
        seq = event["seq"]
        seen += 1
cat.terminate()
cat.wait()
assert seen + lost == total
print("%d events read, %d lost, of %d" % (seen, lost, total))

# Packets of one writer come in the order that they were written, none twice.
first = captures["dropped"]
last = {}
for n in range(first, captures["total"]):
    with open(q + "/captures/%d.aql" % n, "rb") as f:
        writer, number = divmod(struct.unpack_from("<Q", f.read(), 32)[0], 1 << 32)
    assert writer not in last or number == last[writer] + 1, (n, writer, number, last)
    last[writer] = number
for writer in last:
    assert last[writer] == each - 1

# What was captured replays to the same.
for n in list(range(first, captures["total"]))[:: max(1, captures["retained"] // 200)]:
    assert read("captures/%d.json" % n) == read("captures/%d.replay.json" % n)
PY
note "$(grep events check.log)"
stop m $pid
finish
