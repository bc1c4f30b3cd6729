"""Traces of Perfetto, read by Perfetto's own messages: the same totals by stack and thread as ours, times, states and marks."""
import json
import os
import re
import subprocess
import time

import jvm
import pytest
import viewers
from jvm import Program, jstrobe
from test_exports import EVENTS, collapsed, made, session  # noqa: F401
from test_page_marks import EVENT, GC, OPERATION, PAUSE, SAFEPOINT, SPAN, in_file, marks_of, recording  # noqa: F401
from test_page_time import page_of

pytestmark = pytest.mark.together
HERE = os.path.dirname(os.path.abspath(__file__))


@pytest.fixture(scope="module")
def perfetto():
    """Reads traces of Perfetto."""
    messages = viewers.perfetto()
    if not messages:
        pytest.skip("Perfetto's messages (PyPI: perfetto) could not be fetched (scripts/fetch-python.sh)")
    return lambda path: viewers.Perfetto(path, messages)


def of_threads(path, event, *options):
    """{(thread, stack): number} of EVENT in PATH, as Perfetto.by_thread has it."""
    sums = {}
    for stack, n in collapsed(path, event, "--threads", *options).items():
        thread, stack = stack.split(";", 1)
        key = (re.fullmatch(r"\[(.*?)(?: tid=\d+)?\]", thread)[1], stack)
        sums[key] = sums.get(key, 0) + n
    return sums


@pytest.mark.parametrize("times", [[], ["--no-times"]], ids=["times", "sums"])
def test_sums_times_and_states(session, perfetto, times):
    """Its messages, resolved as Perfetto does it, are what collapsed stacks say, of each thread."""
    read = perfetto(made("pftrace", "convert", "-e", "cpu,wall,alloc", *times, session, None))
    for event, (samples, weight) in EVENTS.items():
        assert read.stacks(weight) == collapsed(session, event, "--total")
        assert read.stacks(samples) == collapsed(session, event)
        assert read.by_thread(weight) == of_threads(session, event, "--total")
    assert read.counters == {"cpu": "UNIT_NANOSECONDS", "samples": "UNIT_COUNT", "wall": "UNIT_NANOSECONDS",
                             "wall_samples": "UNIT_COUNT", "alloc_space": "UNIT_BYTES", "alloc_samples": "UNIT_COUNT"}
    with open(session) as file:
        whole = json.load(file)["profiles"][0]
    (process,) = read.processes.values()
    assert process.pid == whole["pid"] and process.process_name == "truth.Garbage"
    assert list(process.process_labels) == (["no times: stacks stand one after the other"] if times else [])
    assert {(t["tid"], t["name"]) for t in whole["threads"]} <= set(read.threads.items())
    kinds = {kind for *_, all_kinds in read.samples for kind in all_kinds}
    assert kinds >= {"KIND_JIT", "KIND_RUNTIME", "KIND_NATIVE"} and "java" not in kinds
    assert read.libraries["truth.Garbage.main"] == "truth.Garbage"
    assert all(library == "vmlinux" for name, library in read.libraries.items() if name.endswith("_[k]"))
    assert "libjvm.so" in read.libraries.values()
    assert read.attributes["jstrobe"].startswith("jstrobe ") and "samples taken" in read.attributes["jstrobe.samples.cpu"]
    if times:
        assert not read.slices
        return
    start, end = read.started, read.started + whole["duration_ns"]
    assert start <= min(read.times) and max(read.times) <= end + 100_000_000 and len(set(read.times)) > 30
    # what threads did is about as long as wall time says: on a busy machine a sample stands for longer than until the next
    sums = {}
    for track, tid, name, begin, until, _ in read.slices:
        assert track == "wall: state" and start <= begin <= until <= end + 200_000_000
        sums[tid, name] = sums.get((tid, name), 0) + until - begin
    with open(session) as file:
        wall = json.load(file)["profiles"][1]
    told = {}
    for stack in wall["stacks"]:
        key = (wall["threads"][stack["thread"]]["tid"], stack["state"])
        told[key] = told.get(key, 0) + stack["weight"]
    tids = [tid for tid, _ in told]
    steady = {key: n for key, n in told.items() if tids.count(key[0]) == 1 and n > 1_000_000_000}
    assert set(sums) == set(told) and steady
    assert all(abs(sums[key] - n) < 0.25 * n for key, n in steady.items()), (sums, told)


TRACKS = {PAUSE: "GC pauses", GC: "Collections", SAFEPOINT: "Safepoints", OPERATION: "Operations of the JVM", SPAN: "Spans",
          EVENT: "Events"}


def check_marks(read, profiles):
    """What a page shows of the same file one by one is there: kind, name, thread, begin and end."""
    of, _ = marks_of(profiles)
    told = sorted((TRACKS[kind], name, thread, at, duration) for (kind, name), list_ in of.items() for at, duration, thread, _ in list_)
    thread = lambda tid: None if tid is None else read.threads[tid]
    found = [(track, name, thread(tid), begin - read.started, end - begin)
             for track, tid, name, begin, end, _ in read.slices if not track.endswith(": state")]
    found += [(track, name, thread(tid), at - read.started, 0) for track, tid, name, at in read.moments]
    found.sort()
    assert [mark[:3] for mark in found] == [mark[:3] for mark in told] and found
    # a page has its times in us
    assert all(0 <= a[3] - b[3] < 1000 and a[4] == b[4] for a, b in zip(found, told))
    return found


