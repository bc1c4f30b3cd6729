"""
Nothing grows with the age of a session: threads, names and hidden classes come and go, and what is kept of them does
not become more (bytes by structure, which no noise of the machine touches). The slopes of memory over an hour, against
a program that is not profiled, are of the soak.
"""
import json
import os
import re
import time

import jvm
import pytest
from jvm import Program, counted, jstrobe, result_file

pytestmark = pytest.mark.together

HELD = re.compile(r'jstrobe_held_bytes\{structure="([^"]+)"\} (\d+)')
SOAK_SECONDS = 60 * float(os.environ.get("JSTROBE_SOAK_MINUTES", "5"))


def held(program):
    """Bytes by structure."""
    done = jstrobe("metrics", program.pid)
    assert done.returncode == 0, done.stderr
    return {name: int(size) for name, size in HELD.findall(done.stdout)}


def watch(program, until):
    """What is held, again and again until UNTIL of the program's counters."""
    seen, end = [], time.time() + 300
    while not until(program.mark()):
        assert program.alive() and time.time() < end, program.output[-5:]
        seen.append(held(program))
        time.sleep(0.1)
    return seen


def most(seen):
    """The largest sum, traces apart (a store of pieces for each thread that lives), and when samples were taken (bounded)."""
    assert all(one["times of samples"] <= 7_000_000 for one in seen)
    return max((sum(size for name, size in one.items() if name not in ("traces", "times of samples")) for one in seen), default=0)


def has_come(half):
    threads, classes = half * counted(3_000, 200_000), half * counted(150, 10_000)
    return lambda mark: mark["threads"] >= threads and mark["classes"] >= classes


@pytest.mark.parametrize("options", [("-e", "cpu", "-i", "1ms"), ("-e", "wall", "-i", "5ms", "-t"),
                                     ("-e", "ctimer", "-i", "1ms", "-o", "jfr")], ids=["cpu", "wall", "jfr"])
def test_what_is_held(jdk, options, say):
    if (jdk.version, options[1]) not in ((17, "cpu"), (25, "wall"), (25, "ctimer")) and not jvm.SOAK:
        pytest.skip(f"{options[1]} on {jdk}: only with full counts (make soak)")
    text, file = result_file(), result_file(".jfr")
    target = ("-f", file) if "jfr" in options else ()
    with jvm.knobs(), Program(jdk, "Comings", 4000, 200, 500) as program:
        assert jstrobe("start", "--renew-at", "200k", *options, *target, program.pid).returncode == 0
        first = watch(program, has_come(1))
        second = watch(program, has_come(2))
        done = jstrobe("dump", "-o", "json", "-f", text, program.pid)
        assert done.returncode == 0, done.stderr
        assert jstrobe("stop", program.pid).returncode == 0
        counters = program.mark()
        assert program.stop() == 0, program.output[-5:]
    with open(text) as file:
        profile = json.load(file)
    samples = profile["samples"]
    say(f"{options[1]} {jdk}: {counters} come, at most {most(first)}, then {most(second)} bytes held; "
        f"{samples['stored']} samples, merged: {profile.get('merged')}")
    assert samples["taken"] == samples["stored"] + sum(samples["lost"].values())
    assert sum(stack["samples"] for stack in profile["stacks"]) == samples["stored"] > 100
    assert sum(stack["weight"] for stack in profile["stacks"]) == profile["weight"]["total"]
    assert sum(thread["samples"] for thread in profile["threads"]) == samples["stored"]
    assert any("ClassBytes" in frame or "Churn.burn" in frame for s in profile["stacks"] for frame in s["frames"])
    assert most(second) <= 2 * most(first) + 500_000, second[-1]


# ---- the soak ----

def anonymous(program):
    """MB of anonymous memory."""
    with open(f"/proc/{program.pid}/smaps_rollup") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("Anonymous:")) / 1024


def slope(points):
    """Least squares: MB an hour, and twice its standard error."""
    n, mean = len(points), [sum(p[i] for p in points) / len(points) for i in (0, 1)]
    square = sum((x - mean[0]) ** 2 for x, _ in points)
    rise = sum((x - mean[0]) * (y - mean[1]) for x, y in points) / square
    rest = sum((y - mean[1] - rise * (x - mean[0])) ** 2 for x, y in points) / max(1, n - 2)
    return rise * 3600, 2 * (rest / square) ** 0.5 * 3600


COMINGS = {"threads": (5000, 0, 0), "classes": (0, 100, 20)}


@pytest.mark.skipif(not jvm.SOAK, reason="takes minutes (make soak; JSTROBE_SOAK_MINUTES)")
@pytest.mark.parametrize("options", [("-e", "cpu"), ("-e", "wall"), ("-e", "ctimer", "-i", "100ms")],
                         ids=["cpu", "wall", "ctimer"])
@pytest.mark.parametrize("what", COMINGS)
def test_slope(jdk17, what, options, say):
    # little room for classes, so that what the JVM itself has of them goes up and down by little
    flags = ["-Xms64m", "-Xmx64m", "-XX:+AlwaysPreTouch", "-XX:+UseSerialGC", "-XX:MaxMetaspaceSize=24m",
             "-XX:CompressedClassSpaceSize=8m"]
    with Program(jdk17, "Comings", *COMINGS[what], jvm=flags) as twin, \
            Program(jdk17, "Comings", *COMINGS[what], jvm=flags) as program:
        assert jstrobe("start", *options, program.pid).returncode == 0
        points, began = [], time.time()
        while time.time() < began + SOAK_SECONDS:
            points.append((time.time() - began, anonymous(program) - anonymous(twin), program.descriptors()))
            time.sleep(1)
        counters = program.mark()
        assert jstrobe("stop", program.pid).returncode == 0
    late = [p for p in points if p[0] > SOAK_SECONDS / 4]
    rise, error = slope([p[:2] for p in late])
    say(f"{what}, {options[1]}: {counters} in {SOAK_SECONDS:.0f} s: {rise:+.1f} ± {error:.1f} MB an hour beyond the twin, "
        f"{min(p[2] for p in late)} to {max(p[2] for p in late)} descriptors")
    assert rise - error <= 1
