"""Files, sockets and pipes, against a library that knows each call, its bytes and its time."""
import json
import os
import subprocess
import time

import jvm
import pytest
from jfr import Recording
from jvm import Program, counted, jstrobe, profile_of, result_file, wait_until

from test_hard_copies import copy_to

pytestmark = pytest.mark.in_pairs

KINDS = "files+channels+sockets+pipes+threads+reused"


@pytest.fixture(scope="module")
def truth_library(tmp_path_factory):
    library = str(tmp_path_factory.mktemp("io") / "io_truth.so")
    subprocess.run([os.environ.get("CC", "gcc"), "-O2", "-Wall", "-Wextra", "-fPIC", "-shared", "-o", library,
                    os.path.join(jvm.ROOT, "tests", "jvm", "preload", "io_truth.c")], check=True)
    return library


def start(program, interval, *options):
    done = jstrobe("start", "--io", str(interval), *options, program.pid)
    assert done.returncode == 0, done.stderr


def result(program, command="stop"):
    return profile_of(command, program)


def lines(profile, **wanted):
    return [line for line in profile.json["io"] if all(line[k] == v for k, v in wanted.items())]


def sums(found):
    return {key: sum(line[key] for line in found) for key in ("calls", "bytes", "time_ns", "idle_ns")}


def own(profile, folder):
    """What the program does: without the JVM's own files, and what the command and the agent say to each other."""
    return [line for line in profile.json["io"] if str(folder) in line["target"] or
            line["kind"] in ("socket", "pipe") and not line["target"].startswith(("unix:", "std"))]


ERRORS = ("calls_error", "bytes_error", "time_error_ns", "idle_error_ns")


def counted_of(profile, word):
    """All calls of an operation, each of which was counted."""
    return next(line for line in profile.json["io_counted"] if line["operation"] == word)


def read_truth(path):
    with open(path) as file:
        words = [line.split() for line in file]
    return {word: {"calls": int(calls), "bytes": int(n), "ns": int(ns)} for word, calls, n, ns in words}


def each_call(jdk, kinds, truth_library, folder):
    """One run with an interval of 0; how far times are off, by operation. Calls and bytes are exact."""
    truth, off = str(folder / "truth"), {}
    with Program(jdk, "Io", folder, counted(200, 2000), kinds,
                 wrap=["env", "LD_PRELOAD=" + truth_library, "IO_TRUTH=" + truth]) as program:
        start(program, 0)
        program.play()
        profile = result(program)
        assert program.stop() == 0, program.output[-5:]
    assert profile.samples["lost"]["queue_full"] == 0, profile.samples
    # nothing is an estimate, and what was counted besides is the same
    assert not any(line[key] for line in profile.json["io"] for key in ERRORS)
    assert "estimated" not in profile.json["weight"]
    for line in profile.json["io_counted"]:
        told, lost = sums(lines(profile, operation=line["operation"])), sum(profile.samples["lost"].values())
        assert 0 <= line["calls"] - told["calls"] <= lost, (line, told)
        # calls that had gone on for less than a millisecond at the end are in no sample
        assert line["bytes"] >= told["bytes"] and (lost or line["bytes"] == told["bytes"]), (line, told)
        if line["operation"] != "accept":  # that of the JVM's own goes on without a stack of Java
            off_by = line["time_ns"] - told["time_ns"] - told["idle_ns"]
            assert abs(off_by) <= 0.001 * line["time_ns"] + 5e6, (line, told)
    ours, known = own(profile, folder), read_truth(truth)
    jvms = sums([line for line in profile.json["io"] if line not in ours and line["kind"] == "file"])
    for word in ("read", "write", "sync", "accept", "connect"):
        told, true = sums([line for line in ours if line["operation"] == word]), known[word]
        # the JVM's own files were perhaps read behind the begin, too
        assert 0 <= true["bytes"] - told["bytes"] <= jvms["bytes"], (word, told, true)
        assert 0 <= true["calls"] - told["calls"] <= jvms["calls"], (word, told, true)
        # We measure around the library that measures: its own work is in each of ours. That is less than a microsecond,
        # 0.3 where nothing else runs and 0.6 beside other work: what lies between none and one is as it should be.
        more, own_work = told["time_ns"] + told["idle_ns"] - true["ns"], 1000 * true["calls"]
        off[word] = (more - min(max(more, 0), own_work)) / max(true["ns"], 1)
    return off


