"""Files for other viewers: the same totals by stack as ours, by a reader of its own and by the viewers' own checks."""
import base64
import json
import os
import re
import shutil
import subprocess
import time

import jsonschema
import jvm
import pytest
import viewers
from jvm import Program, jstrobe
from test_context import LABELS, TRACE, meet, requests

pytestmark = pytest.mark.together

EVENTS = {"cpu": ("samples", "cpu"), "wall": ("wall_samples", "wall"), "alloc": ("alloc_samples", "alloc_space")}


def made(suffix, *words):
    """A file with SUFFIX that jstrobe makes by WORDS."""
    path = jvm.result_file("." + suffix)
    done = jstrobe(*[path if word is None else word for word in words])
    assert done.returncode == 0, done.stderr
    return path


def collapsed(path, event, *options):
    """{stack: number} of EVENT in PATH by the format that other tests hold against the JDK's."""
    out = made("collapsed", "convert", "-e", event, "--dot", *options, path, None)
    with open(out) as file:
        return {stack: int(n) for stack, n in (line.rstrip("\n").rsplit(" ", 1) for line in file)}


@pytest.fixture(scope="module")
def session(programs):
    """Three events of one program, as JSON, by thread."""
    path = jvm.result_file(".json")
    with Program(jvm.find_jdk(17), "Garbage") as program:
        done = jstrobe("record", "-d", "2", "-t", "-e", "cpu,wall,alloc", "-f", path, program.pid)
        assert done.returncode == 0, done.stderr
    yield path
    os.remove(path)


def of_jdk(version, settings=""):
    jdk = jvm.find_jdk(version)
    if not jdk:
        pytest.skip("JDK 25: not tested (none installed, none could be fetched)")
    path = jvm.result_file(".jfr")
    with Program(jdk, "KnownShares", jvm=[f"-XX:StartFlightRecording:settings=profile,{settings}filename={path}"]) as program:
        time.sleep(2)
        assert program.stop() == 0
    return path


@pytest.fixture(scope="module")
def otlp():
    """Reads files of OTLP."""
    messages = viewers.otlp_messages()
    if not messages:
        pytest.skip("OTLP's messages could not be fetched (scripts/fetch-viewers.sh)")
    return lambda path: viewers.Otlp(path, messages)


def check_same(path, events):
    """Each export of PATH has what its collapsed stacks have."""
    pprof = viewers.Pprof(made("pb.gz", "convert", "-e", events, path, None))
    speedscope = viewers.Speedscope(made("speedscope.json", "convert", "-e", events, path, None))
    several = "," in events
    for event in events.split(","):
        samples, weight = EVENTS[event]
        weights = collapsed(path, event, "--total")
        assert weights and pprof.stacks(weight) == weights
        assert pprof.stacks(samples) == collapsed(path, event)
        assert speedscope.stacks(event if several else None) == weights
    return pprof, speedscope


def test_sums_of_a_session(session):
    pprof, speedscope = check_same(session, "cpu,wall,alloc")
    assert pprof.types == [("samples", "count"), ("cpu", "nanoseconds"), ("wall_samples", "count"), ("wall", "nanoseconds"),
                           ("alloc_samples", "count"), ("alloc_objects", "count"), ("alloc_space", "bytes")]
    assert pprof.default == "cpu" and pprof.period == 10_000_000
    with open(session) as file:
        cpu = json.load(file)["profiles"][0]
    assert abs(pprof.duration - cpu["duration_ns"]) < 1_000_000_000
    assert abs(pprof.time / 1e9 - time.time()) < 600
    assert len(pprof.comments) == 4 and pprof.comments[1].startswith("cpu: ") and "samples taken" in pprof.comments[1]
    # who it was, and what the thread did
    threads = {thread["name"]: thread["tid"] for thread in cpu["threads"]}
    labels = [labels for _, values, labels in pprof.samples if values["cpu"]]
    assert all(threads[label["thread"]] == label["thread_id"] for label in labels)
    assert {label["thread"] for label in labels} <= set(threads)
    states = {labels["state"] for _, values, labels in pprof.samples if values["wall"]}
    assert {"running", "parked"} & states and not any("state" in label for label in labels)
    assert {profile["unit"] for profile in speedscope.file["profiles"]} == {"nanoseconds", "bytes"}


