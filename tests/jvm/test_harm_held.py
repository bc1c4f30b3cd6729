"""
A pipe at stderr that nothing reads, a disk that does not answer any more: the program starts and ends as without the
agent.
"""
import contextlib
import os
import re
import subprocess

import door
import jvm
import pytest
from jvm import Program

pytestmark = pytest.mark.together


class Full:
    """A pipe with a name, full to the last byte."""

    def __init__(self, path):
        os.mkfifo(path)
        self.path, self.fd = path, os.open(path, os.O_RDWR | os.O_NONBLOCK)
        for size in (65536, 4096, 1):
            with contextlib.suppress(BlockingIOError):
                while os.write(self.fd, b"x" * size):
                    pass

    def program(self, jdk, options, name="KnownShares"):
        """Its stderr is this pipe, opened so that writing waits."""
        return Program(jdk, name, jvm=[f"-agentpath:{jvm.LIBRARY}={options}"],
                       wrap=["sh", "-c", f"exec \"$@\" 2>>{self.path}", "sh"])

    def drain(self):
        text = b""
        with contextlib.suppress(BlockingIOError):
            while True:
                text += os.read(self.fd, 65536)
        return text.decode().lstrip("x")


@pytest.fixture
def full(tmp_path):
    pipe = Full(str(tmp_path / "stderr"))
    yield pipe
    os.close(pipe.fd)


@pytest.fixture
def disk(tmp_path, programs):
    """What begins a program whose disk dies (preload/dead_disk.c)."""
    library = str(tmp_path / "dead_disk.so")
    subprocess.run([os.environ.get("CC", "gcc"), "-O2", "-Wall", "-Wextra", "-fPIC", "-shared", "-o", library,
                    os.path.join(jvm.ROOT, "tests", "jvm", "preload", "dead_disk.c")], check=True)
    return lambda jdk, options: Program(
        jdk, "KnownShares", jvm=[f"-agentpath:{jvm.LIBRARY}={options}"],
        wrap=["env", "LD_PRELOAD=" + library, f"JSTROBE_TEST_DISK={tmp_path}/disk"])


def waits_to_write(pid):
    """Its stderr is as it was: writing may wait. The word of the kernel's fdinfo."""
    with open(f"/proc/{pid}/fdinfo/2") as file:
        return not int(re.search(r"flags:\s*(\d+)", file.read()).group(1), 8) & os.O_NONBLOCK


def test_a_refusal_at_load_waits_for_no_reader(jdk, full):
    """The line is dropped; the next one that has room tells so."""
    with full.program(jdk, "start,event=no-such-event") as program:
        assert waits_to_write(program.pid)
        assert "jstrobe" not in full.drain()
        assert door.tell(program.pid, "start,event=no-such-event") != 0
        assert re.search(r"^jstrobe: \(1 before this were dropped\) .*no-such-event", full.drain(), re.M)
        assert door.tell(program.pid, "start,event=no-such-event") != 0
        assert re.search(r"^jstrobe: [^(].*no-such-event", full.drain(), re.M)
        assert waits_to_write(program.pid)
        assert program.stop() == 0


def test_an_error_at_the_end_waits_for_no_reader(jdk, full, tmp_path):
    """The result's folder is gone when the JVM ends."""
    folder = tmp_path / "folder"
    folder.mkdir()
    with full.program(jdk, f"start,event=cpu,interval=1ms,file={folder}/out.html") as program:
        program.work(0.2)
        folder.rename(tmp_path / "elsewhere")
        assert program.stop() == 0
    assert os.listdir(tmp_path / "elsewhere") == []
    assert "jstrobe" not in full.drain()


@pytest.mark.parametrize("what", ["rename", "write"])
def test_a_dead_disk_holds_up_no_end(jdk, disk, tmp_path, what):
    """Taking the result's place, or writing it and removing what was written, never comes back."""
    with disk(jdk, f"start,event=cpu,interval=1ms,file={tmp_path}/dead.html") as program:
        program.work(0.2)
        (tmp_path / "disk").write_text(what)
        assert program.stop() == 0
    assert any("not written" in line for line in program.output), program.output
    assert not (tmp_path / "dead.html").exists()
