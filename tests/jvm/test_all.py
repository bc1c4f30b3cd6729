"""--all: CPU time and every event that has an option of its own, in one session."""
import json
import re
import time

import jfr
import jvm
import pytest
from jvm import Program, counted, jstrobe, result_file, wait_until

pytestmark = pytest.mark.together

ALL = ["cpu", "wall", "lock", "io", "alloc", "live", "nativelock", "nativemem"]


def by_event(path):
    with open(path) as file:
        return {one["event"]: one for one in json.load(file, object_pairs_hook=jvm.unique)["profiles"]}


def test_each_event_has_its_result(jdk):
    path = result_file()
    with Program(jdk, "NativeBlocks", "64,1000,20000,300000", 1 << 30, "always") as program:
        done = jstrobe("record", "--all", "--nativemem", "64k", "--wall", "20ms", "--gc", "-d", "3", "-f", path, program.pid)
        assert done.returncode == 0, done.stderr
        assert program.stop() == 0, program.output[-5:]
    found = by_event(path)
    assert sorted(found) == sorted(ALL)
    # what was said with it holds, the others have their defaults
    assert found["nativemem"]["interval"] == 64 << 10 and found["wall"]["interval_ns"] == 20_000_000
    assert found["alloc"]["interval"] == 512 << 10 and found["lock"]["interval_ns"] == 10_000
    for event in ("cpu", "wall", "nativemem"):
        assert found[event]["samples"]["stored"] > 5, (event, found[event]["samples"])
    for one in found.values():
        samples = one["samples"]
        assert samples["taken"] == samples["stored"] + samples.get("gone", 0) + sum(samples["lost"].values()), one


def test_outputs(jdk17, tmp_path):
    """A page with all of them, and a recording."""
    page, recording = result_file(".html"), result_file(".jfr")
    with Program(jdk17, "Io", tmp_path, 1, "idle") as program:
        for path in (page, recording):
            done = jstrobe("record", "--all", "--io", "0", "-d", "2", "-f", path, program.pid)
            assert done.returncode == 0, done.stderr
            told = re.findall(r"^jstrobe: (\w+): (?:No samples|\d+ samples? )", done.stderr, re.M)
            assert told == ALL, done.stderr
    with open(page) as file:
        text = file.read()
    assert all(f'"{event}"' in text for event in ALL)
    types = jfr.Recording(recording).events
    assert {"jdk.ExecutionSample", "profiler.WallClockSample"} <= set(types), sorted(types)


def test_recordings_are_read_unasked(jdk):
    """What was recorded is shown, with peers; what a server waits for its client weighs nothing, a client's wait does."""
    path, made = result_file(".jfr"), result_file()
    with Program(jdk, "Io", "/tmp", 1, "idle") as program:
        done = jstrobe("start", "--all", "--io", "0", "-f", path, program.pid)
        assert done.returncode == 0, done.stderr
        port = program.play()["port"]
        time.sleep(2)
        assert jstrobe("stop", program.pid).returncode == 0
        assert program.alive()
    done = jstrobe("convert", path, made)
    assert done.returncode == 0, done.stderr
    found = by_event(made)
    assert {"cpu", "wall", "io"} <= set(found), sorted(found)
    peers = {}
    for s in found["io"]["stacks"]:
        if s["frames"][-1].startswith("127.0.0.1"):
            peers.setdefault(s["frames"][-1], set()).add(s["weight"] > 0)
    # of the client its connect and its read; of the server a read alone
    assert peers == {f"127.0.0.1:{port}": {True}, f"127.0.0.1 (client of :{port})": {False}}, peers
    done = jstrobe("convert", "-e", "io", "-o", "collapsed", path)
    assert done.returncode == 0 and f"127.0.0.1:{port} " in done.stdout, done.stdout
    assert "client of" not in done.stdout, done.stdout


def test_with_a_list(jdk17):
    """An event that is named stands in the place of CPU time."""
    path = result_file()
    with Program(jdk17, "KnownShares") as program:
        done = jstrobe("record", "-e", "ctimer", "--all", "-d", "1", "-f", path, program.pid)
    assert done.returncode == 0, done.stderr
    assert sorted(by_event(path)) == sorted(["ctimer"] + ALL[1:])


def test_rounds_under_load(jdk, say):
    """Sessions of all events one after the other: the program is as it was before, but for what is kept for good."""
    rounds = min(counted(12, 10_000), 200)
    with Program(jdk, "NativeBlocks", "64,1000,20000,300000", 1 << 30, "always",
                 jvm=["-Xms64m", "-Xmx64m", "-XX:+AlwaysPreTouch"]) as program:
        def one_round():
            assert jstrobe("start", "--all", "-i", "1ms", program.pid).returncode == 0
            time.sleep(0.1)
            done = jstrobe("stop", "-o", "json", "-f", "/dev/null", program.pid)
            assert done.returncode == 0, done.stderr
        for _ in range(4):
            one_round()
        before, descriptors, memory = program.slots(), program.descriptors(), program.memory()
        names = {n for n in program.threads().values() if n.startswith("jstrobe")}
        began = time.monotonic()
        for _ in range(rounds):
            one_round()
        grown = program.memory() - memory
        say(f"--all, {rounds} rounds in {time.monotonic() - began:.0f} s, {jdk}: {grown / 1024:+.0f} KB resident, "
            f"{program.descriptors() - descriptors:+d} descriptors")
        assert program.slots() == before
        # the last conversation's descriptor and thread go a moment later
        wait_until(lambda: program.descriptors() <= descriptors, 10)
        wait_until(lambda: {n for n in program.threads().values() if n.startswith("jstrobe")} <= names, 10)
        # seen: 2.1 MB in 12 rounds, 3.3 and 3.6 MB in 200
        assert grown < (16 << 20), grown
        assert program.stop() == 0, program.output[-5:]
