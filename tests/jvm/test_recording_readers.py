"""Other people's programs that read recordings: each release of async-profiler's converter, of JDK Mission Control's parser and
of the JDK's own tool that can be had here. What cannot is said."""
import os
import re
import signal
import subprocess
import time
import zipfile

import jfr
import jvm
import pytest
from jvm import Program, counted, jstrobe

pytestmark = pytest.mark.together

HERE = os.path.dirname(os.path.abspath(__file__))
NO_THREAD = 1 << 22  # keys of threads from here on are no ids
CONVERTERS = ["3.0", "4.0", "4.1", "4.2", "4.2.1", "4.3", "4.4", "4.5", "4.6"]
WITHOUT_SPANS = ["4.1", "4.2", "4.2.1"]  # read a wall-clock sample's timeSpan as the next event
PARSERS = ["8.0", "8.3", "9.0", "9.1"]
JDKS = [11, 17, 21, 25]
PATIENCE = 60  # seconds: one that has not ended by then never does


# ---- what there is ------------------------------------------------------------------------

_readers = {}


def reader(name, record_property):
    """The class path of that release; a test without it is skipped, and says why."""
    if not _readers:
        for line in jvm.run_script("fetch-readers.sh").splitlines():
            word, path = line.split()[:2]
            _readers[word] = None if path == "-" else path
    if not _readers.get(name):
        record_property("note", f"{name}: not tried, it could not be fetched")
        pytest.skip(f"{name} could not be fetched")
    return _readers[name]


def tool_of(version, record_property):
    jdk = jvm.find_jdk(version)
    if not jdk or not os.path.exists(os.path.join(jdk.home, "bin", "jfr")):
        record_property("note", f"jfr of JDK {version}: not tried, none is here")
        pytest.skip(f"no JDK {version} with a jfr tool is here")
    return os.path.join(jdk.home, "bin", "jfr")


def recorded(jdk, events, *options):
    path = jvm.result_file(".jfr")
    with Program(jdk, "KnownShares") as program:
        done = jstrobe("record", "-e", events, "-i", "1ms", "--chunksize", "64k", "--chunktime", "1s", *options,
                       "-d", counted(2, 10), "-f", path, program.pid)
        assert done.returncode == 0, done.stderr
        tids = {tid: name for tid, name in program.threads().items()}
    return path, tids


@pytest.fixture(scope="module", params=[17, 25], ids=["jdk17", "jdk25"])
def files(request, programs):
    """{how: (path, tids)} of one JVM: CPU time, wall clock as usual, wall clock for old converters."""
    jdk = jvm.find_jdk(request.param)
    if not jdk:
        pytest.skip(f"JDK {request.param}: not tested (none installed, none could be fetched)")
    made = {"cpu": recorded(jdk, "cpu"), "wall": recorded(jdk, "wall"),
            "compat": recorded(jdk, "wall", "--jfr-compat", "4.2")}
    yield made
    for path, _ in made.values():
        os.remove(path)


@pytest.fixture(scope="module")
def objects(programs):
    """A recording of objects inside and outside TLABs."""
    path = jvm.result_file(".jfr")
    with Program(jvm.find_jdk(17), "Allocs", "64,307200", 100 << 20, jvm=["-XX:+UseG1GC"]) as program:
        assert jstrobe("start", "-e", "alloc@256k", "-f", path, program.pid).returncode == 0
        program.say("begin")
        jvm.wait_until(lambda: "done" in program.mark(), 60)
        assert jstrobe("stop", program.pid).returncode == 0
    yield path
    os.remove(path)


