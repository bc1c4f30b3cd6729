"""Recordings (-f x.jfr): what is in them, that every reader takes them, and what can happen to them meanwhile."""
import json
import os
import re
import signal
import subprocess
import time

import jfr
import jvm
import pytest
from jvm import Program, counted, jstrobe, wait_until
from litter import left_since, litter

pytestmark = pytest.mark.together

# Fast enough for many samples, in chunks as small as may be.
MANY = ("-i", "1ms", "--chunksize", "64k", "--chunktime", "1s")
VIEWS = ["hot-methods", "cpu-time-hot-methods", "cpu-time-statistics", "cpu-load", "thread-cpu-load",
         "jvm-information", "system-information", "system-properties", "native-libraries", "active-settings",
         "active-recordings", "gc-pauses"]


def tool(jdk, *args):
    """What the JDK's own `jfr` says; it may not complain."""
    done = subprocess.run([os.path.join(jdk.home, "bin", "jfr"), *map(str, args)], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=300, encoding="utf-8", errors="replace")
    assert done.returncode == 0 and not done.stderr, (args, done.stderr[-2000:], done.stdout[-500:])
    return done.stdout


def count_in_summary(text, event):
    found = re.findall(rf"^\s*{re.escape(event)}\s+(\d+)", text, re.M)
    return sum(map(int, found)) if found else None


def check_books(recording, event="cpu"):
    """Each stored sample is in the file, once, with its weight."""
    books = recording.counters(event)
    assert books["taken"] == books["stored"] + books["lost"] and books["unwritten"] == 0
    if event != "cpu":
        samples = [s for s in recording.events["jstrobe.EventSample"] if s["event"] == event]
        assert (len(samples), sum(s["weight"] for s in samples)) == (books["stored"], books["weightStored"])
        return books
    executions, times = (recording.events.get(n, []) for n in ("jdk.ExecutionSample", "jdk.CPUTimeSample"))
    if times:
        assert len(times) == books["stored"]
        assert sum(s["samplingPeriod"] for s in times) == books["weightStored"]
    if executions:
        assert len(executions) == books["stored"]
    if not times:
        weights = [w for e in recording.events["jstrobe.SampleWeights"] for w in jfr.weights(e)]
        assert len(weights) == books["stored"]
        assert abs(books["weightStored"] - sum(weights)) <= books["interval"] / 32
    lost = sum(e["samples"] for e in recording.events["jstrobe.SamplesLost"] if e["event"] == event)
    assert lost == books["lost"]
    return books


def test_several_chunks_and_readers(jdk, jdk17, say):
    """Two events, many chunks: complete, and taken by both `jfr` tools without a word."""
    path = jvm.result_file(".jfr")
    with Program(jdk, "KnownShares", jvm=["-Dmy.password=hunter2", "-Dapi=key=hunter2"]) as program:
        done = jstrobe("record", "-e", "cpu,page-faults", *MANY, "-d", counted(2.5, 20), "-f", path, program.pid)
        assert done.returncode == 0, done.stderr
        pid = program.pid
    recording = jfr.Recording(path)
    assert len(recording.chunks) >= 2 and [c.final for c in recording.chunks[:-1]] == [False] * (
        len(recording.chunks) - 1)
    books = check_books(recording)
    check_books(recording, "page-faults")
    assert books["stored"] > 100
    assert {e["pid"] for e in recording.events["jdk.JVMInformation"]} == {pid}
    properties = {e["key"]: e["value"] for e in recording.events["jdk.InitialSystemProperty"]}
    assert properties["my.password"] == "***" and "hunter2" not in open(path, "rb").read().decode("latin-1")
    assert properties["java.vm.name"]
    stacks = [jfr.stack(e) for e in recording.events["jdk.CPUTimeSample"]]
    assert sum("truth/KnownShares.alpha" in s for s in stacks) > 10
    times = [e["time"] for e in recording.events["jdk.CPUTimeSample"]]
    assert max(times) - min(times) > 1.5e9 and abs(max(times) / 1e9 - time.time()) < 60
    for reader in {jdk, jdk17}:
        summary = tool(reader, "summary", path)
        assert count_in_summary(summary, "jdk.CPUTimeSample") == books["stored"]
        assert count_in_summary(summary, "jdk.ExecutionSample") == books["stored"]
        assert f"Chunks: {len(recording.chunks)}" in summary
        tool(reader, "metadata", path)
    printed = tool(jdk, "print", path)
    assert printed.count("jdk.CPUTimeSample {") == books["stored"]
    periods = re.findall(r"samplingPeriod = (.*)", printed)
    assert all(re.match(r"[\d.,]+ (ns|us|ms|s)$", p) for p in periods), "lengths of time with their units"
    say(f"recording of {jdk}: {os.path.getsize(path)} bytes, {len(recording.chunks)} chunks, "
        f"{books['stored']} samples, each read back")


