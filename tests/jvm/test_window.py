"""begin, end, nostop and ttsp: samples are kept only while the window is open, and it is known how long that was."""
import contextlib
import json
import re
import time

import jfr
import jvm
import pytest
from jvm import Profile, Program, jstrobe

pytestmark = pytest.mark.together

N = jvm.counted(30, 300)
BURN_MS = 4  # of CPU time inside each window, and outside before it (native/events.c)


def perf_is_refused(done):
    return "Cannot install begin breakpoint" in done.stderr and "no permission" in done.stderr


def during(program, *options, todo=f"windows {N}"):
    """Sample while the program makes its windows; the result in JSON, its invariants checked."""
    done = jstrobe("start", "-t", "-i", "1ms", *options, program.pid)
    if perf_is_refused(done):
        pytest.skip("no breakpoints are permitted here: " + done.stderr)
    assert done.returncode == 0, done.stderr
    if todo:
        program.say(todo)
        program.wait_for("MARK")
    path = jvm.result_file()
    done = jstrobe("stop", "-o", "json", "-f", path, program.pid)
    assert done.returncode == 0, done.stderr
    profile = Profile(path, done=done)
    profile.check()
    return profile


@pytest.mark.parametrize("event", ["cpu", "ctimer", "wall"])
def test_window(jdk17, event):
    """As many windows as the program made; nothing from outside is kept, and what is left out has its name."""
    with Program(jdk17, "Events", jvm.NATIVE) as program:
        profile = during(program, "-e", event, "--begin", "truth_begin", "--end", "truth_end")
        text = jstrobe("dump", "-o", "text", program.pid).stdout
    window, lost = profile.json["window"], profile.weight["lost_by_reason"]
    assert window["count"] == N and not window["open"] and not window["watched"], window
    assert N * BURN_MS * 1e6 <= window["total_ns"] and window["longest_ns"] * N >= window["total_ns"], window
    assert profile.total("truth_outside") == 0
    inside = profile.total("truth_inside")
    # at most the real time, and what began before each: an interval, or a tick of the kernel
    assert inside < window["total_ns"] + N * (4.5e6 if event == "ctimer" else 1.5e6), (inside, window)
    assert profile.samples["lost"]["outside_window"] > 0
    # turns of the wall clock that are left out stand for no time of their own
    outside = inside if event == "wall" else lost["outside_window"]
    # timers go off at the kernel's tick, which may be as long as a burn: then one side has some of the other's
    assert min(inside, outside) > 0.25 * N * BURN_MS * 1e6, (inside, outside)
    assert inside + outside > 1.2 * N * BURN_MS * 1e6, (inside, outside)
    assert re.search(rf"Window +: begin=truth_begin end=truth_end: {N} times, .* in all, longest ", text), text
    assert re.search(r"of them outside the window", text), text


def test_watched_window(jdk17):
    """nostop: everything is kept, and the windows are counted all the same."""
    with Program(jdk17, "Events", jvm.NATIVE) as program:
        profile = during(program, "--begin", "truth_begin", "--end", "truth_end", "--nostop")
    assert profile.json["window"]["count"] == N and profile.json["window"]["watched"]
    assert profile.samples["lost"]["outside_window"] == 0
    assert profile.total("truth_outside") > 0.6 * N * BURN_MS * 1e6
    assert profile.total("truth_inside") > 0.6 * N * BURN_MS * 1e6


def test_one_side(jdk17):
    """begin alone: from its first call for ever; end alone: until its first call."""
    with Program(jdk17, "Events", jvm.NATIVE) as program:
        profile = during(program, "--begin", "truth_begin")
        assert profile.json["window"]["count"] == 1 and profile.json["window"]["open"]
        assert profile.total("truth_outside") > 0 and profile.samples["lost"]["outside_window"] > 0
        profile = during(program, "--end", "truth_begin", todo="windows 3")
        assert profile.json["window"]["count"] == 1 and not profile.json["window"]["open"]
        assert profile.total("truth_inside") == 0
        profile = during(program, "--begin", "truth_touch", todo="windows 3")
        assert profile.json["window"]["count"] == 0 and profile.samples["stored"] == 0


