# mount(8) with fstab(5) lines, through the mount.fuse3 that libfuse installs.
. "$TESTS/mount/lib.sh"

command -v mount.fuse3 >/dev/null || [ -x /sbin/mount.fuse3 ] || {
	echo "SKIP: mount.fuse3 is not installed"
	exit 77
}
# It looks for the program by its name, where a shell without PATH does.
mount -t tmpfs -o mode=755 tmpfs /usr/local/bin || finish
cp "$GPUOBJFS" /usr/local/bin/gpuobjfs
cp "$DATA/cuda/host/libtwo.so" lib.so
cp lib.so "two words.so"
mkdir m
here=$(pwd)
entry() { grep " $here/m " /proc/self/mounts; }
has() { # TEXT WORD...
	text=$1
	shift
	for word; do
		entry | grep -q "\(^\|[ ,]\)$word[ ,]" || fail "$text: not $word: $(entry)"
	done
}
has_not() {
	entry | grep -q "[ ,]$2[ ,]" && fail "$1: $2: $(entry)"
}
umounted() {
	check "umount after $1" umount m
	is_mounted m && fail "still mounted after $1"
}

cat >fstab <<EOF
$here/lib.so $here/m fuse.gpuobjfs ro,nofail,noauto,user,allow_other,noatime,x-systemd.automount,x-systemd.requires-mounts-for=/var,X-mount.mkdir,comment=x,_netdev,cache=1M,queue_max=2 0 0
EOF
check "mount from fstab" mount -T fstab "$here/m" && {
	has "from fstab" ro nosuid nodev noexec allow_other fuse.gpuobjfs "$here/lib.so"
	check "truth from fstab" truth --artifact lib.so m
	check "another user" setpriv --reuid=65534 --regid=65534 --clear-groups cat m/artifact.json
	umounted fstab
}
cat >fstab <<EOF
$here/two\040words.so $here/m fuse.gpuobjfs defaults 0 0
EOF
check "a name with a blank" mount -T fstab "$here/m" && {
	check "ls" ls m/queues
	umounted "a name with a blank"
}
echo "gpuobjfs#$here/lib.so $here/m fuse noauto 0 0" >fstab
check "the old form" mount -T fstab "$here/m" && {
	has "the old form" fuse.gpuobjfs nosuid nodev
	umounted "the old form"
}

# Without the user's word neither devices nor set-user-id programs, whatever mount.fuse3 says.
for o in "" "-o defaults" "-o dev,suid" "-o rw,nosuid" "-o nodev,nosuid"; do
	check "mount $o" mount -t fuse.gpuobjfs $o lib.so m || continue
	has "mount $o" rw nosuid nodev
	has_not "mount $o" noexec
	umounted "mount $o"
done
mount_fg m -o dev,suid lib.so && {
	has "dev,suid" nosuid nodev
	stop m $pid
}
check "noexec" mount -t fuse.gpuobjfs -o noexec lib.so m && {
	has "noexec" noexec
	umounted noexec
}

# mount.fuse3 mounts by itself and hands the descriptor to a program without rights.
check "drop_privileges" mount -t fuse.gpuobjfs -o drop_privileges lib.so m && {
	daemon=$(grep -lsx gpuobjfs /proc/[0-9]*/comm | head -1 | cut -d/ -f3)
	grep -q '^CapEff:.0*$' "/proc/$daemon/status" ||
		fail "drop_privileges: $(grep CapEff "/proc/$daemon/status")"
	check "truth with drop_privileges" truth --artifact lib.so m
	check "mkdir with drop_privileges" mkdir m/queues/q0
	umounted drop_privileges
}

# Another user: by root's word, and by a line of fstab that lets users mount.
mkdir dev
if mknod dev/fuse c 10 229 2>/dev/null && chmod 666 dev/fuse && mount --bind dev/fuse /dev/fuse; then
	nobody="setpriv --reuid=65534 --regid=65534 --clear-groups"
	mkdir u && chown 65534:65534 u
	check "setuid=" mount -t fuse.gpuobjfs -o setuid=nobody lib.so u && {
		grep " $here/u " /proc/self/mounts | grep -q 'nosuid,nodev.*user_id=65534' ||
			fail "setuid=: $(grep " $here/u " /proc/self/mounts)"
		check "ls as nobody" $nobody ls u/targets
		check "umount after setuid=" umount u
	}
	echo "$here/lib.so $here/u fuse.gpuobjfs user,noauto 0 0" >fstab
	mount --bind fstab /etc/fstab
	check "mount as nobody" $nobody mount u && {
		check "ls as nobody" $nobody cat u/artifact.json
		check "umount as nobody" $nobody umount u
	}
	umount /etc/fstab
else
	note "no /dev/fuse for others"
fi

# What is wrong is said, and nothing is mounted.
for o in remount nonsense=1 cache=x sha256=0; do
	if mount -t fuse.gpuobjfs -o $o lib.so m 2>mount.err; then
		fail "mount -o $o succeeds"
		umount m
	fi
	grep -q '^gpuobjfs: \|^fuse: ' mount.err || fail "mount -o $o says: $(cat mount.err)"
done
echo "$here/missing.so $here/m fuse.gpuobjfs ro 0 0" >fstab
mount -T fstab "$here/m" 2>mount.err && fail "mount of what is not there succeeds"
grep -q 'missing\.so' mount.err || fail "not named: $(cat mount.err)"
is_mounted m && fail "something is mounted"

check "mount" mount -t fuse.gpuobjfs -o ro lib.so m && {
	mount -o remount,rw m 2>mount.err && fail "remount succeeds"
	grep -q 'cannot be remounted' mount.err || fail "remount says: $(cat mount.err)"
	check "as before" truth --artifact lib.so m
	umounted remount
}
finish
