"""`jstrobe start`, then the command leaves, then everything: crowds of threads, libraries and classes that come and go,
names that change, GC, dump, stop. What libjstrobe.so gives back cannot be touched any more (preload/hostile.c).

JSTROBE_SEED repeats a run, JSTROBE_ROUNDS says how many rounds; with full counts (make soak) they are 1,000 a JDK.
"""
import os
import random

import door
import jvm
import pytest
from hostile import Hostile
from jvm import Program, counted, jstrobe, wait_until

pytestmark = pytest.mark.together

SEED = int(os.environ.get("JSTROBE_SEED", 0)) or random.SystemRandom().randrange(1, 1 << 32)
ROUNDS = int(os.environ.get("JSTROBE_ROUNDS", counted(4, 1000)))
A_JVM = 100  # rounds in each
EVENTS = [("cpu", "-i", "100us"), ("ctimer", "-i", "1ms"), ("itimer", "-i", "1ms"), ("wall", "-i", "1ms"), ("lock",),
          ("periodic", "-i", "1ms"), ("cpu,wall,lock", "-i", "1ms"), ("cpu,page-faults", "-i", "1ms"),
          ("cpu", "-i", "100us", "--filter", "name:in-*"), ("alloc", "-i", "16k"), ("cpu,wall,alloc@64k", "-i", "1ms"),
          ("live", "-i", "16k"), ("cpu,alloc@64k,live@64k", "-i", "1ms", "--gc"),
          ("cpu", "-i", "1ms", "--last", "10s"), ("trace",),
          ("cpu", "-i", "1ms", "--features", "stats", "--begin", "truth_none"), ("recording",)]
KINDS = {"threads": 150, "names": 10, "files": 1, "classes": 5}  # and how many of them make a round
COUNTERS = {"names": "renamed"}
STOPS = ["command", "string", "string", "again"]


def begin(program, event, path):
    """The command is back, and all its memory has been given back; its session goes on."""
    name, *more = event
    if name == "trace":
        what = ("--instrument", "truth.*")
    elif name == "recording":
        what = ("-e", "cpu,wall", "-i", "1ms", "-f", path)
    else:
        what = ("-e", name, *more)
    done = jstrobe("start", *what, program.pid)
    if done.returncode and "truth_none" in more:  # there is no such function, which it says when it has set up all else
        return False
    assert done.returncode == 0, (what, done.stderr)
    return True


def everything(program, chosen, kinds):
    before = program.mark()

    def has_been():
        now = program.mark()
        return all(now.get(COUNTERS.get(kind, kind), 0) >= before.get(COUNTERS.get(kind, kind), 0) + KINDS.get(kind, 150)
                   for kind in kinds)
    wait_until(has_been, 120)
    for what in chosen.sample(("gc", "dump", "string", "status", "metrics"), 2):
        if what == "gc":
            program.ask("gc")
        elif what == "string":
            door.tell(program.pid, "dump,collapsed,file=/dev/null,quiet")
        else:
            done = jstrobe(what, *(("-o", "collapsed") if what == "dump" else ()), program.pid)
            assert done.returncode == 0 or what == "metrics", (what, done.stderr)


def end(program, how):
    if how == "string":
        assert door.tell(program.pid, "stop,quiet") == 0
    elif how == "command":
        done = jstrobe("stop", "-o", "collapsed", program.pid)
        assert done.returncode == 0, done.stderr
    else:  # the next start comes at once, and finds it stopped or stops it
        assert door.tell(program.pid, "stop,quiet") == 0
        assert door.tell(program.pid, "start,event=cpu,interval=1ms,quiet") == 0
        assert door.tell(program.pid, "stop,quiet") == 0


def run(jdk, first, rounds, hostile):
    path = jvm.result_file(".jfr")
    kinds = list(KINDS) + ["virtual"] * (jdk.version >= 21)
    flags = ["-XX:+EnableDynamicAgentLoading", jvm.collectors(jdk)[first // A_JVM % len(jvm.collectors(jdk))]]
    with Program(jdk, "Crowds", "+".join(kinds), jvm.NATIVE, jvm=flags, wrap=hostile.wrap()) as program:
        assert jstrobe("start", program.pid).returncode == 0 and jstrobe("stop", program.pid).returncode == 0
        hostile.begin(program)
        for number in range(first, first + rounds):
            chosen = random.Random(f"{SEED} {jdk} {number}")
            event = EVENTS[(number + first) % len(EVENTS)] if jvm.SOAK else chosen.choice(EVENTS)
            where = f"round {number}, {event}, {flags[-1]}, JSTROBE_SEED={SEED}"
            try:
                if begin(program, event, path):
                    everything(program, chosen, chosen.sample(kinds, 3))
                    end(program, chosen.choice(STOPS))
                assert program.alive()
            except (AssertionError, door.Closed) as error:
                raise AssertionError(f"{where}: {error}; {program.output[-8:]}") from error
        wait_until(lambda: not [name for name in program.threads().values() if name.startswith("jstrobe")], 60)
        assert program.stop() == 0, (program.output[-5:], f"JSTROBE_SEED={SEED}")
    if os.path.exists(path):
        os.remove(path)


def test_the_command_leaves_and_everything_happens(jdk, say):
    with Hostile() as hostile:
        for first in range(0, ROUNDS, A_JVM):
            run(jdk, first, min(A_JVM, ROUNDS - first), hostile)
        assert hostile.given_back() > 10 * ROUNDS
        say(f"start, then everything, {jdk}: {ROUNDS} rounds, {hostile.given_back()} blocks and mappings given back and out "
            "of reach, no death")
