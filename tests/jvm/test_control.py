"""Who commands a session: what a command leaves, starts that come too early or fail, commands that must not wait."""
import contextlib
import ctypes
import glob
import os
import shutil
import signal
import subprocess
import threading
import time

import jvm
import pytest
from jvm import Program, counted, jstrobe

pytestmark = pytest.mark.together


# ---- what a session keeps of a command ---------------------------------------------------------

@pytest.mark.parametrize("event", ["cpu", "wall"])
def test_threads_are_born_after_the_command_has_left(jdk, event):
    """The session keeps nothing that was the command's: each new thread asks what the session was told."""
    if (jdk.version, event) not in ((17, "cpu"), (25, "cpu"), (25, "wall")) and not jvm.SOAK:
        pytest.skip(f"{event} on {jdk}: only with full counts (make soak)")
    with Program(jdk, "ThreadCrowds", 150) as program:
        assert jstrobe("start", "-e", event, program.pid).returncode == 0
        program.say("end")
        jvm.wait_until(lambda: program.mark().get("crowds", 0) > counted(5, 500), seconds=120)
        assert jstrobe("stop", "-o", "collapsed", program.pid).returncode == 0
        assert program.stop() == 0, program.output[-5:]


# ---- while the JVM starts -----------------------------------------------------------------------

def started_with(jdk, said, *flags):
    """A program that was started with the agent so told and has ended by itself."""
    with Program(jdk, "Sleepers", 1, "idle", jvm=[f"-agentpath:{jvm.LIBRARY}={said}", *flags]) as program:
        assert program.stop() == 0, program.output[-10:]


@pytest.mark.parametrize("ms", [1, 10, 25, 45] if not jvm.SOAK else range(1, 51))
def test_the_time_is_up_while_the_jvm_starts(jdk, ms):
    """No thread can be attached before VMInit: what is due waits for it."""
    path = jvm.result_file()
    for _ in range(counted(1, 10)):
        started_with(jdk, f"start,event=cpu,interval=1ms,timeout={ms}ms,file={path}")
        jvm.Profile(path).check()
        os.remove(path)


def test_the_time_is_up_while_the_heap_is_touched(jdk):
    """The same with a start that takes long: its time is up before the JVM has any lists of threads."""
    path = jvm.result_file()
    for _ in range(counted(1, 20)):
        started_with(jdk, f"start,event=cpu,timeout=100ms,file={path}", "-Xms1g", "-XX:+AlwaysPreTouch")
        jvm.Profile(path).check()
        os.remove(path)


def test_rounds_while_the_jvm_starts(jdk):
    base = jvm.result_file("")
    for _ in range(counted(1, 20)):
        started_with(jdk, f"start,event=cpu,interval=1ms,loop=20ms,file={base}-%n.json")
        rounds = glob.glob(f"{base}-*.json")
        assert f"{base}-0.json" in rounds
        for path in rounds:
            jvm.Profile(path).check()
            os.remove(path)


# ---- starts that fail ----------------------------------------------------------------------------

def around(path):
    """What lies beside PATH whose name has something of its."""
    return sorted(name for name in os.listdir(os.path.dirname(path)) if os.path.basename(path) in name)


def test_a_refused_start_leaves_the_file_that_was_there(jdk17):
    path = jvm.result_file(".jfr")
    with open(path, "w") as file:
        file.write("precious")
    with Program(jdk17, "KnownShares") as program:
        for refused in (["--on-signal", "3"], ["--on-signal", "3", "--timeout", "1"], ["-e", "nonsense"],
                        ["--stream", "unix:/nowhere/at/all"]):
            done = jstrobe("start", *refused, "-f", path, program.pid)
            assert done.returncode == 1 and done.stderr, refused
            assert "not active" in jstrobe("status", program.pid).stdout
            with open(path) as file:
                assert file.read() == "precious", refused
            assert around(path) == [os.path.basename(path)]
        assert program.stop() == 0
    with open(path) as file:
        assert file.read() == "precious"
    # and one that begins does take its place at once
    with Program(jdk17, "KnownShares") as program:
        assert jstrobe("start", "-f", path, program.pid).returncode == 0
        assert around(path) == [os.path.basename(path)]
        assert jstrobe("stop", program.pid).returncode == 0
    with open(path, "rb") as file:
        assert file.read(4) == b"FLR\0"
    os.remove(path)


