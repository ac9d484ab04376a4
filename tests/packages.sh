# Debian packages and what tells that one is there. Sourced by tests/run.sh and
# mnt-examples/quickstart.sh.

packages_build='meson=cmd:meson ninja-build=cmd:ninja pkg-config=cmd:pkg-config gcc=cmd:gcc
libfuse3-dev=pc:fuse3 fuse3=cmd:fusermount3 libelf-dev=pc:libelf libzstd-dev=pc:libzstd
zlib1g-dev=pc:zlib liblz4-dev=pc:liblz4 libcjson-dev=pc:libcjson libssl-dev=pc:libcrypto
libyaml-dev=pc:yaml-0.1 g++=cmd:g++
libcmocka-dev=pc:cmocka libxxhash-dev=pc:libxxhash libc6-dev=file:/usr/include/stdio.h'
packages_tests='python3=cmd:python3 jq=cmd:jq rsync=cmd:rsync git=cmd:git binutils=cmd:readelf
zstd=cmd:zstd lz4=cmd:lz4 util-linux=cmd:unshare
zsh=cmd:zsh groff-base=cmd:groff python3-jsonschema=file:/usr/lib/python3/dist-packages/jsonschema'
packages_package='dpkg-dev=cmd:dpkg-buildpackage debhelper=cmd:dh lintian=cmd:lintian'

missing_packages() { # LIST...
	for list in "$@"; do
		eval "set -- \$packages_$list"
		for row in "$@"; do
			what=${row#*=}
			case $what in
			cmd:*) command -v "${what#cmd:}" >/dev/null 2>&1 ;;
			pc:*) pkg-config --exists "${what#pc:}" 2>/dev/null ;;
			file:*) [ -e "${what#file:}" ] ;;
			esac || echo "${row%%=*}"
		done
	done | tr '\n' ' '
}

install_packages() {
	if ! command -v apt-get >/dev/null; then
		echo "missing, and there is no apt-get: $*" >&2
		return 1
	fi
	if [ "$(id -u)" = 0 ]; then
		as_root=
	elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
		as_root=sudo
	else
		echo "missing: please install $*" >&2
		return 1
	fi
	echo "installing: $*"
	$as_root apt-get -q update >/dev/null &&
		DEBIAN_FRONTEND=noninteractive $as_root apt-get -qy install --no-install-recommends "$@" >/dev/null
}