@pytest.mark.parametrize("version, settings, events", [
    (17, "", "cpu"), (25, "jdk.CPUTimeSample#enabled=true,jdk.CPUTimeSample#throttle=5ms,", "cpu")])
def test_sums_of_the_jdks_recordings(programs, version, settings, events):
    path = of_jdk(version, settings)
    check_same(path, events)
    os.remove(path)


def test_otlp(session, otlp):
    read = otlp(made("otlp", "convert", "-e", "cpu,wall,alloc", session, None))
    for event in ("cpu", "wall", "alloc"):
        samples, weight = EVENTS[event]
        assert read.stacks(weight) == collapsed(session, event, "--total")
        assert read.stacks(samples) == collapsed(session, event)
    assert ("alloc_space", "bytes") in read.types and len(read.types) == 7
    with open(session) as file:
        whole = json.load(file)["profiles"][0]
    assert read.resource["process.pid"] == whole["pid"] and read.resource["service.name"] == "truth.Garbage"
    assert read.scope.name == "jstrobe"
    threads = {thread["name"]: thread["tid"] for thread in whole["threads"]}
    assert all(threads[a["thread.name"]] == a["thread.id"] for _, v, a, _ in read.samples if "cpu" in v)
    assert {a.get("thread.state") for _, v, a, _ in read.samples if "wall" in v} & {"running", "parked"}
    kinds = {kind for name, kind in read.kinds.items() if "truth.Garbage" in name}
    assert kinds == {"jvm"} and "native" in read.kinds.values()
    assert all(kind == "kernel" for name, kind in read.kinds.items() if name.endswith("_[k]"))


def test_otlp_has_contexts_as_links(jdk17, otlp):
    with requests(jdk17, "platform", 2) as program:
        meet(program, 2)
        read = otlp(made("otlp", "record", "-d", "1", "--context", "-f", None, program.pid))
    linked = [(a, link) for names, _, a, link in read.samples if link[0] == TRACE]
    assert linked and all(len(link[1]) == 16 for _, link in linked)
    assert any(a.get("route") == LABELS[1]["route"] for a, _ in linked)


def test_live(jdk):
    with Program(jdk, "KnownShares") as program:
        path = made("pb.gz", "record", "-d", "1", "-i", "1ms", "-f", None, program.pid)
        pprof = viewers.Pprof(path)
        assert sum(values["cpu"] for _, values, _ in pprof.samples) > 50_000_000
        assert all("thread" in labels for _, _, labels in pprof.samples)  # without -t
        speedscope = viewers.Speedscope(made("speedscope.json", "record", "-d", "1", "-f", None, program.pid))
        assert any("KnownShares" in name for name in speedscope.stacks())
        # what is inlined stands in one place with what it is inlined into, and lines are there if they are asked for
        assert any(len(lines) > 1 for lines in pprof.locations.values())
        assert not any(line for lines in pprof.locations.values() for _, line in lines)
        pprof = viewers.Pprof(made("pb.gz", "record", "-d", "1", "--lines", "-f", None, program.pid))
        assert any(line for lines in pprof.locations.values() for _, line in lines)


def test_contexts(jdk17):
    """What threads worked for: ids and the labels that the program set."""
    with requests(jdk17, "platform", 2) as program:
        meet(program, 2)
        pprof = viewers.Pprof(made("pb.gz", "record", "-d", "1", "--context", "-f", None, program.pid))
    of_first = [labels for names, _, labels in pprof.samples if any(name.endswith("Requests.span1") for name in names)]
    right = [labels for labels in of_first if labels.get("trace_id") == TRACE and labels.get("route") == LABELS[1]["route"]]
    assert of_first and len(right) >= 0.9 * len(of_first), of_first[:3]
    assert all(int(labels["span_id"], 16) % 4 == 1 and labels["tenant"] == LABELS[1]["tenant"] for labels in right)


