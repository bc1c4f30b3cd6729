"""jstrobe top: one screen as text, and in a terminal with its keys."""
import os
import pty
import select
import subprocess
import time

import pytest
from jvm import COMMAND, Program, jstrobe

pytestmark = pytest.mark.together


def test_once(jdk):
    with Program(jdk, "KnownShares") as program:
        done = jstrobe("top", "--once", "-d", 1.5, program.pid)
        assert done.returncode == 0, done.stderr
        assert "not active" in jstrobe("status", program.pid).stdout
    lines = done.stdout.splitlines()
    assert len(lines) <= 24 and max(map(len, lines)) <= 80
    assert str(program.pid) in lines[0] and "truth.KnownShares" in lines[0]
    assert "truth.Program.work" in done.stdout
    shares = [line for line in lines if "shares-" in line]
    assert len(shares) == 2 and all("R" in line or "r" in line for line in shares), done.stdout


def test_keys(jdk17):
    """In a terminal: a screen comes, keys are obeyed, q gives the terminal back."""
    with Program(jdk17, "KnownShares") as program:
        master, slave = pty.openpty()
        process = subprocess.Popen([COMMAND, "top", str(program.pid)], stdin=slave, stdout=slave, stderr=slave,
                                   env=dict(os.environ, TERM="xterm"))
        os.close(slave)
        seen, end = b"", time.time() + 60
        while b"shares-1" not in seen and time.time() < end:
            if select.select([master], [], [], 1)[0]:
                seen += os.read(master, 65536)
        assert b"shares-1" in seen and b"q quit" in seen
        os.write(master, b"s/work\nq")
        while process.poll() is None and time.time() < end:
            if select.select([master], [], [], 0.2)[0]:
                try:
                    seen += os.read(master, 65536)
                except OSError:
                    break
        assert process.wait(10) == 0 and seen.rstrip().endswith(b"\x1b[?1049l")
        os.close(master)
