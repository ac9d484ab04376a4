#!/usr/bin/env python3
"""Compares a tree (a mount, or a copy made by gpuobj) with the truth.

Usage: compare.py [OPTIONS] TREE
  --artifact FILE        the truth is what extract.py finds in FILE; bytes are compared too
  --manifest DIR NAME    the truth is what DIR's MANIFEST.md states about NAME (cuda/host/t1.o)
  --inventory FILE       the truth is a JSON document as extract.py prints it
  --faulty               the artifact has faults: compare only entries that are whole
  --quick                compare no payload bytes

Prints every difference, one a line; exit 1 when there is one, 2 when used wrongly.
"""

import argparse
import hashlib
import json
import os
import sys

import extract
import manifest

ARTIFACT_KEYS = "name size sha256 format containers objects targets inventory".split()
OBJECT_KEYS = ("vendor target target_kind target_raw kind codec codec_flags payload_size "
               "inspection").split()
LOCATION_KEYS = "id container entry_index space header encoded artifact_range around uri".split()
PROBLEM_KEYS = ["code", "offset", "field", "message"]
BLOCK = 1 << 20


class Report:
    def __init__(self):
        self.lines = 0

    def say(self, where, text):
        print("%s: %s" % (where, text))
        self.lines += 1

    def equal(self, where, key, got, want):
        if got != want:
            self.say(where, "%s: tree %r, truth %r" % (key, got, want))


def escape_name(name):
    """A directory name as design says: %XX for what is not plain, cut with a digest."""
    raw = name.encode("utf-8", "surrogateescape")
    if not raw:
        return "%"
    units = ["%%%02X" % b if b < 0x20 or b > 0x7E or b in b"/%~" else chr(b)
             for b in raw]
    if name in (".", ".."):
        units = ["%2E"] * len(raw)
    text = "".join(units)
    if len(text) <= 200:
        return text
    kept = ""
    for unit in units:
        if len(kept) + len(unit) > 180:
            break
        kept += unit
    return kept + "~" + hashlib.sha256(raw).hexdigest()[:16]


def number(value):
    """An integer that may be written "0x..."."""
    if isinstance(value, str):
        try:
            return int(value, 16) if value.startswith("0x") else int(value)
        except ValueError:
            return value
    return value


def digest(path):
    h = hashlib.sha256()
    with open(path, "rb") as f:
        while True:
            block = f.read(BLOCK)
            if not block:
                return h.hexdigest()
            h.update(block)


def in_order(keys, wanted):
    keys = list(keys)
    return keys[:len(wanted)] == wanted


class Tree:
    def __init__(self, root, report):
        self.root = root
        self.report = report

    def path(self, *parts):
        return os.path.join(self.root, *parts)

    def json(self, *parts):
        name = "/".join(parts)
        try:
            with open(self.path(*parts), "rb") as f:
                text = f.read()
            value = json.loads(text)
        except (OSError, ValueError) as e:
            self.report.say(name, "not readable as JSON: %s" % e)
            return None
        if not text.endswith(b"\n"):
            self.report.say(name, "no newline at the end")
        return value

    def ids(self, name):
        """The directory names under it in order, checked to be what ids are."""
        try:
            names = sorted(os.listdir(self.path(name)))
        except OSError as e:
            self.report.say(name, str(e))
            return []
        width = max(5, len(str(len(names) - 1))) if names else 5
        want = ["%0*d" % (width, i) for i in range(len(names))]
        if names != want:
            self.report.say(name, "ids are not 0 to %d in %d digits: %s..."
                            % (len(names) - 1, width, " ".join(names[:5])))
        return names


def check_problems(report, where, problems):
    if not isinstance(problems, list):
        report.say(where, "problems is no list")
        return
    for p in problems:
        if not in_order(p, PROBLEM_KEYS):
            report.say(where, "keys of a problem: %s" % " ".join(p))
        if p.get("code") == "hash_mismatch":
            report.say(where, "hash_mismatch, which only decoding can find")


