"""A pseudo-terminal with a command in it: what its screen shows, keys that are typed, and whether it is given back.

    with Terminal("top", pid) as terminal:
        terminal.wait_for("methods by SELF")
        terminal.type("l")
"""
import contextlib
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time

from jvm import COMMAND

ENTER, LEAVE = b"\x1b[?1049h", b"\x1b[?1049l"
# all that the command may say to a terminal: places, erased lines, styles, the other screen, cursor, line breaks
KNOWN = re.compile(rb"\x1b\[(H|2J|2K|[0127]m|\?1049[hl]|\?25[hl]|\?7[hl])")


class Terminal:
    """`jstrobe WORDS` in a terminal of ROWS × COLUMNS, or the COMMAND, whose terminal it is: a shell with jobs."""

    def __init__(self, *words, rows=24, columns=120, command=None, env=None):
        self.master, self.slave = pty.openpty()
        self.seen, self.rows, self.columns = b"", rows, columns
        self.resize(rows, columns, tell=False)
        self.before = termios.tcgetattr(self.slave)

        def own():
            os.setsid()
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)

        self.process = subprocess.Popen(command or [COMMAND, *map(str, words)], stdin=self.slave, stdout=self.slave,
                                        stderr=self.slave, preexec_fn=own,
                                        env=dict(os.environ, TERM="xterm", **(env or {})))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self.slave)
        os.close(self.master)

    def resize(self, rows, columns, tell=True):
        self.rows, self.columns = rows, columns
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        if tell:
            self.process.send_signal(signal.SIGWINCH)

    def type(self, keys):
        os.write(self.master, keys.encode())

    def read(self, seconds=0.1):
        end = time.time() + seconds
        while select.select([self.master], [], [], max(0, end - time.time()))[0]:
            with contextlib.suppress(OSError):
                data = os.read(self.master, 65536)
                self.seen += data
                if data:
                    continue
            return

    def screens(self):
        """Each screen so far, as its lines; the last one may be in the making."""
        text = self.seen[self.seen.rfind(ENTER) + len(ENTER):]
        return [[re.sub(r"\x1b\[[?\d;]*[a-zA-Z]", "", line) for line in part.decode().split("\r\n")]
                for part in text.split(b"\x1b[H")[1:]]

    def screen(self):
        """The last whole screen; its last line is that of the keys, or what is said there."""
        whole = [lines for lines in self.screens() if len(lines) == self.rows]
        return whole[-1] if whole else []

    def wait_for(self, what, seconds=30):
        """Until the screen has the text WHAT, or WHAT(its lines) is true; its lines."""
        end = time.time() + seconds
        while True:
            self.read()
            lines = self.screen()
            if lines and (what(lines) if callable(what) else any(what in line for line in lines)):
                return lines
            assert time.time() < end and self.process.poll() is None, \
                (what, self.process.poll(), "\n".join(lines), self.seen[-600:])

    def wait_for_bytes(self, what, seconds=30):
        """Until WHAT comes in what is written from now on; it may be a shell's."""
        at, end = len(self.seen), time.time() + seconds
        while what not in self.seen[at:]:
            self.read()
            assert time.time() < end, (what, self.seen[at:])

    def end(self, seconds=30):
        """The command ends by itself; its exit status."""
        end = time.time() + seconds
        while self.process.poll() is None and time.time() < end:
            self.read()
        self.read()
        assert self.process.poll() is not None, (self.seen[-400:], self.screen())
        return self.process.returncode

    def is_given_back(self):
        """The terminal is as it was, its first screen is shown, and so is the cursor."""
        left = self.seen[self.seen.rfind(LEAVE) - 12:]
        return self.seen.count(ENTER) == self.seen.count(LEAVE) and b"\x1b[?7h" in left and b"\x1b[?25h" in left and \
            self.seen.rfind(ENTER) < self.seen.rfind(LEAVE) and termios.tcgetattr(self.slave) == self.before

    def strays(self):
        """What was written that could move a cursor, but for what the command is known to write."""
        rest = KNOWN.sub(b"", self.seen).replace(b"\r\n", b"").decode()
        return re.findall(r"[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", rest)
