"""Objects that are still there, against a program that knows which ones are."""
import re
import time

import jvm
import pytest
from jfr import Recording
from jvm import Profile, Program, jstrobe, result_file, wait_until

pytestmark = pytest.mark.in_pairs

COLLECTORS = ["-XX:+UseSerialGC", "-XX:+UseParallelGC", "-XX:+UseG1GC", "-XX:+UseZGC", "-XX:+UseShenandoahGC"]

TICKS = 100_000  # a second, in recordings


@pytest.fixture(autouse=True)
def has_collector(request):
    names = request.fixturenames
    if "collector" in names and request.getfixturevalue("collector") not in jvm.collectors(request.getfixturevalue("jdk")):
        pytest.skip(f"{request.getfixturevalue('jdk')} has no {request.getfixturevalue('collector')}")
MIB = 1 << 20


def go_on(program, word, done):
    program.say(word)
    wait_until(lambda: program.mark().get("done") == done, 120)
    return program.mark()


def start(program, interval, *options, event="live"):
    done = jstrobe("start", "-e", f"{event}@{interval}", *options, program.pid)
    assert done.returncode == 0, done.stderr


def result(verb, program, *options):
    path = result_file()
    done = jstrobe(verb, "-o", "json", "-f", path, *options, program.pid)
    assert done.returncode == 0, done.stderr
    return Profile(path, done=done)


def site(profile, method, key="weight"):
    return sum(s[key] for s in profile.stacks
               if s["frames"][-1] == "byte[]" and f"truth.Lives.{method}" in s["frames"])


def live_objects(path):
    """Of a recording, each with the weight and the age that stand before it."""
    events = Recording(path).events
    objects, weights = events["profiler.LiveObject"], events["jstrobe.LiveWeight"]
    assert len(objects) == len(weights)
    return [{**weight, **one} for one, weight in zip(objects, weights)]


def near(told, true, samples, size, interval, lost=0):
    """Within five standard errors of SAMPLES samples, each of which stands for the same, but for what was LOST."""
    chance = min(1.0, size / interval)
    error = 5 * true * ((1 - chance) / max(1, samples)) ** 0.5 + 2 * interval
    return -error - lost <= told - true <= error


@pytest.mark.parametrize("said,interval", [(["-e", "live"], 524288), (["-e", "cpu,live"], 524288),
                                           (["-e", "live@64k"], 65536), (["-e", "wall,live@64k"], 65536),
                                           (["-e", "live", "-i", "64k"], 65536), (["-e", "live@0"], 0),
                                           (["-e", "alloc,live"], 524288), (["-e", "cpu,live=64k"], 65536)])
def test_intervals(jdk17, said, interval):
    with Program(jdk17, "Lives", 1024, 1024) as program:
        assert jstrobe("start", *said, program.pid).returncode == 0
        profile = result("stop", program, "--show", "live")
    assert profile.json.get("interval", 0) == interval


@pytest.mark.parametrize("collector", COLLECTORS)
def test_what_stays_and_what_goes(jdk, collector, say):
    """By site, at several moments of one session: each result has what is there then, no more."""
    size, interval = 1024, 16384
    with Program(jdk, "Lives", size, 24 * MIB, jvm=["-Xmx512m", collector]) as program:
        start(program, interval)
        truth = go_on(program, "begin", 1)
        for moment in ("first", "again"):
            profile = result("dump", program, "--gc")
            for method in ("kept", "dropped"):
                told = site(profile, method)
                # a busy machine may leave the collector without a CPU until queues are full
                assert near(told, truth[method], site(profile, method, "samples"), size, interval,
                            profile.weight["lost"]), (moment, method, told, profile.weight)
            assert site(profile, "garbage") <= 2 * interval, moment
            assert profile.samples["taken"] == \
                profile.samples["stored"] + profile.samples["gone"] + profile.lost()
        objects = site(profile, "kept", "objects")
        assert abs(objects * size - site(profile, "kept")) <= size * len(profile.stacks)
        go_on(program, "end", 2)
        profile = result("dump", program, "--gc")
        assert site(profile, "dropped") == 0
        told = site(profile, "kept")
        say(f"{collector}, {jdk}: {told / truth['kept'] - 1:+.1%} of {site(profile, 'kept', 'samples')} samples; "
            f"heap {profile.json['counted'] / MIB:.0f} MB")
        assert near(told, truth["kept"], site(profile, "kept", "samples"), size, interval, profile.weight["lost"]), told
        assert profile.json["counted"] > truth["kept"], "the heap has them, too"
        last = result("stop", program)
        assert site(last, "kept") == told and site(last, "dropped") == 0
        assert program.alive()


