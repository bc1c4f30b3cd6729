"""A result whose name is taken, of sessions that run: nothing is lost, neither the file nor the session."""
import os
import time

import jvm
import pytest
from jvm import Program, jstrobe

pytestmark = pytest.mark.together


@pytest.mark.parametrize("verb", ["stop", "dump"])
def test_the_session_goes_on(jdk17, tmp_path, verb):
    old = tmp_path / "x.html"
    old.write_text("old")
    with Program(jdk17, "KnownShares") as program:
        assert jstrobe("start", "-i", "1ms", program.pid).returncode == 0
        time.sleep(0.5)
        done = jstrobe(verb, "-f", old, program.pid, overwrite=False)
        assert done.returncode == 2 and f"{old} exists already; say --overwrite" in done.stderr, done
        assert old.read_text() == "old" and "Profiling is running" in jstrobe("status", program.pid).stdout
        done = jstrobe(verb, "--overwrite", "-f", old, program.pid)
        assert done.returncode == 0 and "in place of the file that was there" in done.stderr
        assert "KnownShares" in old.read_text()
        done = jstrobe(verb, "-f", tmp_path / "x-%n.html", program.pid, overwrite=False)
        assert (tmp_path / "x-1.html").exists() or verb == "stop", done
        assert program.alive()


def test_nothing_is_attached(jdk17, tmp_path):
    """Not even the library is loaded where the file is in the way."""
    old = tmp_path / "x.jfr"
    old.write_text("old")
    with Program(jdk17, "Sleepers", 1, "idle") as program:
        for words in (["record"], ["start"], ["trace"], ["stream"], ["resume"], ["start", "--timeout", "9"]):
            pattern = ["a.B"] if words[0] == "trace" else []
            done = jstrobe(*words, "-f", old, program.pid, *pattern, overwrite=False)
            assert done.returncode == 2 and "exists already" in done.stderr, done
        with open(f"/proc/{program.pid}/maps") as maps:
            assert "jstrobe" not in maps.read()
        assert old.read_text() == "old"


def test_an_own_recording_is_no_other_file(jdk17, tmp_path):
    path = tmp_path / "own.jfr"
    with Program(jdk17, "KnownShares") as program:
        assert jstrobe("start", "-f", path, program.pid, overwrite=False).returncode == 0
        for verb in ("dump", "dump", "stop"):
            done = jstrobe(verb, "-f", path, program.pid, overwrite=False)
            assert done.returncode == 0, done
        done = jstrobe("start", "-f", path, program.pid, overwrite=False)
        assert done.returncode == 2 and "exists already" in done.stderr
        assert jstrobe("start", "--overwrite", "-f", path, program.pid).returncode == 0
        assert jstrobe("stop", program.pid).returncode == 0
        assert os.path.getsize(path) > 1000


@pytest.mark.parametrize("options", [["-o", "hot"], ["-o", "text"], ["-f"]])
def test_nothing_was_sampled(jdk17, options):
    """A program that waits: what to do instead is said, beside a file as well."""
    path = jvm.result_file(".html")
    with Program(jdk17, "Sleepers", 1, "idle") as program:
        time.sleep(1)
        done = jstrobe("record", "-d", "0.2", "-i", "1s", *options, *([path] if options == ["-f"] else []), program.pid)
    assert done.returncode == 0
    assert "No samples: the process used " in done.stdout + done.stderr
    assert "for what it waits for, record -e wall" in done.stdout + done.stderr
