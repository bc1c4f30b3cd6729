"""Wall clock: where all threads spend their time, those that wait without waking them."""
import contextlib
import os
import re
import subprocess
import time
from datetime import datetime, timezone

import jvm
import pytest
from jvm import LIBRARY, NATIVE, SHARE, SOAK, Profile, Program, counted, jstrobe, record, result_file

# thread: its state, and what must be the innermost Java frame
STATES = {
    "parker": ("parked", "jdk.internal.misc.Unsafe.park"),
    "sleeper": ("sleeping", "java.lang.Thread.sleep"),
    "waiter": ("waiting", "java.lang.Object.wait"),
    "holder": ("sleeping", "java.lang.Thread.sleep"),
    "enterer": ("blocked", "truth.Phases"),
    "reader": ("native", "sun.nio.ch."),
    "burner": ("running", "truth."),
}
# phase: its state, and the method it goes through
PHASES = {
    "park": ("parked", "truth.Phases.park"),
    "sleep": ("sleeping", "truth.Phases.sleep"),
    "await": ("waiting", "truth.Phases.await"),
    "enter": ("blocked", "truth.Phases.enter"),
    "read": ("native", "truth.Phases.read"),
    "burn": ("running", "truth.Phases.burn"),
}


def window(profile):
    """Begin and end of the session, ns since 1970."""
    began = datetime.fromisoformat(profile.json["started_at"].rstrip("Z")).replace(tzinfo=timezone.utc)
    start = round(began.timestamp() * 1000) * 1_000_000
    return start, start + profile.json["duration_ns"]


def phases(program, start, end):
    """{phase: (ns of it between START and END, how often)} by the program's own log, which tells of a phase at its end."""
    deadline, logged = time.monotonic() + 30, 0
    while logged < end and time.monotonic() < deadline:
        program.mark()
        logged = max((int(line.split()[3]) for line in program.output if line.startswith("PHASE ")), default=0)
    assert logged >= end, "the program's log does not come to the end of the session"
    found = {}
    for line in program.output:
        if line.startswith("PHASE "):
            name, a, b = line.split()[1:]
            inside = min(int(b), end) - max(int(a), start)
            if inside > 0:
                ns, times = found.get(name, (0, 0))
                found[name] = (ns + inside, times + 1)
    return found


def weights(profile, stacks, method, state=None):
    return sum(s["weight"] for s in stacks
               if method in s["frames"] and (not state or s["state"] == state))


def allowed(profile, times, interval_ns, stacks):
    """
    A turn charges its thread's time to what it sees, so each change of phase costs up to the gap between
    two turns, at random; on a busy machine turns come late, and so does the end of a phase. Time before the first
    turn, and that of late ones, is in no sample at all.
    """
    total = profile.json["duration_ns"]
    uncovered = max(0, total - sum(s["weight"] for s in stacks))
    # in a run of full length the gaps even out
    return max(interval_ns, 0.01 * total / 6) + (0 if SOAK and SHARE == 1 else 2e6 * times + uncovered)


def modes(jdk, longer):
    """Both ways, or, in `make check`, another one on each JDK."""
    return ["marker", "slots"] if SOAK or longer else ["slots" if jdk.version == 17 else "marker"]


def test_states_and_times(jdk, say):
    """Each thread is in its state under its frames; the phases of one thread have the times it logged."""
    for mode in modes(jdk, False):
        states_and_times(jdk, mode, say)


