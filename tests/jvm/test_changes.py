"""Sampling changes no class of the program or the JDK, so that the JVM has no reason to throw compiled code away."""
import os
import subprocess
import time

import pytest
from jvm import Program, counted, jstrobe, record, result_file, wait_until

pytestmark = pytest.mark.together

LOGGED = ["-Xlog:redefine+class*=debug:stdout", "-Xlog:jni+resolve=off"]


def compiled(program):
    """Methods that the JVM has compiled so far."""
    jstat = os.path.join(program.jdk.home, "bin", "jstat")
    out = subprocess.run([jstat, "-compiler", str(program.pid)], stdout=subprocess.PIPE, text=True, timeout=60).stdout
    return int(out.split("\n")[1].split()[0])


def wait_until_calm(program):
    """Until next to nothing more is compiled; what goes on later is seen of the twin as well."""
    end, before = time.time() + 60, -1
    while time.time() < end:
        now = compiled(program)
        if before >= 0 and now - before <= now // 100 and program.mark().get("rounds", 0) > 2000:
            return now
        before = now
        time.sleep(1)
    return before


def test_nothing_is_compiled_anew(jdk, say):
    """Waits for locks are watched from now on, in a program that has long been compiled. Its twin is not watched."""
    with Program(jdk, "Warm", jvm=["-XX:TieredStopAtLevel=1"]) as twin, \
            Program(jdk, "Warm", jvm=["-XX:TieredStopAtLevel=1"]) as program:
        before, other = wait_until_calm(program), wait_until_calm(twin)
        assert jstrobe("start", "-e", "lock", "--sleep", program.pid).returncode == 0
        rounds = program.mark()["rounds"]
        time.sleep(counted(2, 8))
        wait_until(lambda: program.mark()["rounds"] > rounds + 1000, 60)
        more, others = compiled(program) - before, compiled(twin) - other
        assert jstrobe("stop", "-o", "json", "-f", result_file(), program.pid).returncode == 0
        assert program.stop() == 0
    say(f"-e lock on a compiled program {jdk}: {before} methods compiled, {more} more (unwatched twin {others} more)")
    assert more <= before // 3 + 3 * max(others, 0), (before, more, others)


@pytest.mark.parametrize("event", [("cpu",), ("wall", "--vthreads"), ("lock", "--sleep")])
def test_no_class_is_changed(jdk, event):
    with Program(jdk, "Locks", jvm=LOGGED) as program:
        for _ in range(2):
            record(program, "-e", *event, "-d", "0.3")
        assert program.stop() == 0
        changed = [line for line in program.output if "redefine" in line]
        assert not changed, changed[:5]
        assert not [line for line in program.output if "native method" in line]  # no warning of those that are bound


def test_natives_are_bound_once(jdk):
    """Each binding leaves code behind in the JVM (JDK-8369219): sessions after the first one bind nothing."""
    with Program(jdk, "Locks", "sleep", jvm=["-Xlog:jni+resolve=debug:stdout"]) as program:
        for _ in range(3):
            record(program, "-e", "lock", "--sleep", "-d", "0.2")
        assert program.stop() == 0
        bound = [line for line in program.output if "jni,resolve" in line and ("Unsafe.park" in line or ".sleep" in line)]
        again = [line for line in bound if "Registering" in line]
        assert len(again) <= 2 + 2, again  # the JDK's own, at its start, and ours


MODES = [("-e", "cpu"), ("-e", "wall", "--vthreads"), ("-e", "lock", "--sleep")]
SYNCS = [("-e", "cpu,lock", "--jfrsync", "default+jdk.FileRead#threshold=1ms+jdk.ThreadStart")]


def complaints(jdk, modes, suffix):
    """What a JVM that checks each JNI call says while sessions of MODES come and go."""
    virtual = ["virtual"] if jdk.version >= 21 else []
    with Program(jdk, "Locks", *virtual, jvm=["-Xcheck:jni"]) as program:
        for mode in modes:
            path = result_file(suffix)
            done = jstrobe("record", *mode, "-d", "0.3", "-f", path, program.pid)
            assert done.returncode == 0, done.stderr
            os.remove(path)
        # one that cannot begin: what the JDK throws is no exception of the thread's afterwards
        if suffix == ".jfr":
            done = jstrobe("start", "-e", "cpu", "--jfrsync", "no-such-settings", "-f", result_file(suffix), program.pid)
            assert done.returncode != 0 and "no-such-settings" in done.stderr, done
        assert program.stop() == 0
        return {line for line in program.output if "JNI" in line or "native method" in line}


def test_check_jni(jdk):
    """Exceptions are asked for, references are few; a program of its own says what the JDK's own code is told."""
    with Program(jdk, "Locks", jvm=["-Xcheck:jni"]) as twin:
        assert twin.stop() == 0
        own = {line for line in twin.output if "JNI" in line or "native method" in line}
    assert not complaints(jdk, MODES, ".json") - own
    assert not complaints(jdk, SYNCS, ".jfr") - own