def test_time_to_safepoint(jdk, tmp_path):
    """ttsp: a window for each safepoint, as many as the JVM itself writes down."""
    log = tmp_path / "safepoints"

    def safepoints():
        return len(re.findall(r"Safepoint \"", log.read_text()))
    with Program(jdk, "KnownShares", jvm=[f"-Xlog:safepoint=info:file={log}"]) as program:
        before = safepoints()
        recorded = jvm.result_file(".jfr")
        done = jstrobe("start", "--ttsp", "-i", "100us", "-t", "-f", recorded, program.pid)
        if perf_is_refused(done):
            pytest.skip("no breakpoints are permitted here: " + done.stderr)
        assert done.returncode == 0, done.stderr
        first = safepoints()
        for _ in range(20):
            program.ask("gc")
        last = safepoints()
        path = jvm.result_file()
        assert jstrobe("stop", "-o", "json", "-f", path, program.pid).returncode == 0
        after = safepoints()
    profile = Profile(path)
    profile.check()
    window = profile.json["window"]
    assert window["begin"] == "SafepointSynchronize::begin"
    assert last - first >= 20 and last - first <= window["count"] <= after - before, (first, last, window)
    assert 0 < window["longest_ns"] < window["total_ns"] < profile.json["duration_ns"], window
    assert profile.samples["stored"] + profile.samples["lost"]["outside_window"] > 0
    told = jfr.Recording(recorded).events["profiler.Window"]
    assert len(told) == window["count"] and {w["eventThread"]["osName"] for w in told} == {"VM Thread"}
    assert sum(w["duration_ns"] for w in told) == window["total_ns"]


def test_often_called(jdk17):
    """Functions that all threads call all the time, our own handler too: it costs a bounded share, and is said."""
    with Program(jdk17, "Events", jvm.NATIVE) as program:
        for event in ("cpu", "ctimer"):
            profile = during(program, "-e", event, "--begin", "clock_gettime", "--end", "syscall",
                             todo="windows 10")
            assert profile.samples["taken"] > 0
            assert profile.json["window"]["pauses"] > 0, profile.json["window"]


def test_watched_again(jdk17):
    """A function that is left alone after too many calls is met again a little later."""
    with Program(jdk17, "Events", jvm.NATIVE) as program:
        done = jstrobe("start", "--begin", "truth_target", "--end", "truth_touch", program.pid)
        if perf_is_refused(done):
            pytest.skip("no breakpoints are permitted here: " + done.stderr)

        def windows():
            return json.loads(jstrobe("dump", "-o", "json", program.pid).stdout)["window"]
        program.ask("calls 50000")
        program.ask("faults 1")
        window = windows()
        assert window["pauses"] > 0 and window["count"] == 1 and not window["open"], window
        end = time.time() + 30
        while windows()["count"] == 1:
            assert time.time() < end
            time.sleep(0.3)
            program.ask("calls 1")
        assert windows()["open"]


REFUSED = {
    ("--begin", "no_such_function"): "Begin address not found: no_such_function",
    ("--begin", "truth_begin", "--end", "no_such_function"): "End address not found: no_such_function",
    ("--begin", "java.lang.Thread.run"): "Begin address not found: java.lang.Thread.run",
    ("--begin", "truth_end", "--end", "truth_end"): "begin and end symbols should not resolve to the same address",
    ("-e", "itimer", "--begin", "truth_begin"): "begin and end do not go together with itimer",
}
FAILING = {
    ("-e", "ctimer", "--engine-fail", "perf", "--begin", "truth_begin"):
        "Cannot install begin breakpoint: begin=truth_begin: no permission",
}


@pytest.mark.parametrize("refused", [REFUSED, FAILING], ids=["asked wrongly", "failing"])
def test_refused(jdk17, refused):
    with Program(jdk17, "Events", jvm.NATIVE) as program, \
            jvm.knobs() if refused is FAILING else contextlib.nullcontext():
        for options, says in refused.items():
            done = jstrobe("start", *options, program.pid)
            assert done.returncode != 0 and says in done.stderr, f"{options}: {done.stderr}"
        assert "not active" in jstrobe("status", program.pid).stdout


def test_memory_limit(jdk17):
    """memlimit: stacks beyond it are merged, or lost under their name; the sums stay right."""
    with Program(jdk17, "ThreadStorm", "platform", 2000) as program:  # each thread has a stack of its own
        path = jvm.result_file()
        for seconds in "1.5", "6", "30":  # how many threads there are is the machine's affair
            done = jstrobe("record", "-d", seconds, "-i", "100us", "--memlimit", "1m", "-o", "json", "-f", path,
                           program.pid)
            assert done.returncode == 0, done.stderr
            profile = Profile(path)
            profile.check()
            beyond = profile.samples["lost"]["store_full"] + profile.json.get("merged", {}).get("samples", 0)
            if beyond:
                break
        assert beyond > 0 and profile.samples["stored"] > 0, profile.samples
        done = jstrobe("start", "--memlimit", "1k", program.pid)
        assert done.returncode == 2 and "use a size from 1m to 16g" in done.stderr, done.stderr