def states_and_times(jdk, mode, say):
    with Program(jdk, "Phases") as program:
        time.sleep(0.3)
        profile = record(program, "-e", "wall", "-i", "1ms", "-d", counted("1.5", "20"), "--wallmode", mode)
        assert profile.json["engine"] == f"wall-{mode}"
        start, end = window(profile)
        truth = phases(program, start, end)
    total = end - start
    for thread, (state, frame) in STATES.items():
        stacks = profile.of_thread(thread)
        good = sum(s["weight"] for s in stacks if s["state"] in ((state, "runnable", "held") if state == "running" else (state,))
                   and any(f.startswith(frame) for f in s["frames"]))
        assert good >= 0.99 * sum(s["weight"] for s in stacks), (thread, [
            (s["state"], s["frames"][-2:], s["samples"]) for s in stacks])
    stacks = profile.of_thread("phased")
    assert sum(s["weight"] for s in stacks) <= 1.02 * total
    worst = 0
    for phase, (state, method) in PHASES.items():
        ns, times = truth.get(phase, (0, 0))
        seen = weights(profile, stacks, method)
        worst = max(worst, abs(seen - ns) / total)
        assert abs(seen - ns) <= allowed(profile, times, 1e6, stacks), (
            phase, seen / 1e6, ns / 1e6, times, profile.samples)
        if phase != "burn" and times > 1:
            assert weights(profile, stacks, method, state) >= 0.95 * seen - 2e6 * times, phase
    say(f"wall clock, {mode}: phases within {worst:.2%} of the time")
    assert profile.samples["complete"] >= 0.99 * profile.samples["stored"]


def switches(program, name):
    """Context switches so far of all threads called NAME."""
    found = {}
    for tid, comm in program.threads().items():
        if comm == name:
            with open(f"/proc/{program.pid}/task/{tid}/status") as file:
                found[tid] = sum(int(line.split()[1]) for line in file if "ctxt_switches" in line)
    return found


@pytest.mark.parametrize("kind,mode", [(kind, mode) for kind in ("pool", "socket", "epoll") for mode in ("marker", "slots")]
                         if SOAK else [("socket", "marker"), ("pool", "slots")])
def test_idle_threads_are_not_woken(jdk17, kind, mode, say):
    """Threads that wait do not run, and have a sample for each turn all the same."""
    count = counted(200, 2000)
    with Program(jdk17, "IdlePool", kind, count) as program:
        before = switches(program, "idle")
        profile = record(program, "-e", "wall", "-i", "10ms", "-d", counted("1", "10"), "--wallmode", mode)
        after = switches(program, "idle")
    assert len(after) == count
    woken = sum(after[tid] - before[tid] for tid in before)
    idle = [profile.threads[tid]["samples"] for tid in after]
    turns = max(t["samples"] for t in profile.json["threads"])
    say(f"wall clock, {mode}, {count} threads ({kind}): {woken} woken, "
        f"{sum(idle) / (turns * count):.1%} of their turns have a sample")
    assert woken <= count / 100, woken
    # Turns that came late on a busy machine are counted; slots cannot tell what they would have shown.
    assert sum(idle) + profile.samples["lost"]["missed_tick"] >= 0.98 * turns * count


WAYS = {"marker": ("--wallmode", "marker"), "slots": ("--wallmode", "slots"),
        "frames": ("--wallmode", "slots", "--engine-fail", "condition")}  # a C library whose condition variables are not known


@pytest.mark.parametrize("mode,flags", [(mode, flags) for mode in WAYS for flags in ("-Xmixed", "-Xint")]
                         if SOAK else [("marker", "-Xint"), ("slots", "-Xmixed"), ("frames", "-Xmixed")])
