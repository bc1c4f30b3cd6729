"""
What lasts longer than the memory of traces: while a thread waits, that is renewed several times, and the wait has its
stack all the same when it ends.
"""
import re
import time

import jvm
import pytest
from jvm import Profile, Program, jstrobe, result_file, wait_until

pytestmark = pytest.mark.together

TRACES = re.compile(r'jstrobe_held_bytes\{structure="traces"\} (\d+)')
MS = 1_000_000


def traces(program):
    """Bytes of traces now."""
    done = jstrobe("metrics", program.pid)
    assert done.returncode == 0, done.stderr
    return int(TRACES.search(done.stdout)[1])


def wait_for_renewals(program, times):
    """The most bytes seen until so many times there were much fewer than before."""
    most, before, end = 0, 0, time.time() + 120
    while times:
        assert program.alive() and time.time() < end, (times, before, program.output[-5:])
        now = traces(program)
        times -= now < before / 2
        most, before = max(most, now), now
        time.sleep(0.02)
    return most


def stacks_of(profile, frame):
    return [s for s in profile.stacks if frame in s["frames"]]


def waited(profile, frame, above):
    """ns of waits in FRAME; each of them has ABOVE among the frames that called it."""
    found = stacks_of(profile, frame)
    for s in found:
        assert above in s["frames"][:s["frames"].index(frame)], s
    return sum(s["weight"] for s in found)


CASES = {"lock": ((), ("-e", "lock"), ("monitor", "lock")),
         "virtual": (("virtual",), ("-e", "wall", "-i", "1ms", "--vthreads"), ("park",)),
         "virtual-lock": (("virtual",), ("-e", "lock"), ("park",))}


@pytest.mark.parametrize("case", CASES)
def test_long_waits(jdk, case, say):
    arguments, options, waits = CASES[case]
    if arguments and jdk.version < 21:
        pytest.skip(f"{jdk} has no virtual threads")
    path = result_file()
    with jvm.knobs(), Program(jdk, "LongWaits", *arguments) as program:
        done = jstrobe("start", "--memlimit", "1m", "--renew-at", "200k", *options, program.pid)
        assert done.returncode == 0, done.stderr
        program.say("begin")
        wait_until(lambda: program.mark()["came"] == len(waits), 60)
        most = wait_for_renewals(program, 3)
        program.say("end")
        wait_until(lambda: program.mark()["ended"] == len(waits), 60)
        truth = program.mark()["waited"]
        done = jstrobe("stop", "-o", "json", "-f", path, program.pid)
        assert done.returncode == 0, done.stderr
        assert program.stop() == 0, program.output[-5:]
    profile = Profile(path)
    profile.check()
    seen = sum(waited(profile, f"truth.LongWaits.{wait}", "truth.LongWaits.measured") for wait in waits)
    say(f"{case} {jdk}: {truth / 1e9:.2f} s of long waits, {seen / 1e9:.2f} s seen, at most {most} bytes of traces")
    assert truth * 0.5 < seen < truth * 1.1 + 100 * MS, (seen, truth, profile.samples)
