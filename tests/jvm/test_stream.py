"""Live streams: what is in them, when it comes, where they can go, and readers that behave badly."""
import os
import re
import signal
import socket
import subprocess
import threading
import time

import jvm
import live
import pytest
from jvm import COMMAND, Program, counted, jstrobe, wait_until
from litter import left_since, litter

pytestmark = pytest.mark.together


def status_of(program):
    return jstrobe("status", program.pid).stdout


def test_each_sample_at_its_moment(jdk, say):
    """What a record says of the time is true by the program's own clock; the books add up."""
    before = litter()
    with Program(jdk, "Moments") as program:
        threads = len(program.threads())
        stream, status, errors = live.read([COMMAND, "stream", "-i", "1ms", "-d", counted(2, 10), program.pid])
        assert status == 0 and not errors, errors
        time.sleep(0.1)
        wait_until(lambda: len(program.threads()) <= threads + 1)
        phases = [line.split()[1:] for line in program.output if line.startswith("PHASE")]
        pid = program.pid
    header = stream.records[0]
    assert header["pid"] == pid and header["main_class"] == "truth.Moments"
    assert abs(header["time"] + header["realtime_offset"] - time.time_ns()) < 120e9
    assert [(e["event"], e["interval"], e["unit"]) for e in header["events"]] == [("cpu", 1000000, "ns")]
    delivered, stored, dropped = stream.count()
    assert (delivered, dropped) == (stored, 0) and delivered > counted(20, 100)
    known = {}
    for thread, method, start, end in phases:
        known.setdefault(thread, []).append((int(start), int(end), method))
    right = wrong = 0
    for sample in stream.of("sample"):
        frames, phase = stream.frames(sample), known.get(sample["thread"], [])
        inside = [m for start, end, m in phase if start <= sample["time"] <= end]
        said = [m for m in ("even", "odd") if f"truth.Moments.{m}" in frames]
        if inside and said:
            right += inside == said
            wrong += inside != said
    assert right > counted(10, 50) and wrong == 0, (right, wrong)
    ms = stream.latencies()
    say(f"{jdk}: event to record, this busy machine: median {ms[len(ms) // 2]:.1f} ms, p99 {ms[len(ms) * 99 // 100]:.1f}")
    assert not left_since(before)


def test_the_engine_is_of_this_session(jdk17):
    """The first record of counters, from before threads are armed, does not name what the session before had."""
    with Program(jdk17, "Moments") as program:
        for event in ("ctimer", "alloc", "live"):
            stream, status, errors = live.read([COMMAND, "stream", "-e", event, "-d", "1", program.pid])
            assert status == 0, errors
            assert {e["engine"] for s in stream.of("stats") for e in s["events"]} == {event}


def test_a_program_from_its_first_instruction(jdk17):
    """stream -- java: its stdout and exit status are its own; the stream is whole, and begins with the JVM."""
    path = jvm.result_file(".ndjson")
    command = [COMMAND, "stream", "-i", "1ms", "-f", path, "--", jdk17.java, "-cp", jvm.CLASSES, "truth.KnownShares"]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    guard = threading.Timer(60, process.kill)
    guard.start()
    assert process.stdout.readline() == "READY\n"
    wait_until(lambda: b"truth.KnownShares.alpha" in open(path, "rb").read(), 30)
    wait_until(lambda: os.path.getsize(path) > 100_000)
    out, errors = process.communicate("stop\n")
    guard.cancel()
    assert process.returncode == 0 and not out and not errors, (process.returncode, out, errors)
    with open(path, "rb") as file:
        stream = live.read_text(file.read())
    delivered, stored, dropped = stream.count()
    assert delivered == stored > 50 and not dropped
    assert live.with_frame(stream, "truth.KnownShares.alpha") and {"main", "shares-1"} <= {
        r.get("name") for r in stream.of("thread")}
    os.remove(path)
    # it goes on when the stream has ended; its status is ours
    done = jstrobe("stream", "-d", 0.3, "-f", path, "--", "sh", "-c", f"{jdk17.java} -version; sleep 1; exit 7")
    assert done.returncode == 7, (done.returncode, done.stderr)
    assert jstrobe("stream", "-f", path, "--", "/no/such/java").returncode == 1
    os.remove(path)


def test_states_and_several_events(jdk17):
    """Wall clock comes in runs, at most a second late; another event beside it."""
    with Program(jdk17, "Sleepers", 20, "idle") as program:
        stream, status, errors = live.read([COMMAND, "stream", "-e", "cpu,wall", "--wall", "20ms", "-d", 1.5,
                                            program.pid])
        assert status == 0, errors
    runs = [r for r in stream.of("sample") if r["event"] == "wall"]
    assert {"waiting", "parked"} & {r["state"] for r in runs}
    assert any(r.get("samples", 1) > 10 for r in runs)
    assert max(r.get("span", 0) for r in runs) < 3e9
    delivered, stored, dropped = stream.count("wall")
    assert delivered == stored and not dropped
    names = {r["name"] for r in stream.of("thread")}
    assert "main" in names and len(names) > 20


