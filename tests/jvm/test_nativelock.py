"""Native locks, against a program that knows how long its threads waited, for which lock, and who had it."""
import os
import time

import jvm
import pytest
from jfr import Recording
from jvm import Profile, Program, counted, jstrobe, profile_of, result_file, wait_until

from test_hard_copies import copy_to
from test_hard_native import tricks, worked

KINDS = {"mutex": "mutex", "timed": "mutex", "recursive": "mutex", "inheriting": "mutex", "read": "read",
         "write": "write", "spin": "spin"}
OWNED = ("mutex", "timed", "recursive", "inheriting", "read")


def start(program, *options):
    done = jstrobe("start", "-t", *(options or ["--nativelock"]), program.pid)
    assert done.returncode == 0, done.stderr


def result(program, *options, command="stop"):
    return profile_of(command, program, "-t", *options)


def waited(profile, function, key="weight"):
    return profile.total("locks_" + function, key=key)


def line(profile, kind):
    """Of the program's locks, not of those of the JVM: the longest."""
    return max((x for x in profile.json["locks"] if x["kind"] == kind), key=lambda x: x["time_ns"])


def near(told, true, share=0.02, more=0):
    assert true * (1 - share) - more <= told <= true * (1 + share) + more, (told, true, told / true)


@pytest.mark.parametrize("said", [["--nativelock"], ["-e", "nativelock"], ["-e", "cpu,lock", "--nativelock", "1us"]])
def test_each_kind(jdk, said, say):
    """The time of each kind of lock, by the function that waited; who had it; in a line of its own."""
    rounds = counted(6, 60)
    with Program(jdk, "NativeLocks", jvm.NATIVE, "rounds", rounds) as program:
        start(program, *said)
        truth = program.play()
        profile = result(program, "--show", "nativelock")
        assert program.stop() == 0
    assert "failed" not in truth
    assert profile.json["event"] == "nativelock"
    for function, kind in KINDS.items():
        # the program's own clock is read before and after a call: it is never shorter
        near(waited(profile, function), truth[function], more=rounds * 200_000)
        stacks = [s for s in profile.stacks if "locks_" + function in s["frames"]]
        assert all("truth.NativeLocks.take" in s["frames"] and s["frames"][-1].startswith("pthread_") for s in stacks)
        # a thread that the machine lets begin too late finds the lock free
        assert 0 < sum(s["samples"] for s in stacks) <= 2 * rounds
    assert line(profile, "read")["identity"] == line(profile, "write")["identity"]
    assert line(profile, "read")["class"] == "pthread_rwlock_t"
    held = sum(o["time_ns"] for o in profile.json["owners"] if "holder" in o["name"])
    near(held, sum(truth[k] for k in OWNED), 0.05, rounds * 2_000_000)
    assert not any(x["kind"] in ("condition", "semaphore") for x in profile.json["locks"])
    say(f"nativelock, {jdk}, {said}: " + ", ".join(f"{k} {waited(profile, k) / truth[k] - 1:+.2%}" for k in KINDS))


def test_library_that_comes_later(jdk):
    """One that is loaded while the session runs is seen as well."""
    rounds = counted(4, 40)
    with Program(jdk, "NativeLocks", jvm.NATIVE, "late", rounds) as program:
        start(program, "--nativelock")
        truth = program.play()
        profile = result(program)
        assert program.stop() == 0
    assert "failed" not in truth
    for function in KINDS:
        near(waited(profile, function), truth[function], more=rounds * 200_000)


def test_idle_waits_on_request(jdk):
    rounds = counted(5, 50)
    with Program(jdk, "NativeLocks", jvm.NATIVE, "idle", rounds) as program:
        start(program, "--nativelock", "--nativewait")
        truth = program.play()
        profile = result(program)
        assert program.stop() == 0
    for function in ("condition", "semaphore"):
        near(waited(profile, function), truth[function], more=rounds * 200_000)