def test_a_refused_start_leaves_the_last_result(jdk17):
    with Program(jdk17, "KnownShares") as program:
        assert jstrobe("start", "-i", "1ms", program.pid).returncode == 0
        program.work(0.2)
        last = jstrobe("stop", "-o", "collapsed", program.pid).stdout
        assert jstrobe("start", "--on-signal", "3", "-f", jvm.result_file(), program.pid).returncode == 1
        assert last and jstrobe("dump", "-o", "collapsed", program.pid).stdout == last


def test_a_start_that_failed_with_the_jvm_writes_nothing(jdk):
    path = jvm.result_file(".txt")
    said = f"start,event=cpu,interval=1ms,onsignal=3,file={path}"
    with Program(jdk, "KnownShares", jvm=[f"-agentpath:{jvm.LIBRARY}={said}"]) as program:
        assert any("the program runs unprofiled" in line for line in program.output), program.output
        program.work(0.2)
        assert program.stop() == 0
    assert not around(path)


def test_a_loop_that_cannot_go_on_writes_nothing_more(jdk17):
    """The folder of its stream is gone: the next round cannot begin, and has no result."""
    base, folder = jvm.result_file(""), jvm.result_file(".folder")
    os.mkdir(folder)
    said = f"start,event=cpu,interval=1ms,loop=1s,stream=unix:{folder}/socket,file={base}-%n.txt"
    with Program(jdk17, "KnownShares", jvm=[f"-agentpath:{jvm.LIBRARY}={said}"]) as program:
        shutil.rmtree(folder)
        jvm.wait_until(lambda: any("loop ends" in line for line in program.output), 60)
        before = around(base)
        assert os.path.basename(base) + "-0.txt" in before
        assert program.stop() == 0
    assert around(base) == before
    for name in before:
        os.remove(os.path.join(jvm.WORK, name))


@pytest.mark.parametrize("there", [True, False])
def test_a_loop_tells_no_file_what_the_next_round_replaces(jdk, there, tmp_path):
    """A stream to a file would keep the last round's records alone: refused. What each round adds to goes."""
    result, stream, pipe = jvm.result_file("-%n.json"), tmp_path / "told.ndjson", str(tmp_path / "pipe")
    if there:
        stream.write_text("of before")
    os.mkfifo(pipe)
    with Program(jdk, "KnownShares") as program:
        done = jstrobe("start", "--loop", "1s", "-f", result, "--stream", stream, program.pid)
        assert done.returncode == 1 and "stream to a FIFO" in done.stderr, done.stderr
        assert stream.read_text() == "of before" if there else not stream.exists()
        assert not around(result.replace("%n", "0"))
        assert jstrobe("start", "--loop", "1s", "-f", result, "--stream", pipe, program.pid).returncode == 0
        jvm.wait_until(lambda: around(result.replace("%n", "0")), 60)
        assert jstrobe("stop", program.pid).returncode == 0
        assert program.stop() == 0
    for name in glob.glob(result.replace("%n", "*")):
        os.remove(name)


# ---- commands that hang -----------------------------------------------------------------------------

@contextlib.contextmanager
def hung_start(jdk):
    """A program in which the thread that commands sessions hangs in a start, and the command that waits for it."""
    with jvm.knobs(), Program(jdk, "Sleepers", 1, "idle") as program:
        command = subprocess.Popen([jvm.COMMAND, "start", "--engine-fail", "control", str(program.pid)],
                                   stderr=subprocess.PIPE, text=True)
        try:
            jvm.wait_until(lambda: "'start' is being carried out" in jstrobe("status", program.pid).stdout, 60)
            yield program, command
        finally:
            command.kill()
            command.communicate()


def test_commands_are_answered_while_one_hangs(jdk17):
    with hung_start(jdk17) as (program, command):
        for told in ("list", "version", "status", "metrics"):
            assert jstrobe(told, program.pid).returncode == 0, told
        assert "try again" in jstrobe("stop", program.pid).stderr
        assert "has not let the profiler go on with 'start'" in command.communicate(timeout=60)[1]
        assert command.returncode == 1
        assert program.stop() == 0, program.output[-5:]


