#!/usr/bin/env python3
"""Compares what decode says of NVIDIA kernels with what ptxas reported of them.

Usage: ptxas_table.py INSPECT_DUMP SAMPLES/cuda

INSPECT_DUMP is tests/decode/inspect_dump.c, built. The truth is the samples' MANIFEST.md:
section 2 is the output of `ptxas -v`, the lists of cubins and entries were written by a
decoder that is not ours, section 8 has the parameter bytes of PTX. Differences go to
stdout; exit 0: none.
"""

import os
import re
import subprocess
import sys

FILE = re.compile(r"^### (\S+) \(\d+ bytes\)")
CUBIN = re.compile(r"^\s*- cubin sm=\d+ abi=\d+ osabi=0x\w+ type=(\d+)")
KERNEL = re.compile(r"^\s*- (\S+) regs=(\d+) smem=(\d+) bar=(\d+) frame=(\d+) param=(\d+) code=(\d+)(.*)$")
PTX_ENTRIES = re.compile(r"^\s*- entries: (.*)$")
LOG_ROW = re.compile(
    r"^\| (\w+) \| `([^`]+)` \| (sm_\w+) \| (\d+) \| (\d+) \| (\d+) \| (\d+) \| (\d+|-) \|")
PTX_ROW = re.compile(r"^\| (ptx/[^|]+)\|[^|]*\|[^|]*\|([^|]*)\|")
PTX_KERNEL = re.compile(r"([$\w]+) \((\d+)")

# Which log belongs to which file; targets in it choose the object.
LOGS = {
    "k_75": "k_sm_75.cubin", "k_80": "k_sm_80.cubin", "k_89": "k_sm_89.cubin",
    "k_90": "k_sm_90.cubin", "k_90a": "k_sm_90a.cubin", "k_100a": "k_sm_100a.cubin",
    "k_100f": "k_sm_100f.cubin", "k_103": "k_sm_103.cubin", "k_110a": "k_sm_110a.cubin",
    "k_120f": "k_sm_120f.cubin", "k_121a": "k_sm_121a.cubin", "k80_90": "k_compute80_sm_90.cubin",
    "feat_90": "feat_sm_90.cubin", "feat_100": "feat_sm_100.cubin", "misc90": "static_sm_90.cubin",
    "dbg90": "debug_sm_90.cubin", "variants": "variants.fatbin",
}


class Truth:
    def __init__(self, manifest):
        self.objects = {}  # file: [[kernel facts]], in order
        self.relocatable = {}  # file: [bool], likewise
        self.ptx_names = {}  # file: [[kernel names]]
        self.logs = {}  # log: {(target, kernel): facts}
        self.last_row = []
        self.params = {}  # ptx file: [(kernel, bytes)]
        name = None
        with open(manifest, encoding="utf-8") as lines:
            for line in lines:
                name = self.line(line, name)

    def line(self, line, name):
        if match := FILE.match(line):
            return match[1]
        if (match := CUBIN.match(line)) and name:
            self.relocatable.setdefault(name, []).append(match[1] == "1")
            self.objects.setdefault(name, []).append([])
        elif (match := KERNEL.match(line)) and name:
            self.objects[name][-1].append(self.kernel(match))
        elif (match := PTX_ENTRIES.match(line)) and name:
            self.ptx_names.setdefault(name, []).append(match[1].split(", "))
        elif match := LOG_ROW.match(line):
            keys = ("registers", "barriers", "static_shared_bytes", "stack_frame_bytes", "constant0_bytes")
            facts = {k: v for k, v in zip(keys, match.groups()[3:]) if v != "-"}
            self.logs.setdefault(match[1], {})[match[3], match[2]] = facts
        elif match := PTX_ROW.match(line):
            self.ptx_row(match)
        return name

    def ptx_row(self, match):
        names = match[1].strip().split(", ")
        kernels = PTX_KERNEL.findall(match[2])
        if "the same" in match[2]:
            kernels = self.last_row
        self.last_row = kernels
        for name in names:
            path = name if name.startswith("ptx/") else "ptx/" + name
            self.params[path if path.endswith(".ptx") else path + ".ptx"] = kernels

    @staticmethod
    def kernel(match):
        facts = {
            "name": match[1], "registers": match[2], "static_shared_bytes": match[3],
            "barriers": match[4], "stack_frame_bytes": match[5], "param_bytes": match[6],
            "code_bytes": match[7],
        }
        for word, key in (("maxthreads", "max_threads"), ("maxreg", "max_registers"), ("cluster", "cluster")):
            if found := re.search(r"\b%s=(\S+)" % word, match[8]):
                facts[key] = found[1]
        if "LOCAL" in match[8]:
            facts["binding"] = "local"
        return facts


