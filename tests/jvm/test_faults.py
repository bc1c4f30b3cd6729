"""Limits of the target and calls that fail in it: threads degrade one by one, counted; nothing breaks."""
import mmap
import os
import re
import struct
import subprocess
import time

import jvm
import pytest
from jvm import LIBRARY, Program, counted, jstrobe, wait_until
from test_talk import COMMAND, DONE, FAILED, OUTPUT, Command

pytestmark = pytest.mark.together

MEMORY, MAP, PERF, TIMER, THREAD, FILES, RING = range(1, 8)
CALLS = {MEMORY: "allocation", MAP: "mapping", PERF: "perf event", TIMER: "timer", THREAD: "thread",
         FILES: "file", RING: "mapping of a descriptor"}
PRELOAD = os.path.join(jvm.OWN, "libfail.so")


# ---- limits ----------------------------------------------------------------------------------

def limited(**limits):
    """A wrapper that sets limits: sigpending=64 …"""
    return ["prlimit"] + [f"--{name}={value}" for name, value in limits.items()]


def as_another_user():
    """A user of whom nothing else runs (RLIMIT_SIGPENDING is counted by user); [] where we are not root."""
    if os.geteuid() != 0:
        return []
    uid = 61000 + os.getpid() % 4000
    return ["setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups"]


def pending(program):
    with open(f"/proc/{program.pid}/status") as file:
        return [int(n) for n in re.search(r"^SigQ:\s*(\d+)/(\d+)", file.read(), re.M).groups()]


def start_and_stop(program, event, seconds=1.5):
    """A session; its result, the target's SigQ and descriptors meanwhile, and what the command said."""
    done = jstrobe("start", "-e", event, "-i", "1ms", program.pid)
    assert done.returncode == 0, done.stderr
    said = done.stderr
    time.sleep(seconds)
    during = pending(program), program.descriptors()
    path = jvm.result_file()
    done = jstrobe("stop", "-t", "-o", "json", "-f", path, program.pid)
    assert done.returncode == 0, done.stderr
    profile = jvm.Profile(path)
    os.remove(path)
    profile.check()
    return profile, *during, said + done.stderr


def no_errors(program):
    counters = program.mark()
    assert counters["timer_errors"] == 0 and counters.get("accept_errors", 0) == 0, counters
    assert counters["timers"] > 0 and counters["accepts"] > 0, counters


def test_pending_signals(jdk17, say):
    """RLIMIT_SIGPENDING=64: half of it for CPU timers; threads without one are counted and said."""
    wrap = as_another_user() + limited(sigpending=64)
    if wrap[0] == "setpriv" and subprocess.run(
            wrap[:4] + ["test", "-r", jvm.LIBRARY]).returncode != 0:
        pytest.skip("the build folder cannot be read by another user")
    with Program(jdk17, "Limits", jvm.NATIVE, 40, wrap=wrap) as program:
        stale = f"/tmp/.java_pid{program.pid}"
        if os.path.exists(stale):  # left behind by a JVM that was killed, and had this number
            os.remove(stale)
        program.reset()
        before = pending(program)
        profile, during, _, said = start_and_stop(program, "ctimer")
        no_errors(program)
        assert pending(program)[0] <= before[0] + 8  # of the program's own
    armed = profile.json["armed"]
    say(f"RLIMIT_SIGPENDING=64, {armed}, SigQ {during}")
    assert armed["timer"] <= 32 and during[0] <= 32 + 10
    assert armed["refused"] > 0 and armed["perf"] == 0
    assert "some threads get no CPU timer" in said and "ulimit -i" in said
    if before[0] < 20:  # no other process of that user
        assert armed["timer"] > 5 and profile.samples["stored"] > 0


def test_descriptors_and_pending_signals(jdk17, say):
    """RLIMIT_NOFILE=256: half of it is left; what is over gets timers, and then nothing."""
    with Program(jdk17, "Limits", jvm.NATIVE, 120, wrap=limited(nofile=256)) as program:
        program.reset()
        before = program.descriptors()
        profile, _, descriptors, said = start_and_stop(program, "cpu")
        no_errors(program)
    armed = profile.json["armed"]
    say(f"RLIMIT_NOFILE=256, {armed}, {before} → {descriptors} descriptors")
    assert descriptors <= max(before, 128) + 25, (before, descriptors)
    if profile.json["engine"].startswith("perf"):
        assert armed["perf"] > 0 and armed["timer"] > 0 and profile.json["engine"] == "perf+ctimer"
        assert "some threads get no perf event" in said and "ulimit -n" in said


def test_memory_that_is_not_lent(jdk17):
    """Little writable memory is asked for ahead (where vm.overcommit_memory=2, all of it would count)."""
    def data(program):
        with open(f"/proc/{program.pid}/status") as file:
            return int(re.search(r"^VmData:\s*(\d+)", file.read(), re.M).group(1)) * 1024
    with Program(jdk17, "KnownShares") as program:
        before = data(program)
        assert jstrobe("start", "-e", "cpu", "-i", "1ms", program.pid).returncode == 0
        during = data(program)
        assert jstrobe("stop", program.pid).returncode == 0
    assert during - before < 96 << 20, f"{(during - before) >> 20} MB"


# ---- calls that fail -------------------------------------------------------------------------

