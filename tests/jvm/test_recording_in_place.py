"""A dump or stop that names the recording's own file, by an option string: the file goes on, and nothing is lost."""
import os
import time

import jfr
import jvm
import pytest
from api import AWAY, Api, Thrown
from jvm import Program, jstrobe, wait_until
from test_cli_launch import jcmd
from test_recording import check_books

pytestmark = pytest.mark.together

START = "start,event=cpu,interval=1ms"
# Apache Spark's plugin says all of its options with each command.
SPARK = "event=wall,interval=10ms,alloc=1m,lock=10ms,chunktime=300s"


def stored(path, event="jdk.CPUTimeSample"):
    return jfr.Recording(path).count(event)


def in_the_middle(it, path, *commands):
    """Each of COMMANDS completes the recording at PATH, which stays the same file and holds more and more."""
    inode, last = os.stat(path).st_ino, 0
    for command in commands:
        it.run(0.4)
        it.execute(command)
        assert os.stat(path).st_ino == inode, f"{command} replaced the file that grows"
        now = stored(path)
        assert now > last + 50, (command, now, last)
        last = now
    return last


@pytest.fixture
def program(jdk):
    with Api(jdk) as program:
        it = program.made("a", AWAY, jvm.LIBRARY)
        it.run = program.work
        yield it
        assert program.close() == 0, program.output


@pytest.mark.parametrize("named", ["same", "relative", "symlink", "hard link", "pid"])
def test_by_name(program, tmp_path, named):
    path, also = str(tmp_path / "f.jfr"), str(tmp_path / "g.jfr")
    started = path
    if named == "relative":
        also = os.path.relpath(path, jvm.WORK)
    elif named == "symlink":
        os.symlink("f.jfr", also)
    elif named == "pid":
        path, started, also = str(tmp_path / f"f-{program.program.pid}.jfr"), *[str(tmp_path / "f-%p.jfr")] * 2
    else:
        also = path
    assert program.execute(f"{START},file={started}") == "Profiling started\n"
    if named == "hard link":
        also = str(tmp_path / "h.jfr")
        os.link(path, also)
    held = in_the_middle(program, path, f"dump,file={also}", f"dump,jfr,file={also}", f"stop,file={also}")
    assert program.execute("status") == "Profiler is not active\n"
    assert program.execute(f"resume,event=cpu,interval=1ms,file={started}") == "Profiling started\n"
    program.run(0.3)
    program.execute("dump,file=" + also)
    between = stored(path)
    assert between > held, "resumed in the file that a stop left"
    program.run(0.3)
    assert path in program.execute("stop")
    assert check_books(jfr.Recording(path))["stored"] == stored(path) > between


def test_other_results_beside(program, tmp_path):
    """Copies and other formats are files of their own; none takes the place of a recording that is being written."""
    path, copy, page = (str(tmp_path / name) for name in ("f.jfr", "copy.jfr", "f.html"))
    program.execute(f"{START},file={path}")
    in_the_middle(program, path, f"dump,file={path}")
    program.execute(f"dump,file={copy}")
    program.execute(f"dump,file={page}")
    assert stored(copy) > 50 and os.path.getsize(page) > 1000
    with pytest.raises(Thrown, match="the session's recording is written there"):
        program.execute(f"dump,collapsed,file={path}")
    with pytest.raises(Thrown, match="include, exclude"):
        program.execute(f"dump,include=x,file={path}")
    program.run(0.3)
    program.execute(f"stop,file={page}")
    recorded = check_books(jfr.Recording(path))["stored"]
    assert recorded > stored(copy), "a stop with another file completes the recording, too"


def test_a_stop_that_comes_too_late(program, tmp_path):
    """The session has ended: its recording is whole where it was named, and nowhere else to be had."""
    path, other = str(tmp_path / "f.jfr"), str(tmp_path / "g.jfr")
    program.execute(f"{START},timeout=1,file={path}")
    wait_until(lambda: program.execute("status") == "Profiler is not active\n")
    held = stored(path)
    program.execute(f"stop,file={path}")
    assert stored(path) == held > 50
    with pytest.raises(Thrown, match="the session's last one is complete") as thrown:
        program.execute(f"stop,file={other}")
    assert thrown.value.name == "IllegalStateException" and not os.path.exists(other)
    assert "api/Main" in program.execute("stop,collapsed")


def test_a_session_that_is_not_recorded(program, tmp_path):
    """It stops, and the reason says why there is no recording; what was sampled can still be written otherwise."""
    path = str(tmp_path / "f.jfr")
    program.execute(START)
    program.run(0.3)
    with pytest.raises(Thrown, match="the session is not recorded.*begins with sampling") as thrown:
        program.execute(f"stop,file={path}")
    assert thrown.value.name == "IllegalStateException" and not os.path.exists(path)
    assert program.execute("status") == "Profiler is not active\n"
    assert program.execute(f"stop,file={tmp_path}/f.collapsed") == "OK"
    with open(f"{tmp_path}/f.collapsed") as file:
        assert "api/Main" in file.read()


def test_as_spark_says_it(program, tmp_path):
    path = str(tmp_path / "profile-exec-1.jfr")
    program.execute(f"start,{SPARK},file={path}")
    inode, counts = os.stat(path).st_ino, []
    for action in ("dump", "dump", "stop"):
        time.sleep(0.5)
        program.execute(f"{action},{SPARK},file={path}")
        assert os.stat(path).st_ino == inode
        counts.append(stored(path, "profiler.WallClockSample"))
    assert 0 < counts[0] < counts[1] < counts[2], counts


def test_by_jcmd(jdk, tmp_path):
    path = str(tmp_path / "f.jfr")
    with Program(jdk, "KnownShares") as program:
        for number, options in enumerate((f"{START},file={path}", f"dump,file={path}", f"stop,file={path}")):
            assert "return code: 0" in jcmd(jdk, program, options), (number, program.output)
            program.work(0.4)
            if number:
                assert stored(path) > 150 * number
        assert program.stop() == 0


def test_begun_by_the_command(program, tmp_path):
    """The command gave the file; the option string names it."""
    path = str(tmp_path / "f.jfr")
    program.execute("version")
    done = jstrobe("start", "-e", "cpu", "-i", "1ms", "-f", path, program.program.pid)
    assert done.returncode == 0, done.stderr
    in_the_middle(program, path, f"dump,file={path}", f"stop,file={path}")
