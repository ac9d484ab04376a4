#!/usr/bin/env python3
"""Types at a shell in a terminal of its own, presses TAB, and reads the line that it made.

Usage: shells.py bash|zsh        GPUOBJ and GPUOBJFS name the programs
"""

import fcntl
import os
import pty
import re
import select
import shlex
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
import tty

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
COMPLETION = os.path.join(ROOT, "docs", "completion")
PATIENCE = 60  # seconds for one answer of a shell: it has hung

# What the shells read when they begin. A key, C-x C-d, writes the line to a pipe.
SETUP = {
    "bash": """
PS1=
bind 'set bell-style none'
bind 'set completion-query-items 0'
bind 'set page-completions off'
dump() { printf '%s\\0' "$READLINE_LINE" >"$PIPE"; }
bind -x '"\\C-x\\C-d": dump'
bind '"\\C-xa": insert-completions'
[ -z "$PLAIN_BREAKS" ] || COMP_WORDBREAKS=${COMP_WORDBREAKS//[:=]/}
. "$COMPLETION/gpuobj.bash"
PROMPT_COMMAND='PROMPT_COMMAND=; printf "ready\\0" >"$PIPE"'
""",
    "zsh": """
PS1=
setopt no_beep no_list_beep
LISTMAX=100000
fpath=("$COMPLETION" $fpath)
autoload -Uz compinit && compinit -u -D
zle -N dump; dump() { printf '%s\\0' "$BUFFER" >"$PIPE"; }
bindkey -e
bindkey '^X^D' dump
zle -C all-matches complete-word _generic
bindkey '^Xa' all-matches
zstyle ':completion:all-matches:*' insert true
zstyle ':completion:all-matches:*' completer _all_matches _complete
precmd() { unfunction precmd; printf 'ready\\0' >"$PIPE"; }
""",
}


class Shell:
    def __init__(self, name, folder, environment):
        self.pipe_path = os.path.join(folder, "pipe")
        os.mkfifo(self.pipe_path)
        self.pipe = os.open(self.pipe_path, os.O_RDWR)
        self.text = b""
        with open(os.path.join(folder, ".zshrc"), "w") as f:
            f.write(SETUP[name])
        arguments = {"bash": ["bash", "--noprofile", "--rcfile", f.name, "-i"],
                     "zsh": ["zsh", "-d", "-i"]}[name]
        env = dict(environment, PIPE=self.pipe_path, COMPLETION=COMPLETION, ZDOTDIR=folder,
                   TERM="dumb", LC_ALL="C")
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            # Raw, so that no key is taken by the terminal before the shell asks for it.
            tty.setraw(0)
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 200, 2000, 0, 0))
            os.execvpe(arguments[0], arguments, env)
        if self.answer() != "ready":
            sys.exit("%s does not begin: %r" % (name, self.text))

    def answer(self):
        """The next text of the pipe; what goes to the terminal meanwhile is thrown away."""
        said = b""
        while True:
            ready, _, _ = select.select([self.pipe, self.terminal], [], [], PATIENCE)
            if not ready:
                sys.exit("the shell hangs: %r" % self.text[-2000:])
            if self.terminal in ready:
                try:
                    self.text += os.read(self.terminal, 65536)
                except OSError:
                    sys.exit("the shell has ended: %r" % self.text[-2000:])
            if self.pipe in ready:
                said += os.read(self.pipe, 65536)
                if said.endswith(b"\0"):
                    return said[:-1].decode()

    def press(self, typed, keys="\t"):
        os.write(self.terminal, (typed + keys + "\x18\x04").encode())
        line = self.answer()
        os.write(self.terminal, b"\x05\x15")  # to its end, and away with it
        return line

    def end(self):
        os.close(self.terminal)
        os.waitpid(self.pid, 0)


def words(line):
    """The words of a line without their quotes, and whether a blank follows the last. A quote
    that is still open ends with the line."""
    try:
        return shlex.split(line), line[-1:] == " "
    except ValueError:
        return shlex.split(line + "'"), False