def check_artifact(tree, truth, artifact_path, whole, healthy):
    report = tree.report
    a = tree.json("artifact.json")
    problems = tree.json("problems.json")
    if a is None or problems is None:
        return None
    where = "artifact.json"
    if not in_order(a, ARTIFACT_KEYS):
        report.say(where, "keys: %s" % " ".join(a))
    for key in ("size", "format"):
        if key in truth:
            report.equal(where, key, a.get(key), truth[key])
    if artifact_path:
        report.equal(where, "name", a.get("name"), os.path.basename(artifact_path))
        report.equal(where, "sha256", a.get("sha256"), digest(artifact_path))
    if len(str(a.get("sha256"))) != 64:
        report.say(where, "sha256 is %r" % a.get("sha256"))
    check_problems(report, "problems.json", problems)
    inventory = a.get("inventory") or {}
    if healthy and problems != []:
        report.say("problems.json", "not empty: %s" % json.dumps(problems)[:300])
    if whole:
        report.equal(where, "inventory", inventory, {"state": "complete", "reasons": []})
    elif inventory.get("state") == "partial" and not inventory.get("reasons"):
        report.say(where, "partial without reasons")
    return a


def check_container(tree, cid, truth, healthy):
    report = tree.report
    where = "containers/%s/container.json" % cid
    c = tree.json("containers", cid, "container.json")
    if c is None:
        return None
    for key in ("kind", "offset", "size", "entries", "decoded_size"):
        if key in truth:
            report.equal(where, key, number(c.get(key)), truth[key])
    if "hash" in truth:
        report.equal(where, "hash", number(c.get("hash")), truth["hash"])
    if healthy:
        report.equal(where, "problems", c.get("problems"), [])
    around = c.get("around")
    check_around(report, where, around, number(c.get("offset")), number(c.get("size")))
    if truth.get("section"):
        names = [p.get("name") for p in around or [] if p.get("kind") == "section"]
        if names[-1:] != [truth["section"]]:
            report.say(where, "around: sections %r, truth %r" % (names, truth["section"]))
    return c


def check_around(report, where, around, offset, size):
    if not isinstance(around, list):
        report.say(where, "around is no list")
        return
    outer = None
    for p in around:
        if list(p) != ["kind", "name", "offset", "size"]:
            report.say(where, "keys of a place: %s" % " ".join(p))
            return
        start, end = number(p["offset"]), number(p["offset"]) + number(p["size"])
        if outer and (start < outer[0] or end > outer[1]):
            report.say(where, "around is not outermost first")
        outer = (start, end)
    if outer and not (outer[0] <= offset and offset + min(size, 1) <= outer[1]):
        report.say(where, "the innermost place does not hold it")


def stored_bytes_differ(path, data, offset, size):
    """True when the file is not exactly data[offset:offset+size]."""
    if os.stat(path).st_size != size:
        return True
    with open(path, "rb") as f:
        while size:
            block = f.read(min(BLOCK, size))
            if not block or block != data[offset:offset + len(block)]:
                return True
            offset += len(block)
            size -= len(block)
    return False


def check_object(tree, oid, cid, index, truth, options, data):
    """True when the truth can speak about it; the object's target is returned beside."""
    report = tree.report
    where = "objects/%s" % oid
    o = tree.json("objects", oid, "object.json")
    loc = tree.json("objects", oid, "location.json")
    if o is None or loc is None:
        return None
    if not in_order(o, OBJECT_KEYS) or "problems" not in o:
        report.say(where, "keys of object.json: %s" % " ".join(o))
    if not in_order(loc, LOCATION_KEYS):
        report.say(where, "keys of location.json: %s" % " ".join(loc))
    report.equal(where, "inspection", o.get("inspection"), "unexamined")
    report.equal(where, "id", loc.get("id"), oid)
    report.equal(where, "container", loc.get("container"), cid)
    report.equal(where, "entry_index", loc.get("entry_index"), index)
    for key in ("vendor", "target", "target_kind", "target_raw", "codec", "payload_size",
                "entry_kind", "identifier", "options", "scrambled"):
        if key in truth and (key in o or key not in ("target_raw", "scrambled")):
            if key in ("target_raw",) and o.get(key) is None and not truth[key]:
                continue
            report.equal(where, key, number(o.get(key)) if key == "payload_size" else o.get(key),
                         truth[key])
    if truth.get("kind") == "device":
        if o.get("kind") in ("host", "cubin", "ptx"):
            report.say(where, "kind: tree %r, truth: a device entry" % o.get("kind"))
    elif "kind" in truth:
        report.equal(where, "kind", o.get("kind"), truth["kind"])
    if "codec_flags" in truth:
        report.equal(where, "codec_flags", number(o.get("codec_flags")), truth["codec_flags"])
    if "version" in truth:
        report.equal(where, "version", o.get("version"), "%d.%d" % tuple(truth["version"]))
    if "space" in truth:
        report.equal(where, "space", loc.get("space"), truth["space"])
    for key in ("header", "encoded"):
        if key in truth:
            got = loc.get(key) or {}
            report.equal(where, key, [number(got.get("offset")), number(got.get("size"))],
                         truth[key])
    check_range(report, where, loc)
    if "fault" not in truth and truth.get("payload") and o.get("problems"):
        report.say(where, "problems: %s" % json.dumps(o["problems"])[:200])
    check_problems(report, where, o.get("problems"))
    check_bytes(tree, oid, o, loc, truth, options, data)
    return o


