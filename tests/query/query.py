#!/usr/bin/env python3
"""Asks gpuobj query and compares what it answers with the files of the tree.

Usage: query.py rows        rows of every collection equal the files, for every sample
       query.py pages       pages of 1, 7 and 1000 rows are the whole, for every sample
       query.py refusals    what is refused: one sentence, status 2, nothing on stdout
       query.py digest      no payload is decoded for the inventory, or for another digest
       query.py lines       programs that write lines to one file do not mix them
       query.py fleet       the batches of docs/fleet.md have all objects (needs jq)
       query.py schema      requests and answers are as docs/schema says (needs jsonschema)

GPUOBJ names the program, QUERY_PAGES the one of tests/fs. GPUOBJFS_EVERY=1 asks for pages by more
processes.
"""

import functools
import glob
import hashlib
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
DATA = os.path.join(ROOT, "tests", "data")
COLLECTIONS = ["containers", "objects", "targets", "kernels", "problems"]
EVERY = bool(os.environ.get("GPUOBJFS_EVERY"))
ALWAYS = ["target", "target_kind", "payload_target", "payload_target_kind",
          "target_consistency", "inspection"]


def run(*arguments, stdin=b"", **options):
    return subprocess.run([os.environ["GPUOBJ"], *arguments], input=stdin, capture_output=True,
                          timeout=120, **options)


def check(condition, *what):
    if not condition:
        sys.exit("query.py: " + " ".join(str(w) for w in what))


def request(view, **members):
    return json.dumps({**members, "view": view})


def query(path, view, *options, **members):
    ran = run(*options, "query", path, request(view, **members))
    check(ran.returncode == 0, path, view, ran.returncode, ran.stderr.decode())
    check(b"jsonl" in ran.args or not ran.stderr, path, view, ran.stderr.decode())
    return json.loads(ran.stdout)


def lines(path, view, **members):
    ran = run("query", "--jsonl", path, request(view, **members))
    check(ran.returncode == 0, path, view, ran.returncode, ran.stderr.decode())
    rows = [json.loads(line) for line in ran.stdout.splitlines()]
    check(all(list(row)[0] == "artifact" for row in rows), path, "the artifact is not first")
    check(all(list(row["artifact"]) == ["name", "sha256"] for row in rows), path)
    for row in rows:
        del row["artifact"]
    return rows


def samples():
    """What can be opened of the samples; the others are refused by every command alike."""
    paths = sorted(p for p in glob.glob(DATA + "/*/*/*") if os.path.isfile(p))
    opened = [p for p in paths if run("cat", p, "/artifact.json").returncode == 0]
    check(len(opened) > 20, "only", len(opened), "samples")
    return opened


@functools.lru_cache(None)
def batch(path):
    """The members that make all objects the batch; {}: there are none."""
    page = query(path, {"collection": "objects", "fields": ["id"], "limit": 10000})
    ids = [row["id"] for row in page["rows"]]
    return {"expected_sha256": page["artifact"]["sha256"], "object_ids": ids} if ids else {}


def few(paths):
    """The last small one of each folder."""
    found = {os.path.dirname(path): path for path in paths
             if len(batch(path).get("object_ids", [])) <= 8}
    check(len(found) > 5, "only", list(found))
    return list(found.values())


# ---- rows ----------------------------------------------------------------------------------

class Tree:
    """What queries answer from, copied once."""

    PARTS = ["artifact.json", "problems.json", "containers", "objects", "targets", "inspect"]

    def __init__(self, path):
        self.dir = tempfile.TemporaryDirectory()
        run("cp", path, *self.PARTS, self.dir.name)

    def json(self, *names):
        with open(os.path.join(self.dir.name, *names), encoding="utf-8") as f:
            return json.load(f)

    def list(self, *names):
        path = os.path.join(self.dir.name, *names)
        return sorted(os.listdir(path)) if os.path.isdir(path) else []


