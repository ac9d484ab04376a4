#!/bin/sh
# Compares the GPU code of two releases of a library: targets added and gone; for each target
# in both, kernels added and gone, and which resources of a kernel changed.
#
# Usage: diff-releases.sh OLD NEW
#
# Mounts both; where that cannot be done, gpuobj copies the same files out. GPUOBJFS and GPUOBJ
# name the programs. Needs jq. Exit status as diff's: 0 no difference, 1 some, 2 trouble.

set -u
export LC_ALL=C # comm and ls sort alike
. "$(dirname "$(readlink -f "$0")")/start.sh"
[ $# = 2 ] || wrong_usage
need jq
work_folder

copy() { # LIB SIDE: what is compared, as it lies in a mount
	"$gpuobj" ls "$1" /targets >"$work/list" || return 1
	while IFS= read -r target; do
		to=$work/$2/targets/${target%/}/inspect
		mkdir -p "$to" &&
			"$gpuobj" cp "$1" "/targets/${target%/}/inspect/kernels.jsonl" "$to/" || return 1
	done <"$work/list"
}

if ! mount_in old "$1" || ! mount_in new "$2"; then
	fusermount3 -u "$work/old" 2>/dev/null
	need "$gpuobj"
	copy "$1" old && copy "$2" new || exit 2
fi

# Resources that are worth a line; addresses and encodings of every build differ.
compare=$(
	cat <<'EOF'
def resources: ["registers", "static_shared_bytes", "stack_frame_bytes", "param_bytes",
	"constant0_bytes", "barriers", "max_registers", "max_threads", "required_threads",
	"min_blocks_per_sm", "vgpr_count", "sgpr_count", "agpr_count", "vgpr_spill_count",
	"sgpr_spill_count", "group_segment_fixed_size", "private_segment_fixed_size",
	"kernarg_segment_size", "wavefront_size", "max_flat_workgroup_size",
	"reqd_workgroup_size"];
def stated($key): [.[] | .[$key] | select(. != null) | tostring] | unique
	| if length == 0 then "none" else join(" or ") end;
def by_name: group_by(.name)
	| map({key: .[0].name, value: {shown: (.[0].demangled // .[0].name),
		facts: (. as $all | [resources[] | . as $key | {key: $key, value: ($all | stated($key))}]
			| from_entries)}})
	| from_entries;
($old | by_name) as $old | ($new | by_name) as $new
| ($new | keys[] | select(. as $name | $old | has($name) | not) | "+ " + $new[.].shown),
  ($old | keys[] | select(. as $name | $new | has($name) | not) | "- " + $old[.].shown),
  ($old | keys[] | select(. as $name | $new | has($name)) | $old[.] as $a | $new[.] as $b
	| [resources[] | select($a.facts[.] != $b.facts[.])
		| "\(.) \($a.facts[.]) -> \($b.facts[.])"]
	| select(length > 0) | "~ \($a.shown): \(join(", "))")
EOF
)

status=0
ls "$work/old/targets" >"$work/old.list" 2>/dev/null
ls "$work/new/targets" >"$work/new.list" 2>/dev/null
comm -13 "$work/old.list" "$work/new.list" | sed 's/^/target added: /' >"$work/changes"
comm -23 "$work/old.list" "$work/new.list" | sed 's/^/target gone: /' >>"$work/changes"
comm -12 "$work/old.list" "$work/new.list" >"$work/both.list"
while IFS= read -r target; do
	inside=targets/$target/inspect/kernels.jsonl
	jq -rn --slurpfile old "$work/old/$inside" --slurpfile new "$work/new/$inside" \
		"$compare" >"$work/kernels" || exit 2
	[ -s "$work/kernels" ] || continue
	echo "$target: $(grep -c '^+' "$work/kernels") kernels added," \
		"$(grep -c '^-' "$work/kernels") gone, $(grep -c '^~' "$work/kernels") changed"
	cat "$work/kernels"
done <"$work/both.list" >>"$work/changes" || exit 2
cat "$work/changes" || exit
[ -s "$work/changes" ] && status=1
exit $status
