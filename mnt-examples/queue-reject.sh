#!/bin/sh
# Packets that are refused, one that is taken, and what a capture is good for.
#
# Usage: queue-reject.sh MOUNTPOINT
#
# The mount must be fresh, with nothing done in its queues yet, and not one with -o ro.

here=$(dirname "$(readlink -f "$0")")
. "$here/start.sh"
. "$here/packets.sh"
[ $# = 1 ] || wrong_usage
cd -- "$1/queues" || exit 2

mkdir q0 signals/done memory/args
echo 4096 >memory/args/size
done=$(cat signals/done/handle)

agent >q0/packets
dispatch 0x1402 0 256 0xABCD 0 "$done" >q0/packets  # no work-items in a group
dispatch 0x1402 64 32 0xABCD 0 "$done" >q0/packets  # a grid smaller than one group
echo "three refused, the signal is still $(cat signals/done/value)"
cat q0/verdicts

dispatch 0x1402 64 256 0xABCD "$(cat memory/args/address)" "$done" >q0/packets
echo "one taken, the signal is $(cat signals/done/value)"
echo "captures: $(ls captures | tr '\n' ' ')"

# A replay knows no memory, so the class of the argument address is all that can differ.
diff captures/0.json captures/0.replay.json

# The ring's own copy lost its header when it was processed; the capture is the packet itself.
exec 3<>replay
dd if=q0/ring bs=64 skip=3 count=1 status=none >&3
cat <&3
exec 3>&-
cat captures/0.aql >q0/packets
echo "again: $(tail -n 1 q0/verdicts)"
rmdir q0 signals/done memory/args
