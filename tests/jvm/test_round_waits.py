"""
Waits that go on from one round of a loop to the next: each round has the time that they took in it, as one wait, with
its stack, its owner and what its thread works for. The round in which they end has their end, no later one has them.
"""
import os
import threading
import time

import jvm
import pytest
from jvm import Profile, Program, jstrobe, wait_until

pytestmark = pytest.mark.in_pairs

MS = 1_000_000
LOCK = {"monitor": "truth.OpenWaits.monitor", "lock": "truth.OpenWaits.lock", "wait": "truth.OpenWaits.waits",
        "park": "truth.OpenWaits.parks"}
OWNED = ("monitor", "lock")
CLASSPATH = f"{jvm.CLASSES}:{jvm.CONTEXT_JAR}"


def rounds_of(base):
    """The rounds whose files are whole: all but the one that is being written."""
    found = []
    while os.path.exists(f"{base}-{len(found)}.json"):
        found.append(f"{base}-{len(found)}.json")
    return found


def wait_for_rounds(program, base, count):
    wait_until(lambda: len(rounds_of(base)) >= count or not program.alive(), 120)
    assert program.alive(), program.said()


def of_waiters(profile, kinds):
    """{name of a waiter: [ns, frames, contexts]}."""
    names = {i: t["name"] for i, t in enumerate(profile.json["threads"])}
    contexts, found = profile.json["contexts"], {}
    for s in profile.stacks:
        name = names[s["thread"]]
        # a virtual thread that is parked for something else, as its own begin
        if not any(name.startswith(f"open-{kind}-") and frame in s["frames"] for kind, frame in kinds.items()):
            continue
        mine = found.setdefault(name, [0, set(), set()])
        mine[0] += s["weight"]
        mine[1].update(s["frames"])
        mine[2].add(contexts[s["context"]]["span_id"] if "context" in s else None)
    return found


def check_round(profile, n, kinds, owned):
    """All waiters are there; the shortest time of one, as a share of the round."""
    found = of_waiters(profile, kinds)
    assert sorted(found) == sorted(f"open-{kind}-{i}" for kind in kinds for i in range(n)), sorted(found)
    order = list(LOCK)
    for name, (ns, frames, spans) in found.items():
        kind, number = name.split("-")[1:]
        assert 0 < ns <= profile.json["duration_ns"] + 5 * MS, (name, ns, profile.json["duration_ns"])
        assert spans == {f"{int(number) * 4 + order.index(kind) + 1:016x}"}, (name, spans)
        assert not any(jvm.is_error(frame, "") or frame == "[unloaded]" for frame in frames), (name, frames)
    if owned:
        owners = {line["name"]: line for line in profile.json["owners"]}
        assert owners["the-holder"]["waits"] == len(OWNED) * n, profile.json["owners"]
    return min(ns for ns, _, _ in found.values()) / profile.json["duration_ns"]


CASES = {"lock": ("platform", ("-e", "lock"), LOCK), "virtual-lock": ("virtual", ("-e", "lock"), LOCK),
         "virtual-wall": ("virtual", ("-e", "wall", "-i", "5ms", "--vthreads"), {"park": LOCK["park"]})}