def check_range(report, where, loc):
    around, uri, r = loc.get("around"), loc.get("uri"), loc.get("artifact_range") or {}
    start, size = number(r.get("offset")), number(r.get("size"))
    if not isinstance(start, int) or not isinstance(size, int):
        report.say(where, "artifact_range: %r" % (r,))
        return
    check_around(report, where, around, start, size)
    if uri is not None and not str(uri).endswith("#offset=%d&size=%d" % (start, size)):
        report.say(where, "uri %r is not artifact_range %d, %d" % (uri, start, size))
    if loc.get("space") == "artifact":
        got = loc.get("encoded") or {}
        inner = number(got.get("offset")), number(got.get("offset")) + number(got.get("size"))
        if inner[0] < start or inner[1] > start + size:
            report.say(where, "encoded is not inside artifact_range")


def check_bytes(tree, oid, o, loc, truth, options, data):
    report = tree.report
    where = "objects/%s" % oid
    payload = tree.path("objects", oid, "payload")
    encoded = tree.path("objects", oid, "encoded")
    compressed = o.get("codec") != "none" and loc.get("space") == "artifact"
    if os.path.exists(encoded) != compressed:
        report.say(where, "encoded %s" % ("is missing" if compressed else "should not be there"))
    elif compressed and "encoded" in truth:
        size = os.stat(encoded).st_size
        report.equal(where, "size of encoded", size, truth["encoded"][1])
        if data is not None and not options.quick:
            if stored_bytes_differ(encoded, data, *truth["encoded"]):
                report.say(where, "encoded has other bytes than the artifact")
    if "payload" not in truth:
        return
    there = os.path.exists(payload)
    if there != truth["payload"]:
        report.say(where, "payload %s" % ("is missing" if truth["payload"]
                                          else "should not be there"))
        return
    if not there:
        if not o.get("problems") and not o.get("scrambled"):
            report.say(where, "no payload and no problem that says why")
        return
    if "payload_size" in truth:
        report.equal(where, "size of payload", os.stat(payload).st_size, truth["payload_size"])
    if options.quick or "sha256" not in truth:
        return
    try:
        got = digest(payload)
    except OSError as e:
        if truth["sha256"] is not None:
            report.say(where, "payload: %s" % e.strerror)
        return
    if truth["sha256"] is None:
        report.say(where, "payload does not decode, yet it can be read")
    else:
        report.equal(where, "sha256 of payload", got, truth["sha256"])


def check_hash(tree, oid, container, options):
    """Whether the examination says that the container's hash is wrong, and only then."""
    if options.quick or container.get("true_hash") is None:
        return
    where = "objects/%s/inspect" % oid
    inspection = tree.json("objects", oid, "inspect", "inspection.json") or {}
    wrong = container["hash"] != container["true_hash"]
    said = [(p.get("offset"), p.get("field")) for p in inspection.get("problems", [])
            if p.get("code") == "hash_mismatch"]
    tree.report.equal(where, "hash_mismatch", said,
                      [(container["hash_at"], "hash")] if wrong else [])


