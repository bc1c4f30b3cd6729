"""Threads that a debugger suspends wherever they are, for as long as it likes: each command is answered meanwhile."""
import time

import jvm
import pytest
from jvm import Program, jstrobe

pytestmark = pytest.mark.together


@pytest.fixture
def suspender(tmp_path, programs):
    """The agent of preload/suspender.c."""
    return jvm.build_agent("suspender", tmp_path)


def suspend(program, file):
    """As many as the agent takes, as they begin and end; how many it took."""
    file.write_text("")
    until = time.monotonic() + 60
    while time.monotonic() < until:
        for line in program.output:
            if line.startswith("suspended "):
                return int(line.split()[1])
        time.sleep(0.05)
    raise AssertionError(f"nothing was suspended: {program.output}")


@pytest.mark.parametrize("event", ["cpu", "wall"])
def test_commands_wait_for_no_suspended_thread(jdk, event, suspender, tmp_path, say):
    """They are suspended until all is answered, in the midst of what the agent does as they begin and end."""
    file = tmp_path / "suspend"
    with Program(jdk, "Comings", 2000, 0, 0, jvm=[f"-agentpath:{suspender}={file}",
                                                    "-XX:+EnableDynamicAgentLoading"]) as program:
        assert jstrobe("start", "-e", event, program.pid).returncode == 0
        count = suspend(program, file)
        for command in (["status"], ["dump", "-f", f"{tmp_path}/dump.collapsed"], ["stop", "-f", f"{tmp_path}/one.html"],
                        ["start", "-e", event], ["stop", "-f", f"{tmp_path}/two.html"]):
            done = jstrobe(*command, program.pid)
            assert done.returncode == 0, (command, done.stderr)
        say(f"{jdk} {event}: {count} threads suspended meanwhile")
        file.unlink()
        time.sleep(0.5)
        assert program.stop() == 0
