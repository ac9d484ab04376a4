#!/bin/sh
# Two runs of a program, compared by their traces.
#
# Usage: queue-compare.sh MOUNTPOINT
#
# The mount must be fresh, with nothing done in its queues yet, and not one with -o ro.

here=$(dirname "$(readlink -f "$0")")
. "$here/start.sh"
. "$here/packets.sh"
[ $# = 1 ] || wrong_usage
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd -- "$1/queues" || exit 2

# program GRID: the second of its three packets has this grid
program() {
	dispatch 0x1402 64 256 0x1000 0 0
	dispatch 0x1402 64 "$1" 0x2000 0 0
	barrier 0x0103 0 0 0 0 0 0
}

# run NAME GRID: leaves the trace of a queue of its own, without what differs by nature
run() {
	mkdir "$1"
	program "$2" >"$1/packets"
	sed 's/"seq":[0-9]*,"queue_id":[0-9]*,//' "$1/trace" >"$work/$1"
	rmdir "$1"
}

run good 64
run same 64
run bad 63
diff "$work/good" "$work/same" && echo "good and same: no difference"
diff "$work/good" "$work/bad" || echo "good and bad differ"
