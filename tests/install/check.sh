#!/bin/sh
# Installs a build to an empty DESTDIR: exactly these files arrive, and pages and scripts find
# each other there.
#
# Usage: check.sh BUILD       a build directory; nothing is built
set -u
build=$(cd "$1" && pwd) || exit 1
here=$(cd "$(dirname "$0")" && pwd)
source=$(cd "$here/../.." && pwd)
command -v meson >/dev/null || {
	echo "SKIP: meson is not installed"
	exit 77
}
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
failures=0
fail() {
	echo "FAIL: $*"
	failures=$((failures + 1))
}

meson introspect --buildoptions "$build" >"$scratch/options" || exit 1
option() {
	"${PYTHON:-python3}" -c 'import json, sys
print(next(o["value"] for o in json.load(open(sys.argv[1])) if o["name"] == sys.argv[2]))' \
		"$scratch/options" "$1"
}
below() { # PREFIX FOLDER: the files of the sources that go to $share/PREFIX
	(cd "$source/$2" && find . -type f ! -name '*.pyc' | sed "s|^\.|$share/$1|")
}
prefix=$(option prefix)
bin=$(option bindir)
share=$(option datadir)
man=$(option mandir)/man1
zsh=$(option zsh_completion_dir)
mount=''
[ ! -e "$build/fs/gpuobjfs" ] || mount=gpuobjfs

meson install -C "$build" --no-rebuild --destdir "$scratch/root" >"$scratch/log" 2>&1 || {
	cat "$scratch/log"
	exit 1
}
{
	for program in gpuobj $mount; do
		echo "$bin/$program"
		echo "$man/$program.1"
		echo "$share/bash-completion/completions/$program"
	done
	echo "${zsh:-$share/zsh/site-functions}/_gpuobj"
	(cd "$source" && ls LICENSE README.md docs/*.md docs/*.svg docs/packaging/README.md) |
		sed "s|^|$share/doc/gpuobjfs/|"
	echo "$share/doc/gpuobjfs/docs/schema"
	below gpuobjfs/schema docs/schema
	below doc/gpuobjfs/docs/formats docs/formats
	below doc/gpuobjfs/mnt-examples mnt-examples | grep -v /quickstart.sh
} | LC_ALL=C sort >"$scratch/want"
(cd "$scratch/root$prefix" && find . -type f -o -type l) | sed 's|^\./||' | LC_ALL=C sort >"$scratch/got"
diff -u --label expected --label installed "$scratch/want" "$scratch/got" || fail "other files"
[ "$(wc -l <"$scratch/want")" -gt 60 ] || fail "fewer files than there are"
other=$(cd "$scratch/root" && find . \( -type f -o -type l \) ! -path ".$prefix/*")
[ -z "$other" ] || fail "outside the prefix: $other"

# What is a program runs, what is none does not pretend.
cd "$scratch/root$prefix" || exit 1
for program in gpuobj $mount; do
	"./$bin/$program" --version >/dev/null || fail "$program does not run"
done
find . -type f -perm /111 ! -path "./$bin/*" ! -name '*.sh' | grep . &&
	fail "these are no programs"
find . ! -type l -perm /022 | grep . && fail "others may write these"

# Scripts find what they source beside them, wherever they are called from and by a link.
cd "$scratch" || exit 1
for script in "root$prefix/$share/doc/gpuobjfs/mnt-examples"/*.sh; do
	case $script in */start.sh | */packets.sh) continue ;; esac
	ln -sf "$script" link
	sh link --help >"$scratch/said" 2>&1
	grep -E '(start|packets)\.sh' "$scratch/said" && fail "$script does not find what it sources"
done

# Links of the pages lead to what is there; those for who builds from the sources are few.
cd "$scratch/root$prefix/$share/doc/gpuobjfs" || exit 1
find . -name '*.md' | while read -r page; do
	grep -o '](\([^):#]*\))' "$page" | sed 's/^](//; s/)$//' | while read -r link; do
		[ -e "$(dirname "$page")/$link" ] || echo "$page: $link"
	done
done >"$scratch/links"
while read -r link; do
	fail "a link to what is not installed: $link"
done <"$scratch/links"
echo "$(wc -l <"$scratch/got") files, $failures failures"
[ $failures = 0 ]