@pytest.mark.parametrize("how", ["platform", "virtual"])
def test_each_call(jdk, how, truth_library, tmp_path, say):
    """An interval of 0: calls and bytes are known exactly, times to 1 %, of each operation. What others take of the CPU
    between our clock and the library's is chance; what we did wrong would be there each time."""
    kinds = KINDS
    if how == "virtual":
        if jdk.version < 21:
            pytest.skip("this JDK has no virtual threads")
        kinds = "virtual+files+channels+reused"
    least = {}
    for attempt in range(5):
        off = each_call(jdk, kinds, truth_library, tmp_path)
        least = {word: min(least.get(word, 9), off[word], key=abs) for word in off}
        if all(abs(share) <= 0.01 for share in least.values()):
            break
    said = ", ".join(f"{word} {share:+.2%}" for word, share in least.items())
    say(f"io=0, {how}, {jdk}, run {attempt + 1}: times {said}")
    assert all(abs(share) <= 0.01 for word, share in least.items() if word in ("read", "write", "sync")), said
    # a few calls, of microseconds
    assert all(abs(share) <= 0.1 for share in least.values()), said


@pytest.mark.parametrize("how", ["platform", "timed", "virtual", "virtual+timed"])
def test_waits_in_no_call_are_told_of(jdk, how, tmp_path):
    """While a virtual thread waits for a peer it is in no call, and who reads with a timeout is in poll: the tables say
    so, and of others they do not."""
    if "virtual" in how and jdk.version < 21:
        pytest.skip("this JDK has no virtual threads")
    kinds = how.replace("platform", "pipes") + "+files+channels+sockets+reused"
    with Program(jdk, "Io", tmp_path, counted(200, 2000), kinds) as program:
        start(program, 0)
        program.play()
        done = jstrobe("stop", program.pid)
        assert done.returncode == 0, done.stderr
    said = "virtual threads are parked while they wait for a peer" in done.stdout
    assert said == ("virtual" in how), done.stdout
    # before JDK 13 no method tells such reads from others
    said = "who reads with a timeout waits in poll" in done.stdout
    assert said == (how == "timed" and jdk.version >= 13), done.stdout