def test_same_place_under_another_caller(jdk17, mode, flags, say):
    """
    A thread that wakes for microseconds and waits again at the same depth, under another caller, has moved: that is
    seen at its next turn. Where it had slept for more than 128 turns with nothing but its last Java frame for a quick
    check it is seen within 8; those before are not known, and lost.
    """
    for doze in (17.3, 290):
        turns = 8 if mode == "frames" and doze > 128 else 1
        more = () if doze < 100 else (doze,)
        with Program(jdk17, "Phases", "alternate", *more, jvm=(flags,)) as program, \
                jvm.knobs() if mode == "frames" else contextlib.nullcontext():
            profile = record(program, "-e", "wall", "-i", "1ms", "-d", counted("1", "10"), *WAYS[mode])
            truth = phases(program, *window(profile))
        stacks = profile.of_thread("alternating")
        for phase in "ab":
            ns, times = truth.get(phase, (0, 0))
            seen = weights(profile, stacks, f"truth.Phases.{phase}")
            assert abs(seen - ns) <= allowed(profile, times, turns * 1e6, stacks) + (turns - 1) * times * 1e6, (
                phase, seen / 1e6, ns / 1e6, times, profile.samples)
            say(f"wall clock, {mode}, {flags}, asleep for {doze} ms under a and b in turn: {phase} is off by "
                f"{(seen - ns) / 1e6:+.1f} ms of {ns / 1e6:.0f}, in {times} phases")
        if turns > 1:
            assert profile.samples["lost"]["not_observed"] > 0, profile.samples


@pytest.mark.parametrize("mode", ["marker", "slots"])
def test_deoptimised_in_their_sleep(jdk17, mode):
    """Frames that are deoptimised while their threads sleep are no move: the stack stays, whole, and no thread is woken."""
    with Program(jdk17, "Deopt", 20) as program:
        done = jstrobe("start", "-t", "-e", "wall", "-i", "2ms", "--wallmode", mode, program.pid)
        assert done.returncode == 0, done.stderr
        time.sleep(0.3)
        before = switches(program, "sleeper")
        program.say("end")
        while program.mark().get("loaded") != 1:
            time.sleep(0.01)
        time.sleep(0.3)
        after = switches(program, "sleeper")
        path = result_file()
        done = jstrobe("stop", "-t", "-o", "json", "-f", path, program.pid)
        assert done.returncode == 0, done.stderr
        profile = Profile(path)
        profile.check()
    assert before == after and len(after) == 20
    stacks = profile.of_thread("sleeper")
    assert {s["state"] for s in stacks} == {"parked"}
    assert {tuple(s["frames"]).count("truth.Deopt$Base.step") for s in stacks} == {6}, stacks[:3]
    assert len({tuple(s["frames"]) for s in stacks}) == 1, stacks[:3]


def test_threads_end_under_the_look(jdk25, say):
    """Hundreds of threads a second begin and end while all are looked at each millisecond."""
    with Program(jdk25, "ThreadStorm", "platform", 500) as program:
        profile = record(program, "-e", "wall", "-i", "1ms", "-d", counted("1.5", "30"))
        assert program.alive()
        assert program.stop() == 0
    say(f"wall clock, threads that end: {len(profile.threads)} threads, {profile.samples['stored']} samples")


def test_a_big_stack_goes_with_the_session(jdk17):
    """A thread ends just when the JVM and so the session do, and its stack, of 64 MB, is unmapped at once."""
    agent = f"-agentpath:{LIBRARY}=start,event=wall,interval=10ms,file=/dev/null"
    for _ in range(counted(4, 40)):
        with Program(jdk17, "Recursion", 200, jvm=(agent,)) as program:
            time.sleep(0.5)
            assert program.stop() == 0


def test_several_times_and_beside_another_event(jdk17):
    """wall beside cpu, each with its interval; results while it runs grow and hold what waits; resume goes on."""
    path = result_file()
    with Program(jdk17, "Phases") as program:
        done = jstrobe("start", "-t", "-e", "cpu,wall", "-i", "5ms", "--wall", "2ms", program.pid)
        assert done.returncode == 0, done.stderr
        seen = []
        for _ in range(2):
            time.sleep(0.3)
            done = jstrobe("dump", "--show", "wall", "-t", "-o", "json", "-f", path, program.pid)
            assert done.returncode == 0, done.stderr
            seen.append(Profile(path))
            seen[-1].check()
        assert "wall-" in jstrobe("status", program.pid).stdout
        for event in ("wall", "cpu"):
            done = jstrobe("stop" if event == "wall" else "dump", "--show", event, "-t", "-o", "json",
                           "-f", path, program.pid)
            assert done.returncode == 0, done.stderr
            seen.append(Profile(path))
            seen[-1].check()
    os.remove(path)
    first, second, last, cpu = seen
    of = [sum(s["samples"] for s in p.of_thread("parker")) for p in (first, second, last)]
    assert 50 < of[0] < of[1] <= of[2], of
    assert last.json["interval_ns"] == 2e6 and cpu.json["interval_ns"] == 5e6
    assert cpu.of_thread("burner") and not cpu.of_thread("parker")
    assert "state" not in cpu.stacks[0]


