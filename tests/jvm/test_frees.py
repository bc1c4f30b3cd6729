"""The target lives on whatever the session has given back: options, rings, descriptors, tables, stacks, records."""
import jvm
import pytest
from jvm import Program, counted, jstrobe, wait_until

pytestmark = pytest.mark.together


@pytest.mark.parametrize("event", ["cpu", "ctimer", "wall", "itimer"])
def test_crowds_after_the_command_has_left(jdk, event):
    """Threads that begin when the conversation that started the session has ended, and its memory is used anew."""
    if event != "cpu" and not jvm.SOAK:
        pytest.skip(f"{event}: only with full counts (make soak)")
    with Program(jdk, "Crowds", "threads") as program:
        for _ in range(counted(1, 10)):
            done = jstrobe("start", "-e", event, program.pid)
            assert done.returncode == 0, done.stderr
            before = program.mark().get("threads", 0)
            wait_until(lambda: program.mark().get("threads", 0) >= before + 1000, 120)
            done = jstrobe("dump", "-o", "collapsed", program.pid)
            assert done.returncode == 0, done.stderr
            done = jstrobe("stop", program.pid)
            assert done.returncode == 0, done.stderr
        assert program.stop() == 0, program.output[-5:]


@pytest.mark.parametrize("event", ["cpu", "cpu,page-faults"])
def test_threads_leave_the_filter_and_come_back(jdk, event):
    """A dump hears the names of all threads: those that leave give back what they may be reading."""
    if event != "cpu" and not jvm.SOAK:
        pytest.skip(f"{event}: only with full counts (make soak)")
    with Program(jdk, "Crowds", "names") as program:
        done = jstrobe("start", "-e", event, "-i", "100us", "--filter", "name:in-*", program.pid)
        assert done.returncode == 0, done.stderr
        for _ in range(counted(6, 1000)):
            done = jstrobe("dump", "-t", "-o", "collapsed", program.pid)
            assert done.returncode == 0, done.stderr
        assert "truth/Crowds" in done.stdout
        done = jstrobe("stop", program.pid)
        assert done.returncode == 0, done.stderr
        assert program.stop() == 0, program.output[-5:]
