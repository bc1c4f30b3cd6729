"""Waits for locks, against a program that measures its own."""
import json
import os
import re
import subprocess
import time

import live
import pytest
from jvm import LIBRARY, Profile, Program, counted, jstrobe, record, result_file, wait_until
from jfr import Recording

pytestmark = pytest.mark.in_pairs

STATES = {"monitor": "blocked", "lock": "parked", "write": "parked", "semaphore": "parked", "wait": "waiting",
          "condition": "parked", "queue": "parked"}
CLASSES = {"monitor": "truth.Locks$Monitor", "lock": "java.util.concurrent.locks.ReentrantLock$NonfairSync",
           "write": "java.util.concurrent.locks.ReentrantReadWriteLock$NonfairSync",
           "semaphore": "java.util.concurrent.Semaphore$NonfairSync", "wait": "truth.Locks$Signals",
           "condition": "java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject",
           "queue": "java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject", "sleep": ""}
EVENTS = {"monitor": "jdk.JavaMonitorEnter", "wait": "jdk.JavaMonitorWait", "sleep": "jdk.ThreadSleep"}
MS = 1_000_000


def said(program):
    """[(kind, begin, end, holder)], ns since 1970, as the program measured them."""
    program.mark()
    return [(kind, int(a), int(b), holder) for kind, a, b, holder in
            (line.split()[1:] for line in program.output if line.startswith("WAITED "))]


def found(path):
    """{kind: [(begin, duration, previous owner, class)]} of the waiters' waits in a recording."""
    waits, recording = {}, Recording(path)
    for name in ("jdk.JavaMonitorEnter", "jdk.JavaMonitorWait", "jdk.ThreadPark", "jdk.ThreadSleep"):
        for e in recording.events.get(name, ()):
            thread = (e["eventThread"] or {}).get("javaName") or ""
            if not thread.startswith("waiter-"):
                continue
            kind = thread.removeprefix("waiter-")
            lock = e.get("monitorClass") or e.get("parkedClass") or {"name": ""}
            if EVENTS.get(kind, "jdk.ThreadPark") != name or (lock["name"] or "").replace("/", ".") != CLASSES[kind]:
                continue
            owner = (e.get("previousOwner") or {}).get("javaName")
            waits.setdefault(kind, []).append((e["time"], e["duration_ns"], owner))
    return waits


