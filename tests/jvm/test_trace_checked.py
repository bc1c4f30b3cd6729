"""jstrobe trace under -Xcheck:jni: nothing that the JVM would warn of, in any mode."""
import pytest
from jvm import LIBRARY, Program, counted, jstrobe, result_file
from test_trace import read, stop, wait

pytestmark = pytest.mark.together

WORDS = ("WARNING in native", "FATAL", "local refs", "JNI")
MODES = [("sampled",), ("exact", "--latency", "1us"), ("adaptive", "--latency", "1us"), ("exact", "--cpu-clock"),
         ("sampled", "--root", "truth.Calls.round", "--depth", "3"), ("none",)]


def warnings(program):
    """Lines that stand in no output of the same program without us."""
    return [line for line in program.output if any(word in line for word in WORDS)]


def test_attached_in_all_modes(jdk):
    """Many classes, threads and exceptions; result and dump; and again."""
    virtual = 50 if jdk.version >= 21 else 0
    with Program(jdk, "Calls", 2, 60, virtual, jvm=["-Xcheck:jni"]) as program:
        wait(program, "ready")
        for mode in MODES:
            done = jstrobe("start", "--instrument", "truth.**;java.util.regex.**", "--timing", *mode, program.pid)
            assert done.returncode == 0, done.stderr
            if mode == MODES[1]:
                program.say("end")
                wait(program, "done")
            assert jstrobe("dump", program.pid).returncode == 0
            stop(program)
        assert program.stop() == 0
    assert not warnings(program), warnings(program)[:10]


def test_crowd_of_waiting_threads(jdk):
    """More threads than a native function has references for."""
    with Program(jdk, "ThreadMasses", "platform", 60, counted(300, 3000), jvm=["-Xcheck:jni"]) as program:
        wait(program, "ready")
        program.say("end")
        for _ in range(3):
            done = jstrobe("start", "--instrument", "truth.ThreadMasses", "--latency", "10us", program.pid)
            assert done.returncode == 0, done.stderr
            stop(program)
        wait(program, "done")
        assert program.stop() == 0
    assert not warnings(program), warnings(program)[:10]


def test_from_the_start(jdk):
    path = result_file()
    options = f"start,instrument=truth.Calls;truth.Calls$*,timing=exact,latency=1us,file={path}"
    with Program(jdk, "Calls", 2, 10, jvm=["-Xcheck:jni", f"-agentpath:{LIBRARY}={options}"]) as program:
        wait(program, "ready")
        program.say("end")
        wait(program, "done")
        assert program.stop() == 0
    assert not warnings(program), warnings(program)[:10]
    assert read(path)["invocations"] > 1000