def by_context(samples, kind="samples", times=1):
    """{(stack, what it was for): number} of SAMPLES of pprof."""
    sums = {}
    for names, values, labels in samples:
        key = (";".join(names), *sorted((key, value) for key, value in labels.items() if key not in ("thread", "state")))
        if values.get(kind):
            sums[key] = sums.get(key, 0) + values[kind] * times
    return sums


def check_requests(samples):
    """Samples (names, labels) of truth.Requests.span1 have what it set."""
    of_first = [labels for names, labels in samples if any(name.endswith("Requests.span1") for name in names)]
    right = [labels for labels in of_first if labels.get("trace_id") == TRACE and labels.get("route") == LABELS[1]["route"]
             and labels.get("tenant") == LABELS[1]["tenant"] and int(labels["span_id"], 16) % 4 == 1]
    assert of_first and len(right) >= 0.9 * len(of_first), of_first[:3]


@pytest.fixture(scope="module")
def requests_recorded(programs):
    """A recording with contexts; they are there unasked."""
    with requests(jvm.find_jdk(17), "platform", 2) as program:
        meet(program, 2)
        path = made("jfr", "record", "-d", "1", "-i", "1ms", "-e", "cpu,wall", "-f", None, program.pid)
    yield path
    os.remove(path)


def test_contexts_of_a_recording(requests_recorded, otlp):
    pprof, _ = check_same(requests_recorded, "cpu,wall")
    check_requests([(names, labels) for names, _, labels in pprof.samples])
    assert all("thread" in labels for _, _, labels in pprof.samples)
    read = otlp(made("otlp", "convert", "-e", "cpu,wall", requests_recorded, None))
    linked = [a for names, _, a, link in read.samples if link[0] == TRACE]
    assert any(a.get("route") == LABELS[1]["route"] for a in linked)
    assert sum(1 for a in linked) > 0.5 * len(read.samples)
    # a part by its context is that part of the whole
    part = viewers.Pprof(made("pb.gz", "convert", "-e", "cpu,wall", "--label", "route=inner", requests_recorded, None))
    inner = [sample for sample in pprof.samples if sample[2].get("route") == "inner"]
    assert inner and by_context(part.samples) == by_context(inner)


def test_contexts_of_a_recording_that_several_read(requests_recorded, tmp_path):
    """Large ones are read by several threads; a recording behind itself is one with twice as many samples."""
    with open(requests_recorded, "rb") as file:
        once = file.read()
    times = (8 << 20) // len(once) + 2
    large = tmp_path / "large.jfr"
    large.write_bytes(once * times)
    one, many = (viewers.Pprof(made("pb.gz", "convert", "-e", "cpu,wall", path, None)) for path in (requests_recorded, large))
    for kind in ("samples", "wall_samples"):
        assert by_context(many.samples, kind) == by_context(one.samples, kind, times)


@pytest.mark.parametrize("more", [[], ["-t"]])
def test_contexts_of_json(jdk17, more):
    with requests(jdk17, "platform", 2) as program:
        meet(program, 2)
        path = made("json", "record", "-d", "1", "-i", "1ms", "--context", *more, "-f", None, program.pid)
    pprof = viewers.Pprof(made("pb.gz", "convert", path, None))
    check_requests([(names, labels) for names, _, labels in pprof.samples])
    assert pprof.stacks("samples") == collapsed(path, "cpu")
    assert any("thread" in labels for _, _, labels in pprof.samples) == bool(more)
    with open(path) as file:
        whole = json.load(file)
    expected, found = {}, {}
    for stack in whole["stacks"]:
        said = whole["contexts"][stack["context"]] if "context" in stack else {}
        key = (said.get("trace_id"), said.get("span_id"), *sorted(said.get("labels", {}).items()))
        expected[key] = expected.get(key, 0) + stack["weight"]
    for _, values, labels in pprof.samples:
        own = sorted((key, value) for key, value in labels.items() if key not in ("thread", "thread_id", "trace_id", "span_id"))
        key = (labels.get("trace_id"), labels.get("span_id"), *own)
        found[key] = found.get(key, 0) + values["cpu"]
    assert found == expected and len(found) > 3