def test_views(jdk25):
    """Each view of JDK 25's `jfr` whose event is there shows it."""
    path = jvm.result_file(".jfr")
    with Program(jdk25, "KnownShares") as program:
        assert jstrobe("record", "-i", "1ms", "-d", counted(1, 12), "-f", path, program.pid).returncode == 0
    for view in counted(["hot-methods", "cpu-time-hot-methods", "jvm-information"], VIEWS):
        text = tool(jdk25, "view", view, path)
        if view in ("thread-cpu-load", "gc-pauses", "active-recordings"):
            continue
        assert "No events found" not in text and "Missing event" not in text, text
        if "methods" in view:
            assert "truth.KnownShares" in text


def test_heap(jdk):
    """After a collection: how full the heap is, and how large."""
    path = jvm.result_file(".jfr")
    with Program(jdk, "Garbage", jvm=["-Xms64m", "-Xmx96m"]) as program:
        assert jstrobe("record", "-d", counted(2.2, 10), "-f", path, program.pid).returncode == 0
    found = jfr.Recording(path).events["jdk.GCHeapSummary"]
    assert found
    for e in found:
        space = e["heapSpace"]
        assert e["when"] == "After GC" and 0 < e["heapUsed"] <= space["committedSize"] <= 96 << 20, e
        assert space["reservedSize"] == 96 << 20 and space["start"] and space["committedEnd"] <= space["reservedEnd"], e
    ids = [e["gcId"] for e in found]
    assert ids == sorted(set(ids))
    tool(jdk, "print", "--events", "GCHeapSummary", path)
    # read up to a second after the collection, so it is not told as what that left
    rows = {row["row"]: row for row in json.loads(jstrobe("convert", "-o", "json", path, "-").stdout)["marks"]["rows"]}
    assert "heap_after_gc" not in rows and sum(rows["heap_read"]["sum"]) == sum(e["heapUsed"] for e in found)


@pytest.mark.parametrize("events", ["execution", "cputime"])
def test_one_event_a_sample(jdk17, events):
    path = jvm.result_file(".jfr")
    with Program(jdk17, "KnownShares") as program:
        done = jstrobe("record", "--cpuevents", events, "-i", "1ms", "-d", 1, "--noprops", "-f", path, program.pid)
        assert done.returncode == 0, done.stderr
    recording = jfr.Recording(path)
    assert check_books(recording)["stored"] > 20
    assert bool(recording.count("jdk.ExecutionSample")) == (events == "execution")
    assert bool(recording.count("jdk.CPUTimeSample")) == (events == "cputime")
    assert recording.count("jdk.InitialSystemProperty") == 0
    tool(jdk17, "print", path)


def test_the_clock_is_set(jdk17):
    """The clock is set to and fro: nothing is lost, and within a chunk times are as far apart as they were."""
    library = os.path.join(jvm.OWN, "clock_steps.so")
    subprocess.run(["gcc", "-O2", "-shared", "-fPIC", "-o", library,
                    os.path.join(jvm.ROOT, "tests", "jvm", "preload", "clock_steps.c")], check=True)
    path, text = jvm.result_file(".jfr"), jvm.result_file()
    steps = set()
    for _ in range(100):
        said = subprocess.run(["env", f"LD_PRELOAD={library}", "date", "+%s"], capture_output=True, text=True, check=True)
        steps.add(round((int(said.stdout) - time.time()) / 3600))
        if len(steps) > 1:
            break
        time.sleep(0.05)
    assert steps == {0, 1}, "the clock is not set"
    with Program(jdk17, "KnownShares", wrap=["env", f"LD_PRELOAD={library}"]) as program:
        began = time.monotonic()
        done = jstrobe("start", "-e", "cpu,wall", "-i", "1ms", "--chunktime", "1s", "-f", path, program.pid)
        assert done.returncode == 0, done.stderr
        time.sleep(counted(4, 20))
        assert jstrobe("stop", program.pid).returncode == 0
        took = time.monotonic() - began
        assert jstrobe("record", "-d", "1.5", "-f", text, program.pid).returncode == 0
    recording = jfr.Recording(path)
    check_books(recording)
    assert len(recording.chunks) >= 3 and min(chunk.duration for chunk in recording.chunks[1:-1]) < 1.9e9
    half = 1800e9  # of the step; a machine may stand still for a minute
    assert all(0 < chunk.duration < half for chunk in recording.chunks)
    assert sum(chunk.duration for chunk in recording.chunks) < 1.05e9 * took
    for chunk in recording.chunks:
        times = [s["startTime"] for s in chunk.events.get("jdk.CPUTimeSample", [])]
        assert not times or max(times) - min(times) <= chunk.duration + 1e9
    tool(jdk17, "summary", path)
    assert 1.3e9 < jvm.Profile(text).json["duration_ns"] < half


@pytest.mark.parametrize("number, absent", [
    (0, []), (1, ["jdk.JVMInformation", "jdk.OSInformation", "jdk.CPUInformation", "jdk.PhysicalMemory"]),
    (2, ["jdk.InitialSystemProperty"]), (4, ["jdk.NativeLibrary"]), (8, ["jdk.CPULoad", "jdk.ThreadCPULoad"]),
    (16, ["jdk.GCHeapSummary"])])
