"""Ten recordings, of the JDK, of jstrobe and of async-profiler: each export has what collapsed stacks have."""
import json
import os
import re
import shutil
import signal
import subprocess
import time

import jsonschema
import jvm
import pytest
import viewers
from jvm import Program, jstrobe
from test_exports import EVENTS, collapsed, made

pytestmark = pytest.mark.together

ASYNC = os.path.join(jvm.OUT, "peers", "ap46", "lib", "libasyncProfiler.so")
# name, JDK, program, how it is made: options of the JVM, or of jstrobe record; the event that is looked at
RECORDINGS = [
    ("jdk17", 17, "KnownShares", "-XX:StartFlightRecording:settings=profile,filename={}", "cpu"),
    ("jdk25", 25, "Garbage", "-XX:StartFlightRecording:settings=profile,filename={}", "cpu"),
    ("jdk25-cpu-time", 25, "KnownShares", "-XX:StartFlightRecording:jdk.CPUTimeSample#enabled=true,jdk.CPUTimeSample#throttle=5ms,filename={}", "cpu"),
    ("ours17-cpu", 17, "KnownShares", ["-e", "cpu", "-i", "1ms"], "cpu"),
    ("ours25-wall", 25, "KnownShares", ["-e", "wall", "-i", "5ms"], "wall"),
    ("ours17-alloc", 17, "Garbage", ["-e", "alloc"], "alloc"),
    ("async17-cpu", 17, "KnownShares", "-agentpath:" + ASYNC + "=start,event=cpu,interval=1ms,file={}", "cpu"),
    ("async25-cpu", 25, "Garbage", "-agentpath:" + ASYNC + "=start,event=cpu,interval=1ms,file={}", "cpu"),
    ("async17-wall", 17, "KnownShares", "-agentpath:" + ASYNC + "=start,event=wall,interval=5ms,file={}", "wall"),
    ("async17-alloc", 17, "Garbage", "-agentpath:" + ASYNC + "=start,event=alloc,interval=10k,file={}", "alloc"),
]


@pytest.fixture(scope="module")
def messages():
    return viewers.otlp_messages()


def load_in_profiler(tool, path):
    """Its server has a few seconds to begin, which on a busy machine may be too few: it is ended, and asked again."""
    for attempt in range(3):
        name = f"ten-{os.getpid()}-{attempt}"
        for words in (["load", path], ["thread", "list", "--json"], ["stop"]):
            done = subprocess.run(["node", tool, *words, "--session", name], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  text=True, timeout=120, env=dict(os.environ, HOME=os.path.dirname(tool)))
            if done.returncode:
                break
        late = re.search(r'run "kill (\d+)"', done.stdout + done.stderr)
        if not late:
            break
        os.kill(int(late[1]), signal.SIGTERM)
    assert done.returncode == 0, (words, done.stdout, done.stderr)


def by_their_makers(file):
    """Each format by the program, or the schema, of those who made it."""
    if place := viewers.fetched("pprof"):
        done = subprocess.run([place, "-top", file("pb.gz")], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120)
        assert done.returncode == 0 and "flat%" in done.stdout, done.stderr
    if place := viewers.fetched("speedscope"):
        with open(place) as schema, open(file("speedscope.json")) as text:
            jsonschema.validate(json.load(text), json.load(schema))
    if place := viewers.fetched("firefox"):
        load_in_profiler(place, file("firefox.json"))
    if shutil.which("callgrind_annotate"):
        done = subprocess.run(["callgrind_annotate", file("callgrind")], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        assert done.returncode == 0 and "PROGRAM TOTALS" in done.stdout, done.stdout
    if shutil.which("xmllint"):
        done = subprocess.run(["xmllint", "--noout", file("svg")], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("name, version, program, how, event", RECORDINGS, ids=[r[0] for r in RECORDINGS])
def test_exports(programs, messages, name, version, program, how, event):
    jdk, path = jvm.find_jdk(version), jvm.result_file(".jfr")
    if not jdk:
        pytest.skip(f"JDK {version}: not tested (none installed, none could be fetched)")
    if ASYNC in how:
        if jvm.SOAK:
            jvm.run_script("fetch-peers.sh")
        if not os.path.exists(ASYNC):
            pytest.skip("async-profiler is not here; make soak fetches it")
    with Program(jdk, program, jvm=[how.format(path)] if isinstance(how, str) else []) as running:
        if isinstance(how, str):
            time.sleep(3)
        else:
            done = jstrobe("record", "-d", "2", *how, "-f", path, running.pid)
            assert done.returncode == 0, done.stderr
        running.stop()
    samples, weight = EVENTS[event]
    weights, counts = collapsed(path, event, "--total"), collapsed(path, event)
    assert sum(counts.values()) > 4  # a busy machine gives few
    file = lambda suffix: made(suffix, "convert", "-e", event, path, None)
    pprof = viewers.Pprof(file("pb.gz"))
    assert pprof.stacks(weight) == weights and pprof.stacks(samples) == counts
    assert viewers.Speedscope(file("speedscope.json")).stacks() == weights
    firefox = viewers.Firefox(file("firefox.json"))
    assert firefox.stacks(event) == weights
    assert len({at for *_, at, _, _ in firefox.samples}) > 10
    if trace := viewers.perfetto():
        perfetto = viewers.Perfetto(file("pftrace"), trace)
        assert perfetto.stacks(weight) == weights and perfetto.stacks(samples) == counts
        assert perfetto.started <= min(perfetto.times) and len(set(perfetto.times)) > 10
    for suffix in ("csv", "ndjson"):
        rows = viewers.Rows(file(suffix))
        assert rows.stacks(event) == weights and rows.stacks(event + " samples") == counts
    if messages:
        otlp = viewers.Otlp(file("otlp"), messages)
        assert otlp.stacks(weight) == weights and otlp.stacks(samples) == counts
    by_their_makers(file)
    # and what we read again is the same
    for suffix in ("pb.gz", "otlp", "speedscope.json", "firefox.json"):
        assert collapsed(file(suffix), event, "--total") == weights, suffix