def test_one_by_one(jdk17):
    """nobatch: a signal for each turn, also for those that wait."""
    with Program(jdk17, "Phases") as program:
        profile = record(program, "-e", "wall", "-i", "10ms", "-d", "1", "--nobatch")
    assert profile.json["engine"] == "wall-signals"
    assert profile.json["handler_ns"]["count"] == profile.samples["stored"]
    parker = profile.of_thread("parker")
    assert sum(s["samples"] for s in parker) >= 5
    assert all("jdk.internal.misc.Unsafe.park" in s["frames"] and s["kinds"][-1] == "native" for s in parker)


def parked_time(program, options, seconds):
    """What PROGRAM's virtual threads say they were parked under north() and south(), and what was seen of it, ns."""
    before = program.mark()
    profile = record(program, "-e", "wall", "-i", "20ms", "-d", str(seconds), *options)
    after = program.mark()
    share = profile.json["duration_ns"] / max(1, after["now"] - before["now"])
    return profile, {name: ((after[name] - before[name]) * share,
                            weights(profile, profile.stacks, f"truth.Parked.{name}", "parked"))
                     for name in ("north", "south")}


def test_parked_virtual_threads(jdk25, say):
    """Parked virtual threads have their whole stack and their time, when asked for; else they are not there."""
    threads, ms = (2000, 50) if SOAK else (20, 40)
    with Program(jdk25, "Parked", "sleep", threads, ms) as program:
        profile, found = parked_time(program, ("-t", "--vthreads"), counted(1.5, 20))
        for name, (truth, seen) in found.items():
            # At either end parks are seen in part, by the program or by us; the JVM begins to tell of them a little late.
            edge = threads * (1.5 * ms + 100) * 1e6
            assert abs(seen - truth) <= 0.01 * truth + edge, (name, seen / 1e9, truth / 1e9, profile.samples)
            say(f"parked virtual threads: {name}() {seen / truth - 1:+.2%} of {truth / 1e9:.1f} s")
        parked = [s for s in profile.stacks if s["state"] == "parked" and "truth.Parked.park" in s["frames"]]
        assert all("java.lang.VirtualThread.run" in s["frames"] for s in parked), parked[:3]
        assert not any("[virtual_thread_frozen]" in s["frames"] for s in parked)
        names = {t["name"] for t in profile.json["threads"]}
        assert sum(name.startswith("virtual thread #") for name in names) >= min(threads, 20)
        together = jstrobe("record", "-e", "wall", "--vthreads", "-d", "0.3", program.pid)
        said = together.stdout + together.stderr
        assert re.search(r"wall time of \d+ platform threads and virtual threads", said), said
        without = record(program, "-e", "wall", "-i", "20ms", "-d", "0.3")
        assert not [s for s in without.stacks if s["state"] == "parked" and "truth.Parked.park" in s["frames"]]