def same(path, what, rows, files):
    check(len(rows) == len(files), path, what, len(rows), "rows,", len(files), "files")
    for row, file in zip(rows, files):
        check(row == file, path, what, "row", json.dumps(row), "file", json.dumps(file))


def unexamined(known):
    return {**known, "payload_target": None, "payload_target_kind": None,
            "payload_target_raw": None, "target_consistency": "unexamined",
            "inspection": "unexamined", "reasons": [], "representation": None,
            "payload_sha256": None, "kernel_count": None}


def examined(known, found):
    return {**known, **found, "problems": known["problems"] + found["problems"]}


def by_text(rows):
    return sorted(rows, key=lambda row: json.dumps(row, sort_keys=True))


def compare_objects(path, tree):
    ids = tree.list("objects")
    known = [{**tree.json("objects", i, "object.json"), **tree.json("objects", i, "location.json")}
             for i in ids]
    found = [tree.json("objects", i, "inspect", "inspection.json") for i in ids]
    same(path, "objects", lines(path, {"collection": "objects"}), [unexamined(k) for k in known])
    rows = [examined(k, f) for k, f in zip(known, found)]
    if ids:
        same(path, "objects examined", lines(path, {"collection": "objects"}, **batch(path)), rows)
        half = {**batch(path), "object_ids": ids[::2]}
        same(path, "every other", lines(path, {"collection": "objects"}, **half), rows[::2])
        fields = {"collection": "objects", "fields": ["codec", "id"]}
        for row, whole in zip(query(path, fields, **half)["rows"], rows[::2]):
            check(row == {k: whole[k] for k in ALWAYS + ["codec", "id"]}, path, row)
    problems = [{**p, "container": k["container"], "object": k["id"]}
                for k, row in zip(known, rows) for p in row["problems"]]
    if ids:
        same(path, "problems examined",
             by_text(lines(path, {"collection": "problems"}, **batch(path))), by_text(problems))


def compare_kernels(path, tree):
    rows = lines(path, {"collection": "kernels"})
    files = [{"object": i, **tree.json("objects", i, "inspect", "kernels", name, "kernel.json")}
             for i in tree.list("objects")
             for name in tree.list("objects", i, "inspect", "kernels")]
    same(path, "kernels", by_text(rows), by_text(files))
    check([r["object"] for r in rows] == sorted(r["object"] for r in rows), path, "order")
    for key in ("target", "registers", "args"):
        if rows:
            one = rows[-1].get(key)
            view = {"collection": "kernels",
                    "filter": {key: [one] if isinstance(one, list) else one}}
            same(path, view, lines(path, view), [r for r in rows if r.get(key) == one])


def compare_rows(path):
    tree = Tree(path)
    artifact = tree.json("artifact.json")
    page = query(path, {"collection": "targets", "limit": 10000})
    check(page["artifact"] == {k: artifact[k] for k in ("name", "size", "sha256")}, path)
    check(page["coverage"]["inventory"] == artifact["inventory"], path)
    same(path, "targets", page["rows"], [tree.json("targets", t, "target.json")
                                         for t in tree.list("targets")])
    same(path, "containers", lines(path, {"collection": "containers"}),
         [{"id": i, **tree.json("containers", i, "container.json")}
          for i in tree.list("containers")])
    same(path, "problems", lines(path, {"collection": "problems"}), tree.json("problems.json"))
    compare_objects(path, tree)
    compare_kernels(path, tree)
    report = tree.json("inspect", "report.json")["coverage"]
    page = query(path, {"collection": "kernels"})
    check({k: page["coverage"][k] for k in report} == report, path, page["coverage"], report)


def rows():
    paths = samples()
    for path in paths:
        compare_rows(path)
    print("%d artifacts" % len(paths))


# ---- pages ---------------------------------------------------------------------------------