@pytest.mark.parametrize("program", [("KnownShares",), ("Sleepers", 20, "idle"), ("Locks",)], ids=lambda p: p[0])
@pytest.mark.parametrize("event", ["wall@2ms", "cpu,wall@2ms"])
def test_times_of_a_thread_do_not_go_back(jdk, program, event, say):
    """Of one thread and event, whether its samples come by signals, as runs, or late for want of names."""
    with Program(jdk, *program) as target:
        stream, status, errors = live.read([COMMAND, "stream", "-e", event, "-i", "500us", "-d", counted(3, 20),
                                            target.pid])
        assert status == 0, errors
    last, back, seen = {}, [], 0
    for r in stream.of("sample"):
        key = r["event"], r.get("tid"), r.get("java_id")
        seen += 1
        if key in last and r["time"] < last[key]["time"]:
            back.append((last[key]["time"] - r["time"], r, last[key]))
        else:
            last[key] = r
    say(f"{program[0]}, {event}, {jdk}: {len(back)} of {seen} records go back")
    assert seen > 200 and not back, back[:3]


def test_waits_as_they_end(jdk):
    """Each kind of wait as a record of its own, with what was waited for, and who held it."""
    with Program(jdk, "Locks") as program:
        stream, status, errors = live.read([COMMAND, "stream", "-e", "lock", "--sleep", "-d", 1, program.pid])
        assert status == 0, errors
    waits = {}
    for r in stream.of("lock"):
        waits.setdefault(r["lock"], []).append(r)
        assert r["value"] >= r["duration"] > 0 and r["value"] >= 10_000  # with the shorter ones before it
    assert set(waits) == {"monitor", "wait", "park", "sleep"}
    assert any(r.get("class") == "truth.Locks$Monitor" and r.get("owner") == "holder-monitor" for r in waits["monitor"])
    assert all("class" not in r and r["state"] == "sleeping" for r in waits["sleep"])
    assert any("owner_stack" in r for r in waits["monitor"] + waits["park"])
    delivered, stored, dropped = stream.count("lock")
    assert delivered == stored and not dropped


def test_a_reader_joins_and_leaves(jdk17):
    """A stream of a session that another command began; it goes on without its reader."""
    with Program(jdk17, "KnownShares") as program:
        assert jstrobe("start", "-i", "1ms", program.pid).returncode == 0
        stream, status, errors = live.read([COMMAND, "stream", "-d", 0.5, program.pid])
        assert status == 0 and "sampled already" in errors
        assert len(stream.of("sample")) > 20 and live.with_frame(stream, "truth.KnownShares.alpha")
        # closes in the middle of a record
        reader = subprocess.Popen([COMMAND, "stream", str(program.pid)], stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE)
        reader.stdout.read(1000)
        reader.stdout.close()
        assert reader.wait(30) == 0, reader.stderr.read()
        assert "Profiling is running" in status_of(program)
        done = jstrobe("stop", "-o", "collapsed", program.pid)
        assert done.returncode == 0 and "alpha" in done.stdout


def test_a_stopped_reader_costs_drops(jdk17):
    """The reader is stopped: the program goes on, what finds no room is counted, then the stream is whole again."""
    if not jvm.SOAK:
        pytest.skip("only with full counts (make soak)")
    with Program(jdk17, "KnownShares") as program:
        process = subprocess.Popen([COMMAND, "stream", "-i", "200us", "--lines", str(program.pid)],
                                   stdout=subprocess.PIPE)
        guard = threading.Timer(120, process.kill)
        guard.start()
        stream = live.Stream(check=False)
        stream.take(process.stdout.readline())
        process.send_signal(signal.SIGSTOP)
        before = program.mark()["alpha"]
        wait_until(lambda: re.search(r"[1-9]\d* dropped", status_of(program)), 60)
        assert program.mark()["alpha"] > before
        process.send_signal(signal.SIGCONT)
        while not stream.of("drop"):
            stream.take(process.stdout.readline())
        process.send_signal(signal.SIGINT)
        for line in process.stdout:
            stream.take(line)
        guard.cancel()
        assert process.wait(30) == 0
    delivered, stored, dropped = stream.count()
    assert dropped > 0 and delivered + dropped == stored
    assert sum(r["samples"] for r in stream.of("drop") if "event" in r) == dropped


