#!/bin/sh
# Prints a table: files down, devices across, and whether the one would run on the other.
#
# Usage: will-it-run.sh FILE... DEVICE...
#        will-it-run.sh --sample [DEVICE...]
#
# What is no file is a device, named as for gpuobj which: sm_86, 8.6, gfx90a, "RTX 4090"; of
# a name that stands for several settings, each is a column. Without a DEVICE: all for which some file has code. Each file is mounted and
# devices/DEVICE/device.json read; where that cannot be done, gpuobj shows the same file.
# GPUOBJFS and GPUOBJ name the programs. Needs jq.
#
#   native   it has code for the device    partial  some of its parts have, others have not
#   jit      only PTX or SPIR-V, which the driver compiles first    none    maybe
#
# Exit status 0: native or jit everywhere, 1: not, 2: trouble.

set -u
usage() {
	sed -n '2,/^$/s/^# \{0,1\}//p' "$0"
}
case ${1:-} in
-h | --help)
	usage
	exit 0
	;;
'')
	usage >&2
	exit 2
	;;
esac
gpuobjfs=${GPUOBJFS:-gpuobjfs}
gpuobj=${GPUOBJ:-gpuobj}
for program in "$gpuobj" jq; do
	command -v "$program" >/dev/null || {
		echo "will-it-run.sh: $program is not there" >&2
		exit 2
	}
done
work=$(mktemp -d) || exit 2
trap 'fusermount3 -u "$work/mnt" 2>/dev/null; rm -rf "$work"' EXIT
trap 'exit 2' INT TERM
mkdir "$work/mnt"

# verdicts FILE: "DEVICE VERDICT" of every device, a line each.
row='"\(.device) \(.verdict)"'
verdicts() {
	if (exec 3<>/dev/fuse) 2>/dev/null && command -v "$gpuobjfs" >/dev/null &&
		"$gpuobjfs" -o ro "$1" "$work/mnt" 2>/dev/null; then
		find "$work/mnt/devices" -name inspect -prune -o -name device.json -exec cat {} + |
			jq -r "$row"
		fusermount3 -u "$work/mnt"
		return
	fi
	"$gpuobj" ls "$1" /devices >"$work/ls" || return
	while IFS= read -r device; do
		"$gpuobj" cat "$1" "/devices/${device%/}/device.json" || return
	done <"$work/ls" | jq -r "$row"
}

count=0
: >"$work/devices"
for word; do
	if [ "$word" != --sample ] && [ ! -f "$word" ]; then
		"$gpuobj" which --jsonl "$word" --sample >"$work/named" 2>"$work/why"
		[ -s "$work/named" ] || {
			sed -n '1s/^gpuobj: which:/will-it-run.sh: no file, and/p' "$work/why" >&2
			exit 2
		}
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
if [ $count = 0 ]; then
	echo "will-it-run.sh: no file among: $*" >&2
	exit 2
fi
if [ ! -s "$work/devices" ]; then
	cat "$work"/*.verdicts | grep -v ' none$' | cut -d' ' -f1 | sort -uV >"$work/devices"
fi

if [ ! -s "$work/devices" ]; then
	echo "will-it-run.sh: there is no code for any device" >&2
	exit 1
fi

width=$(awk '{ if (length($0) > n) n = length($0) } END { print n + 2 }' "$work/files")
head() {
	printf '%-*s' "$width" ''
	while IFS= read -r device; do printf '%-*s' $((${#device} > 7 ? ${#device} + 2 : 9)) "$device"; done
	echo
}
head <"$work/devices" | sed 's/ *$//'
i=0
while IFS= read -r file; do
	i=$((i + 1))
	printf '%-*s' "$width" "$file"
	while IFS= read -r device; do
		verdict=$(awk -v device="$device" '$1 == device { print $2 }' "$work/$i.verdicts")
		printf '%-*s' $((${#device} > 7 ? ${#device} + 2 : 9)) "${verdict:-none}"
	done <"$work/devices"
	echo
done <"$work/files" | sed 's/ *$//' | tee "$work/table"
! grep -Eq ' (none|partial|maybe)( |$)' "$work/table"
