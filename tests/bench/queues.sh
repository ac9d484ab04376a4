#!/bin/sh
# Ratios of /queues, both sides measured in one run, the median of five rounds each.
#
# Usage: GPUOBJFS=program queues.sh
# Exit 1: a gate is missed. 77: cannot mount here. Run it on a machine that does nothing else.

set -u
here=$(cd "$(dirname "$0")" && pwd)
root=$here/../..
work=$(mktemp -d "${TMPDIR:-/tmp}/gpuobjfs-bench.XXXXXX") || exit 1
mkdir "$work/m" "$work/null" "$work/tmpfs"
cleanup() {
	for d in m null; do
		fusermount3 -u "$work/$d" 2>/dev/null
	done
	rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 1' INT TERM

if ! (exec 3<>/dev/fuse) 2>/dev/null; then
	echo "SKIP: /dev/fuse cannot be opened"
	exit 77
fi
# shellcheck disable=SC2046 # words
${CC:-cc} -std=gnu17 -O2 -I"$root/softgpu/include" -o "$work/queues" "$here/queues.c" \
	"$root"/softgpu/*.c $(pkg-config --cflags --libs fuse3) || exit 1

"${GPUOBJFS:?}" --sample "$work/m" || exit 1
"$work/queues" null "$work/null" || exit 1
q=$work/m/queues
echo 16384 >"$q/defaults/size"
mkdir "$q/q0"
packets=$q/q0/packets
[ "$(stat -f -c %T /dev/shm)" = tmpfs ] && plain=$(mktemp /dev/shm/gpuobjfs-bench.XXXXXX) ||
	plain=$work/tmpfs/file
trap 'rm -f "$plain"; cleanup' EXIT

failed=0
# compare TEXT GATE "COMMAND" "COMMAND": the ratio of two times; a gate of - is for the record
compare() {
	one='' other=''
	for round in 1 2 3 4 5; do
		: >"$plain"
		one="$one $("$work/queues" $3)" || exit 1
		other="$other $("$work/queues" $4)" || exit 1
	done
	one=$(echo $one | tr ' ' '\n' | sort -n | sed -n 3p)
	other=$(echo $other | tr ' ' '\n' | sort -n | sed -n 3p)
	awk -v text="$1" -v gate="$2" -v a="$one" -v b="$other" 'BEGIN {
		ok = gate == "-" || a / b <= gate
		printf "%-52s %9.1f us %9.1f us  ratio %6.2f  %s\n", text, a / 1000, b / 1000, a / b,
			gate == "-" ? "" : ok ? "<= " gate : "ABOVE " gate
		exit !ok
	}' || failed=1
}

echo "what | first | second"
compare "64 bytes: packets, a file that does nothing" 1.3 \
	"write $packets 64 20000" "write $work/null/null 64 20000"
compare "16384 packets a write: packets, softgpu alone" 3 \
	"write $packets 1048576 100" "library 1048576 100"
compare "64 bytes: packets, tmpfs" - "write $packets 64 20000" "write $plain 64 20000"
compare "4096 bytes: packets, tmpfs" - "write $packets 4096 5000" "write $plain 4096 5000"
compare "4096 bytes, 64 bytes: packets" - "write $packets 4096 5000" "write $packets 64 20000"
compare "65536 bytes, 64 bytes: packets" - "write $packets 65536 2000" "write $packets 64 20000"
compare "poll wakes, 64 bytes: packets" - "wake $q/trace_pipe $packets 3000" "write $packets 64 20000"
exit $failed
