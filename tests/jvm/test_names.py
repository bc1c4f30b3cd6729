"""Names of threads in streams and recordings: all of them, and each sample with the one of its time."""
import re
import time

import jfr
import jvm
import live
import pytest
from jvm import COMMAND, Program, counted, jstrobe

pytestmark = pytest.mark.together

SLACK = 5_000_000_000  # ns by which a busy machine may notice a name late


def renamings(program):
    """{java id: [(from, name)]}, in order; from is when setName had returned."""
    found = {}
    for line in program.output:
        if line.startswith("RENAMED"):
            _, java_id, name, _, after = line.split(" ")
            found.setdefault(int(java_id), []).append((int(after), name))
    return {java_id: sorted(names) for java_id, names in found.items()}


def names_at(names, moment, slack):
    """The names that a thread had within SLACK around MOMENT; None: those before its first change, too."""
    before = [n for t, n in names if t <= moment - slack]
    return {before[-1] if before else None} | {n for t, n in names if moment - slack < t <= moment + slack}


def check(samples, known, say, what):
    """SAMPLES: (java id, time, name)."""
    exact = total = 0
    for java_id, moment, name in samples:
        names = known.get(java_id)
        if not names:
            continue
        plain = None if name.startswith("first-") else name
        assert plain in names_at(names, moment, SLACK), (name, moment, names)
        exact += plain in names_at(names, moment, 0)
        total += 1
    assert total > 10 and exact > total * 0.5, (exact, total)
    say(f"{what}: {exact} of {total} samples with the name of their very moment")


def test_each_sample_has_the_name_of_its_time(jdk, say):
    count, pause = counted((50, 20), (1000, 5))
    with Program(jdk, "Renamed", count, pause) as program:
        stream, status, errors = live.read([COMMAND, "stream", "-i", "1ms", "-d", counted(2, 30), program.pid])
        assert status == 0, errors
        time.sleep(0.2)
        known = renamings(program)
    samples = [(r["java_id"], r["time"], r["thread"]) for r in stream.of("sample") if "java_id" in r]
    check(samples, known, say, f"{jdk}, stream")
    # each change is in the stream within 5 s
    last = stream.of("stats")[-1]["time"]
    told = {(r.get("java_id"), r["name"]): r["time"] for r in reversed(stream.of("thread"))}
    first = stream.records[0]["time"]
    late = []
    for java_id, names in known.items():
        for (moment, name), (until, _) in zip(names, names[1:] + [(last, "")]):
            if first < moment < last - 5e9 and until - moment > 5e9:
                late += [(name, moment)] if told.get((java_id, name), last) - moment > 5e9 else []
    assert not late, late[:5]
    # and all threads have been named, sampled or not
    names = {r["name"] for r in stream.of("thread")}
    assert {"main", "renamer", "Reference Handler"} <= names and any("GC" in n or "G1" in n for n in names), names
    assert sum(1 for r in stream.of("thread") if r["name"].startswith("first-")) >= count / 2


def test_names_in_a_recording(jdk17, say):
    path = jvm.result_file(".jfr")
    with Program(jdk17, "Renamed", 20, 100) as program:
        assert jstrobe("record", "-i", "1ms", "-d", 1.5, "-f", path, program.pid).returncode == 0
        time.sleep(0.2)
        known = renamings(program)
    recording = jfr.Recording(path)
    names = {e["sampledThread"]["javaName"] for e in recording.events["jdk.ExecutionSample"] if e["sampledThread"]}
    assert any(re.match(r'self-|other-"', n or "") for n in names), names
    assert known and names


def read_metrics(text):
    """{name with labels: value}; each name must have HELP and TYPE before it."""
    values, told = {}, {"HELP": set(), "TYPE": set()}
    for line in text.splitlines():
        if line.startswith("# "):
            told[line.split()[1]].add(line.split()[2])
            continue
        match = re.fullmatch(r'([a-z_]+)(\{([a-z]+="[^"]*",?)+\})? ([0-9]+(\.[0-9]+)?)', line)
        assert match and match.group(1) in told["HELP"] & told["TYPE"], line
        values[line.rsplit(" ", 1)[0]] = float(match.group(4))
    return values


def test_metrics(jdk17):
    """Prometheus text, and the books in it."""
    with Program(jdk17, "KnownShares") as program:
        done = jstrobe("metrics", program.pid)
        assert done.returncode == 0 and "jstrobe_session_running 0\n" in done.stdout
        assert "libjstrobe" not in open(f"/proc/{program.pid}/maps").read(), "only to be asked nothing is attached"
        assert jstrobe("start", "-e", "cpu,page-faults", "-i", "1ms", program.pid).returncode == 0
        time.sleep(0.5)
        values = read_metrics(jstrobe("metrics", program.pid).stdout)
        assert values["jstrobe_session_running"] == 1 and values["jstrobe_queue_bytes"] > 0
        assert 0 < values["jstrobe_own_cpu_seconds_total"] < values["jstrobe_process_cpu_seconds_total"]
        assert values['jstrobe_value_total{event="cpu",unit="seconds"}'] > 0
        assert jstrobe("stop", "-f", "/dev/null", program.pid).returncode == 0
        values = read_metrics(jstrobe("metrics", program.pid).stdout)
    assert values["jstrobe_session_running"] == 0
    for event in ("cpu", "page-faults"):
        taken = values[f'jstrobe_samples_taken_total{{event="{event}"}}']
        lost = sum(v for k, v in values.items() if k.startswith(f'jstrobe_samples_lost_total{{event="{event}"'))
        assert taken == values[f'jstrobe_samples_stored_total{{event="{event}"}}'] + lost and taken > 0
