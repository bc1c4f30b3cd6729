"""JSON says when samples were taken, so that a page can be made of it again, and other viewers' files have times too."""
import json
import math
import os
import re
import subprocess
import textwrap
import time
from collections import Counter

import jvm
import pytest
from jvm import Program, jstrobe
from test_page_time import check, moments, profiles

pytestmark = pytest.mark.together

EVENTS = "cpu,wall,alloc,lock"


def jdk_of(version):
    jdk = jvm.find_jdk(version)
    if not jdk:
        pytest.skip(f"JDK {version}: not tested (none installed, none could be fetched)")
    return jdk


def made(*words):
    done = jstrobe(*words)
    assert done.returncode == 0, done.stderr
    return done


def results(path):
    with open(path, encoding="utf-8") as file:
        whole = json.load(file)
    return {p["event"]: p for p in whole.get("profiles", [whole])}


def page(path):
    with open(path, encoding="utf-8") as file:
        return {p["event"]: p for p in profiles(file.read())}


def rows(p):
    """[(at, span, thread's name, samples, weight)] as docs/reference/json.md has it."""
    t = p["times"]
    count = t["count"]
    assert all(len(column) == count for column in t.values() if isinstance(column, list))
    stacks = p["stacks"]
    threads = t.get("thread", [None if s is None else stacks[s].get("thread") for s in t["stack"]])
    names = [None if n is None else p["threads"][n]["name"] for n in threads]
    samples = t.get("samples", [1] * count)
    return list(zip(t["at"], t.get("span", [0] * count), names, samples, [w * t["quantum"] for w in t.get("weight", samples)]))


def check_json(p):
    """What is true of each: the samples are those of its stacks, one for one."""
    t, made = p["times"], rows(p)
    assert sum(m[3] for m in made) == sum(s["samples"] for s in p["stacks"])
    weight = sum(s["weight"] for s in p["stacks"])
    assert abs(sum(m[4] for m in made) - weight) <= 0.01 * weight + len(made)
    assert t["at"] == sorted(t["at"])
    assert all(0 <= m[0] and m[0] + m[1] < t["steps"] for m in made)
    of_stacks = Counter()
    for stack, samples in zip(t["stack"], t.get("samples", [1] * t["count"])):
        of_stacks[stack] += samples
    assert of_stacks == Counter({i: s["samples"] for i, s in enumerate(p["stacks"])})
    return made


def by_step(made):
    """{(step, span, thread): (samples, weight)}"""
    sums = {}
    for at, span, thread, samples, weight in made:
        n, w = sums.get((at, span, thread), (0, 0))
        sums[at, span, thread] = n + samples, w + weight
    return sums


def of_page(p):
    """The same of a page: whole steps."""
    step = p["time"]["step"] / 1e6
    return by_step((round(m[0] / step), round(m[1] / step), m[2], m[3], m[4]) for m in moments(p))


def firefox_times(path):
    """Of each process of a file of the Firefox Profiler, when its samples were taken and what they weigh."""
    with open(path, encoding="utf-8") as file:
        whole = json.load(file)
    times = Counter()
    for thread in whole["threads"]:
        samples = thread["samples"]
        at, when = 0, samples.get("time")
        for i in range(samples["length"]):
            at = when[i] if when else at + samples["timeDeltas"][i]
            times[thread["processName"], thread["name"], round(at, 1)] += samples["weight"][i]
    return times


@pytest.fixture(scope="module", params=[17, 25])
def session(programs, request):
    """{suffix: file} of one and the same session, which has ended, so that each has the same samples."""
    files = {}
    with Program(jdk_of(request.param), "Garbage") as program:
        made("start", "-e", EVENTS, "-i", "1ms", program.pid)
        program.work(2)
        for suffix in (".html", ".json", ".firefox.json", ".otlp.json"):
            files[suffix] = jvm.result_file(suffix)
            made("stop" if suffix == ".html" else "dump", "-f", files[suffix], program.pid)
    return files


def test_each_sample_has_its_time(session):
    events = results(session[".json"])
    assert set(events) == set(EVENTS.split(","))
    for name, p in events.items():
        if p["samples"]["stored"] or name != "lock":
            assert p["times"]["step_ns"] >= 1_000_000
            assert check_json(p), name