def joined(path, view, limit, **members):
    found = []
    cursor = {}
    while True:
        page = query(path, {**view, "limit": limit, **cursor}, **members)
        found += page["rows"]
        check(len(page["rows"]) <= limit, path, view)
        check((page["next_cursor"] is None) == (len(found) == page["total"]), path, view)
        if page["next_cursor"] is None:
            return found
        check(len(page["rows"]) == limit, path, view)
        cursor = {"cursor": page["next_cursor"]}


def compare_pages(path, all_ids):
    for collection in COLLECTIONS:
        view = {"collection": collection}
        for members in ({}, all_ids):
            whole = lines(path, view, **members)
            for limit in (1, 7, 1000):
                check(joined(path, view, limit, **members) == whole, path, view, limit)


def pages():
    """All samples in one process each; a process for every page with one of every third folder,
    or of each."""
    paths = samples()
    for path in paths:
        large = len(batch(path).get("object_ids", [])) > 100
        limits = ["7", "1000"] if large else ["1", "7", "1000"]
        ran = subprocess.run([os.environ["QUERY_PAGES"], path, *limits], capture_output=True,
                             timeout=300)
        check(ran.returncode == 0, path, ran.stdout.decode(), ran.stderr.decode())
    chosen = few(paths) if EVERY else few(paths)[::3]
    for path in chosen:
        compare_pages(path, batch(path))
    print("%d artifacts, %d by processes" % (len(paths), len(chosen)))


# ---- refusals ------------------------------------------------------------------------------

def refused(status, begins, *arguments, stdin=b""):
    ran = run("query", *arguments, stdin=stdin)
    said = ran.stderr.decode(errors="replace")
    check(ran.returncode == status, arguments, stdin[:80], ran.returncode, said)
    check(ran.stdout == b"", arguments, "wrote", ran.stdout[:80])
    check(said.count("\n") == 1 and said.endswith("\n"), arguments, "not one line:", said)
    check(said.startswith("gpuobj: " + begins), arguments, stdin[:80], "said", said)


def bad_texts(good):
    view = '{"view":{"collection":"targets"%s}}'
    return [
        (b"", "request:"), (b"{", "request:"), (b"[]", "request:"), (b"\0", "request:"),
        (good + b"x", "request:"), (good + b"\0", "request:"), (good[:-1], "request:"),
        (good.replace(b"targets", b"tar\0gets"), "request:"),
        (good.replace(b"targets", b"\xff"), "view.collection: it has text with control characters"),
        ((view % ',"filter":{"kind":["x","\\u0007"]}').encode(), "view.filter.kind: it has text"),
        ((view % ',"fields":["\\u009f\\u0001"]').encode(), "view.fields: it has text"),
        ((view % ',"\\u0001":1').encode(), "view: it has text"),
        (b"[" * 100000, "request:"), (b'{"view":' * 100000, "request:"),
        (good + b" " * (5 << 20), "request:"),
        (b'{"vieW":{}}', 'request: unknown key "vieW", known are'),
        (b"{}", "view:"), (b'{"view":1}', "view:"), (b'{"view":{}}', "view.collection:"),
        (b'{"view":{"collection":"target"}}', 'view.collection: unknown collection "target"'),
        ((view % ',"limit":0').encode(), "view.limit:"),
        ((view % ',"limit":-5').encode(), "view.limit:"),
        ((view % ',"limit":1.5').encode(), "view.limit:"),
        ((view % ',"limit":1e400').encode(), "view.limit:"),
        ((view % ',"limit":18446744073709551617').encode(), "view.limit:"),
        ((view % ',"limit":"1"').encode(), "view.limit:"),
        ((view % ',"limit":1,"limit":1').encode(), "view.limit:"),
        ((view % ',"cursor":"0-0"').encode(), "view.cursor:"),
        ((view % ',"fields":["nope"]').encode(), 'view.fields: unknown key "nope"'),
        ((view % ',"filter":{"nope":1}').encode(), 'view.filter: unknown key "nope"'),
        ((view % ',"filter":{"kind":1e400}').encode(), "view.filter.kind:"),
        ((view % ',"nope":1').encode(), 'view: unknown key "nope"'),
        (b'{"object_ids":["00000"],"view":{"collection":"objects"}}', "expected_sha256:"),
    ]