class Orders:
    """What the preloaded library obeys (preload/fail.c)."""

    def __init__(self):
        self.path = jvm.result_file(".orders")
        with open(self.path, "wb") as file:
            file.write(bytes(48))
        self.file = open(self.path, "r+b")
        self.map = mmap.mmap(self.file.fileno(), 48)

    def find_library(self, program):
        with open(f"/proc/{program.pid}/maps") as maps:
            places = [line.split("-", 1)[0] + "-" + line.split()[0].split("-")[1]
                      for line in maps if "libjstrobe.so" in line]
        low, high = int(places[0].split("-")[0], 16), int(places[-1].split("-")[1], 16)
        struct.pack_into("QQ", self.map, 0, low, high)

    def give(self, kind, first, ever):
        struct.pack_into("Q", self.map, 16, 0)
        struct.pack_into("QQQ", self.map, 24, first, ever, 0)
        struct.pack_into("Q", self.map, 16, kind)

    def end(self):
        """How many calls there were."""
        struct.pack_into("Q", self.map, 16, 0)
        return struct.unpack_from("Q", self.map, 40)[0]

    def close(self):
        self.map.close()
        self.file.close()
        os.remove(self.path)


@pytest.fixture(scope="module")
def preload(programs):
    source = os.path.join(jvm.ROOT, "tests", "jvm", "preload", "fail.c")
    subprocess.run([os.environ.get("CC", "gcc"), "-O2", "-g", "-Wall", "-Wextra", "-fno-builtin",
                    "-fPIC", "-shared", "-o", PRELOAD, source, "-ldl"], check=True)


@pytest.fixture
def orders(preload):
    given = Orders()
    yield given
    given.close()


class Sessions:
    """Sessions in one conversation, or in a new one where the last could not go on."""

    def __init__(self, jdk, program, orders):
        self.jdk, self.program, self.orders, self.command = jdk, program, orders, None

    def refused(self, text):
        assert re.search(r"code=[1-9]\d*\nreason=\w", text), text

    def ask(self, *lines):
        self.command.send(COMMAND, "\n".join(lines))
        kind, text = self.command.answer()
        if kind == FAILED:
            self.refused(text)
        return kind == DONE

    def run(self, event):
        """Start, a moment, stop; the result, or None where a reason was given."""
        path = jvm.result_file()
        try:
            if not self.ask("start", "owner", f"event={event}", "interval=1000000", "threads"):
                return None
            time.sleep(0.03)
            with open(path, "wb") as file:
                self.command.send(OUTPUT, "", [file.fileno()])
                done = self.ask("stop", "format=json")
            if not done:
                self.again()
                return None
            profile = jvm.Profile(path)
            profile.check()
            return profile
        except (EOFError, ConnectionError):
            self.again()
            return None
        finally:
            if os.path.exists(path):
                os.remove(path)

    def again(self):
        """The session ends with the conversation that owns it."""
        self.orders.end()
        if self.command:
            self.command.close()
        self.command = Command(self.jdk, self.program).welcomed()


# Kind of call, event, whether all later ones fail, too.
CASES = [(MEMORY, "cpu", False), (MEMORY, "ctimer", True), (MAP, "cpu", False), (MAP, "cpu", True),
         (PERF, "cpu", True), (RING, "cpu", True), (TIMER, "ctimer", True), (THREAD, "cpu", False),
         (FILES, "cpu", False), (FILES, "ctimer", True)]


def each_number(sessions, orders, kind, event, ever):
    """The first, the second … call of a session fails; how many sessions there were, refused, calls."""
    orders.give(kind, 0, False)
    assert sessions.run(event)
    calls, n, tried, refused = orders.end(), 1, 0, 0
    while n <= calls:
        orders.give(kind, n, ever)
        profile = sessions.run(event)
        orders.end()
        assert sessions.program.alive(), sessions.program.output[-20:]
        if kind in (PERF, RING) and profile:
            assert profile.json["armed"]["perf"] + profile.json["armed"]["timer"] > 0
        tried, refused = tried + 1, refused + (profile is None)
        n += counted(1 + 3 * n, 1)
    return tried, refused, calls


def test_calls_fail(jdk17, orders, say):
    """The n-th call of a session fails: the session says so, or its result adds up; the JVM goes on."""
    env = [f"LD_PRELOAD={PRELOAD}", f"JSTROBE_TEST_FAIL={orders.path}"]
    with Program(jdk17, "ThreadChurn", wrap=["env"] + env) as program:
        sessions = Sessions(jdk17, program, orders)
        sessions.again()
        assert sessions.run("cpu")  # what a process keeps after its first session
        orders.find_library(program)
        descriptors = program.descriptors()
        for kind, event, ever in CASES:
            tried, refused, calls = each_number(sessions, orders, kind, event, ever)
            say(f"{tried} of {calls} {CALLS[kind]}s failed{' with all after them' if ever else ''} ({event}): "
                f"{refused} sessions refused with the reason, {tried - refused} results that add up")
            assert calls > 0 and tried > 0
            profiles = (sessions.run(event) for _ in range(20))
            assert any(p and p.samples["taken"] > 0 for p in profiles), "the next session is not as ever"
        sessions.command.close()
        wait_until(lambda: program.descriptors() <= descriptors, 5)
        assert program.stop() == 0, program.output[-5:]