@pytest.mark.parametrize("threshold", ["1ms", "10us", "0"])
def test_short_waits(jdk, threshold, say):
    """Waits of some hundred microseconds: their sum is right, whatever share of them is recorded."""
    seconds = counted(2, 20)
    with Program(jdk, "NativeLocks", jvm.NATIVE, "fight", 100_000) as program:
        start(program, "--nativelock", threshold)
        program.say("begin")
        time.sleep(seconds)
        program.say("end")
        wait_until(lambda: program.mark().get("done") == 2)
        profile = result(program)
        truth = program.mark()
        assert program.stop() == 0
    told = waited(profile, "fight")
    lost = profile.weight["lost"]
    say(f"short native waits, T {threshold}, {jdk}: {(told + lost) / truth['fight'] - 1:+.2%} of "
        f"{truth['fight'] / 1e6:.0f} ms, {waited(profile, 'fight', 'samples')} samples, {truth['turns']} turns")
    # a thread that loses its CPU between its clock and the call has waited by that clock; what is lost may be of others
    assert told <= truth["fight"] and told + lost >= 0.97 * truth["fight"] - 5_000_000


def test_threshold(jdk):
    """Below T nothing but what adds up to it."""
    with Program(jdk, "NativeLocks", jvm.NATIVE, "rounds", 5) as program:
        start(program, "--nativelock", "30s")
        program.play()
        profile = result(program)
        assert program.stop() == 0
    assert profile.samples["taken"] == 0, profile.samples


def test_short_threads(jdk, say):
    threads = counted(100, 1000)
    with Program(jdk, "NativeLocks", jvm.NATIVE, "short", threads) as program:
        start(program)
        truth = program.play()
        profile = result(program)
        assert program.stop() == 0
    told = waited(profile, "mutex")
    # what is lost may be of others
    assert told <= truth["brief"] and told + profile.weight["lost"] >= 0.97 * truth["brief"] - threads * 50_000
    names = {s["thread"] for s in profile.stacks if "locks_mutex" in s["frames"]}
    # a thread that the machine lets begin too late finds the lock free
    assert threads / 2 < len(names) <= threads, len(names)
    say(f"{threads} threads that wait once, {jdk}: {waited(profile, 'mutex') / truth['brief'] - 1:+.2%}")


def test_a_wait_that_does_not_end(jdk):
    """It is in each result, with its owner; a session that stops meanwhile leaves it alone."""
    with Program(jdk, "NativeLocks", jvm.NATIVE, "keep") as program:
        start(program)
        program.say("begin")
        wait_until(lambda: program.mark().get("held"))
        time.sleep(0.5)
        first = result(program, command="dump")
        time.sleep(0.5)
        second = result(program)
        for profile, least in ((first, 0.4e9), (second, 0.9e9)):
            own = [x for x in profile.json["locks"] if x["open"]]
            assert len(own) == 1 and own[0]["kind"] == "mutex" and own[0]["time_ns"] > least, own
            assert any("holder" in o["name"] and o["open"] == 1 for o in profile.json["owners"])
        start(program)  # it began before this one
        time.sleep(0.2)
        assert waited(result(program, command="dump"), "mutex") == 0
        program.say("end")
        wait_until(lambda: program.mark().get("got"))
        assert waited(result(program), "mutex") == 0
        assert program.alive() and program.stop() == 0, program.output[-5:]


def test_rounds_under_load(jdk, say):
    """Hooks in and out while threads fight; nothing stays writable, and the program stays as it was."""
    rounds = counted(30, 300)
    with Program(jdk, "NativeLocks", jvm.NATIVE, "fight", 1000) as program:
        program.say("begin")
        start(program)
        result(program)
        before = program.slots()
        for i in range(rounds):
            start(program, "-e", ("cpu", "lock", "wall")[i % 3], "--nativelock", ("0", "1us", "1ms")[i % 3],
                  *(["--nativewait"] if i % 2 else []))
            time.sleep(0.05)
            assert jstrobe("stop", "-f", "/dev/null", program.pid).returncode == 0
        assert program.slots() == before
        assert program.alive() and program.stop() == 0, program.output[-5:]


def test_loop(jdk, tmp_path):
    """A wait that lasts longer than a round is in each of them, with its time there."""
    with Program(jdk, "NativeLocks", jvm.NATIVE, "keep") as program:
        path = str(tmp_path / "r%n.json")
        done = jstrobe("start", "--nativelock", "--loop", "500ms", "-t", "-f", path, program.pid)
        assert done.returncode == 0, done.stderr
        program.say("begin")
        wait_until(lambda: os.path.exists(str(tmp_path / "r3.json")))
        assert jstrobe("stop", program.pid).returncode == 0
        for i in (1, 2):
            own = [x for x in Profile(str(tmp_path / f"r{i}.json")).json["locks"] if x["open"]]
            assert len(own) == 1 and 0.3e9 < own[0]["time_ns"] < 0.8e9, own
        program.say("end")
        wait_until(lambda: program.mark().get("got"))
        assert program.stop() == 0


