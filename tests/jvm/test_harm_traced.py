"""A JVM that is started with a trace session, and told to stop while it starts: no class gets probes afterwards.

With -Xint each call that has them costs many times as much, and VMInit, in which they are put in, takes long.
JSTROBE_SEED repeats a run, JSTROBE_ROUNDS says how many rounds.
"""
import contextlib
import os
import random
import time

import door
import jvm
import pytest
from jvm import Program, counted, jstrobe

pytestmark = pytest.mark.together

SEED = int(os.environ.get("JSTROBE_SEED", 0)) or random.SystemRandom().randrange(1, 1 << 32)
ROUNDS = int(os.environ.get("JSTROBE_ROUNDS", counted(1, 100)))
PATTERNS = ["truth.*", "java.util.**;truth.*", "java.**;sun.**;jdk.**;truth.*"]


def cost_of_a_call(program):
    """Of the calls from now on."""
    calls = program.mark().get("calls", 0)
    jvm.wait_until(lambda: program.mark().get("calls", 0) >= calls + 120 * 2000, 120)
    return program.mark()["call_ns"]


def stopped_by_string(program):
    """As soon as the JVM takes one: before VMInit, in it, or after it."""
    end = time.time() + 60
    while True:
        with contextlib.suppress(door.Closed):
            if door.tell(program.pid, "stop,quiet") == 0:
                return
        assert time.time() < end and program.alive(), program.output
        time.sleep(0.005)


def stopped_by_command(program):
    end = time.time() + 60
    while (said := jstrobe("stop", "-f", "/dev/null", program.pid)).returncode != 0:
        assert time.time() < end and program.alive(), (said.stderr, program.output)


@pytest.mark.parametrize("way", ["timeout", "string", "command"])
def test_stop_while_the_jvm_starts(jdk, way, say):
    if (way, jdk.version) not in {("timeout", 17), ("string", 25), ("command", 17)} and not jvm.SOAK:
        pytest.skip(f"{way} on {jdk}: only with full counts (make soak)")
    early, worst = 0, 0
    for number in range(ROUNDS):
        chosen = random.Random(f"{SEED} {jdk} {way} {number}")
        pattern, after = chosen.choice(PATTERNS[:None if jvm.SOAK else 2]), chosen.randrange(1, 400)
        where = f"{way}, {pattern}, {after} ms, JSTROBE_SEED={SEED}"
        said = f"start,instrument={pattern}" + (f",timeout={after}ms" if way == "timeout" else "")
        with Program(jdk, "CallCost", ready=False, jvm=[
                "-Xint", "-XX:+EnableDynamicAgentLoading", f"-agentpath:{jvm.LIBRARY}={said}"]) as program:
            if way != "timeout":
                time.sleep(after / 1000)
                stopped_by_string(program) if way == "string" else stopped_by_command(program)
                early += "READY" not in program.output
            program.wait_for("READY")
            jvm.wait_until(lambda: "not active" in jstrobe("status", program.pid).stdout, 60)
            cost = cost_of_a_call(program)
            worst = max(worst, cost)
            # 20 to 100 ns; 400 to 900 with probes, 9,000 with those of no session
            assert jstrobe("start", "--instrument", "truth.CallCost.call", program.pid).returncode == 0
            traced = cost_of_a_call(program)
            assert cost < traced / 3, (where, cost, traced)
            assert jstrobe("stop", "-f", "/dev/null", program.pid).returncode == 0
            again = cost_of_a_call(program)
            assert again < traced / 3, (where, again, traced)
            assert program.stop() == 0, program.output[-5:]
    say(f"stop by {way} while a traced JVM starts, {jdk}: {ROUNDS} rounds, {early} before the program began; a call took "
        f"{worst} ns at most")
