"""Native memory, against a program that knows its bytes and what is left of them."""
import contextlib
import os
import re
import subprocess
import time
from collections import Counter

import jvm
import pytest
from jfr import Recording
from jvm import Profile, Program, counted, jstrobe, profile_of, result_file, wait_until

from test_hard_copies import copy_to
from test_hard_native import tricks, worked
from test_live import leak

pytestmark = pytest.mark.in_pairs

METHODS = ("keep", "churn", "grow")


def start(program, interval, *options):
    done = jstrobe("start", "-t", "--nativemem", str(interval), *options, program.pid)
    assert done.returncode == 0, done.stderr


def result(program, *options, command="stop"):
    return profile_of(command, program, "-t", *options)


def of(profile, method, key="weight"):
    return profile.total("truth.NativeBlocks." + method, key=key)


def asks(frames):
    """Whether what these frames allocate is what the program asked Unsafe for: the JVM allocates for itself, too."""
    natives = [i for i, f in enumerate(frames) if f.endswith(("Unsafe.allocateMemory0", "Unsafe.reallocateMemory0"))]
    return natives and all(f.startswith(("Unsafe_", "os::malloc", "os::realloc")) for f in frames[natives[0] + 1:])


def own(profile, method, key="weight"):
    """Of blocks that METHOD asked for."""
    return sum(s[key] for s in profile.stacks if "truth.NativeBlocks." + method in s["frames"] and asks(s["frames"]))


def asked(truth, method, left=""):
    return sum(v for k, v in truth.items() if k.startswith(f"{left}{method}_"))


def queue_full(profile):
    return profile.samples["lost"]["queue_full"]


@pytest.mark.parametrize("live", [False, True])
def test_each_block(jdk, live, say):
    """An interval of 0: each block is a sample that weighs itself, and what is left is known to the byte."""
    with Program(jdk, "NativeBlocks", "1000,20000", 3_000_000) as program:
        start(program, 0, *(["--nativemem-live"] if live else []))
        truth = program.play()
        profile = result(program)
        assert program.stop() == 0
    # threads of the JVM may find their queues full; those of the program are paced
    assert queue_full(profile) < 0.02 * profile.samples["taken"], profile.samples
    if live:
        for method in METHODS:
            assert own(profile, method) == asked(truth, method, "left_"), (method, truth)
    else:
        for method in METHODS:
            assert own(profile, method) == asked(truth, method), (method, truth)
        total = profile.weight["total"] + profile.weight["lost"]
        assert abs(profile.json["counted"] / total - 1) < 0.02, (profile.json["counted"], profile.weight)
    assert own(profile, "buffers") == truth["direct"]
    complete = profile.samples["complete"] / profile.samples["stored"]
    assert complete > 0.99, profile.json["walk_ended_early"]
    say(f"nativemem=0, live {live}, {jdk}: {profile.samples['stored']} samples, {complete:.2%} of stacks complete")


@pytest.mark.parametrize("live", [False, True])
def test_bytes_at_the_default_interval(jdk, live, say):
    """Sums are right within four standard errors, of sizes far below the interval and beyond it."""
    interval, sizes, each = 512 << 10, (16384, 131072, 1 << 20), counted(600 << 20, 4 << 30)
    with Program(jdk, "NativeBlocks", ",".join(map(str, sizes)), each) as program:
        start(program, interval, *(["--nativemem-live"] if live else []))
        truth = program.play()
        profile = result(program)
        assert program.stop() == 0
    assert profile.lost_share() < 0.001, profile.samples
    said = []
    for method in METHODS:
        true, told = asked(truth, method, "left_" if live else ""), own(profile, method)
        samples = own(profile, method, "samples")
        error = (true * interval) ** 0.5
        said.append(f"{method} {told / true - 1:+.1%} of {samples}" if true else f"{method} {told} left")
        # a thread for each size churns: the last block of one may still be there
        assert abs(told - true) < 4 * error + (2 << 20), (method, told, true, error)
    total = profile.weight["total"]
    if not live:
        assert abs(total / profile.json["counted"] - 1) < 4 * (interval / total) ** 0.5
    say(f"nativemem at 512 KiB, live {live}, {jdk}: " + ", ".join(said))


