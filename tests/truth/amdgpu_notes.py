#!/usr/bin/env python3
"""Compares what decode finds in AMDGPU code objects with two other readers' words.

Usage: amdgpu_notes.py INSPECT_DUMP [SAMPLES/amd]

The other readers: notes/*.txt (llvm-readobj) for every metadata value, and the kernel lines of
MANIFEST.md for sizes, registers and the words of the descriptors. Every code object that the
MANIFEST names with its notes file must be there, in order. Without samples: exit 77.
"""

import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))

SAMPLE = re.compile(r"^### (\S+) — ")
NOTES = re.compile(r"full dump `(notes/[^`]+)`")
KERNEL = re.compile(
    r"- kernel `(?P<name>[^`]*)` sym `(?P<symbol>[^`]*)` karg=(?P<karg>\d+)/(?P<align>\d+) lds=(?P<lds>\d+) "
    r"priv=(?P<priv>\d+) wave=(?P<wave>\d+) sgpr=(?P<sgpr>\d+) vgpr=(?P<vgpr>\d+) agpr=(?P<agpr>\w+) "
    r"maxwg=(?P<maxwg>\d+) args=(?P<args>\d+)(?: \| \.kd @file 0x(?P<at>[0-9a-f]+):.* rsrc3=(?P<rsrc3>\w+) "
    r"rsrc1=(?P<rsrc1>\w+) rsrc2=(?P<rsrc2>\w+) props=(?P<props>\w+) preload=(?P<preload>\w+))?")

# V2's words for what later versions write as keys of the kernel's own map.
V2_KERNEL = {
    "Name": ".name", "SymbolName": ".symbol", "Language": ".language", "LanguageVersion": ".language_version",
    "Args": ".args", "KernargSegmentSize": ".kernarg_segment_size", "KernargSegmentAlign": ".kernarg_segment_align",
    "GroupSegmentFixedSize": ".group_segment_fixed_size", "PrivateSegmentFixedSize": ".private_segment_fixed_size",
    "WavefrontSize": ".wavefront_size", "NumSGPRs": ".sgpr_count", "NumVGPRs": ".vgpr_count",
    "MaxFlatWorkGroupSize": ".max_flat_workgroup_size", "NumSpilledSGPRs": ".sgpr_spill_count",
    "NumSpilledVGPRs": ".vgpr_spill_count", "ReqdWorkGroupSize": ".reqd_workgroup_size",
    "WorkGroupSizeHint": ".workgroup_size_hint", "VecTypeHint": ".vec_type_hint",
    "IsDynamicCallStack": ".uses_dynamic_stack",
}
DESCRIPTOR = ["compute_pgm_rsrc1", "compute_pgm_rsrc2", "compute_pgm_rsrc3", "kernel_code_properties",
              "kernarg_preload"]


# ---- the YAML that llvm-readobj prints -------------------------------------------------------


def scalar(text):
    text = text.strip()
    if text.startswith("["):
        return [scalar(t) for t in text.strip("[]").split(",") if t.strip()]
    if text[:1] == "'":
        return text[1:-1].replace("''", "'")
    if text[:1] == '"':
        return text[1:-1].encode().decode("unicode_escape")
    if text in ("true", "false"):
        return int(text == "true")
    return int(text) if re.fullmatch(r"-?\d+", text) else text


def block(lines, at, indent):
    """The value whose lines begin at lines[at] with this indent, and where it ends."""
    if lines[at][1].startswith("- "):
        out = []
        while at < len(lines) and lines[at][0] == indent and lines[at][1].startswith("- "):
            rest = lines[at][1][2:]
            inner = indent + 2
            if re.match(r"[^'\"\[]\S*:(\s|$)", rest):
                lines[at] = (inner, rest.strip())
                value, at = block(lines, at, inner)
            else:
                value, at = scalar(rest), at + 1
            out.append(value)
        return out, at
    out = {}
    while at < len(lines) and lines[at][0] == indent and not lines[at][1].startswith("- "):
        key, _, rest = lines[at][1].partition(":")
        at += 1
        if rest.strip():
            out[key] = scalar(rest)
        elif at < len(lines) and lines[at][0] > indent:
            out[key], at = block(lines, at, lines[at][0])
        else:
            out[key] = None
    return out, at


