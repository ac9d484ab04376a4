#!/usr/bin/env python3
"""The man pages say what the programs do: options both ways, commands, defaults, exit statuses,
names of files, words of JSON.

Usage: check.py check|planted WORDS     WORDS prints the tables of words (tests/schema/words.c)

GPUOBJ and GPUOBJFS name the programs; without the latter its page is not judged.
"""

import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))

# Options of libfuse and mount(8) that the page of the mount explains and its help leaves to them.
OTHERS = {"setuid"}


def output(*command):
    return subprocess.check_output(command, text=True, stdin=subprocess.DEVNULL,
                                   env=dict(os.environ, TMPDIR="/var/tmp"))


class Help:
    """What a program says of itself."""

    def __init__(self, program):
        text = output(program, "--help")
        self.commands = re.findall(r"^    ([a-z]+) +[A-Z]", text, re.M)
        texts = [text] + [output(program, c, "--help") for c in self.commands]
        self.usages = dict(re.findall(r"^usage: gpuobj (\w+) (.*)$", "\n".join(texts), re.M))
        self.options = set()
        for one in texts:
            for short, long in re.findall(r"^    (-[^ ,\n]+)(?:, (--[^ \n]+))?", one, re.M):
                self.options.update({short, long} - {""})
        # name: default as it is shown
        listed = output(program, "--help", "options")
        self.settings = dict(re.findall(r"^    ([a-z]\w*)(?:=[A-Z]+)? .*?(?:\((\w+)\))?$", listed, re.M))
        if len(self.settings) < 15:
            sys.exit("%s --help: too few options were understood" % program)


class Page:
    """A man page in mdoc."""

    def __init__(self, text):
        self.text = text
        self.sections = dict(re.findall(r"^\.Sh (.*)\n((?:(?!\.Sh ).*\n)*)", text, re.M))
        self.words = set(re.findall(r"^\.(?:It )?(?:Ql|Cm|Pa) (\S+)", text, re.M))
        self.options = set()
        for line in re.findall(r"^\..*$", text, re.M):
            for word in re.findall(r"\bFl ([^ ,]+)", line):
                self.options.update(["-" + word] if word[0] == "-" else ["-" + c for c in word])
        self.settings = dict(re.findall(
            r"^\.It Cm (\w+)(?: Ns = Ns Ar \w+)?\n((?:(?!\.It |\.El).*\n)*)", text, re.M))
        # Those that are only named, in a list.
        self.named = set()
        for line in re.findall(r"^\.Cm (\w+(?: , \w+)+) [.,]$", text, re.M):
            self.named.update(line.split(" , "))

    def synopsis(self, command):
        """The options of its own that the synopsis gives a command."""
        options = set()
        for block in self.sections.get("SYNOPSIS", "").split(".Nm\n"):
            if "\n.Cm %s\n" % command not in block:
                continue
            for word in re.findall(r"^\.Op Fl (\S+)", block, re.M):
                options.update(["-" + word] if word[0] == "-" else ["-" + c for c in word])
        return options - {"-o"}


def usage_options(usage):
    options = set()
    for word in re.findall(r"\[(-[^] ]+)", usage):
        options.update([word] if word[:2] == "--" else ["-" + c for c in word[1:]])
    return options


def differences(page, program, tables, schema_paths):
    """Everything in which page and program differ, a sentence each."""
    said = Page(page)
    told = Help(program)
    name = os.path.basename(program)

    for option in sorted(told.options - said.options):
        yield "%s: the page lacks %s" % (name, option)
    for option in sorted(said.options - told.options):
        yield "%s: the help lacks %s" % (name, option)
    settings = {k for k in said.settings if k not in told.commands}
    for option in sorted(set(told.settings) - settings - said.named):
        yield "%s: the page lacks -o %s" % (name, option)
    for option in sorted(settings - set(told.settings) - OTHERS):
        yield "%s: the help lacks -o %s" % (name, option)
    for option, default in told.settings.items():
        body = said.settings.get(option)
        if default and body and "(%s)" % default not in body:
            yield "%s: the page has another default of -o %s than %s" % (name, option, default)
    for command in told.commands:
        for section in ("SYNOPSIS", "DESCRIPTION"):
            macro = r"^\.(It )?Cm %s\b" % command
            if not re.search(macro, said.sections.get(section, ""), re.M):
                yield "%s: %s of the page lacks %s" % (name, section, command)
        shown, usage = said.synopsis(command), usage_options(told.usages[command])
        if not usage <= shown or not shown <= told.options:
            yield "%s: SYNOPSIS of %s has %s" % (name, command, sorted(shown))
    with open(os.path.join(ROOT, "fs", "internal.h"), encoding="utf-8") as f:
        statuses = set(re.findall(r"GFS_EXIT_\w+ = (\d)", f.read()))
    shown = set(re.findall(r"^\.It (\d)$", said.sections.get("EXIT STATUS", ""), re.M))
    if shown != statuses:
        yield "%s: exit statuses %s, the page has %s" % (name, sorted(statuses), sorted(shown))
    if name != "gpuobjfs":
        return
    for table, words in tables.items():
        for word in words:
            if word not in said.words:
                yield "%s: the page lacks the word %s (%s)" % (name, word, table)
    for path in schema_paths:
        last = path.replace("*.json", "*").split("/")[-1]
        if last != "*" and last not in page:
            yield "%s: the page lacks the file %s" % (name, path)


