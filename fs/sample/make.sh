#!/bin/sh
# Makes libsample.so, the artifact built into the programs, from the two kernels here:
# a host library as a build with nvcc and hipcc leaves it. Needs CUDA 13 (nvcc) and LLVM 22
# (clang-22, clang-offload-bundler-22); only to make the file anew, never to build.
set -eu
cd "$(dirname "$0")"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# CUDA: stored cubins with a zstd PTX; then everything LZ4.
nvcc -gencode arch=compute_75,code=sm_75 -gencode arch=compute_90a,code=sm_90a \
	-gencode arch=compute_90,code=compute_90 -fatbin saxpy.cu -o "$tmp/a.fatbin"
nvcc -gencode arch=compute_86,code=sm_86 -gencode 'arch=compute_120f,code=[sm_120f,compute_120f]' \
	--compress-mode=speed -Xfatbin --compress-all -fatbin saxpy.cu -o "$tmp/b.fatbin"

# HIP: one plain bundle, one compressed.
object() {
	clang-22 -x cl -cl-std=CL2.0 -O2 -nogpulib -target amdgcn-amd-amdhsa -fvisibility=hidden \
		-mcpu="$1" saxpy.cl -o "$tmp/$1.co"
}
bundle() { # output, bundler options; then the processors
	output=$1 options=$2
	shift 2
	targets=host-x86_64-unknown-linux-gnu inputs=-input=/dev/null
	for processor; do
		object "$processor"
		targets="$targets,hipv4-amdgcn-amd-amdhsa--$processor"
		inputs="$inputs -input=$tmp/$processor.co"
	done
	# shellcheck disable=SC2086 # options and inputs are lists of words
	clang-offload-bundler-22 -type=o -bundle-align=4096 $options -targets="$targets" $inputs \
		-output="$output"
}
bundle "$tmp/c.hipfb" '' gfx90a:sramecc+:xnack- gfx1100
bundle "$tmp/d.hipfb" '-compress -compression-level=19' gfx942 gfx1201 gfx11-generic

cat > "$tmp/host.s" <<END
	.section .nv_fatbin, "a"
	.balign 8
	.incbin "$tmp/a.fatbin"
	.incbin "$tmp/b.fatbin"
	.section .hip_fatbin, "a"
	.balign 4096
	.incbin "$tmp/c.hipfb"
	.balign 4096
	.incbin "$tmp/d.hipfb"
	.section .note.GNU-stack, "", @progbits
END
gcc -shared -nostdlib -Wl,-z,noseparate-code,-z,max-page-size=4096,--build-id=none \
	"$tmp/host.s" -o libsample.so
strip -s libsample.so
chmod 644 libsample.so
ls -l libsample.so
