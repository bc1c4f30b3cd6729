"""What threads work for, on their samples: trace id, span id and labels that a program sets."""
import json
import os

import jfr
import jvm
import live
import pytest
from jvm import COMMAND, Program, counted, jstrobe, record, wait_until
from test_recording import tool

pytestmark = pytest.mark.together

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
LABELS = {1: {"route": "GET /a\"b", "tenant": "t\u00e9n"}, 3: {"route": "inner"}}
METHODS = {f"truth.Requests.span{k}": k for k in range(4)}
CLASSPATH = f"{jvm.CLASSES}:{jvm.CONTEXT_JAR}"
# Their frames are then on the stack from call to return only. Of an inlined method, compiled code without debug
# information in between shows the frame a few instructions early, where the context is still being set.
NOT_INLINED = ["-XX:CompileCommand=quiet"] + [f"-XX:CompileCommand=dontinline,truth.Requests::{name}"
                                              for name in ("span*", "nothing", "burn")]


def requests(jdk, *args, options=(), **more):
    return Program(jdk, "Requests", *args, classpath=CLASSPATH, jvm=[*NOT_INLINED, *options], **more)


def meet(program, threads):
    """What its THREADS were at when the agent came for the first time they did not tell it: wait until they are through."""
    record(program, "-i", "10ms", "-d", 0.1)
    program.say("end")
    wait_until(lambda: program.mark().get("anew", 0) >= threads, 60)


def innermost(frames):
    """The last of the frames that say what is worked for: 0 to 3, None for nothing(), and False where none does."""
    for frame in reversed(frames):
        if frame in METHODS:
            return METHODS[frame]
        if frame == "truth.Requests.nothing":
            return None
    return False


def is_right(kind, context, labels=LABELS):
    """Whether a sample in the method of KIND carries what it must; span2 sets its own again behind the inner one."""
    if kind is None:
        return context is None
    return (context is not None and context["trace_id"] == TRACE and int(context["span_id"], 16) % 4 == kind
            and context.get("labels") == labels.get(kind))


def judge_all(samples, labels=LABELS):
    """
    [right, wrong] of SAMPLES (frames, context, count) that say what was worked for, and some that are wrong. One that
    shows nothing where it should is wrong, too, unless such are few: a compiler may put stores off for a while.
    """
    counts, bad, missing = [0, 0], [], 0
    for frames, context, count in samples:
        kind = innermost(frames)
        # in span2() itself, outside burn(), it sets another one
        if kind is False or (kind == 2 and "truth.Requests.burn" not in frames):
            continue
        right = is_right(kind, context, labels)
        if right or context is not None:
            counts[not right] += count
        else:
            missing += count
        if not right:
            bad.append((kind, context, frames[-4:]))
    if missing > 0.03 * counts[0]:
        counts[1] += missing
    return counts, bad


def judge(profile, labels=LABELS):
    contexts = profile.json["contexts"]
    return judge_all(((s["frames"], contexts[s["context"]] if "context" in s else None, s["samples"])
                      for s in profile.stacks), labels)


@pytest.mark.parametrize("release, event", [(17, "cpu"), (25, "cpu"), (17, "ctimer")])
def test_platform_threads(programs, release, event):
    """Each sample carries what its method was called for."""
    with requests(jvm.find_jdk(release), "platform", 3) as program:
        meet(program, 3)
        profile = record(program, "-e", event, "-i", "1ms", "-d", counted(0.6, 10), "--context")
    (right, wrong), bad = judge(profile)
    assert right > 10 and wrong == 0, (right, wrong, bad[:5])


def test_class_that_comes_after_the_agent(jdk17):
    """Its native methods are found by name; what is set later is seen."""
    with requests(jdk17, "late") as program:
        assert record(program, "-i", "1ms", "-d", 0.3, "--context").json["contexts"] == []
        program.say("end")
        program.work(0.3)
        profile = record(program, "-i", "1ms", "-d", 1, "--context")
    (right, wrong), bad = judge(profile)
    assert right > 10 and wrong == 0, (right, wrong, bad[:5])


@pytest.mark.parametrize("count, size, known", [(20000, 4, 9998), (20000, 1000, 1040), (20000, 60000, 0)])
def test_labels_without_an_end(jdk, count, size, known):
    """The program's heap is small: sets are bounded in number and characters, others are refused, which is counted."""
    with Program(jdk, "Labels", count, size, classpath=CLASSPATH, jvm=["-Xmx48m"]) as program:
        marks = program.mark()
        assert known * 0.9 <= marks["known"] <= known and marks["refused"] == count - marks["known"], marks
        profile = record(program, "-i", "1ms", "-d", counted(0.5, 2), "--context")
        labels = {json.dumps(c["labels"]) for c in profile.json["contexts"] if "labels" in c}
        assert labels <= {json.dumps({"GReLUrM4wMqfg9yzV3KQ": "x"})}, labels
        refused = [line for line in jstrobe("metrics", program.pid).stdout.splitlines() if "labels_refused_total " in line]
        assert refused[-1:] == [f"jstrobe_context_labels_refused_total {marks['refused']}"], refused
        assert program.stop() == 0, program.output


