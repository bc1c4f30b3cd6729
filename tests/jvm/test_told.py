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
        return found
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


@pytest.mark.parametrize("events", ["cpu", "wall", "cpu,wall", "lock"])
@pytest.mark.parametrize("suffix", [".json", ".collapsed", ".jfr", "growing.jfr", "window.json", "window.jfr"])
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
        for _ in range(4):
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
