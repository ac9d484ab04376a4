#!/usr/bin/env python3
"""Validates the JSON files of trees with the schemas of docs/schema.

Usage: check.py data                  every file of every artifact in tests/data
       check.py samples               of the full samples: GPUOBJFS_SAMPLES, or ../shared/samples;
                                      those that tests/data has, too, are left to that; two
                                      devices of each, all with GPUOBJFS_EVERY=1
       check.py tree DIR...           a mount, or a copy of one
       check.py planted               that wrong files are seen
       check.py which                the lines of gpuobj which --jsonl, of every artifact in tests/data
       check.py words WORDS           the vocabularies equal what the program WORDS prints

GPUOBJ names the program.
"""

import hashlib
import json
import os
import subprocess
import sys
import tempfile

from schemas import FOLDER, ROOT, SHARED, Schemas, load, parse, validator

DATA = os.path.join(ROOT, "tests", "data")
FAULTS_SHOWN = 20
REFUSED = (2, 3, 4)  # gpuobj's exits when there is no tree
SANITIZER_EXIT = 99

# Thousands of small files: in memory where there is such a folder.
if os.access("/dev/shm", os.W_OK):
    tempfile.tempdir = "/dev/shm"


def copied(artifact, target):
    """True: the whole tree is there; False: the file is refused."""
    run = subprocess.run([os.environ["GPUOBJ"], "cp", artifact, "/", target],
                         stdin=subprocess.DEVNULL, capture_output=True)
    if run.returncode < 0 or run.returncode == SANITIZER_EXIT:
        sys.exit("%s: gpuobj ended with %d" % (artifact, run.returncode))
    return run.returncode not in REFUSED


def files(folder):
    for directory, _, names in sorted(os.walk(folder)):
        for name in sorted(names):
            yield os.path.join(directory, name)


def digest(path):
    with open(path, "rb") as f:
        return hashlib.sha256(f.read()).digest()


def check_artifacts(artifacts, every=True):
    schemas = Schemas()
    trees, bad = 0, 0
    for artifact in artifacts:
        with tempfile.TemporaryDirectory() as target:
            if not copied(artifact, target):
                continue
            trees += 1
            for path, fault in schemas.tree_faults(target, every):
                bad += 1
                if bad <= FAULTS_SHOWN:
                    print("FAIL: %s: %s: %s" % (artifact, path, fault))
    for row in schemas.rows:
        if row not in schemas.used and not row[0].startswith("queues/"):
            bad += 1
            print("FAIL: no file was %s" % row[0])
    print("%d trees, %d JSON files, %d different texts, %d faults" %
          (trees, schemas.count, len(schemas.seen), bad))
    return bad == 0


def check_samples():
    folder = os.environ.get("GPUOBJFS_SAMPLES") or os.path.join(ROOT, "..", "shared", "samples")
    if not os.path.isdir(folder):
        print("SKIP: no full sample set (GPUOBJFS_SAMPLES)")
        sys.exit(77)
    known = {digest(path) for path in files(DATA)}
    return check_artifacts((path for path in files(folder) if digest(path) not in known),
                           every=bool(os.environ.get("GPUOBJFS_EVERY")))


def check_trees(folders):
    schemas = Schemas()
    bad = 0
    for folder in folders:
        for path, fault in schemas.tree_faults(folder):
            bad += 1
            print("FAIL: %s: %s" % (path, fault))
    print("%d JSON files, %d faults; used: %s" %
          (schemas.count, bad, " ".join(sorted({row[2].split(".")[0] for row in schemas.used}))))
    return bad == 0 and schemas.count > 0


# ---- the check can fail ------------------------------------------------------------------

def first_key(value):
    return next(iter(value))


def dropped(value):
    value = dict(value)
    del value[first_key(value)]
    return value


def mistyped(value):
    return {**value, first_key(value): ["?"]}


# What is done to every file that is an object.
CHANGES = [
    ("a key more", lambda v: {**v, "zzz": 0}),
    ("a key less", dropped),
    ("a value of another type", mistyped),
]

