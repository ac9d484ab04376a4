#!/bin/sh
# Submit a packet, wait for its completion signal, look at what happened.
#
# Usage: queue-submit.sh MOUNTPOINT
#
# The mount must be fresh, with nothing done in its queues yet, and not one with -o ro.

here=$(dirname "$(readlink -f "$0")")
. "$here/start.sh"
. "$here/packets.sh"
[ $# = 1 ] || wrong_usage
cd -- "$1/queues" || exit 2

mkdir q0 signals/done memory/args
echo 64 >memory/args/size
echo "before: $(cat signals/done/value)"
dispatch 0x1402 64 256 0xABCD "$(cat memory/args/address)" "$(cat signals/done/handle)" >q0/packets

# Ask and answer go through one open file.
exec 3<>signals/done/wait
echo 'lt 1 1000000000' >&3
read -r answer <&3
exec 3>&-
echo "wait: $answer"
echo "read_index $(cat q0/read_index), write_index $(cat q0/write_index), state $(cat q0/state)"
cat q0/verdicts
tail -n 3 trace
rmdir q0 signals/done memory/args