@pytest.mark.parametrize("suffix", ["pb.gz", "pprof", "speedscope.json", "otlp", "firefox.json", "pftrace", "perfetto-trace"])
def test_the_hint_for_a_file_that_is_there_keeps_the_format(session, tmp_path, suffix):
    old = tmp_path / f"d.1.{suffix}"
    old.write_bytes(b"old")
    done = jstrobe("convert", session, old, overwrite=False)
    assert done.returncode == 2 and f"-f '{tmp_path}/d.1-%n.{suffix}'" in done.stderr, done.stderr
    again = jstrobe("convert", session, "-f", re.search("-f '(.*?)'", done.stderr)[1], overwrite=False)
    new = tmp_path / f"d.1-1.{suffix}"
    assert again.returncode == 0 and old.read_bytes() == b"old", again.stderr
    assert new.read_bytes() == open(made(suffix, "convert", session, None), "rb").read()


def on_terminal(*words):
    """What jstrobe says on stderr with stdout on a terminal, what that shows, and its exit code."""
    master, slave = os.openpty()
    done = subprocess.run([jvm.COMMAND, *map(str, words)], stdout=slave, stderr=subprocess.PIPE, text=True, timeout=60)
    os.close(slave)
    try:
        shown = os.read(master, 100000)
    except OSError:
        shown = b""
    os.close(master)
    return done.stderr, shown, done.returncode


@pytest.mark.parametrize("word", ["pprof", "otlp", "otlpjson", "speedscope", "firefox", "perfetto", "callgrind", "svg", "csv", "ndjson"])
def test_it_is_nothing_for_a_terminal(jdk17, session, word):
    suffix = "otlp.json" if word == "otlpjson" else word
    for more in ([], ["-f", "-"]):
        said, shown, code = on_terminal("convert", "-o", word, *more, session)
        assert code == 2 and f"{word} is for another viewer, no text for a terminal; say -f FILE" in said and not shown, (said, shown, code)
    with Program(jdk17, "KnownShares") as program:
        said, shown, code = on_terminal("record", "-d", "300", "-o", word, program.pid)
        assert code == 2 and "say -f FILE" in said and not shown, (said, shown, code)
        with open(f"/proc/{program.pid}/maps") as maps:
            assert "jstrobe" not in maps.read()
        assert jstrobe("start", "-i", "1ms", program.pid).returncode == 0
        program.work(0.5)
        said, shown, code = on_terminal("stop", "-o", word, program.pid)
        assert code and "say -f FILE" in said and not shown, (said, shown, code)
        done = jstrobe("stop", "-f", jvm.result_file("." + suffix), program.pid)
        assert done.returncode == 0, ("it was there still", done.stderr)
    done = subprocess.run([jvm.COMMAND, "convert", "-o", word, session], stdout=subprocess.PIPE, timeout=60)
    assert done.returncode == 0 and done.stdout == open(made(suffix, "convert", session, None), "rb").read()


def test_comments_of_a_part(session):
    """They say how much of the whole is in the file."""
    whole = viewers.Pprof(made("pb.gz", "convert", "-e", "cpu", session, None))
    part = viewers.Pprof(made("pb.gz", "convert", "-e", "cpu", "-I", "*Garbage*", session, None))
    all_of_it, left = (sum(values["samples"] for _, values, _ in p.samples) for p in (whole, part))
    assert 0 < left < all_of_it and "this file" not in whole.comments[1]
    assert part.comments[1].startswith(f"cpu: this file has {left:,} of the {all_of_it:,} stored samples, "), part.comments
    assert whole.comments[1].removeprefix("cpu: ") in part.comments[1].split("; of all of them: ")[1]


def test_comments_of_a_time(jdk17):
    with Program(jdk17, "KnownShares") as program:
        path = made("jfr", "record", "-d", "1.5", "-i", "1ms", "-f", None, program.pid)
    part = viewers.Pprof(made("pb.gz", "convert", "-e", "cpu", "--from", "1ms", path, None))
    count = sum(values["samples"] for _, values, _ in part.samples)
    assert count and part.comments[1].startswith(f"cpu: {count:,} samples in ") and "(a part of them" in part.comments[1]