@pytest.mark.together
def test_two_copies(jdk):
    """One copy of the library has the event, another one has others; then they change places."""
    ours, theirs = jvm.LIBRARY, copy_to("nativelock")
    with Program(jdk, "NativeLocks", jvm.NATIVE, "fight", 20_000) as program:
        program.say("begin")
        for first, second in ((ours, theirs), (theirs, ours)):
            done = jstrobe("start", "--libpath", first, "--nativelock", program.pid)
            assert done.returncode == 0, done.stderr
            done = jstrobe("start", "--libpath", second, "--nativelock", program.pid)
            assert done.returncode == 1 and "nativelock" in done.stderr, done.stderr
            done = jstrobe("start", "--libpath", second, "-e", "cpu", program.pid)
            assert done.returncode == 0, done.stderr
            time.sleep(0.5)
            told = [jstrobe("stop", "-o", "collapsed", program.pid) for _ in range(2)]
            assert all(t.returncode == 0 for t in told), told
            assert any("pthread_mutex_t" in t.stdout for t in told), told
        assert program.alive() and program.stop() == 0, program.output[-5:]


def test_children_and_images(jdk):
    """Libraries come and go and children are forked, while hooks are looked after."""
    with tricks(jdk, "loaded+forked+vforked") as program:
        start(program, "--nativelock", "0", "--nativewait")
        time.sleep(counted(2, 30))
        profile = result(program)
        worked(program, "loaded+forked+vforked")
    assert profile.samples["stored"] > 0


def test_recording(jdk):
    rounds, path, made = 3, result_file(".jfr"), result_file()
    with Program(jdk, "NativeLocks", jvm.NATIVE, "rounds", rounds) as program:
        done = jstrobe("start", "--nativelock", "-f", path, program.pid)
        assert done.returncode == 0, done.stderr
        truth = program.play()
        assert jstrobe("stop", program.pid).returncode == 0
    recording = Recording(path)
    events, owners = recording.events["profiler.NativeLock"], recording.events["jstrobe.LockOwner"]
    assert all(e["address"] for e in events)
    # async-profiler's converter reads events by their known fields, and does not skip what comes behind them
    assert list(events[0])[:5] == ["startTime", "duration", "eventThread", "stackTrace", "address"], list(events[0])
    assert not {"lockClass", "previousOwner"} & set(events[0])
    told = [e for e in owners if e["owner"]["osName"] == "holder" or e["owner"]["javaName"] == "holder"]
    assert len(told) >= rounds * len(OWNED) - 3 and {e["lockClass"]["name"] for e in told} == {
        "pthread_mutex_t", "pthread_rwlock_t"}
    true = sum(truth[k] for k in KINDS)
    assert sum(e["duration"] for e in events) >= 0.9 * true / 1000, "ticks of a microsecond"
    done = jstrobe("convert", "-t", "-o", "json", path, made)
    assert done.returncode == 0, done.stderr
    profile = Profile(made)
    assert profile.json["event"] == "nativelock"
    for function in KINDS:
        near(waited(profile, function), truth[function], 0.03, rounds * 250_000)


def test_stream(jdk):
    with Program(jdk, "NativeLocks", jvm.NATIVE, "rounds", 2) as program:
        path = result_file(".ndjson")
        done = jstrobe("start", "--nativelock", "--stream", path, program.pid)
        assert done.returncode == 0, done.stderr
        program.play()
        assert jstrobe("stop", program.pid).returncode == 0
    with open(path) as stream:
        text = stream.read()
    for kind in set(KINDS.values()):
        assert f'"lock":"{kind}"' in text or f'"lock": "{kind}"' in text, kind
    assert '"owner":"holder' in text or '"owner": "holder' in text


def test_table(jdk):
    """What a user sees first."""
    with Program(jdk, "NativeLocks", jvm.NATIVE, "rounds", 2) as program:
        start(program)
        program.play()
        done = jstrobe("stop", "-o", "hot", program.pid)
        assert done.returncode == 0, done.stderr
    for word in ("pthread_mutex_t@", "(mutex)", "(read)", "(spin)", "held by, when the wait began", "holder"):
        assert word in done.stdout, done.stdout
