#!/usr/bin/env python3
"""Checks the truth against itself: extract.py equals the MANIFEST where both speak.

Usage: selfcheck.py SAMPLES

Every file of SAMPLES/{cuda,amd} that a MANIFEST describes and that exists is read. Prints
each difference; exit 1 when there is one, or when nothing was compared.
"""

import os
import sys

import extract
import manifest


def differences(name, found, stated):
    """Lines; keys that one side lacks are not compared."""
    out = []

    def both(where, a, b):
        for key in sorted(set(a) & set(b)):
            if key in ("containers", "objects") or key.startswith("_"):
                continue
            if a[key] != b[key]:
                out.append("%s: %s: extract %r, manifest %r" % (where, key, a[key], b[key]))

    both(name, found, stated)
    if len(found["containers"]) != len(stated["containers"]):
        out.append("%s: containers: extract %d, manifest %d"
                   % (name, len(found["containers"]), len(stated["containers"])))
        return out
    for i, (c, s) in enumerate(zip(found["containers"], stated["containers"])):
        where = "%s: container %d" % (name, i)
        both(where, c, s)
        if len(c["objects"]) != len(s["objects"]):
            out.append("%s: entries: extract %d, manifest %d"
                       % (where, len(c["objects"]), len(s["objects"])))
            continue
        for k, (e, t) in enumerate(zip(c["objects"], s["objects"])):
            both("%s entry %d" % (where, k), e, t)
    return out


def main(argv):
    if len(argv) != 1:
        sys.stderr.write(__doc__)
        return 2
    samples = argv[0]
    stated = manifest.load_all(samples)
    compared = entries = bad = 0
    for name in sorted(stated):
        path = os.path.join(samples, name)
        if not os.path.exists(path):
            continue
        found = extract.extract(path)
        lines = differences(name, found, stated[name])
        for c in found["containers"]:
            for e in c["objects"]:
                if "fault" in e:
                    lines.append("%s: %s" % (name, e["fault"]))
        for line in lines:
            print(line)
        bad += bool(lines)
        compared += 1
        entries += sum(len(c["objects"]) for c in found["containers"])
    print("%d files with %d entries compared, %d differ" % (compared, entries, bad))
    return 1 if bad or not compared else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