def test_by_library(jdk17):
    """Who asks: libjvm.so for Unsafe, libzip.so for an Inflater; their sums are those of the stacks."""
    with Program(jdk17, "NativeBlocks", "20000", 2_000_000) as program:
        start(program, 0)
        truth = program.play()
        text = jstrobe("dump", program.pid).stdout
        profile = result(program)
    libraries = {row["name"]: row["weight"] for row in profile.json["libraries"]}
    assert libraries["libjvm.so"] >= sum(asked(truth, m) for m in METHODS), libraries
    assert sum(libraries.values()) == profile.weight["total"] and "[other]" not in libraries, libraries
    assert truth["direct"] <= libraries["libjvm.so, direct buffers"] < 1.1 * truth["direct"], (truth, libraries)
    assert "By the library that asked:" in text and "%  libjvm.so" in text, text


def test_asked_for_by(jdk):
    """The terminal's table says who wanted the memory, not that it was os::malloc."""
    with Program(jdk, "NativeBlocks", "20000", 2_000_000) as program:
        start(program, 0)
        program.play()
        done = jstrobe("stop", program.pid)
        assert done.returncode == 0 and program.alive(), done.stderr
    table = done.stdout.partition("asked for by\n")[2].partition("\n\n")[0].splitlines()
    assert any(re.search(r"^ *[\d.]+ [KM]B +[\d.]+% +[\d,]+  .*truth\.NativeBlocks\.\w+$", line) for line in table), table
    assert not any(line.endswith(("  os::malloc", "  AllocateHeap", "  Unsafe_AllocateMemory0")) for line in table), table


def test_dumps_tell_what_is_left_then(jdk):
    with Program(jdk, "NativeBlocks", "20000", 2_000_000) as program:
        start(program, 0, "--nativemem-live")
        before = result(program, command="dump")
        truth = program.play()
        after = result(program, command="dump")
        again = result(program)
    assert own(before, "keep") == 0
    for profile in (after, again):
        assert profile.samples["gone"] > 0 and "of blocks not freed" in profile.done.stderr, profile.done.stderr
        assert own(profile, "keep") == asked(truth, "keep", "left_")
        assert own(profile, "grow") == asked(truth, "grow", "left_")


def test_rounds_under_load(jdk, say):
    """Hooks in and out while all threads allocate, with other events at once; nothing stays writable."""
    rounds = counted(50, 500)
    with Program(jdk, "NativeBlocks", "64,1000,20000,300000", 1 << 30, "always") as program:
        start(program, 0)
        result(program)
        before = program.slots()
        began = time.monotonic()
        for i in range(rounds):
            interval, others = (0, 4096, 524288)[i % 3], ("cpu", "cpu,wall")[i % 2]
            done = jstrobe("start", "-e", others, "--nativemem", str(interval), program.pid)
            assert done.returncode == 0, done.stderr
            time.sleep(0.05)
            assert jstrobe("stop", "-f", "/dev/null", program.pid).returncode == 0
        say(f"nativemem, {rounds} rounds under load in {time.monotonic() - began:.0f} s, {jdk}")
        assert program.alive()
        assert program.slots() == before
        start(program, 4096)
        time.sleep(0.5)
        profile = result(program)
        assert of(profile, "churn") > 0
        assert program.stop() == 0, program.output[-5:]


@pytest.mark.parametrize("how", ["FORK", "VFORK", "POSIX_SPAWN"])
def test_children(jdk, how):
    with Program(jdk, "Children", jvm=[f"-Djdk.lang.Process.launchMechanism={how}"]) as program:
        start(program, 0)
        wait_until(lambda: program.mark().get("children", 0) > 5)
        profile = result(program)
        marks = program.mark()
        assert program.stop() == 0, program.output[-5:]
    assert "failed" not in marks or marks["failed"] == 0, marks
    assert profile.samples["stored"] > 0


def test_images_that_come_and_go(jdk):
    """Libraries are loaded and unloaded all the time, and we look for slots in all of them."""
    with tricks(jdk, "loaded+forked+vforked") as program:
        for interval in (65536, 0):
            start(program, interval)
            time.sleep(counted(2, 60))
            profile = result(program)
            assert program.alive()
        worked(program, "loaded+forked+vforked")
    assert profile.samples["stored"] > 0