def test_what_is_left_out(jdk17, number, absent):
    """jfropts: each number leaves out its own, and nothing else."""
    path = jvm.result_file(".jfr")
    with Program(jdk17, "Garbage", jvm=["-Xms64m", "-Xmx96m"]) as program:
        done = jstrobe("start", "--jfropts", number, "-f", path, program.pid)
        assert done.returncode == 0, done.stderr
        time.sleep(counted(1.7, 5))
        program.work(0.4)  # a busy machine may give it less for that long; a sample is 10 ms
        assert jstrobe("stop", program.pid).returncode == 0
    recording = jfr.Recording(path)
    always = {"jdk.JVMInformation", "jdk.OSInformation", "jdk.CPUInformation", "jdk.PhysicalMemory",
              "jdk.InitialSystemProperty", "jdk.NativeLibrary", "jdk.CPULoad", "jdk.GCHeapSummary"}
    assert {name for name in always if recording.count(name)} == always - set(absent)
    assert recording.count("jdk.ExecutionSample") > 20 and not any(recording.count(name) for name in absent)


@pytest.mark.parametrize("wrong", ["32", "fast", "-1"])
def test_wrong_jfropts(wrong):
    done = jstrobe("record", "--jfropts=" + wrong, "-f", "x.jfr", "1")
    assert done.returncode != 0 and "neither mem nor a sum of 1, 2, 4, 8 and 16" in done.stderr, done.stderr


def test_include_and_exclude(jdk17):
    """What is left out is not in the file and not in the stream, but in the books, with its weight."""
    path, live, text = (jvm.result_file(suffix) for suffix in (".jfr", ".ndjson", ".txt"))
    with Program(jdk17, "KnownShares") as program:
        done = jstrobe("start", "-i", "1ms", "-I", "truth.KnownShares.first", "-I", "shares-2", "-X",
                       "truth/KnownShares.be*", "--stream", live, "-f", path, program.pid)
        assert done.returncode == 0, done.stderr
        time.sleep(counted(1, 5))
        done = jstrobe("dump", "-X", "*alpha", "-f", jvm.result_file(".jfr"), program.pid)
        assert done.returncode == 1 and "chosen when it begins" in done.stderr, done.stderr
        assert jstrobe("stop", program.pid).returncode == 0
    recording = jfr.Recording(path)
    books, samples = recording.counters(), recording.events["jdk.CPUTimeSample"]
    assert books["leftOut"] > 10 and books["unwritten"] == 0
    assert len(samples) + books["leftOut"] == books["stored"]
    assert sum(s["samplingPeriod"] for s in samples) + books["weightLeftOut"] == books["weightStored"]
    for s in samples:
        frames = jfr.stack(s)
        assert "truth/KnownShares.beta" not in frames
        assert "truth/KnownShares.first" in frames or s["eventThread"]["javaName"] == "shares-2", s
    assert {s["eventThread"]["javaName"] for s in samples} == {"shares-1", "shares-2"}
    with open(live) as file:
        records = [json.loads(line) for line in file]
    told = [r["events"][0] for r in records if r["kind"] == "stats"][-1]
    assert sum(r.get("samples", 1) for r in records if r["kind"] == "sample") + told["dropped"] + told["left_out"] == \
        told["stored"] == books["stored"]
    assert told["left_out"] == books["leftOut"]
    assert jstrobe("convert", "-e", "cpu", path, text).returncode == 0
    with open(text) as file:
        converted = file.read()
    assert f"{len(samples):,} of {books['stored']:,} samples shown" in converted, converted


def test_killed_jvm(jdk):
    """After kill -9 the file is whole, up to the last second."""
    path = jvm.result_file(".jfr")
    with Program(jdk, "KnownShares") as program:
        command = subprocess.Popen([jvm.COMMAND, "record", "-i", "1ms", "-d", "60", "-f", path, str(program.pid)],
                                   stderr=subprocess.PIPE, text=True)
        try:
            wait_until(lambda: os.path.exists(path) and os.path.getsize(path) >= 40000, 60)
            time.sleep(counted(1.5, 5))
            killed = time.time_ns()
            os.kill(program.pid, signal.SIGKILL)
            errors = command.communicate(timeout=60)[1]
        finally:
            command.kill()
    assert command.returncode == 1 and "holds what was recorded" in errors, errors
    recording = jfr.Recording(path)
    assert recording.count("jdk.ExecutionSample") == recording.count("jdk.CPUTimeSample") > 100
    last = max(e["time"] for e in recording.events["jdk.CPUTimeSample"])
    assert 0 < killed - last < 4e9, "a second, and what a busy machine adds"
    assert count_in_summary(tool(jdk, "summary", path), "jdk.CPUTimeSample") == recording.count("jdk.CPUTimeSample")


