"""jstrobe top and trace --live: screens as text, and in a terminal with their keys."""
import os
import pty
import select
import subprocess
import time

import pytest
from jvm import COMMAND, Program, jstrobe, wait_until

pytestmark = pytest.mark.together


def test_once(jdk):
    with Program(jdk, "KnownShares") as program:
        done = jstrobe("top", "--once", "-d", 1.5, program.pid)
        assert done.returncode == 0, done.stderr
        wait_until(lambda: "not active" in jstrobe("status", program.pid).stdout, 60)  # it ends behind its command
    lines = done.stdout.splitlines()
    assert len(lines) <= 24 and max(map(len, lines)) <= 80
    assert str(program.pid) in lines[0] and "truth.KnownShares" in lines[0]
    assert "truth.Program.work" in done.stdout
    shares = [line for line in lines if "shares-" in line]
    assert len(shares) == 2 and all("R" in line or "r" in line for line in shares), done.stdout


def test_any_event(jdk17):
    """Methods are shown of whatever is sampled."""
    with Program(jdk17, "AllocBound") as program:
        done = jstrobe("top", "--once", "-d", 2, "-e", "alloc", program.pid)
        assert done.returncode == 0 and "truth.AllocBound.down" in done.stdout, (done.stdout, done.stderr)


def in_terminal(command, steps):
    """What COMMAND shows in a terminal; STEPS: (what must be seen, keys that are typed then)."""
    master, slave = pty.openpty()
    process = subprocess.Popen([COMMAND, *map(str, command)], stdin=slave, stdout=slave, stderr=subprocess.DEVNULL,
                               env=dict(os.environ, TERM="xterm"))
    os.close(slave)
    seen, at, end = b"", 0, time.time() + 60
    steps = list(steps)
    try:
        while time.time() < end and (steps or process.poll() is None):
            if steps and steps[0][0] in seen[at:]:
                at = len(seen)
                os.write(master, steps.pop(0)[1])
            elif select.select([master], [], [], 0.2)[0]:
                seen += os.read(master, 65536)
    except OSError:
        pass  # it has closed its side
    finally:
        if process.poll() is None:
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
        os.close(master)
    assert not steps, (steps, seen[-2000:])
    return process.wait(), seen


def test_keys(jdk17):
    """In a terminal: a screen comes, keys are obeyed, q gives the terminal back."""
    with Program(jdk17, "KnownShares") as program:
        status, seen = in_terminal(["top", program.pid], [(b"shares-1", b"s/work\nq")])
    assert status == 0 and b"q quit" in seen and seen.rstrip().endswith(b"\x1b[?1049l")


def test_the_tree_of_a_trace(jdk17):
    """trace --live in a terminal: keys are obeyed, and the result comes in the end."""
    with Program(jdk17, "KnownShares") as program:
        options = ["trace", "--live", program.pid, "truth.KnownShares.*"]
        status, seen = in_terminal(options, [(b"CALL TREE", b"a"), (b"all", b"/fibo"), (b"with fibo", b"\nq")])
        assert status == 0 and b"\x1b[?1049l" in seen and b"--- Calls of" in seen[seen.rindex(b"\x1b[?1049l"):]
        wait_until(lambda: "not active" in jstrobe("status", program.pid).stdout, 60)  # it ends behind its command
        # the terminal is the program's
        done = jstrobe("trace", "--live", "x.Y", "--", "java")
        assert done.returncode == 2 and "--live" in done.stderr
        assert jstrobe("record", "--live", program.pid).returncode == 2


def test_screens_of_a_trace_as_text(jdk17):
    """Where there is no terminal the screens follow each other; calls go from look to look."""
    with Program(jdk17, "KnownShares") as program:
        done = jstrobe("trace", "--live", "-d", 5, program.pid, "truth.KnownShares.*")
        assert done.returncode == 0, done.stderr
    screens = done.stdout.split("CALL TREE\n")[1:]
    assert len(screens) >= 2 and all("truth.KnownShares.alpha" in s for s in screens), done.stdout
    assert all(len(line) <= 80 for s in screens[:-1] for line in s.splitlines())
    counted = [int(line.split(" calls,")[0].rsplit(" ", 1)[1]) for line in done.stdout.splitlines() if "last" in line]
    total = int(done.stdout.split("--- Calls of")[1].split("\n")[1].split(" calls")[0].replace(",", ""))
    assert 0 < sum(counted) <= total, (counted, total)