def test_a_wait_is_in_two_types_only_if_both_are_asked_for(jdk17):
    with Program(jdk17, "Contended", "monitor", 4, 1) as program:
        path = made("jfr", "record", "-d", "1", "-e", "lock", "-f", None, program.pid)

    def types(*words):
        return {name for name, _ in viewers.Pprof(made("pb.gz", "convert", *words, path, None)).types}

    assert "delay" in types() and "monitor" not in types()
    assert {"delay", "monitor"} <= types("-e", "all") and types("-e", "monitor") == {"monitor_samples", "monitor"}


def test_pprof_itself(session):
    tool = viewers.fetched("pprof")
    if not tool:
        pytest.skip("pprof could not be fetched (scripts/fetch-viewers.sh)")
    path = made("pb.gz", "convert", "-e", "cpu,wall,alloc", session, None)

    def say(*words):
        done = subprocess.run([tool, "-symbolize=none", *words, path], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              timeout=60)
        assert done.returncode == 0, done.stderr
        return done.stdout

    whole = sum(collapsed(session, "cpu", "--total").values())
    top = say("-top", "-unit=ns", "-nodefraction=0", "-edgefraction=0", "-nodecount=100000")
    assert re.search(rf"Total samples = {whole}ns", top), top[:1000]
    rows = {name: int(flat) for flat, name in re.findall(r"^ *(\d+)(?:ns)? +\S+ +\S+ +\S+ +\S+  (.*?)(?: \(inline\))?$", top, re.M)}
    selves = {}
    for stack, weight in collapsed(session, "cpu", "--total").items():
        leaf = stack.rsplit(";", 1)[-1]
        selves[leaf] = selves.get(leaf, 0) + weight
    hottest = max(selves, key=selves.get)
    assert rows[hottest] == selves[hottest]
    assert "thread" in say("-tags") and "pid" in say("-comments")


@pytest.mark.parametrize("times", [[], ["--no-times"]], ids=["times", "sums"])
def test_firefox(session, times):
    """Without times, stacks of a thread stand one after the other. With them, roundings are no loss."""
    read = viewers.Firefox(made("firefox.json", "convert", "-e", "cpu,wall,alloc", *times, session, None))
    for event in ("cpu", "wall", "alloc"):
        assert read.stacks(event) == collapsed(session, event, "--total")
    assert {thread["pid"] for thread in read.threads} == {read.threads[0]["pid"] + more for more in ("", " wall", " alloc")}
    states = {top[1] for _, values, *_, top in read.samples if "wall" in values and top[0] == "Waiting"}
    assert states and states <= {"parked", "sleeping", "waiting", "blocked"}
    kinds = {top for _, values, *_, top in read.samples if "cpu" in values}
    assert {("Java", "jit"), ("Java", "inlined")} & kinds and not any(top[0] == "Waiting" for top in kinds)
    with open(session) as file:
        threads = {(thread["name"], thread["tid"]) for thread in json.load(file)["profiles"][0]["threads"]}
    assert {(t["name"], t["tid"]) for t in read.threads if t["processName"].startswith("cpu")} == threads


