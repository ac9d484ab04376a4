#!/bin/sh
# What the order of stores means: a slot counts when its header is there, and not before.
#
# Usage: queue-publish-last.sh MOUNTPOINT
#
# The mount must be fresh, with nothing done in its queues yet, and not one with -o ro.

here=$(dirname "$(readlink -f "$0")")
. "$here/start.sh"
. "$here/packets.sh"
[ $# = 1 ] || wrong_usage
packet=$(mktemp)
trap 'rm -f "$packet"' EXIT
cd -- "$1/queues" || exit 2

mkdir q0
dispatch 0x1402 64 256 0xABCD 0 0 >"$packet"

# The body first, all but the four bytes of header and setup. Then the index, and the bell.
dd if="$packet" of=q0/ring bs=4 skip=1 seek=1 count=15 conv=notrunc status=none
echo 1 >q0/write_index
echo 0 >q0/doorbell
echo "too early: $(cat q0/state), read_index $(cat q0/read_index)"
tail -n 1 q0/trace

# Now the header. The same bell again.
dd if="$packet" of=q0/ring bs=4 count=1 conv=notrunc status=none
echo 0 >q0/doorbell
echo "published: $(cat q0/state), read_index $(cat q0/read_index)"
tail -n 1 q0/trace
rmdir q0
