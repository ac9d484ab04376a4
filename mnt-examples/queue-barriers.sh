#!/bin/sh
# mode hsa: a barrier packet waits for its signals, and says for which one.
#
# Usage: queue-barriers.sh MOUNTPOINT
#
# The mount must be fresh, with nothing done in its queues yet, and not one with -o ro.

here=$(dirname "$(readlink -f "$0")")
. "$here/start.sh"
. "$here/packets.sh"
[ $# = 1 ] || wrong_usage
cd -- "$1/queues" || exit 2

mkdir q0 signals/go signals/done
echo hsa >q0/mode
echo 2 >signals/done/value # two packets count it down
go=$(cat signals/go/handle)
done=$(cat signals/done/handle)
barrier 0x0003 "$go" 0 0 0 0 "$done" >q0/packets
dispatch 0x1402 64 256 0xABCD 0 "$done" >q0/packets
echo "blocked:"
cat q0/state
cat signals/go/users
echo "done is $(cat signals/done/value)"

echo 0 >signals/go/value
echo "released: $(cat q0/state), done is $(cat signals/done/value)"

# A packet that is wrong ends such a queue.
agent >q0/packets
cat q0/state
dispatch 0x1402 64 256 0xABCD 0 0 >q0/packets 2>/dev/null || echo "no more packets"
rmdir q0 signals/go signals/done
