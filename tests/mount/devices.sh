# devices/ on a mount: what is listed, exact sizes, the same bytes on every mount, verdicts
# without payloads, and the example that reads them.
. "$TESTS/mount/lib.sh"

make_mixed mixed.so
mount_fg a mixed.so || finish
pid_a=$pid
mount_fg b mixed.so || finish
pid_b=$pid

for device in sm_75 sm_90 sm_121 gfx90a:xnack- gfx1100; do
	same "devices/$device" "$(ls a/devices/$device | tr '\n' ' ')" "device.json inspect "
done
same "inspect" "$(ls a/devices/sm_90/inspect)" report.json
fails 2 "a device that is not known" ls a/devices/sm_1
fails 2 "a target is no device" ls a/devices/sm_90a

# b is read by name in another order, and without a listing.
ls a/devices | sort -r | while read -r device; do
	cat "b/devices/$device/inspect/report.json" "b/devices/$device/device.json" || exit
done >/dev/null
quiet "two mounts agree" diff -r a/devices b/devices
for f in a/devices/sm_*/device.json a/devices/gfx9*/inspect/report.json; do
	same "size of $f" "$(stat -c %s "$f")" "$(wc -c <"$f")"
done

if command -v jq >/dev/null; then
	verdict() { jq -r .verdict "a/devices/$1/device.json"; }
	same "sm_100 has code in some of the regions" "$(verdict sm_100)" partial
	same "sm_50" "$(verdict sm_50)" none
	same "gfx90a:xnack-" "$(verdict gfx90a:xnack-)" partial
	same "gfx90a:xnack+" "$(verdict gfx90a:xnack+)" none
	same "names" "$(jq -r .device a/devices/*/device.json)" "$(ls a/devices)"
	same "without ids nothing is positional" \
		"$(jq 'del(.ids)' a/devices/sm_90/device.json | grep -c '"0000')" 0
	check "the example" sh "$EXAMPLES/will-it-run.sh" --sample sm_120 gfx1100
	same "its table" "$(tr -s ' \n' ' ' <check.log)" " sm_120 gfx1100 sample jit native "
	sh "$EXAMPLES/will-it-run.sh" --sample sm_20 >example.out
	same "the example, where it would not run" "$? $(tail -n1 example.out | tr -s ' ')" "1 sample none"
	echo 'no code' >nothing
	fails 1 "the example, of a file without code" sh "$EXAMPLES/will-it-run.sh" nothing
	odd=$(printf 'two\nlines\033[31m')
	cp mixed.so "$odd"
	sh "$EXAMPLES/will-it-run.sh" "$odd" gfx90a 12.0 >example.out
	same "the example, an odd name and several settings" "$(head -n2 example.out | tr -s ' ')" \
		"$(printf ' gfx90a:xnack- gfx90a:xnack+ sm_120\ntwo?lines?[31m %s %s %s' \
			"$(verdict gfx90a:xnack-)" "$(verdict gfx90a:xnack+)" "$(verdict sm_120)")"
	fails 2 "the example, of nothing known" sh "$EXAMPLES/will-it-run.sh" --sample sm_1
else
	note "jq is not installed"
fi
stop a $pid_a
stop b $pid_b

# Payloads that cannot be decoded, or claim to be endless: nobody asks for them.
for name in m10_usize_huge m12_zstd_corrupt m20_kind2_not_elf; do
	mount_fg m "$DATA/cuda/malformed/$name.fatbin" || continue
	quiet "devices of $name" sh -c 'cat m/devices/*/device.json'
	quiet "reports of $name" sh -c 'cat m/devices/*/inspect/report.json'
	stop m $pid
done

# Of each vendor alone, and of none.
mount_fg m "$DATA/cuda/fatbin/mode_none.fatbin" && {
	same "NVIDIA alone" "$(ls m/devices | grep -vc '^sm_')" 0
	stop m $pid
}
mount_fg m "$DATA/amd/co/gfx900_llvm14_v2.hsaco" && {
	same "AMD alone" "$(ls m/devices | grep -vc '^gfx')" 0
	stop m $pid
}
mount_fg m "$DATA/cuda/fatbin/empty.fatbin" && {
	same "no code" "$(ls m/devices)" ""
	stop m $pid
}
finish