def test_start_dump_stop_resume(jdk17):
    path, copy = jvm.result_file(".jfr"), jvm.result_file(".jfr")
    with Program(jdk17, "KnownShares") as program:
        before = litter()
        done = jstrobe("start", "-i", "1ms", "-f", path, program.pid)
        assert done.returncode == 0, done.stderr
        assert jfr.Recording(path).count("jdk.JVMInformation") == 1, "in the file from the begin"
        time.sleep(0.5)
        assert jstrobe("dump", program.pid).returncode == 0
        first = jfr.Recording(path).count("jdk.CPUTimeSample")
        assert first > 50, "dump makes all there is readable"
        assert jstrobe("dump", "-f", copy, program.pid).returncode == 0
        assert jfr.Recording(copy).count("jdk.CPUTimeSample") >= first
        inode = os.stat(path).st_ino
        assert jstrobe("dump", "-f", path, program.pid).returncode == 0
        assert os.stat(path).st_ino == inode, "the file that grows must not be replaced"
        text = jstrobe("dump", "-o", "collapsed", program.pid).stdout
        assert "truth/KnownShares" in text, "other formats of the same session"
        assert jstrobe("stop", program.pid).returncode == 0
        stopped = check_books(jfr.Recording(path))["stored"]
        assert stopped > first
        done = jstrobe("resume", "-i", "1ms", "-f", path, program.pid)
        assert done.returncode == 0, done.stderr
        time.sleep(0.3)
        assert jstrobe("stop", program.pid).returncode == 0
        resumed = jfr.Recording(path)
        assert len(resumed.chunks) == 2
        assert check_books(resumed)["stored"] > stopped
        assert not left_since(before)
    tool(jdk17, "print", path)


@pytest.mark.parametrize("runs", ["same same", "same other", "same none same", "none other", "same none other"])
def test_a_resumed_session(jdk, runs, say):
    """Each file's books are of what is in it, whatever else the session has sampled; losses are told once."""
    files = {"same": jvm.result_file(".jfr"), "other": jvm.result_file(".jfr")}
    said, least, most = [], dict.fromkeys(files, 0), dict.fromkeys(files, 0)
    with Program(jdk, "KnownShares") as program:
        for number, run in enumerate(runs.split()):
            before = program.cpu()
            done = jstrobe("resume" if number else "start", "-i", "50us", "--queuesize", "16",
                           *(["-f", files[run]] if run in files else []), program.pid)
            assert done.returncode == 0, done.stderr
            running = program.cpu()
            program.work(0.3)
            worked = program.cpu() - running
            done = jstrobe("stop", program.pid)
            assert done.returncode == 0, done.stderr
            if run in files:
                least[run] += worked
                most[run] += program.cpu() - before
    for name in set(runs.split()) - {"none"}:
        recording, text = jfr.Recording(files[name]), jvm.result_file(".json")
        books, runs_in_it = check_books(recording), runs.split().count(name)
        assert len(recording.chunks) == runs_in_it and books["lost"] > 0, books
        assert least[name] <= books["cpuTime"] <= most[name], (books, least, most)
        assert books["weightStored"] + books["weightLost"] <= most[name], (books, most)
        assert jstrobe("convert", "--cpu", files[name], text).returncode == 0
        with open(text) as file:
            assert json.load(file)["samples"]["taken"] == books["taken"]
        said.append(f"{name}: {books['taken']} taken, {books['lost']} lost, {books['cpuTime'] / 1e6:.0f} ms")
    say(f"{runs}, {jdk}: " + "; ".join(said))


@pytest.mark.parametrize("event", ["cpu", "cpu,wall@20ms"])
def test_a_recording_ends_with_its_session(jdk, event, say):
    """The CPU time in the recording's books is the session's, without what was used after its end, as for names."""
    path, plain, converted = jvm.result_file(".jfr"), jvm.result_file(".json"), jvm.result_file(".json")
    with Program(jdk, "Mixture") as program:
        for _ in range(counted(2, 5)):
            assert jstrobe("start", "-e", event, "-i", "1ms", "-f", path, program.pid).returncode == 0
            program.work(0.5)
            assert jstrobe("stop", program.pid).returncode == 0
            assert jstrobe("dump", "--show", "cpu", "-f", plain, program.pid).returncode == 0
            done = jstrobe("convert", "--cpu", path, converted)
            assert done.returncode == 0, done.stderr
            with open(plain) as one, open(converted) as other:
                session, recording = json.load(one), json.load(other)
            say(f"{jdk}, {event}: CPU time {session['cpu_time_ns']}, in the recording {recording['cpu_time_ns']}")
            for key in ("cpu_time_ns", "own_cpu_ns"):
                assert session[key] == recording[key], key
            assert session["weight"]["unsampled"] == recording["weight"]["unsampled"]


def test_loop_and_agent(jdk17):
    """Each round has a file of its own; the JVM's end completes the last."""
    pattern = jvm.result_file("-%n.jfr")
    agent = f"-agentpath:{jvm.LIBRARY}=start,event=cpu,interval=1ms,loop=1s,file={pattern}"
    paths = [pattern.replace("%n", str(i)) for i in range(counted(3, 10))]
    with Program(jdk17, "KnownShares", jvm=[agent]) as program:
        wait_until(lambda: os.path.exists(paths[-1]), 60)
        program.stop()
    rounds = [jfr.Recording(path) for path in paths]
    assert sum(check_books(one)["stored"] for one in rounds) > 20
    # how long nothing was sampled before it
    gaps = [[s["value"] for s in one.events["jdk.ActiveSetting"] if s["name"] == "gap"] for one in rounds]
    assert not gaps[0] and all(len(gap) == 1 and int(gap[0].split()[0]) > 0 for gap in gaps[1:]), gaps


