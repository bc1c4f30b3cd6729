"""jstrobe convert on recordings of real JVMs, held against what the JDK's own tool says of the same file."""
import collections
import json
import os
import re
import subprocess
import time

import jvm
import pytest
from jvm import Profile, Program, counted, jstrobe
from test_page_time import moments, profiles

pytestmark = pytest.mark.together


def tool(jdk, *args):
    done = subprocess.run([os.path.join(jdk.home, "bin", "jfr"), *args], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=120)
    assert done.returncode == 0, done.stdout[-2000:]
    return done.stdout


def recording(jdk, settings, seconds):
    if not jdk:
        pytest.skip("JDK 25: not tested (none installed, none could be fetched)")
    path = jvm.result_file(".jfr")
    with Program(jdk, "KnownShares", jvm=[f"-XX:StartFlightRecording:settings=profile,{settings}filename={path}"]) as program:
        time.sleep(seconds)
        assert program.stop() == 0
    return path


@pytest.fixture(scope="module")
def of_17(programs):
    path = recording(jvm.find_jdk(17), "", counted(2, 20))
    yield path
    os.remove(path)


@pytest.fixture(scope="module")
def of_25(programs):
    path = recording(jvm.find_jdk(25), "jdk.CPUTimeSample#enabled=true,jdk.CPUTimeSample#throttle=5ms,", counted(2, 20))
    yield path
    os.remove(path)


def converted(path, *options):
    out = jvm.result_file()
    done = jstrobe("convert", *options, path, out)
    assert done.returncode == 0, done.stderr
    profile = Profile(out)
    os.remove(out)
    profile.check()
    return profile


def counts(jdk, path):
    """{event: how many} by the JDK's tool."""
    return {name: int(n) for name, n in re.findall(r"^ (\S+)\s+(\d+)\s+\d+$", tool(jdk, "summary", path), re.M)}


@pytest.fixture(scope="module", params=[(17, "epoll"), (17, "socket"), (25, "epoll"), (25, "pool")], ids=str)
def of_waiting(request, programs):
    """Two threads that work half of the time beside many that wait in native code, or (pool) nowhere there."""
    version, how = request.param
    jdk = jvm.find_jdk(version)
    if not jdk:
        pytest.skip(f"JDK {version}: not tested (none installed, none could be fetched)")
    path = jvm.result_file(".jfr")
    with Program(jdk, "IdlePool", how, 20, jvm=[f"-XX:StartFlightRecording:settings=profile,filename={path}"]) as program:
        time.sleep(counted(3, 20))
        assert program.stop() == 0
    yield jdk, how, path
    os.remove(path)


def test_native_samples_are_no_cpu_time(of_waiting, say):
    jdk, how, path = of_waiting
    found = counts(jdk, path)
    cpu = converted(path, "--cpu")
    assert cpu.samples["stored"] == found["jdk.ExecutionSample"]
    waits = lambda profile: sum(s["samples"] for s in profile.stacks if re.search(
        r"EPoll\.wait|socketRead0|SocketDispatcher\.read0|Net\.(accept|poll)|receive0", s["frames"][-1]))
    assert not waits(cpu), cpu.stacks
    if how == "pool":
        return
    native = converted(path, "-e", "native")
    assert native.samples["stored"] == found["jdk.NativeMethodSample"] and native.json["event"] == "native"
    assert waits(native) > native.samples["stored"] / 2
    say(f"{jdk}, {how}: {cpu.samples['stored']} samples of CPU time and {native.samples['stored']} of native methods, "
        f"{waits(native)} of which wait: they were {100 * waits(native) / (cpu.samples['stored'] + native.samples['stored']):.0f} % of --cpu")


