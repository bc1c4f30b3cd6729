"""Crowds of virtual threads that park: by wall clock and as waits, named, none counted beyond its end, none lost."""
import os
import time

import jvm
import pytest
from jvm import Program, counted, jstrobe, result_file, wait_until

pytestmark = pytest.mark.in_pairs

EVENTS = {"wall": ("-e", "wall", "-i", "50ms", "--vthreads"), "lock": ("-e", "lock")}
HEAP = ["-Xmx3g"]


def needs_virtual(jdk):
    if jdk.version < 21:
        pytest.skip(f"{jdk} has no virtual threads")


def start(program, event):
    done = jstrobe("start", *EVENTS[event], "-t", program.pid)
    assert done.returncode == 0, done.stderr


def result(program, command):
    path = result_file()
    done = jstrobe(command, "-t", "-o", "json", "-f", path, program.pid, timeout=300)
    assert done.returncode == 0, done.stderr
    profile = jvm.Profile(path)
    profile.check()
    os.remove(path)
    return profile


def parked(profile):
    of = {i for i, t in enumerate(profile.json["threads"]) if t["name"].startswith("v")}  # vt-…, virtual threads
    return sum(s["weight"] for s in profile.stacks if s["thread"] in of and s["state"] == "parked")


def names(profile):
    return {t["name"] for t in profile.json["threads"]}


@pytest.mark.parametrize("event", EVENTS)
@pytest.mark.parametrize("n,ms,rounds", [(100, 300, 3), (2000, 100, 2)])
def test_what_has_ended_is_over(jdk, event, n, ms, rounds, say):
    """Threads that end: their time is what they said, however long the session goes on."""
    needs_virtual(jdk)
    with Program(jdk, "VirtualCrowd", n, "brief", ms, rounds) as program:
        start(program, event)
        program.say("begin")
        wait_until(lambda: program.mark()["ended"] == n * rounds, 60)
        time.sleep(counted(3, 30))
        profile = result(program, "stop")
        truth = program.mark()["parked"]
        assert program.stop() == 0
    seen = parked(profile)
    say(f"{event}, {jdk}: {n} virtual threads, {rounds} times parked for {ms} ms: {seen / truth - 1:+.2%} of {truth / 1e9:.1f} s; "
        f"{profile.samples['lost']}")
    assert not any(profile.samples["lost"][why] for why in ("too_many_waits", "queue_full")), \
        {why: n for why, n in profile.samples["lost"].items() if n}
    assert abs(seen - truth) <= 0.05 * truth, (seen, truth, profile.samples)
    if event == "wall":
        return  # one that was sampled as it ran, and of whose parks none was noted, has shown its name to none
    assert {f"vt-{i}" for i in range(0, n, 7)} <= names(profile), sorted(names(profile))[:20]
    assert not [name for name in names(profile) if name.startswith("virtual thread #")], sorted(names(profile))[:20]


@pytest.mark.parametrize("event", EVENTS)
@pytest.mark.parametrize("n", counted([1000, 20_000], [1000, 20_000, 200_000, 1_000_000]))
def test_crowds_are_seen(jdk, event, n, say):
    """All of them while they are parked, and when all come back at once."""
    needs_virtual(jdk)
    with Program(jdk, "VirtualCrowd", n, "long", jvm=HEAP) as program:
        start(program, event)
        program.say("begin")
        wait_until(lambda: program.mark()["came"] == n, 120)
        time.sleep(1)
        open_ = result(program, "dump")
        program.say("end")
        wait_until(lambda: program.mark()["ended"] == n, 120)
        profile = result(program, "stop")
        truth = program.mark()["parked"]
        assert program.stop() == 0
    of = [s for s in open_.stacks if s["state"] == "parked" and "truth.VirtualCrowd.untilEnd" in s["frames"]]
    lost = {why: k for why, k in profile.samples["lost"].items() if k}
    say(f"{event}, {jdk}: {n} parked virtual threads: {sum(s['samples'] for s in of)} seen while parked, "
        f"{parked(profile) / truth - 1:+.2%} of {truth / 1e9:.0f} s in the end, lost {lost}")
    if event == "lock":
        assert sum(s["samples"] for s in of) >= n, open_.samples
        # beyond 10,000 virtual threads are one entry
        assert n > 10_000 or {f"vt-{i}" for i in range(n)} <= names(open_)
    assert not {"queue_full", "store_full", "too_many_waits"} & set(lost), lost
    # of parks by wall clock one in so many is noted where there are thousands a second
    assert abs(parked(profile) - truth) <= (0.02 if event == "lock" else 0.2) * truth, (parked(profile), truth, lost)


def test_a_thread_that_waits_again_and_again(jdk, say):
    """While the collector is held, a thread's queue is full: what has ended waits for it, however often that was."""
    with jvm.knobs(), Program(jdk, "LongWaits") as program:
        done = jstrobe("start", "-e", "lock", "-i", "1us", "--queuesize", "1", "--collector-hold", 300, program.pid)
        assert done.returncode == 0, done.stderr
        time.sleep(counted(3, 20))
        profile = result(program, "stop")
        assert program.stop() == 0
    lost = {why: n for why, n in profile.samples["lost"].items() if n}
    say(f"{jdk}: four threads, each waiting some thousand times a second, collector held for 300 ms: {profile.samples['stored']} "
        f"stored, lost {lost}")
    assert profile.samples["stored"] > 4 * 500 and not {"too_many_waits", "queue_full"} & set(lost), lost


def test_waits_whose_stacks_had_to_go(jdk, say):
    """Waits that are over are held in their places, while their traces' memory is full when it is renewed: lost, counted."""
    with jvm.knobs(), Program(jdk, "LongWaits") as program:
        done = jstrobe("start", "-e", "lock", "-i", "1us", "--queuesize", "1", "--collector-hold", 300, "--memlimit", "1m",
                       "--renew-at", "200k", program.pid)
        assert done.returncode == 0, done.stderr
        program.say("begin")
        for _ in range(counted(15, 100)):
            time.sleep(0.2)
            assert program.alive(), program.output[-5:]
        profile = result(program, "stop")
        assert program.stop() == 0
    profile.check()
    lost = {why: n for why, n in profile.samples["lost"].items() if n}
    say(f"{jdk}: the same with 1 MB of traces: {profile.samples['stored']} stored, lost {lost}")
    assert profile.samples["stored"] > 0 and lost.get("store_full", 0) > 0, profile.samples