def test_from_the_first_instruction(jdk17):
    path = jvm.result_file()
    agent = f"-agentpath:{jvm.LIBRARY}=start,event=cpu,interval=1ms,threads,context,file={path}"
    with requests(jdk17, "platform", 2, options=[agent]) as program:
        program.work(1)
        assert program.stop() == 0
    (right, wrong), bad = judge(jvm.Profile(path))
    os.remove(path)
    assert right > 10 and wrong == 0, (right, wrong, bad[:5])


def test_a_record_of_opentelemetry(jdk17):
    """A library's thread variable is found, and what it points to is read: ids, no labels."""
    with requests(jdk17, "otel", 2) as program:
        profile = record(program, "-i", "1ms", "-d", counted(0.6, 10), "--context")
    (right, wrong), bad = judge(profile, {})
    assert right > 10 and wrong == 0, (right, wrong, bad[:5])


def test_virtual_threads(jdk25):
    """They change their carriers while they work for something: it goes with them."""
    with requests(jdk25, "virtual", 100) as program:
        meet(program, 100)
        profile = record(program, "-i", "1ms", "-d", counted(0.6, 10), "--context")
    (right, wrong), bad = judge(profile)
    assert right > 10 and wrong == 0, (right, wrong, bad[:5])


def test_waits_for_locks(jdk25):
    with requests(jdk25, "locks") as program:
        meet(program, 1)
        profile = record(program, "-e", "lock", "-d", counted(0.6, 5), "--context")
    contexts = profile.json["contexts"]
    found = [contexts[s["context"]] if "context" in s else None for s in profile.stacks
             if "truth.Requests.span1ofLock" in s["frames"]]
    assert len(found) > 10 and all(is_right(1, context) for context in found), found[:5]


def of_record(record):
    """The context that a record of a stream has."""
    return {key: record[key] for key in ("trace_id", "span_id", "labels") if key in record} or None


@pytest.mark.parametrize("release, what", [(17, ("platform", 2)), (25, ("virtual", 50))])
def test_streams(programs, release, what):
    with requests(jvm.find_jdk(release), *what) as program:
        meet(program, what[1])
        stream, status, errors = live.read([COMMAND, "stream", "-e", "cpu,wall", "-i", "1ms", "--wall", "5ms", "-d",
                                            counted(0.6, 10), program.pid])
    assert status == 0, errors
    (right, wrong), bad = judge_all((stream.frames(s), of_record(s), s.get("samples", 1)) for s in stream.of("sample"))
    assert right > 10 and wrong == 0, (right, wrong, bad[:5])


def test_waits_in_a_stream(jdk17):
    with requests(jdk17, "locks") as program:
        meet(program, 1)
        stream, status, errors = live.read([COMMAND, "stream", "-e", "lock", "-d", 0.6, program.pid])
    assert status == 0, errors
    found = [of_record(r) for r in stream.of("lock") if "truth.Requests.span1ofLock" in stream.frames(r)]
    assert len(found) > 10 and all(is_right(1, context) for context in found), found[:5]


def test_as_kindling_spells_it(jdk17):
    with requests(jdk17, "platform", 1) as program:
        meet(program, 1)
        out = jvm.result_file(".kd")
        assert jstrobe("stream", "-i", "1ms", "-d", 0.5, "--stream-format", "kindling", "-f", out,
                       program.pid).returncode == 0
    with open(out) as file:
        lines = file.read().splitlines()
    os.remove(out)
    spans = [i for i, line in enumerate(lines) if line.startswith("js-span@")]
    assert len(spans) > 10
    for i in spans:
        moment, tid, trace, span, end = lines[i][len("js-span@"):].split("!")
        assert trace == TRACE and len(span) == 16 and not end
        assert lines[i + 1].startswith(f"kd-stack@{moment}!{tid}!"), lines[i:i + 2]