def test_a_page_of_it_is_the_session_s(session):
    again = jvm.result_file(".html")
    made("convert", session[".json"], again)
    direct, read = page(session[".html"]), page(again)
    assert set(direct) == set(read)
    for name, p in read.items():
        if not direct[name]["stored"]:
            continue
        assert p["time"]["step"] == direct[name]["time"]["step"] and p["time"]["steps"] == direct[name]["time"]["steps"]
        check(p)
        ours, theirs = of_page(p), of_page(direct[name])
        assert ours.keys() == theirs.keys(), name
        assert {k: n for k, (n, _) in ours.items()} == {k: n for k, (n, _) in theirs.items()}, name
        # pages round weights to a hundredth of a sample
        quantum = max(p["time"]["quantum"], direct[name]["time"]["quantum"])
        for k, (n, w) in ours.items():
            assert abs(w - theirs[k][1]) <= n * quantum, name
        # and they are those of the JSON
        said = by_step(rows(results(session[".json"])[name]))
        assert {k: n for k, (n, _) in said.items()} == {k: n for k, (n, _) in ours.items()}, name


def test_other_viewers(session):
    again = jvm.result_file(".firefox.json")
    made("convert", session[".json"], again)
    direct, read = firefox_times(session[".firefox.json"]), firefox_times(again)
    assert math.fsum(direct.values()) == math.fsum(read.values())
    assert len({at for _, _, at in read}) > 500
    same = sum(min(n, read[k]) for k, n in direct.items())
    assert same >= 0.99 * sum(direct.values())
    again = jvm.result_file(".otlp.json")
    made("convert", session[".json"], again)
    stamps = []
    for path in (session[".otlp.json"], again):
        with open(path, encoding="utf-8") as file:
            text = file.read()
        stamps.append([len(s.get("timestampsUnixNano", s.get("timestamps_unix_nano", []))) for r in json.loads(text)["resourceProfiles"]
                       for scope in r["scopeProfiles"] for p in scope["profiles"] for s in p.get("samples", [])])
    assert sum(stamps[0]) > 500
    assert sum(stamps[1]) > 500


def test_json_of_json(session):
    again = jvm.result_file(".json")
    made("convert", session[".json"], again)
    first, second = results(session[".json"]), results(again)
    for name, p in second.items():
        if not first[name]["samples"]["stored"]:
            continue
        check_json(p)
        assert p["times"]["step_ns"] == first[name]["times"]["step_ns"]
        assert by_step(rows(p)) == by_step(rows(first[name])), name


def test_it_can_be_left_out(session):
    paths = {option: jvm.result_file(".json") for option in ((), ("--no-times",))}
    for option, path in paths.items():
        made("convert", *option, session[".json"], path)
    events = results(paths["--no-times",])
    assert all("times" not in p for p in events.values())
    for name, p in results(paths[()]).items():
        assert {k: v for k, v in p.items() if k != "times"} == events[name]
    text = jvm.result_file(".html")
    made("convert", "--no-times", session[".json"], text)
    assert all("time" not in p for p in page(text).values())


def test_what_does_not_fit_is_refused(session):
    """As a program might change it: the sentence says what is wrong, and what reads the rest."""
    with open(session[".json"], encoding="utf-8") as file:
        whole = json.load(file)
    whole["profiles"][0]["times"]["stack"][3] = 10 ** 6
    path, to = jvm.result_file(".json"), jvm.result_file(".html")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(whole, file)
    done = jstrobe("convert", path, to)
    assert done.returncode and "`times` of cpu has a stack that is not there" in done.stderr and "--no-times" in done.stderr
    made("convert", "--no-times", path, to)


