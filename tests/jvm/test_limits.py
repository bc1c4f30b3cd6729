"""Processes that may have no more than they have: everything is answered, and the program ends when it wants to."""
import os
import resource

import pytest
from jvm import Program, counted, jstrobe

pytestmark = pytest.mark.together


def leave_descriptors(program, count):
    """Let PROGRAM have COUNT more descriptors than now; the limit is of their numbers, so gaps are counted."""
    used, limit, free = {int(fd) for fd in os.listdir(f"/proc/{program.pid}/fd")}, 0, 0
    while free < count or limit in used:
        free += limit not in used
        limit += 1
    _, hard = resource.prlimit(program.pid, resource.RLIMIT_NOFILE)
    resource.prlimit(program.pid, resource.RLIMIT_NOFILE, (limit, hard))


def ask(*args):
    """What the command said; an answer that does not come ends the test."""
    done = jstrobe(*args, timeout=60)
    assert done.returncode >= 0 and (done.returncode == 0 or done.stderr), done
    return done


def answered(*args):
    return ask(*args).returncode


def test_wall_with_few_descriptors(jdk):
    """
    Ten to none are free when a wall clock starts. Some of that is refused; nothing hangs, and what started
    can be stopped. Without any the JVM's own thread for attaching ends, so that case is the last one.
    """
    with Program(jdk, "Words") as program:
        assert answered("start", "-e", "wall", program.pid) == 0
        assert answered("stop", program.pid) == 0
        before, started = program.descriptors(), 0
        for free in counted((10, 5, 4, 3, 2, 1, 0), range(10, -1, -1)):
            leave_descriptors(program, free)
            if answered("start", "--attach-timeout", "3s", "-e", "wall", program.pid) == 0:
                started += 1
                if answered("stop", "--attach-timeout", "3s", program.pid):  # no room to hand a file over
                    leave_descriptors(program, 20)
                    assert answered("stop", program.pid) == 0
            assert program.descriptors() <= before + 1
        assert started >= 4
        assert program.stop() == 0  # System.exit


def test_the_jvm_takes_no_connections(jdk17):
    """Where the JVM's thread for attaching has gone each command says so, also when the queue of its socket is full."""
    with Program(jdk17, "Words") as program:
        assert answered("start", "-e", "wall", program.pid) == 0
        assert answered("stop", program.pid) == 0
        leave_descriptors(program, 0)
        for _ in range(10):  # the socket's queue is shorter
            said = ask("status", "--attach-timeout", "200ms", program.pid).stderr
            if "takes no connections" in said:
                break
        assert "takes no connections" in said, said
        assert program.stop() == 0


@pytest.mark.parametrize("event", ["page-faults", "minor-faults", "context-switches"])
def test_events_that_cannot_be_counted_are_not_denied(jdk, event):
    """Without descriptors there is no perf event: no timer stands in for it, and nothing says that there were none."""
    limited = ("bash", "-c", 'ulimit -n 40; exec "$@"', "-")
    with Program(jdk, "PageFaults", wrap=limited) as program:
        done = ask("record", "-e", event, "-d", "0.5", program.pid)
        said = done.stdout + done.stderr
        assert "could not be armed, so theirs are not counted" in said, said
        assert f"no {event}" not in said and "CPU timers sample them" not in said, said
        assert "neither sampled nor counted (half of the limit of open files" in said, said