@pytest.mark.parametrize("version", [17, 25])
def test_times(programs, version, otlp):
    """Files that show time, of recordings, ours and the JDK's, and of sessions."""
    jdk = jvm.find_jdk(version)
    if not jdk:
        pytest.skip(f"JDK {version}: not tested (none installed, none could be fetched)")
    theirs, ours = jvm.result_file(".jfr"), jvm.result_file(".jfr")
    with Program(jdk, "KnownShares", jvm=[f"-XX:StartFlightRecording:settings=profile,filename={theirs}"]) as program:
        live_otlp = otlp(made("otlp", "record", "-d", "1", "-e", "cpu,wall", "-i", "2ms", "-f", None, program.pid))
        live = viewers.Firefox(made("firefox.json", "record", "-d", "2", "-e", "cpu,wall", "-i", "2ms", "-f", None, program.pid))
        done = jstrobe("record", "-d", "2", "-e", "cpu,wall", "-i", "2ms", "-f", ours, program.pid)
        assert done.returncode == 0, done.stderr
        assert program.stop() == 0
    read = {path: viewers.Firefox(made("firefox.json", "convert", "-e", events, path, None))
            for path, events in ((ours, "cpu,wall"), (theirs, "cpu"))}
    for path, file in read.items():
        for event in ("cpu", "wall") if path == ours else ("cpu",):
            assert file.stacks(event) == collapsed(path, event, "--total"), (path, event)
    assert len(live_otlp.times) > 30
    for path, events in ((ours, "cpu,wall"), (theirs, "cpu")):
        file = otlp(made("otlp", "convert", "-e", events, path, None))
        assert len(file.times) > 30
        for kind in events.split(","):
            assert file.stacks(kind) == collapsed(path, kind, "--total"), (path, kind)
        with open(made("otlp.json", "convert", "-e", events, path, None)) as text:
            samples = [s for p in json.load(text)["resourceProfiles"][0]["scopeProfiles"][0]["profiles"] for s in p["samples"]]
        assert {int(at) for s in samples for at in s.get("timestampsUnixNano", [])} == file.times
    for file in (live, *read.values()):
        cpu = [(at, values["cpu"]) for _, values, at, *_ in file.samples if "cpu" in values]
        end = file.file["meta"]["profilingEndTime"]
        assert len({at for at, _ in cpu}) > 30 and max(at for at, _ in cpu) <= end + 100
        # the program runs all the time
        assert 0.2 < sum(n for at, n in cpu if at < end / 2) / sum(n for _, n in cpu) < 0.8


def test_firefoxs_own_tool(session):
    """What Mozilla's command for such files shows is what collapsed stacks say."""
    tool = viewers.fetched("firefox")
    if not tool:
        pytest.skip("the Firefox Profiler's command could not be fetched, or there is no node (scripts/fetch-viewers.sh)")
    path = made("firefox.json", "convert", "-e", "cpu", session, None)
    name = f"jstrobe-{os.getpid()}"

    def ask(*words):
        done = subprocess.run(["node", tool, *words, "--session", name], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              timeout=120, env=dict(os.environ, HOME=os.path.dirname(tool)))
        assert done.returncode == 0, (words, done.stdout, done.stderr)
        return done.stdout

    ask("load", path)
    try:
        listed = json.loads(ask("thread", "list", "--json"))
        assert json.dumps(listed)
        own = {}
        for stack, ns in collapsed(session, "cpu", "--total", "--threads").items():
            thread, *frames = stack.split(";")
            own.setdefault(thread, {}).setdefault(frames[-1], 0)
            own[thread][frames[-1]] += ns
        heaviest = max(own, key=lambda thread: sum(own[thread].values()))
        functions = json.loads(ask("thread", "functions", "--thread", "t-0", "--json", "--include-idle"))["functions"]
        shown = {f["name"]: round(f["selfSamples"] * 1e6) for f in functions if f["selfSamples"] > 0}
        assert set(shown) == set(own[heaviest])
        assert all(abs(shown[name] - ns) <= 1000 for name, ns in own[heaviest].items())
    finally:
        ask("stop")


def test_speedscopes_schema(session):
    schema = viewers.fetched("speedscope")
    if not schema:
        pytest.skip("speedscope's schema could not be fetched (scripts/fetch-viewers.sh)")
    with open(schema) as file:
        rules = json.load(file)
    for events in ("cpu", "cpu,wall,alloc"):
        jsonschema.validate(viewers.Speedscope(made("speedscope.json", "convert", "-e", events, session, None)).file, rules)


@pytest.mark.parametrize("suffix", ["pb.gz", "speedscope.json", "otlp", "callgrind"])
def test_an_agent_alone_says_who_writes_it(jdk17, suffix):
    path = jvm.result_file("." + suffix)
    done = subprocess.run([jdk17.java, f"-agentpath:{jvm.LIBRARY}=start,file={path}", "-version"], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=60)
    assert "only the jstrobe command writes it" in done.stdout and "jstrobe convert" in done.stdout, done.stdout
    assert not os.path.exists(path)


def test_an_agent_alone_is_asked_for_it_without_a_file(jdk17):
    done = subprocess.run([jdk17.java, f"-agentpath:{jvm.LIBRARY}=start,pprof", "-version"], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=60)
    assert "pprof: only the jstrobe command writes it" in done.stdout, done.stdout