@pytest.mark.parametrize("event, family", [("jdk.ExecutionSample", "cpu"), ("jdk.NativeMethodSample", "native")])
def test_every_stack_is_the_jdks(of_17, event, family):
    jdk = jvm.find_jdk(17)
    if family == "native" and not counts(jdk, of_17)[event]:
        pytest.skip("the program was never seen in a native method")
    text = tool(jdk, "print", "--json", "--stack-depth", "200", "--events", event, of_17)
    theirs = collections.Counter()
    for event in json.loads(text)["recording"]["events"]:
        values = event["values"]
        frames = [f"{f['method']['type']['name'].replace('/', '.')}.{f['method']['name']}:{f['lineNumber']}"
                  for f in values["stackTrace"]["frames"]]
        theirs[(values["sampledThread"]["osThreadId"], *reversed(frames))] += 1
    profile = converted(of_17, "-t", "--lines", "--no-norm", "-e", family)
    ours = collections.Counter()
    for stack in profile.stacks:
        frames = [f if ":" in f else f + ":-1" for f in stack["frames"]]
        ours[(stack["tid"], *frames)] += stack["samples"]
    plain = lambda stacks: collections.Counter({tuple(re.sub(r"\$\$Lambda.*?\.(?=\w+:)|:(-1|0)$", "", str(f)) for f in s): n
                                                for s, n in stacks.items()})
    assert sum(theirs.values()) > (5 if family == "cpu" else 0)
    assert plain(ours) == plain(theirs)


def test_cpu_time_samples(of_25):
    found = counts(jvm.find_jdk(25), of_25)
    profile = converted(of_25, "--cpu-time")
    assert profile.json["event"] == "cputime"
    assert profile.samples["stored"] == found["jdk.CPUTimeSample"]
    text = tool(jvm.find_jdk(25), "print", "--json", "--events", "jdk.CPUTimeSample", of_25)
    periods = [float(p) for p in re.findall(r'"samplingPeriod": "PT([\d.]+)S"', text)]
    assert len(periods) == profile.samples["stored"]
    assert profile.weight["total"] == pytest.approx(sum(periods) * 1e9, rel=1e-6)
    assert profile.share("truth.KnownShares.alpha") > 0
    if found["jdk.ExecutionSample"]:
        assert converted(of_25, "--cpu").samples["stored"] == found["jdk.ExecutionSample"]


def test_the_page_has_all_families(of_25):
    out = jvm.result_file(".html")
    done = jstrobe("convert", of_25, out)
    assert done.returncode == 0, done.stderr
    with open(out) as page:
        events = re.findall(r'^"event":"(\w+)"', page.read(), re.M)
    os.remove(out)
    assert events[0] == "cputime" and len(events) > 1 and len(set(events)) == len(events)


def as_jfrconv(folder, *args):
    """The command called by the name of async-profiler's converter, in that folder."""
    return subprocess.run([os.path.join(jvm.OUT, "bin", "jfrconv"), *args], capture_output=True, text=True, cwd=folder,
                          timeout=60)


def lines_of(path):
    found = collections.Counter()
    for line in path.read_text().splitlines():
        stack, _, n = line.rpartition(" ")
        found[re.sub(r"_\[[0-9a-z]\](?=;|$)", "", stack)] += int(n)
    return found


def test_called_as_jfrconv(of_17, of_25, tmp_path):
    name, other = (os.path.splitext(os.path.basename(path))[0] for path in (of_17, of_25))
    into = tmp_path / "into"
    into.mkdir()
    for args, made in (((of_17,), f"{name}.html"), (("-o", "tree", of_17), f"{name}.html"),
                       (("-o", "collapsed", "--cpu", "-t", of_17), f"{name}.collapsed"),
                       (("--cpu", "--lines", of_17, "out.collapsed"), "out.collapsed")):
        done = as_jfrconv(tmp_path, *args)
        assert done.returncode == 0, done.stderr
        assert (tmp_path / made).stat().st_size and ("-o" not in args or "tree" not in args or
                                                     '"asTree":true' in (tmp_path / made).read_text()), made
        said = jstrobe("convert", "--no-norm", *args[:-1], "-f", str(tmp_path / "same"), of_17) if made.endswith(f"{name}.collapsed") else None
        # jfrconv tells how a method was compiled, in collapsed stacks always
        assert not said or lines_of(tmp_path / "same") == lines_of(tmp_path / made)
        (tmp_path / made).unlink()
    done = as_jfrconv(tmp_path, "-o", "collapsed", "--cpu", of_17, of_25, "into")
    assert done.returncode == 0 and sorted(os.listdir(into)) == sorted([f"{name}.collapsed", f"{other}.collapsed"]), done.stderr
    done = as_jfrconv(tmp_path, of_17, of_25, "into.html")
    assert done.returncode == 2 and "folder" in done.stderr and not (tmp_path / "into.html").exists()
    done = as_jfrconv(tmp_path, "--diff", "--cpu", of_17, of_25)
    assert done.returncode == 0 and "Difference" in (tmp_path / f"{other}.diff.html").read_text(), done.stderr
    assert as_jfrconv(tmp_path, "--diff", of_17, "only.html").returncode != 0
    assert as_jfrconv(tmp_path, "--help").stdout.startswith(jstrobe("help", "convert").stdout[:40])
    assert as_jfrconv(tmp_path).returncode == 2