def misplaced(view):
    """Texts that are no JSON: # stands where the offset is, and goes away."""
    for more, sentence in ((',"cursor":"x#\\u0000"', "it has an escaped NUL in a string"),
                           (',"cursor":"x\\\\#\x01"', "it has a control byte in a string"),
                           (',"cursor":"x#\ty"', "it has a control byte in a string"),
                           (',"limit":#01', "it has a number that is none"),
                           (',"limit":#+1', "it is no JSON"),
                           (',"cursor":"#\\ud800"', "it is no JSON"),
                           (',#\x02"limit":1', "it has a control byte"),
                           ("}}#}", "something stands behind its end")):
        text = view % more if more[0] == "," else view[:-4] + more
        text = text.encode()
        at = text.index(b"#")
        yield text.replace(b"#", b""), "request: %s, at offset %d" % (sentence, at)


def refusals():
    path = os.path.join(ROOT, "fs", "sample", "libsample.so")
    good = request({"collection": "targets"}).encode()
    for text, key in bad_texts(good):
        refused(2, "query: " + key, path, stdin=text)
        if text[:1] == b"{" and b"\0" not in text and len(text) < 100000:
            refused(2, "query: " + key, path, text)
    for text, sentence in misplaced('{"view":{"collection":"targets"%s}}'):
        refused(2, "query: " + sentence + "\n", path, stdin=text)
    sha256 = batch(path)["expected_sha256"]
    for bad in ("00013", "13", "x"):
        refused(2, 'query: object_ids: unknown id "%s", known are 00000 to 00012' % bad, path,
                request({"collection": "kernels"}, expected_sha256=sha256, object_ids=[bad]))
    places(path, good)


def places(path, good):
    """Which file is meant."""
    other = os.path.join(DATA, "cuda", "fatbin", "lz4.fatbin")
    other = other if os.path.exists(other) else samples()[0]
    named = request({"collection": "targets"}, path=path)
    whole = run("query", path, good).stdout
    check(json.loads(whole)["total"] == 11, whole)
    for arguments, stdin in (((named,), b""), ((), named.encode()), ((path, named), b""),
                             ((path,), good), ((path,), b"\n " + good + b"\n"),
                             ((path, b"\n\t " + good), b""), ((" " + named,), b"")):
        ran = run("query", *arguments, stdin=stdin)
        check(ran.stdout == whole and not ran.stderr, arguments, ran.stderr)
    with tempfile.TemporaryDirectory() as scratch:
        link = os.path.join(scratch, "link")
        os.symlink(path, link)
        check(run("query", link, named).returncode == 0, "a link to the same file")
    refused(2, "query: path:", other, named)
    refused(2, "query: path:", "--sample", named)
    refused(2, "query: path:", good)
    refused(2, "query: the request does not begin with {", path, "x")
    refused(2, "query: the artifact comes before the request", good, good)
    refused(3, "/nonexistent:", "/nonexistent", good)
    refused(3, "query: /nonexistent:", path, request({"collection": "targets"},
                                                     path="/nonexistent"))
    refused(2, "query: view.limit:", "--jsonl", path,
            request({"collection": "targets", "limit": 5}))
    refused(2, "query: view.cursor:", "--jsonl", path,
            request({"collection": "targets", "cursor": "x"}))
    refused(2, "query: expected_sha256:", "-o", "sha256=" + 64 * "0", path,
            request({"collection": "targets"}, expected_sha256=64 * "1"))


# ---- the digest ----------------------------------------------------------------------------