def run_converter(path, classpath, *words):
    java = jvm.find_jdk(17).java
    out = jvm.result_file(".collapsed")
    if "ap-loader" in classpath:  # 3.0: CPU time is what it takes without a word
        call = ["one.converter.jfr2flame", "--collapsed", *[w for w in words if w != "--cpu"]]
    else:
        with zipfile.ZipFile(classpath) as jar:
            main = re.search(r"Main-Class: (\S+)", jar.read("META-INF/MANIFEST.MF").decode()).group(1)
        call = [main, "-o", "collapsed", *words]
    done = subprocess.run([java, "-Xmx512m", "-cp", classpath, *call, path, out], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stdout[-2000:]
    with open(out) as file:
        lines = file.read().splitlines()
    os.remove(out)
    return lines


def total(lines):
    return sum(int(line.rsplit(" ", 1)[1]) for line in lines)


# ---- async-profiler's converter -------------------------------------------------------------

@pytest.mark.parametrize("version", CONVERTERS)
def test_converters_read_cpu_time(files, version, record_property):
    classpath = reader(f"converter-{version}", record_property)
    path, _ = files["cpu"]
    lines = run_converter(path, classpath, "--cpu")
    assert total(lines) == jfr.Recording(path).count("jdk.ExecutionSample") > 100


@pytest.mark.parametrize("version", CONVERTERS)
def test_converters_read_wall_clock(files, version, record_property):
    if version in ("3.0", "4.0"):
        pytest.skip(f"converter {version} knows no event profiler.WallClockSample")
    classpath = reader(f"converter-{version}", record_property)
    kinds = ["compat"] if version in WITHOUT_SPANS else ["wall", "compat"]
    for kind in kinds:
        path, _ = files[kind]
        lines = run_converter(path, classpath, "--wall")
        assert total(lines) == jfr.Recording(path).counters("wall")["stored"] > 20, kind


@pytest.mark.parametrize("version", CONVERTERS)
def test_converters_read_objects(objects, version, record_property):
    """Each converter reads all events, and takes a TLAB's size, else an object's, for what it stands for."""
    classpath = reader(f"converter-{version}", record_property)
    lines = run_converter(objects, classpath, "--alloc", "--total")
    events = jfr.Recording(objects).events
    inside, outside = (events[f"jdk.ObjectAllocation{place}TLAB"] for place in ("InNew", "Outside"))
    assert len(inside) > 100 and len(outside) > 100 and events["jstrobe.ObjectWeight"]
    assert total(lines) == sum(e["tlabSize"] for e in inside) + sum(e["allocationSize"] for e in outside)


@pytest.mark.parametrize("version", CONVERTERS)
def test_converters_show_ids_of_threads(files, version, record_property):
    classpath = reader(f"converter-{version}", record_property)
    path, tids = files["cpu"]
    lines = run_converter(path, classpath, "--cpu", "--threads")
    shown = set(map(int, re.findall(r"^\[.*? tid=(\d+)\]", "\n".join(lines), re.M)))
    sampled = {e["sampledThread"]["osThreadId"] for e in jfr.Recording(path).events["jdk.ExecutionSample"]}
    assert shown == sampled and shown & set(tids)


# ---- the others -------------------------------------------------------------------------------

@pytest.mark.parametrize("version", JDKS)
def test_the_jdks_tool(files, version, record_property):
    tool = tool_of(version, record_property)
    for kind, event in ("cpu", "jdk.ExecutionSample"), ("wall", "profiler.WallClockSample"), ("compat", "profiler.WallClockSample"):
        path, _ = files[kind]
        done = subprocess.run([tool, "print", "--events", event, path], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True, timeout=300)
        assert done.returncode == 0 and not done.stderr, done.stderr[-1000:]
        assert done.stdout.count(event + " {") == jfr.Recording(path).count(event) > 0


@pytest.mark.parametrize("version", PARSERS)
def test_mission_controls_parser(files, version, record_property):
    classpath = reader(f"jmc-{version}", record_property)
    java = jvm.find_jdk(17).java
    for kind in files:
        path, _ = files[kind]
        done = subprocess.run([java, "-cp", classpath, os.path.join(HERE, "readers", "JmcRead.java"), path],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=300)
        assert done.returncode == 0, done.stderr[-2000:]
        found = {name: int(n) for name, n in (line.split() for line in done.stdout.splitlines())}
        counts = {name: len(events) for name, events in jfr.Recording(path).events.items() if events}
        assert {name: n for name, n in found.items() if n} == counts, kind


# ---- keys of threads --------------------------------------------------------------------------

def thread_keys(path):
    """[(key, constant)] of all chunks."""
    return [(key, value) for chunk in jfr.Recording(path).chunks for (kind, key), value in chunk.constants.items()
            if kind == "java.lang.Thread"]


def test_keys_of_threads_are_their_ids(files):
    for kind in files:
        path, tids = files[kind]
        keys = thread_keys(path)
        assert len(jfr.Recording(path).chunks) > 1 and {key for key, _ in keys} & set(tids)
        assert all(key == value["osThreadId"] for key, value in keys), keys


def test_keys_of_threads_that_change(jdk, say):
    """Names that change, threads that come and go, virtual threads: one key stands for one thread under one name."""
    for name, *words in ("Renamed", 6, 50), ("ThreadChurn",), ("VirtualThreads",):
        if name == "VirtualThreads" and jdk.version < 21:
            continue
        path = jvm.result_file(".jfr")
        with Program(jdk, name, *words) as program:
            done = jstrobe("record", "-e", "cpu,wall", "-i", "1ms", "--chunksize", "64k", "--chunktime", "1s",
                           "-d", counted(3, 20), "-f", path, program.pid)
            assert done.returncode == 0, done.stderr
        keys = thread_keys(path)  # jfr.py fails if a key means two things
        ids = sum(key == value["osThreadId"] for key, value in keys)
        assert all(key == value["osThreadId"] or key >= NO_THREAD for key, value in keys)
        assert all(key >= NO_THREAD for key, value in keys if value["virtual"])
        assert ids
        say(f"{jdk}, {name}: {ids} of {len(keys)} constants of threads have their id as key")
        os.remove(path)


def test_lambdas_are_called_as_agents_see_them(jdk):
    path = jvm.result_file(".jfr")
    with Program(jdk, "Words") as program:
        done = jstrobe("record", "-e", "cpu", "-i", "1ms", "-d", counted(2, 10), "-f", path, program.pid)
        assert done.returncode == 0, done.stderr
    names = {value["string"] for chunk in jfr.Recording(path).chunks for (kind, _), value in chunk.constants.items()
             if kind == "jdk.types.Symbol" and "$$Lambda" in value["string"]}
    assert names and all(re.search(r"\$\$Lambda(\$\d+)?\.0x[0-9a-f]+$", name) for name in names), names
    # ours reads them back as those of the session
    text = jstrobe("convert", "--no-norm", "-o", "collapsed", path).stdout
    assert re.search(r"\$\$Lambda(\$\d+)?\.0x[0-9a-f]+\.", text)
    lasting = jstrobe("convert", "-o", "collapsed", path).stdout
    assert "$$Lambda" in lasting and not re.search(r"\$\$Lambda(\$\d+)?\.0x", lasting)
    assert not re.search(r"\$\$Lambda(\$\d+)?\.0x", jstrobe("convert", "--norm", "-o", "collapsed", path).stdout)
    os.remove(path)


# ---- a file that grows ------------------------------------------------------------------------

def copies_while_it_grows(path, count):
    """So many different copies of PATH, each read in one go."""
    copies, until = [], time.time() + 120
    while len(copies) < count:
        with open(path, "rb") as file:
            data = file.read()
        if not copies or data != copies[-1]:
            copies.append(data)
        assert time.time() < until, f"{len(copies)} copies in 120 s"
        time.sleep(0.002)
    return copies


def test_a_recording_that_grows(jdk, say):
    """At each moment the file is whole; a copy that took longer than a second's writing is repaired, and says what it lacks."""
    path, copy, whole = jvm.result_file(".jfr"), jvm.result_file(".jfr"), jvm.result_file(".jfr")
    with Program(jdk, "KnownShares") as program:
        running = subprocess.Popen([jvm.COMMAND, "record", "-q", "-i", "1ms", "-d", "200", "-f", path, str(program.pid)])
        jvm.wait_until(lambda: os.path.exists(path) and os.path.getsize(path) > 0)
        copies = copies_while_it_grows(path, counted(4, 30))
        # a dump is whole however slowly it is read
        assert jstrobe("dump", "-f", copy, program.pid).returncode == 0
        assert jfr.Recording(copy).count("jdk.ExecutionSample")
        running.send_signal(signal.SIGINT)
        assert running.wait(timeout=60) == 0
    good = 0
    for data in copies:
        with open(copy, "wb") as file:
            file.write(data)
        try:
            jfr.Recording(copy)
            good += 1
        except jfr.Broken:
            pass
    assert good >= len(copies) - 1, "one may have been read between the two writes of a second"
    # an old header before new events, as a slow copy has them
    mixed = copies[-2][:68] + copies[-1][68:]
    with open(copy, "wb") as file:
        file.write(mixed)
    with pytest.raises(jfr.Broken):
        jfr.Recording(copy)
    done = jstrobe("convert", copy, whole)
    assert done.returncode == 0 and re.search(r"\d+ bytes are damaged or not finished and were left out", done.stderr), done.stderr
    assert jfr.Recording(whole).count("jdk.ExecutionSample") > 0
    say(f"{jdk}: {good} of {len(copies)} copies of a growing recording are whole files")
    for name in path, copy, whole:
        os.remove(name)
