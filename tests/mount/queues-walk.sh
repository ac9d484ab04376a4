# Tools that walk and copy end well over a mount with queues, and stop.
. "$TESTS/mount/lib.sh"
. "$EXAMPLES/packets.sh"

mount_fg m --sample || finish
q=m/queues
mkdir $q/q0 $q/q1 $q/signals/s $q/signals/t $q/memory/a $q/memory/b
echo 4096 >$q/memory/a/size
i=0
address=$(cat $q/memory/a/address) handle=$(cat $q/signals/s/handle)
while [ $i -lt 100 ]; do
	dispatch 2 64 64 1 "$address" "$handle"
	i=$((i + 1))
done >packets
cat packets >$q/q0/packets
echo hsa >$q/q1/mode
barrier 3 "$(cat $q/signals/t/handle)" 0 0 0 0 0 >$q/q1/packets

mkdir cp tar rsync
walk() {
	text=$1
	shift
	quiet "$text" timeout 100 "$@"
}
walk "find" find $q
walk "ls -lR" ls -lR $q
walk "du" du -s $q
walk "grep -r" grep -r diagnostic $q
[ -s quiet.out ] || fail "grep -r finds nothing"
walk "cp -a" cp -a $q/. cp
walk "diff -r" diff -r $q cp
walk "tar" tar -C m -cf q.tar queues
walk "tar x" tar -C tar -xf q.tar
walk "diff -r with tar's" diff -r tar/queues cp
walk "diff -r of the mount with itself" diff -r $q $q
if command -v rsync >/dev/null; then
	walk "rsync" rsync -a $q/ rsync
	walk "diff -r with rsync's" diff -r rsync cp
	walk "rsync again" rsync -ai $q/ rsync
	same "rsync finds nothing new" "$(cat quiet.out)" ""
else
	note "rsync is not installed"
fi
walk "sha256sum" sh -c "find $q -type f -exec sha256sum {} +"
walk "the whole mount" sh -c 'tar -C m -cf - . | cat >/dev/null'
# Sizes are exact, but for files that are written and have nothing to read.
"$python" -S - $q >wrong <<'PY'
import os, sys
for folder, _, names in os.walk(sys.argv[1]):
    for path in (os.path.join(folder, name) for name in names):
        size = os.stat(path).st_size
        try:
            with open(path, "rb", buffering=0) as f:
                got = sum(map(len, iter(lambda: f.read(1 << 16), b"")))
        except PermissionError:  # written alone
            got = 0
        if got != size:
            print(path)
PY
same "sizes" "$(cat wrong)" ""
same "inodes are unique" "$(find $q -printf '%i\n' | sort | uniq -d)" ""
find $q -printf '%i %p\n' >inodes
check "inodes stay" sh -c "find $q -printf '%i %p\n' | cmp - inodes"
same "trace_pipe is not listed" "$(ls $q | grep -c pipe)" 0
same "but named" "$(grep -c trace_pipe $q/info.json)" 1

# The time is that of the change.
touch mark
before=$(stat -c %Y%z $q/signals/t/value)
cat packets >$q/q0/packets
same "another's time stays" "$(stat -c %Y%z $q/signals/t/value)" "$before"
[ $q/q0/state -nt mark ] || fail "the queue is not newer after packets"
echo 1 >$q/signals/s/value
dispatch 2 64 64 1 0 "$(cat $q/signals/s/handle)" >one
touch mark
cat one >$q/q0/packets
[ $q/signals/s/value -nt mark ] || fail "a signal is not newer after a packet stored to it"
stop m $pid
finish