def test_a_trace(jdk17):
    """It has no place in them while it runs; what it has saved has: calls by their callers."""
    path = jvm.result_file(".pb.gz")
    with Program(jdk17, "KnownShares") as program:
        done = jstrobe("trace", "-d", "1", "-f", path, program.pid, "truth.KnownShares")
        assert done.returncode != 0 and "write a .json" in done.stderr and not os.path.exists(path), done.stderr
        trace = made("json", "trace", "-d", "1", "-f", None, program.pid, "truth.KnownShares")
    pprof = viewers.Pprof(made("pb.gz", "convert", trace, None))
    assert any("KnownShares" in stack for stack in pprof.stacks("calls")), pprof.types


def of_methods(weights):
    """What collapsed stacks WEIGHTS say of each method: its own, and with what it called; and of calls that lead to it first."""
    selves, inclusive, calls = {}, {}, {}
    for stack, weight in weights.items():
        names = stack.split(";")
        selves[names[-1]] = selves.get(names[-1], 0) + weight
        for place, name in enumerate(names):
            if name not in names[:place]:
                inclusive[name] = inclusive.get(name, 0) + weight
                call = (names[place - 1] if place else "[root]", name)
                calls[call] = calls.get(call, 0) + weight
    return selves, inclusive, calls


def annotated(path, event, *options):
    """{method: cost} by callgrind_annotate."""
    done = subprocess.run(["callgrind_annotate", "--threshold=100", f"--show={event}", f"--sort={event}", *options, path],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60)
    assert done.returncode == 0 and not done.stderr, done.stderr
    rows = re.findall(r"^ *([\d,]+) \(.*?%\)  \?\?\?:(.*?)(?: \[\])?$", done.stdout, re.M)
    assert len(rows) == len({name for _, name in rows})
    return {name: int(cost.replace(",", "")) for cost, name in rows if cost != "0"}


def check_callgrind(path, events):
    """Costs and calls are what collapsed stacks say, by a reader of its own and by valgrind's tool, if it is there."""
    out = made("callgrind", "convert", "-e", events, path, None)
    read = viewers.Callgrind(out)
    for event in events.split(","):
        for kind, weights in zip(EVENTS[event], (collapsed(path, event), collapsed(path, event, "--total"))):
            selves, inclusive, calls = of_methods(weights)
            assert read.totals[kind] == sum(weights.values()) > 0
            assert {name: costs[kind] for name, costs in read.selves.items() if costs[kind]} == selves
            assert read.inclusive(kind) == inclusive
            assert {call: costs[kind] for call, costs in read.calls.items() if costs[kind]} == calls
            if shutil.which("callgrind_annotate"):
                assert annotated(out, kind) == selves
                whole = annotated(out, kind, "--inclusive=yes")
                assert whole.pop("[root]") == sum(weights.values()) and whole == inclusive
    if not shutil.which("callgrind_annotate"):
        pytest.skip("callgrind_annotate: not there (Debian's package valgrind); all else was tested")


def test_callgrind(session):
    check_callgrind(session, "cpu,wall,alloc")


def test_callgrind_of_recursion(tmp_path):
    """Direct, through others, and at the root."""
    stacks = tmp_path / "x.collapsed"
    stacks.write_text("main;a;b;a;c 5\nmain;a;a;a 7\na;b;a 11\nb 13\nmain;c;main 17\nx y;(1) z;fn=(2) q 19\n")
    read = viewers.Callgrind(made("callgrind", "convert", stacks, None))
    weight = read.events[-1]
    assert read.inclusive(weight) == {"main": 29, "a": 23, "b": 29, "c": 22, "x y": 19, "(1) z": 19, "fn=(2) q": 19}
    assert {name: costs[weight] for name, costs in read.selves.items()} == {
        "c": 5, "a": 18, "b": 13, "main": 17, "fn=(2) q": 19}
    assert read.calls["a", "a"] == dict.fromkeys(read.events, 0) and read.calls["b", "a"][weight] == 0
    assert "[root]" not in read.selves and read.totals[weight] == 72


