"""Attach, profile, stop, a thousand times over: the process stays what it was."""
import os
import time

import pytest
from jvm import SOAK, Program, counted, jstrobe

pytestmark = pytest.mark.together

FLAGS = ["-XX:+UseSerialGC", "-Xms96m", "-Xmx96m", "-XX:+AlwaysPreTouch", "-XX:ReservedCodeCacheSize=64m"]
WARM = counted(3, 20)
ROUNDS = counted(4, 1000)
SECONDS = counted("0.1", "1")
MEMORY = counted(16, 4) << 20  # so few rounds do not show a trend: the first ones take memory to keep


def figures(program):
    with open(f"/proc/{program.pid}/maps") as file:
        maps = len(file.readlines())
    return {"fds": program.descriptors(), "threads": len(program.threads()), "maps": maps,
            "rss": program.memory()}


def settle(program, wanted):
    """The agent ends its conversation a moment after the command has its answer."""
    for _ in range(50):
        now = figures(program)
        if all(now[key] <= wanted[key] for key in ("fds", "threads")):
            break
        time.sleep(0.02)
    return now


@pytest.mark.parametrize("engine", ["cpu", "ctimer"])
def test_rounds_leave_nothing(jdk, engine, say):
    if (jdk.version == 17) != (engine == "cpu"):
        pytest.skip("cpu on JDK 17, ctimer on JDK 25")
    if engine == "ctimer" and not SOAK:
        pytest.skip("only with full counts (make soak)")
    with Program(jdk, "Words", jvm=FLAGS) as program, Program(jdk, "Words", jvm=FLAGS) as twin:
        def one():
            done = jstrobe("record", "-e", engine, "-i", "1ms", "-d", SECONDS, "-o", "collapsed", program.pid)
            assert done.returncode == 0, done.stderr
        for _ in range(WARM):
            one()
        first, twin_first = figures(program), figures(twin)
        for _ in range(ROUNDS):
            one()
        last, twin_last = settle(program, first), figures(twin)
        assert program.stop() == 0, program.output[-5:]
    grown, twin_grown = last["rss"] - first["rss"], twin_last["rss"] - twin_first["rss"]
    say(f"{ROUNDS} rounds of attach, {SECONDS} s, stop, {engine} {jdk}: fds {first['fds']} to {last['fds']}, "
        f"threads {first['threads']} to {last['threads']}, mappings {first['maps']} to {last['maps']} "
        f"(without us {twin_first['maps']} to {twin_last['maps']}), "
        f"RSS grew {grown / 2**20:.1f} MB (without us {twin_grown / 2**20:.1f} MB)")
    assert last["fds"] <= first["fds"]
    assert last["threads"] <= first["threads"]
    # What is kept of the last session has one mapping with its neighbours or several: 225 to 233, up and down.
    assert abs(last["maps"] - first["maps"]) <= 12 + abs(twin_last["maps"] - twin_first["maps"])
    assert grown <= max(0, twin_grown) + MEMORY
