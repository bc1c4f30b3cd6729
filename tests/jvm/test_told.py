"""What is said beside a result is true of that result: it was counted once."""
import json
import os
import re

import jvm
import pytest
from jvm import Program, jstrobe

pytestmark = pytest.mark.together


def number(text):
    return int(text.replace(",", ""))


def said(text):
    """{event: (taken, stored)} of the loss lines; of a single event "" is the key."""
    found = {}
    for event, taken, stored in re.findall(r"^jstrobe: (?:([\w-]+): )?([\d,]+) (?:samples?|turns?) taken, "
                                           r"(all|[\d,]+) stored", text, re.M):
        found[event] = number(taken), number(taken if stored == "all" else stored)
    return found


def profiles(path):
    with open(path) as file:
        whole = json.load(file)
    return whole.get("profiles", [whole])


def held(path):
    """{event: (taken, stored)} of what the file holds; None where its format does not say it."""
    if path.endswith(".collapsed"):
        sums = {}
        with open(path) as file:
            for line in file:
                stack, _, samples = line.rpartition(" ")
                event = stack.split(";")[0].strip("[]")
                sums[event] = sums.get(event, 0) + int(samples)
        return {event: (None, samples) for event, samples in sums.items()}
    if path.endswith(".jfr"):
        as_json = jvm.result_file()
        done = jstrobe("convert", path, as_json)
        assert done.returncode == 0, done.stderr
        found = held(as_json)
        os.remove(as_json)
        # while it grows the end of the chunk, with the books of what was lost, is not there
        return {event: (None, stored) for event, (_, stored) in found.items()}
    return {p["event"]: (p["samples"]["taken"], p["samples"]["stored"]) for p in profiles(path)}


def is_true(line, counts, events):
    """Whether the LINEs are of the very samples that the file holds."""
    assert len(line) == len(events), (line, events)
    for event in events:
        taken, stored = line[event if len(events) > 1 else ""]
        if len(events) > 1 or event in counts:
            in_file = counts[event]
        else:
            in_file = None, sum(samples for _, samples in counts.values())
        if stored != in_file[1] or in_file[0] not in (None, taken):
            return False
    return True


@pytest.mark.parametrize("events, suffix", [
    ("cpu", ".json"), ("wall", ".collapsed"), ("cpu,wall", ".jfr"), ("lock", ".jfr"), ("lock", ".json"),
    ("cpu", "growing.jfr"), ("cpu,wall", "window.json"), ("cpu", "window.jfr")])
def test_a_dump_tells_what_its_file_holds(jdk, events, suffix):
    """Samples come all the time, and a second look would find more of them; a dump is made several times."""
    recording, names = jvm.result_file(".jfr"), events.split(",")
    growing, window = suffix == "growing.jfr", suffix.startswith("window")
    path = recording if growing else jvm.result_file(suffix.replace("window", ""))
    what = ["Contended", "monitor", 4, 2] if events == "lock" else ["KnownShares"]
    with Program(jdk, *what) as program:
        asked = ["-e", events, "-i", "10us" if events == "lock" else "200us"]
        asked += ["--last", "30s"] if window else ["-f", recording] if suffix.endswith(".jfr") else []
        done = jstrobe("start", *asked, program.pid)
        assert done.returncode == 0, done.stderr
        for _ in range(3):
            program.work(0.3)
            done = jstrobe("dump", *([] if growing else ["-f", path]), program.pid)
            assert done.returncode == 0, done.stderr
            if not growing:
                assert is_true(said(done.stderr), held(path), names), (done.stderr, held(path))
        done = jstrobe("stop", *([] if growing else ["-f", path]), program.pid)
        assert done.returncode == 0, done.stderr
    assert is_true(said(done.stderr), held(path), names), (done.stderr, held(path))
    for file in (path, recording):
        if os.path.exists(file):
            os.remove(file)


# ---- how it stands ------------------------------------------------------------------------

def status_of(program):
    done = jstrobe("status", program.pid)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("events", ["cpu,wall", "wall,cpu", "lock,ctimer,page-faults", "page-faults,cpu"])
