"""jstrobe.jar: its own class, async-profiler's names, agent and JMX bean; and async-profiler's own jar with our library."""
import os
import shutil
import struct
import subprocess
import tempfile
import zipfile

import api
import jvm
import pytest
from api import AWAY, JAR, NAMED, Api, Thrown
from jfr import Recording
from jvm import jstrobe, wait_until

pytestmark = pytest.mark.together

CLIENTS = os.path.join(jvm.WORK, "api-clients")
PEER = os.path.join(jvm.OUT, "peers", "async-profiler-4.6.jar")


@pytest.fixture(scope="module")
def clients(programs):
    os.makedirs(CLIENTS, exist_ok=True)
    sources = [os.path.join(api.SOURCES, "client", f"{name}.java") for name in ("Known", "Typed", "Remote", "Marks")]
    subprocess.run([os.path.join(jvm.compiler(), "bin", "javac"), "-encoding", "UTF-8", "-nowarn", "-cp", JAR, "-d",
                    CLIENTS, *sources], check=True)
    return CLIENTS


@pytest.fixture(scope="module")
def peer(record_testsuite_property):
    """async-profiler's own jar."""
    jvm.fetched("async-profiler's jar cannot be fetched: its own classes were not tried with our library", PEER)
    return PEER


def run(jdk, classpath, main, *args, options=(), status=0):
    """What MAIN said, as {name: value}."""
    done = subprocess.run([jdk.java, *options, "-cp", ":".join(classpath), main, *map(str, args)], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120, cwd=jvm.WORK)
    assert done.returncode == status, done.stdout
    lines = [line[5:] for line in done.stdout.splitlines() if line.startswith("SAID ")]
    return dict(line.split("=", 1) for line in lines), done.stdout


KNOWN = {"same": "true", "null": "NullPointerException", "stopped": "IllegalStateException",
         "twice": "IllegalStateException", "state": "true", "collapsed": "true", "total": "true", "flat": "true",
         "flat0": "true", "traces": "true", "filtered": "true", "done": "true"}


def test_names_of_async_profiler(jdk, clients):
    """Code that was compiled for async-profiler runs with our jar alone."""
    said, output = run(jdk, [CLIENTS, JAR], "client.Known")
    assert KNOWN.items() <= said.items(), output


def test_code_compiled_against_async_profiler_s_jar(jdk17, peer, tmp_path):
    source = os.path.join(api.SOURCES, "client", "Known.java")
    subprocess.run([os.path.join(jvm.compiler(), "bin", "javac"), "--release", "8", "-Xlint:-options", "-nowarn", "-cp",
                    peer, "-d", str(tmp_path), source], check=True)
    said, output = run(jdk17, [str(tmp_path), JAR], "client.Known")
    assert KNOWN.items() <= said.items(), output


def test_async_profiler_s_jar_with_our_library(jdk, clients, peer):
    """Its own classes, and our library by path and by property."""
    for args, options in (([jvm.LIBRARY], []), ([], [f"-Done.profiler.libraryPath={jvm.LIBRARY}"])):
        said, output = run(jdk, [CLIENTS, peer], "client.Known", *args, options=options)
        assert KNOWN.items() <= said.items(), output


OTHER_USER = 65534


