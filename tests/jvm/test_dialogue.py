"""`jstrobe` alone: in a terminal it asks which JVM and what of it, says the command and runs it; elsewhere it is help."""
import os
import pty
import re
import select
import subprocess
import time

import jvm
import pytest
from jvm import Program, jstrobe

pytestmark = pytest.mark.together


class Dialogue:
    """jstrobe in a terminal; what it shows is in `shown`."""

    def __init__(self):
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.execv(jvm.COMMAND, ["jstrobe"])
        self.shown = ""

    def until(self, pattern, seconds=60):
        """Read until PATTERN is shown behind what was matched last."""
        end = time.time() + seconds
        while not re.search(pattern, self.shown):
            assert time.time() < end, self.shown
            if select.select([self.terminal], [], [], 1)[0]:
                self.shown += os.read(self.terminal, 65536).decode(errors="replace").replace("\r\n", "\n")
        found = re.search(pattern, self.shown)
        self.shown = self.shown[found.end():]
        return found

    def say(self, text):
        os.write(self.terminal, text)

    def end(self):
        """Exit status."""
        try:
            while True:
                self.shown += os.read(self.terminal, 65536).decode(errors="replace").replace("\r\n", "\n")
        except OSError:  # its end is closed
            pass
        os.close(self.terminal)
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


def choose(dialogue, program):
    """Answer the first question with the number of PROGRAM's line."""
    number = dialogue.until(rf"(?m)^ *(\d+) +{program.pid}  \S+ +truth\.KnownShares$").group(1)
    dialogue.until(r"Which JVM\? \[1-\d+, Enter: nothing\] ")
    dialogue.say(number.encode() + b"\n")
    dialogue.until(r"(?s)1 cpu .*2 wall .*3 lock .*4 alloc .*5 top .*What\? \[1-5, Enter: nothing\] ")


@pytest.mark.parametrize("answer, command, result", [
    (b"1\n", "record -e cpu -d 30", r"CPU profile of truth\.KnownShares"),
    (b" cpu \n", "record -e cpu -d 30", r"CPU profile of truth\.KnownShares"),
    (b"2\n", "record -e wall -t -d 30", r"truth\.KnownShares"),
    (b"lock\n", "record -e lock -d 30", r"lock profile of truth\.KnownShares"),
    (b"4\n", "record -e alloc -d 30", r"alloc profile of truth\.KnownShares"),
])
def test_what_is_asked_is_done(jdk17, answer, command, result):
    with Program(jdk17, "KnownShares") as program:
        dialogue = Dialogue()
        choose(dialogue, program)
        dialogue.say(answer)
        dialogue.until(rf"(?m)^jstrobe {command} {program.pid}$")
        dialogue.until(r"sampling [\w,]+: \d+ s left")
        dialogue.say(b"\x03")  # it has enough: the recording ends, and is kept
        dialogue.until(result)
        assert dialogue.end() == 0, dialogue.shown
        assert program.alive()


def test_top(jdk17):
    with Program(jdk17, "KnownShares") as program:
        dialogue = Dialogue()
        choose(dialogue, program)
        dialogue.say(b"top\n")
        dialogue.until(rf"jstrobe top {program.pid}\n")
        dialogue.until("q quit")
        dialogue.say(b"q")
        assert dialogue.end() == 0
        assert program.alive()


def test_slips_and_second_thoughts(jdk17):
    with Program(jdk17, "KnownShares") as program:
        dialogue = Dialogue()
        dialogue.until(r"Which JVM\? ")
        dialogue.say(b"99999\n")
        dialogue.until(r"'99999' is no number from 1 to \d+\nWhich JVM\? ")
        dialogue.say(b"one\n")
        dialogue.until(r"'one' is no number")
        dialogue.say(b"\n")
        assert dialogue.end() == 130
        for answers in ([b"q\n"], [b"\x04"], [b"0\n", b"-1\n", b"x\n"]):
            dialogue = Dialogue()
            for answer in answers:
                dialogue.until(r"Which JVM\? .*\] ")
                dialogue.say(answer)
            assert dialogue.end() == 130
        dialogue = Dialogue()
        choose(dialogue, program)
        dialogue.say(b"\n")
        assert dialogue.end() == 130
        dialogue = Dialogue()
        dialogue.until(r"Which JVM\? .*\] ")
        dialogue.say(b"\x03")
        assert dialogue.end() == -2
        with open(f"/proc/{program.pid}/maps") as maps:
            assert "jstrobe" not in maps.read(), "nothing was chosen, and it was attached to"


def test_without_a_terminal(jdk17):
    with Program(jdk17, "KnownShares"):
        for stdin in (subprocess.DEVNULL, subprocess.PIPE):
            done = jstrobe(stdin=stdin)
            assert done.returncode == 2 and "Usage: jstrobe COMMAND" in done.stdout and not done.stderr
        # only its input is one
        master, slave = pty.openpty()
        done = jstrobe(stdin=slave)
        os.close(master)
        os.close(slave)
        assert done.returncode == 2 and "Usage" in done.stdout
