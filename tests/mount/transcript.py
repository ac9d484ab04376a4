#!/usr/bin/env python3
"""Runs what the README shows of the sample, and compares what it prints.

Usage: transcript.py README MOUNTPOINT    --sample is mounted there, in place of /mnt
"""

import grp
import os
import pwd
import re
import subprocess
import sys


def steps(text):
    """(command, output) of all transcripts."""
    for block in re.findall(r"```console\n(.*?)```", text, re.S):
        for step in re.split(r"^\$ ", block, flags=re.M)[1:]:
            command, _, output = step.partition("\n")
            yield command, output


def main(readme, mountpoint):
    with open(readme, encoding="utf-8") as f:
        shown = [(c, o) for c, o in steps(f.read())
                 if re.search(r" /mnt| --sample", c) and not re.match("gpuobjfs|fusermount3", c)]
    owner = "%s %s" % (pwd.getpwuid(os.getuid())[0], grp.getgrgid(os.getgid())[0])
    different = 0
    path = os.path.dirname(os.environ["GPUOBJ"]) + ":" + os.environ["PATH"]
    for command, wanted in shown:
        command = command.replace("/mnt", mountpoint)
        ran = subprocess.run(["sh", "-c", command], env={**os.environ, "PATH": path, "TZ": "UTC"},
                             stdout=subprocess.PIPE, text=True, timeout=60)
        # Columns of ls are as wide as the names of the owner.
        got, wanted = (re.sub(" +", " ", t) for t in (ran.stdout, wanted.replace("root root", owner)))
        if got != wanted:
            print("%s\nprints:\n%sthe README says:\n%s" % (command, got, wanted))
            different += 1
    print("%d commands" % len(shown))
    sys.exit(1 if different or len(shown) < 5 else 0)


main(*sys.argv[1:])
