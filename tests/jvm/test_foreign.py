"""Files of other profilers and viewers, read by convert, diff and explain: ours, written and read again, and others'."""
import collections
import gzip
import json
import os
import shutil
import subprocess

import jvm
import pytest
from jvm import Program, jstrobe
from test_context import meet, requests

pytestmark = pytest.mark.together

# What is recorded of which program: results of all kinds.
SESSIONS = {
    "cpu": ("KnownShares", ["-e", "cpu"]), "wall": ("Mixture", ["-e", "wall"]), "alloc": ("Garbage", ["-e", "alloc,cpu"]),
    "lock": ("Contended", ["-e", "lock"], "monitor", 4, 1), "exceptions": ("Throws", ["-e", "exceptions"], 50, 50, 0),
    "live": ("Garbage", ["-e", "live", "-i", "1k"]),
    "io": ("Io", ["-e", "io"], "/tmp", 20, "files+sockets"), "nativemem": ("NativeBlocks", ["-e", "nativemem"], "1000,20000", 3_000_000),
    "nativelock": ("NativeLocks", ["-e", "nativelock"], jvm.NATIVE, "rounds", 6), "page-faults": ("PageFaults", ["-e", "page-faults"]),
    "calls": ("KnownShares", ["-e", "calls", "--methods", "truth.KnownShares.*"]),
}
PLAYS = ("io", "nativemem", "nativelock")


def made(suffix, *words):
    """A file with SUFFIX that jstrobe makes by WORDS."""
    path = jvm.result_file("." + suffix)
    done = jstrobe(*[path if word is None else word for word in words])
    assert done.returncode == 0, done.stderr
    return path


def rows(path, *words):
    """Rows of `ndjson` of PATH."""
    done = jstrobe("convert", "-o", "ndjson", *words, path)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def sums(path, *keys):
    """Counter of samples and weights, by event, stack (names and types) and KEYS."""
    found = collections.Counter()
    for row in rows(path):
        stack = tuple((frame["name"], frame["type"], frame.get("library")) for frame in row["stack"])
        key = (row["event"], row["unit"], stack, *(str(row.get(key)) for key in keys))
        found[("samples", *key)] += row["samples"]
        found[("weight", *key)] += row["weight"]
        found[("objects", *key)] += row.get("objects", 0)
    return found


BESIDE = ("thread", "thread_id", "state", "trace_id", "span_id", "labels")


@pytest.fixture(scope="module")
def session(programs):
    """Makes recordings of SESSIONS, each once."""
    kept = {}

    def of(name):
        if name not in kept:
            program, options, *arguments = SESSIONS[name]
            path = jvm.result_file(".json" if name == "calls" else ".jfr")
            agent = [f"-agentpath:{jvm.LIBRARY}=start,event=exceptions,threads,file={path}"] if name == "exceptions" else []
            with Program(jvm.find_jdk(17), program, *arguments, jvm=agent) as running:
                if agent: # only who was there at the start hears of them
                    running.play()
                    assert running.stop() == 0
                    kept[name] = path
                    return path
                done = jstrobe("start", "-t", *options, *([] if name == "calls" else ["-f", path]), running.pid)
                assert done.returncode == 0, done.stderr
                if name in PLAYS:
                    running.play()
                else:
                    running.work(1)
                done = jstrobe("stop", *(["-f", path] if name == "calls" else []), running.pid)
                assert done.returncode == 0, done.stderr
            kept[name] = path
        return kept[name]

    yield of
    for path in kept.values():
        os.remove(path)


