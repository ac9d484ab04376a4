# Whatever is read first, and by how many at once: two mounts of one artifact are the same.
. "$TESTS/mount/lib.sh"

make_mixed mixed.so
check "make compressed bundles" "$python" -S "$TESTS/mount/mkccob.py" \
	"$DATA/amd/bundle/plain_noalign.hipfb" bundles.hipfb
for artifact in mixed.so bundles.hipfb; do
	for o in "-o ro" "-o cache=64K"; do
		[ -n "$BRIEF" ] && [ "$o" = "-o ro" ] && continue # root reads with both
		mount_fg a $artifact || continue
		a=$pid
		mount_fg b $o $artifact || continue
		check "$artifact in order, with '$o' in no order" \
			"$python" -S "$TESTS/mount/orders.py" a b
		note "$(tail -1 check.log)"
		stop a $a
		stop b $pid
	done
done

# The comparison can fail: another file is another mount.
cp bundles.hipfb other.hipfb
printf x | dd of=other.hipfb bs=1 seek=24 conv=notrunc 2>/dev/null # the first one's hash
touch -r bundles.hipfb other.hipfb
mount_fg a bundles.hipfb
a=$pid
mount_fg b other.hipfb
fails 1 "two artifacts differ" sh -c "$python -S $TESTS/mount/orders.py a b >differ; s=\$?; echo differ >&2; exit \$s"
check "in the hash alone" grep -q "objects/00000/inspect/inspection.json" differ
stop a $a
stop b $pid
finish
