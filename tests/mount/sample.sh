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

# quickstart.sh, which finds all that it would build; where paths have spaces.
mkdir -p built/fs tools "a folder's"
ln -s "$GPUOBJFS" "$GPUOBJ" built/fs/
touch built/build.ninja
for tool in meson ninja pkg-config gcc g++; do
	ln -s /bin/true tools/$tool
done
ln -s /bin/false tools/apt-get
"$GPUOBJ" cp --sample /objects/00001/payload "a folder's/one" || fail "gpuobj cp"
quick() {
	env BUILD="$PWD/built" TMPDIR="$PWD/a folder's" PATH="$PWD/tools:$PATH" sh "$EXAMPLES/quickstart.sh" "$@"
}
quiet "quickstart" quick
same "its commands" "$(grep -c '^\$ ' quiet.out)" 10
quiet "quickstart, of a name with a space" quick "a folder's/one"
same "its commands" "$(grep -c '^\$ ' quiet.out)" 10
same "it mounted" "$(sed -n 's/^\$ \(gpuobjfs\|fusermount3\) .*/\1/p' quiet.out | tr '\n' ' ')" "gpuobjfs fusermount3 "
same "what it leaves" "$(ls "a folder's")" one

mkdir out
check "gpuobj cp --sample" "$GPUOBJ" cp --sample / out
quiet "gpuobj shows the same" diff -r -x queues d out
quiet "gpuobj ls --sample" "$GPUOBJ" ls --sample /targets
same "targets" "$(sort quiet.out)" "$(ls d/targets)"

# What the README has by hand, where nothing was made before.
grep '/tmp/somewhere' "$TESTS/../README.md" |
	sed 's|[^ ]*/gpuobjfs|"$GPUOBJFS"|; s|/tmp/somewhere|made/somewhere|g' >by-hand
quiet "a mount by hand" sh by-hand
unmount made/somewhere
unmount d
unmount e
finish
