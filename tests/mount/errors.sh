# Inputs that are no artifact, broken ones, wrong command lines: messages and exit codes.
. "$TESTS/mount/lib.sh"

mkdir d dir
printf 'hello, this is no GPU code\n' >text.txt
: >empty
mkfifo fifo
"$python" -S "$TESTS/mount/mkelf.py" 32 elf32
"$python" -S "$TESTS/mount/mkelf.py" big elfbig
cp "$DATA/amd/misc/k_gfx906.bc" raw.bc
cp "$DATA/amd/misc/bitcode_wrapper_darwin.bc" wrapped.bc
cp "$DATA/cuda/host/libtwo.so" lib.so

refused() { # STATUS WHAT FILE
	fails "$1" "$2" "$GPUOBJFS" "$3" d
	grep -q "$(basename "$3")" fails.err || fail "$2: the message does not name $3: $(cat fails.err)"
	is_mounted d && fail "$2: a mount is left"
	in_mountinfo d && fail "$2: a mount is left in mountinfo"
	fails "$1" "$2, in the foreground" "$GPUOBJFS" -f "$3" d
	fails "$1" "$2, gpuobj" "$GPUOBJ" ls "$3"
	grep -q "$(basename "$3")" fails.err || fail "$2: gpuobj does not name $3: $(cat fails.err)"
}

refused 3 "missing file" missing
refused 3 "directory" dir
refused 3 "fifo" fifo
refused 3 "empty file" empty
refused 3 "character device" /dev/null
refused 4 "32-bit ELF" elf32
refused 4 "big-endian ELF" elfbig
refused 4 "LLVM bitcode" raw.bc
refused 4 "wrapped LLVM bitcode" wrapped.bc
if [ "$WHO" = user ] && [ "$(id -u)" != 0 ]; then
	cp lib.so secret.so
	chmod 000 secret.so
	refused 3 "unreadable file" secret.so
fi

# A text file mounts, empty, and says so.
checks=$((checks + 1))
"$GPUOBJFS" text.txt d >text.out 2>text.err || fail "a text file does not mount: $(cat text.err)"
[ "$(cat text.out text.err | wc -l)" = 1 ] || fail "a text file: not one line that says it is empty"
grep -q text.txt text.out text.err || fail "a text file: the line does not name it: $(cat text.err)"
same "text: objects" "$(ls d/objects d/containers d/targets)" "d/containers:

d/objects:

d/targets:"
check "text: survey and truth" survey --artifact text.txt d
unmount d

# Truncated libraries: whatever is left mounts and walks, or is refused with one line.
size=$(stat -c %s lib.so)
for cut in 1 3 15 16 17 52 63 64 65 1000 4096 8255 8256 8260 8271 8272 8273 8335 8336 9000 \
	21063 21064 21070 40000 40215 40216 46000 $((size - 1)); do
	[ -n "$BRIEF" ] && [ "$cut" -gt 64 ] && [ "$cut" -lt 40000 ] && continue
	head -c "$cut" lib.so >cut.so
	if mount_fg d cut.so; then
		check "the first $cut bytes: survey, and whole entries are there" \
			survey $few --faulty --artifact cut.so d
		if [ "$(cat d/problems.json)" = '[]' ] && [ ! -s d.log ]; then
			fail "first $cut bytes: no problem and no line says so"
		fi
		stop d $pid
	else
		fail "the first $cut bytes do not mount"
	fi
done

# Command lines.
fails 2 "no argument" "$GPUOBJFS"
fails 2 "no mount point" "$GPUOBJFS" lib.so
fails 2 "surplus argument" "$GPUOBJFS" lib.so d e
fails 2 "unknown option" "$GPUOBJFS" --no-such-option lib.so d
fails 2 "wrong value" "$GPUOBJFS" -o cache=many lib.so d
for o in "-o nosuchoption" "-o cache=" "-o sha256=12"; do
	checks=$((checks + 1))
	if "$GPUOBJFS" $o lib.so d 2>o.err; then
		fail "gpuobjfs $o is accepted"
		fusermount3 -u d
	else
		status=$?
		[ -s o.err ] || fail "gpuobjfs $o says nothing"
		[ $status = 1 ] || [ $status = 2 ] || fail "gpuobjfs $o: status $status"
	fi
done
zeros=$(printf '%064d' 0)
fails 3 "another digest" "$GPUOBJFS" -o sha256=$zeros lib.so d
check "the right digest" "$GPUOBJFS" -o sha256="$(sha256sum <lib.so | cut -d' ' -f1)" lib.so d
unmount d
fails 1 "missing mount point" "$GPUOBJFS" lib.so nowhere
fails 1 "mount point is a file" "$GPUOBJFS" lib.so text.txt
mkdir -p d/tmp
for tmpdir in d d/tmp; do # decoding would wait for itself
	fails 1 "temporary files in the mount point" "$GPUOBJFS" -o tmpdir=$tmpdir lib.so d
done
rmdir d/tmp
is_mounted d && fail "a mount is left"
fails 2 "gpuobj without a command" "$GPUOBJ"
fails 2 "gpuobj with an unknown command" "$GPUOBJ" frobnicate lib.so
fails 2 "gpuobj ls without an artifact" "$GPUOBJ" ls
fails 1 "gpuobj: missing path" "$GPUOBJ" cat lib.so /objects/99999/payload
fails 1 "gpuobj: cat of a directory" "$GPUOBJ" cat lib.so /objects
for program in "$GPUOBJFS" "$GPUOBJ"; do
	for flag in -h -V; do
		check "$program $flag" "$program" $flag
		[ -s check.log ] || fail "$program $flag says nothing"
	done
done

[ -z "$BRIEF" ] || finish
# A broken file: what is whole stays readable, what is not gives EIO or is absent.
# gpuobj walks all of them in the truth suite; a few through a mount.
for f in "$DATA"/cuda/malformed/m[01]*[0268]_* "$DATA"/cuda/malformed/m4* "$DATA"/amd/bad/bundle_entr*; do
	if mounts_fg x "$f"; then
		check "survey of $(basename "$f")" survey $few x
		stop x $pid
	else
		[ $status = 4 ] || fail "$(basename "$f"): status $status: $(cat x.log)"
	fi
done
finish
