# An artifact that changes under the mount: reads fail with ESTALE, also where pages were cached.
. "$TESTS/mount/lib.sh"

case_of() { # TEXT OPTIONS COMMAND
	cp "$DATA/cuda/host/libtwo.so" lib.so
	cp lib.so new.so
	mount_fg m $2 lib.so || return
	check "$1 ($2)" "$python" -S "$TESTS/mount/stale.py" m "$3"
	cat m/objects/00000/payload >/dev/null 2>cat.err
	grep -q 'Stale file handle' cat.err || fail "$1: cat says: $(cat cat.err)"
	[ "$(grep -c . m.log)" -ge 1 ] || fail "$1: no line in the log"
	check "$1: the root can be listed" ls m
	stop m $pid
}

for options in "" "-o ro"; do
	[ -n "$BRIEF" ] && [ -n "$options" ] && continue # root changes it under both
	case_of "one byte overwritten" "$options" \
		"printf x | dd of=lib.so bs=1 seek=20000 conv=notrunc status=none"
	case_of "same byte overwritten" "$options" \
		"dd if=new.so of=lib.so bs=1 skip=20000 seek=20000 count=1 conv=notrunc status=none"
	case_of "truncated" "$options" "truncate -s 9000 lib.so"
	case_of "appended to" "$options" "printf x >>lib.so"
	case_of "replaced by rename" "$options" "mv new.so lib.so"
	case_of "removed" "$options" "rm lib.so"
	case_of "touched" "$options" "touch lib.so"
done

# An artifact that does not change is never stale.
cp "$DATA/cuda/host/libtwo.so" lib.so
mount_fg m lib.so && {
	cat lib.so >/dev/null
	cp lib.so other
	ln -sf lib.so link
	check "reading the artifact changes nothing" survey m
	stop m $pid
}

# What hangs here only root can end.
if [ "$WHO" = root ]; then
	for i in 1 2 3 4 5 6 7 8 9; do
		cat lib.so lib.so >twice.so && mv twice.so lib.so
	done
	check "a change while the mount ends" "$python" -S "$TESTS/mount/ending.py" "$GPUOBJFS" lib.so m
fi
finish
