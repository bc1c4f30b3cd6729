"""The command ends by SIGKILL at each of its system calls in turn: the target goes on, and the next session works.

With full counts (make soak) at every one of them; else at some, chosen at random: JSTROBE_SEED says which, and
JSTROBE_ROUNDS how many.
"""
import collections
import contextlib
import os
import random
import re
import subprocess
import time

import jfr
import jvm
import pytest
from jvm import COMMAND, Program, counted, jstrobe, wait_until

pytestmark = pytest.mark.together

SEED = int(os.environ.get("JSTROBE_SEED", 0)) or random.SystemRandom().randrange(1, 1 << 32)
ROUNDS = int(os.environ.get("JSTROBE_ROUNDS", counted(3, 0)))  # 0 = all
MODES = {
    # what runs before it, the command, how its result ends
    "record": ((), ("record", "-i", "1ms", "-d", "0.1"), ".json"),
    "record_jfr": ((), ("record", "-e", "cpu,wall", "-i", "1ms", "-d", "0.1"), ".jfr"),
    "start": ((), ("start", "-i", "1ms"), ".jfr"),
    "stop": (("start", "-i", "1ms"), ("stop",), ".json"),
    "dump": (("start", "-i", "1ms"), ("dump",), ".html"),
    "stream": ((), ("stream", "-i", "1ms", "-d", "0.1"), ".ndjson"),
    "trace": ((), ("start", "--instrument", "truth.KnownShares"), ".json"),
}
SHORT = {("record", 17), ("start", 17), ("stream", 17), ("dump", 25)}


def may_trace():
    try:
        return subprocess.run(["strace", "-f", "-e", "inject=all:signal=SIGKILL:when=1", "true"],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode not in (0, 1)
    except OSError:
        return False


def kill_at(call, number, log, *args):
    """Run the command and kill it when it makes the system call CALL for that time; its exit status."""
    done = subprocess.run(["strace", "-f", "-qq", "-o", log, "-e", f"trace=bind,{call}", "-e",
                           f"inject={call}:signal=SIGKILL:when={number}", COMMAND, *jvm.replacing(args)], cwd=jvm.WORK,
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=120)
    with open(log) as file:
        sockets = re.findall(r"\.jstrobe-\w+", file.read())
    os.remove(log)
    # at which it waited for the agent: a killed one cannot remove it, and other tests look for what is left
    for name in sockets:
        with contextlib.suppress(OSError):
            os.remove(os.path.join("/tmp", name))
    return done.returncode


def calls_of(log, *args):
    """The system calls of a whole run of the command in their order: [(name, which one of that name)]."""
    subprocess.run(["strace", "-f", "-qq", "-o", log, COMMAND, *jvm.replacing(args)], cwd=jvm.WORK, check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=120)
    with open(log) as file:
        found = [re.match(r"(\d+ +)(\w+)\(", line) for line in file]
    os.remove(log)
    calls, counts = [], collections.Counter()
    for one in filter(None, found):
        counts[one.groups()] += 1
        calls.append((one[2], counts[one.groups()]))
    return sorted(set(calls), key=calls.index)


def in_time(*args, seconds=60):
    """The command's work is done sooner or later: what a killed one left is being ended meanwhile."""
    end = time.time() + seconds
    while True:
        done = jstrobe(*args)
        if done.returncode == 0:
            return done
        assert time.time() < end, (args, done.returncode, done.stderr)
        time.sleep(0.1)


def check_whole(path, where):
    """What lies under the asked name is nothing, or a whole result."""
    if not os.path.exists(path) or path.endswith(".ndjson"):  # a stream ends where its reader does
        return
    assert os.path.getsize(path), where
    if path.endswith(".json"):
        with open(path) as file:
            assert jvm.json.load(file)
    elif path.endswith(".html"):
        with open(path) as file:
            assert file.read().rstrip().endswith("</html>"), path
    elif path.endswith(".jfr"):
        assert jfr.Recording(path).chunks, where
    os.remove(path)


def no_session(program):
    """Nothing of a session is left, or it is one that goes on without its command: then it can be stopped."""
    wait_until(lambda: "pid" not in jstrobe("status", program.pid).stdout, 60)  # of an owner
    end = time.time() + 60
    while "is running" in jstrobe("status", program.pid).stdout:
        assert time.time() < end, jstrobe("status", program.pid).stdout
        jstrobe("stop", "-f", "/dev/null", program.pid)  # refused where it has ended by itself meanwhile


@pytest.mark.parametrize("mode", MODES)
def test_killed_at_any_system_call(jdk, mode, say):
    if not jvm.SOAK and (mode, jdk.version) not in SHORT and not os.environ.get("JSTROBE_ROUNDS"):
        pytest.skip("only with full counts (make soak)")
    if not may_trace():
        pytest.skip("strace cannot trace here (not installed, or ptrace is not permitted)")
    before, command, suffix = MODES[mode]
    path, log = jvm.result_file(suffix), jvm.result_file(".strace")
    with Program(jdk, "KnownShares") as program:
        assert jstrobe("record", "-d", "0.1", "-f", "/dev/null", program.pid).returncode == 0
        descriptors, threads = program.descriptors(), len(program.threads())
        if before:
            in_time(*before, program.pid)
        calls = calls_of(log, *command, "-f", path, program.pid)
        no_session(program)
        check_whole(path, mode)
        points = random.Random(SEED).sample(calls, min(ROUNDS, len(calls))) if ROUNDS else calls
        killed = 0
        for call, number in points:
            where = f"{mode} killed at {call} number {number}, JSTROBE_SEED={SEED}"
            if before:
                in_time(*before, program.pid)
            killed += kill_at(call, number, log, *command, "-f", path, program.pid) not in (0, 1)
            assert program.alive(), where
            if mode not in ("start", "trace"):
                check_whole(path, where)
            no_session(program)
            if mode in ("start", "trace"):
                check_whole(path, where)
            work = program.mark()
            wait_until(lambda: program.mark() != work)
        path = jvm.result_file()
        in_time("record", "-i", "1ms", "-d", "0.3", "-f", path, program.pid)
        assert jvm.Profile(path).samples["stored"] > 0
        os.remove(path)
        wait_until(lambda: program.descriptors() <= descriptors)
        wait_until(lambda: len(program.threads()) <= threads + 2)  # the JVM's own attach listener and compilers
        wait_until(lambda: not [name for name in program.threads().values() if name.startswith("jstrobe")])
        assert program.stop() == 0, program.output[-5:]
    assert killed >= len(points) * 3 // 4, (killed, len(points))
    say(f"{mode} {jdk}: killed at {killed} of {len(calls)} system calls")