def test_the_young(jdk):
    """What no collection has seen yet is only shown if it is asked for."""
    for least, there in ((None, False), ("0", True)):
        with Program(jdk, "Lives", 1024, 4 * MIB, jvm=["-Xmn400m", "-Xms900m", "-Xmx900m", "-XX:+UseSerialGC"]) as program:
            start(program, 4096, *([] if least is None else ["--live-min-gcs", least]))
            go_on(program, "begin", 1)
            profile = result("stop", program)
            said = profile.done.stderr
        if there:
            assert site(profile, "kept") > 2 * MIB and site(profile, "garbage") > 6 * MIB
        else:
            assert not profile.stacks and "is known to be there after a collection" in said, said


def test_a_full_table(jdk17, say):
    """More objects than there are places: a random half goes each time, and what stays stands for the rest."""
    size, count = 64, 200_000
    with Program(jdk17, "Lives", size, count * size, jvm=["-Xmx512m", "-XX:+UseParallelGC"]) as program:
        start(program, 1)
        truth = go_on(program, "begin", 1)
        profile = result("stop", program, "--gc")
    for method in ("kept", "dropped"):
        told, samples = site(profile, method), site(profile, method, "samples")
        lost = profile.weight["lost"]
        say(f"{method}: {told / truth[method] - 1:+.1%} of {samples} samples, {lost} bytes lost")
        assert samples < 65536
        assert abs(told - truth[method]) < 0.05 * truth[method] + lost, (method, told, truth)


def test_beside_alloc(jdk):
    """alloc and live share the JVM's interval; what is asked for otherwise is refused, with the reason."""
    with Program(jdk, "Lives", 1024, 16 * MIB) as program:
        done = jstrobe("start", "-e", "alloc@64k,live@32k", program.pid)
        assert done.returncode == 1 and "one interval for all samples of objects" in done.stderr, done.stderr
        done = jstrobe("start", "-e", "cpu,alloc@16k,live@16k,wall", program.pid)
        assert done.returncode == 0, done.stderr
        truth = go_on(program, "begin", 1)
        allocated = result("dump", program, "--show", "alloc")
        stays = result("dump", program, "--show", "live", "--gc")
        assert jstrobe("stop", "-f", "/dev/null", program.pid).returncode == 0
    assert allocated.weight["total"] + allocated.weight["lost"] > 4.5 * truth["kept"], allocated.weight
    assert stays.weight["total"] < 3.5 * truth["kept"], stays.weight
    assert near(site(stays, "kept"), truth["kept"], site(stays, "kept", "samples"), 1024, 16384, stays.weight["lost"])


def test_recording(jdk):
    path, made = result_file(".jfr"), result_file()
    with Program(jdk, "Lives", 1024, 16 * MIB) as program:
        done = jstrobe("start", "-e", "live@16k", "--gc", "-f", path, program.pid)
        assert done.returncode == 0, done.stderr
        truth = go_on(program, "begin", 1)
        done = jstrobe("stop", program.pid)
        assert done.returncode == 0 and "of objects still there" in done.stderr, done.stderr
    events = [e for e in live_objects(path) if e["allocationSize"] == 1024]
    told = sum(e["weight"] for e in events)
    assert near(told, 2 * truth["kept"], len(events), 1024, 16384), (told, truth)
    assert all(e["age"] >= 1 and e["allocationTime"] < e["startTime"] for e in events)
    done = jstrobe("convert", "-o", "json", path, made)
    assert done.returncode == 0, done.stderr
    profile = Profile(made)
    assert profile.json["event"] == "live" and near(site(profile, "kept"), truth["kept"], len(events) / 2, 1024, 16384)


