#!/bin/sh
# Compiles kernels, packs them with the compilers' own tools, and compares every payload of the
# tree with the compiler's separate output. Opt-in: tests/run.sh --roundtrip, or by hand with
# GPUOBJ naming gpuobj.
#
# Needs nvcc (CUDA) for one half, clang-22, clang-offload-bundler-22 and lld-link-22 for the
# other; a half whose tools are missing is skipped aloud.
#
# One line a comparison, "ok NAME", "FAIL NAME" or "skip NAME"; the status is 1 after a FAIL.

set -u
here=$(cd "$(dirname "$0")" && pwd)
source=$here/../../fs/sample
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
status=0

result() { # RESULT NAME
	echo "$1 $2"
	[ "$1" != FAIL ] || status=1
}

# The payload of the object with this target must be these bytes.
same_payload() { # NAME FILE TARGET EXPECTED
	ids=$("$GPUOBJ" cat "$2" "/targets/$3/objects" 2>/dev/null)
	[ -n "$ids" ] || {
		result FAIL "$1: no target $3"
		return
	}
	for id in $ids; do
		if "$GPUOBJ" cat "$2" "/objects/$id/payload" | cmp -s - "$4"; then
			result ok "$1: $3"
		else
			result FAIL "$1: payload of $3 differs from $(basename "$4")"
		fi
	done
}

# fatbinary takes comments and blanks that mean nothing out of PTX, and adds a NUL.
plain_ptx() {
	tr -d '\000' | sed -e 's,//.*,,' -e 's,[[:space:]]\{1\,\}, ,g' -e 's,^ ,,' -e 's, $,,' | grep -v '^$'
}

cuda() {
	for sm in 75 90; do
		nvcc -arch=compute_$sm -code=sm_$sm -cubin "$source/saxpy.cu" -o "$work/sm_$sm.cubin" || return 1
	done
	nvcc -arch=compute_90 -ptx "$source/saxpy.cu" -o "$work/90.ptx" || return 1
	plain_ptx <"$work/90.ptx" >"$work/expected.ptx"
	for mode in default size speed balance none all; do
		options=--compress-mode=$mode
		[ $mode != all ] || options='-Xfatbin --compress-all'
		# shellcheck disable=SC2086 # a list of words
		nvcc $options -gencode arch=compute_75,code=sm_75 \
			-gencode 'arch=compute_90,code=[sm_90,compute_90]' \
			-fatbin "$source/saxpy.cu" -o "$work/$mode.fatbin" || return 1
		for sm in 75 90; do
			same_payload "fatbin, $mode" "$work/$mode.fatbin" sm_$sm "$work/sm_$sm.cubin"
		done
		id=$("$GPUOBJ" cat "$work/$mode.fatbin" /targets/compute_90/objects)
		if "$GPUOBJ" cat "$work/$mode.fatbin" "/objects/$id/payload" | plain_ptx |
			cmp -s - "$work/expected.ptx"; then
			result ok "fatbin, $mode: compute_90"
		else
			result FAIL "fatbin, $mode: PTX differs"
		fi
	done
	nvcc -gencode arch=compute_90,code=sm_90 -Xcompiler -fPIC -c "$source/saxpy.cu" -o "$work/host.o" &&
		same_payload "host object" "$work/host.o" sm_90 "$work/sm_90.cubin"
}

bundle() { # OUTPUT OPTION... ; COMPRESSED_BUNDLE_FORMAT_VERSION from outside
	output=$1
	shift
	clang-offload-bundler-22 -type=o -bundle-align=4096 "$@" -output="$output" \
		-targets=host-x86_64-unknown-linux-gnu,hipv4-amdgcn-amd-amdhsa--gfx1100,hipv4-amdgcn-amd-amdhsa--gfx90a:xnack- \
		-input=/dev/null -input="$work/gfx1100.co" -input="$work/gfx90a:xnack-.co"
}

hip_case() { # NAME FILE
	for processor in gfx1100 gfx90a:xnack-; do
		same_payload "$1" "$2" $processor "$work/$processor.co"
	done
}

hip() {
	for processor in gfx1100 gfx90a:xnack-; do
		clang-22 -w -x cl -cl-std=CL2.0 -O2 -nogpulib -target amdgcn-amd-amdhsa -mcpu=$processor \
			"$source/saxpy.cl" -o "$work/$processor.co" || return 1
	done
	bundle "$work/plain.hipfb" && hip_case "plain bundle" "$work/plain.hipfb"
	COMPRESSED_BUNDLE_FORMAT_VERSION=2 bundle "$work/v2.hipfb" -compress &&
		hip_case "CCOB v2" "$work/v2.hipfb"
	bundle "$work/v3.hipfb" -compress && hip_case "CCOB v3" "$work/v3.hipfb"
	bundle "$work/v3-19.hipfb" -compress -compression-level=19 &&
		hip_case "CCOB v3, level 19" "$work/v3-19.hipfb"
	for kind in plain v2 v3; do
		cat >"$work/$kind.s" <<-END
			.section .hip_fatbin,"dr"
			.p2align 12
			.incbin "$work/$kind.hipfb"
		END
		clang-22 --target=x86_64-pc-windows-msvc -c "$work/$kind.s" -o "$work/$kind.obj" || return 1
		hip_case "COFF object, $kind" "$work/$kind.obj"
		lld-link-22 /dll /noentry /nodefaultlib "/out:$work/$kind.dll" "$work/$kind.obj" || return 1
		hip_case "PE by lld-link, $kind" "$work/$kind.dll"
	done
}

half() { # NAME FUNCTION TOOL...
	name=$1 run=$2
	shift 2
	for tool; do
		command -v "$tool" >/dev/null || {
			result skip "$name: no $tool"
			return
		}
	done
	$run || result FAIL "$name: a compiler failed"
}

PATH=$PATH:/usr/local/cuda/bin
half CUDA cuda nvcc
half HIP hip clang-22 clang-offload-bundler-22 lld-link-22
exit $status
