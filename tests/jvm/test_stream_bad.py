"""Live streams and bad company: readers that leave, strangers, names that try to break out of a record."""
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time

import door
import jvm
import live
import pytest
from jvm import Program, counted, jstrobe, wait_until

pytestmark = pytest.mark.together

CONNECT = """
import os, socket, sys
os.setgid(65534); os.setuid(65534)
s = socket.socket(socket.AF_UNIX)
try:
    s.connect(sys.argv[1])
    s.settimeout(20)
    print(len(s.recv(100)))
except PermissionError:
    print("refused")
"""


def is_open(program, path):
    """Whether the program has the file open."""
    folder = f"/proc/{program.pid}/fd"
    for fd in os.listdir(folder):
        try:
            if os.readlink(os.path.join(folder, fd)) == path:
                return True
        except OSError:
            pass
    return False


def test_a_fifo_changes_hands(jdk17, tmp_path):
    """A reader that leaves in the middle of a record leaves nothing to the next one, which gets a whole stream."""
    fifo = str(tmp_path / "fifo")
    os.mkfifo(fifo)
    with Program(jdk17, "KnownShares") as program:
        assert jstrobe("start", "-i", "1ms", "--stream", fifo, program.pid).returncode == 0
        for _ in range(3):
            with open(fifo, "rb", buffering=0) as file:
                assert len(file.read(1001)) > 0
            # a FIFO does not tell its writer of readers that come before it has noticed that the last one left
            wait_until(lambda: not is_open(program, fifo))
            with open(fifo, "rb") as file:
                stream = live.Stream()
                while len(stream.of("sample")) < 20:
                    stream.take(file.readline())
            assert all(stream.frames(sample) for sample in stream.of("sample"))
        done = jstrobe("stop", "-o", "collapsed", program.pid)
        assert done.returncode == 0 and "alpha" in done.stdout


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to become another user")
def test_strangers_are_kept_out(jdk17):
    """The socket is 0600; who comes in all the same, and is neither the JVM's user nor root, gets not a byte."""
    folder = tempfile.mkdtemp(prefix="jstrobe-test-", dir="/tmp")
    path = os.path.join(folder, "live")
    os.chmod(folder, 0o755)
    try:
        with Program(jdk17, "KnownShares") as program:
            assert jstrobe("start", "-i", "1ms", "--stream", "unix:" + path, program.pid).returncode == 0
            said = []
            for mode in (0o600, 0o666):
                os.chmod(path, mode)
                said.append(subprocess.run([sys.executable, "-c", CONNECT, path], stdout=subprocess.PIPE, text=True,
                                           timeout=60, check=True).stdout.strip())
            assert said == ["refused", "0"]
            with socket.socket(socket.AF_UNIX) as one:
                one.connect(path)
                with one.makefile("rb") as data:
                    stream = live.Stream()
                    while not stream.of("sample"):
                        stream.take(data.readline())
            assert jstrobe("stop", program.pid).returncode == 0
    finally:
        shutil.rmtree(folder)


def test_names_stay_in_their_record(jdk17):
    """Newlines, quotes, what is no UTF-8: each record is whole, and who reads it gets the name back."""
    paths = [jvm.result_file("." + spelling) for spelling in ("ndjson", "kindling")]
    with Program(jdk17, "OddNames") as program:
        for spelling, path in zip(("ndjson", "kindling"), paths):
            assert jstrobe("start", "-i", "1ms", "--stream", path, "--stream-format", spelling, program.pid).returncode == 0
            program.work(counted(0.5, 5))
            time.sleep(0.2)
            assert jstrobe("stop", "-f", "/dev/null", program.pid).returncode == 0
        assert program.stop() == 0
    with open(paths[0], "rb") as file:
        data = file.read()
    data.decode()  # UTF-8, strictly
    stream = live.read_text(data)
    names = {r.get("name") for r in stream.of("thread")}
    missing = {"line\nbreak", 'quote"and\\slash', '{"kind":"drop"}', "bang!and;semicolon", "pair😀", "x" * 400,
               "umlauts-üüüüüüüüüüüü", "nul\0byte", "lone\ufffdsurrogate", "esc\x1b[2J"} - names
    assert not missing, (missing, sorted(name[:30] for name in names if name))
    assert not stream.of("drop")
    assert any(s["thread"] == "line\nbreak" for s in stream.of("sample"))
    with open(paths[1], "rb") as file:
        records = file.read().split(b"\n")
    assert records.pop() == b""
    pattern = re.compile(rb"kd-(tm@\d+![^!]*!|stack@\d{19}!\d+!\d+![01]!([^!]+!)*)")
    assert all(pattern.fullmatch(r) and len(r) < 1024 for r in records), [r for r in records if not pattern.fullmatch(r)]
    assert any(b"bang|and;semicolon" in r for r in records)
    for path in paths:
        os.remove(path)


def test_a_refused_start_leaves_the_file_as_it_was(jdk, tmp_path):
    """By command and by option string; the name then goes to the stream of a start that is not refused."""
    path = tmp_path / "out"
    path.write_text("precious")
    with Program(jdk, "KnownShares") as program:
        for way in ("command", "string"):
            if way == "command":  # there is no such function: said when all else has been set up
                done = jstrobe("start", "-e", "cpu", "--begin", "truth_none", "--stream", path, program.pid)
                assert done.returncode != 0 and "truth_none" in done.stderr, done.stderr
            else:
                assert door.tell(program.pid, f"start,event=cpu,begin=truth_none,stream={path}") != 0
            assert path.read_text() == "precious", way
            assert os.listdir(tmp_path) == ["out"], way
        assert jstrobe("start", "-i", "1ms", "--stream", path, program.pid).returncode == 0
        wait_until(lambda: path.read_text().count('"sample"') > 3, 60)
        assert jstrobe("stop", program.pid).returncode == 0
        assert os.listdir(tmp_path) == ["out"]