@pytest.mark.together
def test_two_copies(jdk):
    """One copy of the library has the event, another one has others; then they change places."""
    ours, theirs = jvm.LIBRARY, copy_to("nativemem")
    with Program(jdk, "NativeBlocks", "1000,20000", 1 << 30, "always") as program:
        for first, second in ((ours, theirs), (theirs, ours)):
            done = jstrobe("start", "--libpath", first, "--nativemem", "4096", program.pid)
            assert done.returncode == 0, done.stderr
            done = jstrobe("start", "--libpath", second, "--nativemem", "4096", program.pid)
            assert done.returncode == 1 and "nativemem" in done.stderr, done.stderr
            done = jstrobe("start", "--libpath", second, "-e", "cpu", program.pid)
            assert done.returncode == 0, done.stderr
            time.sleep(0.3)
            told = [jstrobe("stop", "-o", "collapsed", program.pid) for _ in range(2)]
            assert all(t.returncode == 0 for t in told), told
            assert any("allocateMemory0" in t.stdout for t in told), told
        assert program.alive()
        assert program.stop() == 0, program.output[-5:]


def test_allocator_before_libc(jdk, tmp_path):
    """Blocks go back to the allocator that they came from, where one was preloaded: it ends the process if not."""
    library = str(tmp_path / "own_malloc.so")
    subprocess.run([os.environ.get("CC", "gcc"), "-O2", "-Wall", "-Wextra", "-fno-builtin", "-fPIC", "-shared", "-o",
                    library, os.path.join(jvm.ROOT, "tests", "jvm", "preload", "own_malloc.c")], check=True)
    with Program(jdk, "NativeBlocks", "1000,20000", 2_000_000, wrap=["env", "LD_PRELOAD=" + library]) as program:
        start(program, 0, "--nativemem-live")
        truth = program.play()
        profile = result(program)
        assert program.alive() and program.stop() == 0, program.output[-5:]
    for method in METHODS:
        assert own(profile, method) == asked(truth, method, "left_"), (method, truth)