def test_at_exit(jdk):
    """The JVM's end: what is there then."""
    path = result_file()
    with Program(jdk, "Lives", 1024, 8 * MIB, jvm=["-Xmx128m", "-XX:+UseSerialGC"]) as program:
        assert jstrobe("start", "-e", "live@8k", "--live-min-gcs", "0", "-o", "json", "-f", path, program.pid).returncode == 0
        truth = go_on(program, "begin", 1)
        assert program.stop() == 0
    profile = Profile(path)
    assert near(site(profile, "kept"), truth["kept"], site(profile, "kept", "samples"), 1024, 8192,
                profile.weight["lost"]), profile.weight


def test_again_and_again(jdk):
    """Sessions come and go under load; the last one knows its own objects alone."""
    with Program(jdk, "Allocs", "1048", 1 << 40, jvm=["-Xmx128m"]) as program:
        program.say("begin")
        taken = 0
        for _ in range(20):
            start(program, 4096)
            profile = result("stop", program)
            taken += profile.samples["taken"]
            assert profile.samples["taken"] == profile.samples["stored"] + profile.samples["gone"] + profile.lost()
        assert taken > 0, "a single session may have been too short on a busy machine"
        assert program.alive()


def test_from_the_start(jdk):
    """Begun with the JVM: the heap is known whole."""
    path = result_file()
    with Program(jdk, "Lives", 1024, 32 * MIB,
                 jvm=[f"-agentpath:{jvm.LIBRARY}=start,event=live@16k,threads,gc", "-Xmx512m", "-XX:+UseSerialGC"]) as program:
        truth = go_on(program, "begin", 1)
        profile = result("dump", program, "--gc")
        assert jstrobe("stop", "-f", "/dev/null", program.pid).returncode == 0
    lost = profile.weight["lost"]
    assert near(site(profile, "kept"), truth["kept"], site(profile, "kept", "samples"), 1024, 16384, lost)
    # what the JVM itself has in the heap when it begins is not sampled: its archive, classes, strings
    assert profile.weight["total"] > 0.9 * profile.json["counted"] - 4 * MIB - lost, (profile.weight, profile.json["counted"])


def leak(program):
    """Let it leak 8 MB: hours, bytes by the smaller half, and in all."""
    program.say("begin")
    series = [(time.monotonic(), 0)]
    while series[-1][1] < 8 * MIB and len(series) < 1000:
        time.sleep(0.1)
        series.append((time.monotonic(), program.mark().get("leaked", 0)))
    (begin, _), (end, leaked) = series[0], series[-1]
    middle = min(b for t, b in series if t >= (begin + end) / 2)
    # on a busy machine a program may leak more in one half than in the other: the smaller one is told
    return (end - begin) / 3600, 2 * min(middle, leaked - middle), leaked


@pytest.mark.parametrize("collector", COLLECTORS)
def test_leaks(jdk, collector, say):
    """One place leaks; a cache that was filled, one that is renewed, and garbage are no suspects."""
    with Program(jdk, "Leaks", jvm=["-Xmx256m", collector]) as program:
        start(program, 4096)
        hours, least, leaked = leak(program)
        profile = result("dump", program, "--gc")
        text = jstrobe("dump", "--gc", program.pid).stdout
        suspects = profile.json["leaks"]
        said = ", ".join(f"{s['allocated_in']}: {s['bytes_an_hour'] * hours / least:.2f} of the truth" for s in suspects)
        say(f"{collector}, {jdk}: {said}")
        first = suspects[0]
        assert first["allocated_in"] == first["for"] == "truth.Leaks.leaks" and first["class"] == "byte[]", suspects
        told, lost = first["bytes_an_hour"] * hours, profile.weight["lost"]
        assert 0.75 * least - 2 * lost < told < 1.15 * leaked, (told, least, leaked, profile.weight)
        assert first["at_least"] < first["bytes_an_hour"] < first["at_most"]
        assert all(s["bytes_an_hour"] < 0.1 * first["bytes_an_hour"] for s in suspects[1:]), suspects
        assert "What grew all the time" in text and "byte[] allocated in truth.Leaks.leaks;" in text, text
        assert program.alive()


