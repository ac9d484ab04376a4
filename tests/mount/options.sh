# Options by libfuse's conventions, and what the mount table and df show.
. "$TESTS/mount/lib.sh"

cp "$DATA/cuda/host/libtwo.so" lib.so
line() { grep " $(pwd)/$1 " /proc/self/mounts; }

mount_fg m lib.so || finish
line m >entry
grep -q ' fuse\.gpuobjfs ' entry || fail "type is not fuse.gpuobjfs: $(cat entry)"
grep -q "^$(pwd)/lib\.so " entry || fail "fsname is not the artifact: $(cat entry)"
for flag in nosuid nodev default_permissions; do
	grep -q "[ ,]$flag[ ,]" entry || fail "not mounted $flag: $(cat entry)"
done
same "df: size in bytes" "$(df -B1 --output=size m | tail -1 | tr -d ' ')" \
	"$(echo $(($(stat -f -c '%b * %S' m))))"
total=$(($(stat -f -c '%b * %S' m)))
size=$(stat -c %s lib.so)
[ $total -ge $size ] && [ $total -lt $((size + 1048576)) ] ||
	fail "statfs: $total bytes, the artifact has $size"
same "statfs: free" "$(stat -f -c '%f %a' m)" "0 0"
same "statfs: name length" "$(stat -f -c %l m)" 255
[ "$(stat -f -c %c m)" -gt 0 ] || fail "statfs: no inodes"
stop m $pid

for o in -s "-o ro" "-o ro -s" "-o cache=1M" "-o direct_io" "-o max_threads=4" "-o fsname=x" \
	"-o noauto,nofail,_netdev" "-o default_permissions"; do
	# What only threads and the cache may change, root looks at.
	[ -n "$BRIEF" ] && case $o in -s | *cache* | *threads*) continue ;; esac
	mount_fg m $o lib.so || continue
	check "truth with $o" truth --artifact lib.so m
	case $o in
	*ro*) line m | grep -q ' ro,' || fail "$o: not read-only: $(line m)" ;;
	*fsname*) line m | grep -q '^x ' || fail "$o: $(line m)" ;;
	esac
	stop m $pid
done

# -d stays in the foreground and talks.
mount_fg m -d lib.so && {
	ls m >/dev/null
	stop m $pid
	[ -s m.log ] || fail "-d says nothing"
}

# Who may look. Root may let others in; others need a line in fuse.conf.
if [ "$WHO" = root ]; then
	mount_fg m -o allow_other lib.so && {
		check "another user reads with allow_other" setpriv --reuid=65534 --regid=65534 \
			--clear-groups cat m/artifact.json
		stop m $pid
	}
	mount_fg m lib.so && {
		if setpriv --reuid=65534 --regid=65534 --clear-groups cat m/artifact.json 2>/dev/null; then
			fail "another user reads without allow_other"
		fi
		stop m $pid
	}
fi

# Where a decode may not become a file, its reader is told, and nothing ends.
cp "$DATA/cuda/fatbin/debug_named.fatbin" big.fatbin
{
	echo '#!/bin/sh'
	echo "ulimit -f 16; exec '$GPUOBJFS' \"\$@\""
} >limited
chmod +x limited
program=$GPUOBJFS
GPUOBJFS=./limited
mount_fg m -o cache=64K big.fatbin && {
	cat m/objects/00000/payload >/dev/null 2>cat.err && fail "a payload past ulimit -f is read"
	grep -q 'No space left' cat.err || fail "past ulimit -f cat says: $(cat cat.err)"
	check "a smaller payload" cat m/objects/00001/payload
	stop m $pid
}
GPUOBJFS=$program
# Its temporary file must not be what a closed stream writes to.
fails 1 "a payload where nobody listens" \
	sh -c '"$GPUOBJ" -o cache=64K cat big.fatbin objects/00000/payload <&- >&-'

# Options behind the arguments, as mount(8) passes them.
mkdir -p d
check "options last" "$GPUOBJFS" lib.so d -o ro
check "ls" ls d/targets
unmount d

# A stale mount is named, with the way out.
mount_fg m lib.so && {
	kill -KILL $pid
	wait $pid 2>/dev/null
	if "$GPUOBJFS" lib.so m 2>stale.err; then
		note "mounts over a stale mount"
		fusermount3 -u m
	else
		grep -q 'fusermount3 -u' stale.err ||
			fail "a stale mount: the message has no fusermount3 line: $(cat stale.err)"
	fi
	fusermount3 -uz m
}
# The help fits a screen, and the table of options is beside it.
quiet "--help" "$GPUOBJFS" --help
[ "$(wc -l <quiet.out)" -le 24 ] || fail "--help has more than 24 lines"
[ "$(wc -L <quiet.out)" -le 79 ] || fail "--help has more than 79 columns"
quiet "--help options" "$GPUOBJFS" --help options
grep -q 'max_payload=N' quiet.out || fail "--help options does not know max_payload"

finish