def notes_maps(path):
    """Each metadata map in a notes file."""
    maps, lines = [], None
    with open(path, encoding="utf-8") as f:
        for line in f:
            if lines is None:
                lines = [] if re.search(r"Metadata: ---$", line) else None
            elif line.rstrip() == "...":
                maps.append(block(lines, 0, 0)[0])
                lines = None
            elif line.strip():
                lines.append((len(line) - len(line.lstrip()), line.strip()))
    return maps


# ---- what they say, in decode's terms -----------------------------------------------------------


def snake(word):
    if word == "HiddenMultiGridSyncArg":
        return "hidden_multigrid_sync_arg"
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", word).lower()


def fact_text(value):
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)


def expected_args(args, v2):
    out, end = [], 0
    for a in args or []:
        if v2:
            offset = -(-end // a["Align"]) * a["Align"]
            end = offset + a["Size"]
            access = [snake(a[k]) for k in ("AccQual", "ActualAccQual") if a.get(k, "Default") != "Default"]
            space = a.get("AddrSpaceQual")
            row = [a.get("Name"), a.get("TypeName"), snake(a["ValueKind"]), space and snake(space),
                   access[0] if access else None, offset, a["Size"], a.get("PointeeAlign", a["Align"])]
        else:
            row = [a.get(".name"), a.get(".type_name"), a[".value_kind"], a.get(".address_space"),
                   a.get(".access", a.get(".actual_access")), a[".offset"], a[".size"], a.get(".pointee_align")]
        out.append(["-" if f is None else str(f) for f in row])
    return out


def expected_kernel(k, v2):
    if v2:
        k = {**k, **k.get("Attrs", {}), **k.get("CodeProps", {})}
        k = {V2_KERNEL[key]: value for key, value in k.items() if key in V2_KERNEL}
        args = expected_args(k.pop(".args", None), True)
    else:
        args = expected_args(k.pop(".args", None), False)
    facts = {key[1:]: fact_text(value) for key, value in k.items()}
    groups = [facts.pop("max_num_workgroups_" + axis, None) for axis in "xyz"]
    if any(groups):
        facts["max_num_workgroups"] = ",".join(groups)
    if "language_version" in facts:
        facts["language_version"] = facts["language_version"].replace(",", ".")
    return {"name": facts.pop("name"), "symbol": facts.pop("symbol"), "facts": facts, "args": args}


def expected_object(path):
    kernels = []
    for m in notes_maps(path):
        for k in m.get("amdhsa.kernels") or m.get("Kernels") or []:
            kernels.append(expected_kernel(k, "Kernels" in m))
    return kernels


def manifest_objects(path):
    """(sample, notes file, kernel lines) of each code object, in order."""
    out, sample = [], None
    with open(path, encoding="utf-8") as f:
        for line in f:
            if (m := SAMPLE.match(line)):
                sample = m.group(1)
            elif (m := NOTES.search(line)):
                out.append((sample, m.group(1), []))
            elif (m := KERNEL.search(line)):
                out[-1][2].append(m.groupdict())
    return out


# ---- what decode says ---------------------------------------------------------------------------


def unescape(text):
    return re.sub(rb"\\x([0-9a-f]{2})", lambda m: bytes([int(m.group(1), 16)]), text.encode()).decode("utf-8")


def dumped_objects(program, path):
    run = subprocess.run([program, path], capture_output=True, text=True, check=True)
    out = []
    for line in run.stdout.splitlines():
        word, *fields = map(unescape, line.split("\t"))
        if word == "object":
            out.append({"representation": fields[2], "state": fields[3], "kernels": [], "problems": []})
        elif word == "kernel":
            out[-1]["kernels"].append({"name": fields[0], "symbol": fields[1], "code": fields[2],
                                       "descriptor": fields[3], "facts": {}, "args": []})
        elif word == "fact":
            out[-1]["kernels"][-1]["facts"][fields[0]] = fields[1]
        elif word == "arg":
            out[-1]["kernels"][-1]["args"].append(fields)
        elif word == "problem":
            out[-1]["problems"].append(fields)
    return [o for o in out if o["representation"] == "amdgpu_elf"]


# ---- comparing ------------------------------------------------------------------------------------


class Faults:
    def __init__(self):
        self.count = self.compared = 0

    def equal(self, where, ours, theirs):
        self.compared += 1
        if ours != theirs:
            self.count += 1
            print(f"{where}: decode has {ours!r}, expected {theirs!r}")


def compare_notes(faults, where, got, expected):
    faults.equal(where + " kernels", [k["name"] for k in got["kernels"]], [k["name"] for k in expected])
    for ours, theirs in zip(got["kernels"], expected):
        at = f"{where} {theirs['name']}"
        facts = {k: v for k, v in ours["facts"].items() if k not in DESCRIPTOR}
        faults.equal(at + " symbol", ours["symbol"], theirs["symbol"])
        for key in sorted(set(facts) | set(theirs["facts"])):
            faults.equal(f"{at} {key}", facts.get(key), theirs["facts"].get(key))
        faults.equal(at + " arguments", len(ours["args"]), len(theirs["args"]))
        for i, (a, b) in enumerate(zip(ours["args"], theirs["args"])):
            faults.equal(f"{at} argument {i}", a, b)


def compare_manifest(faults, where, got, rows):
    by_name = {k["name"]: k for k in got["kernels"]}
    for row in rows:
        ours = by_name.get(row["name"], {"name": None, "symbol": None, "args": [], "facts": {},
                                         "descriptor": None, "code": ""})
        facts = ours["facts"]
        at = f"{where} {row['name']} (manifest)"
        names = [("karg", "kernarg_segment_size"), ("align", "kernarg_segment_align"),
                 ("lds", "group_segment_fixed_size"), ("priv", "private_segment_fixed_size"),
                 ("wave", "wavefront_size"), ("sgpr", "sgpr_count"), ("vgpr", "vgpr_count"),
                 ("maxwg", "max_flat_workgroup_size")]
        faults.equal(at + " name", (ours["name"], ours["symbol"]), (row["name"], row["symbol"]))
        for key, fact in names:
            faults.equal(f"{at} {fact}", facts.get(fact), row[key])
        faults.equal(at + " agpr", facts.get("agpr_count", "None"), row["agpr"])
        faults.equal(at + " args", str(len(ours["args"])), row["args"])
        if not row["at"]:
            continue
        faults.equal(at + " descriptor", ours["descriptor"], f"descriptor {int(row['at'], 16)}+64")
        words = dict(zip(["rsrc1", "rsrc2", "rsrc3", "props", "preload"], DESCRIPTOR))
        for key, fact in words.items():
            faults.equal(f"{at} {fact}", facts.get(fact), hex(int(row[key], 16)))
        if got["state"] == "complete":
            faults.equal(at + " code", ours["code"].startswith("code 0+"), False)


def main():
    program = sys.argv[1]
    default = os.path.join(os.environ.get("GPUOBJFS_SAMPLES") or os.path.join(HERE, "../../../shared/samples"), "amd")
    samples = sys.argv[2] if len(sys.argv) > 2 else default
    if not os.path.isfile(os.path.join(samples, "MANIFEST.md")):
        print("SKIP: no full sample set (GPUOBJFS_SAMPLES)")
        return 77
    faults, dumps, objects, kernels = Faults(), {}, 0, 0
    skipped = 0
    for sample, notes, rows in manifest_objects(os.path.join(samples, "MANIFEST.md")):
        path = os.path.join(samples, sample)
        if not os.path.exists(path):
            skipped += 1
            continue
        if sample not in dumps:
            dumps[sample] = dumped_objects(program, path)
        if not dumps[sample]:
            faults.equal(notes, "no further code object", "one")
            continue
        got = dumps[sample].pop(0)
        expected = expected_object(os.path.join(samples, notes))
        healthy = "amdhsa" if expected else "other system"
        faults.equal(notes + " state", got["state"], "complete" if healthy == "amdhsa" else "unsupported")
        compare_notes(faults, notes, got, expected)
        compare_manifest(faults, notes, got, rows)
        objects += 1
        kernels += len(expected)
    for sample, rest in dumps.items():
        faults.equal(sample + " code objects left over", len(rest), 0)
    print(f"{objects} code objects, {kernels} kernels, {faults.compared} comparisons, {faults.count} differ; "
          f"{skipped} objects of samples that are not here")
    return 1 if faults.count or not objects else 0


if __name__ == "__main__":
    sys.exit(main())
