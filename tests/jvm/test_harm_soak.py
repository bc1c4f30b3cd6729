"""An hour of a program that makes threads, hidden classes or virtual threads all the time, beside an unprofiled twin.

Only with full counts (make soak); JSTROBE_SOAK_MINUTES says how long, 60 unless told.
"""
import os
import time

import jvm
import pytest
from jvm import Program, jstrobe

MINUTES = float(os.environ.get("JSTROBE_SOAK_MINUTES", 60))
EVERY = 10  # s between two looks
# Tables are touched for the first time for minutes; in an hour that is over before the first look counts.
FIRST_USE = 0 if MINUTES >= 30 else 4 << 20
# Threads that live just then have descriptors; the fewest seen in a third of a minute vary by some. One left of 10,000 is 10 there.
VARIES = 2 if MINUTES >= 10 else 8
CASES = {
    "threads cpu": (("Comings", 5000, 0, 0), ("-e", "cpu")),
    "threads wall": (("Comings", 5000, 0, 0), ("-e", "wall")),
    "threads lock": (("Comings", 5000, 0, 0), ("-e", "lock")),
    "classes cpu": (("Comings", 0, 100, 0), ("-e", "cpu")),
    "classes trace": (("Comings", 0, 100, 0), ("--instrument", "truth.Comings")),
    "virtual trace": (("Comings", 0, 0, 0, 50000), ("--instrument", "truth.Comings")),
    "virtual wall": (("Comings", 0, 0, 0, 50000), ("-e", "wall", "--vthreads")),
}


def slope(points):
    """(bytes an hour, its standard error) of the line through [(seconds, bytes)]."""
    n = len(points)
    x = sum(p[0] for p in points) / n
    y = sum(p[1] for p in points) / n
    square = sum((p[0] - x) ** 2 for p in points)
    line = sum((p[0] - x) * (p[1] - y) for p in points) / square
    rest = sum((p[1] - y - line * (p[0] - x)) ** 2 for p in points)
    return line * 3600, (rest / max(1, n - 2) / square) ** 0.5 * 3600


@pytest.mark.parametrize("case", CASES)
def test_nothing_grows(jdk, case, say):
    """Resident memory grows no faster than the twin's, within the noise of both; descriptors stay."""
    if not jvm.SOAK:
        pytest.skip("only with full counts (make soak)")
    if case.startswith("virtual") and jdk.version < 21:
        pytest.skip(f"{jdk} has no virtual threads")
    program, event = CASES[case]
    flags = ["-XX:+UseSerialGC", "-Xms256m", "-Xmx256m", "-XX:+AlwaysPreTouch", "-XX:+EnableDynamicAgentLoading"]
    with Program(jdk, *program, jvm=flags) as target, Program(jdk, *program, jvm=flags) as twin:
        assert jstrobe("start", *event, target.pid).returncode == 0
        born = time.time()
        warm = min(300.0, MINUTES * 60 / 4)
        time.sleep(warm)
        began, descriptors, points, twins = time.time(), [], [], []
        while time.time() < began + MINUTES * 60 - warm:
            points.append((time.time() - began, target.memory()))
            twins.append((time.time() - began, twin.memory()))
            descriptors.append(target.descriptors())
            time.sleep(EVERY if MINUTES > 5 else 1)
        made = {k: round(v / (time.time() - born)) for k, v in target.mark().items() if v}
        status = jstrobe("status", target.pid).stdout
        assert "is running" in status, status
        assert jstrobe("stop", "-f", "/dev/null", target.pid).returncode == 0
        assert target.stop() == 0 and twin.stop() == 0
    (ours, our_error), (other, its_error) = slope(points), slope(twins)
    say(f"soak {case} {jdk}, {MINUTES:.0f} minutes: {ours / 2**20:+.2f} ± {our_error / 2**20:.2f} MB/h, its twin "
        f"{other / 2**20:+.2f} ± {its_error / 2**20:.2f} MB/h, descriptors {min(descriptors)} to {max(descriptors)}, a second {made}")
    third = len(descriptors) // 3
    assert min(descriptors[-third:]) <= min(descriptors[:third]) + VARIES, descriptors
    allowed = (1 << 20) + 3600 * FIRST_USE / (MINUTES * 60 - warm)
    assert ours - other <= allowed + 3 * (our_error + its_error), (ours, other, our_error, its_error)