@pytest.mark.skipif(not jvm.SOAK, reason="stacks fill their memory only after many seconds: in make soak")
@pytest.mark.parametrize("kind", ["cpu", "wall", "stream", "last"])
def test_memory_for_stacks_is_renewed(jdk17, kind):
    """Whenever memory for stacks runs out it is given back and used anew: none is lost, all outputs stay whole."""
    path, live = jvm.result_file(".jfr"), jvm.result_file(".ndjson")
    options = {"cpu": ("-f", path), "wall": ("-e", "cpu,wall", "--wall", "5ms", "-f", path),
               "stream": ("--stream", live, "-f", path), "last": ("--last", "10s")}[kind]
    with Program(jdk17, "Words") as program:
        assert jstrobe("start", "-i", "200us", "--memlimit", "1m", *options, program.pid).returncode == 0
        time.sleep(45)
        if kind == "last":
            assert jstrobe("dump", "-f", path, program.pid).returncode == 0
        text = jstrobe("dump", "-o", "collapsed", program.pid).stdout
        assert sum(int(line.rsplit(" ", 1)[1]) for line in text.splitlines()) > 20
        assert jstrobe("stop", program.pid).returncode == 0
    recording = jfr.Recording(path)
    assert kind == "last" or len(recording.chunks) >= 2, "one for each time that it ran short"
    books = check_books(recording)
    assert books["stored"] > 20
    assert "store_full" not in {e["reason"] for e in recording.events["jstrobe.SamplesLost"]}
    if kind == "wall":
        assert sum(r["samples"] for r in recording.events["profiler.WallClockSample"]) == \
            recording.counters("wall")["stored"] > 20
    if kind == "stream":
        with open(live) as file:
            records = [json.loads(line) for line in file]
        ids = [r["id"] for r in records if r["kind"] == "stack"]
        assert len(ids) == len(set(ids)) and {r["stack"] for r in records if r["kind"] == "sample"} <= set(ids)
        dropped = sum(r["samples"] for r in records if r["kind"] == "drop" and "samples" in r)
        assert sum(r.get("samples", 1) for r in records if r["kind"] == "sample") + dropped == books["stored"]
    tool(jdk17, "summary", path)


def test_names_outlast_renewals(jdk17):
    """Samples of native code wait for their functions' names, also while the memory of stacks is renewed."""
    path = jvm.result_file(".jfr")
    with jvm.knobs(), Program(jdk17, "Comings", 4000, 200, 500) as program:
        done = jstrobe("start", "--renew-at", "100k", "-i", "1ms", "-f", path, program.pid)
        assert done.returncode == 0, done.stderr
        time.sleep(6)
        assert jstrobe("stop", program.pid).returncode == 0
    stacks = jstrobe("convert", "-e", "cpu", "-o", "collapsed", path, "-").stdout.splitlines()
    nameless = [line for line in stacks if re.search(r"(^|;)0x[0-9a-f]+", line)]
    assert len(stacks) > 100 and not nameless, (len(nameless), len(stacks), nameless[0][-300:])


def test_refused(jdk17):
    folder = os.path.dirname(jvm.result_file(".jfr"))
    with Program(jdk17, "Sleepers", 1, "idle") as program:
        for options, words in [
                (("start", "-o", "jfr"), "say where"),
                (("record", "--chunksize", "1", "-f", f"{folder}/x1.jfr"), "out of range"),
                (("record", "--cpuevents", "all", "-f", f"{folder}/x2.jfr"), "execution|cputime|both"),
                (("record", "-f", f"{folder}/none/x3.jfr"), "there is no folder")]:
            done = jstrobe(*options, program.pid)
            assert done.returncode != 0 and words in done.stderr, (options, done.stderr)
        assert jstrobe("start", program.pid).returncode == 0
        done = jstrobe("dump", "-f", f"{folder}/x4.jfr", program.pid)
        assert done.returncode == 1 and "begins with sampling" in done.stderr
        done = jstrobe("start", "-f", f"{folder}/x5.jfr", program.pid)
        assert done.returncode == 1 and "already" in done.stderr
        assert not os.path.exists(f"{folder}/x5.jfr"), "nothing is left of a recording that could not begin"
        assert jstrobe("stop", "-f", os.devnull, program.pid).returncode == 0
        assert program.alive()


def test_file_lost_meanwhile(jdk17):
    """Deleted, cut, written to: said, and the program goes on."""
    for harm, words in [(os.unlink, "was deleted"), (lambda p: os.truncate(p, 100), "was truncated"),
                        (lambda p: open(p, "ab").write(b"x"), "was written to")]:
        path = jvm.result_file(".jfr")
        with Program(jdk17, "KnownShares") as program:
            assert jstrobe("start", "-f", path, program.pid).returncode == 0
            harm(path)
            time.sleep(0.1)
            done = jstrobe("stop", program.pid)
            assert done.returncode == 1 and words in done.stderr, done.stderr
            assert program.alive()
            assert jstrobe("record", "-d", "0.2", program.pid).returncode == 0