def test_at_the_default_interval(jdk, truth_library, tmp_path, say):
    """Calls of a millisecond or more are all there, shorter ones stand for others: sums are right within four standard
    errors."""
    truth = str(tmp_path / "truth")
    with Program(jdk, "Io", tmp_path, counted(1000, 10000), "files+sockets+threads",
                 wrap=["env", "LD_PRELOAD=" + truth_library, "IO_TRUTH=" + truth]) as program:
        start(program, "1ms")
        marks = program.play()
        profile = result(program)
        assert program.stop() == 0, program.output[-5:]
    known, said = read_truth(truth), []
    assert profile.lost_share() < 0.001, profile.samples
    ours = own(profile, tmp_path)
    assert profile.json["weight"]["estimated"] == sum(s.get("estimated", 0) for s in profile.json["stacks"]) > 0
    for word in ("read", "write", "sync"):
        # of all that call, and more than the truth by what others did beside it; estimates are within their errors
        line, told = counted_of(profile, word), sums(lines(profile, operation=word))
        others = sums([line for line in profile.json["io"] if line not in ours and line["operation"] == word])
        assert line["calls"] >= known[word]["calls"] * 0.99 and line["bytes"] >= known[word]["bytes"] * 0.99
        if word == "write":
            assert line["bytes"] <= known[word]["bytes"] + others["bytes"] + (1 << 20), (line, known[word], others)
        for key, error, true in (("calls", "calls_error", line["calls"]), ("bytes", "bytes_error", line["bytes"]),
                                 ("time_ns", "time_error_ns", line["time_ns"])):
            spent = told[key] + (told["idle_ns"] if key == "time_ns" else 0)
            off = sum(x[error] ** 2 + (x["idle_error_ns"] ** 2 if key == "time_ns" else 0)
                      for x in lines(profile, operation=word)) ** 0.5
            said.append(f"{word} {key} {spent / max(true, 1) - 1:+.1%} of what was counted, "
                        f"standard error {off / max(true, 1):.1%}")
            assert abs(spent - true) <= 5 * off + 0.01 * true, (word, key, spent, true, off)
    for word in ("read", "write", "sync"):
        told, true = sums([line for line in ours if line["operation"] == word]), known[word]
        spent = told["time_ns"] + told["idle_ns"]
        error = (true["ns"] * 1e6) ** 0.5  # if all of it were short
        said.append(f"{word} {spent / true['ns'] - 1:+.1%} time, {told['calls'] / true['calls'] - 1:+.1%} calls")
        assert abs(spent - true["ns"]) < 4 * error + 0.02 * true["ns"], (word, told, true)
    # whom the program waited for: the server by its port; the server's own waiting is not in the sum
    waited = sums(lines(profile, target=f"127.0.0.1:{marks['port']}", operation="read"))
    assert abs(waited["time_ns"] / marks["slow"] - 1) < 0.05, (waited, marks)
    client = sums(lines(profile, target=f"127.0.0.1 (client of :{marks['port']})", operation="read"))
    assert client["time_ns"] == 0, client
    assert profile.total("truth.Io.sockets") >= waited["time_ns"]
    say(f"io=1ms, {jdk}: " + ", ".join(said))


def test_idle_and_open(jdk, say):
    """What a server waits for weighs nothing, what a client waits for does, also while it goes on; each of it once."""
    with Program(jdk, "Io", "/tmp", 1, "idle") as program:
        start(program, "1ms", "-t")
        port = program.play()["port"]
        time.sleep(1)
        first, began = result(program, command="dump"), time.monotonic()
        time.sleep(1)
        last, rest = result(program), time.monotonic() - began
        assert program.alive()
    for profile, least in ((first, 1), (last, 1 + rest - 0.2)):
        open_read = sums(lines(profile, target=f"127.0.0.1:{port}", operation="read"))
        idle = sums(lines(profile, target=f"127.0.0.1 (client of :{port})", operation="read"))
        accept = sums(lines(profile, target=f"listening on :{port}", operation="accept"))
        assert least * 1e9 <= open_read["time_ns"] <= (least + 2) * 1e9, (open_read, least)
        assert least * 1e9 <= idle["idle_ns"] <= (least + 2) * 1e9 and idle["time_ns"] == 0, idle
        assert least * 1e9 <= accept["idle_ns"] and accept["time_ns"] == 0, accept
        assert abs(profile.total("truth.Io.idle") + profile.total("truth.Io.lambda") - open_read["time_ns"]) >= 0
        assert profile.weight["total"] < (least + 2) * 2e9
        # of the threads that are in the calls, not of ours, which tell of them
        whose = {}
        for s in profile.json["stacks"]:
            thread = profile.json["threads"][s["thread"]]
            whose[thread["name"]] = whose.get(thread["name"], 0) + s["weight"] + s.get("idle", 0)
            assert not thread["name"].startswith("jstrobe"), (thread, s)
        assert whose["client"] >= 0.99 * open_read["time_ns"] and {"connection", "server"} <= set(whose), whose
    assert first.samples["lost"] == dict.fromkeys(first.samples["lost"], 0)