def strange_bundle(path):
    """A HIP bundle whose targets have names that a shell takes apart."""
    names = [b"host-x86_64-unknown-linux-gnu-", b"hip-amdgcn-amd-amdhsa--gfx90a:xnack+",
             b"hip-amdgcn-amd-amdhsa--gfx90a:xnack-", b"hip-amdgcn-amd-amdhsa--q $(b) \"c;d",
             b"hip-amdgcn-amd-amdhsa--q$HOME&|<>"]
    header = b"__CLANG_OFFLOAD_BUNDLE__" + struct.pack("<Q", len(names))
    size = len(header) + sum(24 + len(name) for name in names)
    for name in names:
        header += struct.pack("<QQQ", size, 0, len(name)) + name
    with open(path, "wb") as f:
        f.write(header)


# What is typed before TAB, and the line then; None: nothing is added. Words are compared without
# their quotes, which each shell writes in its own way.
SAMPLE = [
    ("gpuobj tr", "gpuobj tree "),
    ("gpuobj ls --sa", "gpuobj ls --sample "),
    ("gpuobj -", "gpuobj -"),
    ("gpuobj --v", "gpuobj --version "),
    ("gpuobj which --ke", "gpuobj which --kernels "),
    ("gpuobj which -k sm_90 lib", "gpuobj which -k sm_90 lib.so "),
    ("gpuobj matrix --ke", "gpuobj matrix --kernels "),
    ("gpuobj --help opt", "gpuobj --help options "),
    ("gpuobj -h sum", "gpuobj -h summary "),
    ("gpuobj --help summary lib", None),
    ("gpuobj opt", None),
    ("gpuobj cat --sample art", "gpuobj cat --sample artifact.json "),
    ("gpuobj cat --sample obj", "gpuobj cat --sample objects/"),
    ("gpuobj cat --sample /obj", "gpuobj cat --sample /objects/"),
    ("gpuobj cat lib.so obj", "gpuobj cat lib.so objects/"),
    ("gpuobj cat lib.so objects/00001/p", "gpuobj cat lib.so objects/00001/payload "),
    ("gpuobj cat lib.so objects/00001/ins", "gpuobj cat lib.so objects/00001/inspect/"),
    ("gpuobj cat lib.so objects/00001/inspect/ins",
     "gpuobj cat lib.so objects/00001/inspect/inspection.json "),
    ("gpuobj cat lib.so objects/00001/inspect/k", "gpuobj cat lib.so objects/00001/inspect/kernels/"),
    ("gpuobj cat lib.so objects/00001/inspect/kernels/sax", None),
    ("gpuobj cat lib.so artifact.json prob", "gpuobj cat lib.so artifact.json problems.json "),
    ("gpuobj cat lib.so targets/sm_90a/obj", "gpuobj cat lib.so targets/sm_90a/objects "),
    ("gpuobj cat lib.so nothing", None),
    ("gpuobj cat nothing.so obj", None),
    ("gpuobj cat 'lib.so' obj", "gpuobj cat 'lib.so' objects/"),
    ("gpuobj tree lib.so targets/gfx90a", "gpuobj tree lib.so targets/gfx90a:sramecc+:xnack-/"),
    ("gpuobj tree lib.so targets/gfx90a:sram", "gpuobj tree lib.so targets/gfx90a:sramecc+:xnack-/"),
    ("gpuobj tree lib.so targets/gfx90a:", "gpuobj tree lib.so targets/gfx90a:sramecc+:xnack-/"),
    ("gpuobj tree lib.so 'targets/gfx90a:sram", "gpuobj tree lib.so 'targets/gfx90a:sramecc+:xnack-/"),
    ("gpuobj tree lib.so targets/gfx90a:sramecc+:xnack-/tar",
     "gpuobj tree lib.so targets/gfx90a:sramecc+:xnack-/target.json "),
    ("gpuobj ls -l lib.so objects/00000/loc", "gpuobj ls -l lib.so objects/00000/location.json "),
    ("gpuobj ls -o cache=1M lib.so art", "gpuobj ls -o cache=1M lib.so artifact.json "),
    ("gpuobj ls -o max_pay", "gpuobj ls -o max_payload="),
    ("gpuobj ls --samp", "gpuobj ls --sample "),
    ("gpuobj nonsense ", None),
    ("gpuobj cp lib.so /art", "gpuobj cp lib.so /artifact.json "),
    ("gpuobj cp lib.so /artifact.json fold", "gpuobj cp lib.so /artifact.json folder/"),
    ("gpuobj -o cache=1M cat lib.so obj", "gpuobj -o cache=1M cat lib.so objects/"),
    ("gpuobj -o cac", "gpuobj -o cache="),
    ("gpuobj -o cache=1M,tmp", "gpuobj -o cache=1M,tmpdir="),
    ("gpuobj -o tmpdir=fold", "gpuobj -o tmpdir=folder/"),
    ("gpuobj -o cache=1M,tmpdir=fold", "gpuobj -o cache=1M,tmpdir=folder/"),
    ("gpuobj ls my", "gpuobj ls 'my lib'\"'\"'s (1).so' "),
    ("gpuobj ls my\\ lib\\'s\\ \\(1\\).so art", "gpuobj ls my\\ lib\\'s\\ \\(1\\).so artifact.json "),
    ("gpuobj ls ~/lib.so art", "gpuobj ls ~/lib.so artifact.json "),
    ("gpuobjfs -o allo", "gpuobjfs -o allow_other "),
    ("gpuobjfs -o ro,max_th", "gpuobjfs -o ro,max_threads="),
    ("gpuobjfs li", "gpuobjfs lib.so "),
    ("gpuobjfs lib.so fold", "gpuobjfs lib.so folder/"),
    ("gpuobjfs lib.so li", None),
    ("gpuobjfs --sample fold", "gpuobjfs --sample folder/"),
    ("gpuobjfs --s", "gpuobjfs --sample "),
]

