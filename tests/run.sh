#!/bin/bash
# Builds the programs and runs their tests.
#
# Usage: tests/run.sh [OPTIONS] [MESON TEST ARGUMENTS]
#   --full         what takes long, too, by GPUOBJFS_EVERY=1: copies from mounts, differences of
#                  neighbours, schemas of devices and pages of queries of all samples, all
#                  devices of every mount, and as a user all that is done as root; without it
#                  a fixed part of these, which each test names
#   --sanitize     build with clang's address and undefined sanitizers, in a second directory
#   --ndebug       build with NDEBUG, in a third
#   --corpus DIR   also compare the real files in DIR (corpus/get.sh) with the truth
#   --roundtrip    also compile kernels with nvcc and clang and compare the payloads
#   --ptxas        also compare the rules for PTX with what ptxas takes
#   --package      also build the Debian package, install it, try it and remove it (as root)
#   --bench DIR    run the performance gates on the files in DIR instead of the tests
#   --no-install   never install a package
#
# BUILD names another build directory than build/. The last line is
# "N passed, N failed, N skipped"; the status is not 0 when a test failed or none passed.

set -u
root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root" || exit 1

full='' sanitize='' ndebug='' corpus='' bench='' roundtrip='' ptxas='' package='' install=1
arguments=()
while [ $# -gt 0 ]; do
	case $1 in
	--full) full=1 ;;
	--sanitize) sanitize=1 ;;
	--ndebug) ndebug=1 ;;
	--corpus | --bench)
		[ -d "${2:-}" ] || {
			echo "run.sh: $1 needs a folder" >&2
			exit 2
		}
		[ "$1" = --corpus ] && corpus=$(cd "$2" && pwd) || bench=$(cd "$2" && pwd)
		shift
		;;
	--roundtrip) roundtrip=1 ;;
	--ptxas) ptxas=1 ;;
	--package) package=1 ;;
	--no-install) install='' ;;
	-h | --help)
		sed -n '2,/^$/s/^# \{0,1\}//p' "$0"
		exit 0
		;;
	*) arguments+=("$1") ;;
	esac
	shift
done

# shellcheck source=packages.sh
. tests/packages.sh
packages=$(missing_packages build tests ${package:+package})
if [ -n "$sanitize" ] && ! command -v clang >/dev/null; then
	packages="$packages clang"
fi
if [ -n "$packages" ] && [ -n "$install" ]; then
	install_packages $packages || echo "run.sh: not all packages are there: $packages" >&2
fi

build=${BUILD:-build}
options=(-Dwerror=true)
compiler=${CC:-gcc}
if [ -n "$sanitize" ]; then
	build=$build-sanitize
	compiler=clang
	options+=(-Db_sanitize=address,undefined -Db_lundef=false)
elif [ -n "$ndebug" ]; then
	build=$build-ndebug
	options+=(-Db_ndebug=true -Dbuildtype=release)
fi
if [ -n "$bench" ]; then
	options=(-Dbuildtype=release)
	build=$build-bench
fi
not_built() {
	echo "run.sh: cannot build in $build" >&2
	echo "0 passed, 1 failed, 0 skipped"
	exit 1
}
if [ ! -e "$build/build.ninja" ]; then
	CC=$compiler meson setup "${options[@]}" "$build" || not_built
fi
meson compile -C "$build" || not_built

programs() { # environment of what is run by hand
	export GPUOBJ GPUOBJFS BUILD_DIR
	BUILD_DIR=$(cd "$build" && pwd)
	GPUOBJ=$BUILD_DIR/fs/gpuobj
	GPUOBJFS=$BUILD_DIR/fs/gpuobjfs
	export PYTHONDONTWRITEBYTECODE=1
}

if [ -n "$bench" ]; then
	programs
	status=0
	for gates in bench payloads inspect; do
		sh "tests/bench/$gates.sh" "$bench"
		case $? in 0 | 77) ;; *) status=1 ;; esac
	done
	exit $status
fi

export ASAN_OPTIONS=exitcode=99:detect_leaks=1
export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1:exitcode=99
every=()
if [ -n "$full" ]; then
	every=(env GPUOBJFS_EVERY=1)
	arguments=(--timeout-multiplier 6 "${arguments[@]}")
elif [ -z "${GPUOBJFS_EVERY:-}" ]; then
	echo "run.sh: what takes long is done in part; --full does all of it" >&2
fi
rm -f "$build/meson-logs/testlog.json"
"${every[@]}" meson test -C "$build" --no-rebuild --print-errorlogs "${arguments[@]}"

passed=0 failed=0 skipped=0
if [ -e "$build/meson-logs/testlog.json" ]; then
	read -r passed failed skipped < <(python3 - "$build/meson-logs/testlog.json" <<'PY'
import json
import sys

count = {"passed": 0, "failed": 0, "skipped": 0}
for line in open(sys.argv[1]):
    test = json.loads(line)
    result = test["result"]
    kind = {"OK": "passed", "EXPECTEDFAIL": "passed", "SKIP": "skipped"}.get(result, "failed")
    count[kind] += 1
    if kind == "skipped":
        why = [l for l in test.get("stdout", "").splitlines() if l.startswith("SKIP")]
        print("skipped: %s%s" % (test["name"], "".join(": " + w[6:] for w in why[:1])), file=sys.stderr)
print(count["passed"], count["failed"], count["skipped"])
PY
	)
else
	failed=1
fi

count_lines() { # NAME; lines "RESULT WHAT" on standard input
	while read -r result name; do
		case $result in
		ok) passed=$((passed + 1)) ;;
		skip) skipped=$((skipped + 1)) ;;
		*) failed=$((failed + 1)) ;;
		esac
		echo "$1: $result $name"
	done
}

if [ -n "$corpus" ]; then
	programs
	count_lines corpus < <(sh tests/corpus/corpus.sh "$corpus")
fi
if [ -n "$roundtrip" ]; then
	programs
	count_lines roundtrip < <(sh tests/roundtrip/roundtrip.sh)
fi
if [ -n "$ptxas" ]; then
	programs
	count_lines ptxas < <(python3 tests/ptxas/ptxas.py "$BUILD_DIR/tests/decode/judge_target")
fi
if [ -n "$package" ]; then
	count_lines package < <(sh tests/package/deb.sh)
fi

echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
