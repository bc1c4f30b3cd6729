"""A result in JSON that is read back says what the session itself would have written, and of the rest nothing."""
import json
import os

import jvm
import pytest
from jvm import Program, counted
from test_json_times import jdk_of, made, results
from test_page_time import profiles

pytestmark = pytest.mark.together

# what no file says of samples that were taken elsewhere
NOT_KNOWN = {"queues", "armed", "handler_ns", "walk_ns", "drain_ns"}


@pytest.fixture(scope="module", params=[(17, "monitor", ()), (25, "lock", ("-t",)), (25, "monitor", ())], ids=str)
def session(programs, request):
    """Options, and the JSON and the page of one session, which has ended."""
    version, how, options = request.param
    files = {}
    with Program(jdk_of(version), "Holders", how, 4) as program:
        made("start", "-e", "cpu,wall,lock,alloc", "-i", "2ms", *options, program.pid)
        program.work(counted(2, 10))
        for command, suffix in (("stop", ".json"), ("dump", ".html")):
            files[suffix] = jvm.result_file(suffix)
            made(command, *options, "-f", files[suffix], program.pid)
    yield options, files[".json"], files[".html"]
    for file in files.values():
        os.remove(file)


def sums(p):
    """Of equal stacks, which may be of functions of two libraries, one."""
    found = {}
    for s in p["stacks"]:
        key = tuple(s["frames"]), tuple(s["kinds"]), s.get("thread"), s.get("state"), s.get("activity"), s.get("lock_place")
        samples, weight = found.get(key, (0, 0))
        found[key] = samples + s["samples"], weight + s["weight"]
    return found


def test_json_of_json(session):
    options, file, _ = session
    again = jvm.result_file(".json")
    made("convert", *options, file, again)
    first, second = results(file), results(again)
    assert set(second) == set(first) == {"cpu", "wall", "lock", "alloc"}
    for event, p in second.items():
        assert set(first[event]) - set(p) == NOT_KNOWN, event
        for key, value in p.items():
            if key == "images":
                of = lambda images: {(name, i["library"]) for i in images for name in i["names"]}
                # a name that several libraries have is of one of them
                assert of(value) <= of(first[event][key])
                assert {name for name, _ in of(value)} == {name for name, _ in of(first[event][key])}
            elif key == "stacks":
                assert sums(p) == sums(first[event]), event
            elif key not in ("times", "methods"):
                assert value == first[event][key], (event, key)
        types = lambda p: {m["name"]: (m["type"], m["self"], m["total"]) for m in p["methods"]}
        assert types(p) == types(first[event]), event
    assert second["lock"]["locks"] and second["lock"]["owners"] and any("lock_place" in s for s in second["lock"]["stacks"])
    assert any(m["type"] == "native" for m in second["wall"]["methods"])
    assert any(i["library"] == "libjvm.so" for i in second["wall"]["images"])


def test_the_page_of_json(session):
    options, file, direct = session
    page = jvm.result_file(".html")
    made("convert", *options, file, page)
    pages = []
    for path in (direct, page):
        with open(path, encoding="utf-8") as html:
            pages.append({p["event"]: p for p in profiles(html.read())})
    kinds = lambda p: {(name, kind) for name, kind in zip(p["names"], p["nameTypes"])}
    for event, p in pages[1].items():
        theirs = pages[0][event]
        of_theirs = dict(zip(theirs["names"], theirs["nameTypes"]))
        assert all(of_theirs[name] == kind for name, kind in kinds(p) if name), event
        libraries = lambda p: {p["names"][n]: library for n, library in zip(p["libraries"][::2], p["libraries"][1::2]) if p["names"][n]}
        assert libraries(p).keys() <= libraries(theirs).keys(), event
        assert all((library == "libjvm.so") == (libraries(theirs)[name] == "libjvm.so") for name, library in libraries(p).items())
        assert event not in ("cpu", "wall") or "libjvm.so" in libraries(p).values(), event
        if "work" in theirs:
            assert p["work"] == theirs["work"], event


def test_calls_that_read_and_write(programs, tmp_path):
    """Of the event io its tables stay, in JSON and on the page; an event without samples is there, too."""
    files = {suffix: jvm.result_file(suffix) for suffix in (".json", ".html", ".again.json", ".again.html")}
    with Program(jdk_of(17), "Io", tmp_path, counted(100, 1000), "files+sockets+pipes+threads") as program:
        made("start", "-e", "io,nativelock", "--nativelock", "100s", program.pid)
        program.play()
        made("stop", "-f", files[".json"], program.pid)
        made("dump", "-f", files[".html"], program.pid)
    made("convert", files[".json"], files[".again.json"])
    made("convert", files[".json"], files[".again.html"])
    first, second = results(files[".json"]), results(files[".again.json"])
    assert set(first) == set(second) == {"io", "nativelock"} and not first["nativelock"]["samples"]["stored"]
    for event, p in first.items():
        # without a lock there are no lists of them
        for key in set(p) - NOT_KNOWN - {"images", "stacks", "methods", "times"} - (set() if event == "io" else {"locks", "owners", "owner_stacks"}):
            assert second[event][key] == p[key], (event, key)
    assert len(first["io"]["io"]) > 4 and sum(line["calls"] for line in first["io"]["io_counted"]) > 100
    pages = []
    for suffix in (".html", ".again.html"):
        with open(files[suffix], encoding="utf-8") as html:
            pages.append({p["event"]: p for p in profiles(html.read())})
    assert set(pages[0]) == set(pages[1])
    for key in ("io", "ioCounted", "ioPlaces"):
        assert pages[0]["io"][key] == pages[1]["io"][key] != [], key
    for file in files.values():
        os.remove(file)


@pytest.mark.parametrize("version", [17, 25])
def test_inlining_that_is_not_sure(programs, version, say):
    """A recording says how many samples may be of a neighbour, the page and JSON of it too, and JSON of that."""
    files = {suffix: jvm.result_file(suffix) for suffix in (".jfr", ".json", ".html", ".again.json")}
    with Program(jdk_of(version), "Workshop") as program:
        done = made("record", "-i", "1ms", "-d", counted(2, 10), "-f", files[".jfr"], program.pid)
    made("convert", files[".jfr"], files[".json"])
    made("convert", files[".jfr"], files[".html"])
    made("convert", files[".json"], files[".again.json"])
    samples = results(files[".json"])["cpu"]["samples"]
    assert 0 < samples["ambiguous"] <= samples["stored"] == results(files[".again.json"])["cpu"]["samples"]["stored"]
    assert results(files[".again.json"])["cpu"]["samples"] == samples
    share = 100 * samples["ambiguous"] / samples["stored"]
    if share >= 1:
        assert "may belong to the method before or behind it" in done.stdout + done.stderr
        with open(files[".html"], encoding="utf-8") as file:
            assert "may belong to the method before or behind it" in file.read()
    say(f"JDK {version}: {share:.1f} % of the samples of a recording may be of a neighbour")
    for file in files.values():
        os.remove(file)
