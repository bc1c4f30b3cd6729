"""Each stage of a session's start fails in turn: everything is undone, a result from before stays, the next session works."""
import os
import re
import subprocess

import jvm
import pytest
from jvm import Program, jstrobe

pytestmark = pytest.mark.together

SOURCE = os.path.join(jvm.ROOT, "src", "agent", "session", "session_stages.c")
# All that a session can have: several sources, waits, calls, parked virtual threads, a window, names that are watched.
EVERYTHING = ("-e", "cpu,wall,lock,truth.KnownShares.alpha", "-i", "1ms", "--sleep")


def stages(table):
    """Names of a table of the source: a stage that is added is tested, too."""
    with open(SOURCE) as file:
        rows = re.search(r"struct stage %s\[\] = \{\n(.*?)\n\};" % table, file.read(), re.S).group(1)
    return re.findall(r'^\t\{"([a-z-]+)"', rows, re.M)


def signals(pid):
    """Signals that have a handler."""
    with open(f"/proc/{pid}/status") as file:
        return re.search(r"^SigCgt:\s*(\w+)", file.read(), re.M).group(1)


def ours(program):
    """Threads of the library's own, but for the one that commands and results wait for."""
    return {name for name in program.threads().values() if name.startswith("jstrobe") and name != "jstrobe control"}


def record(program, event, path):
    done = jstrobe("record", "-d", "0.3", "-e", event, "-f", path, program.pid)
    assert done.returncode == 0, done.stderr
    return done


@pytest.mark.parametrize("sink", ["json", "jfr", "ring", "stream"])
def test_each_stage_fails(jdk, sink):
    before, path = jvm.result_file(".json"), jvm.result_file(".jfr" if sink == "jfr" else ".json")
    stream = jvm.result_file(".ndjson")
    more = {"json": (), "jfr": (), "ring": ("--last", "10s"), "stream": ("--stream", stream)}[sink]
    has = {"recording": sink == "jfr", "ring": sink == "ring"}
    virtual = ("--vthreads",) if jdk.version >= 21 else ()
    with Program(jdk, "KnownShares") as program, jvm.knobs():
        record(program, "cpu", jvm.result_file(".json"))  # what is begun once stays
        record(program, "cpu", before)
        jvm.wait_until(lambda: not ours(program))
        descriptors, handlers = program.descriptors(), signals(program.pid)
        for stage in stages("sampling"):
            done = jstrobe("start", *EVERYTHING, *virtual, *more, "--engine-fail", f"stage:{stage}", "-f", path, program.pid)
            if not has.get(stage, True):  # the session has no such stage: it must not matter
                assert done.returncode == 0, (stage, done.stderr)
                assert jstrobe("stop", program.pid).returncode == 0
                os.remove(path)
                if sink == "stream":
                    os.remove(stream)
            else:
                assert done.returncode == 1 and f"{stage}: told to fail" in done.stderr, (stage, done)
                assert "not active" in jstrobe("status", program.pid).stdout, stage
            # the command has its answer a moment before the agent has closed the socket
            jvm.wait_until(lambda: not ours(program) and program.descriptors() <= descriptors)
            assert signals(program.pid) == handlers, stage
            assert not os.path.exists(path) and not os.path.exists(stream), stage
        record(program, "cpu", path)
        assert os.path.getsize(path) > 0
        if sink != "jfr":
            jvm.Profile(path).check()
        assert program.stop() == 0, program.output[-5:]


def test_the_result_from_before_stays(jdk):
    """A session has ended and its result is not fetched yet; another one that fails does not take it away."""
    path = jvm.result_file(".json")
    with Program(jdk, "KnownShares") as program, jvm.knobs():
        assert jstrobe("start", "-i", "1ms", program.pid).returncode == 0
        program.work(0.3)
        assert jstrobe("stop", "-f", "/dev/null", program.pid).returncode == 0
        for stage in stages("sampling"):
            if stage in ("recording", "ring", "calls"):
                continue  # this session has none
            assert jstrobe("start", "-i", "1ms", "--engine-fail", f"stage:{stage}", program.pid).returncode == 1, stage
            assert jstrobe("dump", "-o", "json", "-f", path, program.pid).returncode == 0, stage
            jvm.Profile(path).check()
        assert program.stop() == 0, program.output[-5:]


def test_each_stage_of_a_trace_fails(jdk):
    with Program(jdk, "CallCost") as program, jvm.knobs():
        for stage in stages("tracing"):
            done = jstrobe("start", "--instrument", "truth.CallCost.call", "--engine-fail", f"stage:{stage}", program.pid)
            assert done.returncode == 1 and f"{stage}: told to fail" in done.stderr, (stage, done)
            assert "not active" in jstrobe("status", program.pid).stdout, stage
        assert jstrobe("start", "--instrument", "truth.CallCost.call", program.pid).returncode == 0
        assert jstrobe("stop", "-f", "/dev/null", program.pid).returncode == 0
        assert program.stop() == 0, program.output[-5:]


def test_a_stream_that_joins_later(jdk):
    """What it begins in a session that had none ends with the session."""
    with Program(jdk, "KnownShares") as program:
        assert jstrobe("start", "-i", "1ms", program.pid).returncode == 0
        assert jstrobe("stream", "-d", "0.3", "-f", jvm.result_file(".ndjson"), program.pid).returncode == 0
        assert jstrobe("stop", "-f", "/dev/null", program.pid).returncode == 0
        jvm.wait_until(lambda: not any(name.startswith("jstrobe") for name in program.threads().values()), 20)
        assert program.stop() == 0, program.output[-5:]


def test_a_start_fails_while_its_writer_is_held(jdk, tmp_path):
    """What the failed start set up stays until the thread has been let go; the next start gives it back."""
    library, fifo = str(tmp_path / "held_thread.so"), str(tmp_path / "fifo")
    subprocess.run([os.environ.get("CC", "gcc"), "-O2", "-Wall", "-Wextra", "-fPIC", "-shared", "-o", library,
                    os.path.join(jvm.ROOT, "tests", "jvm", "preload", "held_thread.c"), "-ldl"], check=True)
    wrap = ["env", "LD_PRELOAD=" + library, "JSTROBE_TEST_HELD=jstrobe write", f"JSTROBE_TEST_FIFO={fifo}",
            "GLIBC_TUNABLES=glibc.malloc.perturb=165"]  # freed memory is not what it was
    before, recording = jvm.result_file(".json"), jvm.result_file(".jfr")
    with jvm.knobs(), Program(jdk, "KnownShares", wrap=wrap) as program:
        record(program, "cpu", before)
        descriptors = program.descriptors()
        os.mkfifo(fifo)
        done = jstrobe("start", "-e", "cpu", "--engine-fail", "stage:ticks", "-f", recording, program.pid)
        assert done.returncode == 1 and "ticks: told to fail" in done.stderr, done
        done = jstrobe("start", "-e", "cpu", program.pid)
        assert done.returncode == 1 and "is held inside the profiler" in done.stderr, done
        released = os.open(fifo, os.O_WRONLY)  # it is there, or this would wait
        os.remove(fifo)
        os.close(released)
        for _ in range(3):
            record(program, "cpu", before)
            record(program, "cpu,wall", recording)
        jvm.wait_until(lambda: not ours(program) and program.descriptors() <= descriptors + 1)
        assert program.stop() == 0, program.output[-5:]