def bundle(payload):
    """An uncompressed bundle of one entry."""
    name = b"hipv4-amdgcn-amd-amdhsa--gfx90a"
    head = b"__CLANG_OFFLOAD_BUNDLE__" + struct.pack("<Q", 1)
    return head + struct.pack("<QQQ", 4096, len(payload), len(name)) + name + \
        bytes(4096 - len(head) - 24 - len(name)) + payload


def digest():
    """A payload finds no room in a small cache, and no file can be made for it in /proc: what
    loads it fails. Whatever succeeds, or fails otherwise, did not load it."""
    starved = ("-o", "cache=1M,tmpdir=/proc")
    with tempfile.TemporaryDirectory() as scratch:
        path = os.path.join(scratch, "one.hipfb")
        content = bundle(b"\x7fELF" + os.urandom(1 << 20))
        with open(path, "wb") as f:
            f.write(content)
        sha256 = hashlib.sha256(content).hexdigest()
        asked = {"expected_sha256": sha256, "object_ids": ["00000"]}
        for collection in COLLECTIONS:
            view = {"collection": collection}
            if collection != "kernels":
                page = query(path, view, *starved)
                check(page["coverage"]["examined"] == 0, page)
            ran = run(*starved, "query", path, request(view, **asked))
            check(ran.returncode == 1 and not ran.stdout, "loaded it:", collection, ran)
            # Another digest, or none, is the first thing that is wrong.
            view_text = request(view, **{**asked, "expected_sha256": 64 * "0"})
            ran = run(*starved, "query", path, view_text)
            check(ran.returncode == 3 and b"its sha256 is " + sha256.encode() in ran.stderr, ran)
            del_text = request(view, object_ids=["00000"])
            ran = run(*starved, "query", path, del_text)
            check(ran.returncode == 2 and b"expected_sha256" in ran.stderr, ran)
            ran = run(*starved, "query", path, request({**view, "cursor": "x"}, **asked))
            check(ran.returncode == 2 and b"view.cursor" in ran.stderr, ran)
            bad = {**asked, "object_ids": ["00001"]}
            ran = run(*starved, "query", path, request(view, **bad))
            check(ran.returncode == 2 and b"object_ids" in ran.stderr, ran)
        check(query(path, {"collection": "objects"}, **asked)["rows"][0]["payload_sha256"] ==
              hashlib.sha256(content[4096:]).hexdigest(), "the payload is the right one")


# ---- lines ---------------------------------------------------------------------------------

def lines_do_not_mix():
    path = os.path.join(ROOT, "fs", "sample", "libsample.so")
    text = request({"collection": "kernels"})
    want = run("query", "--jsonl", path, text).stdout.splitlines()
    arguments = [os.environ["GPUOBJ"], "query", "--jsonl", path, text]
    copies = 24
    with tempfile.TemporaryDirectory() as scratch:
        name = os.path.join(scratch, "all")
        writers = [subprocess.Popen(arguments, stdout=open(name, "ab")) for _ in range(copies)]
        check(all(w.wait() == 0 for w in writers), "a writer failed")
        with open(name, "rb") as f:
            got = f.read().splitlines()
    check(sorted(got) == sorted(want * copies), "lines of a file mixed")
    reader, writer = os.pipe()
    writers = [subprocess.Popen(arguments, stdout=writer) for _ in range(copies)]
    os.close(writer)
    with os.fdopen(reader, "rb") as f:
        got = f.read().splitlines()
    check(all(w.wait() == 0 for w in writers), "a writer failed")
    check(max(map(len, want)) < 4096, "the lines are too long for this")
    check(sorted(got) == sorted(want * copies), "lines of a pipe mixed")
    with open("/dev/full", "wb") as full:
        ran = subprocess.run(arguments, stdout=full, stderr=subprocess.PIPE, timeout=60)
    check(ran.returncode == 1 and ran.stderr.count(b"\n") == 1, "a full disk", ran)


# ---- docs/fleet.md -------------------------------------------------------------------------