@pytest.mark.parametrize("version", [17, 25])
def test_of_a_recording(programs, version):
    """Of a recording, JSON has what the page has."""
    recording, path, html = jvm.result_file(".jfr"), jvm.result_file(".json"), jvm.result_file(".html")
    with Program(jdk_of(version), "Garbage") as program:
        made("record", "-d", "2", "-e", EVENTS, "-f", recording, program.pid)
    made("convert", recording, path)
    made("convert", recording, html)
    events, pages = results(path), page(html)
    assert set(events) == set(pages)
    for name, p in events.items():
        check_json(p)
        said, shown = by_step(rows(p)), of_page(pages[name])
        assert {k: n for k, (n, _) in said.items()} == {k: n for k, (n, _) in shown.items()}, name


def test_record(programs):
    """`record -f x.json`, by thread and not, alone and with patterns."""
    with Program(jvm.find_jdk(17), "KnownShares") as program:
        for options in ((), ("-t",), ("--lines",), ("--last", "1m")):
            path = jvm.result_file(".json")
            made("record", "-d", "1", "-i", "1ms", *options, "-f", path, program.pid)
            p = results(path)["cpu"]
            assert len(check_json(p)) > 30
            assert ("thread" in p["times"]) == ("-t" not in options)
        path = jvm.result_file(".json")
        made("record", "-d", "1", "--include", "*alpha*", "-f", path, program.pid)
        assert check_json(results(path)["cpu"])
        page = jvm.result_file(".html")
        made("convert", path, page)
        with open(page, encoding="utf-8") as file:
            assert check(profiles(file.read())[0])


def test_of_what_is_there_it_says_nothing(programs):
    path = jvm.result_file(".json")
    with Program(jvm.find_jdk(17), "Garbage") as program:
        made("record", "-d", "1", "-e", "live", "-f", path, program.pid)
    assert "times" not in results(path)["live"]


def test_resumed(programs):
    """After a pause, times go on where the clock is, so the last step lies behind the sum of both durations."""
    path, html = jvm.result_file(".json"), jvm.result_file(".html")
    with Program(jvm.find_jdk(17), "KnownShares") as program:
        made("start", "-i", "1ms", program.pid)
        program.work(0.5)
        made("stop", "-o", "collapsed", "-f", jvm.result_file(".collapsed"), program.pid)
        time.sleep(1)
        made("resume", "-i", "1ms", program.pid)
        program.work(0.5)
        made("stop", "-f", path, program.pid)
    p = results(path)["cpu"]
    check_json(p)
    assert p["times"]["steps"] * p["times"]["step_ns"] > p["duration_ns"] + 0.9e9
    made("convert", path, html)
    check(page(html)["cpu"])