def test_open_calls_are_in_streams(jdk):
    """A call that does not end is told of while the session runs, not only at its end: its time so far, each of it once."""
    with Program(jdk, "Io", "/tmp", 1, "idle") as program:
        path = result_file(".ndjson")
        start(program, "1ms", "--stream", path)
        began = time.monotonic()
        port = program.play()["port"]
        time.sleep(5)

        def told():
            with open(path) as file:
                records = [json.loads(line) for line in file if line.endswith("\n")]
            return [r for r in records if r["kind"] == "sample" and r.get("operation") == "read" and
                    r.get("target") == f"127.0.0.1:{port}"]
        wait_until(lambda: len(told()) > 1)
        running, past = told(), time.monotonic() - began
        assert all(r["open"] for r in running), running
        assert 1e9 <= sum(r["value"] for r in running) <= past * 1e9, running
        result(program)
        past = time.monotonic() - began
        whole = told()
        spent = sum(r["value"] for r in whole)
        assert len(whole) > len(running) and (past - 1.5) * 1e9 <= spent <= past * 1e9, (spent, past, whole)
        ends = sorted((r["time"], r["duration"]) for r in whole)
        assert all(t + d <= later + 1e6 for (t, d), (later, _) in zip(ends, ends[1:])), ends
        assert program.alive()


def test_reused_descriptors(jdk, tmp_path):
    """Each file has the bytes that were written to it, whatever number its descriptor had, and its inode."""
    rounds = counted(100, 1000)
    with Program(jdk, "Io", tmp_path, rounds, "reused") as program:
        start(program, 0)
        program.play()
        profile = result(program)
        assert program.stop() == 0, program.output[-5:]
    for i in range(4):
        told = sums(lines(profile, target=str(tmp_path / f"reused{i}"), operation="write"))
        assert told["bytes"] == rounds // 4 * (i + 1) * (256 << 10), (i, told)


def test_rounds_under_load(jdk, tmp_path, say):
    """Hooks in and out while threads are in the calls, with other events at once; nothing stays writable."""
    with Program(jdk, "Io", tmp_path, 1 << 30, "files") as program:
        start(program, 0)
        result(program)
        before = program.slots()
        program.say("begin")
        for i in range(counted(30, 300)):
            done = jstrobe("start", "-e", ("cpu", "cpu,wall", "lock")[i % 3], "--io", ("0", "1ms", "100us")[i % 3],
                           "--nativemem", program.pid)
            assert done.returncode == 0, done.stderr
            time.sleep(0.05)
            assert jstrobe("stop", "-f", "/dev/null", program.pid).returncode == 0
        assert program.alive()
        assert program.slots() == before
        start(program, "100us")
        time.sleep(0.5)
        profile = result(program)
        assert profile.total("truth.Io.files") > 0
        assert program.alive()


def of_ours(frame):
    return frame.startswith("libjstrobe.so`")


@pytest.mark.parametrize("beside", [["--io", "1ms"], ["--nativelock", "--nativewait"], ["--nativemem"]])
def test_hooks_are_in_no_stack(jdk, tmp_path, beside, say):
    """A hook stands between the program and what it calls, in no stack of other events: but where a thread is in it."""
    with Program(jdk, "Io", tmp_path, 1 << 30, "files+pipes") as program:
        program.say("begin")
        done = jstrobe("start", "-e", "cpu,wall", "-i", "1ms", *beside, program.pid)
        assert done.returncode == 0, done.stderr
        time.sleep(counted(3, 30))
        told = {event: jstrobe("dump", "--lib", "-o", "json", "--show", event, program.pid) for event in ("cpu", "wall")}
        assert jstrobe("stop", "-f", "/dev/null", program.pid).returncode == 0
        assert program.alive()
    seen = 0
    for event, done in told.items():
        assert done.returncode == 0, done.stderr
        for stack in json.loads(done.stdout)["stacks"]:
            inner = [i for i, frame in enumerate(stack["frames"]) if of_ours(frame)]
            last = max((i for i, kind in enumerate(stack["kinds"]) if kind != "kernel"), default=-1)
            assert inner in ([], [last]), (event, stack)
            written = [i for i, frame in enumerate(stack["frames"]) if frame.endswith("`write") or frame == "write"]
            if written and any(f.startswith("truth.Io.") for f in stack["frames"]):
                assert stack["kinds"][written[0] - 1] in ("native", "java_native"), stack
                seen += stack["samples"]
    assert seen > 0
    say(f"{jdk}, {beside[0]}: {seen} samples in write, none with a frame of a hook above it")


