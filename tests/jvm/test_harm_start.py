"""`jstrobe start`, then the command leaves, then everything: crowds of threads, classes that come and go, GC, dump, stop.

JSTROBE_SEED repeats a run, JSTROBE_ROUNDS says how many rounds; with full counts (make soak) they are 1,000.
"""
import os
import random

import jvm
import pytest
from jvm import Program, counted, jstrobe, wait_until

pytestmark = pytest.mark.together

SEED = int(os.environ.get("JSTROBE_SEED", 0)) or random.SystemRandom().randrange(1, 1 << 32)
ROUNDS = int(os.environ.get("JSTROBE_ROUNDS", counted(2, 1000)))
EVENTS = [("-e", "cpu"), ("-e", "ctimer"), ("-e", "itimer"), ("-e", "wall"), ("-e", "lock"), ("-e", "cpu,wall,lock"),
          ("-e", "cpu", "--filter", "name:main"), ("--instrument", "truth.*")]
PROGRAMS = [("Crowds", "threads"), ("Churn", "loaders+hidden+lambdas", 20), ("Garbage",), ("ThreadChurn",)]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p[0])
def test_the_command_leaves_and_everything_happens(jdk, program):
    if not jvm.SOAK and (program[0], jdk.version) not in {("Crowds", 17), ("Churn", 25)}:
        pytest.skip("only with full counts (make soak)")
    chosen = random.Random(f"{SEED} {program} {jdk}")
    with Program(jdk, *program, jvm=["-XX:+EnableDynamicAgentLoading"]) as target:
        for number in range(ROUNDS):
            event = chosen.choice(EVENTS)
            where = f"round {number}, {event}, JSTROBE_SEED={SEED}"
            done = jstrobe("start", *event, *(() if "--instrument" in event else ("-i", "1ms")), target.pid)
            assert done.returncode == 0, (where, done.stderr)
            for what in chosen.sample(("work", "gc", "dump", "status"), 3):
                if what == "work":
                    target.work(0.2)
                elif what == "gc":
                    target.ask("gc")
                elif what == "dump":
                    done = jstrobe("dump", "-o", "collapsed", target.pid)
                    assert done.returncode == 0, (where, done.stderr)
                else:
                    assert "is running" in jstrobe("status", target.pid).stdout, where
            assert target.alive(), (where, target.output[-5:])
            done = jstrobe("stop", "-f", "/dev/null", target.pid)
            assert done.returncode == 0, (where, done.stderr)
        wait_until(lambda: not [name for name in target.threads().values() if name.startswith("jstrobe")])
        assert target.stop() == 0, target.output[-5:]
