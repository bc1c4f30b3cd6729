"""Who commands a session: what a command leaves, starts that come too early or fail, commands that must not wait."""
import contextlib
import glob
import os
import shutil
import signal
import subprocess

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