def test_thread_names(jdk17):
    """Names with anything in them, as clean UTF-8."""
    path = jvm.result_file(".jfr")
    with Program(jdk17, "ThreadNames") as program:
        assert jstrobe("record", "-i", "1ms", "-d", "1", "-f", path, program.pid).returncode == 0
    recording = jfr.Recording(path)  # strict about UTF-8
    names = {e["eventThread"]["javaName"] for e in recording.events["jdk.CPUTimeSample"]}
    assert {"euro \u20ac", "clef \U0001d11e", "lone \ufffd end", "two\nlines"} <= names, names
    tool(jdk17, "print", path)


def test_full_disk(jdk17):
    """What fits is whole; the rest is said to be missing; the program goes on."""
    folder = jvm.result_file("")
    os.mkdir(folder)
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", folder],
                      stderr=subprocess.DEVNULL).returncode:
        pytest.skip("no small file system can be mounted here (needs root)")
    try:
        path = os.path.join(folder, "full.jfr")
        with Program(jdk17, "KnownShares") as program:
            assert jstrobe("start", "-i", "2ms", "-f", path, program.pid).returncode == 0
            time.sleep(0.5)
            assert jstrobe("dump", program.pid).returncode == 0
            subprocess.run(["dd", "if=/dev/zero", "of=" + os.path.join(folder, "filler"), "bs=1k", "count=8k"],
                           stderr=subprocess.DEVNULL)
            wait_until(lambda: jstrobe("dump", program.pid).returncode == 1)
            done = jstrobe("stop", program.pid)
            assert done.returncode == 1 and "No space left" in done.stderr, done.stderr
            assert program.alive()
        recording = jfr.Recording(path)
        assert recording.count("jdk.CPUTimeSample") == recording.count("jdk.ExecutionSample") > 20
        tool(jdk17, "summary", path)
    finally:
        subprocess.run(["umount", folder], check=True)
        os.rmdir(folder)


def test_maxsize(jdk17):
    path = jvm.result_file(".jfr")
    with Program(jdk17, "KnownShares") as program:
        assert jstrobe("start", "-i", "100us", "--maxsize", "64k", "-f", path, program.pid).returncode == 0
        time.sleep(counted(2, 6))
        done = jstrobe("stop", program.pid)
        assert done.returncode == 1 and "maxsize" in done.stderr, done.stderr
    assert jfr.Recording(path).count("jdk.JVMInformation") == 1 and os.path.getsize(path) <= 64 * 1024


def test_cpu_and_wall(jdk17):
    """Two clocks in one file; runs of equal samples are one event, none missing, none twice."""
    path = jvm.result_file(".jfr")
    with Program(jdk17, "KnownShares") as program:
        done = jstrobe("record", "-e", "cpu,wall", "-i", "2ms", "--wall", "10ms", "-d", counted(1.5, 20), "-f", path,
                       program.pid)
        assert done.returncode == 0, done.stderr
    recording = jfr.Recording(path)
    check_books(recording)
    books, runs = recording.counters("wall"), recording.events["profiler.WallClockSample"]
    assert sum(r["samples"] for r in runs) == books["stored"] > 100
    weights = [w for e in recording.events["jstrobe.WallWeights"] for w in jfr.weights(e)]
    assert len(weights) == len(runs) and abs(books["weightStored"] - sum(weights)) <= books["interval"] / 32
    states = {r["state"] for r in runs}
    assert {"STATE_RUNNABLE", "STATE_IN_NATIVE"} <= states and "STATE_DEFAULT" not in states, states
    assert max(r["samples"] for r in runs) > 50, "idle threads in long runs"
    tool(jdk17, "print", path)