def test_another_user_unpacks_it(jdk17, clients):
    """Who is not root has the library from the jar as well. (Without a folder that others cannot look into.)"""
    if os.getuid() != 0:
        pytest.skip("only root can run a JVM as another user; what other tests did was not as root")
    with tempfile.TemporaryDirectory(prefix="jstrobe-jar-") as folder:
        for jar in [JAR] + [os.path.join(CLIENTS, "client", name) for name in os.listdir(os.path.join(CLIENTS, "client"))]:
            to = os.path.join(folder, os.path.relpath(jar, CLIENTS) if jar != JAR else "jstrobe.jar")
            os.makedirs(os.path.dirname(to), exist_ok=True)
            shutil.copy(jar, to)
        scratch = os.path.join(folder, "scratch")
        os.makedirs(scratch)
        for path, _, files in os.walk(folder):
            os.chmod(path, 0o755)
            for name in files:
                os.chmod(os.path.join(path, name), 0o644)
        os.chown(scratch, OTHER_USER, OTHER_USER)
        done = subprocess.run([jdk17.java, f"-Djava.io.tmpdir={scratch}", "-cp", f"{folder}:{folder}/jstrobe.jar", "client.Known"],
                              user=OTHER_USER, group=OTHER_USER, extra_groups=[], cwd=scratch, text=True, timeout=120,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        assert done.returncode == 0 and "SAID done=true" in done.stdout, done.stdout
        left = [name for name in os.listdir(scratch) if not name.startswith("hsperfdata")]
        assert left == [], left


def test_a_library_that_cannot_be_loaded(jdk17, clients, tmp_path):
    """By whatever way it was named, the exception is the one that is documented, and says what to do."""
    bad = tmp_path / "libbad.so"
    bad.write_text("no library")
    for args, options in (([bad], []), ([], [f"-Djstrobe.libraryPath={bad}"])):
        _, output = run(jdk17, [CLIENTS, JAR], "client.Known", *args, options=options, status=1)
        assert "IllegalStateException: the profiler's library cannot be loaded" in output, output


def test_spans(jdk, clients, tmp_path):
    """What the program marks while a recording is made is in it, with its times, threads and tags; convert finds it."""
    file = tmp_path / "r.jfr"
    said, output = run(jdk, [CLIENTS, JAR], "client.Marks", jvm.LIBRARY, file)
    assert {name: said.get(name) for name in ("unavailable", "stopped", "running", "again", "no file", "done")} == \
        dict.fromkeys(("unavailable", "stopped", "running", "again", "no file", "done"), "true"), output
    recording = Recording(file)
    zero = recording.chunks[0]
    spans = recording.events["profiler.Span"]
    burn = [s for s in spans if s["tag"] == "burn"]
    assert len(burn) == 1 and burn[0]["duration"] >= 300_000_000 and burn[0]["eventThread"]["javaName"] == "main"
    found = sorted((s["startTime"] - burn[0]["startTime"], s["duration"], s["eventThread"]["javaName"], s["tag"])
                   for s in spans if s["tag"] != "burn")
    told = [line.split(" ", 4)[1:] for line in output.splitlines() if line.startswith("SPAN ")]
    assert len(found) == len(told) == 18, (len(found), len(told), zero)
    first, begin = min(t for t, *_ in found), min(int(t[0]) for t in told)
    # a half of a pair is no character
    want = sorted((int(from_) - begin, int(took), thread, tag.replace("\\n", "\n").replace("\\0", "\0").replace("?", "\ufffd"))
                  for from_, took, thread, tag in told)
    assert [(t - first, *rest) for t, *rest in found] == want
    for tag in ("burn", "bur*", "*rn", "*ur*"):
        done = jstrobe("convert", "--tag", tag, "-o", "collapsed", file, "-")
        assert done.returncode == 0 and "client/Marks.main" in done.stdout, done.stderr
    for tag, words in ((("--tag", "before"), "none of its 19 spans is called 'before' "), (("--tag", "urn*"), "'urn*'"),
                       (("--latency", "90s"), "none of its 19 spans took 90 s"),
                       (("--latency", "90s", "--tag", "burn"), "is called 'burn' and took 90 s or more")):
        done = jstrobe("convert", *tag, "-o", "collapsed", file, "-")
        assert done.returncode != 0 and words in done.stderr and "they are called " in done.stderr and \
            "longest took " in done.stderr, done.stderr


def test_profiler_class(jdk, clients, tmp_path):
    said, output = run(jdk, [CLIENTS, JAR], "client.Typed", tmp_path)
    yes = ("same", "idle", "running", "file", "dump", "page", "json", "jfr", "written", "done")
    assert {name: said.get(name) for name in yes} == dict.fromkeys(yes, "true"), output
    assert said["options"] == "event=ctimer,interval=1000000ns,threads,loglevel=warn"
    assert said["status"] == "Profiler is not active"
    assert "a,b" in said["comma"] and "none" in said["folder"]
    assert "file=/tmp/x" in said["second"]


def test_agent_and_bean(jdk, clients):
    """-javaagent, and JMX from another JVM."""
    with Api(jdk, jvm=[f"-javaagent:{JAR}"]) as program:
        said, output = run(jdk, [CLIENTS, JAR], "client.Remote", program.pid)
        yes = ("version", "twice", "collapsed", "flat", "io", "done")
        assert said == dict.fromkeys(yes, "true"), output
        assert program.close() == 0, program.output


def test_agent_with_options(jdk, tmp_path):
    path = os.path.join(str(tmp_path), "out.collapsed")
    with Api(jdk, jvm=[f"-javaagent:{JAR}=start,event=ctimer,interval=1ms,file={path}"]) as program:
        program.run(0.5)
        assert program.close() == 0, program.output
    with open(path) as file:
        assert "api/Main.burn" in file.read()


@pytest.mark.parametrize("strict", [False, True])
def test_agent_with_a_mistake(jdk17, strict):
    """It is said, and the program runs; with `strict` it does not."""
    options = "start,interval=x" + (",strict" if strict else "")
    program = Api(jdk17, jvm=[f"-javaagent:{JAR}={options}"], ready=not strict)
    with program:
        if strict:
            assert program.process.wait(timeout=60) != 0
        else:
            assert program.close() == 0
    wait_until(lambda: any("is not a time" in line for line in program.output), 10)
    assert strict or any("unprofiled" in line for line in program.output)


def mapped(pid):
    with open(f"/proc/{pid}/maps") as maps:
        return {line.split(maxsplit=5)[5].strip() for line in maps if "jstrobe" in line and line.count(" ") >= 5}


def test_unpacked_safely(jdk, tmp_path):
    """The file is nowhere when it has been loaded; the command finds the session all the same."""
    with Api(jdk, jvm=[f"-Djava.io.tmpdir={tmp_path}"]) as program:
        it = program.got("a")
        assert os.listdir(tmp_path) == []
        assert {path.rpartition("/")[2] for path in mapped(program.pid) if ".so" in path} == {
            "libjstrobe.so (deleted)"}
        it.call("start", "ctimer", 1000000)
        wait_until(lambda: int(it.call("samples")) > 10)
        status = jstrobe("status", program.pid)
        assert "ctimer" in status.stdout, status
        done = jstrobe("stop", "-o", "collapsed", program.pid)
        assert done.returncode == 0 and "api/Main.burn" in done.stdout, done.stderr


def test_folders_that_others_may_write_to(jdk17, tmp_path):
    """Nothing is unpacked where others could put a file of theirs in its place."""
    folder = tmp_path / "open"
    folder.mkdir()
    folder.chmod(0o777)
    with Api(jdk17, jvm=[f"-Djstrobe.extractPath={folder}"]) as program:
        with pytest.raises(Thrown) as thrown:
            program.got("a")
        assert thrown.value.name == "IllegalStateException" and "others may write" in thrown.value.text
    folder.chmod(0o1777)
    with Api(jdk17, jvm=[f"-Done.profiler.extractPath={folder}"]) as program:
        assert program.got("a").call("version")
    assert os.listdir(folder) == []
    with Api(jdk17, jvm=["-Djstrobe.extractPath=/no/such"]) as program:
        with pytest.raises(Thrown) as thrown:
            program.got("a")
        assert "extractPath" in thrown.value.text and "/no/such" in thrown.value.text


def test_library_that_is_named(jdk17):
    with Api(jdk17, jvm=[f"-Djstrobe.libraryPath={jvm.LIBRARY}"]) as program:
        program.got("a", NAMED)
        assert jvm.LIBRARY in mapped(program.pid)


def test_library_that_the_command_brought(jdk):
    """Natives are found by their names, and nothing is unpacked."""
    with Api(jdk) as program:
        assert jstrobe("start", "-e", "ctimer", "-i", "1ms", program.pid).returncode == 0
        it, other = program.got("a"), program.got("b", NAMED)
        assert it.call("status").startswith(b"Profiling is running")
        wait_until(lambda: int(other.call("getSamples")) > 10)
        other.call("stop")
        assert {path for path in mapped(program.pid) if ".so" in path} == {jvm.LIBRARY}
        assert "not active" in jstrobe("status", program.pid).stdout


def test_loaders_share_one_profiler(jdk, tmp_path):
    """Two loaders with our jar, and one with a copy of the library."""
    copy = os.path.join(str(tmp_path), "copy.so")
    shutil.copy(jvm.LIBRARY, copy)
    with Api(jdk) as program:
        one, two, three = program.got("a"), program.got("b", NAMED), program.made("c", AWAY, copy)
        two.call("start", "ctimer", 1000000)
        with pytest.raises(Thrown) as thrown:
            one.call("start", "ctimer", 0)
        assert "already started" in thrown.value.text
        wait_until(lambda: three.samples() > 10)
        one.call("stop")
        assert int(two.call("getSamples")) == three.samples() == int(one.call("samples"))


def test_a_session_of_the_command_s_own_copy(jdk):
    """Java code has brought the library first: it sees what the command begins, ends it, and has the result."""
    def run_in(it, command):
        return it.call("execute", command).decode()

    with Api(jdk) as program:
        one, two = program.got("a"), program.got("b", NAMED)
        assert "not active" in run_in(one, "status")
        for end in (one, two):
            assert jstrobe("start", "-e", "ctimer", "-i", "1ms", program.pid).returncode == 0
            assert jvm.LIBRARY in mapped(program.pid)
            wait_until(lambda: int(two.call("getSamples")) > 10 and int(one.call("samples")) > 10)
            for it in (one, two):
                assert run_in(it, "status").startswith("Profiling is running")
                with pytest.raises(Thrown) as thrown:
                    run_in(it, "start,event=wall")
                assert "already started" in thrown.value.text
            run_in(end, "stop")
            assert "api/Main.burn" in run_in(end, "dump,collapsed")
            assert all("not active" in run_in(it, "status") for it in (one, two))
            assert "not active" in jstrobe("status", program.pid).stdout
        run_in(two, "start,event=ctimer,interval=1ms")
        assert run_in(one, "status").startswith("Profiling is running")
        wait_until(lambda: int(one.call("samples")) > 10)
        done = jstrobe("stop", "-o", "collapsed", program.pid)
        assert done.returncode == 0 and "api/Main.burn" in done.stdout, done.stderr


def test_what_is_in_it():
    with zipfile.ZipFile(JAR) as jar:
        names = jar.namelist()
        manifest = jar.read("META-INF/MANIFEST.MF").decode()
        versions = {struct.unpack(">H", jar.read(name)[6:8])[0] for name in names if name.endswith(".class")}
    assert versions == {52}, "Java 8"
    for line in ("Automatic-Module-Name: jstrobe", "Premain-Class: jstrobe.Agent", "Agent-Class: jstrobe.Agent"):
        assert line in manifest.splitlines()
    assert [name for name in names if name.endswith(".so")] == ["jstrobe/linux-x64/libjstrobe.so"]
    assert {name.rpartition("/")[0] for name in names if name.endswith(".class")} == {"jstrobe", "one/profiler"}