@pytest.mark.parametrize("way", ["exit", "SIGTERM"])
def test_the_jvm_ends_while_a_command_hangs(jdk, way):
    with hung_start(jdk) as (program, _):
        if way == "exit":
            assert program.stop() == 0, program.output[-5:]
        else:
            program.process.terminate()
            assert program.process.wait(timeout=30) == 128 + signal.SIGTERM
        assert not any("#" in line for line in program.output), program.output


# ---- threads of ours that are held ---------------------------------------------------------------------

WALL = 0x40000000  # wait for threads, too
SEIZE, INTERRUPT, DETACH = 0x4206, 0x4207, 17


@contextlib.contextmanager
def held(tid):
    """A debugger holds that thread."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p]
    if libc.ptrace(SEIZE, tid, None, None):
        pytest.skip(f"no thread of another process can be held here: {os.strerror(ctypes.get_errno())}")
    assert libc.ptrace(INTERRUPT, tid, None, None) == 0
    os.waitpid(tid, WALL)
    try:
        yield
    finally:
        if libc.ptrace(DETACH, tid, None, None):
            with contextlib.suppress(ChildProcessError):
                os.waitpid(tid, WALL)  # it has ended; until this is noticed its process has not


@pytest.mark.parametrize("thread, suffix", [("drain", ".json"), ("write", ".jfr"), ("stream", ".json")])
def test_a_thread_of_ours_is_held(jdk, thread, suffix):
    """A stop does not wait for ever, says why, and the next command goes on where it ended."""
    if (thread, jdk.version) not in {("drain", 17), ("write", 25)} and not jvm.SOAK:
        pytest.skip(f"{thread} on {jdk}: only with full counts (make soak)")
    path, socket = jvm.result_file(suffix), jvm.result_file(".socket")
    with Program(jdk, "KnownShares") as program:
        more = ("--stream", f"unix:{socket}") if thread == "stream" else ()
        assert jstrobe("start", "-i", "1ms", *more, "-f", path, program.pid).returncode == 0
        program.work(0.2)
        with held(program.tid(f"jstrobe {thread}")):
            done = jstrobe("stop", program.pid)
            # held with the recording's lock, it holds up the thread that drains
            waiting = ("jstrobe drain", f"jstrobe {thread}")
            assert done.returncode == 1 and any(name in done.stderr for name in waiting), done
            assert "'stop' is being carried out" in jstrobe("status", program.pid).stdout
            assert jstrobe("metrics", program.pid).returncode == 0
        assert jstrobe("stop", program.pid).returncode == 0
        assert "not active" in jstrobe("status", program.pid).stdout
        if suffix == ".json":
            jvm.Profile(path).check()
        assert os.path.getsize(path) > 0
        assert jstrobe("record", "-d", "0.1", "-f", path, program.pid).returncode == 0
        os.remove(path)
        assert program.stop() == 0, program.output[-5:]


def test_the_thread_of_the_names_is_held(jdk17):
    """Who ends a session does not wait for it; the next session has it again, though it comes back only then."""
    path, thread = jvm.result_file(".jfr"), "jstrobe names"
    with Program(jdk17, "KnownShares") as program:
        assert jstrobe("start", "-i", "1ms", "-f", path, program.pid).returncode == 0
        with held(program.tid(thread)):
            assert jstrobe("stop", program.pid).returncode == 0
            assert jstrobe("start", "-i", "1ms", "-f", path, program.pid).returncode == 0
        time.sleep(0.5)
        assert thread in program.threads().values()
        assert jstrobe("stop", program.pid).returncode == 0
        jvm.wait_until(lambda: thread not in program.threads().values())
        assert program.stop() == 0, program.output[-5:]


def test_the_jvm_ends_while_a_thread_of_ours_is_held(jdk17):
    """The JVM's end waits 200 ms for it, as often as it has something to do meanwhile."""
    path = jvm.result_file()
    with Program(jdk17, "KnownShares") as program:
        assert jstrobe("start", "-i", "1ms", "-f", path, program.pid).returncode == 0
        tid = program.tid("jstrobe drain")
        with held(tid):
            program.say("stop")
            os.waitpid(tid, WALL)
        assert any("result is not written" in line for line in program.output), program.output
        assert program.process.wait(timeout=60) == 0
    assert not around(path)