# Files that only their vocabulary, pattern or condition can show to be wrong.
PLANTED = [
    ("artifact.json", "format", "elf32"),
    ("artifact.json", "sha256", "0" * 63),
    ("artifact.json", "size", -1),
    ("artifact.json", "size", 2 ** 53 + 2),
    ("artifact.json", "inventory", {"state": "partial", "reasons": ["no_such_code"]}),
    ("containers/00000/container.json", "hash", "0xABC"),
    ("objects/00000/object.json", "inspection", "complete"),
    ("objects/00000/object.json", "codec_flags", "0x041"),
    ("objects/00000/object.json", "target_kind", "bundle_id"),
    ("objects/00000/location.json", "id", "7"),
    ("objects/00000/location.json", "uri", None),
    ("objects/00000/inspect/inspection.json", "target_consistency", "matches"),
    ("objects/00000/inspect/inspection.json", "payload_target_kind", "none"),
    ("targets/sm_75/inspect/report.json", "kernel_analysis", "unrequested"),
]


def check_planted():
    schemas = Schemas()
    missed, planted, right = [], 0, 0

    def plant(path, what, value):
        nonlocal planted
        planted += 1
        if not schemas.faults(path, json.dumps(value).encode()):
            missed.append("%s: %s" % (path, what))

    with tempfile.TemporaryDirectory() as target:
        subprocess.run([os.environ["GPUOBJ"], "cp", "--sample", "/", target], check=True)
        for folder, _, names in os.walk(target):
            for name in names:
                path = os.path.relpath(os.path.join(folder, name), target)
                if not path.endswith(".json"):
                    continue
                with open(os.path.join(folder, name), encoding="utf-8") as f:
                    text = f.read()
                value = json.loads(text)
                right += not schemas.faults(path, text.encode())
                if isinstance(value, list) and value:
                    plant(path, "an element less a key", [dropped(value[0])] + value[1:])
                for what, change in CHANGES if isinstance(value, dict) else []:
                    plant(path, what, change(value))
                for where, key, wrong in PLANTED:
                    if where == path:
                        plant(path, "%s: %s" % (key, wrong), {**value, key: wrong})
        if not schemas.faults("objects/00000/extra.json", b"{}"):
            missed.append("a file without a schema")
        if not schemas.faults("problems.json", b'[{"code": "limit", "code": "limit"}]'):
            missed.append("a key that is there twice")
    for what in missed:
        print("FAIL: not seen: %s" % what)
    print("%d right files, %d wrong ones, %d not seen" % (right, planted + 2, len(missed)))
    return not missed and right > 50 and planted > 150


# ---- lines of gpuobj which -----------------------------------------------------------------

def which_lines(artifact):
    """By containers and by kernels, for a device of each vendor."""
    for device in ("sm_90", "gfx90a"):
        for more in ([], ["--kernels"]):
            run = subprocess.run([os.environ["GPUOBJ"], "which", "--jsonl", *more, device, artifact],
                                 stdin=subprocess.DEVNULL, capture_output=True)
            if run.returncode < 0 or run.returncode == SANITIZER_EXIT:
                sys.exit("%s: gpuobj ended with %d" % (artifact, run.returncode))
            for line in run.stdout.splitlines():
                yield more, line


def check_which():
    judge = validator("which.schema.json")
    lines = {False: 0, True: 0}
    missing, bad, missed = 0, 0, 0
    for artifact in files(DATA):
        for more, line in which_lines(artifact):
            value, twice = parse(line)
            lines["kernels" in value] += 1
            missing += bool(value.get("missing"))
            faults = [e.message for e in judge.iter_errors(value)] + twice
            if faults or ("kernels" in value) != bool(more):
                bad += 1
                print("FAIL: %s: %s" % (artifact, faults))
            for what, change in CHANGES:
                if judge.is_valid(change(value)):
                    missed += 1
                    print("FAIL: not seen: %s" % what)
    print("%d lines by containers, %d by kernels, %d with missing ones; %d faults, %d not seen"
          % (lines[False], lines[True], missing, bad, missed))
    return bad == missed == 0 and min(lines[False], lines[True], missing) > 0


# ---- vocabularies ------------------------------------------------------------------------

