"""Native methods for Java code: whichever class loads the library can call them, and what goes wrong is thrown."""
import os
import shutil

import jvm
import pytest
from api import AWAY, JMH, Api, Object, Thrown, word
from jvm import counted, jstrobe, wait_until

pytestmark = pytest.mark.together


def copy_of_library(tmp_path, name):
    path = os.path.join(str(tmp_path), name)
    shutil.copy(jvm.LIBRARY, path)
    return path


def frames(collapsed):
    return {frame for line in collapsed.splitlines() for frame in line.rpartition(" ")[0].split(";")}


def burns(collapsed):
    """Which of the program's two burners are in the result."""
    return {name for name in ("burnFirst", "burnSecond") if f"api/Main.{name}" in collapsed}


def test_all_natives(jdk):
    """Of a class of another name, as those have it who take async-profiler's along."""
    with Api(jdk) as program:
        it = program.made("a", AWAY, jvm.LIBRARY)
        assert it.execute("version") == it.bytes("version").decode()
        assert it.execute("status") == "Profiler is not active\n" and it.samples() == 0
        it.start("ctimer", 1000000)
        wait_until(lambda: it.samples() > 10)
        assert it.execute("status").startswith("Profiling is running for ")
        first = it.samples()
        it.stop()
        stopped = it.samples()
        assert stopped >= first
        text = it.execute("collapsed")
        assert burns(text) == {"burnFirst", "burnSecond"}
        assert it.bytes("collapsed").decode() == text
        assert sum(int(line.rpartition(" ")[2]) for line in text.splitlines()) == stopped
        it.start("ctimer", 1000000, False)
        wait_until(lambda: it.samples() > stopped)
        it.stop()
        it.start("ctimer", 0, True)
        assert it.samples() < stopped
        it.stop()
        assert program.close() == 0, program.output


def test_as_jmh_has_it(jdk, tmp_path):
    """What `-prof async` says, with a class that has but five of the methods."""
    with Api(jdk) as program:
        it = program.made("a", JMH, jvm.LIBRARY)
        assert it.execute("version")
        assert it.execute("start,interval=1000000,threads,event=ctimer") == "Profiling started\n"
        wait_until(lambda: it.samples() > 10)
        assert it.execute("stop").startswith("Profiling stopped after ")
        for command, name in (("flat=200,traces=200,event=ctimer", "summary.txt"), ("flamegraph,event=ctimer", "f.html"),
                              ("flamegraph,reverse,event=ctimer", "r.html"), ("collapsed,event=ctimer", "c.csv")):
            path = os.path.join(str(tmp_path), name)
            assert it.execute(f"{command},file={path}") == "OK"
            with open(path) as file:
                assert "burnFirst" in file.read()


@pytest.mark.parametrize("method", ["load", "loadByRuntime"])
def test_a_file_of_any_name(jdk17, tmp_path, method):
    """arthas copies the library to a file without a suffix, whose strings end in commas."""
    with Api(jdk17) as program:
        it = program.made("a", AWAY, copy_of_library(tmp_path, "arthas-output-1"), method=method)
        assert it.execute("start,event=ctimer,interval=10000000,") == "Profiling started\n"
        path = os.path.join(str(tmp_path), "out.html")
        assert it.execute(f"stop,event=ctimer,file={path},interval=10000000,") == "OK"
        assert os.path.getsize(path) > 1000
        assert it.execute("version=full") == it.execute("version")
        assert "cpu" in it.execute("list")


def test_twice_and_after_the_class_is_gone(jdk):
    with Api(jdk) as program:
        it = program.made("a", AWAY, jvm.LIBRARY)
        it.start("ctimer", 1000000)
        program.tell("a", "load", word(jvm.LIBRARY))
        assert "is running" in it.execute("status")
        with pytest.raises(Thrown) as thrown:  # the JVM's rule: a file for one loader
            program.made("b", AWAY, jvm.LIBRARY)
        assert thrown.value.name == "UnsatisfiedLinkError" and "already loaded" in thrown.value.text
        it.forget()

        def again():
            try:
                return program.made("c", AWAY, jvm.LIBRARY)
            except Thrown as e:
                assert e.name == "UnsatisfiedLinkError", e
                it.forget()
                return None

        wait_until(again, 60)
        after = program.made("d", AWAY)
        with pytest.raises(Thrown):
            after.execute("status")  # a class that loaded nothing has none
        c = Object(program, "c")
        assert "is running" in c.execute("status")
        c.stop()
        assert burns(c.execute("collapsed"))
        assert program.close() == 0, program.output