# Vocabularies of the JSON files outside /queues, which docs/queues.md has.
TABLES = ("format", "vendor", "container_kind", "object_kind", "codec", "target_kind", "target_class",
          "space", "place_kind", "problem_code", "representation", "inspection_state",
          "consistency", "payload_target_kind", "object_verdict", "outcome", "how")


def tables_of(program):
    tables = {}
    for line in output(program).splitlines():
        table, word = line.split()[:2]
        if table in TABLES:
            tables.setdefault(table, []).append(word)
    if set(tables) != set(TABLES):
        sys.exit("%s does not print all tables" % program)
    return tables


def read(name):
    with open(os.path.join(ROOT, "docs", name), encoding="utf-8") as f:
        return f.read()


def pages():
    """(file name, program)"""
    yield "gpuobj.1", os.environ["GPUOBJ"]
    if os.access(os.environ["GPUOBJFS"], os.X_OK):
        yield "gpuobjfs.1", os.environ["GPUOBJFS"]


def formatting(path):
    """What the formatters complain of."""
    commands = [["groff", "-ww", "-mdoc", "-Tutf8", "-z", path],
                ["mandoc", "-T", "lint", "-W", "warning", path]]
    for command in commands:
        if not shutil.which(command[0]):
            print("note: %s is not installed" % command[0])
            continue
        run = subprocess.run(command, capture_output=True, text=True)
        for line in (run.stdout + run.stderr).splitlines():
            if "outdated mandoc.db" not in line:
                yield line


def check(tables, paths):
    bad = 0
    for name, program in pages():
        for fault in list(differences(read(name), program, tables, paths)) + list(
                formatting(os.path.join(ROOT, "docs", name))):
            bad += 1
            print("FAIL: " + fault)
    print("%d faults" % bad)
    return bad == 0


# (page, what is replaced, by what, a part of the fault that must be seen then)
PLANTED = [
    ("gpuobj.1", "Fl -sample", "Fl -example", "page lacks --sample"),
    ("gpuobj.1", ".It Fl -sample\n", ".It Fl -example\n", "help lacks --example"),
    ("gpuobj.1", ".Op Fl lR\n", ".Op Fl l\n", "SYNOPSIS of ls"),
    ("gpuobj.1", ".It Cm cache Ns", ".It Cm cash Ns", "page lacks -o cache"),
    ("gpuobj.1", ".It Cm cache Ns", ".It Cm cash Ns", "help lacks -o cash"),
    ("gpuobj.1", "queue_max ,", "", "page lacks -o queue_max"),
    ("gpuobj.1", "(256M)", "(128M)", "another default of -o cache"),
    ("gpuobj.1", ".It Cm tree\n", ".It Cm trees\n", "DESCRIPTION of the page lacks tree"),
    ("gpuobj.1", ".It 4\n", ".It 5\n", "exit statuses"),
    ("gpuobjfs.1", ".It Cm ro\n", ".It Cm rw\n", "page lacks -o ro"),
    ("gpuobjfs.1", ".Ql offload_arch", ".Ql offload", "lacks the word offload_arch"),
    ("gpuobjfs.1", "kernels.jsonl", "kernels.json", "lacks the file"),
]


def planted(tables, paths):
    programs = dict(pages())
    missed, tried = 0, 0
    for name, before, after, expected in PLANTED:
        if name not in programs:
            continue
        tried += 1
        page = read(name)
        changed = page.replace(before, after)
        faults = list(differences(changed, programs[name], tables, paths))
        if changed == page or not any(expected in fault for fault in faults):
            missed += 1
            print("FAIL: not seen: %s: %r for %r: %s" % (name, after, before, faults))
    print("%d planted, %d not seen" % (tried, missed))
    return missed == 0


def main(arguments):
    if len(arguments) != 2 or arguments[0] not in ("check", "planted"):
        sys.exit(__doc__)
    tables = tables_of(arguments[1])
    paths = re.findall(r"^\| (?:each line of )?`([^`]+)` \| `", read("schema/README.md"), re.M)
    paths = [path for path in paths if not path.startswith("queues/")]
    return 0 if {"check": check, "planted": planted}[arguments[0]](tables, paths) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