@pytest.mark.parametrize("how", ["FORK", "VFORK", "POSIX_SPAWN"])
def test_children(jdk, how):
    with Program(jdk, "Children", jvm=[f"-Djdk.lang.Process.launchMechanism={how}"]) as program:
        start(program, 0)
        wait_until(lambda: program.mark().get("children", 0) > 5)
        profile = result(program)
        marks = program.mark()
        assert program.stop() == 0, program.output[-5:]
    assert "failed" not in marks or marks["failed"] == 0, marks
    assert profile.samples["stored"] > 0


@pytest.mark.together
def test_two_copies(jdk, tmp_path):
    """One copy of the library has the event, another one has others; then they change places."""
    ours, theirs = jvm.LIBRARY, copy_to("io")
    with Program(jdk, "Io", tmp_path, 1 << 30, "files") as program:
        program.say("begin")
        for first, second in ((ours, theirs), (theirs, ours)):
            done = jstrobe("start", "--libpath", first, "--io", "100us", program.pid)
            assert done.returncode == 0, done.stderr
            done = jstrobe("start", "--libpath", second, "--io", "100us", program.pid)
            assert done.returncode == 1 and "io" in done.stderr, done.stderr
            done = jstrobe("start", "--libpath", second, "-e", "cpu", program.pid)
            assert done.returncode == 0, done.stderr
            time.sleep(0.5)
            told = [jstrobe("stop", "-o", "collapsed", program.pid) for _ in range(2)]
            assert all(t.returncode == 0 for t in told), told
            assert any(f";{tmp_path}/random" in t.stdout for t in told), told
        assert program.alive()


@pytest.mark.parametrize("interval", ["0", "1ms"])
def test_recordings_say_the_same(jdk, tmp_path, interval, say):
    """What `convert` makes of a recording is what the session's own result says: time by what it was about, of which
    nothing is what waited for clients, and what is an estimate; unasked, as it was asked for when it was recorded."""
    path, told = result_file(".jfr"), result_file(".json")
    with Program(jdk, "Io", tmp_path, counted(100, 1000), "files+sockets+pipes+threads") as program:
        done = jstrobe("start", "-t", "--io", interval, "-f", path, program.pid)
        assert done.returncode == 0, done.stderr
        port = program.play()["port"]
        own = result(program, command="dump")
        assert jstrobe("stop", program.pid).returncode == 0
    done = jstrobe("convert", "-t", "-o", "json", path, told)
    assert done.returncode == 0, done.stderr
    with open(told) as file:
        read = json.load(file)
    assert read["event"] == "io" and read["weight"]["unit"] == own.json["weight"]["unit"]

    def by_leaf(stacks, key):
        sums = {}
        for s in stacks:
            sums[s["frames"][-1]] = sums.get(s["frames"][-1], 0) + s.get(key, 0)
        return sums
    for key in ("weight", "samples", "estimated"):
        ours, theirs = by_leaf(own.json["stacks"], key), by_leaf(read["stacks"], key)
        mine = [leaf for leaf in ours if str(tmp_path) in leaf or leaf in ("pipe", f"127.0.0.1:{port}",
                                                                          f"127.0.0.1 (client of :{port})")]
        assert len(mine) > 4
        assert {leaf: theirs.get(leaf) for leaf in mine} == {leaf: ours[leaf] for leaf in mine}, key
    # the tables too, with calls and bytes, and how sure they are
    def tables(profile):
        return {(line["target"], line["operation"], line["kind"]): {k: v for k, v in line.items() if not isinstance(v, str)}
                for line in profile["io"] if line["target"] in mine}
    assert tables(read).keys() == tables(own.json).keys()
    for key, line in tables(own.json).items():
        again = tables(read)[key]
        for name, value in line.items():
            near = pytest.approx(value, abs=1, rel=1e-5) if name.endswith(("_error", "_error_ns")) else value
            assert again[name] == near, (key, name, again, line)
    idle = sums(lines(own, target=f"127.0.0.1 (client of :{port})", operation="read"))["idle_ns"]
    # of the server's reads of its client's requests the program has waited for none
    weighs = sum(line["time_ns"] for line in lines(own, target=f"127.0.0.1 (client of :{port})"))
    assert idle > 0 and by_leaf(read["stacks"], "weight")[f"127.0.0.1 (client of :{port})"] == weighs
    assert (sum(by_leaf(read["stacks"], "estimated").values()) > 0) == (interval != "0")
    say(f"{jdk}, io={interval}: {len(mine)} targets, {sum(by_leaf(read['stacks'], 'weight').values()) / 1e9:.3f} s in both")


