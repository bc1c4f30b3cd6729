"""Pages of recordings say when samples were taken: sums over time are the profile's, of ours and the JDK's."""
import base64
import glob
import gzip
import json
import os
import re
import signal
import time

import jvm
import pytest
from jvm import Program, jstrobe

pytestmark = pytest.mark.together


def profiles(page):
    data = re.search(r'<script type="application/json" id="data">\n(.*?)</script>', page, re.S).group(1)
    whole = json.loads(data)
    return whole if isinstance(whole, list) else [whole]


def numbers(member):
    """The LEB128 numbers of a member of bytes, packed or not."""
    value, shift = 0, 0
    packed = isinstance(member, dict)
    content = base64.b64decode(member["gzip"] if packed else member)
    for byte in gzip.decompress(content) if packed else content:
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            yield value
            value, shift = 0, 0


def moments(p):
    """[(ms, span in ms, thread, samples, weight)] as page_time.c's comment has it."""
    t, at = p["time"], 0
    places = list(numbers(t["places"]))
    assert len(places) == 3 * t["placeCount"]
    stream, made = numbers(t["moments"]), []
    for _ in range(t["count"]):
        head = next(stream)
        steps = head >> 2 & 3
        at += steps if steps < 3 else 3 + next(stream)
        span, samples = (next(stream), next(stream)) if head & 1 else (0, 1)
        beside = next(stream) if head & 2 else 0
        weight = (samples * t["usual"] + (-(beside >> 1) if beside & 1 else beside >> 1)) * t["quantum"]
        thread = places[3 * (head >> 4) + 1]
        made.append((at * t["step"] / 1e6, span * t["step"] / 1e6, p["threads"][thread - 1][1] if thread else None, samples, weight))
    assert next(stream, None) is None
    return made


def page_of(recording, *options):
    path = jvm.result_file(".html")
    done = jstrobe("convert", *options, recording, path)
    assert done.returncode == 0, done.stderr
    with open(path, encoding="utf-8") as file:
        return profiles(file.read())


def check(p):
    """What is true of each: sums are those of the profile, and nothing lies outside it."""
    all_of_it = moments(p)
    assert sum(m[3] for m in all_of_it) == sum(n for n, _ in p["top"])
    weight = sum(w for _, w in p["top"])
    assert abs(sum(m[4] for m in all_of_it) - weight) <= 0.01 * weight + len(all_of_it)
    assert all(0 <= m[0] <= p["time"]["steps"] * p["time"]["step"] / 1e6 for m in all_of_it)
    return all_of_it


def of_first_half(p, made):
    """Which part of the weight lies in the first half: of a program that runs all the time, about one half."""
    middle = p["duration"] / 2e6
    return sum(m[4] * min(max((middle - m[0]) / (m[1] or 1), 0), 1) for m in made) / sum(m[4] for m in made)


@pytest.fixture(scope="module")
def ours(programs):
    """Two seconds of each of five events."""
    path = jvm.result_file(".jfr")
    with Program(jvm.find_jdk(17), "Garbage") as program:
        done = jstrobe("record", "-d", "2", "-e", "cpu,wall,alloc,lock,io", "-f", path, program.pid)
        assert done.returncode == 0, done.stderr
    return path


def test_sums(ours):
    events = page_of(ours)
    assert {"cpu", "wall", "alloc"} <= {p["event"] for p in events}
    for p in events:
        made = check(p)
        if p["event"] in ("cpu", "wall"):
            assert 0.2 < of_first_half(p, made) < 0.8, p["event"]


def test_a_part_of_the_recording(ours):
    part = page_of(ours, "-e", "cpu", "--from", "500ms", "--to", "1500ms")[0]
    made = check(part)
    assert made and max(m[0] for m in made) <= 1001


def test_of_chosen_stacks(ours):
    """--include and --exclude leave the times of what is shown: both together have each sample once, in pages and JSON."""
    whole = {p["event"]: check(p) for p in page_of(ours)}
    for event, pattern in (("cpu", "*Garbage*"), ("wall", "*Garbage*")):
        parts = [page_of(ours, "-e", event, option, pattern) for option in ("-I", "-X")]
        made = [check(p[0]) if p and p[0].get("time") else [] for p in parts]
        assert all(made), event
        key = lambda m: (m[0], m[1], m[2] or "")
        assert sorted(map(key, made[0] + made[1])) == sorted(map(key, whole[event])), event
        out = jvm.result_file(".json")
        assert jstrobe("convert", "-e", event, "-I", pattern, ours, out).returncode == 0
        with open(out, encoding="utf-8") as file:
            found = json.load(file)
        assert found["event"] == event and found["times"]["step_ns"], event


@pytest.mark.parametrize("version", [17, 25])
def test_recordings_of_the_jdk(programs, version):
    jdk = jvm.find_jdk(version)
    if not jdk:
        pytest.skip(f"JDK {version}: not tested (none installed, none could be fetched)")
    path = jvm.result_file(".jfr")
    with Program(jdk, "KnownShares", jvm=[f"-XX:StartFlightRecording:settings=profile,filename={path}"]) as program:
        time.sleep(2)
        assert program.stop() == 0
    for p in page_of(path):
        check(p)


