"""What takes over a second is told on a terminal while it lasts; nothing of it stays, and without a terminal nothing is told."""
import os
import pty
import re
import select
import signal
import subprocess
import time

import jvm
import pytest
from jvm import Program, jstrobe

pytestmark = pytest.mark.together


def on_a_terminal(words, until=None, then=None, seconds=90):
    """Exit status, and what the terminal shows; THEN() once it has shown UNTIL."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.execv(jvm.COMMAND, ["jstrobe", *map(str, words)])
    shown, end = "", time.time() + seconds
    try:
        while time.time() < end:
            if select.select([terminal], [], [], 0.2)[0]:
                shown += os.read(terminal, 65536).decode(errors="replace")
            if until and re.search(until, shown):
                until = then(terminal)
    except OSError:  # its end is closed
        pass
    else:
        os.kill(pid, signal.SIGKILL)
    os.close(terminal)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    assert not until, shown
    return status, shown


def test_a_recording(jdk17):
    with Program(jdk17, "KnownShares") as program:
        path = jvm.result_file(".html")
        status, shown = on_a_terminal(["record", "-i", "1ms", "-d", "4", "-f", path, program.pid])
        assert status == 0
        told = re.findall(r"\r\x1b\[K\[(#*)(\.*)\] +(\d+) % sampling cpu: (\d+) s left, (\d+) samples, (\d+) lost", shown)
        assert len(told) >= 2, shown
        percents, samples = [int(row[2]) for row in told], [int(row[4]) for row in told]
        assert percents == sorted(percents) and samples == sorted(samples) and samples[-1] > 100 and 0 < percents[0] < 60
        assert all(len(row[0]) + len(row[1]) == 20 and len(row[0]) == int(row[2]) // 5 for row in told)
        done = jstrobe("record", "-d", "2.5", "-f", path, program.pid)
        assert done.returncode == 0 and "sampling cpu" not in done.stderr and "#" not in done.stderr
        assert "\x1b" not in done.stderr and "left" not in done.stderr


def test_a_command_that_takes_long(jdk17):
    """An agent that is held at its work (with a knob for tests): what is waited for is told, until Ctrl-C."""
    with jvm.knobs(), Program(jdk17, "Sleepers", 1, "idle") as program:
        status, shown = on_a_terminal(["start", "--engine-fail", "control", program.pid],
                                      rf"process {program.pid} carries out 'start': [2-9] s",
                                      lambda terminal: os.write(terminal, b"\x03") and None)
        assert status == 130, shown
        assert re.search(rf"\r\x1b\[Kprocess {program.pid} carries out 'start': 1 s\r\x1b\[K", shown), shown


def test_a_slow_step(jdk17, tmp_path):
    """Loading an agent that takes its time: which step it is, and for how long; then the line is gone."""
    source, library = tmp_path / "slow.c", tmp_path / "slow.so"
    source.write_text("#include <unistd.h>\nint Agent_OnAttach(void *vm, char *o, void *r) { sleep(4); return 0; }\n")
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", library, source], check=True)
    with Program(jdk17, "Sleepers", 1, "idle") as program:
        status, shown = on_a_terminal(["load", program.pid, library])
        assert status == 0, shown
        told = re.findall(rf"\r\x1b\[Khaving process {program.pid} load \S+slow\.so: (\d+) s", shown)
        assert told and told == sorted(told, key=int) and int(told[-1]) in (2, 3, 4), shown
        assert shown.endswith("\r\x1b[K")
        done = jstrobe("load", program.pid, library)
        assert done.returncode == 0 and not done.stderr