def test_recording_and_stream(jdk, tmp_path):
    """Events of the JDK, which its own tool reads, and our own for what it has none for; calls of microseconds as long
    as in the result."""
    path, stream = result_file(".jfr"), result_file(".ndjson")
    rounds = counted(50, 500)
    with Program(jdk, "Io", tmp_path, rounds, "files+sockets+pipes") as program:
        done = jstrobe("start", "--io", "0", "-f", path, "--stream", stream, program.pid)
        assert done.returncode == 0, done.stderr
        port = program.play()["port"]
        told = lines(result(program, "dump"), target=str(tmp_path / "random"), operation="read")
        assert jstrobe("stop", program.pid).returncode == 0
    events = Recording(path).events
    file = str(tmp_path / "random")
    reads = [e for e in events["jdk.FileRead"] if e["path"] == file]
    writes = [e for e in events["jdk.FileWrite"] if e["path"] == file]
    assert sum(e["bytesRead"] for e in reads) == 2 * rounds * (256 << 10)
    assert sum(e["bytesWritten"] for e in writes) == rounds * (256 << 10)
    assert sum(e["endOfFile"] for e in reads) == rounds
    assert sum(e["duration_ns"] for e in reads) == sums(told)["time_ns"]
    assert [e for e in events["jdk.FileForce"] if e["path"] == file]
    answers = [e for e in events["jdk.SocketRead"] if e["address"] == "127.0.0.1" and e["port"] == port]
    assert sum(e["bytesRead"] for e in answers) == rounds * 1000
    sent = [e for e in events["jdk.SocketWrite"] if e["address"] == "127.0.0.1" and e["port"] == port]
    assert sum(e["bytesWritten"] for e in sent) == rounds * 1000
    others = {(e["operation"], e["kind"]) for e in events["profiler.IO"]}
    assert {("accept", "socket"), ("connect", "socket"), ("write", "pipe")} <= others, others
    printed = subprocess.run([os.path.join(jdk.home, "bin", "jfr"), "print", "--json", "--events",
                              "jdk.FileRead,jdk.SocketRead", path], capture_output=True, text=True, check=True)
    told = [e["values"] for e in json.loads(printed.stdout)["recording"]["events"]]
    assert sum(e["bytesRead"] for e in told if e.get("path") == file) == 2 * rounds * (256 << 10)
    assert any(e.get("port") == port for e in told)
    with open(stream) as lines_of:
        records = [r for r in map(json.loads, lines_of) if r["kind"] == "sample" and r["event"] == "io"]
    mine = [r for r in records if r["target"] == file and r["operation"] == "read"]
    assert sum(r["bytes"] for r in mine) == 2 * rounds * (256 << 10)
    assert all(r["target_kind"] == "file" and r["value"] == r["duration"] for r in mine)
    assert [r for r in records if r.get("idle")] and all(r["value"] == 0 for r in records if r.get("idle"))