def many_objects(count, payload):
    """A bundle of count objects of one target."""
    name = b"hipv4-amdgcn-amd-amdhsa--gfx90a"
    head = b"__CLANG_OFFLOAD_BUNDLE__" + struct.pack("<Q", count)
    at = len(head) + count * (24 + len(name))
    for i in range(count):
        head += struct.pack("<QQQ", at + i * len(payload), len(payload), len(name)) + name
    return head + payload * count


def fleet():
    """The commands of the page, as they stand there but for the target."""
    if not shutil.which("jq"):
        print("SKIP: no jq")
        sys.exit(77)
    with open(os.path.join(ROOT, "docs", "fleet.md"), encoding="utf-8") as f:
        part = f.read().split("## Batches of one file")[1]
    batches, all_pages = re.findall(r"```sh\n(.*?)```", part, re.S)
    check("sm_90a" in batches, batches)
    with open(os.path.join(DATA, "amd", "co", "gfx90a_sramecc+_xnack-_v5.hsaco"), "rb") as f:
        payload = f.read()
    with tempfile.TemporaryDirectory() as scratch:
        def shell(script):
            ran = subprocess.run(["sh", "-ec", script], cwd=scratch, capture_output=True, timeout=120,
                                 env={**os.environ, "PATH": scratch + ":" + os.environ["PATH"]})
            check(ran.returncode == 0, script, ran.stderr.decode())
            return ran.stdout.splitlines()
        os.symlink(os.path.abspath(os.environ["GPUOBJ"]), os.path.join(scratch, "gpuobj"))
        path = os.path.join(scratch, "libfoo.so")
        with open(path, "wb") as f:
            f.write(many_objects(300, payload) * 4)
        want = lines(path, {"collection": "kernels"})
        check(len({row["object"] for row in want}) == 1200, len(want), "kernels")
        shell(batches.replace("sm_90a", "gfx90a"))
        with open(os.path.join(scratch, "gfx90a.jsonl"), "rb") as f:
            got = [json.loads(line) for line in f]
        check([row["object"] for row in got] == [row["object"] for row in want], len(got), "of a batch")
        check([json.loads(line) for line in shell(all_pages)] == want, "the pages")


# ---- schema --------------------------------------------------------------------------------

def schema():
    try:
        import jsonschema
    except ImportError:
        print("SKIP: no jsonschema for python3")
        sys.exit(77)

    def load(name):
        with open(os.path.join(ROOT, "docs", "schema", name), encoding="utf-8") as f:
            loaded = json.load(f)
        jsonschema.Draft202012Validator.check_schema(loaded)
        return jsonschema.Draft202012Validator(loaded)

    asks = load("query-request.json")
    answers = load("query-answer.json")
    paths = few(samples())
    for path in paths:
        for collection in COLLECTIONS:
            for members in ({}, batch(path)):
                view = {"collection": collection, "limit": 1000}
                asks.validate({**members, "view": view})
                answers.validate(query(path, view, **members))
    wrong = [{}, {"view": {}}, {"view": {"collection": "x"}}, {"x": 1},
             {"view": {"collection": "targets", "limit": 0}},
             {"view": {"collection": "targets", "limit": 10001}},
             {"view": {"collection": "targets", "fields": []}},
             {"object_ids": ["00000"], "view": {"collection": "targets"}}]
    for text in wrong:
        check(not asks.is_valid(text), "takes", text)
        refused(2, "query: ", "--sample", json.dumps(text))
    page = query(paths[0], {"collection": "objects"})
    for key in list(page):
        check(not answers.is_valid({k: v for k, v in page.items() if k != key}), "without", key)


COMMANDS = {"rows": rows, "pages": pages, "refusals": refusals, "digest": digest,
            "lines": lines_do_not_mix, "fleet": fleet, "schema": schema}


def main():
    if len(sys.argv) != 2 or sys.argv[1] not in COMMANDS:
        sys.exit(__doc__)
    COMMANDS[sys.argv[1]]()


main()
