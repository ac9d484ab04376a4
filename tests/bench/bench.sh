#!/bin/sh
# Performance gates; see bench.py. Usage: bench.sh DIR [FILE...]
#
# DIR holds real files (corpus/get.sh); FILE... stand for the default choice of them. GPUOBJFS
# names the program, which should be built with optimization. Run it on a machine that does
# nothing else: tests/run.sh --bench DIR.

set -u
dir=$1
shift
here=$(cd "$(dirname "$0")" && pwd)
examples=/usr/share/doc/libfuse3-dev/examples
work=$(mktemp -d "${TMPDIR:-/var/tmp}/gpuobjfs-bench.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT

if ! (exec 3<>/dev/fuse) 2>/dev/null; then
	echo "SKIP: /dev/fuse cannot be opened"
	exit 77
fi
if [ $# = 0 ]; then
	for name in librocrand.so.1.1 deepspeech-linux-libdeepspeech.so libhsa-runtime64.so.1.5.0 \
		nodellama-linux-libggml-cuda.so whisper-linux-index.node libamdhip64.so.5.2.21153; do
		if [ -e "$dir/$name" ]; then
			set -- "$@" "$dir/$name"
		else
			echo "skip   $name: not there"
		fi
	done
	for name in libcufft.so.12 libcusparse.so.12; do
		file=${CUDA_LIB:-/usr/local/cuda/lib64}/$name
		if [ -e "$file" ]; then
			set -- "$@" "$file"
		else
			echo "skip   $name: not there"
		fi
	done
fi

cc -O2 -o "$work/readpass" "$here/readpass.c" || exit 1
export READPASS="$work/readpass" PYTHONDONTWRITEBYTECODE=1
for name in hello_ll passthrough_ll; do
	source=$examples/$name.c
	[ -e "$source" ] || source=$source.gz
	if [ ! -e "$source" ]; then
		echo "skip   $name: no $examples/$name.c"
		continue
	fi
	case $source in
	*.gz) gzip -dc "$source" ;;
	*) cat "$source" ;;
	esac >"$work/$name.c"
	cp "$examples"/passthrough_helpers.h* "$work/" 2>/dev/null
	gunzip -f "$work"/*.gz 2>/dev/null
	# shellcheck disable=SC2046 # flags are words
	cc -O2 -w -D_GNU_SOURCE $(pkg-config --cflags fuse3) -I"$work" -o "$work/$name" "$work/$name.c" \
		$(pkg-config --libs fuse3) -lpthread || continue
	case $name in
	hello_ll) export HELLO_LL="$work/$name" ;;
	passthrough_ll) export PASSTHROUGH_LL="$work/$name" ;;
	esac
done

spaces=-mpf
[ "$(id -u)" = 0 ] || spaces=-Urmpf
export TMPDIR="$work"
unshare $spaces --kill-child --mount-proc python3 "$here/bench.py" "$@"
