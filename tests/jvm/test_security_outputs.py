"""Places for results that others have prepared: FIFOs, files of theirs, files that they have open.

What one file at a time is judged by is tried in tests/unit/test_os_output.c; here the commands and the agent are.
"""
import contextlib
import fcntl
import os
import shutil
import signal
import stat
import subprocess
import tempfile

import jvm
import pytest
from jvm import LIBRARY, Program, jstrobe, wait_until

pytestmark = pytest.mark.together
ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="needs root for files of other users")


@pytest.fixture
def shared():
    """A folder as /tmp is."""
    folder = tempfile.mkdtemp(prefix="shared-", dir="/tmp")
    os.chmod(folder, 0o1777)
    yield folder
    shutil.rmtree(folder)


WAYS = {
    "record": ["record", "-d", "0.1"], "recording": ["record", "-d", "0.1", "-o", "jfr"], "stream": ["stream", "-d", "0.1"],
    "start": ["start"], "resume": ["resume"], "stop": ["stop"], "dump": ["dump"],
}


def state(path):
    st = os.stat(path)
    with open(path) as file:
        return st.st_ino, st.st_mode, st.st_mtime_ns, file.read()


@pytest.mark.parametrize("way", WAYS)
def test_a_wrong_pid_empties_nothing(shared, way):
    """The process is no JVM, or gone: what is in the file stays, and nothing lies beside it."""
    path = os.path.join(shared, "old.html")
    with open(path, "w") as file:
        file.write("the result of last week")
    before = state(path)
    gone = subprocess.Popen(["true"])
    gone.wait()
    other = subprocess.Popen(["sleep", "600"])
    try:
        for pid in (gone.pid, other.pid):
            done = jstrobe(*WAYS[way], "-f", path, pid)
            assert done.returncode != 0 and done.stderr, done
            assert state(path) == before and os.listdir(shared) == ["old.html"]
    finally:
        other.kill()
        other.wait()


@contextlib.contextmanager
def reader_that_sleeps(fifo):
    """It has the FIFO open, which is full, and takes nothing."""
    fd = os.open(fifo, os.O_RDWR | os.O_NONBLOCK)
    fcntl.fcntl(fd, fcntl.F_SETPIPE_SZ, 4096)
    with contextlib.suppress(BlockingIOError):
        while True:
            os.write(fd, b"x" * 512)
    yield fd
    os.close(fd)


def test_a_fifo_instead_of_the_result(jdk, shared):
    """Refused before anything is begun; its reader gets nothing, and the JVM ends without waiting."""
    fifo = os.path.join(shared, "result.html")
    os.mkfifo(fifo)
    os.chmod(fifo, 0o666)
    with Program(jdk, "KnownShares") as program:
        reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
        for way in WAYS:
            if way in ("stream", "stop", "dump"):
                continue  # a live stream goes into a FIFO of root's or one's own; the others have no session yet
            done = jstrobe(*WAYS[way], "-f", fifo, program.pid)
            assert done.returncode == 1 and "FIFO" in done.stderr and "--force" in done.stderr, (way, done.stderr)
            assert "not active" in jstrobe("status", program.pid).stdout
        assert jstrobe("start", program.pid).returncode == 0
        for way in ("dump", "stop"):
            done = jstrobe(way, "-f", fifo, program.pid)
            assert done.returncode == 1 and "FIFO" in done.stderr, (way, done.stderr)
        assert os.read(reader, 1) == b"" and stat.S_ISFIFO(os.stat(fifo).st_mode)
        os.close(reader)
        assert program.stop() == 0


def comes(program, *words):
    """A line with all WORDS, which may be on its way when the program has ended."""
    wait_until(lambda: any(all(word in line for word in words) for line in list(program.output)), 60)


def test_a_fifo_takes_the_place_meanwhile(jdk, shared):
    """The folder was empty when the session began. At the JVM's end a FIFO is there: it ends, and says what was lost."""
    path = os.path.join(shared, "result.html")
    with Program(jdk, "KnownShares", jvm=[f"-agentpath:{LIBRARY}=start,event=cpu,file={path}"]) as program:
        os.mkfifo(path)
        with reader_that_sleeps(path):
            assert program.stop() == 0
        comes(program, path, "FIFO")
    assert os.listdir(shared) == ["result.html"] and stat.S_ISFIFO(os.stat(path).st_mode)


