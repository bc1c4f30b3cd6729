"""Targets that lie: what they answer, what lies beside their libraries. The command survives, is quick, and stays small.

The command's state machine is tried a million times without a process in tests/unit/test_cli_conversation.c.
"""
import concurrent.futures
import os
import random
import subprocess
import tempfile
import time

import jvm
import pytest
from fake_jvm import FakeJvm
from jvm import counted, jstrobe
from test_security_perf import why_not

pytestmark = [pytest.mark.together, pytest.mark.skipif(bool(why_not()), reason=why_not())]

CODES = {0, 1, 3}  # done, failed, cannot attach; see docs/inside/control.md
ROOM = 32 << 10    # KB that hostile answers may add to what honest ones take

# The kernel counts a process's memory before its exec, too: a small process is the parent, not that of all tests.
PARENT = "import os, sys\npid = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ)\n" \
         "_, status, usage = os.wait4(pid, 0)\nprint(os.waitstatus_to_exitcode(status), usage.ru_maxrss)"


def run(*words):
    """Exit code, stderr, and the most memory (KB) of one command."""
    with tempfile.TemporaryFile() as said:
        done = subprocess.run(["/usr/bin/python3", "-I", "-S", "-c", PARENT, "/bin/sh", "-c", 'exec "$@" >/dev/null', "sh",
                               jvm.COMMAND, *jvm.replacing(words)], stdout=subprocess.PIPE, stderr=said, cwd=jvm.WORK, timeout=300)
        said.seek(0)
        code, memory = map(int, done.stdout.split())
        return code, said.read().decode(), memory


ASKED = [("status",), ("list",), ("metrics",), ("version",), ("start",), ("stop", "-f", "PATH"), ("dump", "-f", "PATH"),
         ("record", "-d", "0.01", "-f", "PATH"), ("stream", "-d", "0.01", "-f", "/dev/null")]


def lies(lane, lanes, count):
    """Every LANES-th of COUNT conversations, with a target of its own: (most KB with honest answers, with others, seconds of
    the longest one)."""
    path = jvm.result_file(f"-{lane}.html")
    asked = [[path if word == "PATH" else word for word in words] for words in ASKED]
    with FakeJvm(loaded=True) as fake:
        honest = max(run(*words, fake.pid)[2] for words in asked)
        most = longest = 0
        for seed in range(lane, count, lanes):
            fake.say(f"garble {seed}")
            words = random.Random(seed).choice(asked)
            began = time.monotonic()
            code, said, memory = run(*words, "--attach-timeout", "2", fake.pid)
            longest = max(longest, time.monotonic() - began)
            assert code in CODES, (seed, words, code, said)
            assert not any(c in said for c in ("\x1b", "\x9b", "\x07")), (seed, words, said)
            most = max(most, memory)
        assert fake.process.poll() is None
    if os.path.exists(path):
        os.remove(path)
    return honest, most, longest


def test_answers_that_lie(say):
    """Each command meets answers drawn from a seed: no crash, no growth, nothing of it obeyed by a terminal.

    A conversation takes 15 ms of a CPU, and most of a second to wait for what does not come: many go on side by side."""
    count, lanes = counted(12, 10000), counted(4, 24)
    began = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(lanes) as pool:
        found = list(pool.map(lambda lane: lies(lane, lanes, count), range(lanes)))
    honest, most, longest = (max(column) for column in zip(*found))
    assert most <= honest + ROOM, (honest, most)
    say(f"hostile answers: {count} commands in {time.monotonic() - began:.0f} s, {lanes} side by side, the longest "
        f"{longest:.1f} s; {honest >> 10} MB with honest ones, {most >> 10} MB at most")


def looks_like_a_jvm(folder):
    """A process that has folder/lib/server/libjvm.so mapped, and takes SIGQUIT."""
    os.makedirs(os.path.join(folder, "lib", "server"))
    library = os.path.join(folder, "lib", "server", "libjvm.so")
    with open(library, "wb") as file:
        file.write(b"x" * 4096)
    process = subprocess.Popen(["/usr/bin/python3", "-c",
                                "import mmap, signal, sys, time\nfile = open(sys.argv[1])\n"
                                "memory = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)\n"
                                "signal.signal(signal.SIGQUIT, lambda *a: None)\nprint('up', flush=True)\n"
                                "while True:\n    time.sleep(60)", library], stdout=subprocess.PIPE)
    assert process.stdout.readline() == b"up\n"
    return process


def test_a_file_without_an_end(tmp_path, say):
    """8 TB of nothing beside its libjvm.so: what looks at all processes goes on to the next."""
    process = looks_like_a_jvm(str(tmp_path))
    with open(tmp_path / "release", "wb") as file:
        for size in (1 << 43, 1 << 40, 1 << 37):
            try:
                file.truncate(size)
                break
            except OSError:
                pass
    try:
        for _ in range(20):  # on a busy machine any process may be late, and is left out
            before = os.times()
            done = jstrobe("ps", timeout=300)
            after = os.times()
            cpu = after.children_user + after.children_system - before.children_user - before.children_system
            assert done.returncode == 0 and cpu < 5, (done, cpu)  # it took minutes
            if str(process.pid) in done.stdout:
                break
        assert str(process.pid) in done.stdout, done
        for words in (("record", "-d", "0.1", "NoSuchProgram"), ("record", "-d", "0.1", process.pid)):
            assert jstrobe(*words, "--attach-timeout", "1", timeout=300).returncode == 3, words
        assert str(process.pid) in jstrobe("doctor", process.pid, timeout=300).stdout
        say(f"ps beside a file of {size >> 40} TB: {cpu * 1000:.0f} ms of CPU time")
    finally:
        process.kill()
        process.wait()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root looks at processes as their users")
def test_another_users_jvm_is_seen_each_time(say):
    """Who looks waits for no thread that only the command has: such looks hung, and the JVM was left out."""
    with FakeJvm(loaded=True):
        late = 0
        for _ in range(30):
            done = jstrobe("status", "NoSuchProgram", timeout=300)
            assert done.returncode == 3, done
            late += "left out" in done.stderr
        say(f"a JVM of another user was looked at 30 times, {late} times too late")
        assert late <= 3  # on a busy machine any process may be late; it was 25 and more
