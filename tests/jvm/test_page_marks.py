"""Pages of recordings have pauses, spans and events beside their samples: against what the JDK's own tool reads in the file."""
import collections
import datetime
import json
import os
import re
import subprocess

import jvm
import pytest
from jfr import Recording
from jvm import jstrobe
from test_page_time import numbers, page_of

pytestmark = pytest.mark.together
HERE = os.path.dirname(os.path.abspath(__file__))
PAUSE, GC, SAFEPOINT, OPERATION, SPAN, EVENT = range(6)


def marks_of(profiles):
    """The first profile alone has them: {(kind, name): [(ns, duration, thread, gc)]}, and the member itself."""
    assert ["marks" in p for p in profiles] == [True] + [False] * (len(profiles) - 1)
    m, of, at = profiles[0]["marks"], collections.defaultdict(list), 0
    stream = numbers(m["items"])
    for _ in range(m["count"]):
        name, after, duration, thread, gc = (next(stream) for _ in range(5))
        at += after * 1000
        kind, text = m["names"][name][:2]
        of[kind, text].append((at, duration, m["threads"][thread - 1][1] if thread else None, m["gcs"][gc - 1] if gc else None))
    assert next(stream, None) is None
    for kind, text, count, total, longest, parts, steps, _ in m["names"]:
        kept = of[kind, text]
        assert count == len(kept) + sum(parts[1::2])
        assert parts or (total == sum(x[1] for x in kept) and longest == max(x[1] for x in kept))
        assert sum(steps[1::2]) == (count if kind != EVENT else 0) or kind == GC
    return of, m


def in_file(jdk, recording, kind):
    """The events of a type, as the JDK's own tool reads them."""
    done = subprocess.run([os.path.join(jdk.home, "bin", "jfr"), "print", "--json", "--events", kind, recording],
                          capture_output=True, text=True, check=True, timeout=120)
    return [event["values"] for event in json.loads(done.stdout)["recording"]["events"]]


def ns(text):
    """PT0.0123S"""
    minutes, seconds = re.fullmatch(r"PT(?:(\d+)M)?(?:([0-9.]+)S)?", text).groups()
    return round(int(minutes or 0) * 60e9 + float(seconds or 0) * 1e9)


@pytest.fixture(scope="module", params=[17, 25])
def recording(request):
    jdk = jvm.find_jdk(request.param)
    if not jdk or not os.path.exists(os.path.join(jdk.home, "bin", "jfr")):
        pytest.skip(f"JDK {request.param}: not tested (none installed, none could be fetched)")
    path = jvm.result_file(".jfr")
    subprocess.run([jdk.java, "-XX:+UseG1GC", os.path.join(HERE, "readers", "MakeEvents.java"), path], check=True, timeout=120,
                   capture_output=True)
    return jdk, path