def test_a_reader_that_sleeps(jdk, shared):
    """It was asked for by --force: the JVM's end waits a moment and says how much went, the command obeys signals."""
    fifo = os.path.join(shared, "result.collapsed")
    os.mkfifo(fifo)
    with reader_that_sleeps(fifo):
        said = f"start,event=cpu,interval=1ms,force,file={fifo}"
        with Program(jdk, "KnownShares", jvm=[f"-agentpath:{LIBRARY}={said}"]) as program:
            program.work(0.2)
            assert program.stop() == 0
            comes(program, "took nothing")
        with Program(jdk, "KnownShares") as program:
            running = subprocess.Popen([jvm.COMMAND, "record", "-i", "1ms", "-d", "0.2", "--force", "-f", fifo, str(program.pid)],
                                       stderr=subprocess.PIPE, text=True)
            try:
                # the session has ended, the result waits: only a signal ends that before 30 s are over
                wait_until(lambda: running.poll() is not None or (
                    "not active" in jstrobe("status", program.pid).stdout and fifo in opened(running.pid)), 120)
                running.send_signal(signal.SIGTERM)
                said = running.communicate(timeout=60)[1]
            finally:
                running.kill()
                running.wait()
            assert running.returncode != 0 and said, (running.returncode, said)
            assert program.stop() == 0


def opened(pid):
    found = []
    with contextlib.suppress(OSError):
        for fd in os.listdir(f"/proc/{pid}/fd"):
            with contextlib.suppress(OSError):
                found.append(os.readlink(f"/proc/{pid}/fd/{fd}"))
    return found


@ROOT
def test_a_file_of_another_user(jdk, shared):
    """With mode 0666, it waits for a secret: refused to the agent and to each command; its owner reads nothing."""
    path = os.path.join(shared, "result.html")
    with open(path, "w") as file:
        file.write("waiting")
    os.chmod(path, 0o666)
    os.chown(path, 12345, 12345)
    before = state(path)
    with Program(jdk, "KnownShares", jvm=[f"-agentpath:{LIBRARY}=start,event=cpu,file={path}"]) as program:
        comes(program, "belongs to uid 12345")
        for way in ("record", "recording", "stream", "start"):
            done = jstrobe(*WAYS[way], "-f", path, program.pid)
            assert done.returncode == 1 and "belongs to uid 12345" in done.stderr, (way, done.stderr)
        done = jstrobe("start", "--stream", path, program.pid)
        assert done.returncode == 1 and "belongs to uid 12345" in done.stderr, done.stderr
        done = jstrobe("start", "--log", path, program.pid)
        assert state(path) == before
        assert program.stop() == 0
    assert state(path) == before and os.listdir(shared) == ["result.html"]


@pytest.mark.parametrize("suffix", [".html", ".jfr", ".ndjson"])
def test_who_has_the_old_result_open(jdk, shared, suffix):
    """Its bytes stay as they are: the new result is another file, and its owner's alone, or as --mode says."""
    path = os.path.join(shared, "result" + suffix)
    with open(path, "w") as file:
        file.write("the result of last week")
    os.chmod(path, 0o644)
    way = "stream" if suffix == ".ndjson" else "record"
    with open(path) as other, Program(jdk, "KnownShares") as program:
        for words, mode in (((), 0o600), (("--mode", "640"), 0o640)):
            done = jstrobe(way, "-i", "1ms", "-d", "0.3", *words, "-f", path, program.pid)
            assert done.returncode == 0, done.stderr
            assert stat.S_IMODE(os.stat(path).st_mode) == mode
        assert other.read() == "the result of last week" and os.fstat(other.fileno()).st_nlink == 0
        with open(path, "rb") as file:
            assert len(file.read()) > 100
        assert os.listdir(shared) == ["result" + suffix]
        assert program.stop() == 0
