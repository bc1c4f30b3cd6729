"""The target lives on whatever the session has given back: options, rings, descriptors, tables, stacks, records."""
import mmap
import os
import struct
import subprocess

import jvm
import pytest
from jvm import Program, counted, jstrobe, wait_until

pytestmark = pytest.mark.together


@pytest.mark.parametrize("event", ["cpu", "ctimer", "wall", "itimer"])
def test_crowds_after_the_command_has_left(jdk, event):
    """Threads that begin when the conversation that started the session has ended, and its memory is used anew."""
    if event != "cpu" and not jvm.SOAK:
        pytest.skip(f"{event}: only with full counts (make soak)")
    with Program(jdk, "Crowds", "threads") as program:
        for _ in range(counted(1, 10)):
            done = jstrobe("start", "-e", event, program.pid)
            assert done.returncode == 0, done.stderr
            before = program.mark().get("threads", 0)
            wait_until(lambda: program.mark().get("threads", 0) >= before + 1000, 120)
            done = jstrobe("dump", "-o", "collapsed", program.pid)
            assert done.returncode == 0, done.stderr
            done = jstrobe("stop", program.pid)
            assert done.returncode == 0, done.stderr
        assert program.stop() == 0, program.output[-5:]


@pytest.mark.parametrize("event", ["cpu", "cpu,page-faults"])
def test_threads_leave_the_filter_and_come_back(jdk, event):
    """A dump hears the names of all threads: those that leave give back what they may be reading."""
    if event != "cpu" and not jvm.SOAK:
        pytest.skip(f"{event}: only with full counts (make soak)")
    with Program(jdk, "Crowds", "names") as program:
        done = jstrobe("start", "-e", event, "-i", "100us", "--filter", "name:in-*", program.pid)
        assert done.returncode == 0, done.stderr
        for _ in range(counted(6, 1000)):
            done = jstrobe("dump", "-t", "-o", "collapsed", program.pid)
            assert done.returncode == 0, done.stderr
        assert "truth/Crowds" in done.stdout
        done = jstrobe("stop", program.pid)
        assert done.returncode == 0, done.stderr
        assert program.stop() == 0, program.output[-5:]


# ---- under a hostile allocator ----------------------------------------------------------------

ROUNDS = int(os.environ.get("JSTROBE_ROUNDS", 0)) or counted(6, 1000)
EVENTS = [("-e", "cpu", "-i", "100us"), ("-e", "wall", "-i", "1ms"), ("-e", "ctimer", "-i", "1ms"), ("-e", "lock"),
          ("-e", "cpu", "-i", "100us", "--filter", "name:in-*"), ("-e", "itimer", "-i", "1ms")]


class Hostile:
    """What the preloaded library obeys (preload/hostile.c): nothing that was given back can be touched again."""

    def __init__(self):
        self.library = os.path.join(jvm.OWN, "libhostile.so")
        source = os.path.join(jvm.ROOT, "tests", "jvm", "preload", "hostile.c")
        subprocess.run([os.environ.get("CC", "gcc"), "-O2", "-g", "-Wall", "-Wextra", "-fno-builtin", "-fPIC",
                        "-shared", "-o", self.library, source], check=True)
        self.path = jvm.result_file(".hostile")
        with open(self.path, "wb") as file:
            file.write(bytes(24))
        self.file = open(self.path, "r+b")
        self.map = mmap.mmap(self.file.fileno(), 24)

    def wrap(self):
        return ["env", f"LD_PRELOAD={self.library}", f"JSTROBE_TEST_HOSTILE={self.path}"]

    def begin(self, program):
        """From now on it is hostile; our library must be loaded."""
        with open(f"/proc/{program.pid}/maps") as maps:
            places = [line.split()[0].split("-") for line in maps if "libjstrobe.so" in line]
        struct.pack_into("QQ", self.map, 0, int(places[0][0], 16), int(places[-1][1], 16))

    def given_back(self):
        return struct.unpack_from("Q", self.map, 16)[0]

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.map.close()
        self.file.close()
        os.remove(self.path)


def test_everything_under_a_hostile_allocator(jdk, say):
    """Threads, names, libraries, classes and collections go on while sessions of all events begin, are read and end."""
    with Hostile() as hostile, \
            Program(jdk, "Crowds", "threads+names+files+classes", jvm.NATIVE, wrap=hostile.wrap()) as program:
        assert jstrobe("start", program.pid).returncode == 0 and jstrobe("stop", program.pid).returncode == 0
        hostile.begin(program)
        for number in range(ROUNDS):
            done = jstrobe("start", *EVENTS[number % len(EVENTS)], program.pid)
            assert done.returncode == 0, done.stderr
            before = program.mark().get("threads", 0)
            wait_until(lambda: program.mark().get("threads", 0) >= before + 150, 120)
            for command in ("dump", "-o", "collapsed"), ("stop", "-o", "collapsed"):
                done = jstrobe(*command, program.pid)
                assert done.returncode == 0, done.stderr
        counters = program.mark()
        assert program.stop() == 0, program.output[-5:]
        say(f"{ROUNDS} sessions on {jdk}, {hostile.given_back()} blocks and mappings given back and out of reach: "
            f"no death; {counters}")
        assert hostile.given_back() > 10 * ROUNDS and min(counters.values()) > 0, counters