@pytest.mark.parametrize("suffix", ["csv", "ndjson"])
def test_rows(session, requests_recorded, suffix):
    read = viewers.Rows(made(suffix, "convert", "-e", "cpu,wall,alloc", session, None))
    for event in ("cpu", "wall", "alloc"):
        assert read.stacks(event) == collapsed(session, event, "--total")
        assert read.stacks(event + " samples") == collapsed(session, event)
    with open(session) as file:
        threads = {(thread["name"], thread["tid"]) for thread in json.load(file)["profiles"][0]["threads"]}
    of_cpu = [row for row in read.rows if row["event"] == "cpu"]
    assert {(row["thread"], int(row["thread_id"])) for row in of_cpu} <= threads and not any(row.get("state") for row in of_cpu)
    assert {row["state"] for row in read.rows if row["event"] == "wall"} & {"running", "parked"}
    assert {(row["event"], row["unit"]) for row in read.rows} == {("cpu", "ns"), ("wall", "ns"), ("alloc", "bytes")}
    keys = [str({**row, "samples": 0, "weight": 0}) for row in read.rows]
    if suffix == "ndjson":  # frames of one name are told apart by what CSV does not have
        assert len(keys) == len(set(keys))
        assert {frame["type"] for row in read.rows for frame in row["stack"]} >= {"java", "jvm"}
        assert "inlined" in {frame["kind"] for row in read.rows for frame in row["stack"]}
    # what a thread worked for
    read = viewers.Rows(made(suffix, "convert", "-e", "cpu", requests_recorded, None))
    right = [row for row in read.rows if row.get("trace_id") == TRACE and len(row["span_id"]) == 16]
    route = LABELS[1]["route"]
    # rows without labels: a span begins before its labels are set
    assert any(f"route={route}" in row["labels"] if suffix == "csv" else row.get("labels", {}).get("route") == route
               for row in right)


def test_otlp_as_json(session, requests_recorded, otlp):
    """By protobuf's own reader, whose ids are base64, it is what the file of messages is."""
    google = pytest.importorskip("google.protobuf.json_format")

    def with_base64(pairs):
        return {key: base64.b64encode(bytes.fromhex(value)).decode() if key in ("traceId", "spanId", "profileId") else value
                for key, value in pairs}

    for path, events in ((session, "cpu,wall,alloc"), (requests_recorded, "cpu,wall")):
        binary = otlp(made("otlp", "convert", "-e", events, path, None))
        with open(made("otlp.json", "convert", "-e", events, path, None)) as file:
            text = json.dumps(json.load(file, object_pairs_hook=with_base64))
        parsed = google.Parse(text, type(binary.data)())
        assert parsed == binary.data and len(text) > 1000


def test_picture(session):
    """A frame is as wide as collapsed stacks say, and stands on the one that called it."""
    path = made("svg", "convert", "-e", "cpu,alloc", session, None)
    if shutil.which("xmllint"):
        assert subprocess.run(["xmllint", "--noout", path], timeout=60).returncode == 0
    picture = viewers.Picture(path)
    assert [head.split(":")[0].split(", ")[-1] for head in picture.heads] == ["cpu", "alloc"]
    for event, frames in zip(("cpu", "alloc"), picture.graphs):
        expected, total = {}, 0
        for stack, weight in collapsed(session, event, "--total").items():
            total += weight
            names = stack.split(";")
            for depth in range(len(names)):
                key = (";".join(names[:depth + 1]))
                expected[key] = expected.get(key, 0) + weight
        found, row = {}, max(top for *_, top in frames)
        for title, left, width, top in sorted(frames, key=lambda frame: -frame[3]):
            name = title.rsplit(" (", 1)[0]
            below = [key for key, (x, w, y) in found.items() if y == top + 17 and x <= left + 0.05 and left + width <= x + w + 0.55]
            assert top == row or len(below) == 1, (title, below)
            found[name if top == row else below[0] + ";" + name] = (left, width, top)
        for key, weight in expected.items():
            if weight / total * 1200 > 0.6:
                assert abs(found[key][1] - weight / total * 1200) < 0.2, key
        assert set(found) <= set(expected)
