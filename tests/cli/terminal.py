#!/usr/bin/env python3
"""What goes to a terminal and nowhere else: colours, and a line of progress that is gone at the end.
When one is shown is a matter of the unit test, which has a clock of its own.
"""

import os
import re

from case import DATA, Ran, check, finish, on_terminal, same, scratch

ESCAPE = b"\x1b"
library = os.path.join(DATA, "cuda/host/libtwo.so")
other = os.path.join(DATA, "cuda/fatbin/variants.fatbin")

for arguments, status in [(["ls", library], 0), (["ls", "-l", library], 0), (["tree", library], 0),
                          (["diff", library, other], 1), (["summary", library], 0)]:
    name = arguments[0]
    plain = Ran(*arguments)
    check(name + ": none in a pipe", ESCAPE not in plain.out + plain.err)
    text, ended = on_terminal(*arguments)
    same(name + ": status", ended, status)
    check(name + ": colours on a terminal", ESCAPE + b"[" in text)
    check(name + ": colours end", text.count(b"\x1b[0m") * 2 == text.count(ESCAPE + b"["), text[:200])
    for variables in ({"NO_COLOR": "1"}, {"CLICOLOR": "0"}, {"TERM": "dumb"}, {"TERM": None}):
        text, ended = on_terminal(*arguments, **variables)
        check("%s: none with %s" % (name, variables), ESCAPE not in text, text[:200])
        if name != "summary":  # which has another form in a pipe
            same("%s: the same text with %s" % (name, variables), text, plain.out)
    check(name + ": an empty NO_COLOR is none", ESCAPE in on_terminal(*arguments, NO_COLOR="")[0])

# A line of progress, which a slow machine may show here, is gone at the end.
PROGRESS = re.compile(rb"\r\x1b\[K[^\r]*")
for arguments in (["summary", "-k", library], ["which", "-k", "sm_90", library], ["matrix", "-k", library],
                  ["diff", library, other], ["cp", library, "/artifact.json", scratch()]):
    text, _ = on_terminal(*arguments, stdout=False)
    same(arguments[0] + ": progress alone on stderr", PROGRESS.sub(b"", text), b"")
    check(arguments[0] + ": and it is gone", text == b"" or text.endswith(b"\r\x1b[K"), text)
check("cat: bytes as they are", on_terminal("cat", library, "/problems.json")[0] == Ran("cat", library, "/problems.json").out)
finish()