def converted(path, form="json"):
    made = result_file("." + form)
    done = jstrobe("convert", "-o", form, path, made)
    assert done.returncode == 0, done.stderr
    return Profile(made, done=done) if form == "json" else open(made).read()


@pytest.mark.parametrize("collector", COLLECTORS)
def test_leaks_in_every_result(jdk, collector, say):
    """What grows is told of a dump, of its page, of a copy of the recording, of the recording, and of JSON read again."""
    path, copy, kept, page = (result_file(end) for end in (".jfr", ".jfr", ".json", ".html"))
    with Program(jdk, "Leaks", jvm=["-Xmx256m", collector]) as program:
        start(program, 4096, "-f", path)
        leak(program)
        for to in (copy, kept, page):
            done = jstrobe("dump", "--gc", "-f", to, program.pid)
            assert done.returncode == 0, done.stderr
        again = Profile(kept)
        done = jstrobe("stop", "--gc", program.pid)
        assert done.returncode == 0, done.stderr
        assert program.alive()
    assert "byte[] allocated in truth.Leaks.leaks;" in open(page).read()
    for name, profile in (("copy", converted(copy)), ("recording", converted(path)), ("JSON", converted(kept))):
        first, as_was = profile.json["leaks"][0], again.json["leaks"][0]
        assert first["allocated_in"] == first["for"] == "truth.Leaks.leaks" and first["class"] == "byte[]", first
        assert 0.7 < first["bytes_an_hour"] / as_was["bytes_an_hour"] < 1.4, (name, first, as_was)
        if name == "JSON":
            assert first["bytes"] == as_was["bytes"] and first["bytes_an_hour"] == as_was["bytes_an_hour"]
            assert 0.99 < first["at_least"] / as_was["at_least"] < 1.01, "errors are whole bytes"
        full = profile.json["heap_full"]
        assert full["heap"] == 256 * MIB and 0 < full["at_least_s"] < full["at_most_s"], full
        rates = [sum(s[key] for s in profile.json["leaks"]) for key in ("at_least", "at_most")]
        assert full["free"] / rates[1] * 3600 <= full["at_least_s"] + 1
        assert full["at_most_s"] <= full["free"] / rates[0] * 3600
        say(f"{collector}, {jdk}, {name}: {full['at_least_s']} to {full['at_most_s']} s")
    assert "byte[] allocated in truth.Leaks.leaks;" in converted(path, "html")
    text = jstrobe("convert", copy).stdout
    assert re.search(r"they stand for \S+ MB in [\d,]+ objects; the heap held \S+ MB at its last collection", text), text
    assert "What grew all the time" in text and "At this rate the heap is full in " in text, text
    events = Recording(copy).events
    assert len(live_objects(copy)) > 100
    assert len(events["jstrobe.LiveHeap"]) == 1 and events["jstrobe.LiveHeap"][0]["most"] == 256 * MIB
    assert all(e["allocationTime"] < e["startTime"] for e in events["profiler.LiveObject"])


def test_no_leaks_before_a_collection(jdk):
    """What no collection has seen may be garbage: it is shown on demand, and no growth, also by a recording."""
    path, copy = result_file(".jfr"), result_file(".jfr")
    with Program(jdk, "Leaks", jvm=["-Xms2g", "-Xmx2g", "-Xmn1500m", "-XX:+UseParallelGC"]) as program:
        start(program, 4096, "--live-min-gcs", "0", "-f", path)
        leak(program)
        young = result("dump", program)
        assert jstrobe("dump", "-f", copy, program.pid).returncode == 0
        known = result("dump", program, "--gc")
        assert jstrobe("stop", program.pid).returncode == 0
    for profile in (young, converted(copy)):
        assert profile.samples["stored"] > 1000 and not profile.json.get("leaks"), profile.json["leaks"]
    assert known.json["leaks"][0]["allocated_in"] == "truth.Leaks.leaks"
    assert converted(path).json["leaks"][0]["allocated_in"] == "truth.Leaks.leaks"


