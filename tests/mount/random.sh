# Random and parallel readers see the same bytes as sequential ones.
. "$TESTS/mount/lib.sh"

make_mixed mixed.so
all='|-o ro|-s|-o cache=64K|-o direct_io|-o ro,direct_io'
[ -n "$BRIEF" ] && all='|-o direct_io' # root reads with each
IFS='|'
set -- $all
unset IFS
for o; do
	direct=
	case $o in *direct_io) direct=direct ;; esac
	mount_fg m $o mixed.so || continue
	check "tree with '$o'" truth --artifact mixed.so m
	check "random reads with '$o'" "$python" -S "$TESTS/mount/readers.py" m 10000 1 $direct
	note "$(cat check.log)"
	stop m $pid

	# Four at once on a cold mount: one decode, whoever waits.
	mount_fg m $o mixed.so || continue
	readers=
	for seed in 1 2 3 4; do
		"$python" -S "$TESTS/mount/readers.py" m 2000 $seed $direct >readers.$seed 2>&1 &
		readers="$readers $!"
	done
	for r in $readers; do
		wait $r || fail "parallel reader with '$o': $(cat readers.*)"
	done
	check "tree after it" truth --artifact mixed.so m
	stop m $pid
done
finish
