# The sessions of mnt-examples/queue-*.sh say what they did when they were written down.
. "$TESTS/mount/lib.sh"

shells=sh
for shell in dash bash; do
	[ -z "$BRIEF" ] || break # root tries other shells
	known=$(command -v $shell) && [ "$(readlink -f "$known")" != "$(readlink -f "$(command -v sh)")" ] &&
		shells="$shells $shell"
done
for example in "$EXAMPLES"/queue-*.sh; do
	name=$(basename "$example" .sh)
	for shell in $shells; do
		same "$name with $shell --help" "$($shell "$example" --help 2>&1 | grep -c "^Usage: $name.sh MOUNTPOINT")" 1
		same "$name with $shell -h" "$($shell "$example" -h 2>&1)" "$($shell "$example" --help 2>&1)"
		got=$($shell "$example" 2>&1 >alone)
		same "$name with $shell alone" "$? $got$(cat alone)" "2 $($shell "$example" --help)"
		mount_fg m --sample || finish
		checks=$((checks + 1))
		$shell "$example" "$(pwd)/m" >got 2>&1
		status=$?
		if [ $status = 77 ]; then
			note "$(cat got)"
		elif [ $status != 0 ]; then
			fail "$name with $shell ended with $status"
			show got
		elif ! cmp -s got "$EXAMPLES/$name.out"; then
			fail "$name with $shell says something else"
			diff "$EXAMPLES/$name.out" got >&2
		fi
		stop m $pid
	done
done
finish
