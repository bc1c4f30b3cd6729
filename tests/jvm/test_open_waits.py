"""
Waits that do not end while they are watched: a program that hangs ends none. They are in results, recordings and streams,
with their time so far and who holds what they wait for; and what ends later is told once.
"""
import json
import os
import subprocess
import time

import jvm
import pytest
from jfr import Recording
from jvm import Program, jstrobe, record, result_file, wait_until

pytestmark = pytest.mark.in_pairs

MS = 1_000_000
OWNED = ("monitor", "lock")
KINDS = {"monitor": "monitor", "lock": "park", "wait": "wait", "park": "park"}


def begin(program, n):
    """All waits are under way; nanoTime of the last one."""
    program.say("begin")
    wait_until(lambda: program.mark()["came"] == 4 * n)
    time.sleep(0.1)
    return program.mark()["since"]


def session(program, *options):
    done = jstrobe("start", "-e", "lock", "-t", *options, program.pid)
    assert done.returncode == 0, done.stderr


def dump(program, command="dump"):
    path = result_file()
    done = jstrobe(command, "-t", "-o", "json", "-f", path, program.pid)
    assert done.returncode == 0, done.stderr
    profile = jvm.Profile(path)
    profile.check()
    os.remove(path)
    return profile


def waits_of(profile, kind):
    """[(thread, ns)] of the waits of KIND."""
    names = {i: t["name"] for i, t in enumerate(profile.json["threads"])}
    sums = {}
    for s in profile.stacks:
        if names[s["thread"]].startswith(f"open-{kind}-"):
            sums[names[s["thread"]]] = sums.get(names[s["thread"]], 0) + s["weight"]
    return sums


def open_lines(profile):
    """{kind of lock: how many open}, of all locks but those that the program's other threads wait in."""
    found = {}
    for line in profile.json["locks"]:
        if line["open"]:
            found[line["kind"]] = found.get(line["kind"], 0) + line["open"]
    return found


@pytest.mark.parametrize("threads", ["platform", "virtual"])
@pytest.mark.parametrize("n", [1, 30])
def test_open_waits_are_in_results(jdk, n, threads, say):
    """In a dump, in the next one, and in the result at the end, which has the rest only."""
    if threads == "virtual" and jdk.version < 21:
        pytest.skip(f"{jdk} has no virtual threads")
    with Program(jdk, "OpenWaits", n, threads) as program:
        session(program)
        since = begin(program, n)
        sums = []
        for command in ("dump", "dump", "stop"):
            time.sleep(0.3)
            before = program.mark()["now"]
            profile = dump(program, command)
            after = program.mark()["now"]
            for kind in KINDS:
                found = waits_of(profile, kind)
                assert len(found) == n, (command, kind, sorted(found))
                # all but the last one began a little earlier
                assert all(before - since - 5 * MS < ns < after - since + 3_000 * MS for ns in found.values()), (kind, found)
                assert kind not in OWNED or [o for o in profile.json["owners"]
                                             if o["name"] == "the-holder" and o["open"] == 2 * n], profile.json["owners"]
            lines = open_lines(profile)
            assert lines["monitor"] == n and lines["wait"] >= n and lines["park"] >= 2 * n, lines
            sums.append(sum(sum(waits_of(profile, kind).values()) for kind in KINDS))
            assert len([line for line in profile.json["locks"] if line["kind"] == "monitor" and line["open"]
                        and line["waits"] == n]) == 1, profile.json["locks"]
        assert sums[0] < sums[1] < sums[2], sums
        program.say("end")
        assert program.stop() == 0
    say(f"lock, {jdk}, {threads}: {4 * n} waits that do not end, all found")


def test_what_ends_is_told_once(jdk):
    """The time of a wait that was shown before its end is in the sums once, and so is the wait."""
    with Program(jdk, "OpenWaits", 3, "platform") as program:
        session(program)
        since = begin(program, 3)
        for _ in range(5):
            dump(program)
        program.say("end")
        ended = program.mark()["now"]
        time.sleep(0.3)
        profile = dump(program, "stop")
        for kind in KINDS:
            found = waits_of(profile, kind)
            # the holder looks each 5 ms whether it is to let go
            assert all(ended - since - MS < ns < ended - since + 2_000 * MS for ns in found.values()), (kind, found)
        # those in Object.wait and in park() have ended, too: what waits of the program's own threads is left
        line = next(l for l in profile.json["locks"] if l["class"].replace("/", ".") == "java.lang.Object" and l["kind"] == "monitor")
        assert (line["waits"], line["open"]) == (3, 0), line
        assert program.stop() == 0


def test_open_waits_are_in_recordings(jdk):
    """As events that end when the recording does, with the owner."""
    path = result_file(".jfr")
    with Program(jdk, "OpenWaits", 3, "platform") as program:
        done = jstrobe("start", "-e", "lock", "-f", path, program.pid)
        assert done.returncode == 0, done.stderr
        begin(program, 3)
        time.sleep(2.5)  # they are told after a second or two, and at the end
        assert jstrobe("stop", program.pid).returncode == 0
        program.say("end")
        assert program.stop() == 0
    events = [e for e in Recording(path).events["jdk.JavaMonitorEnter"]
              if e["eventThread"]["javaName"].startswith("open-monitor-")]
    for i in range(3):
        mine = sorted((e["time"], e["duration_ns"]) for e in events if e["eventThread"]["javaName"] == f"open-monitor-{i}")
        assert len(mine) >= 2 and sum(ns for _, ns in mine) > 2_400 * MS, mine
        assert all(abs(a + ns - b) < MS for (a, ns), (b, _) in zip(mine, mine[1:])), mine
    assert {e["previousOwner"]["javaName"] for e in events} == {"the-holder"}
    os.remove(path)


def test_open_waits_are_in_streams(jdk):
    """A stream tells of them after a second, of how long they have lasted, and of their end."""
    with Program(jdk, "OpenWaits", 2, "platform") as program:
        with subprocess.Popen([jvm.COMMAND, "stream", "-e", "lock", "-d", "4", str(program.pid)], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE) as stream:
            json.loads(stream.stdout.readline())
            begin(program, 2)
            time.sleep(2.4)
            program.say("end")
            out, err = stream.communicate(timeout=60)
        assert program.stop() == 0
    assert stream.returncode == 0, err
    records = [json.loads(line) for line in out.splitlines()]
    for i in range(2):
        mine = [r for r in records if r["kind"] == "lock" and r["thread"] == f"open-monitor-{i}"]
        told = [r for r in mine if r.get("open")]
        assert told and told[0]["owner"] == "the-holder" and told[0]["duration"] >= 1_000 * MS, mine
        assert all(a["duration"] < b["duration"] for a, b in zip(mine, mine[1:])), mine
        assert len({r["time"] for r in mine}) == 1, mine
        assert not mine[-1].get("open") and mine[-1]["duration"] > 2_300 * MS, mine
        assert abs(sum(r["value"] for r in mine) - mine[-1]["duration"]) < MS, mine
