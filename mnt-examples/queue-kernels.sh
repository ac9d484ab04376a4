#!/bin/sh
# Dispatch every AMD kernel of the artifact with memory for its arguments, and see whether
# packet and kernel fit.
#
# Usage: queue-kernels.sh MOUNTPOINT
#
# The mount must be fresh, with nothing done in its queues yet, and not one with -o ro.

here=$(dirname "$(readlink -f "$0")")
. "$here/start.sh"
. "$here/packets.sh"
[ $# = 1 ] || wrong_usage
packet=$(mktemp)
trap 'rm -f "$packet"' EXIT
cd -- "$1" || exit 2

if [ ! -e queues/info.json ] || [ -z "$(ls -d objects/*/inspect/kernels/*/dispatch.aql 2>/dev/null)" ]; then
	echo "SKIP: no AMD kernels here, or no inspection of them"
	exit 77
fi
mkdir queues/q0 queues/memory/args
echo 4096 >queues/memory/args/size
address=$(cat queues/memory/args/address)

for template in objects/*/inspect/kernels/*/dispatch.aql; do
	# As it is but for the address of the arguments, at offset 40.
	cp "$template" "$packet"
	poke "$packet" 40 8 "$address"
	cat "$packet" >queues/q0/packets
done
echo "dispatched $(cat queues/q0/write_index), refused $(grep -c rejected queues/q0/verdicts)"
n=0
while [ -e queues/captures/$n.json ]; do
	# The object, the kernel, and what is wrong with the packet, if anything.
	sed -n 's/^\t\t"\(object\|kernel\|findings\)":\t//p' queues/captures/$n.json | tr '\n' ' '
	echo
	n=$((n + 1))
done

# Without the address every kernel that has arguments misses them.
cat "$template" >queues/q0/packets
grep '"findings"' queues/captures/$n.json | tr -d '\t'
# And a work-group that is too large for any of them.
cp "$template" "$packet"
poke "$packet" 4 2 32768
poke "$packet" 12 4 32768
cat "$packet" >queues/q0/packets
grep '"findings"' queues/captures/$((n + 1)).json | tr -d '\t'
rmdir queues/q0 queues/memory/args