@pytest.mark.skipif(not jvm.SOAK, reason="readers from elsewhere are fetched and tried in make soak")
def test_other_readers(jdk17, jdk25, say):
    """jdk.jfr.consumer of both JDKs, JDK Mission Control's parser and async-profiler's converter find every event."""
    path, text = jvm.result_file(".jfr"), jvm.result_file(".collapsed")
    with Program(jdk17, "KnownShares") as program:
        done = jstrobe("record", "-e", "cpu,wall", *MANY, "-d", "10", "-f", path, program.pid)
        assert done.returncode == 0, done.stderr
    recording = jfr.Recording(path)
    counts = {name: len(events) for name, events in recording.events.items() if events}
    assert len(recording.chunks) > 1 and counts["profiler.WallClockSample"] > 10
    jvm.run_script("fetch-peers.sh")
    peers, sources = os.path.join(jvm.OUT, "peers"), os.path.join(os.path.dirname(os.path.abspath(__file__)), "readers")

    def read(jdk, program, classpath=""):
        done = subprocess.run([jdk.java, "-cp", classpath or ".", os.path.join(sources, program), path], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=300)
        assert done.returncode == 0, done.stderr
        found = dict(line.split() for line in done.stdout.splitlines())
        assert {name: int(n) for name, n in found.items() if int(n)} == counts, program
        return done.stderr

    for jdk in (jdk17, jdk25):
        assert not read(jdk, "ReadRecording.java")
    if os.path.exists(os.path.join(peers, "flightrecorder-9.1.1.jar")):
        complaints = read(jdk17, "JmcRead.java", os.path.join(peers, "*"))
        # it says so of the JDK's own recordings, too
        others = [line for line in complaints.splitlines()
                  if "addField" not in line and "'virtual' in reader for 'thread'" not in line]
        assert not others, complaints
    else:
        say("JDK Mission Control's parser could not be fetched: not tried")
    converter = os.path.join(peers, "jfr-converter-4.5.jar")
    if os.path.exists(converter):
        for family, wanted in [("--cpu", counts["jdk.ExecutionSample"]),
                               ("--wall", recording.counters("wall")["stored"])]:
            subprocess.run([jdk17.java, "-jar", converter, family, path, text], check=True, stdout=subprocess.DEVNULL)
            with open(text) as file:
                assert sum(int(line.rsplit(" ", 1)[1]) for line in file) == wanted, family
        with Program(jdk17, "Lives", 1024, 8 << 20) as program:
            assert jstrobe("start", "-e", "live@16k", "-f", path, program.pid).returncode == 0
            program.say("begin")
            wait_until(lambda: program.mark().get("done") == 1, 60)
            assert jstrobe("stop", "--gc", program.pid).returncode == 0
        subprocess.run([jdk17.java, "-jar", converter, "--live", "-o", "collapsed", path, text], check=True,
                       stdout=subprocess.DEVNULL)
        with open(text) as file:
            assert sum(int(line.rsplit(" ", 1)[1]) for line in file) == \
                len(jfr.Recording(path).events["profiler.LiveObject"]) > 100
    else:
        say("async-profiler's converter could not be fetched: not tried")


# ---- the JDK's own recording beside ours

def check_joined(path, jdk):
    """Ours first, whole; behind it chunks of the JDK, which every reader takes. Counts of the JDK's events."""
    with open(path, "rb") as file:
        ours = jfr.Chunk(file.read(), 0, {})
    summary = tool(jdk, "summary", path)
    assert count_in_summary(summary, "jdk.CPUTimeSample") == len(ours.events["jdk.CPUTimeSample"]) > 20
    assert count_in_summary(summary, "jdk.ExecutionSample") == len(ours.events["jdk.ExecutionSample"])
    assert count_in_summary(summary, "jdk.JVMInformation") == 1, "what we tell ourselves is told once"
    assert "Chunks: 1\n" not in summary
    assert "jdk.CPUTimeSample {" in tool(jdk, "print", "--events", "jdk.CPUTimeSample,jdk.GarbageCollection", path)
    books = {c["event"]: c for c in ours.events["jstrobe.Counters"]}["cpu"]
    text = jstrobe("convert", "-e", "cpu", "-o", "collapsed", path, "-").stdout
    assert sum(int(line.rsplit(" ", 1)[1]) for line in text.splitlines()) == books["stored"]
    return {event: count_in_summary(summary, event) for event in
            ("jdk.GarbageCollection", "jdk.GCHeapSummary", "jdk.SafepointBegin", "jdk.BooleanFlag", "jdk.ClassLoad")}


def folders():
    return [name for name in os.listdir("/tmp") if name.startswith(".jstrobe-jfr-")]


def test_jfrsync_with_the_jvm(jdk17):
    """From the JVM's first moment to its end; only the events that were asked for."""
    path, before = jvm.result_file(".jfr"), folders()
    agent = f"-agentpath:{jvm.LIBRARY}=start,event=cpu,interval=1ms,jfrsync=+jdk.GarbageCollection+jdk.ClassLoad#threshold=0ms,file={path}"
    with Program(jdk17, "KnownShares", jvm=[agent]) as program:
        subprocess.run([os.path.join(jvm.compiler(), "bin", "jcmd"), str(program.pid), "GC.run"], check=True,
                       stdout=subprocess.DEVNULL)
        time.sleep(counted(0.3, 3))
        program.stop()
    found = check_joined(path, jdk17)
    assert found["jdk.GarbageCollection"] >= 1 and found["jdk.ClassLoad"] >= 1 and not found["jdk.BooleanFlag"], found
    assert folders() == before


