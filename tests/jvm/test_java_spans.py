"""Spans of several class loaders, each with a copy of the library, while any copy records: the jar's, the command's."""
import collections
import os

import jvm
import pytest
from api import JAR, NAMED, Api
from jfr import Recording
from jvm import jstrobe

pytestmark = pytest.mark.together


def copies(program):
    """How many copies of the library the program has."""
    with open(f"/proc/{program.pid}/maps") as maps:
        return len({line.split()[4] for line in maps if "libjstrobe.so" in line})


def tags(file):
    return dict(collections.Counter(span["tag"] for span in Recording(file).events["profiler.Span"]))


def began(file, event="ctimer"):
    return f"start,event={event},interval=5ms,file={file}"


def test_two_loaders_one_of_which_is_collected(jdk, tmp_path, say):
    """Each round has new loaders; the session is begun by the first, and ended by the second when the first is gone."""
    file = str(tmp_path / "r.jfr")
    with Api(jdk) as program:
        for turn in range(jvm.counted(3, 60)):
            first, early = program.got(f"first{turn}"), program.got(f"early{turn}", NAMED)
            first.span("before")
            first.execute(began(file))
            first.span("first")
            early.span("early")
            late = program.got(f"late{turn}")
            late.span("late")
            assert first.gone(), "its loader is still there"
            late.span("late, alone")
            early.span("early, alone")
            late.execute("stop")
            late.span("after")
            assert tags(file) == dict.fromkeys(("first", "early", "late", "late, alone", "early, alone"), 5), turn
            assert early.gone() and late.gone()
        found = copies(program)
        assert found >= 3 and program.alive()
    say(f"spans of {found} copies of the library, whose class loaders are gone, are in the recording of the first")


def test_more_copies_than_are_listed(jdk17, tmp_path):
    """Deployed again and again: commands and spans of the last class loader reach the first session."""
    file = str(tmp_path / "r.jfr")
    with Api(jdk17) as program:
        first = program.got("first")
        first.execute(began(file))
        for turn in range(20):
            last = program.got(f"last{turn}")
        last.span("last")
        assert last.execute("status").startswith("Profiling is running")
        last.execute("stop")
        assert copies(program) == 21 and tags(file) == {"last": 5}


@pytest.mark.parametrize("agent", [False, True], ids=["loaders", "agent"])
def test_the_command_records(jdk, tmp_path, agent):
    """Its own copy of the library has the session; the program marks by copies of the jar, and by none of its own."""
    file = str(tmp_path / "r.jfr")
    with Api(jdk, jvm=[f"-javaagent:{JAR}"] if agent else ()) as program:
        one, two = program.got("one"), program.got("two", NAMED)
        only = program.made("only", "one.profiler.Agent", folder=JAR)  # its loader has no copy
        for turn in range(jvm.counted(3, 60)):
            one.span("outside")
            assert jstrobe("start", "-e", "ctimer", "-i", "5ms", "-f", file, program.pid).returncode == 0
            one.span("one")
            two.span("two", 300)
            only.span("only")
            new = program.got("new")
            new.span("new")
            assert jstrobe("stop", program.pid).returncode == 0
            two.span("outside")
            assert tags(file) == {"one": 5, "two": 300, "only": 5, "new": 5}, turn
            assert new.gone()
        assert copies(program) >= 3


def test_two_sessions(jdk, tmp_path):
    """Of two copies at the same time: each recording has the spans of all; the first one's end leaves the other's."""
    files = [str(tmp_path / f"{name}.jfr") for name in ("api", "command")]
    with Api(jdk) as program:
        one, two = program.got("one"), program.got("two")
        one.execute(began(files[0]))
        two.span("api alone")
        other = os.path.join(jvm.OUT, "lib", "libjstrobe.so")
        done = jstrobe("start", "--libpath", other, "-e", "wall", "-f", files[1], program.pid)
        assert done.returncode == 0, done.stderr
        one.span("both by one")
        two.span("both by two")
        two.execute("stop")
        two.span("command alone")
        assert jstrobe("stop", "--libpath", other, program.pid).returncode == 0
        assert tags(files[0]) == {"api alone": 5, "both by one": 5, "both by two": 5}
        assert tags(files[1]) == {"both by one": 5, "both by two": 5, "command alone": 5}


def test_many_tags(jdk17, tmp_path):
    """A tag of its own for each of many spans, which the JDK's tool reads as well."""
    file = str(tmp_path / "r.jfr")
    with Api(jdk17) as program:
        one, two = program.got("one"), program.got("two")
        one.execute(began(file))
        for i in range(300):
            two.span(f"request {i} " + "\u20ac" * (i % 300), 20)
        one.execute("stop")
    found = tags(file)
    assert len(found) == 300 and set(found.values()) == {20}
    done = jvm.subprocess.run([os.path.join(jdk17.home, "bin", "jfr"), "print", "--events", "profiler.Span", file],
                              capture_output=True, text=True, timeout=60)
    assert done.stdout.count("tag = \"request ") == 6000, done.stderr
