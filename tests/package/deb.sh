#!/bin/sh
# Builds the Debian package of docs/packaging from a copy of the tree, looks at it with lintian,
# installs it, uses it, and removes it.
#
# Usage: deb.sh [FOLDER]     FOLDER, if named, keeps the packages
# Prints "ok NAME", "skip NAME: why" or "fail NAME" a line on stdout, details on stderr. Needs
# root. A machine that has gpuobjfs installed is left alone.

set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
keep=${1:-}
name=gpuobjfs
installed=''

skip() {
	echo "skip package: $*"
	exit 0
}
[ "$(id -u)" = 0 ] || skip "needs root"
for tool in dpkg-buildpackage dh meson apt-get; do
	command -v $tool >/dev/null || skip "$tool is not installed"
done
dpkg-query -W $name >/dev/null 2>&1 && skip "$name is installed on this machine"
# What is installed by hand would be taken for the package's.
for found in /usr/bin/gpuobj /usr/bin/gpuobjfs; do
	[ ! -e $found ] || skip "$found is there already"
done

scratch=$(mktemp -d) || exit 1
cleanup() {
	fusermount3 -u "$scratch/mnt" 2>/dev/null
	[ -z "$installed" ] || remove >/dev/null 2>&1
	rm -rf "$scratch"
}
trap cleanup EXIT
trap 'exit 1' HUP INT TERM

step() { # NAME COMMAND...
	step=$1
	shift
	if "$@" >"$scratch/log" 2>&1; then
		echo "ok $step"
		return 0
	fi
	echo "fail $step"
	{
		echo "== package, $step"
		tail -40 "$scratch/log"
	} >&2
	return 1
}

copy() {
	mkdir "$scratch/tree" "$scratch/mnt" &&
		tar -C "$root" --exclude='./build*' --exclude=./.git --exclude=__pycache__ -cf - . |
		tar -C "$scratch/tree" -xf - &&
		cp -r "$root/docs/packaging/debian" "$scratch/tree/debian"
}

# The whole suite is run elsewhere; the recipe's own choice is run where CI asks for all.
build() {
	cd "$scratch/tree" || return
	[ "${CI:-}" = true ] || export DEB_BUILD_OPTIONS=nocheck
	dpkg-buildpackage -us -uc -b
}

install_it() {
	installed=1
	DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=120 -qy \
		install --no-install-recommends "$package"
}

remove() {
	DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=120 -qy purge $name &&
		! dpkg-query -W $name && [ ! -e /usr/bin/gpuobj ] && [ ! -e /usr/share/doc/$name ]
}

shows_sample() {
	gpuobj ls --sample /targets | grep -x sm_90a
}

mounts() {
	gpuobjfs --sample "$scratch/mnt" && grep -q '"sha256"' "$scratch/mnt/artifact.json" &&
		fusermount3 -u "$scratch/mnt"
}

has_pages() {
	for page in gpuobj gpuobjfs; do
		dpkg -L $name | grep "/man1/$page\.1" || return
	done
}

has_files() {
	for file in bash-completion/completions/gpuobj zsh/vendor-completions/_gpuobj \
		gpuobjfs/schema/defs.schema.json doc/gpuobjfs/mnt-examples/packets.sh \
		doc/gpuobjfs/mnt-examples/start.sh; do
		[ -f /usr/share/$file ] || dpkg -c "$package" | grep " \./usr/share/$file$" || return
	done
}

# The version of the recipe is that of the sources.
same_version() {
	gpuobj --version | grep -x "gpuobj $(dpkg-query -W -f '${Version}' $name | sed 's/-.*//')"
}

step copy copy || exit 1
step build build || exit 1
package=$(echo "$scratch"/${name}_*.deb)
if command -v lintian >/dev/null; then
	# The tag concerns uploads to Debian alone.
	step lintian lintian --allow-root --fail-on error,warning \
		--suppress-tags initial-upload-closes-no-bugs "$scratch"/*.changes
else
	echo "skip lintian: lintian is not installed"
fi
[ -z "$keep" ] || cp "$scratch"/*.deb "$keep"
step install install_it || exit 1
step version same_version
step "gpuobj ls --sample" shows_sample
if [ -c /dev/fuse ] && exec 3<>/dev/fuse; then
	exec 3>&-
	step mount mounts
else
	echo "skip mount: /dev/fuse cannot be opened"
fi
step "man pages" has_pages
step files has_files
step remove remove && installed=''