def test_a_part_of_the_time(of_25):
    whole = converted(of_25, "--cpu-time").samples["stored"]
    first = converted(of_25, "--cpu-time", "--to", "-1s").samples["stored"]
    rest = converted(of_25, "--cpu-time", "--from", "-1000").samples["stored"]
    assert first + rest == whole and first and rest


def stacks(profile):
    found = collections.Counter()
    for s in profile.stacks:
        found[s.get("tid"), tuple(s["frames"]), tuple(s["kinds"])] += s["samples"]
    return found


def every_format_says(path, samples):
    """The sum of what each text, and the page, makes of a recording."""
    for suffix, numbers in ((".collapsed", r" (\d+)$"), (".txt", r"^Total samples +: (\d+)"), (".html", r"^\"stored\":(\d+)")):
        out = jvm.result_file(suffix)
        done = jstrobe("convert", path, out)
        assert done.returncode == 0, done.stderr
        with open(out) as file:
            found = [int(n.replace(",", "")) for n in re.findall(numbers, file.read(), re.M)]
        assert sum(found) == samples, (suffix, found[:5])
        os.remove(out)


@pytest.mark.parametrize("event, every, events", [("cpu", "1ms", "both"), ("cpu", "1ms", "execution"), ("wall", "20ms", "both")])
def test_our_own_say_the_same_as_the_session(jdk17, event, every, events):
    path, at_once = jvm.result_file(".jfr"), jvm.result_file()
    with Program(jdk17, "KnownShares") as program:
        done = jstrobe("start", "-e", event, "-i", every, "-t", "--cpuevents", events, "-f", path, program.pid)
        assert done.returncode == 0, done.stderr
        time.sleep(counted(1, 10))
        assert jstrobe("stop", "-t", "-f", at_once, program.pid).returncode == 0
    said = Profile(at_once)
    again = converted(path, "-t")
    assert "told" not in again.json
    for key in ("samples", "engine", "event", "pid", "main", "jdk"):
        assert again.json[key] == said.json[key], key
    if event == "cpu":
        # weights that follow the samples are right within a 32nd of the interval up to each of them
        near = 1e6 / 32 if events == "execution" else 0
        assert again.weight["total"] == pytest.approx(said.weight["total"], abs=near)
    assert stacks(again) == stacks(said)
    if event == "cpu":
        # the recording's own clock begins a little before the session's; perf events count what the machine's host
        # takes, and clocks do not: the session has the same excess
        def excess(profile):
            told = sum(profile.weight[key] for key in ("total", "lost", "unsampled")) + profile.json["own_cpu_ns"]
            return told - profile.json["cpu_time_ns"]

        slack = 1e-6 * again.json["cpu_time_ns"]
        parts = excess(again), excess(said), again.weight, said.weight
        assert excess(again) >= -slack and abs(excess(again) - excess(said)) <= slack + near, parts
    every_format_says(path, said.samples["stored"])
    os.remove(path)
    os.remove(at_once)


def test_an_unfinished_recording_is_repaired(of_17):
    """As a killed JVM leaves it: the header says that the chunk is open, and an event is cut."""
    jdk = jvm.find_jdk(17)
    with open(of_17, "rb") as file:
        content = bytearray(file.read())
    content[64] = 1
    broken, repaired = jvm.result_file(".jfr"), jvm.result_file(".jfr")
    with open(broken, "wb") as file:
        file.write(content + b"\xff\x01\x02")
    done = jstrobe("convert", broken, repaired)
    assert done.returncode == 0 and "not finished" in done.stderr, done.stderr
    assert counts(jdk, repaired) == counts(jdk, of_17) or \
        counts(jdk, repaired)["jdk.ExecutionSample"] == counts(jdk, of_17)["jdk.ExecutionSample"]
    tool(jdk, "print", "--events", "jdk.ExecutionSample", repaired)
    assert converted(repaired, "-e", "cpu").stacks == converted(of_17, "-e", "cpu").stacks
    os.remove(broken)
    os.remove(repaired)