def check_targets(tree, by_target):
    report = tree.report
    try:
        names = sorted(os.listdir(tree.path("targets")))
    except OSError as e:
        report.say("targets", str(e))
        return
    want = {escape_name(t): t for t in by_target}
    for name in sorted(set(names) ^ set(want)):
        report.say("targets/%s" % name, "only in the %s" % ("tree" if name in names else "objects"))
    for name in sorted(set(names) & set(want)):
        where = "targets/%s" % name
        t = tree.json("targets", name, "target.json")
        try:
            with open(tree.path("targets", name, "objects")) as f:
                listed = f.read().split("\n")
        except OSError as e:
            report.say(where, str(e))
            continue
        if listed[-1:] != [""]:
            report.say(where, "objects: no newline at the end")
        report.equal(where, "objects", listed[:-1], by_target[want[name]])
        if t is not None:
            report.equal(where, "target", t.get("target"), want[name])
            report.equal(where, "count", t.get("objects"), len(by_target[want[name]]))


def compare_healthy(tree, truth, options, data, whole, healthy):
    """whole: no faults. healthy: also every payload can be shown, so nothing is said."""
    report = tree.report
    a = check_artifact(tree, truth, options.artifact, whole, healthy)
    cids, oids = tree.ids("containers"), tree.ids("objects")
    report.equal("containers", "number", len(cids), len(truth["containers"]))
    report.equal("objects", "number", len(oids), sum(len(c["objects"]) for c in truth["containers"]))
    by_target = {}
    at = 0
    for cid, c in zip(cids, truth["containers"]):
        check_container(tree, cid, c, healthy and "fault" not in c)
        for index, e in enumerate(c["objects"]):
            if at >= len(oids):
                break
            o = check_object(tree, oids[at], cid, index, e, options, data)
            check_hash(tree, oids[at], c, options)
            if o is not None and o.get("target") is not None:
                by_target.setdefault(o["target"], []).append(oids[at])
            at += 1
    check_targets(tree, by_target)
    if a is not None:
        report.equal("artifact.json", "counts",
                     [a.get("containers"), a.get("objects"), a.get("targets")],
                     [len(cids), len(oids), len(by_target)])


def compare_faulty(tree, truth, options, data):
    """What is whole in a broken file must be there, wherever the fault moved its id."""
    report = tree.report
    check_artifact(tree, truth, options.artifact, False, False)
    cids = {}
    for cid in tree.ids("containers"):
        c = tree.json("containers", cid, "container.json")
        if c is not None:
            cids[cid] = c
    places = {}
    for oid in tree.ids("objects"):
        loc = tree.json("objects", oid, "location.json")
        if loc is not None:
            places[(loc["space"], number(loc["encoded"]["offset"]),
                    number(loc["encoded"]["size"]), loc["container"], loc["entry_index"])] = oid
    for c in truth["containers"]:
        for index, e in enumerate(c["objects"]):
            if "fault" in e or "encoded" not in e:
                continue
            found = [(key, oid) for key, oid in places.items()
                     if key[:3] == (e.get("space", "artifact"),) + tuple(e["encoded"])
                     and key[4] == index]
            if not found:
                report.say("entry at %d" % e["encoded"][0], "whole, and not in the tree")
                continue
            key, oid = found[0]
            check_object(tree, oid, key[3], index, e, options, data)
            check_hash(tree, oid, c, options)


def run(arguments):
    """What the command does; 0, 1 or 2."""
    parser = argparse.ArgumentParser(add_help=True)
    parser.add_argument("--artifact")
    parser.add_argument("--manifest", nargs=2)
    parser.add_argument("--inventory")
    parser.add_argument("--faulty", action="store_true")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("tree")
    options = parser.parse_args(arguments)
    data = None
    if options.manifest:
        samples, name = options.manifest
        known = manifest.load_all(samples)
        if name not in known:
            print("compare.py: the manifest does not say what is in %s" % name)
            return 2
        truth = known[name]
    elif options.inventory:
        with open(options.inventory) as f:
            truth = json.load(f)
    elif options.artifact:
        truth = extract.extract(options.artifact, payloads=not options.quick)
        data = extract.open_file(options.artifact)
    else:
        parser.error("one of --artifact, --manifest, --inventory")
    report = Report()
    tree = Tree(options.tree, report)
    faults = [c.get("fault") or e.get("fault") for c in truth["containers"]
              for e in c["objects"] or [{}] if c.get("fault") or e.get("fault")]
    absent = any(not e.get("payload", True) for c in truth["containers"] for e in c["objects"])
    if options.faulty:
        compare_faulty(tree, truth, options, data)
    else:
        compare_healthy(tree, truth, options, data, not faults, not faults and not absent)
    return 1 if report.lines else 0


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
