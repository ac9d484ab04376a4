# AQL packets from plain sh. Source it:  . ./packets.sh
#
# le BYTES NUMBER...    numbers as little-endian bytes, for printf
# dispatch HEADER WORKGROUP GRID KERNEL_OBJECT KERNARG COMPLETION
# barrier HEADER DEP0 DEP1 DEP2 DEP3 DEP4 COMPLETION
# agent                 a type that is always rejected
# poke FILE OFFSET BYTES NUMBER   writes a number into a file that is there
#
# Headers: 2 dispatch, 3 barrier-AND, 5 barrier-OR, plus 0x100 for the barrier bit and 0x1400
# for fences of system scope.

le() {
	le_bytes=$1
	shift
	for le_value; do
		le_left=$le_bytes
		while [ "$le_left" -gt 0 ]; do
			printf '\\%03o' $((le_value & 255))
			le_value=$((le_value >> 8))
			le_left=$((le_left - 1))
		done
	done
}

# In one command, because some shells write what printf gives them line by line otherwise.
dispatch() {
	printf "$(le 2 "$1" 1 "$2" 1 1 0)$(le 4 "$3" 1 1 0 0)$(le 8 "$4" "$5" 0 "$6")"
}

barrier() {
	printf "$(le 2 "$1" 0)$(le 4 0)$(le 8 "$2" "$3" "$4" "$5" "$6" 0 "$7")"
}

agent() {
	printf "$(le 2 4 0)$(le 4 0)$(le 8 0 0 0 0 0 0 0)"
}

poke() {
	printf "$(le "$3" "$4")" | dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}