@pytest.mark.parametrize("name", SESSIONS)
def test_ours_come_back(session, name):
    """What was written is what is read: of each stack its numbers, thread, state, and what its frames are."""
    path = session(name)
    whole = sums(path, *BESIDE)
    assert whole
    for suffix in ("pb.gz", "otlp", "otlp.json"):
        assert sums(made(suffix, "convert", path, None), *BESIDE) == whole, suffix
    # speedscope has names and weights alone
    def weights(path):
        found = collections.Counter()
        for row in rows(path):
            found[(row["event"], row.get("thread"), tuple(frame["name"] for frame in row["stack"]))] += row["weight"]
        return +found

    assert weights(made("speedscope.json", "convert", path, None)) == weights(path)
    assert weights(made("firefox.json", "convert", path, None)) == weights(path)


def test_contexts_come_back(jdk17):
    with requests(jdk17, "platform", 2) as program:
        meet(program, 2)
        path = made("json", "record", "-d", "1", "-i", "1ms", "-t", "--context", "-f", None, program.pid)
    whole = sums(path, *BESIDE)
    assert any("route" in str(key) for key in whole)
    for suffix in ("pb.gz", "otlp", "otlp.json"):
        assert sums(made(suffix, "convert", path, None), *BESIDE) == whole, suffix


GO = """package main

import ("os"; "runtime/pprof"; "time")

func work(n int) int { s := 0; for i := 0; i < n; i++ { s += i * i % 7 }; return s }

func main() {
    pprof.StartCPUProfile(os.Stdout)
    for t := time.Now(); time.Since(t) < 500*time.Millisecond; { if work(100000) == 1 { println() } }
    pprof.StopCPUProfile()
}
"""


def test_pprof_of_go(tmp_path):
    """A file that Go's own runtime made; by each command, packed or not, under any name."""
    go = shutil.which("go") or "/usr/local/go/bin/go"
    if not os.path.exists(go):
        pytest.skip("Go is not installed")
    (tmp_path / "main.go").write_text(GO)
    made_by_go = subprocess.run([go, "run", tmp_path / "main.go"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=300,
                                env=dict(os.environ, GOCACHE=str(tmp_path / "cache"), GOFLAGS="-mod=mod", HOME=str(tmp_path)))
    assert made_by_go.returncode == 0, made_by_go.stderr
    packed, unpacked = tmp_path / "cpu.pb.gz", tmp_path / "stacks.collapsed"
    packed.write_bytes(made_by_go.stdout)
    unpacked.write_bytes(gzip.decompress(made_by_go.stdout))
    found = rows(packed)
    assert found == rows(unpacked)
    whole = sum(row["weight"] for row in found)
    of_work = sum(row["weight"] for row in found if any(frame["name"] == "main.work" for frame in row["stack"]))
    assert {row["event"] for row in found} == {"cpu"} and of_work > 0.8 * whole > 0
    assert all(row["weight"] == 10_000_000 * row["samples"] for row in found)
    assert {frame["type"] for row in found for frame in row["stack"]} <= {"native", "kernel", "other"}
    assert any(frame.get("line") for row in rows(packed, "--lines") for frame in row["stack"])
    for words in (["explain", packed], ["diff", packed, unpacked], ["convert", packed]):
        done = jstrobe(*words)
        assert done.returncode == 0 and ("main.work" in done.stdout or "all within chance" in done.stdout), (words, done)
    page = made("html", "convert", packed, None)
    with open(page) as file:
        assert "main.work" in file.read()
    # what stands in a file that ends too early is read
    unpacked.write_bytes(gzip.decompress(made_by_go.stdout)[:-3])
    done = jstrobe("convert", unpacked)
    assert done.returncode == 0 and "cut or damaged; what stands before is read" in done.stderr, done


def test_choosing_events(session):
    path = made("pb.gz", "convert", session("alloc"), None)
    assert {row["event"] for row in rows(path)} == {"alloc", "cpu"}
    assert {row["event"] for row in rows(path, "-e", "alloc")} == {"alloc"}
    done = jstrobe("convert", "-e", "wall", path)
    assert done.returncode and "there are no samples of wall" in done.stderr, done
    done = jstrobe("convert", "--from", "1s", path)
    assert done.returncode and "is read as a whole" in done.stderr and "leave out" in done.stderr, done