def test_two_loaders_share_one_profiler(jdk, tmp_path):
    """Each with a copy of the file, as the JVM demands it."""
    with Api(jdk) as program:
        one = program.made("a", AWAY, copy_of_library(tmp_path, "one.so"))
        two = program.made("b", JMH, copy_of_library(tmp_path, "two"))
        three = program.made("c", AWAY, copy_of_library(tmp_path, "three.so"))
        two.start("ctimer", 1000000)
        with pytest.raises(Thrown) as thrown:
            three.start("ctimer", 1000000)
        assert thrown.value.name == "IllegalStateException" and "already started" in thrown.value.text
        wait_until(lambda: three.samples() > 10)
        one.stop()
        assert burns(two.execute("collapsed")) and "not active" in three.execute("status")
        assert one.samples() == two.samples() == three.samples()
        assert program.close() == 0, program.output


def test_with_the_command(jdk):
    """The library that the command loaded, and Java's copy of it: one profiler."""
    with Api(jdk) as program:
        done = jstrobe("start", "-e", "ctimer", "-i", "1ms", program.pid)
        assert done.returncode == 0, done.stderr
        it = program.made("a", AWAY, jvm.LIBRARY)
        with pytest.raises(Thrown) as thrown:
            it.start("cpu")
        assert thrown.value.name == "IllegalStateException" and "already started" in thrown.value.text
        wait_until(lambda: it.samples() > 10)
        it.stop()
        assert "not active" in jstrobe("status", program.pid).stdout
        it.start("ctimer", 1000000)
        done = jstrobe("stop", "-o", "collapsed", program.pid)
        assert done.returncode == 0, done.stderr
        with pytest.raises(Thrown):
            it.stop()


def test_with_a_copy_beside_the_command_s(jdk17, tmp_path):
    with Api(jdk17) as program:
        assert jstrobe("start", "-e", "ctimer", program.pid).returncode == 0
        it = program.made("a", AWAY, copy_of_library(tmp_path, "copy.so"))
        assert "is running" in it.execute("status")
        it.stop()
    with Api(jdk17) as program:
        it = program.made("a", AWAY, copy_of_library(tmp_path, "copy.so"))
        it.start("ctimer")
        done = jstrobe("start", "-e", "ctimer", program.pid)
        assert done.returncode == 1 and "another copy" in done.stderr, done.stderr


@pytest.mark.parametrize("command, name, says", [
    (None, "IllegalArgumentException", "null"),
    ("", "IllegalArgumentException", "nothing to do"),
    ("event=cpu", "IllegalArgumentException", "nothing to do"),
    ("strat", "IllegalArgumentException", "nothing to do: unknown option: strat (did you mean start"),
    ("start,interval=x", "IllegalArgumentException", "interval"),
    ("start,event=cpu\ud800", "IllegalArgumentException", "surrogate"),
    ("start,file=/tmp/\0x", "IllegalArgumentException", "character 0"),
    ("connect=/tmp/x", "IllegalArgumentException", "connect"),
    ("disableall", "IllegalArgumentException", "disableall"),
    ("start,event=ctimr", "IllegalArgumentException", "did you mean ctimer"),
    ("stop", "IllegalStateException", "not active"),
    ("dump,collapsed", "IllegalStateException", "not active"),
    ("start,file=/no/such/x.html", "IOException", "/no/such"),
    ("status,file=/no/such/x", "IOException", "/no/such"),
    ("start,file=/", "IOException", "/"),
])
def test_bad_commands(natives, command, name, says):
    with pytest.raises(Thrown) as thrown:
        natives.execute(command)
    assert thrown.value.name == name and says in thrown.value.text, thrown.value
    assert natives.execute("status") == "Profiler is not active\n"


def test_words_of_other_versions(jdk17):
    """What is not known is left out, and said on stderr."""
    with Api(jdk17) as program:
        it = program.made("a", AWAY, jvm.LIBRARY)
        assert it.execute("start,event=ctimer,framebuf=1000,nonsens=1,") == "Profiling started\n"
        it.stop()
        wait_until(lambda: any("nonsens" in line and "left out" in line for line in program.output), 10)


@pytest.fixture(scope="module", params=[17, 25])
def natives(request):
    jdk = jvm.find_jdk(request.param)
    if not jdk:
        pytest.skip(f"JDK {request.param}: not tested (none installed, none could be fetched)")
    with Api(jdk) as program:
        yield program.made("a", AWAY, jvm.LIBRARY)
        assert program.close() == 0, program.output


@pytest.mark.parametrize("arguments, name, says", [
    ((None, 0, True), "IllegalArgumentException", "null"),
    (("nosuch", 0, True), "IllegalStateException", "nosuch"),
    (("", 0, True), "IllegalStateException", "event"),
    (("cpu\nfile=/tmp/x", 0, True), "IllegalStateException", "line break"),
    (("cpu", -1, True), "IllegalStateException", "below 0"),
])
def test_bad_starts(natives, arguments, name, says):
    with pytest.raises(Thrown) as thrown:
        natives.start(*arguments)
    assert thrown.value.name == name and says in thrown.value.text, thrown.value