@pytest.mark.skipif(not jvm.SOAK, reason="the JDK's recording takes seconds to begin: more of them in make soak")
def test_jfrsync_of_a_running_jvm(jdk, jdk17):
    """Joined at stop, twice in one file; a session that cannot have it does not begin."""
    path, before = jvm.result_file(".jfr"), folders()
    with Program(jdk, "Garbage") as program:
        for verb in "start", "resume":
            done = jstrobe(verb, "--jfrsync", "profile", "-i", "1ms", "-f", path, program.pid)
            assert done.returncode == 0, done.stderr
            time.sleep(2)
            assert jstrobe("stop", program.pid).returncode == 0
            if verb == "start":
                found = check_joined(path, jdk)
                assert found["jdk.GarbageCollection"] and found["jdk.GCHeapSummary"] and found["jdk.BooleanFlag"], found
        assert "Chunks: 4\n" in tool(jdk17, "summary", path)
        for options, words in [(("--jfrsync=none.such", "-f", path), "none.such"), (("--jfrsync",), "give -f FILE.jfr"),
                               (("--jfrsync", "--last", "1m"), "give -f FILE.jfr")]:
            done = jstrobe("start", *options, program.pid)
            assert done.returncode == 1 and words in done.stderr, done.stderr
            assert "not active" in jstrobe("status", program.pid).stdout
        listed = subprocess.run([os.path.join(jdk.home, "bin", "jcmd"), str(program.pid), "JFR.check"],
                                stdout=subprocess.PIPE, text=True).stdout
        assert "jstrobe" not in listed
    assert folders() == before


# ---- the flight recorder

def of_thread(path, name):
    """CPU samples of the thread called NAME in recording PATH, in order."""
    samples = jfr.Recording(path).events["jdk.CPUTimeSample"]
    return sorted((s for s in samples if s["eventThread"]["javaName"] == name), key=lambda s: s["startTime"])


def test_flight_recorder(jdk17):
    """The last seconds at any time, as often as wanted, without a gap; no file until then."""
    paths, page = [jvm.result_file(".jfr") for _ in range(3)], jvm.result_file(".json")
    with Program(jdk17, "KnownShares") as program:
        assert jstrobe("start", "--last", "2s", "-i", "1ms", program.pid).returncode == 0
        time.sleep(2.6)
        assert jstrobe("dump", "-f", paths[0], program.pid).returncode == 0
        assert jstrobe("dump", "-f", page, program.pid).returncode == 0
        assert "recorder holds the last" in jstrobe("status", program.pid).stdout
        assert jstrobe("stop", program.pid).returncode == 0
        assert jstrobe("start", "--last", "10m", "-i", "1ms", program.pid).returncode == 0
        for path in paths[1:]:
            time.sleep(0.3)
            # a busy machine may give one of the threads no CPU for that long
            until = time.monotonic() + 20
            while True:
                assert jstrobe("dump", "-f", path, program.pid).returncode == 0
                if all(of_thread(path, t) for t in ("shares-1", "shares-2")) or time.monotonic() > until:
                    break
                time.sleep(0.2)
        assert jstrobe("stop", program.pid).returncode == 0
    seen = []
    for path in paths:
        recording = jfr.Recording(path)
        samples = sorted(recording.events["jdk.CPUTimeSample"], key=lambda s: s["startTime"])
        assert recording.count("jdk.ExecutionSample") == len(samples) > 20
        books = check_books(recording)
        used, sampled = books["cpuTime"] - books["ownCpuTime"], books["weightStored"]
        assert abs(used - sampled) < max(0.1 * used, 2e8), "the window's own CPU time"
        seen.append(samples)
        tool(jdk17, "print", path)
    times = [s["time"] for s in seen[0]]
    assert 1e9 < times[-1] - times[0] < 2.6e9, "the window, begun at a mark before it"
    with open(page) as file:
        profile = json.load(file)
    assert 1.5e9 < profile["duration_ns"] < 2.6e9
    assert profile["samples"]["taken"] == profile["samples"]["stored"] > 20
    # the second dump has what the first had, sample by sample, and more
    for thread in ("shares-1", "shares-2"):
        first, second = ([s["samplingPeriod"] for s in of_thread(path, thread)] for path in paths[1:])
        assert second[:len(first)] == first and len(second) > len(first) > 0


def test_flight_recorder_triggers(jdk17):
    """An OutOfMemoryError, a signal and the end of the JVM write it where -f said."""
    path = jvm.result_file(".jfr")
    agent = f"-agentpath:{jvm.LIBRARY}=start,event=cpu,interval=1ms,last=1m,onoom,onsignal=10,file={path}"
    with Program(jdk17, "OutOfMemory", jvm=[agent, "-Xmx32m"]) as program:
        def written():
            wait_until(lambda: os.path.exists(path), 60)
            count = jfr.Recording(path).count("jdk.CPUTimeSample")
            os.unlink(path)
            return count

        assert not os.path.exists(path)
        os.kill(program.pid, signal.SIGUSR1)
        on_signal = written()
        program.say("end")
        on_oom = written()
        assert on_oom >= on_signal
        program.stop()
        assert written() >= on_oom
    done = jstrobe("record", "--on-signal", "10", "--last", "1m", "-f", path, "--", jdk17.java, "-version")
    assert done.returncode == 0, done.stderr


def test_signal_of_another(jdk17):
    with Program(jdk17, "Sleepers", 1, "idle") as program:
        done = jstrobe("start", "--last", "1m", "--on-signal", "12", "-f", jvm.result_file(".jfr"), program.pid)
        assert done.returncode == 1 and "is in use" in done.stderr, done.stderr
        done = jstrobe("start", "--last", "1m", "--on-oom", program.pid)
        assert done.returncode == 1 and "-f FILE" in done.stderr, done.stderr
        assert "not active" in jstrobe("status", program.pid).stdout
