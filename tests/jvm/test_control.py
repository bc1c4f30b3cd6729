"""Who commands a session: what a command leaves, starts that come too early or fail, commands that must not wait."""
import glob
import os

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