def test_the_jvm_ends_while_names_take_a_second(jdk17):
    """The thread that reads names is waited for as long as others of ours get on: the result is written."""
    path, stream = jvm.result_file(), jvm.result_file(".ndjson")
    with Program(jdk17, "KnownShares") as program:
        assert jstrobe("start", "-i", "1ms", "-f", path, "--stream", stream, program.pid).returncode == 0
        with held(program.tid("jstrobe names")):
            program.say("stop")
            time.sleep(1)
        assert program.process.wait(timeout=60) == 0
        assert not any("result is not written" in line for line in program.output), program.output
    jvm.Profile(path).check()


# ---- the next command -----------------------------------------------------------------------------------

def test_a_loop_is_active_between_its_rounds(jdk17):
    """Where the result of a round goes takes long; what asks meanwhile is told of one session."""
    fifo = jvm.result_file(".html")
    os.mkfifo(fifo)
    reader, over = os.open(fifo, os.O_RDWR), threading.Event()  # a page is more than a pipe takes

    def drain():
        while not over.is_set():
            os.read(reader, 1 << 16)
    said = f"start,event=cpu,interval=1ms,loop=100ms,force,file={fifo}"
    with Program(jdk17, "KnownShares", jvm=[f"-agentpath:{jvm.LIBRARY}={said}"]) as program:
        jvm.wait_until(lambda: "'timer' is being carried out" in jstrobe("status", program.pid).stdout, 60)
        assert "Profiling is running" in jstrobe("status", program.pid).stdout
        drained = threading.Thread(target=drain, daemon=True)
        drained.start()
        assert jstrobe("stop", "-o", "collapsed", program.pid).returncode == 0
        assert "not active" in jstrobe("status", program.pid).stdout
        assert program.stop() == 0
    over.set()
    os.write(reader, b"over")
    drained.join(timeout=60)
    os.close(reader)
    os.remove(fifo)


ENDS = {"stream": ("stream", "-d", "0.1"), "top": ("top", "--once", "-d", "0.1"), "record": ("record", "-d", "0.1")}


@pytest.mark.parametrize("first", ENDS)
def test_a_command_that_is_back_has_no_session_any_more(jdk17, first):
    with Program(jdk17, "KnownShares") as program:
        for _ in range(counted(3, 100)):
            assert jstrobe(*ENDS[first], program.pid).returncode == 0
            assert "not active" in jstrobe("status", program.pid).stdout
            assert jstrobe(*ENDS[first], program.pid).returncode == 0
            done = jstrobe("start", program.pid)
            assert done.returncode == 0, done.stderr
            assert jstrobe("stop", "-f", "/dev/null", program.pid).returncode == 0
        assert program.stop() == 0


def test_the_session_of_a_killed_command_is_in_nobodys_way(jdk17):
    """It need not have been noticed yet that the command is gone: the thread that would is held."""
    with Program(jdk17, "KnownShares") as program:
        for _ in range(counted(1, 20)):
            first = subprocess.Popen([jvm.COMMAND, "record", "-f", "/dev/null", str(program.pid)], cwd=jvm.WORK,
                                     stderr=subprocess.DEVNULL)
            jvm.wait_until(lambda: "owner" in jstrobe("status", program.pid).stdout, 60)
            jvm.wait_until(lambda: list(program.threads().values()).count("jstrobe talk") == 1, 60)
            with held(program.tid("jstrobe talk")):
                first.kill()
                first.wait()
                done = jstrobe("start", program.pid)
                assert done.returncode == 0, done.stderr
            assert jstrobe("stop", "-f", "/dev/null", program.pid).returncode == 0
        assert program.stop() == 0


# ---- the JVM's end ---------------------------------------------------------------------------------------

def test_the_jvm_ends_amid_long_safepoints(jdk):
    """What the JVM's end would wait for anyway takes nothing of the time that the result has."""
    if jdk.version != 25 and not jvm.SOAK:
        pytest.skip("17: only with full counts (make soak)")
    path = jvm.result_file()
    for _ in range(counted(1, 20)):
        with Program(jdk, "LongSafepoint", 0.7, "again",
                     jvm=["-XX:-UseCountedLoopSafepoints", "-XX:LoopStripMiningIter=0"]) as program:
            assert jstrobe("start", "-e", "cpu,wall", "-f", path, program.pid).returncode == 0
            program.say("end")
            program.say("stop")
            assert program.process.wait(timeout=120) == 0, program.output
        assert not any("result" in line for line in program.output), program.output
        with open(path) as file:
            assert jvm.json.load(file)
        os.remove(path)