def test_examples(session):
    """Those of docs/reference/json.md, of another moment."""
    path = jvm.result_file(".json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(results(session[".json"])["cpu"], file)
    with open(os.path.join(jvm.ROOT, "docs", "reference", "json.md"), encoding="utf-8") as file:
        part = file.read().split("## When samples were taken")[1].split("\n## ")[0]
    python, jq = (textwrap.dedent(code) for code in re.findall(r"(?:^ {4}.*\n)+", part, re.M) if code.strip())
    python, jq = (code.replace("p.json", path).replace("12.3", "0.3").replace("12.5", "1.3") for code in (python, jq))
    names = {}
    exec(python, names)  # pylint: disable=exec-used
    t = results(session[".json"])["cpu"]["times"]
    there = [i for i, at in enumerate(t["at"]) if 0.3e9 <= at * t["step_ns"] < 1.3e9]
    assert there and sum(names["hot"].values()) == sum(t["weight"][i] * t["quantum"] for i in there)
    done = subprocess.run(["bash", "-c", jq], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    listed = json.loads(done.stdout)
    assert 0 < len(listed) <= 5 and listed[0]["method"] in names["hot"] and sum(row["rows"] for row in listed) <= len(there)


@pytest.mark.parametrize("version", [17, 25])
def test_the_agents_own(programs, version):
    """A program that was started with the agent, without the command."""
    path, html = jvm.result_file(".json"), jvm.result_file(".html")
    agent = f"-agentpath:{jvm.LIBRARY}=start,event=cpu,wall,interval=1ms,file={path}"
    with Program(jdk_of(version), "KnownShares", jvm=[agent]) as program:
        program.work(1)
        assert program.stop() == 0
    made("convert", path, html)
    pages = page(html)
    for name, p in results(path).items():
        said = by_step(check_json(p))
        assert {k: n for k, (n, _) in said.items()} == {k: n for k, (n, _) in of_page(pages[name]).items()}


PARTS = [("--from", "1s", "--to", "2500ms"), ("--from", "1500ms"), ("--to", "-1s"), ("--filter", "name:*er-1"), ("--state", "runnable"), ("--state", "blocked,park"),
         ("--from", "500ms", "--to", "3s", "--filter", "name:*er-*")]


@pytest.fixture(scope="module", params=[(), ("-t",)], ids=str)
def recorded(programs, request):
    """A recording, and JSON of it."""
    path, told = jvm.result_file(".jfr"), jvm.result_file(".json")
    with Program(jdk_of(17), "Holders", "monitor", 4) as program:
        made("start", "-e", EVENTS, "-i", "2ms", "--wall", "5ms", "-f", path, program.pid)
        program.work(4)
        made("stop", program.pid)
    made("convert", *request.param, path, told)
    return path, told


def stacks_of(path, event, *options):
    """{stack: number}, or None: none is left, which is said."""
    done = jstrobe("convert", "-e", event, "-o", "collapsed", *options, path)
    if "is left by" in done.stderr:
        assert done.returncode != 0
        return None
    assert done.returncode == 0, done.stderr
    return {stack: int(n) for stack, n in (line.rsplit(" ", 1) for line in done.stdout.splitlines())}


@pytest.mark.parametrize("options", PARTS, ids=" ".join)
def test_a_part_of_it_is_that_of_the_recording(recorded, options, say):
    path, told = recorded
    found = {}
    for event in EVENTS.split(","):
        theirs, ours = stacks_of(path, event, *options), stacks_of(told, event, *options)
        assert (theirs is None) == (ours is None), event
        if theirs is None:
            continue
        found[event] = sum(theirs.values())
        # waits are of whole steps: one that ends in that in which the part begins may be in it or not
        off = sum(abs(theirs.get(stack, 0) - ours.get(stack, 0)) for stack in theirs.keys() | ours.keys())
        # an end that is counted from the recording's is in the middle of a step, whose samples are in or out together
        inexact = 4 if any(word.startswith("-") and word[1:2].isdigit() for word in options) else 0
        assert off <= (inexact if event in ("cpu", "alloc") else 2 + 0.02 * found[event]), (event, theirs, ours)
        theirs, ours = stacks_of(path, event, "--total", *options), stacks_of(told, event, "--total", *options)
        off = sum(abs(theirs.get(stack, 0) - ours.get(stack, 0)) for stack in theirs.keys() | ours.keys())
        assert off <= 0.02 * sum(theirs.values()) + (inexact * max(theirs.values()) if event in ("cpu", "alloc") else 10e6), event
    assert "cpu" in found or "wall" in found
    say(f"{' '.join(options)}: {found}")


def test_a_page_of_a_part(recorded):
    """It begins where the part does, and has times and threads of it."""
    path, told = recorded
    pages = []
    for file in (path, told):
        out = jvm.result_file(".html")
        made("convert", "--from", "1s", "--to", "2500ms", file, out)
        pages.append(page(out))
    assert set(pages[0]) == set(pages[1])
    for event, p in pages[1].items():
        check(p)
        assert p["duration"] == pages[0][event]["duration"] == 1_500_000_000
        assert abs(p["startedMs"] - pages[0][event]["startedMs"]) <= 1
        if event in ("cpu", "alloc"):
            assert sorted(map(str, p["threads"])) == sorted(map(str, pages[0][event]["threads"])), event
            assert of_page(p).keys() == of_page(pages[0][event]).keys(), event


def test_a_part_of_json_without_times(recorded):
    path, _ = recorded
    told = jvm.result_file(".json")
    made("convert", "--no-times", path, told)
    for options in PARTS:
        done = jstrobe("convert", "-o", "collapsed", *options, told)
        assert done.returncode != 0 and "sums of its whole time; leave out --filter, --state, --from and --to" in done.stderr
    done = jstrobe("convert", "--tag", "x", "-o", "collapsed", told)
    assert done.returncode != 0 and "leave out --latency and --tag" in done.stderr