def test_marks_of_the_jdks_recordings(recording, perfetto):
    jdk, path = recording
    read = perfetto(made("pftrace", "convert", path, None))
    found = check_marks(read, page_of(path))
    assert {track for track, *_ in found} >= {"GC pauses", "Spans", "Events"}
    assert len([s for s in read.slices if s[0] == "GC pauses"]) == len(in_file(jdk, path, "jdk.GCPhasePause"))
    assert {"gc": "G1Full", "cause": "System.gc()"} in [s[5] for s in read.slices if s[0] == "GC pauses"]
    # of a part of the time
    part = perfetto(made("pftrace", "convert", "--from", "100ms", "--to", "-100ms", path, None))
    assert part.started - read.started >= 100_000_000
    check_marks(part, page_of(path, "--from", "100ms", "--to", "-100ms"))


def test_marks_of_our_recordings(programs, perfetto):
    path = jvm.result_file(".jfr")
    subprocess.run([jvm.find_jdk(17).java, "-cp", os.path.join(jvm.OUT, "lib", "jstrobe.jar"),
                    os.path.join(HERE, "readers", "MakeSpans.java"), jvm.LIBRARY, path], check=True, timeout=60)
    read = perfetto(made("pftrace", "convert", path, None))
    check_marks(read, page_of(path))
    assert [s[2] for s in read.slices if s[0] == "Spans"].count("odd") == 15


def test_marks_that_are_too_many_are_told(session, perfetto, tmp_path):
    """Of JSON whose marks are known by their number alone."""
    assert "jstrobe.marks" not in perfetto(made("pftrace", "convert", session, None)).attributes
    with open(session) as file:
        whole = json.load(file)
    whole["profiles"][0]["marks"] = {
        "duration_ns": 1_000_000_000, "names": [{"kind": "span", "name": "same", "count": 25_000, "sum_ns": 25_000_000,
                                                 "longest_ns": 1000, "parts": [0, 25_000], "lengths": [992, 25_000]}],
        "threads": [], "gcs": [], "kept": {"count": 0, "at_ns": [], "duration_ns": [], "name": [], "thread": [], "gc": []},
        "events": []}
    path = tmp_path / "many.json"
    path.write_text(json.dumps(whole))
    read = perfetto(made("pftrace", "convert", path, None))
    assert read.attributes["jstrobe.marks"].startswith("Spans: 0 of 25,000; ") and not [s for s in read.slices if s[0] == "Spans"]


def test_a_session_that_runs(jdk, perfetto):
    with Program(jdk, "KnownShares") as program:
        read = perfetto(made("pftrace", "record", "-d", "1", "-i", "1ms", "-e", "cpu,wall", "-f", None, program.pid))
    assert len(set(read.times)) > 30 and abs(read.started / 1e9 - time.time()) < 600
    assert any("KnownShares" in stack for stack in read.stacks("cpu")) and "main" in read.threads.values()


HOSTILE = ["", "a;b\n\t\0", "\u202e\ud800x", "\u001b[31m", "x" * 70_000, "</script>", "[GC] tid=1]", "\uffff\U0010ffff"]


def test_hostile_names(session, perfetto, tmp_path):
    """Names of any kind, threads that share one id or have none: they stay apart, and sums are the same."""
    with open(session) as file:
        whole = json.load(file)
    for profile in whole["profiles"]:
        for number, thread in enumerate(profile["threads"]):
            thread.update(tid=number % 2 * 77, name=str(number) + HOSTILE[number % len(HOSTILE)])
        for number, stack in enumerate(profile["stacks"]):
            stack["frames"] = [HOSTILE[(number + i) % len(HOSTILE)] for i in range(len(stack["frames"]))]
    path = tmp_path / "hostile.json"
    path.write_text(json.dumps(whole))
    read = perfetto(made("pftrace", "convert", "-e", "cpu,wall,alloc", path, None))
    for event, (samples, weight) in EVENTS.items():
        expected = {}
        for profile in whole["profiles"]:
            if profile["event"] == event:
                for stack in profile["stacks"]:
                    expected[stack["thread"]] = expected.get(stack["thread"], 0) + stack["weight"]
        found = {}
        for _, values, _, tid, _ in read.samples:
            if values.get(weight):
                found[tid] = found.get(tid, 0) + values[weight]
        assert sorted(found.values()) == sorted(expected.values())
    assert len(set(read.threads)) == len(read.threads) and all(tid == 77 or tid > 1 << 30 for tid in read.threads)


def test_no_file_is_called_kernel(session, perfetto, tmp_path):
    """Some of Perfetto's importers end at one without addresses."""
    path = tmp_path / "kernel.json"
    with open(session) as file:
        path.write_text(file.read().replace('"main": "truth.Garbage"', '"main": "kernel"'))
    read = perfetto(made("pftrace", "convert", "-e", "cpu,wall,alloc", path, None))
    assert "kernel" not in read.libraries.values() and "./kernel" in read.libraries.values()


def test_foreign_files(perfetto, tmp_path):
    """No samples at all, and stacks without a process, a thread and times."""
    stacks = tmp_path / "x.collapsed"
    stacks.write_text("a;b 5\na;c 7\n")
    read = perfetto(made("perfetto-trace", "convert", stacks, None))
    assert read.stacks(next(iter(read.counters))) == {"a;b": 5, "a;c": 7}
    assert list(read.processes) == [1] and not read.threads
