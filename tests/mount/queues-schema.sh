# The JSON of /queues, and of the mount around it, as docs/schema says: after every session of
# mnt-examples, and with packets that are refused, wait or end their queue.
. "$TESTS/mount/lib.sh"
. "$EXAMPLES/packets.sh"

"$python" "$TESTS/schema/check.py" tree m >schema.log 2>&1
if [ $? = 77 ]; then
	cat schema.log
	exit 77
fi

# keep NAME: what is in queues now, as a tree of its own
keep() {
	mkdir -p "kept/$1"
	check "copy of queues after $1" cp -r m/queues "kept/$1/queues"
	# What a copy does not meet: the pipe, and the answer of replay.
	dd if=m/queues/trace_pipe "of=kept/$1/queues/trace_pipe" bs=64k count=1 iflag=nonblock status=none
	exec 5<>m/queues/replay
	cat packet >&5
	cat <&5 >"kept/$1/queues/replay"
	exec 5>&-
}

dispatch 0x1402 64 256 0xABCD 0 0 >packet
mount_fg m --sample -o queue_trace=24 || finish
keep nothing
for example in "$EXAMPLES"/queue-*.sh; do
	sh "$example" "$(pwd)/m" >example.out 2>&1 || fail "$example: $(cat example.out)"
	keep "$(basename "$example" .sh)"
done

# All at once: every kind of packet, a slot without a header, a queue that waits, one in error.
agent >packet
mkdir m/queues/soft m/queues/waits m/queues/wrong m/queues/paused m/queues/signals/go
mkdir m/queues/memory/args
echo 64 >m/queues/memory/args/size
args=$(cat m/queues/memory/args/address)
go=$(cat m/queues/signals/go/handle)
{
	dispatch 0x1402 64 256 0xABCD "$args" "$go"
	dispatch 0x1402 64 256 0xABCD 0x1000 "$go" # memory that is not ours
	dispatch 0x1402 0 256 0xABCD 0 0
	barrier 0x0003 "$go" 0 0 0 0 0
	barrier 0x0005 "$go" 0 0 0 0 0
	agent
	printf "$(le 2 0x1400 1)$(le 4 0)$(le 8 0 0 0 0 0 0 0)" # of a vendor
	printf "$(le 2 0x14ff 1)$(le 4 0)$(le 8 0 0 0 0 0 0 0)" # of no known type
} >m/queues/soft/packets
echo 1 >m/queues/soft/write_index # what is not stored forwards
echo hsa >m/queues/waits/mode
echo 3 >m/queues/signals/go/value
barrier 0x0003 "$go" 0 0 0 0 0 >m/queues/waits/packets
echo hsa >m/queues/wrong/mode
agent >m/queues/wrong/packets
echo 1 >m/queues/paused/paused
dispatch 0x1402 64 256 0xABCD 0 0 >m/queues/paused/packets
echo 7 >m/queues/soft/read_index
rmdir m/queues/memory/args
keep all
keep "all, a refused replay"
check "the files as docs/schema says" "$python" "$TESTS/schema/check.py" tree m kept/*
cp check.log schema.log
stop m $pid
for schema in capture container queues-info replay report slot stats target-kernel trace verdict; do
	grep -q "[ :]$schema\( \|\$\)" schema.log || fail "no file was judged by $schema.schema.json"
done
grep -q trace_lost kept/*/queues/trace_pipe || fail "no event was lost"
for word in unassigned barrier_or invalid vendor_specific; do
	grep -rqs "\"$word\"" kept/*/queues || fail "no $word among the files"
done
finish