def test_of_the_last_samples(jdk, tmp_path):
    """A flight recorder's window has the objects that are there as well, also those from before the window."""
    path = result_file(".jfr")
    with Program(jdk, "Lives", 1024, 16 * MIB) as program:
        start(program, 16384, "--last", "1s")
        truth = go_on(program, "begin", 1)
        time.sleep(2)
        done = jstrobe("dump", "--gc", "-f", path, program.pid)
        assert done.returncode == 0, done.stderr
        assert jstrobe("stop", "-f", "/dev/null", program.pid).returncode == 0
    events = [e for e in live_objects(path) if e["allocationSize"] == 1024]
    assert near(sum(e["weight"] for e in events), 2 * truth["kept"], len(events), 1024, 16384), (len(events), truth)
    assert min(e["startTime"] - e["allocationTime"] for e in events) > TICKS, "it was filled a second before"


HELD = {  # by the method that allocates: how its objects are held
    "mapped": r"static field truth\.Holds\.MAP → java\.util\.HashMap\.table → java\.util\.HashMap\$Node\[\d+\] → (.* → )?java\.util\.HashMap\$Node\.value",
    "linked": r"static field truth\.Holds\.LINKED → java\.util\.LinkedList\.(first|last) → .*java\.util\.LinkedList\$Node\.item",
    "fielded": r"static field truth\.Holds\.KEEPER → truth\.Holds\$Keeper\.kept → java\.util\.ArrayList\.elementData → java\.lang\.Object\[\d+\]",
    "own": r".*java\.lang\.ThreadLocal\$ThreadLocalMap\$Entry\.value → java\.util\.ArrayList\.elementData → java\.lang\.Object\[\d+\]",
    "local": r"local variable of truth\.Holds\.run in thread \d+ → java\.util\.ArrayList\.elementData → java\.lang\.Object\[\d+\]",
}


@pytest.mark.parametrize("collector", COLLECTORS)
def test_what_holds_them(jdk, collector, say):
    """Each place's objects by the references that hold them, not by those that refer weakly or softly."""
    with Program(jdk, "Holds", jvm=["-Xmx256m", collector]) as program:
        start(program, 4096)
        program.say("begin")
        wait_until(lambda: program.mark().get("rounds", 0) > 4000, 240)
        for way in ("dump", "stop"):
            profile = result(way, program, "--gc", "--roots", "20", "--roots-pause", "60s")
            assert "the program stands still while references are followed, for 60 s at most" in profile.done.stderr
            said = profile.json["roots"]
            assert "References were followed for" in said and "not all" not in said, said
            found = {s["allocated_in"]: s.get("held_by") for s in profile.json["leaks"]}
            for method, pattern in HELD.items():
                held = found[f"truth.Holds.{method}"]
                assert held and re.fullmatch(pattern, held), (way, method, held, found)
            assert program.alive()
        say(f"{collector}, {jdk}: {said}")
        # neither tags nor the capability are left behind, and a result without it says nothing of it
        start(program, 4096)
        time.sleep(1)
        assert "roots" not in result("stop", program, "--gc").json


def test_a_walk_is_given_up(jdk):
    """After the pause that was allowed; the result is there without, and says so. A JVM that would need longer than
    that for what it does behind the walk is not asked."""
    with Program(jdk, "Holds", jvm=["-Xmx256m"]) as program:
        start(program, 4096)
        program.say("begin")
        wait_until(lambda: program.mark().get("rounds", 0) > 2000, 240)
        profile = result("dump", program, "--gc", "--roots", "3", "--roots-pause", "1ms")
        said = "not all: --roots-pause was over" if jdk.version >= 21 else "JVMs before JDK 21 go through the whole heap"
        assert said in profile.json["roots"], profile.json["roots"]
        assert not any(s.get("held_by") for s in profile.json["leaks"]), profile.json["leaks"]
        assert len(profile.json["leaks"]) >= 3
        text = jstrobe("dump", "--gc", "--roots", "2", program.pid).stdout
        assert text.count("    held by ") == 2 and "References were followed for" in text, text
        assert program.alive()


def test_roots_refused(jdk17):
    with Program(jdk17, "Lives", 1024, 1024) as program:
        done = jstrobe("start", "-e", "cpu", "--roots", "3", program.pid)
        assert done.returncode != 0 and "of objects that are still there" in done.stderr, done.stderr


