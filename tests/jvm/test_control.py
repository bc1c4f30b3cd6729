"""Who commands a session: what a command leaves, starts that come too early or fail, commands that must not wait."""
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
        program.reset()
        jvm.wait_until(lambda: program.mark().get("crowds", 0) > counted(5, 500), seconds=120)
        assert jstrobe("stop", "-o", "collapsed", program.pid).returncode == 0
        assert program.stop() == 0, program.output[-5:]
