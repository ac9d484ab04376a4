# The shape of the tree, exact sizes, stable inodes, and its bytes against the artifact.
. "$TESTS/mount/lib.sh"

make_mixed mixed.so
mount_fg a mixed.so || finish
pid_a=$pid
mount_fg b mixed.so || finish
pid_b=$pid

same "root" "$(ls a | grep -vx 'queues\|devices\|inspect' | tr '\n' ' ')" \
	"artifact.json containers objects problems.json targets "
same "targets" "$(ls a/targets | tr '\n' ' ')" "compute_100 compute_120f compute_90 gfx1100 \
gfx900:xnack+ gfx906:xnack- gfx90a:sramecc+:xnack- sm_100 sm_120f sm_75 sm_90 sm_90a "

# Two mounts: the same entries, inodes, sizes, bytes; whatever was read first.
check "survey of one mount" survey a
cp check.log a.survey
find b -name '*.json' -exec cat {} + >/dev/null
check "survey of the other mount" survey b
check "two mounts have equal inodes, attributes and bytes" cmp a.survey check.log

check "tree equals the truth" truth --artifact mixed.so a

# The same without our own tools: sizes by three programs, bytes by dd and sha256sum.
find a \( -path a/queues -o -path a/devices -o -name inspect \) -prune -o -type f -printf '%s %p\n' | sort -k2 >sizes.find
cut -d' ' -f2 sizes.find | xargs wc -c | grep -v ' total$' | sed 's/^ *//' | sort -k2 >sizes.wc
check "find and wc -c agree" cmp sizes.find sizes.wc
cut -d' ' -f2 sizes.find | while read -r f; do printf '%s %s\n' "$(cat "$f" | wc -c)" "$f"; done |
	sort -k2 >sizes.cat
check "find and cat agree" cmp sizes.find sizes.cat
while read -r size f; do
	printf '%s -size %sc -print\n' "$f" "$size"
done <sizes.find | xargs -L1 find >sizes.size
check "find -size finds each" sh -c "cut -d' ' -f2 sizes.find | cmp - sizes.size"

range() {
	dd if=mixed.so iflag=skip_bytes,count_bytes skip="$1" count="$2" bs=64K status=none
}
if command -v jq >/dev/null; then
	for d in a/objects/*; do
		set -- $(jq -r '.space, .encoded.offset, .encoded.size' $d/location.json)
		same "space of $d" "$1" artifact
		stored=$d/payload
		[ "$(jq -r .codec $d/object.json)" = none ] || stored=$d/encoded
		same "bytes of $stored" "$(sha256sum <$stored)" "$(range "$2" "$3" | sha256sum)"
	done
	for d in a/containers/*; do
		set -- $(jq -r '.offset, .size' $d/container.json)
		same "bytes of $d/encoded" "$(sha256sum <$d/encoded)" "$(range "$1" "$2" | sha256sum)"
	done
	same "sha256" "$(jq -r .sha256 a/artifact.json)" "$(sha256sum <mixed.so | cut -d' ' -f1)"
else
	note "jq is not installed: ranges are checked by compare.py alone"
fi

if command -v readelf >/dev/null; then
	for d in a/objects/*; do
		magic=$(head -c4 $d/payload | od -An -c | tr -d ' ')
		[ "$magic" = '177ELF' ] || continue
		# readelf of binutils 2.40 calls e_version of older cubins wrong, still with status 0
		check "readelf $d/payload" readelf -hW $d/payload
		grep -q 'ELF64' check.log || fail "readelf does not see a 64-bit ELF in $d/payload"
	done
else
	note "readelf is not installed"
fi

stop a $pid_a
stop b $pid_b

# All samples of the repository, whole ones; one of each folder when root did all. Devices are the
# same for all: every one of mixed.so was walked, here two are.
seen=
for f in "$DATA"/cuda/[cfhp]*/* "$DATA"/amd/[bch]*/*.[!b]*; do
	case $f in
	*/bad/* | */malformed/*) continue ;;
	esac
	folder=$(dirname "$f")
	[ -n "$BRIEF" ] && [ "$folder" = "$seen" ] && continue
	seen=$folder
	mount_fg m "$f" || continue
	check "survey and truth of $f" survey $few --artifact "$f" m
	stop m $pid
done
finish