def test_virtual_threads_off_their_carriers(jdk25):
    """From JDK 24 on also those that wait for a monitor: they are blocked, and no owner of it; others are not."""
    states = {"enterer": ("blocked", "lock"), "appender": ("blocked", "lock"), "waiter": ("waiting", "wait"),
              "sleeper": ("parked", "sleep"), "parker": ("parked", "park")}
    with Program(jdk25, "Unmounted") as program:
        profile = record(program, "-e", "wall", "-t", "--vthreads", "-d", "2")
        text = jstrobe("record", "-e", "wall", "--vthreads", "-d", "2", program.pid).stdout
        without = jstrobe("record", "-e", "wall", "-d", "1", program.pid).stdout
        assert program.stop() == 0
    names = [t["name"] for t in profile.json["threads"]]
    for name, what in states.items():
        of = {}
        for s in profile.stacks:
            if names[s["thread"]] == name and s["state"] not in ("running", "runnable", "held", "native"):
                of[s["state"], s["activity"]] = of.get((s["state"], s["activity"]), 0) + s["weight"]
        assert max(of, key=of.get) == what, (name, of)
        # a virtual thread that finds the monitor free, or is awake again, may be parked for a moment by the JVM
        assert of[what] > 0.9 * sum(of.values()), (name, of)
    assert not [line for line in text.split("\n") if "its owner" in line and "(park)" in line], text
    left_out = "left out while they are parked; --vthreads shows them"
    assert left_out in without and left_out not in text, (text, without)


def test_the_thread_that_unblocks_virtual_ones(jdk25):
    """It waits in the JVM, in a native method of its own: it is not ready to run."""
    with Program(jdk25, "OneCarrier", "naps") as program:
        profile = record(program, "-e", "wall", "-d", "1")
        states = {s["state"] for s in profile.stacks
                  if s["frames"][-1] == "java.lang.VirtualThread.takeVirtualThreadListToUnblock"}
        assert program.stop() == 0
    assert states == {"waiting"}, states


def test_a_refused_start_leaves_no_wish(jdk25):
    """The wall clock was started already when the second event was refused: parks are nothing to the session after it."""
    with Program(jdk25, "Parked", "sleep", 20, 40) as program:
        refused = jstrobe("start", "-e", "wall,context-switches", "--vthreads", "--all-user", program.pid)
        assert refused.returncode and "happens in the kernel only" in refused.stderr, refused.stderr
        profile = record(program, "-e", "cpu", "-i", "1ms", "-d", "1")
        used = sum(s["weight"] for s in profile.stacks)
        assert used < 3 * profile.json["duration_ns"], (used, profile.samples)  # of some 2 CPUs; 20 threads are parked


def test_no_virtual_threads_to_tell_of(jdk17):
    with Program(jdk17, "Idle", "2") as program:
        done = jstrobe("start", "-e", "wall", "--vthreads", program.pid)
        assert done.returncode == 0 and "JDK 21" in done.stdout + done.stderr, (done.stdout, done.stderr)
        assert jstrobe("stop", "-o", "hot", program.pid).returncode == 0


def test_periodic(jdk, say):
    """Each period a signal to each thread that used CPU time, weighted by it; or to each, by wall time."""
    for kind in ("cpu", "wall") if SOAK else ("cpu",) if jdk.version == 25 else ("wall",):
        periodic(jdk, kind, say)


def periodic(jdk, kind, say):
    with Program(jdk, "Phases") as program:
        profile = record(program, "-e", "periodic", "--sampling-period-ms", "5", "--time", kind,
                         "-d", counted("1", "20"), watch="burner")
        watched = profile.thread_clock()
    assert profile.json["engine"] == f"periodic-{kind}" and profile.json["interval_ns"] == 5e6
    burner, parker = (sum(s["weight"] for s in profile.of_thread(name)) for name in ("burner", "parker"))
    if kind == "cpu":
        # What it used after its last turn is in no sample; turns come late on a busy machine.
        late = 5e6 * (2 + profile.samples["lost"]["missed_tick"] + profile.samples["lost"]["signal_pending"])
        assert abs(burner / watched - 1) <= 0.02 + late / watched, (burner, watched, profile.samples)
        assert not profile.of_thread("parker") and not profile.of_thread("waiter")
        say(f"periodic: weight of a thread {burner / watched - 1:+.2%} of its CPU clock")
    else:
        assert 0 < parker <= 1.02 * profile.json["duration_ns"]
        assert len(profile.of_thread("waiter")) >= 1