def test_roots_of_nothing(jdk17):
    """Where nothing grows no references are followed, and that is said."""
    with Program(jdk17, "Lives", 1024, 1024) as program:
        start(program, 4096)
        said = "roots: no references were followed, as nothing surely grew at that moment"
        assert said in jstrobe("dump", "--gc", "--roots", "2", program.pid).stdout
        assert result("stop", program, "--gc", "--roots", "2").json["roots"] == said


def test_leaks_after_resume(jdk, say):
    """What grows is told of the time since the session was resumed; a recording of both parts says that it cannot tell."""
    path = result_file(".jfr")
    with Program(jdk, "Leaks", jvm=["-Xmx256m"]) as program:
        start(program, 4096, "-f", path)
        leak(program)
        assert jstrobe("stop", "--gc", program.pid).returncode == 0
        time.sleep(2)  # it leaks on, and nothing knows of that
        before = program.mark()["leaked"]
        assert jstrobe("resume", "-e", "live@4096", "-f", path, program.pid).returncode == 0
        began = time.monotonic()
        wait_until(lambda: program.mark()["leaked"] > before + 4 * MIB, 120)
        profile = result("dump", program, "--gc")
        took, leaked = time.monotonic() - began, program.mark()["leaked"] - before
        assert jstrobe("stop", "--gc", program.pid).returncode == 0
    first = profile.json["leaks"][0]
    say(f"{jdk}: {first['bytes_an_hour'] / 3600 * took / leaked:.2f} of what leaked since")
    assert first["allocated_in"] == "truth.Leaks.leaks" and first["bytes"] < 1.3 * leaked
    assert profile.json["growth_span_ns"] < (took + 2) * 1e9 < profile.json["duration_ns"]
    assert 0.4 < first["bytes_an_hour"] / 3600 * took / leaked < 1.3
    made = result_file()
    done = jstrobe("convert", "-o", "json", path, made)
    assert done.returncode == 0 and "the objects are of several sessions" in done.stderr, done.stderr
    assert "leaks" not in Profile(made).json


@pytest.mark.parametrize("at_start,at_stop", [(True, False), (False, True), (True, True)])
def test_one_collection(jdk17, tmp_path, at_start, at_stop):
    """However it is asked for, a stop collects the heap once."""
    log = tmp_path / "gc.log"
    with Program(jdk17, "Lives", 1024, MIB, jvm=[f"-Xlog:gc:file={log}"]) as program:
        start(program, 16384, *(["--gc"] if at_start else []))
        go_on(program, "begin", 1)
        result("stop", program, *(["--gc"] if at_stop else []))
    assert log.read_text().count("JvmtiEnv ForceGarbageCollection") == 1, log.read_text()


def test_a_refused_start_leaves_nothing(jdk):
    """A start that fails after live's own begin: the next session of another event is not given live's samples."""
    with Program(jdk, "AllocBound", jvm=["-Xmx256m"]) as program:
        for command in (["start", "-e", "live@64k,alloc@128k"], ["record", "-d", "1", "-e", "exceptions,live", "--gc"]):
            done = jstrobe(*command, program.pid)
            assert done.returncode == 1, done.stdout + done.stderr
            assert program.alive(), command
        for _ in range(2):
            path = result_file()
            done = jstrobe("record", "-e", "cpu", "-i", "1ms", "-d", "2", "-f", path, program.pid)
            assert done.returncode == 0 and program.alive(), done.stderr
        done = jstrobe("record", "--alloc", "32k", "-d", "1", "-f", path, program.pid)
        assert done.returncode == 0, done.stderr


def test_who_is_left_out_takes_no_place(jdk17):
    """Objects of threads that `filter` leaves out are in no table: 100,000 of them would fill it, and double weights."""
    with Program(jdk17, "Allocs", "16,4096", 1 << 20) as program:
        done = jstrobe("start", "-e", "live@0", "-t", "--filter", "name:new-4096", "--live-min-gcs", "0", program.pid)
        assert done.returncode == 0, done.stderr
        program.play()
        profile = result("stop", program)
    assert profile.stacks and {s["weight"] // s["samples"] for s in profile.stacks if s["frames"][-1] == "byte[]"} == {4096}
