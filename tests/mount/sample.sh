# The artifact built into the program.
. "$TESTS/mount/lib.sh"

mkdir -p d e
check "gpuobjfs --sample" "$GPUOBJFS" --sample d
check "gpuobjfs --sample, a second time" "$GPUOBJFS" --sample e
check "survey" survey d
cp check.log d.survey
check "survey of the second" survey e
check "both are the same, inodes too" cmp d.survey check.log
same "mtime" "$(stat -c %Y d d/artifact.json d/objects/00000/payload | sort -u)" 0
if command -v jq >/dev/null; then
	same "name" "$(jq -r .name d/artifact.json)" sample
	same "vendors" "$(jq -r .vendor d/objects/*/object.json | sort -u | grep -v other | tr '\n' ' ')" "amd nvidia "
	same "inventory" "$(jq -r .inventory.state d/artifact.json)" complete
	same "problems" "$(jq -c . d/problems.json)" '[]'
	check "what the README shows" "$python" "$TESTS/mount/transcript.py" "$TESTS/../README.md" d
fi
mkdir out
check "gpuobj cp --sample" "$GPUOBJ" cp --sample / out
quiet "gpuobj shows the same" diff -r -x queues d out
quiet "gpuobj ls --sample" "$GPUOBJ" ls --sample /targets
same "targets" "$(sort quiet.out)" "$(ls d/targets)"
unmount d
unmount e
finish