def enumerations(node):
    """Every {"enum": [...]} below a node."""
    if isinstance(node, dict):
        if "enum" in node:
            yield node["enum"]
        for value in node.values():
            yield from enumerations(value)
    elif isinstance(node, list):
        for value in node:
            yield from enumerations(value)


SHAPES = {
    "count": {"$ref": "#/$defs/uint"},
    "bool": {"type": "boolean"},
    "triple": {"$ref": "#/$defs/triple"},
    "text": {"type": "string"},
    "hex": {"$ref": "#/$defs/hex"},
}


def check_words(program):
    tables = {}
    for line in subprocess.check_output([program], text=True).splitlines():
        table, *rest = line.split()
        tables.setdefault(table, []).append(rest)
    shared = load(SHARED)["$defs"]
    trace = load("trace.schema.json")["$defs"]
    bad = 0

    def same(what, schema, code):
        nonlocal bad
        if schema != code:
            bad += 1
            print("FAIL: %s: the schemas have %s, the code %s" % (what, schema, code))

    facts = {key: SHAPES[shape] for key, shape in tables.pop("fact")}
    common = shared["kernel_common"]["properties"]
    same("facts", {k: v for k, v in common.items() if k in facts}, facts)
    same("keys of kernels", set(common) - set(facts),
         {"name", "demangled", "vendor", "target", "symbol", "name_escaped", "args"})
    events = {name: keys for name, *keys in tables.pop("event")}
    same("events", {name: list(event["properties"]) for name, event in trace.items()
                    if name != "trace_lost"},
         {name: ["type", "seq"] + keys for name, keys in events.items()})
    same("events that are tried", {r["$ref"] for r in load("trace.schema.json")["oneOf"]},
         {"#/$defs/" + name for name in trace})
    same("outcomes", set(trace["memory_free"]["properties"]["outcome"]["enum"]),
         {w for w, in tables["status"]})
    same("outcomes", set(trace["memory_allocate"]["properties"]["outcome"]["enum"]),
         {w for w, in tables.pop("status")})
    limits = load("queues-info.schema.json")["properties"]["limits"]["properties"]
    same("limits of queues", list(limits), [w for w, in tables.pop("queue_limit")])
    same("resources", list(shared["resources"]["properties"]),
         [w for w, in tables.pop("spread")])
    for word, key in (("consistency", "consistency"), ("inspection_state", "inspection")):
        same("sums of " + word, list(shared["tally"]["properties"][key]["properties"]),
             [w for w, in tables[word]])
    for table, rows in tables.items():
        same(table, set(shared[table]["enum"]), {w for w, in rows})
    names = {n for n in os.listdir(FOLDER) if n.endswith(".json")} - {SHARED}
    with open(os.path.join(FOLDER, "README.md"), encoding="utf-8") as f:
        text = f.read()
    same("schemas that the README names", {n for n in names if "`%s`" % n in text}, names)
    # Any other vocabulary of the tree's files would be compared with nothing.
    known = {frozenset(shared[table]["enum"]) for table in tables}
    loose = {frozenset(e) for name in {row[2] for row in Schemas().rows} | {SHARED}
             for e in enumerations(load(name))} - known
    same("vocabularies that no table has", loose, {
        frozenset(["complete", "partial"]),
        frozenset(["unrequested", "partial", "complete"]),
        frozenset(["read", "write"]),
        frozenset(["cuinfo", "cuver"]),
        frozenset(["relocatable", "executable", "extensible_whole_program"]),
        frozenset([0, 1]),
        frozenset(trace["memory_free"]["properties"]["outcome"]["enum"]),
    })
    print("%d tables compared, %d differ" % (len(tables) + 9, bad))
    return bad == 0


def main(arguments):
    what, rest = arguments[0] if arguments else "", arguments[1:]
    if what == "data":
        ok = check_artifacts(files(DATA))
    elif what == "samples":
        ok = check_samples()
    elif what == "tree" and rest:
        ok = check_trees(rest)
    elif what == "planted":
        ok = check_planted()
    elif what == "which":
        ok = check_which()
    elif what == "words" and len(rest) == 1:
        ok = check_words(rest[0])
    else:
        sys.exit(__doc__)
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
