#!/bin/sh
# Refuses an include that crosses rooms. Usage: check.sh ROOT [CC [names|ROOM]]
#
# Every header compiles alone, with its room's include path and no other, a public one with the
# include folder alone, which is all that another room has; no include has "../"; libfuse is
# included by the files of the front end alone; decode and softgpu include neither libfuse, nor
# each other, nor fs. With "names" nothing is compiled, with a room only its headers.

set -u
root=$1
cc=${2:-cc}
mode=${3:-all}
bad=0
count=0

refuse() {
	echo "$*"
	bad=$((bad + 1))
}

paths_of() {
	case $1 in
	decode | softgpu) echo "-I$root/$1 -I$root/$1/include" ;;
	fs) echo "-I$root/fs -I$root/decode/include -I$root/softgpu/include" ;;
	esac
}

packages_of() {
	case $1 in
	decode) pkg-config --cflags libelf libzstd liblz4 zlib 2>/dev/null ;;
	fs) pkg-config --cflags libcjson libcrypto fuse3 2>/dev/null ;;
	esac
}

# "NAME FILE" for each include. limits.h and the like are the C library's in angle brackets.
includes() {
	awk '/^[ \t]*#[ \t]*include[ \t]*[<"]/ && !/<(limits|signal|errno)\.h>/ {
		name = $0
		sub(/^[^<"]*[<"]/, "", name)
		sub(/[>"].*/, "", name)
		print name, FILENAME
	}' "$@"
}

# Headers of another room that this one might name; fs may name the public ones.
foreign() { # ROOM
	for other in decode softgpu fs; do
		[ $other = "$1" ] && continue
		for h in "$root/$other"/*.h "$root/$other"/include/*.h; do
			[ "$1" = fs ] && case $h in */include/*) continue ;; esac
			# internal.h and the like are in each room; the include path tells them apart
			[ -e "$h" ] && [ ! -e "$root/$1/${h##*/}" ] && printf '%s ' "${h##*/}"
		done
	done
}

for room in decode softgpu fs; do
	if [ ! -d "$root/$room" ]; then
		refuse "$room/ is missing"
		continue
	fi
	foreign=" $(foreign $room)"
	names=$(includes "$root/$room"/*.[ch] $(ls "$root/$room"/include/*.h 2>/dev/null))
	while read -r name file; do
		count=$((count + 1))
		short=${file#"$root"/}
		case $name in
		*../*) refuse "$short: includes $name: no \"../\"" ;;
		decode/* | softgpu/* | fs/*) refuse "$short: includes $name by its room" ;;
		fuse.h | fuse_lowlevel.h | fuse_opt.h | fuse/* | fuse3/*)
			case $short in
			fs/front_fuse*.[ch] | fs/fuse_*.[ch]) ;;
			*) refuse "$short: includes $name: only the fuse front end may" ;;
			esac
			;;
		esac
		case $foreign in
		*" $name "*) refuse "$short: includes $name of another room" ;;
		esac
	done <<-NAMES
		$names
	NAMES

	[ "$mode" = all ] || [ "$mode" = $room ] || continue
	for header in "$root/$room"/*.h "$root/$room"/include/*.h; do
		[ -e "$header" ] || continue
		count=$((count + 1))
		case ${header##*/} in
		front_fuse* | fuse_*) pkg-config --exists fuse3 2>/dev/null || continue ;;
		esac
		case $header in
		*/include/*) flags=-I$root/$room/include ;;
		*) flags="$(paths_of $room) $(packages_of $room)" ;;
		esac
		# shellcheck disable=SC2086 # flags are words
		$cc -std=c17 -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -Wall -Werror -Wno-unused-function -fsyntax-only \
			$flags -x c "$header" ||
			refuse "${header#"$root"/} does not compile alone"
	done
done
echo "$count includes and headers checked, $bad refused"
[ $bad = 0 ]
