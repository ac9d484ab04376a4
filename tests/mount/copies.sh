# gpuobj cp of everything is cp -a from a mount: the same files, bytes, times and failures, for
# some samples of tests/data; with GPUOBJFS_EVERY=1 for all, and those of the full set.
. "$TESTS/mount/lib.sh"

some='/host/|/co/|/malformed/m1[12]'
[ -n "$BRIEF" ] && some='/cuda/host/|/malformed/m12'
samples() {
	if [ -z "${GPUOBJFS_EVERY:-}" ]; then
		find "$DATA" -type f ! -name '*.md' | grep -E "$some" | sort
		return
	fi
	find "$DATA" -type f ! -name '*.md' | sort
	[ -z "$GPUOBJFS_SAMPLES" ] ||
		find "$GPUOBJFS_SAMPLES" -type f ! -name '*.md' ! -path '*/src/*' ! -path '*/log/*' \
			! -path '*/notes/*' | sort
}

# What cp could not read it leaves behind cut short; gpuobj does not.
drop_failed() {
	while IFS= read -r path; do
		rm "a/$path" && touch -r "m/$(dirname "$path")" "a/$(dirname "$path")"
	done
}

samples >samples.list
compared=0 failing=0
while IFS= read -r sample; do
	cp "$sample" artifact
	touch -d '2021-03-04 05:06:07.089' artifact
	mkdir -p m
	if ! "$GPUOBJFS" -o ro artifact m 2>mount.err; then
		"$GPUOBJ" cp artifact / b 2>b.err && fail "$sample: refused by the mount alone"
		[ ! -e b ] || fail "$sample: refused, but something is copied"
		continue
	fi
	mkdir a b
	cp -a m/. a/ 2>a.err
	status_a=$?
	"$GPUOBJ" cp artifact / b 2>b.err
	status_b=$?
	same "$sample: status" $status_b $status_a
	sed "s|^cp: error reading 'm/\./\(.*\)': \(.*\)|\1: \2|" a.err >a.failed
	# That an inventory is partial is no failure of a copy; the mount says it when it begins.
	sed '/: the inventory is partial; /d; s|^gpuobj: cp: /\(.*\)|\1|' b.err >b.failed
	check "$sample: failures" diff a.failed b.failed
	[ -s a.failed ] && failing=$((failing + 1))
	sed 's|: [^:]*$||' a.failed >failed
	drop_failed <failed
	survey --plain a >a.survey || fail "$sample: survey of cp -a"
	survey --plain b >b.survey || fail "$sample: survey of gpuobj cp"
	check "$sample: files, bytes and times" diff a.survey b.survey
	compared=$((compared + 1))
	unmount m
	chmod -R u+w a b
	rm -r a b
done <samples.list
[ $compared -gt 2 ] || fail "only $compared samples were compared"
[ $failing -gt 0 ] || fail "no sample has a payload that does not decode"
note "$compared samples, $failing with failures"
finish