@pytest.mark.parametrize("option", ["disable_async_sampling", "disableall"] if SOAK else ["disable_async_sampling"])
def test_switched_off_at_the_start(jdk17, option):
    """Start-up options for the life of the JVM: later starts are refused with that reason."""
    with Program(jdk17, "Idle", "2", jvm=(f"-agentpath:{LIBRARY}={option}",)) as program:
        for event in counted(("cpu", "wall"), ("cpu", "wall", "periodic", "ctimer", "itimer", "page-faults")):
            done = jstrobe("start", "-e", event, program.pid)
            assert done.returncode != 0 and option in done.stderr, done.stderr
        assert "not active" in jstrobe("status", program.pid).stdout
        assert jstrobe("list", program.pid).returncode == 0
        assert program.alive()
    with Program(jdk17, "Idle", "2") as program:
        done = subprocess.run([os.path.join(os.path.dirname(jdk17.java), "jcmd"), str(program.pid), "JVMTI.agent_load",
                               LIBRARY, f'"{option}"'], stdout=subprocess.PIPE, text=True)
        assert "return code: 0" not in done.stdout or "-1" in done.stdout, done.stdout
        assert jstrobe("record", "-d", "0.1", "-o", "hot", program.pid).returncode == 0


def test_without_rseq(jdk17):
    """Where the C library registers no rseq, slots take the marker's place, and asking for the marker is refused."""
    with Program(jdk17, "IdlePool", "pool", 20, 0, wrap=("env", "GLIBC_TUNABLES=glibc.pthread.rseq=0")) as program:
        done = jstrobe("start", "-e", "wall", "--wallmode", "marker", program.pid)
        assert done.returncode != 0 and "cannot be marked" in done.stderr, done.stderr
        profile = record(program, "-e", "wall", "-i", "10ms", "-d", "0.5")
    assert profile.json["engine"] == "wall-slots"
    assert {s["state"] for s in profile.of_thread("idle")} == {"parked"}


def test_foreign_rseq(jdk17, say):
    """A library with restartable sequences of its own, while its threads are marked each time they wait: none of its
    counts is missed."""
    with Program(jdk17, "ForeignRseq", NATIVE) as program:
        if program.mark().get("none"):
            pytest.skip("the C library has registered no rseq")
        profile = record(program, "-e", "wall", "--wallmode", "marker", "-i", "1ms", "-d", counted("1", "20"))
        program.say("end")
        deadline = time.time() + 60
        while "found" not in (counts := program.mark()) and time.time() < deadline:
            time.sleep(0.1)
    assert profile.json["engine"] == "wall-marker" and profile.of_thread("rseq-0")
    assert counts["found"] == counts["counted"] > 0, counts
    say(f"{counts['counted']} counts, {counts['interrupted']} interrupted sections, none is missed")


@pytest.mark.parametrize("event", ["wall", "cpu"] if SOAK else ["wall"])
def test_threads_by_name_and_group(jdk17, event):
    """Only the threads that are asked for are sampled: by id, by pattern of the name, by group."""
    with Program(jdk17, "Phases") as program:
        tid = program.tid("parker")
        for what, names in ((f"{tid},name:*urner", {"parker", "burner"}), ("group:main", None),
                            ("name:VM Th*,name:read*", {"VM Thread", "reader"})):
            profile = record(program, "-e", event, "-i", "5ms", "-d", counted("0.3", "2"), "--filter", what)
            seen = {t["name"] for t in profile.json["threads"]}
            if names:
                assert seen == names if event == "wall" else seen <= names, (what, seen)
            else:
                assert ("parker" if event == "wall" else "burner") in seen, seen
                assert not seen & {"Finalizer", "VM Thread", "Reference Handler"}, seen