def test_batches_of_waits_last(ours):
    """Idle threads are one moment for many samples: it has their whole time."""
    wall = next(p for p in page_of(ours, "-e", "wall") if p["event"] == "wall")
    made = check(wall)
    assert len({m[2] for m in made}) > 3
    longest = max(made, key=lambda m: m[3])
    assert longest[3] > 5 and longest[1] > 5 * wall["interval"] / 1e6 / 2
    assert longest[0] + longest[1] <= wall["duration"] / 1e6 + 200


def test_collapsed_stacks_have_no_times(ours):
    text = jvm.result_file(".collapsed")
    assert jstrobe("convert", "-e", "cpu", ours, text).returncode == 0
    assert "time" not in page_of(text)[0]


# ---- pages of sessions: the agent keeps the times itself ----

def live_page(*words):
    path = jvm.result_file(".html")
    done = jstrobe(*[path if word is None else word for word in words])
    assert done.returncode == 0, done.stderr
    with open(path, encoding="utf-8") as file:
        return profiles(file.read())


def by_thread(p):
    """{thread: samples} by the table of threads."""
    return {name: 0 for _, name, *_ in p["threads"]} | {name: sum(t[2] for t in p["threads"] if t[1] == name) for _, name, *_ in p["threads"]}


@pytest.mark.parametrize("version", [17, 25])
def test_session(programs, version):
    jdk = jvm.find_jdk(version)
    if not jdk:
        pytest.skip(f"JDK {version}: not tested (none installed, none could be fetched)")
    with Program(jdk, "Garbage") as program:
        events = live_page("record", "-d", "2", "-e", "cpu,wall,alloc,lock,io", "-f", None, program.pid)
    assert {"cpu", "wall", "alloc"} <= {p["event"] for p in events}
    for p in events:
        if not p["stored"]:
            continue
        made = check(p)
        assert made[0][0] <= made[-1][0] == max(m[0] for m in made)
        times = {}
        for m in made:
            times[m[2]] = times.get(m[2], 0) + m[3]
        assert times == {name: n for name, n in by_thread(p).items() if n}, p["event"]
        if p["event"] in ("cpu", "wall"):
            assert 0.2 < of_first_half(p, made) < 0.8, p["event"]


def test_what_was_stays(programs):
    """A page of the middle of a session has what a page of its end has of that time."""
    with Program(jvm.find_jdk(17), "KnownShares") as program:
        assert jstrobe("start", "-e", "cpu", "-i", "1ms", program.pid).returncode == 0
        program.work(1)
        first = live_page("dump", "-f", None, program.pid)[0]
        program.work(1)
        second = live_page("stop", "-f", None, program.pid)[0]
    early, all_of_it = check(first), check(second)
    until = max(m[0] for m in early)
    assert until > 500 and sum(m[3] for m in all_of_it) > 1.5 * sum(m[3] for m in early)
    # those of the very end may have been on their way
    assert 0 <= sum(m[3] for m in all_of_it if m[0] < until - 50) - sum(m[3] for m in early if m[0] < until - 50) <= 3


@pytest.mark.parametrize("last", [(), ("--last", "1m")], ids=["session", "ring"])
def test_memory_is_bounded(programs, last):
    """Where it is short, steps are longer, and the sums are the same."""
    with Program(jvm.find_jdk(17), "KnownShares") as program:
        assert jstrobe("start", "-e", "cpu", "-i", "100us", "--memlimit", "1m", *last, program.pid).returncode == 0
        program.work(4)
        p = live_page("stop", "-f", None, program.pid)[0]
    assert p["stored"] > 30000
    made = check(p)
    assert last or p["time"]["step"] > 1_000_000
    assert 0.2 < of_first_half(p, made) < 0.8


def test_a_window_of_the_last_time(programs):
    with Program(jvm.find_jdk(17), "KnownShares") as program:
        assert jstrobe("start", "-e", "cpu,wall", "-i", "1ms", "--last", "1s", program.pid).returncode == 0
        program.work(3)
        for p in live_page("dump", "-f", None, program.pid):
            made = check(p)
            assert max(m[0] for m in made) <= p["duration"] / 1e6 + 5 < 2500


def test_numbers_that_change(programs):
    """The aggregate is made anew many times, of stacks that come and go and threads that end."""
    with jvm.knobs(), Program(jvm.find_jdk(17), "Comings", 4000, 200, 500) as program:
        assert jstrobe("start", "--renew-at", "100k", "-e", "cpu,wall", "-i", "1ms", program.pid).returncode == 0
        time.sleep(5)
        events = live_page("stop", "--threads", "-f", None, program.pid)
    for p in events:
        made = check(p)
        times = {}
        for m in made:
            times[m[2]] = times.get(m[2], 0) + m[3]
        assert times == {name: n for name, n in by_thread(p).items() if n}, p["event"]


