"""The schemas of docs/schema, made ready once, and the table that says what they are for."""

import fnmatch
import json
import os
import re
import sys

try:
    import jsonschema
except ImportError:
    # Debian's package is of Debian's python alone.
    if sys.executable != "/usr/bin/python3" and os.path.exists("/usr/bin/python3"):
        os.execv("/usr/bin/python3", ["/usr/bin/python3"] + sys.argv)
    print("SKIP: python3-jsonschema is not installed")
    sys.exit(77)

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FOLDER = os.path.join(ROOT, "docs", "schema")
SHARED = "defs.schema.json"
ROW = re.compile(r"^\| (each line of )?`([^`]+)` \| `([^`]+)` \|$")


def load(name):
    with open(os.path.join(FOLDER, name), encoding="utf-8") as f:
        return json.load(f)


def inlined(node):
    """References to the shared file, turned into ones inside the schema: no validator need
    know where files are."""
    if isinstance(node, dict):
        return {k: v[len(SHARED):] if k == "$ref" and v.startswith(SHARED + "#") else inlined(v)
                for k, v in node.items()}
    if isinstance(node, list):
        return [inlined(v) for v in node]
    return node


def validator(name):
    schema = inlined(load(name))
    own = schema.setdefault("$defs", {})
    for key, value in load(SHARED)["$defs"].items():
        if name != SHARED and key in own:
            sys.exit("%s: $defs/%s is in %s, too" % (name, key, SHARED))
        own[key] = value
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def parse(text):
    """(value, keys that one object has twice)"""
    twice = []

    def pairs(items):
        value = dict(items)
        if len(value) != len(items):
            twice.extend(k for k, _ in items if sum(k == other for other, _ in items) > 1)
        return value

    def refuse(word):
        raise ValueError("%s is no JSON" % word)

    return json.loads(text, object_pairs_hook=pairs, parse_constant=refuse), twice


class Schemas:
    """rows: (path pattern, by line, schema) of docs/schema/README.md."""

    def __init__(self):
        with open(os.path.join(FOLDER, "README.md"), encoding="utf-8") as f:
            found = [ROW.match(line) for line in f]
        self.rows = [(m[2], bool(m[1]), m[3]) for m in found if m]
        self.validators = {name: validator(name) for name in {row[2] for row in self.rows}}
        self.seen = set()
        self.used = set()
        self.count = 0

    def row(self, path):
        """The one row of a path, None where there is none. '*' stands for one component."""
        parts = path.split("/")
        rows = [row for row in self.rows if row[0].count("/") == len(parts) - 1 and all(
            fnmatch.fnmatchcase(part, pattern) for part, pattern in zip(parts, row[0].split("/")))]
        if len(rows) > 1:
            raise ValueError("%s has more than one row in docs/schema/README.md" % path)
        return rows[0] if rows else None

    def fault(self, name, text):
        """What is wrong with one JSON text, None if nothing. Equal texts are judged once."""
        if (name, text) in self.seen:
            return None
        try:
            value, twice = parse(text)
        except ValueError as e:
            return str(e)
        if twice and name != "metadata.schema.json":
            return "the key %s is there twice" % twice[0]
        for error in self.validators[name].iter_errors(value):
            return "%s at /%s" % (error.message[:300], "/".join(map(str, error.absolute_path)))
        self.seen.add((name, text))
        return None

    def faults(self, path, data):
        """Judges the file at a path of the tree."""
        row = self.row(path)
        if not row:
            return ["no row of docs/schema/README.md is for it"] if ".json" in path else []
        self.used.add(row)
        self.count += 1
        text = data.decode("utf-8")
        texts = text.splitlines() if row[1] else [text]
        return [fault for fault in (self.fault(row[2], t) for t in texts) if fault]

    def tree_faults(self, top, every=True):
        """(path, fault) of all files below a copy of a tree, or a mount; or of its first and its
        last device alone."""
        for folder, inner, names in os.walk(top):
            inner.sort()
            if not every and folder == os.path.join(top, "devices"):
                del inner[1:-1]
            for name in sorted(names):
                full = os.path.join(folder, name)
                path = os.path.relpath(full, top)
                if ".json" not in name and not self.row(path):
                    continue
                with open(full, "rb") as f:
                    for fault in self.faults(path, f.read()):
                        yield path, fault