def dump(program, path):
    """[(representation, target, payload target, [kernel facts])] of a file."""
    text = subprocess.run([program, path], capture_output=True, check=True).stdout.decode()
    objects = []
    for line in text.splitlines():
        word, *rest = line.split("\t")
        if word == "object":
            objects.append((rest[2], rest[6], rest[7], []))
        elif word == "kernel":
            objects[-1][3].append({"name": rest[0]})
        elif word == "fact":
            objects[-1][3][-1][rest[0]] = rest[1]
    return objects


class Check:
    def __init__(self):
        self.compared = 0
        self.wrong = 0

    def equal(self, where, key, ours, theirs):
        self.compared += 1
        if ours != theirs:
            self.wrong += 1
            print(f"{where}: {key} is {ours}, expected {theirs}")

    def kernel(self, where, ours, theirs, relocatable=False):
        for key, value in theirs.items():
            # Nothing is assigned before the device link; the manifest then writes 0.
            if relocatable and key == "static_shared_bytes":
                value = None
            self.equal(f"{where} {theirs.get('name', '')}", key, ours.get(key), value)


def check_file(check, program, root, name, truth):
    ours = dump(program, os.path.join(root, name))
    cubins = [o for o in ours if o[0] == "cubin"]
    texts = [o for o in ours if o[0] == "ptx"]
    for objects, expected in ((cubins, truth.objects.get(name)), (texts, truth.ptx_names.get(name))):
        if expected is not None:
            check.equal(name, "objects", len(objects), len(expected))
    for number, (found, expected) in enumerate(zip(cubins, truth.objects.get(name, []))):
        where = f"{name}[{number}]"
        check.equal(where, "kernels", [k["name"] for k in found[3]], [k["name"] for k in expected])
        relocatable = truth.relocatable[name][number]
        for mine, theirs in zip(found[3], expected):
            check.kernel(where, mine, theirs, relocatable)
    for found, expected in zip(texts, truth.ptx_names.get(name, [])):
        check.equal(name, "kernels", [k["name"] for k in found[3]], expected)
    if name in truth.params:
        kernels = [(k["name"], k["param_bytes"]) for o in texts for k in o[3]]
        check.equal(name, "parameters", kernels, truth.params[name])
    return cubins


def check_log(check, name, cubins, rows):
    for (target, kernel), facts in rows.items():
        found = [k for o in cubins if o[2] == target for k in o[3] if k["name"] == kernel]
        check.equal(name, f"{kernel} for {target}", len(found), 1)
        for mine in found:
            check.kernel(f"{name}, ptxas, {target} {kernel}", mine, facts)


def main():
    program, root = sys.argv[1:]
    truth = Truth(os.path.join(root, "MANIFEST.md"))
    check = Check()
    files = sorted(set(truth.objects) | set(truth.ptx_names) | set(truth.params))
    log_of = {file: log for log, file in LOGS.items()}
    seen = 0
    for name in files:
        if not os.path.exists(os.path.join(root, name)):
            continue
        seen += 1
        cubins = check_file(check, program, root, name, truth)
        log = log_of.get(os.path.basename(name))
        if log in truth.logs:
            check_log(check, name, cubins, truth.logs[log])
    print(f"{seen} files, {check.compared} values compared, {check.wrong} differ")
    return 1 if check.wrong or not seen else 0


if __name__ == "__main__":
    sys.exit(main())