STRANGE = [
    ("gpuobj ls odd targets/gfx90a:xnack", "gpuobj ls odd targets/gfx90a:xnack"),
    ("gpuobj ls odd targets/gfx90a:xnack+", "gpuobj ls odd targets/gfx90a:xnack+/"),
    ("gpuobj ls odd targets/q\\ ", "gpuobj ls odd 'targets/q $(b) \"c;d/'"),
    ("gpuobj ls odd targets/q\\$", "gpuobj ls odd 'targets/q$HOME&|<>/'"),
]


# A quote stays open behind a directory, and is closed behind a file: the lines as they are.
QUOTED = [
    ("gpuobj cat lib.so \"/objects/00001/ins", "gpuobj cat lib.so \"/objects/00001/inspect/"),
    ("gpuobj tree lib.so \"/targets/gfx90a:sram", "gpuobj tree lib.so \"/targets/gfx90a:sramecc+:xnack-/"),
    ("gpuobj tree lib.so 'targets/gfx90a:sram", "gpuobj tree lib.so 'targets/gfx90a:sramecc+:xnack-/"),
    ("gpuobj cat lib.so \"targets/sm_90a/obj", "gpuobj cat lib.so \"targets/sm_90a/objects\" "),
]


def check(shell, table, note, form=words):
    bad = 0
    for typed, expected in table:
        line = shell.press(typed)
        fine = form(line) == form(expected or typed)
        if not fine:
            bad += 1
            print("FAIL: %s: %r becomes %r, not %r" % (note, typed, line, expected or typed))
    return bad


def check_all(shell, typed, expected, note):
    """All that is offered for the last word, which is empty."""
    line = shell.press(typed, "\x18a")
    got = sorted(shlex.split(line)[len(shlex.split(typed)):])
    if got == sorted(expected):
        return 0
    print("FAIL: %s: for %r there are %s, not %s" % (note, typed, got, sorted(expected)))
    return 1


def listed(program, pattern, *topic):
    text = subprocess.check_output([program, "--help", *topic], text=True)
    return re.findall(pattern, text, re.M)


