"""Allocations of Java objects, against a program that knows its bytes."""
import json
import os
import re
import subprocess
import time

import jvm
import pytest
from jfr import Recording
from jvm import Profile, Program, counted, jstrobe, profile_of, result_file, wait_until

pytestmark = pytest.mark.in_pairs


def result(program, *options):
    return profile_of("stop", program, "-t", *options)


def stacks_of(profile, name):
    threads = profile.json["threads"]
    return [s for s in profile.stacks if threads[s["thread"]]["name"] == name]


def of_thread(profile, name, key="weight"):
    return sum(s[key] for s in stacks_of(profile, name))


def start(program, interval):
    done = jstrobe("start", "-t", "-e", "alloc", "-i", interval, program.pid)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("interval", [65536, 524288, 1048576])
def test_bytes_by_size(jdk, interval, say):
    """
    Small objects and large ones weigh what they are, in threads that were there before (whose first distance was drawn
    by the JVM's own interval) and in new ones. A sum of N samples is off by their share's standard error.
    """
    sizes = [interval // 1024 // 8 * 8 + 24, interval // 4, interval, 3 * interval]
    each = counted(600, 6000) * interval
    with Program(jdk, "Allocs", ",".join(map(str, sizes)), each) as program:
        start(program, interval)
        truth = program.play()
        profile = result(program)
        assert program.alive()
    # a thread of the JVM's own may end while it allocates: its record is gone by then
    assert profile.weight["unit"] == "bytes" and profile.lost() <= 1, profile.weight
    assert profile.lost() == profile.samples["lost"]["no_record"], profile.samples
    known = sum(truth[f"{kind}_{size}"] for kind in ("old", "new") for size in sizes)
    # by the JVM's own count, of threads that have ended as well; "mark" and the class library allocate besides
    assert known <= profile.json["counted"] < known + 8_000_000, (known, profile.json["counted"])
    said = []
    for size in sizes:
        assert abs(truth[f"exact_{size}"] - truth[f"old_{size}"]) < 100_000
        for kind in ("old", "new"):
            name, true = f"{kind}-{size}", truth[f"{kind}_{size}"]
            told, samples = of_thread(profile, name), of_thread(profile, name, "samples")
            # of true / size objects each is a sample with the same chance p: var = n (1 - p) / p, in objects
            each_weight = told / samples
            error = (true / size * max(0.0, each_weight / size - 1)) ** 0.5 * size
            said.append(f"{name}: {told / true - 1:+.1%} of {samples}")
            # the others' objects, and what a thread does besides, are within a few intervals
            assert abs(told - true) < 5 * error + 4 * interval, (name, told, true, samples, error)
            # the thread does more than that now and then: 4 intervals of objects of 16 bytes and more
            objects = sum(s["objects"] for s in stacks_of(profile, name) if s["frames"][-1] == "byte[]")
            assert abs(objects - true / size) < (5 * error + 4 * interval) / size + 4 * interval / 16, (name, objects)
    say(f"alloc at {interval}, {jdk}: " + ", ".join(said))


@pytest.mark.parametrize("earlier", ["", "4k", "50m", "50m 4k"])
@pytest.mark.parametrize("before", [0, 20 << 20])
def test_distances_drawn_before(jdk, before, earlier, say):
    """
    Threads that are there before the session, each with a distance to its first sample that it drew when it began, in
    an earlier session by another interval, or used up while no one sampled (25): none is taken for one of this session.
    """
    threads, since, interval = 300, 1 << 20, 512 << 10
    with Program(jdk, "Before", threads, before, since) as program:
        wait_until(lambda: program.mark().get("ready"), 60)
        for other in earlier.split():
            start(program, other)
            assert jstrobe("stop", program.pid).returncode == 0
        start(program, interval)
        truth = program.play()
        profile = result(program)
    mine = [s for s in profile.stacks if "truth.Before.again" in s["frames"]]
    told = sum(s["weight"] for s in mine)
    # a sum of samples: 600 of one interval each
    error = (threads * since * interval) ** 0.5
    say(f"{jdk}: {told / truth['since'] - 1:+.1%}, standard error {error / truth['since']:.1%}")
    assert abs(told - truth["since"]) < 5 * error, (told, truth["since"])


def test_class_place_and_thread(jdk):
    with Program(jdk, "Allocs", "65536", 400 * 65536) as program:
        start(program, 65536)
        program.play()
        profile = result(program)
    for thread, method in (("old-65536", "truth.Allocs.old"), ("new-65536", "truth.Allocs.born")):
        mine = stacks_of(profile, thread)
        arrays = [s for s in mine if s["frames"][-1] == "byte[]" and s["frames"][-2] == method]
        # the class library links lambdas meanwhile
        assert sum(s["weight"] for s in arrays) > 0.9 * sum(s["weight"] for s in mine)
        assert not [s["frames"] for s in mine if s["frames"][-2] == method and s["frames"][-1] != "byte[]"]


def test_each_allocation(jdk):
    """An interval of one byte: each object is a sample that weighs itself."""
    size, count = 4096, 300
    with Program(jdk, "Allocs", size, count * size) as program:
        start(program, 1)
        program.play()
        profile = result(program)
    for thread, method in (("new-4096", "truth.Allocs.born"),):
        found = [s for s in stacks_of(profile, thread) if s["frames"][-2] == method]
        assert sum(s["samples"] for s in found) + profile.lost() >= count
        assert all(s["weight"] == size * s["samples"] for s in found)
        assert all(s["objects"] == s["samples"] for s in found)


def test_sizes(jdk):
    """Arrays by their size, from each power of two to the next, of alloc and of live; of a recording the class alone."""
    path = result_file(".jfr")
    with Program(jdk, "Allocs", "24,4096,6144,65536", 16 << 20, 16 << 20) as program:
        done = jstrobe("start", "-t", "-e", "alloc@8k,live@8k", "--sizes", "--live-min-gcs", "0", "-f", path, program.pid)
        assert done.returncode == 0, done.stderr
        program.play()
        profile = profile_of("dump", program, "--show", "alloc")
        stays = profile_of("dump", program, "--show", "live")
        assert jstrobe("stop", program.pid).returncode == 0
    for size, name in ((24, "16 B to 32 B"), (4096, "4 KB to 8 KB"), (6144, "4 KB to 8 KB"), (65536, "64 KB to 128 KB")):
        mine = [s for s in stacks_of(profile, f"new-{size}") if s["frames"][-2] == "truth.Allocs.born"]
        assert {s["frames"][-1] for s in mine} == {f"byte[] of {name}"}, (size, mine)
    classes = {s["frames"][-1] for s in profile.stacks + stays.stacks}
    assert not [c for c in classes if c.endswith("[]")], classes
    assert "java.lang.Object" in classes, f"what is no array has its class alone: {classes}"
    for event in ("jdk.ObjectAllocationInNewTLAB", "profiler.LiveObject"):
        found = Recording(path).events[event]
        assert found and not [e for e in found if " of " in str(e["objectClass"])], event


def test_sizes_refused(jdk17):
    with Program(jdk17, "Allocs", "24", 1 << 20) as program:
        done = jstrobe("start", "-e", "cpu", "--sizes", program.pid)
        assert done.returncode != 0 and "of samples of alloc and live" in done.stderr, done.stderr


def test_objects(jdk):
    """Many small objects and few large ones: bytes and objects are told, and a saved result says the same again."""
    path, again = result_file(), result_file()
    with Program(jdk, "Allocs", "24,65536", 64 << 20) as program:
        start(program, 8192)
        program.play()
        profile = result(program)
        lines = profile.done.stderr
    total = sum(s["objects"] for s in profile.stacks)
    assert abs(total - profile.weight["objects"]) <= len(profile.stacks)
    for size in (24, 65536):
        mine = [s for s in stacks_of(profile, f"new-{size}") if s["frames"][-1] == "byte[]"]
        weight, objects = (sum(s[key] for s in mine) for key in ("weight", "objects"))
        assert abs(weight / objects / size - 1) < 0.1, (size, weight, objects)
    assert f"in {profile.weight['objects']:,} objects" in lines, lines
    rows = {m["name"]: m for m in profile.json["methods"]}
    assert abs(rows["byte[]"]["self_objects"] - total) < 0.1 * total
    with open(path, "w") as file:
        json.dump(profile.json, file)
    done = jstrobe("convert", "-o", "json", path, again)
    assert done.returncode == 0, done.stderr
    assert Profile(again).weight["objects"] == total
    done = jstrobe("convert", path)
    assert done.returncode == 0 and "objects" in done.stdout, done.stdout


def recorded(path):
    """[(size, weight, whether outside TLABs)] of a recording's objects."""
    found, weights = [], {}
    for e in Recording(path).events["jstrobe.ObjectWeight"]:
        weights.setdefault(e["startTime"], []).append(e["weight"])
    events = Recording(path).events
    found = [(e["allocationSize"], e["tlabSize"], False) for e in events["jdk.ObjectAllocationInNewTLAB"]]
    for e in events["jdk.ObjectAllocationOutsideTLAB"]:
        size, own = e["allocationSize"], weights.get(e["startTime"], [])
        weight = min((w for w in own if w > size), default=size)
        if weight in own:
            own.remove(weight)
        found.append((size, weight, True))
    assert not any(weights.values()), "each is of an object"
    return found


def test_recording_and_convert(jdk):
    path, made = result_file(".jfr"), result_file()
    with Program(jdk, "Allocs", "65536", 400 * 65536) as program:
        done = jstrobe("start", "-e", "alloc", "-i", "65536", "-f", path, program.pid)
        assert done.returncode == 0, done.stderr
        truth = program.play()
        assert jstrobe("stop", program.pid).returncode == 0
    events = recorded(path)
    told = sum(weight for size, weight, _ in events if size == 65536)
    true = truth["old_65536"] + truth["new_65536"]
    assert abs(told - true) < 0.35 * true, (told, true)
    done = jstrobe("convert", "-o", "json", path, made)
    assert done.returncode == 0, done.stderr
    profile = Profile(made)
    assert profile.json["event"] == "alloc" and profile.weight["unit"] == "bytes"
    assert profile.weight["total"] == sum(weight for _, weight, _ in events)


@pytest.mark.parametrize("collector", ["-XX:+UseSerialGC", "-XX:+UseParallelGC", "-XX:+UseG1GC", "-XX:+UseZGC"])
def test_outside_tlab(jdk, collector, tmp_path, say):
    """
    Which objects lie outside TLABs, against the JVM's own recorder, which has an event for each of them: of 10 MB, of
    300 KB, which may be in and out, and of 64 bytes, which are inside.
    """
    sizes, path, again = (64, 300 << 10, 10 << 20), result_file(".jfr"), result_file()
    settings, flight = tmp_path / "all.jfc", tmp_path / "flight.jfr"
    settings.write_text('<?xml version="1.0" encoding="UTF-8"?><configuration version="2.0">' + "".join(
        f'<event name="jdk.ObjectAllocation{place}"><setting name="enabled">true</setting>'
        '<setting name="stackTrace">false</setting></event>' for place in ("OutsideTLAB", "InNewTLAB")) + "</configuration>")
    with Program(jdk, "Allocs", ",".join(map(str, sizes)), 200 << 20,
                 jvm=["-Xmx512m", collector, f"-XX:StartFlightRecording:settings={settings},filename={flight}"]) as program:
        done = jstrobe("start", "-e", "alloc@16k", "-f", path, program.pid)
        assert done.returncode == 0, done.stderr
        program.play()
        profile = result(program)
        said = profile.done.stderr
        assert jstrobe("stop", program.pid).returncode == 1  # it has ended
        assert program.stop() == 0
    printed = subprocess.run([os.path.join(jdk.home, "bin", "jfr"), "print", "--json", "--events",
                              "jdk.ObjectAllocationOutsideTLAB", flight], stdout=subprocess.PIPE, check=True)
    outside = [e["values"]["allocationSize"] for e in json.loads(printed.stdout)["recording"]["events"]]
    all_of = recorded(path)
    ours, inside = ({size: [w for s, w, is_outside in all_of if s == size and is_outside == wanted] for size in sizes}
                    for wanted in (True, False))
    say(f"{collector}, {jdk}: outside " + ", ".join(
        f"{len(ours[size])} of {len(ours[size]) + len(inside[size])} samples of {size} (JFR: {outside.count(size)} objects)"
        for size in sizes))
    # at 16 KB each object of 300 KB and more is a sample, but where queues were full; a thread that was there before
    # draws its first distance by the JVM's interval: of 300 KB 16 objects pass by once in 10,000 times
    for size in sizes[1:]:
        there = outside.count(size)
        assert there - 16 - profile.lost() <= len(ours[size]) <= there + 2, size  # 2: collections at that moment
    assert len(ours[64]) <= outside.count(64) + 2 and len(inside[64]) > 10_000
    share = sum(map(sum, ours.values())) / profile.weight["total"]
    told = profile.weight.get("outside_tlab", 0)
    assert abs(told / profile.weight["total"] - share) < 0.01, (told, share)
    assert (told == 0) == ("outside TLABs" not in said), said
    done = jstrobe("convert", "-o", "json", path, again)
    assert done.returncode == 0, done.stderr
    read = Profile(again)
    assert read.weight["total"] == profile.weight["total"] and read.weight.get("outside_tlab", 0) == told
    assert abs(read.weight["objects"] - profile.weight["objects"]) <= 1 + profile.weight["objects"] // 1000


@pytest.mark.parametrize("rate,interval", [(100, "16k"), (1000, "16k"), (20, "512k")])
def test_rate(jdk, rate, interval, say):
    """Of a program that allocates 1 GB a second and more as many samples as asked for, whose sums stay right."""
    with Program(jdk, "AllocBound", jvm=["-Xmx256m", "-XX:+UseParallelGC"]) as program:
        wait_until(lambda: "bytes" in program.mark())
        before = program.mark()["bytes"]
        done = jstrobe("start", "-t", "-e", f"alloc@{interval}", "--rate", f"{rate}/s", program.pid)
        assert done.returncode == 0, done.stderr
        time.sleep(counted(20, 60))
        profile = result(program)
        true = program.mark()["bytes"] - before
    seconds = profile.json["duration_ns"] / 1e9
    taken, total, exact = profile.samples["taken"], profile.weight["total"] + profile.weight["lost"], profile.json["counted"]
    say(f"{jdk}: {taken / seconds:.0f} samples a second of {rate} at {exact / seconds / 1e9:.2f} GB/s, the interval up to "
        f"{profile.json['interval_most']}; {total / exact - 1:+.2%}")
    # what comes before the pace is known is made up for within seconds; three standard errors
    assert 0.6 * rate * seconds < taken < rate * seconds + 3 * (rate * seconds) ** 0.5, (taken, seconds)
    assert 0.9 * exact < true, "it begins before the session and ends behind it"
    assert profile.json["interval"] == int(interval[:-1]) << 10 < profile.json["interval_most"]
    # samples weigh as much as the longest interval at most: on a busy machine it changes more, and few weigh much
    assert abs(total / exact - 1) < 5 * (profile.json["interval_most"] / total) ** 0.5, (total, exact)
    site = sum(s["weight"] for s in profile.stacks if s["frames"][-2:] == ["truth.AllocBound.down", "byte[]"])
    assert abs(site / profile.weight["total"] - 1) < 0.05, site
    assert f"once in {interval[:-1]} KB to" in profile.done.stderr, profile.done.stderr


def test_rate_follows(jdk17):
    """A program that goes slow is sampled at the interval that was asked for, and one at whose rate nothing is sampled is refused."""
    with Program(jdk17, "Leaks", 1 << 20, 100 << 20, jvm=["-Xmx256m"]) as program:
        done = jstrobe("start", "-e", "cpu", "--rate", "5", program.pid)
        assert done.returncode != 0 and "of samples of alloc and live" in done.stderr, done.stderr
        assert jstrobe("start", "-e", "cpu,live@64k,alloc@64k", "--rate", "50", program.pid).returncode == 0
        program.say("begin")
        time.sleep(4)
        profile = result(program, "--show", "alloc")
    seconds = profile.json["duration_ns"] / 1e9
    assert 0.5 * 50 * seconds < profile.samples["taken"] < 50 * seconds + 3 * (50 * seconds) ** 0.5 + 50, profile.samples
    assert abs(profile.weight["total"] / profile.json["counted"] - 1) < 5 / profile.samples["taken"] ** 0.5 + 0.02


def test_live_says_the_interval(jdk17):
    """… of a rate, too, and where both are sampled, what was said of one interval is that of the other."""
    with Program(jdk17, "AllocBound", jvm=["-Xmx256m"]) as program:
        for asked, shown in [(["-e", "live@16k"], "live"), (["--all", "--alloc", "16k"], "live"),
                             (["-e", "live@16k,alloc"], "alloc"), (["-e", "cpu,live", "--alloc", "16k"], "live")]:
            done = jstrobe("start", *asked, "--rate", "50", "--live-min-gcs", "0", program.pid)
            assert done.returncode == 0, (asked, done.stderr)
            time.sleep(2)
            profile = result(program, "--show", shown)
            assert profile.json["interval"] == 16384 < profile.json["interval_most"], (asked, profile.json)
            if profile.samples["stored"]:
                assert "once in 16 KB to" in profile.done.stderr, (asked, profile.done.stderr)
        done = jstrobe("start", "-e", "alloc@16k,live@64k", program.pid)
        assert done.returncode != 0 and "or only one of them" in done.stderr, done.stderr


def test_views_of_the_jdk(jdk, tmp_path):
    """What `jfr view` of JDK 25 says of a recording, by site and by class, and what convert reads of it."""
    path, made, jdk25 = result_file(".jfr"), result_file(), jvm.find_jdk(25)
    if not jdk25:
        pytest.skip("no JDK 25 with a jfr tool")
    with Program(jdk, "Allocs", "1024,65536", 400 * 65536) as program:
        done = jstrobe("start", "-e", "alloc@16k", "--jfr-alloc", "sample", "-f", path, program.pid)
        assert done.returncode == 0, done.stderr
        truth = program.play()
        assert jstrobe("stop", program.pid).returncode == 0
    events = Recording(path).events
    assert not events["jdk.ObjectAllocationInNewTLAB"] and not events["jdk.ObjectAllocationOutsideTLAB"]
    weight = sum(e["weight"] for e in events["jdk.ObjectAllocationSample"])
    assert abs(weight / sum(truth[f"{kind}_{size}"] for kind in ("old", "new") for size in (1024, 65536)) - 1) < 0.25
    views = {view: subprocess.run([os.path.join(jdk25.home, "bin", "jfr"), "view", view, path], stdout=subprocess.PIPE,
                                  text=True, check=True).stdout for view in ("allocation-by-site", "allocation-by-class")}
    by_site, by_class = (dict(re.findall(r"^(\S+).*?([\d.]+)%$", view, re.M)) for view in views.values())
    both = sum(float(share) for site, share in by_site.items() if site.startswith("truth.Allocs."))
    assert both > 90 and len(by_site) > 1, views
    assert float(by_class["byte[]"]) > 90, views
    done = jstrobe("convert", "-o", "json", path, made)
    assert done.returncode == 0, done.stderr
    assert Profile(made).weight["total"] == weight


SIZES = {"KB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30}


@pytest.mark.parametrize("flag", ["-XX:+UseSerialGC", "-XX:+UseG1GC", "-XX:+UseZGC"])
def test_beside_other_events(jdk, flag, say):
    """Samples stand for what the JVM has counted in the same time, however long other events take to begin and halt."""
    with Program(jdk, "Allocs", "24,1048,65536", 1 << 40, jvm=["-Xmx256m", flag]) as program:
        program.say("begin")
        seen = 0
        for events in (["alloc"], ["wall,alloc@16k"], ["cpu,lock,alloc@16k"], ["alloc,cpu"]):
            more = ["-i", "16k"] if events[0].startswith("alloc") else []
            done = jstrobe("record", "-e", *events, *more, "-d", "0.5", "-o", "json", "-f", result_file(), program.pid)
            assert done.returncode == 0, done.stderr
            line, = [line for line in done.stderr.splitlines() if "alloc" in line and "amples" in line]
            say(f"{events}, {jdk}, {flag}: {line}")
            if "No samples" in line:
                continue  # on a busy machine the program gets no CPU for half a second now and then
            seen += 1
            taken = int(re.search(r"([\d,]+) samples taken", line).group(1).replace(",", ""))
            lost = float((re.search(r"lost \(queue_full [\d,]+: ([\d.]+) MB", line) or [0, 0])[1])
            stand, unit, all_of_it, of = re.search(r"stand for ([\d.]+) ([KMG]B) .* of ([\d.]+) ([KMG]B) allocated", line).groups()
            share = 100 * float(stand) * SIZES[unit] / (float(all_of_it) * SIZES[of])
            if not lost:  # sizes have two digits or more
                assert abs(share - 100) < 6 + 5 * 100 / taken ** 0.5, line
            # what is more than all by chance is not told as a share
            told = re.search(r"allocated \((?:([\d.]+) %|about all)\)", line)
            assert told and (not told[1] or float(told[1]) <= 100), line
        assert seen and program.alive()


def test_at_exit(jdk):
    """The JVM's end: samples and count end together, those of threads that run and of others."""
    path = result_file()
    with Program(jdk, "Allocs", "1048,65536", 600 * 65536) as program:
        assert jstrobe("start", "-t", "-e", "alloc", "-i", "65536", "-o", "json", "-f", path, program.pid).returncode == 0
        program.play()
        assert program.stop() == 0
    profile = Profile(path)
    share = profile.weight["total"] / profile.json["counted"]
    assert abs(share - 1) < 0.02 + 5 / profile.samples["taken"] ** 0.5, (profile.weight, profile.json["counted"])


def attach(jdk, program, library, options):
    done = subprocess.run([os.path.join(jdk.home, "bin", "jcmd"), str(program.pid), "JVMTI.agent_load", library, options],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60)
    return done.stdout


def test_another_agent_has_it(jdk, tmp_path):
    """Only one agent at a time gets the samples: we are told so, others get them when our session has ended."""
    taker = jvm.build_agent("alloc_taker", tmp_path)
    with Program(jdk, "Allocs", "65536", 65536, jvm=[f"-agentpath:{taker}", "-XX:+EnableDynamicAgentLoading"]) as program:
        done = jstrobe("start", "-e", "alloc", program.pid)
        assert done.returncode == 1 and "another agent takes them" in done.stderr, done.stderr
        done = jstrobe("start", "-e", "cpu,alloc", program.pid)
        assert done.returncode == 1, done.stderr
        assert "not active" in jstrobe("status", program.pid).stdout
        assert "return code: 0" in attach(jdk, program, taker, "give")
        for _ in range(3):
            start(program, 65536)
            assert "return code: 0" not in attach(jdk, program, taker, "take")
            assert jstrobe("stop", "-f", "/dev/null", program.pid).returncode == 0
        assert "return code: 0" in attach(jdk, program, taker, "take")
        assert program.alive()


@pytest.mark.parametrize("said,interval", [(["-e", "alloc"], 524288), (["--alloc"], 524288), (["--alloc", "64k"], 65536),
                                           (["--alloc", "1m"], 1048576), (["-e", "alloc@64k"], 65536),
                                           (["-e", "alloc@1m"], 1048576), (["-e", "alloc", "-i", "64k"], 65536),
                                           (["-e", "alloc", "-i", "1m"], 1048576), (["-e", "alloc", "-i", "1kb"], 1024),
                                           (["--alloc", "0"], 0), (["-e", "alloc@0"], 0)])
def test_intervals(said, interval):
    """However it is said, k and m are of bytes."""
    with Program(jvm.find_jdk(17), "Allocs", "65536", 65536) as program:
        assert jstrobe("start", *said, program.pid).returncode == 0
        path = result_file()
        assert jstrobe("stop", "-o", "json", "-f", path, program.pid).returncode == 0
    assert Profile(path).json.get("interval", 0) == interval


@pytest.mark.parametrize("said", ["10ms", "1s", "5us"])
def test_times_are_no_bytes(said):
    done = jstrobe("start", "-e", "alloc", "-i", said, 1)
    assert done.returncode == 2 and "that of alloc is bytes" in done.stderr, done.stderr
