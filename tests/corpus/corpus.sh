#!/bin/sh
# Real files against the truth: the whole inventory and every payload's bytes.
#
# Usage: corpus.sh DIR        DIR holds what corpus/get.sh fetches
# GPUOBJFS and GPUOBJ name the programs, BUILD_DIR where they were built; CUDA_LIB the toolkit's
# library folder, if it is not found in the usual places. Prints "ok NAME", "skip NAME: why" or
# "fail NAME" a line on stdout, details on stderr. A file that is not there is skipped by its name.

set -u
dir=$1
here=$(cd "$(dirname "$0")" && pwd)
report=$(mktemp)
trap 'rm -f "$report"' EXIT

run() { # NAME FILE COMMAND...
	name=$1
	file=$2
	shift 2
	if [ ! -e "$file" ]; then
		echo "skip $name: not there"
		return
	fi
	start=$(date +%s)
	"$@" >"$report" 2>&1
	status=$?
	took=$(($(date +%s) - start))
	case $status in
	0) echo "ok $name (${took} s)" ;;
	77) echo "skip $name: $(sed -n 's/^SKIP: //p' "$report" | head -1)" ;;
	*)
		echo "fail $name"
		{
			echo "== $name"
			head -40 "$report"
		} >&2
		;;
	esac
}

# One file: its tree equals the truth, through a mount, or without where none can be made.
whole() {
	run "$1" "$2" sh "$here/mounted.sh" "$2"
}

# Files from elsewhere: only those that this stage decodes.
for name in librocrand.so.1.1 libhsa-runtime64.so.1.5.0 libamdhip64.so.5.2.21153 \
	deepspeech-linux-libdeepspeech.so nodellama-linux-libggml-cuda.so whisper-linux-index.node \
	deepspeech-win32-libdeepspeech.so whisper-win32-index.node devicertl-16.a \
	gcc12-nvptx-crt0.o gcc12-nvptx-libgomp.a grd-cuda-avc-utils_30.ptx \
	grd-cuda-damage-utils_30.ptx; do
	if grep -qx "$name" "$here/not-yet.txt" 2>/dev/null; then
		echo "skip $name: its format is not decoded yet"
		continue
	fi
	whole "$name" "$dir/$name"
	run "$name: second opinion" "$dir/$name" env LOOK=second sh "$here/mounted.sh" "$dir/$name"
done

cuda=${CUDA_LIB:-}
for candidate in /usr/local/cuda/lib64 /usr/local/cuda-*/lib64 /usr/lib/x86_64-linux-gnu; do
	[ -n "$cuda" ] || [ ! -e "$candidate/libcufft.so.12" ] || cuda=$candidate
done
for name in libcufft.so.12 libcusparse.so.12; do
	whole "$name" "${cuda:-/nonexistent}/$name"
done

# Two mounts, one read in order and one in no order, are the same. A compressed bundle is made
# of a plain one where no file has any.
orders() { # NAME FILE
	run "$1: read in no order" "$2" env LOOK=orders sh "$here/mounted.sh" "$2"
}
orders deepspeech-linux-libdeepspeech.so "$dir/deepspeech-linux-libdeepspeech.so"
orders librocrand.so.1.1 "$dir/librocrand.so.1.1"
orders libhsa-runtime64.so.1.5.0 "$dir/libhsa-runtime64.so.1.5.0"
bundles=$(mktemp)
trap 'rm -f "$report" "$bundles"' EXIT
python3 "$here/../mount/mkccob.py" "$dir/librocrand.so.1.1" .hip_fatbin "$bundles" &&
	orders "compressed bundles of librocrand.so.1.1" "$bundles" &&
	run "compressed bundles of librocrand.so.1.1: second opinion" "$bundles" \
		env LOOK=second sh "$here/mounted.sh" "$bundles"

# What the corpus' README counts, apart from our own extractor.
count() { # NAME CONTAINERS OBJECTS
	run "$1: $2 containers, $3 objects" "$dir/$1" sh "$here/count.sh" "$dir/$1" "$2" "$3"
}
count librocrand.so.1.1 1 8
count libhsa-runtime64.so.1.5.0 29 29
count libamdhip64.so.5.2.21153 0 0
count deepspeech-linux-libdeepspeech.so 55 110
count nodellama-linux-libggml-cuda.so 143 1001
count whisper-linux-index.node 142 284
# Answers in pages of any length are the whole; in one process, which the test suite built.
run "pages of 1, 7 and 1000 rows" "$dir/deepspeech-linux-libdeepspeech.so" \
	"$BUILD_DIR/tests/fs/query_pages" "$dir/deepspeech-linux-libdeepspeech.so" 1 7 1000

python3 "$here/../cli/devices.py" corpus "$dir"
if [ -n "$cuda" ]; then
	dir=$cuda
	count libcufft.so.12 23984 23984
fi