def test_into_a_file_and_null(jdk17):
    """The agent alone: a file, and /dev/null for who looks at writes, one record each."""
    path = jvm.result_file(".ndjson")
    with Program(jdk17, "KnownShares", jvm=[f"-agentpath:{jvm.LIBRARY}=start,event=cpu,interval=1ms,"
                                            f"stream={path}"]) as program:
        time.sleep(0.5)
        assert program.stop() == 0
    with open(path, "rb") as file:
        stream = live.read_text(file.read())
    delivered, stored, dropped = stream.count()
    assert delivered == stored > 20 and not dropped and os.stat(path).st_mode & 0o777 == 0o600
    os.remove(path)


@pytest.mark.parametrize("spelling", ["ndjson", "kindling"])
def test_writes_seen_from_outside(jdk17, spelling):
    """An outside tracer of write calls sees whole records, and enough to begin late."""
    if subprocess.run(["which", "strace"], stdout=subprocess.DEVNULL).returncode:
        pytest.skip("strace is not there")
    with Program(jdk17, "KnownShares") as program:
        assert jstrobe("start", "-i", "1ms", "--stream", "/dev/null", "--stream-format", spelling,
                       program.pid).returncode == 0
        wait_until(lambda: "jstrobe stream" in program.threads().values())
        tracer = subprocess.Popen(["timeout", "1", "strace", "-p", str(program.tid("jstrobe stream")), "-xx",
                                   "-e", "trace=write", "-s", "100000"], stderr=subprocess.PIPE, text=True)
        text = tracer.communicate(timeout=60)[1]
        assert jstrobe("stop", program.pid).returncode == 0
    writes = [bytes.fromhex(w.replace("\\x", "")) for w in re.findall(r'write\(\d+, "([^"]*)", \d+\)', text)]
    writes = [w for w in writes if len(w) > 8]  # not those into the eventfd
    assert len(writes) > 50 and all(w.count(b"\n") == 1 and w.endswith(b"\n") for w in writes)
    if spelling == "ndjson":
        for write in writes:
            live.validators()[live.json.loads(write)["kind"]].validate(live.json.loads(write))
        return
    assert all(len(w) <= 1024 for w in writes)
    pattern = re.compile(rb"kd-(tm@\d+![^!]*!|stack@\d{19}!\d+!\d+![01]!([^!]+!)*)\n")
    assert all(pattern.fullmatch(w) for w in writes), [w for w in writes if not pattern.fullmatch(w)][:3]
    assert any(b"truth/KnownShares.alpha!" in w for w in writes)


def test_a_socket_lets_in_one_at_a_time(jdk17, tmp_path):
    """unix:PATH: garbage from a reader is left where it is; a second reader waits for its turn; 0600."""
    path = str(tmp_path / "live.sock")
    with Program(jdk17, "KnownShares") as program:
        assert jstrobe("start", "-i", "1ms", "--stream", "unix:" + path, program.pid).returncode == 0
        assert os.stat(path).st_mode & 0o777 == 0o600
        for _ in range(2):
            with socket.socket(socket.AF_UNIX) as one, socket.socket(socket.AF_UNIX) as two:
                one.connect(path)
                wait_until(lambda: one.recv(1, socket.MSG_PEEK))
                one.setblocking(False)
                try:
                    while True:
                        one.send(b"\0garbage\n" * 1000)
                except BlockingIOError:
                    one.setblocking(True)
                two.connect(path)
                assert two.recv(100) == b""
                stream = live.Stream()
                with one.makefile("rb") as data:
                    while len(stream.of("sample")) < 30:
                        stream.take(data.readline())
        fifo = jstrobe("stop", program.pid)
        assert fifo.returncode == 0 and not os.path.exists(path)


def test_what_cannot_be(jdk17, tmp_path):
    """Each refusal says why, and leaves nothing running."""
    with Program(jdk17, "Sleepers", 1, "idle") as program:
        for target, word in ((str(tmp_path), "this is a folder"), ("/nowhere/x", "there is no folder"), ("fd:9999", "descriptor"),
                             ("unix:" + str(tmp_path / "no" / "x"), "there is no folder")):
            done = jstrobe("start", "--stream", target, program.pid)
            assert done.returncode == 1 and word in done.stderr, (target, done.stderr)
        assert jstrobe("stream", "--stream-format", "xml", program.pid).returncode == 2
        assert jstrobe("stream", "--", "java").returncode == 2  # stdout is the program's
        assert jstrobe("stream", "-f", "x", program.pid, "--", "java").returncode == 2
        wait_until(lambda: "not active" in status_of(program), 60)  # it ends behind its command
        # the FIFO has no reader yet: no error, and no waiting
        fifo = str(tmp_path / "fifo")
        os.mkfifo(fifo)
        assert jstrobe("start", "-e", "wall", "--stream", fifo, program.pid).returncode == 0
        with open(fifo, "rb") as file:
            stream = live.Stream()
            while not stream.of("stats"):
                stream.take(file.readline())
        assert jstrobe("stop", program.pid).returncode == 0
