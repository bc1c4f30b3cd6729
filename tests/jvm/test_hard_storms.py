"""Storms: threads by the thousand a second, virtual threads by the hundred thousand, each collector."""
import re
import time

import jvm
import pytest
from jvm import Program, counted, jstrobe, record

pytestmark = pytest.mark.together

SPELT = re.compile(r"truth\.Churn\.d(\d)$")
NOT_INLINED = ["-XX:CompileCommand=quiet", "-XX:CompileCommand=dontinline,truth.Churn::*"]


def spelt(stack):
    """The number that the stack spells, from its first digit on; "" if the walk did not get so far."""
    if "truth.Churn.burn" not in stack["frames"]:
        return ""
    return "".join(m.group(1) for m in map(SPELT.match, stack["frames"]) if m)


def compare(profile, name):
    """(samples of threads called NAME-number that spell, those that spell another number, an example)."""
    total, wrong, example = 0, 0, None
    for stack in profile.stacks:
        thread = profile.json["threads"][stack["thread"]]["name"]  # not by tid: those are used again
        number, digits = re.match(name + r"(\d+)$", thread), spelt(stack)
        if number and digits:
            total += stack["samples"]
            if not f"{int(number.group(1)):06d}".startswith(digits):
                wrong += stack["samples"]
                example = thread, digits
    return total, wrong, example


@pytest.mark.parametrize("engine", ["cpu", "ctimer"])
def test_2000_threads_a_second(jdk, engine, say):
    """No record is used by two threads at once: the samples of a thread are its own."""
    if (jdk.version, engine) != (17, "cpu") and not jvm.SOAK:
        pytest.skip(f"{engine} on {jdk}: only with full counts (make soak)")
    with Program(jdk, "ThreadStorm", "platform", 2000, jvm=NOT_INLINED) as program:
        program.reset()
        profile = record(program, "-e", engine, "-i", "100us", "-d", counted("2", "600"))
        started = program.mark()["threads"]
        assert program.stop() == 0, program.output[-5:]
    total, wrong, example = compare(profile, "storm-")
    lost = {k: v for k, v in profile.samples["lost"].items() if v}
    say(f"{started} threads started and ended, {engine} {jdk}: {total} samples in them, {wrong} in the wrong one; "
        f"lost {lost} of {profile.samples['taken']}, unsampled {profile.weight['unsampled'] / profile.target_cpu():.1%}")
    assert not wrong, example
    assert total > 20
    assert profile.accounts(within=0.05), (profile.weight, profile.target_cpu())


def test_100000_virtual_threads(jdk25, say):
    count = counted(10_000, 100_000)
    with Program(jdk25, "ThreadStorm", "virtual", count, jvm=NOT_INLINED) as program:
        time.sleep(counted(0.2, 5))
        done = jstrobe("record", "-t", "-o", "collapsed", "-i", "100us", "-d", counted("2", "300"), program.pid,
                       timeout=600)
        assert done.returncode == 0, done.stderr
        assert program.mark()["threads"] > counted(count / 10, count / 2)
        assert program.stop() == 0, program.output[-5:]
    total, wrong, example = 0, 0, None
    for line in done.stdout.splitlines():
        frames, samples = line.rsplit(" ", 1)
        thread = re.match(r"\[virtual thread #(\d+)[^\]]*\]?;", frames)
        digits = spelt({"frames": frames.replace("/", ".").split(";")})
        if digits and thread:
            total += int(samples)
            if not f"{int(thread.group(1)) % 1_000_000:06d}".startswith(digits):
                wrong += int(samples)
                example = line
    say(f"{count} virtual threads {jdk25}: {total} samples of threads kept apart, {wrong} at the wrong one; "
        f"{done.stderr.strip().splitlines()[-1]}")
    assert total > 20 and not wrong, example or done.stdout[:2000]


COLLECTORS = [(17, "Serial"), (17, "Parallel"), (17, "G1"), (17, "Shenandoah"), (17, "Z"),
              (25, "Serial"), (25, "Parallel"), (25, "G1"), (25, "Shenandoah"), (25, "Z")]
IN_CHECK = {(17, "Shenandoah"), (25, "Z")}


@pytest.mark.parametrize("version,collector", COLLECTORS)
def test_collector_under_signals(jdk, version, collector, say):
    """Each collector at 100 µs: no crash, every loss has a name."""
    if jdk.version != version:
        pytest.skip("the other JDK's")
    if (version, collector) not in IN_CHECK and not jvm.SOAK:
        pytest.skip(f"{collector} on {jdk}: only with full counts (make soak)")
    with Program(jdk, "Garbage", jvm=[f"-XX:+Use{collector}GC", "-Xmx96m"]) as program:
        profile = record(program, "-i", "100us", "-d", counted("1.5", "1800"))
        counters = program.mark()
        assert program.stop() == 0, program.output[-5:]
    bad, total, worst = jvm.incomplete(profile)
    lost = {k: v for k, v in profile.samples["lost"].items() if v}
    say(f"{collector}GC at 100 us {jdk}: {total} samples, {bad / total:.3%} incomplete {worst}, lost {lost}; {counters}")
    assert total > 200 and bad <= 0.01 * total, worst
