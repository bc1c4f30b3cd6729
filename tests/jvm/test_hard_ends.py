"""The JVM's own ends while samples are taken: exit status and hs_err file are as without us."""
import os
import re
import signal
import time

import jvm
import pytest
from jvm import Program, counted, jstrobe, record

pytestmark = pytest.mark.together

WAYS = {  # JVM flags, exit status, how the hs_err file says what happened
    "exit": ([], 3, None),
    "halt": ([], 4, None),
    "crash": ([], 1, "SIGSEGV"),
    "unsafe": ([], 1, "SIGSEGV"),
    "abort": ([], -signal.SIGABRT, None),
    "memory": (["-XX:+ExitOnOutOfMemoryError"], 3, None),
    "memory-crash": (["-XX:+CrashOnOutOfMemoryError"], 1, "Internal Error"),
}
IN_CHECK = {(17, "crash"), (17, "exit"), (25, "unsafe"), (25, "memory-crash")}


def head(path):
    """What an hs_err file says happened, without addresses and times."""
    with open(path, errors="replace") as file:
        text = file.read()
    found = {}
    for name, pattern in {
            "what": r"^#\s+((?:SIG\w+|Out of Memory Error|Internal Error|fatal error).*)$",
            "frame": r"^# Problematic frame:\n# (.*)$",
            "siginfo": r"^siginfo: (.*)$",
            # "j  name" interpreted, "J 42% c2 name" compiled: which of them is the compiler's race
            "java": r"^[jJ]\s+(?:\d+%?\s+(?:c[12]\s+)?)?(truth\.Tricks\.\w+|truth\.Ends\.end)",
            "end": r"^(END)\.$"}.items():
        match = re.search(pattern, text, re.M)
        found[name] = re.sub(r"0x[0-9a-f]+|\b(pid|tid)=\d+|\d+ bytes", "N", match.group(1)) if match else None
    return found


def end(jdk, way, sampling):
    """(exit status, head of the hs_err file or None) of a program that ends in that WAY."""
    flags = WAYS[way][0]
    report = os.path.join(jvm.WORK, f"hs_err-{os.getpid()}-{way}.log")
    if os.path.exists(report):
        os.remove(report)
    with Program(jdk, "Ends", jvm.NATIVE, way.split("-")[0],
                 jvm=[*flags, "-Xmx128m", "-XX:-CreateCoredumpOnCrash", f"-XX:ErrorFile={report}"]) as program:
        if sampling:
            done = jstrobe("start", "-e", "cpu", "-i", "100us", program.pid)
            assert done.returncode == 0, done.stderr
        time.sleep(counted(0.3, 3))
        program.say("end")
        status = program.process.wait(timeout=60)
        found = head(report) if os.path.exists(report) else None
    if found:
        os.remove(report)
        if way.startswith("memory"):
            del found["java"]  # any of the threads may be the one that finds no room
    return status, found


@pytest.mark.parametrize("way", WAYS)
def test_ends_as_without_us(jdk, way):
    if (jdk.version, way) not in IN_CHECK and not jvm.SOAK:
        pytest.skip(f"{way} on {jdk}: only with full counts (make soak)")
    plain = end(jdk, way, sampling=False)
    _, status, what = WAYS[way]
    assert plain[0] == status, plain
    assert not what or (plain[1]["what"] or "").startswith(what) and plain[1]["end"], plain
    for _ in range(counted(1, 20)):
        assert end(jdk, way, sampling=True) == plain


def test_deoptimisation_and_overflows(jdk, say):
    """OSR, deoptimisation and StackOverflowError storms at 100 µs; exact stacks all along."""
    with Program(jdk, "Ends", jvm.NATIVE, "exit") as program:
        profile = record(program, "-i", "100us", "-d", counted("1.5", "600"), "-j", "64")
        counters = program.mark()
        assert counters["overflows"] > 10 and counters["deopts"] > 10, counters
        assert program.stop() == 0, program.output[-5:]
    bad, total, worst = jvm.incomplete(profile, profile.of_thread("loops"))
    say(f"deoptimisation {jdk}: {bad} of {total} stacks incomplete {worst}; {counters}")
    assert total > 100 and bad <= 0.02 * total, worst
    # The deep ones are cut, which they say, and else they are complete.
    wrong = [s for s in profile.of_thread("overflows") for f, k in zip(s["frames"], s["kinds"])
             if jvm.is_error(f, k) and f != "[truncated]"]
    assert sum(s["samples"] for s in wrong) <= 0.02 * total, wrong[:2]
