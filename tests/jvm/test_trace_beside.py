"""
Calls traced beside samples: both are in one recording, whatever the engine, and the calls are as many as there were.
"""
import re

import jfr
import pytest
from jvm import LIBRARY, Program, jstrobe, result_file
from test_trace import wait
from test_trace_slow import CALLS

pytestmark = pytest.mark.together

TRACED = "truth.SlowCalls"
ROUNDS = 20


def slow_calls(program, *args):
    """A session with ARGS over the program's rounds; the recording, and what the stop said."""
    path = result_file(".jfr")
    done = jstrobe("start", *args, "-f", path, program.pid)
    assert done.returncode == 0, done.stderr
    program.say("end")
    wait(program, "done")
    done = jstrobe("stop", program.pid)
    assert done.returncode == 0, done.stderr
    return path, done.stderr


def calls_of(recording):
    names = [e["method"]["name"] for e in recording.events["jdk.MethodTrace"]]
    return {name: names.count(name) for name in CALLS}


EVENTS = {
    "cpu": (["-e", "cpu", "-i", "1ms"], "jdk.ExecutionSample"),
    "wall": (["--wall", "5ms"], "profiler.WallClockSample"),
    "alloc": (["--alloc", "0"], "jdk.ObjectAllocationInNewTLAB"),
    "lock": (["--lock", "0"], "jdk.JavaMonitorWait"),
}


@pytest.mark.parametrize("event", EVENTS)
def test_both_are_recorded(jdk, event):
    args, sampled = EVENTS[event]
    with Program(jdk, "SlowCalls", ROUNDS) as program:
        wait(program, "ready")
        path, said = slow_calls(program, *args, "--trace", TRACED + ":1ms")
        assert program.stop() == 0
    recording = jfr.Recording(path)
    assert calls_of(recording) == {name: CALLS[name] * ROUNDS for name in CALLS}
    for call in recording.events["jdk.MethodTrace"]:
        assert call["duration"] >= 1e6, call
        assert call["stackTrace"]["frames"][0]["method"]["name"] == call["method"]["name"], call
    # of JDK 17's threads that were there before, few objects are samples
    assert recording.events[sampled] or event == "alloc" and " allocated" in said, (sorted(recording.events), said)
    # both are told, and the samples' own sum is not mixed with the calls
    assert re.search(r"^jstrobe: [\d,]+ calls, ", said, re.M) and re.search(r"^jstrobe: ([\d,]+ samples? taken|No samples: .* allocated)", said, re.M), said
    # each is found by its family, by the command and as jfrconv
    done = jstrobe("convert", "-e", "trace", "-o", "collapsed", path)
    assert done.returncode == 0 and "truth/SlowCalls.sleeps" in done.stdout, (done.stdout[:300], done.stderr)
    done = jstrobe("convert", "-e", event, "-o", "collapsed", path)
    if recording.events[sampled]:
        assert done.returncode == 0 and done.stdout, done.stderr
    else:
        assert done.returncode != 0 and "there are no samples of alloc" in done.stderr, done.stderr


def test_a_method_as_event_beside_another(jdk):
    """-e Class.method beside --trace: of both each call is told, however short."""
    with Program(jdk, "SlowCalls", ROUNDS) as program:
        wait(program, "ready")
        path, _ = slow_calls(program, "-e", f"{TRACED}.sleeps,cpu", "--trace", f"{TRACED}.locks", "--alloc", "0")
        assert program.stop() == 0
    recording = jfr.Recording(path)
    names = {e["method"]["name"] for e in recording.events["jdk.MethodTrace"]}
    assert names == {"sleeps", "locks"}
    assert {"jdk.ExecutionSample", "jdk.ObjectAllocationInNewTLAB"} <= set(recording.events), sorted(recording.events)


def test_dumps_and_rounds(jdk):
    """A dump has the calls so far; resumed in the same file, those of both parts are there; then a session without."""
    dumped, path = result_file(".jfr"), result_file(".jfr")
    with Program(jdk, "SlowCalls", ROUNDS) as program:
        wait(program, "ready")
        args = ("-e", "cpu", "--trace", TRACED + ":1ms", "-f", path, program.pid)
        assert jstrobe("start", *args).returncode == 0
        assert jstrobe("stop", program.pid).returncode == 0
        done = jstrobe("resume", *args)
        assert done.returncode == 0, done.stderr
        program.say("end")
        wait(program, "done")
        done = jstrobe("dump", "-f", dumped, program.pid)
        assert done.returncode == 0, done.stderr
        assert jstrobe("stop", program.pid).returncode == 0
        for recording in (dumped, path):
            assert calls_of(jfr.Recording(recording)) == {name: CALLS[name] * ROUNDS for name in CALLS}, recording
        done = jstrobe("record", "-d", "0.5", "-e", "cpu", "-f", path, program.pid)
        assert done.returncode == 0 and "calls" not in done.stderr, done.stderr
        assert not jfr.Recording(path).events.get("jdk.MethodTrace")
        assert program.stop() == 0


def test_from_the_start(jdk):
    """By the agent's string, while the JVM is not up yet; ended by the program."""
    path = result_file(".jfr")
    agent = f"-agentpath:{LIBRARY}=start,event=cpu,alloc=1k,trace={TRACED}:1ms,file={path}"
    with Program(jdk, "SlowCalls", ROUNDS, jvm=[agent]) as program:
        wait(program, "ready")
        program.say("end")
        wait(program, "done")
        assert program.stop() == 0
    assert calls_of(jfr.Recording(path)) == {name: CALLS[name] * ROUNDS for name in CALLS}


def test_what_is_refused(jdk17):
    """Without a recording there is no place for the calls; what matches nothing is said."""
    with Program(jdk17, "SlowCalls", 1) as program:
        wait(program, "ready")
        for args in (["-f", result_file(".html")], ["-f", result_file(".jfr"), "--last", "5s"]):
            done = jstrobe("start", "-e", "cpu", "--trace", TRACED, *args, program.pid)
            assert done.returncode != 0 and "trace: beside samples calls go to a recording" in done.stderr, done.stderr
        done = jstrobe("record", "-d", "0.5", "-e", "cpu", "--trace", "truth.SlowCall.sleeps", "-f", result_file(".jfr"), program.pid)
        assert done.returncode == 1 and "truth.SlowCall.sleeps" in done.stderr, (done.returncode, done.stderr)
        assert "jdk.ExecutionSample" in done.stderr or "sample" in done.stderr, done.stderr
        assert program.stop() == 0


def test_more_calls_than_are_kept(jdk):
    """What is not in the recording is said; the sums are of all calls, and alloc keeps the interval that was asked for."""
    path = result_file(".jfr")
    with Program(jdk, "CallBound", 1) as program:
        done = jstrobe("record", "-d", "3", "-e", "cpu", "--alloc", "64k", "--trace", "truth.CallBound.leaf", "-f", path, program.pid)
        assert done.returncode == 0, done.stderr
    said = re.search(r"^jstrobe: ([\d,]+) of ([\d,]+) calls that took 1 ns or longer are not told one by one", done.stderr, re.M)
    assert said, done.stderr
    lost, of = (int(number.replace(",", "")) for number in said.groups())
    recording = jfr.Recording(path)
    assert len(recording.events["jdk.MethodTrace"]) == of - lost == 20_000
    counted = sum(e["invocations"] for e in recording.events["jdk.MethodTiming"])
    assert counted >= of, (counted, of)
    assert "64 KB" in done.stderr or recording.events["jdk.ObjectAllocationInNewTLAB"], done.stderr
