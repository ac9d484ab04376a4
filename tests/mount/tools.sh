# Ordinary tools over a mount end without a warning and agree.
. "$TESTS/mount/lib.sh"

make_mixed mixed.so
touch -d '2021-03-04 05:06:07.089' mixed.so
mount_fg m mixed.so || finish
pid_m=$pid
mount_fg n mixed.so || finish
pid_n=$pid
others='-x queues'

survey --plain m >m.survey || fail "survey of the mount"

mkdir cp tar rsync gpuobj
quiet "cp -a" cp -a m/. cp/
rm -rf cp/queues
touch -r m cp
check "cp -a gives the same tree" survey --plain cp
check "cp -a: modes, times and bytes" cmp m.survey check.log
quiet "diff -r with the copy" diff -r $others m cp

quiet "gpuobj cp" "$GPUOBJ" cp mixed.so / gpuobj
check "gpuobj cp gives a tree" survey --plain gpuobj
check "gpuobj cp is cp -a" cmp m.survey check.log
quiet "diff -r with gpuobj cp" diff -r $others m gpuobj

quiet "tar c" tar -C m --exclude=./queues -cf m.tar .
quiet "tar x" tar -C tar -xpf m.tar
check "tar gives the same tree" survey --plain tar
cp check.log tar.survey
check "tar: bytes and times" "$python" - m.survey tar.survey <<'PY'
import sys
def rows(path):  # tar keeps whole seconds
    for line in open(path):
        f = line.split()
        f[4] = str(int(f[4]) // 10**9)
        yield f
sys.exit(list(rows(sys.argv[1])) != list(rows(sys.argv[2])))
PY
quiet "tar c twice" tar -C n --exclude=./queues -cf n.tar .
check "tar of two mounts is one file" cmp m.tar n.tar

if command -v rsync >/dev/null; then
	quiet "rsync -a" rsync -a --exclude=/queues m/ rsync/
	check "rsync gives the same tree" survey --plain rsync
	check "rsync: modes, times and bytes" cmp m.survey check.log
	quiet "rsync -a again" rsync -ai --exclude=/queues m/ rsync/
	[ ! -s quiet.out ] || fail "rsync -a finds something to do a second time"
	quiet "rsync -ac" rsync -aic --exclude=/queues n/ rsync/
	[ ! -s quiet.out ] || fail "rsync -c: the second mount has other bytes"
else
	note "rsync is not installed"
fi

# Root goes on: who mounted makes no difference to what is only read.
if [ -n "$BRIEF" ]; then
	stop m $pid_m
	stop n $pid_n
	finish
fi

quiet "diff -r of two mounts" diff -r $others m n
if command -v git >/dev/null; then
	quiet "git diff --no-index" git diff --no-index m/objects n/objects
	quiet "git diff --no-index" git diff --no-index m/targets n/targets
else
	note "git is not installed"
fi

quiet "grep -r" grep -rl 'xnack' m/objects m/targets m/artifact.json m/problems.json
sed 's/^m\///' quiet.out | sort >grep.m
(cd cp && grep -rl 'xnack' objects targets artifact.json problems.json) | sort >grep.cp
check "grep -r finds the same in the copy" cmp grep.m grep.cp
[ -s grep.m ] || fail "grep -r finds nothing"

quiet "find" find m
quiet "ls -lR" ls -lR m
quiet "du" du -s m/objects
quiet "wc -c" sh -c 'find m/objects m/containers m/targets -type f -exec wc -c {} +'
same "find -size agrees with the copy" \
	"$(cd m && find objects containers -type f -size +4096c | sort)" \
	"$(cd cp && find objects containers -type f -size +4096c | sort)"
same "apparent sizes add up" "$(cd m && du -sb --apparent-size objects/*/payload | cut -f1 | paste -sd+)" \
	"$(cd cp && du -sb --apparent-size objects/*/payload | cut -f1 | paste -sd+)"
same "mtime is the artifact's" "$(stat -c %y m/objects/00000/payload)" "$(stat -c %y mixed.so)"
same "missing name" "$(ls m/objects/99999 2>&1 | grep -c 'No such file')" 1
same "missing target" "$(cat m/targets/sm_1/objects 2>&1 | grep -c 'No such file')" 1

quiet "sha256sum of everything" sh -c 'find m/objects m/containers -type f -exec sha256sum {} +'
quiet "diff of two mounts, parallel" sh -c '
	for i in 1 2 3 4; do
		diff -r m/objects n/objects &
		p="$p $!"
	done
	for q in $p; do wait $q || exit 1; done'

stop m $pid_m
stop n $pid_n
finish