def test_what_is_there_has_no_time(programs):
    with Program(jvm.find_jdk(17), "Garbage") as program:
        p = live_page("record", "-d", "2", "-e", "live", "-f", None, program.pid)[0]
    assert "time" not in p


# ---- pages that the agent writes itself, without the command ----

def ends_of_main(program):
    assert program.stop() == 0


def exits(program):
    program.say("end")
    assert program.process.wait(timeout=60) == 3


def is_told_to_end(program):
    os.kill(program.pid, signal.SIGTERM)
    assert program.process.wait(timeout=60) == 143


def read_page(path):
    with open(path, encoding="utf-8") as file:
        return profiles(file.read())


def ran_with(version, options, end, work=1.0):
    """A program of JDK VERSION, with the agent from its start, that came to its END."""
    jdk = jvm.find_jdk(version)
    if not jdk:
        pytest.skip(f"JDK {version}: not tested (none installed, none could be fetched)")
    name, words = ("Ends", (jvm.NATIVE, "exit")) if end is exits else ("KnownShares", ())
    with Program(jdk, name, *words, jvm=[f"-agentpath:{jvm.LIBRARY}=start,{options}"]) as program:
        program.work(work)
        end(program)


@pytest.mark.parametrize("version", [17, 25])
@pytest.mark.parametrize("end", [ends_of_main, exits, is_told_to_end])
def test_the_agents_own(programs, version, end):
    path = jvm.result_file(".html")
    ran_with(version, f"event=cpu,interval=1ms,file={path}", end)
    p, = read_page(path)
    made = check(p)
    assert sum(m[3] for m in made) == p["stored"] > 300
    assert len({m[0] for m in made}) > 100
    times = {}
    for m in made:
        times[m[2]] = times.get(m[2], 0) + m[3]
    assert times == {name: n for name, n in by_thread(p).items() if n}


@pytest.mark.parametrize("version", [17, 25])
def test_the_agents_own_of_several_events(programs, version):
    path = jvm.result_file(".html")
    ran_with(version, f"event=cpu,wall,alloc,lock,interval=1ms,file={path}", ends_of_main)
    events = {p["event"]: p for p in read_page(path)}
    assert set(events) == {"cpu", "wall", "alloc", "lock"}
    for p in events.values():
        assert not p["stored"] or check(p)
    assert {m[2] for m in moments(events["wall"])} > {m[2] for m in moments(events["cpu"]) if "shares" in m[2]}


@pytest.mark.parametrize("version", [17, 25])
def test_the_agents_own_in_a_loop(programs, version):
    """Each round's page has the times of its round, under its name."""
    base = jvm.result_file("")
    ran_with(version, f"event=cpu,interval=1ms,loop=1s,file={base}-%n-%t.html", is_told_to_end, work=3.5)
    paths = sorted(glob.glob(f"{base}-*.html"), key=lambda path: int(path[len(base):].split("-")[1]))
    assert len(paths) >= 3
    for path in paths:
        p, = read_page(path)
        made = check(p) if p["stored"] else []
        assert not made or max(m[0] for m in made) <= p["duration"] / 1e6 + 500
    assert all(p["stored"] for path in paths[:2] for p in read_page(path))


def test_the_agents_own_of_a_session_of_the_command(programs):
    """`start -f`, and the program ends, or someone says `stop`."""
    for end in (ends_of_main, lambda program: jstrobe("stop", program.pid)):
        path = jvm.result_file(".html")
        with Program(jvm.find_jdk(17), "KnownShares") as program:
            assert jstrobe("start", "-e", "cpu,wall", "-i", "1ms", "-f", path, program.pid).returncode == 0
            program.work(1)
            end(program)
        for p in read_page(path):
            check(p)


def test_the_agents_own_is_the_command_s(programs):
    """Of one session that has ended both write the same times."""
    own, theirs, again = (jvm.result_file(suffix) for suffix in (".html", ".html", ".json"))
    with Program(jvm.find_jdk(17), "KnownShares") as program:
        assert jstrobe("start", "-e", "cpu,wall", "-i", "1ms", "-f", own, program.pid).returncode == 0
        program.work(1)
        assert jstrobe("stop", program.pid).returncode == 0
        for path in (theirs, again):
            assert jstrobe("dump", "-f", path, program.pid).returncode == 0
    for a, b in zip(read_page(own), read_page(theirs)):
        assert a["event"] == b["event"] and a["time"]["step"] == b["time"]["step"]
        assert sorted(m[:4] for m in check(a)) == sorted(m[:4] for m in check(b))


def test_the_agents_own_without(programs):
    path = jvm.result_file(".html")
    ran_with(17, f"event=cpu,interval=1ms,notimes,file={path}", ends_of_main)
    p, = read_page(path)
    assert p["stored"] and "time" not in p
