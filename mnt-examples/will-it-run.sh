#!/bin/sh
# Prints a table: files down, devices across, and whether the one would run on the other.
#
# Usage: will-it-run.sh FILE... DEVICE...
#        will-it-run.sh --sample [DEVICE...]
#
# What is no file is a device, named as for gpuobj which: sm_86, 8.6, gfx90a, "RTX 4090"; of
# a name that stands for several settings, each is a column. Without a DEVICE: all for which some
# file has code. Each file is mounted and devices/DEVICE/device.json read; where that cannot be
# done, gpuobj shows the same file.
# GPUOBJFS and GPUOBJ name the programs. Needs jq.
#
#   native   it has code for the device    partial  some of its parts have, others have not
#   jit      only PTX or SPIR-V, which the driver compiles first    none    maybe
#
# Exit status 0: native or jit everywhere, 1: not, 2: trouble.

set -u
. "$(dirname "$(readlink -f "$0")")/start.sh"
[ $# -gt 0 ] || wrong_usage
need "$gpuobj" jq
work_folder

# verdicts FILE: "DEVICE VERDICT" of every device, a line each.
row='"\(.device) \(.verdict)"'
verdicts() {
	if mount_in mnt "$1"; then
		find "$work/mnt/devices" -name inspect -prune -o -name device.json -exec cat {} + |
			jq -r "$row"
		fusermount3 -u "$work/mnt"
		return
	fi
	"$gpuobj" ls "$1" /devices >"$work/ls" || return
	[ ! -s "$work/ls" ] || "$gpuobj" cat "$1" 'devices/*/device.json' | jq -r "$row"
}

count=0
: >"$work/devices"
for word; do
	if [ "$word" != --sample ] && [ ! -f "$word" ]; then
		"$gpuobj" which --jsonl "$word" --sample >"$work/named" 2>"$work/why"
		[ -s "$work/named" ] || die "no file, and$(sed -n '1s/^gpuobj: which://p' "$work/why")"
		jq -r .device "$work/named" >>"$work/devices"
		continue
	fi
	count=$((count + 1))
	name=${word#--}
	printf '%s' "${name##*/}" | tr '\000-\037\177' '?' >>"$work/files"
	echo >>"$work/files"
	verdicts "$word" | sort >"$work/$count.verdicts"
	[ -s "$work/$count.verdicts" ] || "$gpuobj" ls "$word" / >/dev/null || exit 2
done
[ $count -gt 0 ] || die "no file among: $*"
if [ ! -s "$work/devices" ]; then
	cat "$work"/*.verdicts | grep -v ' none$' | cut -d' ' -f1 | sort -uV >"$work/devices"
fi

if [ ! -s "$work/devices" ]; then
	complain "there is no code for any device"
	exit 1
fi

width=$(awk '{ if (length($0) > n) n = length($0) } END { print n + 2 }' "$work/files")
titles() {
	printf '%-*s' "$width" ''
	while IFS= read -r device; do printf '%-*s' $((${#device} > 7 ? ${#device} + 2 : 9)) "$device"; done
	echo
}
titles <"$work/devices" | sed 's/ *$//' || exit
i=0
while IFS= read -r file; do
	i=$((i + 1))
	printf '%-*s' "$width" "$file"
	while IFS= read -r device; do
		verdict=$(awk -v device="$device" '$1 == device { print $2 }' "$work/$i.verdicts")
		printf '%-*s' $((${#device} > 7 ? ${#device} + 2 : 9)) "${verdict:-none}"
	done <"$work/devices"
	echo
done <"$work/files" | sed 's/ *$//' | tee "$work/table" || exit
! grep -Eq ' (none|partial|maybe)( |$)' "$work/table"
