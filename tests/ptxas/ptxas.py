#!/usr/bin/env python3
"""Compares the rules for PTX (docs/devices.md) with what ptxas takes.

Usage: ptxas.py JUDGE_TARGET. Opt-in: tests/run.sh --ptxas. JUDGE_TARGET is
tests/decode/judge_target.c, built; PTXAS names another ptxas than the one in PATH or in
/usr/local/cuda/bin.

Every .target is offered to every -arch that this ptxas has, in a text of the newest PTX version
that it knows, so that the version does not decide. A device stands for each -arch of its number
(sm_103, sm_103a, sm_103f): it must be one that ptxas takes the target for exactly where the rule
says "jit". One line a pair, "ok NAME", "FAIL NAME" or "skip NAME"; exit 1 after a FAIL.
"""

import concurrent.futures
import os
import re
import shutil
import subprocess
import sys
import tempfile

# What a .target can be, beside the names that this ptxas has as -arch itself.
OLD_TARGETS = "20 30 32 35 37 50 52 53 60 61 62 70 72 101 101a 101f 107 107a 107f".split()

# (target, device): where ptxas says more than the rule does, and why that is so.
EXCEPTIONS = {
    ("101a", "110"): ("maybe", "ptxas takes the old name of 110a; no driver was asked"),
}

TEXT = ".version %s\n.target sm_%s\n.address_size 64\n.visible .entry k()\n{\n\tret;\n}\n"


def find_ptxas():
    return os.environ.get("PTXAS") or shutil.which(
        "ptxas", path=os.environ.get("PATH", "") + ":/usr/local/cuda/bin")


class Ptxas:
    def __init__(self, program, folder):
        self.program = program
        self.folder = folder
        text = self.run(["--help"]).stdout
        self.archs = sorted(set(re.findall(r"'sm_(\d+[af]?)'", text)), key=order)
        said = self.assemble(self.write("version", "99.9", "90"), "90").stderr
        match = re.search(r"current version is '(\d+\.\d+)'", said)
        self.version = match[1] if match else None

    def run(self, arguments):
        return subprocess.run([self.program] + arguments, capture_output=True, text=True,
                              check=False)

    def write(self, name, version, target):
        path = os.path.join(self.folder, name + ".ptx")
        with open(path, "w", encoding="ascii") as out:
            out.write(TEXT % (version, target))
        return path

    def assemble(self, path, arch):
        return self.run(["-arch", "sm_" + arch, path, "-o", os.devnull])

    def takes(self, path, arch):
        """True, False, or None: it does not know the target at all."""
        ran = self.assemble(path, arch)
        said = ran.stdout + ran.stderr
        if "Unsupported .target" in said:
            return None
        if ran.returncode and not re.search(r"\.target", said):
            raise RuntimeError("ptxas -arch sm_%s %s: %s" % (arch, path, said.strip()))
        return ran.returncode == 0


def order(name):
    return int(name.rstrip("af")), name


def number(name):
    return name.rstrip("af")


def grid(ptxas, targets):
    """{(target, arch): taken}"""
    paths = {t: ptxas.write(t, ptxas.version, t) for t in targets}
    pairs = [(t, a) for t in targets for a in ptxas.archs]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return dict(zip(pairs, pool.map(lambda p: ptxas.takes(paths[p[0]], p[1]), pairs)))


def rules(judge, pairs):
    lines = "".join("compute_%s sm_%s\n" % pair for pair in pairs)
    out = subprocess.run([judge], input=lines, capture_output=True, text=True, check=True).stdout
    return dict(zip(pairs, (line.split()[0] for line in out.splitlines())))


def verdict(taken, target, arch, rule):
    """None: they agree; else what is wrong."""
    device = number(arch)
    wanted = EXCEPTIONS.get((target, device), ("jit", ""))[0]
    if taken[target, arch]:
        return None if rule == wanted else "ptxas takes it, the rule says %s" % rule
    if rule == "no":
        return None
    # A target with a suffix is not for each -arch of the device that runs it, but for one.
    siblings = any(taken[target, a] for a in ptxas_archs(taken, device))
    if rule == wanted and siblings and target != number(target):
        return None
    return "ptxas refuses it, the rule says %s" % rule


def ptxas_archs(taken, device):
    return {a for _, a in taken if number(a) == device}


def compare(ptxas, judge):
    targets = sorted(set(OLD_TARGETS) | set(ptxas.archs), key=order)
    taken = grid(ptxas, targets)
    rule = rules(judge, sorted({(t, number(a)) for t, a in taken}))
    failed = False
    for target in targets:
        if all(taken[target, a] is None for a in ptxas.archs):
            print("skip compute_%s: this ptxas does not know it" % target)
            continue
        for arch in ptxas.archs:
            wrong = verdict(taken, target, arch, rule[target, number(arch)])
            name = "compute_%s on sm_%s" % (target, arch)
            print("FAIL %s: %s" % (name, wrong) if wrong else "ok " + name)
            failed |= wrong is not None
    for target, device in EXCEPTIONS:
        if not any(taken.get((target, a)) for a in ptxas_archs(taken, device)):
            print("skip the exception of compute_%s on sm_%s: ptxas does not take it"
                  % (target, device))
    return failed


def main():
    program = find_ptxas()
    if not program:
        print("skip all of it: no ptxas")
        return 0
    try:
        with tempfile.TemporaryDirectory() as folder:
            ptxas = Ptxas(program, folder)
            if not ptxas.version or not ptxas.archs:
                raise RuntimeError("ptxas does not say its PTX version or its names")
            return 1 if compare(ptxas, sys.argv[1]) else 0
    except (OSError, RuntimeError, subprocess.SubprocessError) as why:
        print("FAIL to compare: %s" % why)  # run.sh counts lines
        return 1


if __name__ == "__main__":
    sys.exit(main())