def test_status_tells_of_each_event(jdk17, events):
    """By what threads are sampled is said of each event that arms them, whichever is the first."""
    names = events.split(",")
    with Program(jdk17, "KnownShares") as program:
        done = jstrobe("start", "-e", events, program.pid)
        assert done.returncode == 0, done.stderr
        program.work(0.2)
        text = status_of(program)
        assert jstrobe("stop", "-f", "/dev/null", program.pid).returncode == 0
    assert re.findall(r"^  event    ([\w-]+) by", text, re.M) == names, text
    units = {"cpu": "ms of CPU time", "ctimer": "ms of CPU time", "wall": "ms of wall time", "lock": "ms of waiting",
             "page-faults": "events"}
    for name in names:
        assert re.search(rf"^  event    {name} by .*, a sample each [\d.]+ {units[name]}$", text, re.M), (name, text)
        arms = re.search(rf"^ +{name}: (\d+) sampled by perf events, (\d+) by timers, (\d+) by nothing$", text, re.M)
        if name in ("wall", "lock"):
            assert not arms, text
        else:
            perf, timers, nothing = map(int, arms.groups())
            assert nothing == 0 and (timers if name == "ctimer" else perf + timers) >= 5, text


# ---- a threshold of 0 ---------------------------------------------------------------------

@pytest.mark.parametrize("words, told", [(["--lock", "0"], 0), (["-e", "cpu", "--lock", "0"], 0), (["--lock", "3us"], 3000)])
def test_each_wait_is_told_as_each(jdk, words, told):
    path, recording = jvm.result_file(), jvm.result_file(".jfr")
    with Program(jdk, "Contended", "monitor", 4, 2) as program:
        done = jstrobe("start", *words, "-f", recording, program.pid)
        assert done.returncode == 0, done.stderr
        program.work(0.3)
        text = status_of(program)
        done = jstrobe("dump", "-f", path, program.pid)
        assert done.returncode == 0, done.stderr
        assert jstrobe("stop", program.pid).returncode == 0
    assert (", each wait is a sample\n" if not told else "a sample each 0.003 ms of waiting\n") in text, text
    lock = next(p for p in profiles(path) if p["event"] == "lock")
    assert lock["interval_ns"] == told and lock["samples"]["stored"] > 0
    assert lock["weight"]["total"] > 0 and (told or lock["samples"]["lost"]["too_many_waits"] == 0)
    os.remove(path)
    done = jstrobe("convert", "--event", "lock", recording, path)
    assert done.returncode == 0, done.stderr
    assert profiles(path)[0]["interval_ns"] == told
    os.remove(path)
    os.remove(recording)


# ---- what a recording says of itself ------------------------------------------------------

@pytest.mark.parametrize("part", ["thread", "name", "cpu"])
def test_a_part_that_was_asked_for_is_no_loss(jdk, part):
    """Half of the program's time is left out, as asked for: in the result and in what is made of a recording."""
    recording, page, direct = jvm.result_file(".jfr"), jvm.result_file(".html"), jvm.result_file(".html")
    with Program(jdk, "KnownShares") as program:
        asked = {"thread": ["--filter", program.tid("shares-1")], "name": ["--filter", "name:shares-1"], "cpu": ["--target-cpu", 0]}
        done = jstrobe("start", "-e", "cpu", "-i", "1ms", "-f", recording, *asked[part], program.pid)
        assert done.returncode == 0, done.stderr
        program.work(1)
        assert jstrobe("stop", program.pid).returncode == 0
        assert jstrobe("dump", "-f", direct, program.pid).returncode == 0
    done = jstrobe("convert", recording, page)
    assert done.returncode == 0, done.stderr
    warns = []
    for path in (direct, page):
        with open(path) as file:
            warns.append(re.search(r'"warn":\s*(\w+)', file.read())[1])
    assert warns[1] == warns[0], warns
    for path in (recording, page, direct):
        os.remove(path)


def test_walks_that_ended_early_are_counted(jdk):
    """In a result made of a recording as in that of the session: stacks that are cut say it."""
    recording, path, again = jvm.result_file(".jfr"), jvm.result_file(), jvm.result_file()
    with Program(jdk, "Recursion", 300) as program:
        done = jstrobe("start", "-e", "cpu", "-i", "1ms", "-j", "40", "-f", recording, program.pid)
        assert done.returncode == 0, done.stderr
        program.work(0.7)
        assert jstrobe("stop", program.pid).returncode == 0
        assert jstrobe("dump", "-f", path, program.pid).returncode == 0
    assert jstrobe("convert", recording, again).returncode == 0
    said_then, now = profiles(path)[0], profiles(again)[0]
    assert said_then["walk_ended_early"]["truncated"] > 10
    assert now["walk_ended_early"] == said_then["walk_ended_early"]
    for file in (recording, path, again):
        os.remove(file)
