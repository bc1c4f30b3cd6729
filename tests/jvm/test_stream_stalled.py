"""Readers of live streams that stand still: neither `stop` nor the end of the JVM waits for them, however many there are."""
import contextlib
import json
import re
import signal
import socket
import subprocess
import threading
import time

import jvm
import pytest
from jvm import COMMAND, Program, jstrobe, wait_until

pytestmark = pytest.mark.together

EACH_WOULD_TAKE = 2.0  # s, one after the other
COUNTS = [8] if not jvm.SOAK else [1, 3, 8]


def metrics(program):
    """{name: number} of the session's counters, without those of single events and reasons."""
    done = jstrobe("metrics", program.pid)
    assert done.returncode == 0, done.stderr
    return {name: float(value) for name, value in re.findall(r"^(\w+)(?:\{[^}]*\})? ([\d.e+]+)$", done.stdout, re.M)}


def dropped(program):
    return metrics(program)["jstrobe_stream_dropped_samples_total"]


def threads_of_streams(program):
    return [name for name in program.threads().values() if name.startswith("jstrobe stream")]


@contextlib.contextmanager
def stalled_readers(program, count):
    """So many `jstrobe stream`, stopped by SIGSTOP, for which as much waits as ever will."""
    readers = []
    try:
        for _ in range(count):
            readers.append(subprocess.Popen([COMMAND, "stream", str(program.pid)], stdout=subprocess.PIPE,
                                            stderr=subprocess.DEVNULL, cwd=jvm.WORK))
            readers[-1].stdout.readline()
            readers[-1].send_signal(signal.SIGSTOP)
        wait_until(lambda: dropped(program) > 0, 60)
        time.sleep(0.2)
        yield readers
    finally:
        for reader in readers:
            reader.kill()
            reader.stdout.close()
            reader.wait(30)


@pytest.mark.parametrize("count", COUNTS)
def test_stop_does_not_wait_for_them(jdk, count, say):
    """The time of `stop` does not grow with their number; what they did not get is counted, and nothing stays."""
    with Program(jdk, "KnownShares") as program, contextlib.ExitStack() as stack:
        assert jstrobe("start", "-i", "100us", "--lines", program.pid).returncode == 0
        stack.enter_context(stalled_readers(program, count))
        descriptors, before = program.descriptors(), dropped(program)
        began = time.monotonic()
        done = jstrobe("stop", "-o", "collapsed", program.pid)
        took = time.monotonic() - began
        assert done.returncode == 0 and "alpha" in done.stdout
        wait_until(lambda: not threads_of_streams(program))
        # what waited for them when the session ended
        assert dropped(program) > before
        assert program.descriptors() < descriptors
        say(f"{count} readers that stand still {jdk}: stop took {took:.1f} s")
        assert count < 8 or took < count * EACH_WOULD_TAKE / 2, f"{took:.1f} s for {count} readers"
        assert program.stop() == 0, program.output[-5:]


def test_the_next_session_does_not_wait_for_them(jdk17):
    """It begins and ends while readers of the last one still have their time."""
    with Program(jdk17, "KnownShares") as program, contextlib.ExitStack() as stack:
        assert jstrobe("start", "-i", "100us", "--lines", program.pid).returncode == 0
        stack.enter_context(stalled_readers(program, 2))
        assert jstrobe("stop", program.pid).returncode == 0
        for _ in range(3):
            assert jstrobe("start", "-i", "1ms", program.pid).returncode == 0
            assert jstrobe("stop", program.pid).returncode == 0
        assert dropped(program) == 0, "drops of the session before"
        wait_until(lambda: not threads_of_streams(program))
        assert program.stop() == 0, program.output[-5:]


@pytest.mark.parametrize("count", COUNTS)
def test_the_end_of_the_jvm_does_not_wait_for_them(jdk, count, say):
    with Program(jdk, "KnownShares") as program, contextlib.ExitStack() as stack:
        assert jstrobe("start", "-i", "100us", "--lines", program.pid).returncode == 0
        stack.enter_context(stalled_readers(program, count))
        began = time.monotonic()
        assert program.stop() == 0, program.output[-5:]
        took = time.monotonic() - began
        say(f"{count} readers that stand still {jdk}: the JVM's end took {took:.1f} s")
        assert count < 8 or took < count * EACH_WOULD_TAKE / 2, f"{took:.1f} s for {count} readers"


def fill(program, reader, path):
    """Connect READER and let it take nothing until there is no more room."""
    reader.connect(path)
    reader.recv(1, socket.MSG_PEEK)
    before = dropped(program)
    wait_until(lambda: dropped(program) > before, 60)


def test_what_it_did_not_get_is_counted(jdk17, tmp_path):
    """Delivered + dropped = stored, also when the reader takes nothing until long after the end."""
    path = str(tmp_path / "live.sock")
    start = ["start", "-i", "100us", "--lines", "--stream", "unix:" + path]
    with Program(jdk17, "KnownShares") as program, socket.socket(socket.AF_UNIX) as former, \
            socket.socket(socket.AF_UNIX) as reader:
        assert jstrobe(*start, program.pid).returncode == 0
        fill(program, former, path)
        assert jstrobe("stop", program.pid).returncode == 0
        # another session may listen there at once, and has books of its own
        assert jstrobe(*start, program.pid).returncode == 0
        fill(program, reader, path)
        assert jstrobe("stop", program.pid).returncode == 0
        wait_until(lambda: not threads_of_streams(program))
        told = metrics(program)
        with reader.makefile("rb") as data:
            records = [json.loads(line) for line in data if line.endswith(b"\n")]
    delivered = sum(r.get("samples", 1) for r in records if r["kind"] == "sample")
    assert records[0]["kind"] == "header"
    assert delivered == told["jstrobe_stream_samples_total"] > 0
    assert delivered + told["jstrobe_stream_dropped_samples_total"] == told["jstrobe_samples_stored_total"]


def test_the_end_of_the_jvm_gives_them_a_moment(jdk17, tmp_path):
    """A reader who takes what waits as the JVM ends has a whole record last."""
    path, received = str(tmp_path / "live.sock"), bytearray()

    def take(reader):
        wait_until(lambda: "jstrobe streams" in threads_of_streams(program), 60)
        while part := reader.recv(1 << 16):
            received.extend(part)

    with Program(jdk17, "KnownShares") as program, socket.socket(socket.AF_UNIX) as reader:
        assert jstrobe("start", "-i", "100us", "--lines", "--stream", "unix:" + path, program.pid).returncode == 0
        fill(program, reader, path)
        taking = threading.Thread(target=take, args=[reader])
        taking.start()
        assert program.stop() == 0, program.output[-5:]
        taking.join(60)
    assert received.endswith(b"\n") and json.loads(received.splitlines()[-1])["kind"], received[-300:]