def test_wrong_usage(tmp_path):
    text = tmp_path / "x.collapsed"
    text.write_text("a;b 1\n")
    for words, says in ((["convert"], "which file"), (["convert", "a", "b", "c"], "several files become as many"),
                        (["convert", text, text], "same file"), (["record", "--from", "1s", "1"], "it belongs to convert"),
                        (["convert", text, tmp_path / "y.jfr"], "no JFR recording"), (["convert", "-e", "cpu", text], "collapsed"),
                        (["convert", "-I", ".*Map.*", text], "not regular expressions"),
                        (["convert", "--exclude", "^Map", text], "not regular expressions"),
                        (["convert", "-X", "a*.b", text], "-X: 'a*.b' has a * inside"),
                        (["convert", "--nothing", text], "unknown option")):
        done = jstrobe(*words)
        assert done.returncode == 2 and says in done.stderr, done.stderr
        assert len(os.listdir(tmp_path)) == 1
    for more in (), ("-I", "a.*", "-I", "a"):
        done = jstrobe("convert", text, "-o", "collapsed", *more)
        assert done.returncode == 0 and done.stdout == "a;b 1\n"


def test_async_profilers(programs, tmp_path):
    """Its own converter says the same of its recordings."""
    peers = os.path.join(jvm.OUT, "peers")
    library, converter = os.path.join(peers, "ap46", "lib", "libasyncProfiler.so"), os.path.join(peers, "jfr-converter-4.5.jar")
    if jvm.SOAK:
        jvm.run_script("fetch-peers.sh")
    if not (os.path.exists(library) and os.path.exists(converter)):
        pytest.skip("async-profiler and its converter are not here; make soak fetches them")
    jdk = jvm.find_jdk(17)
    path = tmp_path / "peer.jfr"
    agent = f"-agentpath:{library}=start,event=cpu,interval=1ms,alloc=10k,file={path}"
    with Program(jdk, "KnownShares", jvm=[agent]) as program:
        time.sleep(2)
        program.stop()
    for family in ("--cpu", "--alloc"):
        ours, theirs = tmp_path / "ours.collapsed", tmp_path / "theirs.collapsed"
        assert jstrobe("convert", "--no-norm", family, path, ours).returncode == 0
        subprocess.run([jdk.java, "-jar", converter, family, "-o", "collapsed", path, theirs], check=True,
                       stdout=subprocess.DEVNULL)
        found = []
        for file in (ours, theirs):
            stacks = collections.Counter()
            for line in file.read_text().splitlines():
                stack, _, n = line.rpartition(" ")
                stacks[re.sub(r"_\[[0-9a-z]\](?=;|$)", "", stack).replace("/", ".")] += int(n)
            found.append(stacks)
        assert found[0] == found[1] and found[0]