def compare(program, path, say):
    """Each wait that the program measured, and that is long enough, is in the recording, with its length."""
    waits, own = found(path), said(program)
    begin = min(w[0] for list_ in waits.values() for w in list_) + 50 * MS
    end = max(w[0] + w[1] for list_ in waits.values() for w in list_) - 50 * MS
    errors, missed, wrong_owner, owners = [], [], 0, 0
    for kind, a, b, holder in own:
        # What the program measured contains the wait: time to get going before it and behind it is no part of it.
        if a < begin or b > end or b - a < MS:
            continue
        inside = [w for w in waits.get(kind, ()) if w[0] >= a - MS and w[0] + w[1] <= b + MS]
        if not inside:
            missed.append((kind, a, b))
            continue
        errors.append(b - a - sum(w[1] for w in inside))
        if kind == "monitor":
            owners += len(inside)
            wrong_owner += sum(w[2] != holder for w in inside)
    errors.sort()
    assert len(errors) > 50, (len(errors), len(own))
    p50, p99 = errors[len(errors) // 2], errors[len(errors) * 99 // 100]
    say(f"lock, {program.jdk}: {len(errors)} waits, {len(missed)} missed, duration off by {p50 / MS:.3f} ms "
        f"(median), {p99 / MS:.3f} ms (p99); {wrong_owner} of {owners} owners wrong")
    return errors, missed, wrong_owner, owners


def lost(path):
    return sum(e["samples"] for e in Recording(path).events.get("jstrobe.SamplesLost", ()))


def test_waits_are_found(jdk, say):
    """Every wait, under its class, with its length and the thread that made it wait."""
    path = result_file(".jfr")
    with Program(jdk, "Locks") as program:
        done = jstrobe("record", "-e", "lock", "-d", counted(2, 30), "-f", path, program.pid)
        assert done.returncode == 0, done.stderr
        errors, missed, wrong_owner, owners = compare(program, path, say)
        assert program.stop() == 0
    # What was lost says so. A lock that came free while the thread still tried or spun for it, and was off its CPU
    # meanwhile, was not waited for; with a monitor, where the JVM spins, that is the more frequent case.
    assert sum(kind != "monitor" for kind, _, _ in missed) <= lost(path) + 2 + len(errors) // 500, missed[:5]
    assert len(missed) <= lost(path) + 4 + len(errors) // 100, missed[:5]
    assert wrong_owner <= 0.01 * owners
    # a busy machine keeps the thread from its CPU on its way into the wait and out of it
    assert errors[len(errors) // 2] < MS
    views_of_the_jdk(jdk, path)
    os.remove(path)


def views_of_the_jdk(jdk, path):
    """`jfr view` knows the waits: by class, thread, and who held it."""
    if jdk.version != 25:
        return  # older ones have no `view`
    expected = {"contention-by-class": "Locks$Monitor", "contention-by-thread": "waiter-monitor",
                "contention-by-site": "await"}
    for view in counted(["contention-by-class", "contention-by-thread"], list(expected)):
        done = subprocess.run([os.path.join(jdk.home, "bin", "jfr"), "view", "--width", "160", view, path],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120)
        assert done.returncode == 0 and expected[view] in done.stdout, done.stdout


def test_owners_of_rare_waits(jdk):
    """Short waits for one lock do not take the looks at owners of another one, which is waited for rarely and for long."""
    path = result_file(".json")
    with Program(jdk, "RareLock") as program:
        done = jstrobe("record", "-d", "6", "-e", "lock", "-f", path, program.pid)
        assert done.returncode == 0, done.stderr
    with open(path) as file:
        profile = json.load(file)
    waits = [s for s in profile["stacks"] if any("wants" in f for f in s["frames"]) and s["state"] == "blocked"]
    known = [o for o in profile["owner_stacks"] if any("RareLock.holds" in f for f in o["frames"])]
    assert sum(s["samples"] for s in waits) >= 5
    assert {o["name"] for o in known} == {"holder"}
    assert sum(o["time_ns"] for o in known) >= 0.8 * sum(s["weight"] for s in waits)


@pytest.mark.parametrize("kind", ["monitor", "lock"])
def test_lengths_to_the_nanosecond(jdk, kind, say):
    """Begin and length of each short wait in a recording are those of the same session's stream."""
    recorded, streamed = result_file(".jfr"), result_file(".ndjson")
    with Program(jdk, "Contended", kind, 4, 1) as program:
        done = jstrobe("start", "-e", "lock", "--lock", "2us", "-f", recorded, "--stream", streamed, program.pid)
        assert done.returncode == 0, done.stderr
        wait_until(lambda: os.path.getsize(streamed) > 100_000)
        assert jstrobe("stop", program.pid).returncode == 0
    with open(streamed, "rb") as file:
        stream = live.read_text(file.read())
    assert not stream.count("lock")[2], "dropped"
    told = sorted((r["time"], r["duration"]) for r in stream.of("lock"))
    # on a busy machine some go on for seconds: they are told in parts, and by a stream with all of their time so far
    brief = [wait for wait in told if wait[1] < 500 * MS]
    recording = Recording(recorded)
    assert {chunk.ticks_per_second for chunk in recording.chunks} == {10**9}
    kept = [(e["startTime"], e["duration_ns"]) for name in ("jdk.JavaMonitorEnter", "jdk.ThreadPark")
            for e in recording.events.get(name, ())]
    zero = told[0][0] - min(kept)[0]  # the recording's ticks begin with it
    assert len(brief) > 50 and not set(brief) - {(time + zero, length) for time, length in kept}
    short = [length for _, length in brief if length < 10_000]
    say(f"{kind}, {jdk}: {len(brief)} waits, {len(short)} below 10 us, the shortest {min(w[1] for w in brief)} ns")
    assert len({length % 10 for _, length in brief}) > 5, "lengths in steps"
    os.remove(recorded)
    os.remove(streamed)


def test_stacks_end_in_the_lock(jdk):
    """Class and state of each kind of wait; sums by lock and by owner add up; the program is as it was afterwards."""
    with Program(jdk, "Locks") as program:
        jstrobe("record", "-e", "lock", "-d", "0.1", program.pid)  # the JVM's socket for agents stays
        before = program.descriptors()
        profile = record(program, "-e", "lock", "-d", "1")
        wait_until(lambda: program.descriptors() <= before)  # the conversation ends after the command
        for kind, state in STATES.items():
            stacks = [s for s in profile.of_thread("waiter-" + kind) if s["frames"][-1] == CLASSES[kind]]
            assert stacks, (kind, profile.of_thread("waiter-" + kind))
            assert {s["state"] for s in stacks} == {state}, kind
        assert sum(l["time_ns"] for l in profile.json["locks"]) == profile.weight["total"]
        assert sum(l["waits"] for l in profile.json["locks"]) == profile.samples["stored"]
        owners = {o["name"]: o for o in profile.json["owners"]}
        for kind in ("monitor", "lock", "write"):
            assert owners["holder-" + kind]["waits"] > 10, (kind, owners)
        held = [s for s in profile.json["owner_stacks"] if s["name"] == "holder-monitor"]
        assert held and all("truth.Locks$Monitor.hold" in s["frames"] for s in held), profile.json["owner_stacks"]
        profile = record(program, "-e", "lock", "--owners", "-d", "0.5")  # its check adds them up
        roots = {s["frames"][0] for s in profile.stacks}
        assert {"[holder-monitor]", "[holder-lock]", "[no_owner]"} <= roots, roots
        held = [s["frames"] for s in profile.stacks if s["frames"][0] == "[holder-monitor]" and len(s["frames"]) > 1]
        assert held and all("truth.Locks$Monitor.hold" in frames for frames in held), held
        assert program.stop() == 0


def test_sleeps(jdk, say):
    """Thread.sleep, on request only, with its length and stack; the program is as it was afterwards."""
    path = result_file(".jfr")
    with Program(jdk, "Locks", "sleep") as program:
        done = jstrobe("record", "-e", "lock", "--sleep", "-d", counted(1.5, 30), "-f", path, program.pid)
        # how much there is of the event, and where: no warning
        assert done.returncode == 0 and len(lines := done.stderr.splitlines()) == 2, done.stderr
        assert lines[1] == f"jstrobe: result: {path}", lines
        errors, missed, _, _ = compare(program, path, say)
        # One in some hundreds had not to wait, and lost its CPU between the program's two looks at the clock.
        assert sum(kind != "monitor" for kind, _, _ in missed) <= lost(path) + 2 + len(errors) // 400, missed[:5]
        assert len(found(path)["sleep"]) > 50 and errors[len(errors) // 2] < MS
        os.remove(path)
        profile = record(program, "-e", "lock", "--sleep", "-d", "0.5")
        # it also waits for the monitor of System.out, now and then
        stacks = [s for s in profile.of_thread("waiter-sleep") if s["state"] == "sleeping"]
        assert stacks and all("truth.Locks.sleeps" in s["frames"] for s in stacks), stacks
        assert all(s["frames"][-1].startswith("java.lang.Thread.sleep") for s in stacks), stacks
        assert [l for l in profile.json["locks"] if l["kind"] == "sleep" and not l["class"]], profile.json["locks"]
        profile = record(program, "-e", "lock", "-d", "0.3")
        assert "sleeping" not in {s["state"] for s in profile.stacks}
        assert not [line for line in program.output if "native method" in line]  # the JVM complains of those who bind them
        assert program.stop() == 0


def test_recordings_say_the_same(jdk):
    """What `convert` makes of a recording's waits is what the session's own result says, with Object.wait and sleeps."""
    path, at_once, made = result_file(".jfr"), result_file(), result_file()
    with Program(jdk, "Locks", "sleep") as program:
        done = jstrobe("start", "-e", "lock", "--sleep", "-t", "-f", path, program.pid)
        assert done.returncode == 0, done.stderr
        time.sleep(counted(1.5, 10))
        assert jstrobe("stop", "-t", "-f", at_once, program.pid).returncode == 0
    done = jstrobe("convert", "-t", path, made)
    assert done.returncode == 0, done.stderr
    said, again = Profile(at_once), Profile(made)
    assert again.json["event"] == "lock" and again.weight["unit"] == "ns"

    def stacks(profile):
        found = {}
        for s in profile.stacks:
            samples, weight = found.get((s["tid"], tuple(s["frames"])), (0, 0))
            found[s["tid"], tuple(s["frames"])] = samples + s["samples"], weight + s["weight"]
        return found

    ours, theirs = stacks(said), stacks(again)
    assert {key: value[0] for key, value in theirs.items()} == {key: value[0] for key, value in ours.items()}
    for key, (samples, weight) in ours.items():
        # waits shorter than 10 us weigh in the next one; an event has its own length
        assert 0 <= weight - theirs[key][1] <= 10_000 * samples, (key, ours[key], theirs[key])
    frames = {f for s in again.stacks for f in s["frames"]}
    assert CLASSES["wait"] in frames and "truth.Locks.sleeps" in frames
    for key in ("stored", "taken", "lost"):
        assert again.samples[key] == said.samples[key]
    assert sum(value[1] for value in theirs.values()) == pytest.approx(said.weight["total"], rel=1e-3)
    done = jstrobe("convert", "-e", "wait", "-o", "collapsed", path)
    assert done.returncode == 0 and "truth/Locks$Signals" in done.stdout, done.stderr


def test_virtual_threads(jdk25):
    """Their waits are theirs, whichever threads carry them; so is what they hold."""
    with Program(jdk25, "Locks", "virtual") as program:
        profile = record(program, "-e", "lock", "--sleep", "-d", "1")
        tops = {s["frames"][-1] for s in profile.stacks}
        assert set(CLASSES.values()) - {""} <= tops, tops
        slept = [s for s in profile.stacks if s["frames"][-1] == "java.lang.VirtualThread.sleepNanos"]
        assert {s["state"] for s in slept} == {"sleeping"}
        assert any("truth.Locks$Pair.hold" in s["frames"] for s in slept), slept
        assert sum(o["waits"] for o in profile.json["owners"] if o["name"].startswith("holder-")) > 50
        assert program.stop() == 0


def java_threads(program):
    """Names of the Java threads, as the JVM prints them."""
    jcmd = os.path.join(program.jdk.home, "bin", "jcmd")
    done = subprocess.run([jcmd, str(program.pid), "Thread.print"], capture_output=True, text=True, check=True)
    return sorted(re.findall(r'^"([^"]+)" #', done.stdout, re.M))


@pytest.mark.parametrize("event", [("-e", "lock"), ("-e", "wall", "--vthreads")])
def test_program_without_virtual_threads(jdk25, event):
    """The JVM does not begin what it needs for virtual threads: from JDK 24 on that is a thread for ever."""
    with Program(jdk25, "Idle", 1) as program:
        before = java_threads(program)
        record(program, *event, "-d", "0.2")
        assert java_threads(program) == before
        assert program.stop() == 0


def test_thresholds(jdk25):
    """lock=T: only waits that T fits in; lock=0: all. Beside another event, and from the start of the JVM."""
    with Program(jdk25, "Locks") as program:
        profile = record(program, "-e", "lock", "--lock", "5ms", "-d", "1")
        assert profile.samples["stored"] > 10
        assert profile.weight["total"] >= 5 * MS * profile.samples["stored"]
        done = jstrobe("record", "-e", "cpu", "--lock", "0", "-d", "0.5", "-o", "collapsed", "-f", "-",
                       "--show", "lock", program.pid)
        assert done.returncode == 0 and "truth/Locks$Monitor" in done.stdout, done.stderr
        done = jstrobe("record", "-e", "cpu,lock@0", "-d", "0.5", "-o", "collapsed", "-f", "-", "--show", "lock",
                       program.pid)
        assert done.returncode == 0 and "truth/Locks$Monitor" in done.stdout, done.stderr
        profile = record(program, "-e", "lock", "--nopark", "-d", "0.5")
        assert {s["state"] for s in profile.stacks} == {"blocked", "waiting"}
        assert program.stop() == 0
    path = result_file(".txt")
    with Program(jdk25, "Locks", jvm=[f"-agentpath:{LIBRARY}=start,event=lock,file={path}"]) as program:
        program.mark()
        subprocess.run(["sleep", "0.5"], check=True)
        assert program.stop() == 0
    with open(path) as file:
        text = file.read()
    os.remove(path)
    assert "truth.Locks$Monitor@" in text and "holder-monitor" in text, text


def but_stacks(program):
    """
    Resident bytes but for threads' stacks, of which the JVM touches one time 60 KB ahead, another time 90, without
    us: private mappings of some 1 MB, as -Xss1m makes them.
    """
    total, mine = 0, True
    with open(f"/proc/{program.pid}/smaps") as file:
        for line in file:
            head = re.match(r"([0-9a-f]+)-([0-9a-f]+) rw-p \S+ \S+ 0 *$", line)
            if re.match(r"[0-9a-f]+-[0-9a-f]+ ", line):
                mine = not head or not 900 << 10 < int(head[2], 16) - int(head[1], 16) < 1 << 20
            elif mine and line.startswith("Rss:"):
                total += int(line.split()[1]) * 1024
    return total


def test_many_locks(jdk17, say):
    """Locks without end, each waited for once: memory stays within bounds, and every wait is accounted for."""
    threads, each = counted((100, 200), (10_000, 100))
    fixed = ["-Xms256m", "-Xmx256m", "-Xss1m", "-XX:+AlwaysPreTouch", "-XX:+UseSerialGC"]
    sizes = []
    for options in ([], [f"-agentpath:{LIBRARY}=start,lock=0"]):
        with Program(jdk17, "Locks", "distinct", threads, each, jvm=fixed + options, ready=False) as program:
            program.wait_for("READY", counted(60, 900))
            wait_until(lambda: program.mark().get("parks", 0) == threads * each, counted(30, 600))
            if options:
                path = result_file()
                done = jstrobe("stop", "-t", "-o", "json", "-f", path, program.pid)
                assert done.returncode == 0, done.stderr
            sizes.append(but_stacks(program))
    profile, more = Profile(path), sizes[1] - sizes[0]
    os.remove(path)
    profile.check()
    say(f"lock: {threads * each:,} distinct locks, {threads:,} threads, {profile.samples['taken']:,} waits, "
        f"{more / 1e6:.1f} MB more")
    assert profile.samples["taken"] >= threads * each
    assert len(profile.json["locks"]) <= 16384 + 100
    assert more < 32e6 + threads * 8e3, more
