"""The target lives on whatever the session has given back: options, rings, descriptors, tables, stacks, records."""
import os

import jvm
import pytest
from hostile import Hostile
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
          ("-e", "cpu", "-i", "100us", "--filter", "name:in-*"), ("-e", "itimer", "-i", "1ms"),
          ("-e", "alloc", "-i", "16k"), ("-e", "live", "-i", "16k")]


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