@pytest.mark.parametrize("version, threads", [(17, ()), (25, ("-t",))], ids=str)
def test_parts_of_the_time_are_the_whole(programs, version, threads, say):
    """Of batches and of waits the part inside counts, in sums and in times, and each event keeps its interval."""
    jdk = jvm.find_jdk(version)
    if not jdk:
        pytest.skip(f"JDK {version}: not tested (none installed, none could be fetched)")
    path, events = jvm.result_file(".jfr"), ("cpu", "wall", "lock", "alloc")
    with Program(jdk, "Contended", "monitor", 8, 1) as program:
        done = jstrobe("record", "-e", ",".join(events), "-d", counted(3, 20), "-f", path, program.pid)
        assert done.returncode == 0, done.stderr

    def of(*options):
        out = jvm.result_file()
        done = jstrobe("convert", *threads, *options, path, out)
        assert done.returncode == 0, done.stderr
        with open(out) as file:
            found = {p["event"]: p for p in json.load(file)["profiles"]}
        os.remove(out)
        return found

    whole = of()
    parts = [of("--to", "1200"), of("--from", "1200", "--to", "1700ms"), of("--from", "1700ms")]
    for event in events:
        if event not in whole:
            continue
        interval = "interval" if event == "alloc" else "interval_ns"
        for part in (p[event] for p in parts if event in p):
            assert part[interval] == whole[event][interval] > 0, event
            assert (part["times"]["steps"] - 1) * part["times"]["step_ns"] <= part["duration_ns"], event
        sums = sum(p[event]["weight"]["total"] for p in parts if event in p)
        total = whole[event]["weight"]["total"]
        assert abs(sums - total) <= 1e-6 * total + 1000, (event, sums, total)
        if event != "lock":  # a wait over the border is in both parts
            assert sum(p[event]["samples"]["stored"] for p in parts if event in p) == whole[event]["samples"]["stored"]
    middle = parts[1]["lock"]["weight"]["total"]
    page = jvm.result_file(".html")
    assert jstrobe("convert", *threads, path, page).returncode == 0
    with open(page, encoding="utf-8") as file:
        [waits] = [p for p in profiles(file.read()) if p["event"] == "lock"]
    step = waits["time"]["step"] / 1e6
    inside = sum(weight * (min(1700, at + span) - max(1200, at)) / span if span else weight * (1200 <= at < 1700)
                 for at, span, _, _, weight in moments(waits) if at < 1700 and at + span > 1200)
    # the page has steps: each wait that is cut may be off by one at either end
    assert abs(inside - middle) < 0.02 * middle + 20 * step * 1e6, (inside, middle)
    say(f"{jdk}: waits of the middle half second: {middle / 1e9:.3f} s, by the page {inside / 1e9:.3f} s")


@pytest.mark.parametrize("version, options", [(17, ()), (25, ("-t",)), (25, ())], ids=str)
def test_what_was_allocated_before_is_not_of_the_recording(programs, version, options, say):
    """First samples of threads weigh all since these began; how much the threads allocated meanwhile is in the recording."""
    jdk = jvm.find_jdk(version)
    if not jdk:
        pytest.skip(f"JDK {version}: not tested (none installed, none could be fetched)")
    path, out, page = jvm.result_file(".jfr"), jvm.result_file(), jvm.result_file(".html")
    jcmd = lambda program, *words: subprocess.run([os.path.join(jdk.home, "bin", "jcmd"), str(program.pid), *words],
                                                  check=True, capture_output=True, timeout=60)
    with Program(jdk, "Garbage") as program:
        program.work(3)
        jcmd(program, "JFR.start", "name=r", "settings=profile")
        program.work(2)
        jcmd(program, "JFR.stop", "name=r", f"filename={path}")
    assert jstrobe("convert", *options, "-e", "alloc", path, out).returncode == 0
    assert jstrobe("convert", *options, "-e", "alloc", path, page).returncode == 0
    with open(out) as file:
        profile = json.load(file)
    events = lambda name: [e["values"] for e in json.loads(tool(jdk, "print", "--json", "--events", name, path))["recording"]["events"]]
    raw = sum(e["weight"] for e in events("jdk.ObjectAllocationSample"))
    sums = collections.defaultdict(list)
    for e in sorted(events("jdk.ThreadAllocationStatistics"), key=lambda e: e["startTime"]):
        sums[e["thread"]["javaThreadId"]].append(e["allocated"])
    truth = sum(s[-1] - s[0] for s in sums.values())
    found = profile["weight"]["total"]
    say(f"{jdk}: {found / 1e6:.0f} MB by samples, {truth / 1e6:.0f} MB by statistics; the JDK's weights come to {raw / 1e6:.0f} MB")
    assert 0.8 * truth - 5e6 < found < 1.2 * truth + 5e6
    assert found == sum(s["weight"] for s in profile["stacks"]) == sum(t["weight"] for t in profile["threads"])
    assert sum(profile["times"].get("weight") or profile["times"]["samples"]) * profile["times"]["quantum"] == found
    with open(page, encoding="utf-8") as file:
        text = file.read()
    said = " had allocated before the recording began"
    assert (said in profile["told"]) == (said in text) == (raw > found)
    if raw > 1.5 * truth + 5e6:
        assert said in profile["told"]
