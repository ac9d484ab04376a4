#!/bin/sh
# Lists the kernels of a library that need most: registers, shared memory (LDS), spills.
#
# Usage: register-pressure.sh LIB [N]      the first N of each list, 10 without N
#
# Every kernel of every target is examined. NVIDIA code counts no spilled registers: there the
# stack of a thread tells of them. GPUOBJ names the program (gpuobj). Needs jq.

set -u
. "$(dirname "$(readlink -f "$0")")/start.sh"
if [ $# -lt 1 ] || [ $# -gt 2 ]; then
	wrong_usage
fi
lib=$1
count=${2:-10}
case $count in
'' | *[!0-9]*) die "$count: not a number" ;;
esac
need "$gpuobj" jq
work_folder

"$gpuobj" ls "$lib" /targets >"$work/targets" || exit 1
: >"$work/kernels.jsonl"
if [ -s "$work/targets" ]; then
	"$gpuobj" cat "$lib" 'targets/*/inspect/kernels.jsonl' >"$work/kernels.jsonl" || exit 1
fi

top() { # TITLE VALUE: a jq expression, null where a kernel has no such value
	say "== $1"
	jq -rn --argjson count "$count" "
		[inputs | {value: ($2), target, name: (.demangled // .name)}
			| select(.value != null and .value > 0)]
		| sort_by(-.value, .target, .name) | .[:\$count][]
		| \"\\(.value)\\t\\(.target)\\t\\(.name)\"" "$work/kernels.jsonl" || exit
}

top "registers of a thread" '.registers // .vgpr_count'
top "shared memory of a block, bytes" '.static_shared_bytes // .group_segment_fixed_size'
top "spilled registers" \
	'if .vgpr_spill_count or .sgpr_spill_count
	then (.vgpr_spill_count // 0) + (.sgpr_spill_count // 0) else null end'
top "stack or private segment of a thread, bytes" '.stack_frame_bytes // .private_segment_fixed_size'