def test_pauses(recording):
    jdk, path = recording
    of, m = marks_of(page_of(path))
    pauses = [x for (kind, _), list_ in of.items() if kind == PAUSE for x in list_]
    theirs = in_file(jdk, path, "jdk.GCPhasePause")
    assert len(pauses) == len(theirs) >= 3
    assert sorted(x[1] // 1000 for x in pauses) == pytest.approx(sorted(ns(e["duration"]) // 1000 for e in theirs), abs=1)
    assert ["G1Full", "System.gc()"] in [x[3] for x in pauses]
    causes = collections.Counter(x[3][1] for x in pauses)
    assert causes["System.gc()"] == len([e for e in in_file(jdk, path, "jdk.GarbageCollection") if e["cause"] == "System.gc()"])
    operations = [e for e in in_file(jdk, path, "jdk.ExecuteVMOperation") if e["safepoint"]]
    assert sum(len(list_) for (kind, _), list_ in of.items() if kind == OPERATION) == len(operations)
    assert all(x[0] + x[1] <= m["duration"] + 1e9 for list_ in of.values() for x in list_)


def points(row, width):
    stream = numbers(row["points"])
    made = [tuple(next(stream) for _ in range(width)) for _ in range(row["count"])]
    assert next(stream, None) is None
    at, all_of_it = 0, []
    for after, *rest in made:
        at += after
        all_of_it.append((at, *rest))
    return all_of_it


def nanoseconds(text):
    """2026-11-30T21:31:29.358123456Z, or with an offset"""
    moment, part, zone = re.fullmatch(r"(.{19})(\.\d+)?(.*)", text).groups()
    of = datetime.datetime.fromisoformat(moment + (zone.replace("Z", "+00:00") or "+00:00"))
    return round(of.timestamp()) * 10**9 + round(float(part or 0) * 1e9)


def test_rows(recording):
    """Load, heap, what was allocated, deoptimisations and classes: each value is that of its part of the time."""
    jdk, path = recording
    p = page_of(path)[0]
    m, rows = p["marks"], p["marks"]["rows"]
    load, heap = in_file(jdk, path, "jdk.CPULoad"), in_file(jdk, path, "jdk.GCHeapSummary")
    part_of = lambda event: (nanoseconds(event["startTime"]) - p["startedMs"] * 10**6) / m["duration"] * 1024
    after = [e for e in heap if e["when"] == "After GC"]
    assert len(load) > 10 and len(after) >= 3
    for key, events, value, exact in (("cpu", load, lambda e: 1e6 * (e["jvmUser"] + e["jvmSystem"]), 2),
                                      ("machine", load, lambda e: 1e6 * e["machineTotal"], 2), ("heap", after, lambda e: e["heapUsed"], 0)):
        found = [(at, least, least + more, least + mean) for at, least, more, mean in points(rows[key], 4)]
        assert len(found) <= len(events) and all(least <= mean <= most for _, least, most, mean in found)
        for event in events:
            assert any(abs(at - part_of(event)) <= 2 and least - exact <= value(event) <= most + exact for at, least, most, _ in found), (key, event)
        assert min(f[1] for f in found) == pytest.approx(min(map(value, events)), abs=exact)
        assert max(f[2] for f in found) == pytest.approx(max(map(value, events)), abs=exact)
    assert rows["cores"] == in_file(jdk, path, "jdk.CPUInformation")[0]["hwThreads"]
    # of the heap before a collection and after the one in front of it
    order = sorted(heap, key=lambda e: (e["gcId"], e["when"] == "After GC"))
    assert [e["when"] for e in order] == ["Before GC", "After GC"] * len(after)
    between = sum(b["heapUsed"] - a["heapUsed"] for a, b in zip(order[1::2], order[2::2]))
    assert sum(length * rate / 1e6 for _, length, rate in points(rows["allocated"], 3)) == pytest.approx(between, rel=1e-3)
    for key, kind in (("deopts", "jdk.Deoptimization"), ("classes", "jdk.ClassLoad")):
        events = in_file(jdk, path, kind)
        found = points(rows[key], 2) if key in rows else []
        assert sum(n for _, n in found) == len(events) and (events or key == "deopts")
        assert all(any(abs(at - part_of(e)) <= 2 for at, _ in found) for e in events)


def test_spans_and_moments_of_the_program(recording):
    jdk, path = recording
    of, m = marks_of(page_of(path))
    orders, theirs = of[SPAN, "shop.Order"], in_file(jdk, path, "shop.Order")
    assert len(orders) == len(theirs) == 80
    assert sorted(x[1] // 1000 for x in orders) == pytest.approx(sorted(ns(e["duration"]) // 1000 for e in theirs), abs=1)
    assert {x[2] for x in orders} == {"orders-1", "orders-2"}
    slow = sorted(orders, key=lambda x: x[1])[-8:]
    assert min(x[1] for x in slow) > 5e6
    assert [x[1:3] for x in of[EVENT, "shop.Release"]] == [(0, "main")] * 2
    assert "Release" not in str([key for key in of if key[0] == SPAN])


def test_other_events(recording):
    """Each is counted, also those that are so many that not all are read."""
    jdk, path = recording
    _, m = marks_of(page_of(path))
    done = subprocess.run([os.path.join(jdk.home, "bin", "jfr"), "summary", path], capture_output=True, text=True, check=True)
    theirs = {kind: int(n) for kind, n in re.findall(r"^ ([\w.$]+) +(\d+) +\d+ *$", done.stdout, re.M)}
    ours = {event[0]: event for event in m["events"]}
    assert len(ours) > 30
    for kind, event in ours.items():
        assert event[1] == theirs[kind], kind
        assert 0 <= event[4] <= event[5] <= m["duration"] + 1e9, event
    sleeps, slept = ours["jdk.ThreadSleep"], sum(ns(e["duration"]) for e in in_file(jdk, path, "jdk.ThreadSleep"))
    # types with large numbers, as Java's have since 22, are read whole
    assert sleeps[1] >= 403 and sleeps[2] == pytest.approx(slept, rel=0.3 if sleeps[9] else 1e-4)
    assert sleeps[9] or jdk.version >= 22
    assert not all(event[9] for event in ours.values())
    # what is shown as samples or says how these were taken is none of them
    assert not {"jdk.ExecutionSample", "jdk.ActiveSetting", "jdk.ObjectAllocationSample"} & set(ours)
    assert ours["shop.Order"][2] / 1000 == pytest.approx(sum(ns(e["duration"]) for e in in_file(jdk, path, "shop.Order")) / 1000, abs=100)


def test_a_part_of_the_time(recording):
    jdk, path = recording
    whole, part = marks_of(page_of(path))[1], marks_of(page_of(path, "--from", "100ms", "--to", "-100ms"))[1]
    assert {e[0] for e in part["events"]} <= {e[0] for e in whole["events"]}
    assert 0 < sum(e[1] for e in part["events"]) < sum(e[1] for e in whole["events"])
    assert not any(e[9] for e in part["events"])
    assert all(e[5] <= part["duration"] for e in part["events"])


def test_spans_of_our_recordings(programs):
    jdk, path = jvm.find_jdk(17), jvm.result_file(".jfr")
    subprocess.run([jdk.java, "-cp", os.path.join(jvm.OUT, "lib", "jstrobe.jar"), os.path.join(HERE, "readers", "MakeSpans.java"),
                    jvm.LIBRARY, path], check=True, timeout=60)
    of, m = marks_of(page_of(path))
    assert {name: len(list_) for (kind, name), list_ in of.items() if kind == SPAN} == {"odd": 15, "even": 15}
    assert all(x[1] >= 29e6 and x[2] == "main" for x in of[SPAN, "odd"])
    assert all(14e6 <= x[1] for x in of[SPAN, "even"])
    assert not [e for e in m["events"] if e[0].startswith("jstrobe.")]


def test_spans_of_virtual_threads():
    """Each has the virtual thread that it was of, as samples have it: what it did is told apart from what others did meanwhile."""
    jdk, path = jvm.find_jdk(25), jvm.result_file(".jfr")
    done = subprocess.run([jdk.java, "-cp", os.path.join(jvm.OUT, "lib", "jstrobe.jar"), os.path.join(HERE, "readers", "VirtualSpans.java"),
                           jvm.LIBRARY, path], check=True, timeout=60, capture_output=True, text=True)
    ids = [int(n) for n in done.stdout.split("IDS ")[1].split()[:2]]
    spans = Recording(path).events["profiler.Span"]
    names = [f"virtual thread #{n}" for n in ids]  # their own are told by waits alone
    for tag, java, name in zip(("named", "unnamed"), ids, names):
        found = {(s["eventThread"]["javaThreadId"], s["eventThread"]["javaName"]) for s in spans if s["tag"] == tag}
        assert found == {(java, name)}, tag
    assert {s["eventThread"]["javaName"] for s in spans if s["tag"] == "platform"} == {"main"}
    assert collections.Counter(s["tag"] for s in spans) == {"named": 20, "unnamed": 20, "platform": 1, "short of many": 3000}
    assert len({s["eventThread"]["javaThreadId"] for s in spans if s["tag"] == "short of many"}) > 2900
    # each span is of a thread that is seen for the first time, while its tag is read
    for tag in ("nothing", "no*"):
        done = jstrobe("convert", "--cpu", "--tag", tag, "-o", "collapsed", path, "-")
        assert done.returncode == 1 and "3,041 spans" in done.stderr and "short of many" in done.stderr, (done.returncode, done.stderr)
    for tag, own, other in (("named", "ofNamed", "ofUnnamed"), ("unnamed", "ofUnnamed", "ofNamed")):
        said = jstrobe("convert", "--cpu", "--tag", tag, "-o", "collapsed", path, "-").stdout
        assert f"VirtualSpans.{own}" in said and f"VirtualSpans.{other}" not in said, tag
    of, m = marks_of(page_of(path))
    assert [{x[2] for x in of[SPAN, tag]} for tag in ("named", "unnamed")] == [{names[0]}, {names[1]}]
    assert {(0, names[0]), (0, names[1])} <= {tuple(t[:2]) for t in page_of(path)[0]["threads"]}


def test_other_results_have_none(recording):
    _, path = recording
    for words in ([".collapsed"], [".json", "--no-times"]):
        out = jvm.result_file(words[0])
        assert jstrobe("convert", "-e", "cpu", *words[1:], path, out).returncode == 0
        with open(out, encoding="utf-8") as file:
            assert "shop.Order" not in file.read()


def json_of(path, *options):
    out = jvm.result_file(".json")
    done = jstrobe("convert", *options, path, out)
    assert done.returncode == 0, done.stderr
    return out


def test_json_has_all_of_them(recording):
    """A page of JSON has what the page of the recording has; and JSON of JSON."""
    _, path = recording
    of_it = json_of(path)
    again = json_of(of_it)
    with open(of_it, "rb") as one, open(again, "rb") as other:
        assert one.read() == other.read()
    first, second = page_of(path)[0]["marks"], page_of(of_it)[0]["marks"]
    assert first == second
    with open(of_it, encoding="utf-8") as file:
        whole = json.load(file)
    kept = whole["profiles"][0]["marks"]["kept"]
    assert kept["count"] == first["count"] == len(kept["at_ns"])


def test_sessions_in_both_recorders(programs):
    """Of --jfrsync with spans: what the JDK wrote of the JVM, and what the program published."""
    jdk, path = jvm.find_jdk(17), jvm.result_file(".jfr")
    subprocess.run([jdk.java, "-cp", os.path.join(jvm.OUT, "lib", "jstrobe.jar"), os.path.join(HERE, "readers", "MakeSpans.java"),
                    jvm.LIBRARY, path, "jfrsync=profile"], check=True, timeout=60)
    pages = [page_of(path), page_of(json_of(path))]
    assert pages[0][0]["marks"] == pages[1][0]["marks"]
    of, m = marks_of(pages[1])
    assert {name: len(list_) for (kind, name), list_ in of.items() if kind == SPAN} == {"odd": 15, "even": 15}
    assert any(kind in (PAUSE, SAFEPOINT, OPERATION) for kind, *_ in m["names"]) and len(m["events"]) > 20
    for a, b in zip(*pages):
        for key in set(a) - {"names", "nameTypes", "libraries", "tree", "nodes", "idle", "objects", "time"}:
            assert a[key] == b[key], (a["event"], key)


def test_what_reaches_into_a_part(recording):
    """Pauses and spans that began before it, or end behind it, are in it with the time inside."""
    _, path = recording
    whole, _ = marks_of(page_of(path))
    pause = max((x for (kind, _), list_ in whole.items() if kind == PAUSE for x in list_), key=lambda x: x[1])
    order = max((x for x in whole[SPAN, "shop.Order"] if x[0] > pause[0] + pause[1]), key=lambda x: x[1])
    begin, end = pause[0] + pause[1] // 2, order[0] + order[1] // 4
    part = marks_of(page_of(path, "--from", f"{begin}ns", "--to", f"{end}ns"))[0]
    inside = lambda x: (max(x[0], begin), min(x[0] + x[1], end))
    for key, list_ in whole.items():
        # times are in us on the page
        wanted = sorted(b - a for a, b in map(inside, list_) if b > a + 2000)
        found = sorted(x[1] for x in part.get(key, []) if x[1] > 2000)
        if key[0] != GC:
            assert len(found) == len(wanted) and found == pytest.approx(wanted, abs=2000), key
    first = [x for (kind, _), list_ in part.items() if kind == PAUSE for x in list_ if x[0] == 0]
    assert [x[1] for x in first] == pytest.approx([pause[1] / 2], abs=2000)


def test_a_part_of_json(recording):
    """Of JSON pauses and spans of a part are those of the recording; of other events it has sums of the whole time alone."""
    _, path = recording
    out, told = jvm.result_file(".html"), json_of(path)
    words = ("--from", "100ms", "--to", "900ms")
    done = jstrobe("convert", *words, told, out)
    assert done.returncode == 0 and "types of events it has sums of more than the part" in done.stderr, done.stderr
    (first, m), (second, of_json) = marks_of(page_of(path, *words)), marks_of(page_of(told, *words))
    assert m["duration"] == of_json["duration"] == 800_000_000
    # a collection is as long as its pauses, which may have been anywhere in it
    assert {key: sorted(map(str, list_)) for key, list_ in first.items() if key[0] != GC} == \
        {key: sorted(map(str, list_)) for key, list_ in second.items() if key[0] != GC}
    numbers_of = lambda m: {tuple(name[:2]): name[2:] for name in m["names"] if name[0] != GC}
    assert numbers_of(m) == numbers_of(of_json)
    # what lies in it as a whole is there
    whole = {e[0]: e for e in m["events"]}
    assert {e[0] for e in of_json["events"] if e[2] or e[7]} <= set(whole)
    # … of types that have neither times nor bytes when they were is read of two alone, which may be others than the first and last
    assert all(whole[e[0]][1] == e[1] or e[9] or not (e[2] or e[7]) for e in of_json["events"])
