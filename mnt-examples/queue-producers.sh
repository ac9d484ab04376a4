#!/bin/sh
# Two producers share a ring: each reserves its slots, writes them, publishes them last.
#
# Usage: queue-producers.sh MOUNTPOINT
#
# The mount must be fresh, with nothing done in its queues yet, and not one with -o ro.

here=$(dirname "$(readlink -f "$0")")
. "$here/start.sh"
. "$here/packets.sh"
[ $# = 1 ] || wrong_usage
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd -- "$1/queues" || exit 2

mkdir q0
# reserve COUNT: adds to write_index, says what it was. No other producer gets these ids.
reserve() {
	(echo "$1" >&3 && cat <&3) 3<>q0/reserve
}

# put ID FILE: body, then header, of one packet
put() {
	slot=$(($1 % $(cat q0/size)))
	dd if="$2" of=q0/ring bs=4 skip=1 seek=$((slot * 16 + 1)) count=15 conv=notrunc status=none
	dd if="$2" of=q0/ring bs=4 seek=$((slot * 16)) count=1 conv=notrunc status=none
}

# producer KERNEL_OBJECT COUNT
producer() {
	dispatch 2 64 64 "$1" 0 0 >"$work/$1"
	first=$(reserve "$2")
	id=$first
	while [ "$id" -lt $((first + $2)) ]; do
		put "$id" "$work/$1"
		id=$((id + 1))
	done
	echo $((id - 1)) >q0/doorbell
}

producer 0xAAAA 5 &
producer 0xBBBB 7 &
wait
# Whoever was last with the bell found everything published.
echo "write_index $(cat q0/write_index), read_index $(cat q0/read_index), $(cat q0/state)"
for kernel in 0xaaaa 0xbbbb; do
	count=$(cat captures/*[0-9].json | grep -c "\"kernel_object\":.*$(printf '0x%016x' $((kernel)))")
	echo "$kernel: $count dispatches"
done

# packets needs none of this: a write is one step.
dispatch 2 64 64 0xAAAA 0 0 >q0/packets &
dispatch 2 64 64 0xBBBB 0 0 >q0/packets &
wait
echo "write_index $(cat q0/write_index), read_index $(cat q0/read_index)"
rmdir q0