# the same as words of the agent
AGENT = {"lock": "event=lock", "virtual-lock": "event=lock", "virtual-wall": "event=wall,interval=5ms,vthreads"}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("rounds", [1, 2, 5])
def test_waits_of_several_rounds(jdk, case, rounds, say):
    """ROUNDS: ends of rounds that the waits outlast."""
    threads, options, kinds = CASES[case]
    if threads == "virtual" and jdk.version < 21:
        pytest.skip(f"{jdk} has no virtual threads")
    n, base = 3, jvm.result_file("")
    with Program(jdk, "OpenWaits", n, threads, "context", classpath=CLASSPATH) as program:
        done = jstrobe("start", "--loop", "1s", "-t", "--context", *options, "-o", "json", "-f", base + "-%n.json",
                       program.pid)
        assert done.returncode == 0, done.stderr
        program.say("begin")
        wait_until(lambda: program.mark()["came"] == 4 * n)
        first = len(rounds_of(base))
        wait_for_rounds(program, base, first + rounds)
        before = len(rounds_of(base))
        time.sleep(0.4)
        end = time.time() * 1e9
        program.say("end")
        wait_for_rounds(program, base, before + 3)
        assert jstrobe("stop", program.pid).returncode == 0
        assert program.stop() == 0, program.said()
    profiles = [Profile(path) for path in rounds_of(base)]
    shares = []
    # it may have been the last moment of a round when they began, and when they ended
    for i, profile in enumerate(profiles[first + 1:before], first + 1):
        profile.check()
        shares.append(check_round(profile, n, kinds, "lock" in options))
        lines = [line["waits"] for line in profile.json.get("locks", [])
                 if line["kind"] == "monitor" and line["open"] == n]
        assert "lock" not in options or lines == [n], (i, profile.json["locks"])
    assert len(shares) >= rounds - 1, (first, before, len(profiles))
    said = False
    for profile in profiles[before:]:
        start, stop = profile._moments()
        found = of_waiters(profile, kinds)
        if start + 100 * MS < end < stop - 100 * MS: # it has their end; what comes at a round's edge ends between two
            said = True
            assert len(found) == n * len(kinds), (sorted(found), start, end, stop)
            assert all(ns <= stop - start for ns, _, _ in found.values()), found
        if start > end:
            assert not found, (found, start, end)
    for path in rounds_of(base):
        os.remove(path)
    say(f"{case} {jdk}: waits of {before - first + 1} rounds, {', '.join(f'{s:.1%}' for s in shares)} of each whole one"
        f"{'' if said else '; they ended at the edge of one'}")
    assert all(s > 0.5 for s in shares), shares


@pytest.mark.parametrize("case", CASES)
def test_what_ends_while_a_result_is_written(jdk, case):
    """The next round goes on meanwhile: it has each wait, as one, from its own begin until the wait's end; none has more."""
    threads, options, kinds = CASES[case]
    if threads == "virtual" and jdk.version < 21:
        pytest.skip(f"{jdk} has no virtual threads")
    n, fifo = 3, jvm.result_file(".html")  # a page is more than a pipe takes
    os.mkfifo(fifo)
    reader, parts, over = os.open(fifo, os.O_RDWR), [], threading.Event()

    def drain():
        while not over.is_set():
            parts.append(os.read(reader, 1 << 16))
    # status takes a second to tell of a command that goes on; the dump must come before the round's end
    agent = f"-agentpath:{jvm.LIBRARY}=start,threads,context,loop=5s,force,file={fifo},{AGENT[case]}"
    with Program(jdk, "OpenWaits", n, threads, "context", classpath=CLASSPATH, jvm=[agent]) as program:
        program.say("begin")
        wait_until(lambda: program.mark()["came"] == 4 * n)
        wait_until(lambda: "'timer' is being carried out" in jstrobe("status", program.pid).stdout, 60)
        going = time.monotonic_ns()
        time.sleep(0.5)
        ending = time.monotonic_ns()
        program.say("end")
        wait_until(lambda: program.mark()["ended"] == 4 * n)
        ended = time.monotonic_ns()
        time.sleep(0.5)
        drained = threading.Thread(target=drain, daemon=True)
        drained.start()
        path = jvm.result_file()
        dumped = time.monotonic_ns()
        done = jstrobe("dump", "-t", "-o", "json", "-f", path, program.pid)
        assert done.returncode == 0, done.stderr
        assert jstrobe("stop", program.pid).returncode == 0
        assert program.stop() == 0, program.said()
    over.set()
    os.write(reader, b"over")
    drained.join(timeout=60)
    os.close(reader)
    profile = Profile(path)
    profile.check()
    check_round(profile, n, kinds, False)  # those that end one after the other have each other as owners, too
    least, most = ending - going, profile.json["duration_ns"] - (dumped - ended)
    slack = 50 * MS if "wall" in case else 1 * MS  # of wall time, what lies between samples
    for name, (ns, _, _) in of_waiters(profile, kinds).items():
        assert least - slack <= ns <= most + slack, (name, ns, least, most)
    os.remove(path)
    os.remove(fifo)