def test_recording(jdk):
    path, made = result_file(".jfr"), result_file()
    with Program(jdk, "NativeBlocks", "20000", 2_000_000) as program:
        done = jstrobe("start", "--nativemem", "0", "-f", path, program.pid)
        assert done.returncode == 0, done.stderr
        truth = program.play()
        assert jstrobe("stop", program.pid).returncode == 0
    recording = Recording(path)
    events = recording.events["profiler.Malloc"]
    assert sum(e["size"] for e in events if e["size"] in (20000, 40000)) >= sum(asked(truth, m) for m in METHODS)
    assert all(e["address"] for e in events)
    # each block is freed once at most; what is left of the program's is known to the byte
    left, size = Counter(e["address"] for e in events), {}
    left.subtract(e["address"] for e in recording.events["profiler.Free"])
    for e in events:
        size[e["address"]] = e["size"]  # the last one stays
    blocks_left = Counter((size[a], n) for a, n in left.items() if n and size[a] in (20000, 40000))
    assert blocks_left == {(20000, 1): truth["left_keep_20000"] // 20000,
                           (40000, 1): truth["left_grow_20000"] // 40000}, blocks_left
    done = jstrobe("convert", "-o", "json", path, made)
    assert done.returncode == 0, done.stderr
    profile = Profile(made)
    assert profile.json["event"] == "nativemem" and profile.weight["unit"] == "bytes"
    assert profile.weight["total"] == sum(e["size"] for e in events)
    done = jstrobe("convert", "--leak", "--tail", "0", "-o", "json", path, made)
    assert done.returncode == 0, done.stderr
    profile = Profile(made)
    assert profile.weight["total"] == sum(size[a] for a, n in left.items() if n > 0), profile.weight


@pytest.mark.parametrize("said,interval", [(["-e", "nativemem"], 524288), (["--nativemem"], 524288),
                                           (["--nativemem", "64k"], 65536), (["-e", "nativemem@64k"], 65536),
                                           (["--nativemem", "0"], 0), (["-e", "nativemem@0"], 0)])
def test_intervals(said, interval):
    with Program(jvm.find_jdk(17), "NativeBlocks", "65536", 65536) as program:
        assert jstrobe("start", *said, program.pid).returncode == 0
        path = result_file()
        assert jstrobe("stop", "-o", "json", "-f", path, program.pid).returncode == 0
    assert Profile(path).json.get("interval", 0) == interval


@pytest.mark.parametrize("interval", [0, 4096])
def test_leaks(jdk, interval, say):
    """One place leaks; a cache that was filled, one that is renewed, and what is freed at once are no suspects."""
    with Program(jdk, "NativeLeaks") as program:
        start(program, interval, "--nativemem-live")
        hours, least, leaked = leak(program)
        text = jstrobe("dump", program.pid).stdout
        profile = result(program)
        suspects = profile.json["leaks"]
        say(f"{jdk}, {interval}: " + ", ".join(f"{s['allocated_in']} for {s['for']}: "
                                               f"{s['bytes_an_hour'] * hours / least:.3f} of the truth" for s in suspects))
        first, lost = suspects[0], profile.weight["lost"]
        assert first["for"] == "truth.NativeLeaks.leaks" and "class" not in first, suspects
        told = first["bytes_an_hour"] * hours
        assert 0.75 * least - 2 * lost < told < 1.15 * leaked, (told, least, leaked, profile.weight)
        assert first["at_least"] <= first["bytes_an_hour"] <= first["at_most"]
        assert all(s["bytes_an_hour"] < 0.1 * first["bytes_an_hour"] for s in suspects[1:]), suspects
        assert "What grew all the time" in text and "asked for in truth.NativeLeaks.leaks;" in text, text
        assert program.alive()


def test_tail(jdk17):
    """What was asked for in the last part of the session is left out, of what is left of it."""
    with Program(jdk17, "NativeBlocks", "20000", 2_000_000) as program:
        start(program, 0, "--tail", "50%")
        time.sleep(5)  # what comes now is in the second half, if it takes no longer
        truth = program.play()
        young = result(program, command="dump")
        time.sleep(young.json["duration_ns"] / 1e9 + 0.5)
        old = result(program)
    assert own(old, "keep") == asked(truth, "keep", "left_"), (truth, old.weight)
    assert own(young, "keep") == own(young, "buffers") == 0 and own(old, "buffers") == truth["direct"], \
        (young.weight, old.weight)


@pytest.mark.parametrize("renewed", [False, True], ids=["", "renewed"])
def test_peak(jdk, renewed):
    """What was there when most was, though it is gone and other blocks have come; also when the sums are made anew."""
    with Program(jdk, "NativePeak") as program, jvm.knobs() if renewed else contextlib.nullcontext():
        start(program, 0, "--nativemem-peak", "--nativemem-live", *(["--renew-at", "100k"] if renewed else []))
        began = time.monotonic()
        program.say("begin")
        wait_until(lambda: program.mark().get("step", 0) >= 1, 60)
        high = time.monotonic() - began
        wait_until(lambda: program.mark()["step"] == 2, 60)
        dumped = result(program, command="dump")
        profile = result(program)
    for p in (dumped, profile):
        told = {m: sum(s["weight"] for s in p.stacks if f"truth.NativePeak.{m}" in s["frames"] and asks(s["frames"]))
                for m in ("low", "high", "later")}
        assert told["low"] + p.weight["lost"] >= 2_000 * 1024 >= told["low"], (told, p.weight)
        # a look that came 3 % before the end of it is good enough
        assert told["high"] + p.weight["lost"] > 0.95 * 20_000 * 1024 and told["high"] <= 20_000 * 1024, (told, p.weight)
        assert told["later"] == 0, told
        assert high - 2 < p.samples["peak_after_ns"] / 1e9 < high + 3.5, (high, p.samples)
        assert "at the highest point, " in p.done.stderr and "leaks" not in p.json, p.done.stderr


def test_peak_at_the_end(jdk17):
    """What only grows is highest at the end: all of it is told, however late the last of it came."""
    with Program(jdk17, "NativeBlocks", "20000", 2_000_000) as program:
        start(program, 0, "--nativemem-peak")
        truth = program.play()
        profile = result(program)
    assert own(profile, "keep") == asked(truth, "keep", "left_"), truth
    assert profile.samples["peak_after_ns"] > 0


def test_peak_of_nothing(jdk17):
    with Program(jdk17, "Sleepers", 1, "idle") as program:
        start(program, "100m", "--nativemem-peak")
        profile = result(program)
    assert profile.stacks == [] and "No samples" in profile.done.stderr, profile.done.stderr