@pytest.fixture(scope="module")
def recording(programs):
    """Of platform threads: CPU time, and waits for a lock in the same file."""
    path = jvm.result_file(".jfr")
    with requests(jvm.find_jdk(17), "platform", 2) as program:
        meet(program, 2)
        done = jstrobe("record", "-e", "cpu,wall", "-i", "1ms", "--wall", "5ms", "-d", counted(0.6, 10), "-f", path,
                       program.pid)
        assert done.returncode == 0, done.stderr
    yield path
    os.remove(path)


def test_recordings(recording):
    """An event of its own before each sample: same time, same thread."""
    read = jfr.Recording(recording)
    contexts = {(e["startTime"], e["sampledThread"]["osThreadId"]): e for e in read.events["jstrobe.SampleContext"]}

    def samples():
        for name, thread in (("jdk.ExecutionSample", "sampledThread"), ("jdk.CPUTimeSample", "eventThread"),
                             ("profiler.WallClockSample", "sampledThread")):
            for e in read.events[name]:
                said = contexts.get((e["startTime"], e[thread]["osThreadId"]))
                labels = dict(pair.split("=", 1) for pair in said["labels"].split(", ")) if said and said["labels"] else None
                yield [f.replace("/", ".") for f in jfr.stack(e)], said and {"trace_id": said["traceId"], "span_id": said["spanId"],
                                              **({"labels": labels} if labels else {})}, 1
    (right, wrong), bad = judge_all(samples())
    assert right > 20 and wrong == 0, (right, wrong, bad[:5])


def test_the_jdk_reads_them(jdk25, recording):
    text = tool(jdk25, "print", "--json", "--events", "jstrobe.SampleContext", recording)
    events = json.loads(text)["recording"]["events"]
    assert events and all(e["values"]["traceId"] == TRACE for e in events)
    assert any("GET /a" in (e["values"]["labels"] or "") for e in events)
    assert "truth.Requests" in tool(jdk25, "view", "hot-methods", recording)


def converted(path, *options):
    out = jvm.result_file()
    done = jstrobe("convert", *options, path, out)
    if done.returncode:
        return done
    profile = jvm.Profile(out)
    os.remove(out)
    return profile


def test_one_span_of_a_recording(recording):
    """convert --span, --trace-id, --label: what is left is what the recording says of it, and nothing else."""
    spans, read = {}, jfr.Recording(recording)
    contexts = {(e["startTime"], e["sampledThread"]["osThreadId"]): e for e in read.events["jstrobe.SampleContext"]}
    for e in read.events["jdk.CPUTimeSample"]:
        said = contexts.get((e["startTime"], e["eventThread"]["osThreadId"]))
        spans[said and said["spanId"]] = spans.get(said and said["spanId"], 0) + 1
    spans.pop(None)
    span, samples = max(spans.items(), key=lambda item: item[1])
    profile = converted(recording, "-e", "cpu", "--span", span.lstrip("0").upper())
    kind = int(span, 16) % 4
    assert sum(s["samples"] for s in profile.stacks) == samples
    assert all(f"truth.Requests.span{kind}" in s["frames"] for s in profile.stacks if "truth.Requests.burn" in s["frames"])
    profile = converted(recording, "-e", "cpu", "--trace-id", TRACE)
    assert sum(s["samples"] for s in profile.stacks) == sum(spans.values())
    assert not profile.total("truth.Requests.nothing")
    profile = converted(recording, "-e", "cpu", "--label", "route=inner")
    assert profile.stacks and profile.share("truth.Requests.span2", key="samples") == 1  # who calls span3
    refused = converted(recording, "--span", "1234567890")
    assert refused.returncode and "no sample" in refused.stderr and "--span" in refused.stderr


def test_one_span_of_saved_stacks(jdk17):
    path, plain = jvm.result_file(), jvm.result_file()
    with requests(jdk17, "platform", 1) as program:
        meet(program, 1)
        assert jstrobe("record", "-i", "1ms", "-d", 0.7, "--context", "-f", path, program.pid).returncode == 0
        assert jstrobe("record", "-i", "1ms", "-d", 0.2, "-f", plain, program.pid).returncode == 0
    whole, together = jvm.Profile(path), jvm.Profile(plain)
    assert "contexts" not in together.json and not any("context" in s for s in together.stacks)
    number, context = next((i, c) for i, c in enumerate(whole.json["contexts"]) if c.get("labels") == LABELS[3])
    profile = converted(path, "--span", context["span_id"])
    assert sum(s["samples"] for s in profile.stacks) == sum(s["samples"] for s in whole.stacks if s.get("context") == number)
    assert converted(path, "--label", "route=inner").share("truth.Requests.span2", key="samples") == 1  # who calls span3
    refused = converted(plain, "--span", context["span_id"])
    assert refused.returncode and "--context" in refused.stderr
    os.remove(path)
    os.remove(plain)