def test_stop_after_a_stop(natives, tmp_path):
    """What was sampled is there until the next session begins; without a place a second stop is an error."""
    path = str(tmp_path / "late.collapsed")
    natives.start("ctimer", 1000000)
    wait_until(lambda: natives.samples() > 10)
    natives.stop()
    text = natives.execute("stop,collapsed")
    assert burns(text) and natives.execute("stop,collapsed") == text
    assert natives.execute(f"stop,file={path}") == "OK"
    with open(path) as file:
        assert file.read() == text
    with pytest.raises(Thrown) as thrown:
        natives.execute("stop")
    assert thrown.value.name == "IllegalStateException" and "not active" in thrown.value.text


def test_bytes_go_to_no_file(natives):
    with pytest.raises(Thrown) as thrown:
        natives.bytes("dump,file=/tmp/x")
    assert thrown.value.name == "IllegalArgumentException" and "bytes" in thrown.value.text


@pytest.mark.parametrize("length", [65536, 65537, 1 << 20, 16 << 20])
def test_long_commands(natives, length):
    with pytest.raises(Thrown) as thrown:
        natives.program.tell("a", "long", "execute0", str(length))
    assert thrown.value.name == "IllegalArgumentException" and len(thrown.value.text) < 600


def test_a_result_too_large_for_the_heap(jdk17):
    """Out of memory is the JVM's own error, and nothing else is wrong afterwards."""
    with Api(jdk17, jvm=["-Xmx16m"]) as program:
        it = program.made("a", AWAY, jvm.LIBRARY)
        assert "Profiling started" in it.execute("start,event=ctimer,interval=1ms")
        wait_until(lambda: it.samples() > 10)
        for _ in range(counted(20, 1000)):
            it.bytes("dump,json")
        it.stop()
        assert program.close() == 0, program.output


def test_a_file_whose_name_is_no_ascii(natives, tmp_path):
    path = os.path.join(str(tmp_path), "t\u00e9n \U0001f525.html")
    assert natives.execute(f"start,event=ctimer,file={path}") == "Profiling started\n"
    assert path in natives.execute("stop")
    assert os.path.getsize(path) > 1000
    with pytest.raises(Thrown) as thrown:
        natives.execute(f"start,file={path}/x.html")
    assert thrown.value.name == "IOException" and "\U0001f525" in thrown.value.text


def test_threads_that_start_at_once(natives):
    """One of them has the session, all others hear so."""
    for _ in range(counted(5, 200)):
        count = natives.program.tell("a", "together", "8", "start0", *map(word, ("ctimer", 0, True)))
        assert count == b"1"
        natives.stop()


def test_filter(jdk):
    """With a filter that lists no thread those are sampled that were added."""
    with Api(jdk) as program:
        it = program.made("a", AWAY, jvm.LIBRARY)
        it.let("first", True)  # before any session
        for thread in ("new", "ended"):
            it.let(thread, True)
            it.let(thread, False)
        assert "started" in it.execute("start,event=ctimer,interval=1ms,filter")
        wait_until(lambda: it.samples() > 20)
        assert burns(it.execute("collapsed")) == {"burnFirst"}
        it.let("second", True)
        it.let("first", False)
        seen = it.samples()
        wait_until(lambda: it.samples() > seen + 20)
        text = it.execute("stop,collapsed,threads")
        assert burns(text) == {"burnFirst", "burnSecond"}
        # what was said holds in the next session, whatever its list says
        assert "started" in it.execute("start,event=ctimer,interval=1ms,filter=name:first")
        wait_until(lambda: it.samples() > 20)
        assert burns(it.execute("stop,collapsed")) == {"burnSecond"}
        # without the option all are sampled
        it.start("ctimer", 1000000)
        wait_until(lambda: burns(it.execute("collapsed")) == {"burnFirst", "burnSecond"})
        it.stop()
        it.let("-", True)
        assert program.close() == 0, program.output


def test_the_jvm_ends_meanwhile(jdk, tmp_path):
    """A session of Java code ends as any does: what it owes is written."""
    path = os.path.join(str(tmp_path), "end.collapsed")
    with Api(jdk) as program:
        it = program.made("a", AWAY, jvm.LIBRARY)
        assert "started" in it.execute(f"start,event=ctimer,interval=1ms,file={path}")
        wait_until(lambda: it.samples() > 10)
        assert program.close() == 0, program.output
        with open(path) as file:
            assert burns(file.read())