def check_sets(shell, note):
    """Commands and options are those of the help, read in another way."""
    gpuobj, gpuobjfs = os.environ["GPUOBJ"], os.environ["GPUOBJFS"]
    commands = listed(gpuobj, r"^    ([a-z]+) +[A-Z]")
    bad = check_all(shell, "gpuobj ", commands, note)
    for program in (gpuobj, gpuobjfs):
        names = listed(program, r"^    (\w+=?)(?=[A-Z]* +\w)", "options")
        short = os.path.basename(program)
        if len(names) < 15:
            bad += 1
            print("FAIL: %s has no list of options" % short)
        line = shell.press(short + " -o ", "\x18a")
        got = sorted(w.rstrip("=") for w in shlex.split(line)[2:])
        want = sorted(n.rstrip("=") for n in names)
        if got != want:
            bad += 1
            print("FAIL: %s: %s -o offers %s, not %s" % (note, short, got, want))
    return bad


# Of a command that is not there: options that take words, words of its own.
INVENTED = [
    ("gpuobj invented --into fold", "gpuobj invented --into folder/"),
    ("gpuobj invented --svg li", "gpuobj invented --svg lib.so "),
    ("gpuobj invented -n 3 --svg x.svg sm_90 li", "gpuobj invented -n 3 --svg x.svg sm_90 lib.so "),
    ("gpuobj invented -n li", None),
    ("gpuobj invented li", None),
    ("gpuobj invented sm_90 lib.so li", "gpuobj invented sm_90 lib.so lib.so "),
    ("gpuobj invented --s", "gpuobj invented --svg "),
]
INVENTED_HELP = """usage: gpuobj invented [-n N] [--svg FILE] DEVICE ARTIFACT...

    -n, --number N         so many
    --svg FILE             as a picture
    --into DIR             there
"""


def wrapper(path, program, log):
    with open(path, "w") as f:
        f.write("#!/bin/sh\nprintf '%%s\\n' \"$*\" >>'%s'\n" % log)
        f.write("[ \"$1\" != invented ] || exec cat <<'EOF'\n%sEOF\n" % INVENTED_HELP)
        f.write("exec '%s' \"$@\"\n" % program)
    os.chmod(path, 0o755)


def main(name):
    if not shutil.which(name):
        print("SKIP: %s is not installed" % name)
        return 77
    if not os.access(os.environ["GPUOBJFS"], os.X_OK):
        print("SKIP: gpuobjfs was not built (no libfuse)")
        return 77
    bad = 0
    with tempfile.TemporaryDirectory() as folder:
        work = os.path.join(folder, "work")
        bin_folder = os.path.join(folder, "bin")
        log = os.path.join(folder, "log")
        for path in (work, bin_folder, os.path.join(work, "folder")):
            os.mkdir(path)
        wrapper(os.path.join(bin_folder, "gpuobj"), os.environ["GPUOBJ"], log)
        wrapper(os.path.join(bin_folder, "gpuobjfs"), os.environ["GPUOBJFS"], log)
        sample = os.path.join(ROOT, "fs", "sample", "libsample.so")
        shutil.copy(sample, os.path.join(work, "lib.so"))
        shutil.copy(sample, os.path.join(work, "my lib's (1).so"))
        strange_bundle(os.path.join(work, "odd"))
        environment = dict(os.environ, PATH=bin_folder + ":" + os.environ["PATH"], HOME=work)
        os.chdir(work)
        for plain in ("", "1") if name == "bash" else ("",):
            note = name + (" without : and = as dividers" if plain else "")
            home = tempfile.mkdtemp(dir=folder)
            shell = Shell(name, home, dict(environment, PLAIN_BREAKS=plain))
            rows = [row for row in SAMPLE + STRANGE + INVENTED if not plain or re.search("[:=]", row[0])]
            bad += check(shell, rows, note)
            bad += check(shell, QUOTED, note, str)
            if not plain:
                bad += check_sets(shell, note)
            shell.end()
        with open(log) as f:
            for line in f:
                if re.search(r"inspect/.", line) or re.search(r"-l.*inspect", line):
                    bad += 1
                    print("FAIL: this examines a payload: gpuobj %s" % line.strip())
        print("%s: %d lines, %d failures" % (name, len(SAMPLE + STRANGE + INVENTED + QUOTED), bad))
    return 1 if bad else 0


if __name__ == "__main__":
    if sys.argv[1:] not in (["bash"], ["zsh"]):
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1]))
