"""Virtual threads whose callers lie frozen in the heap: whole stacks, and never a wrong caller.

The program's calls follow the octal digits of a number for each root, so that each stack proves itself.
"""
import collections
import os
import subprocess
import sys

import jvm
import pytest
from jvm import Program, counted, record

sys.path.insert(0, os.path.join(jvm.ROOT, "tests"))
import jdks  # noqa: E402

pytestmark = pytest.mark.each_jdk

SEEDS = (0o01234567076543210213, 0o75310246642013570001, 0o00000000000000000001, 0o55313131555333111513)
DIGITS = 20
WHOLE = 0.99
# ZGC changes its colours while threads are mounted: their pointers prove nothing until the JVM has used them again.
COLOURED = {0: 0.85, 1: 0.3}  # by storm
# Why a stack may end where the heap begins, and that is not our doing.
UNPROVED = ("[virtual_thread_switching]", "[virtual_thread_moving]", "[virtual_thread_frozen]")
# The end of a stack whose stub has no caller: the program's are those by which threads are brought back.
NO_CALLER = "[break_stub]"
TEXT = "truth.Frozen."

COLLECTORS = {"serial": ["-XX:+UseSerialGC"], "parallel": ["-XX:+UseParallelGC"], "g1": ["-XX:+UseG1GC"],
              "z": ["-XX:+UseZGC"], "shenandoah": ["-XX:+UseShenandoahGC"]}
SHAPES = {"wide": ["-XX:-UseCompressedOops"],
          "wide-classes": ["-XX:+IgnoreUnrecognizedVMOptions", "-XX:-UseCompressedClassPointers"],
          "compact": ["-XX:+UnlockExperimentalVMOptions", "-XX:+IgnoreUnrecognizedVMOptions",
                      "-XX:+UseCompactObjectHeaders"]}
COMPILERS = {"int": ["-Xint"], "c1": ["-XX:TieredStopAtLevel=1"], "c2": ["-XX:-TieredCompilation"]}


def fetched(name):
    """A JVM of `make check-jdks`, and the words before it that make its folder the root of all."""
    path = os.path.join(jvm.OUT, "jdks", "list")
    if os.path.exists(path):
        with open(path) as file:
            found = [j for j in map(jdks.Jvm, file) if j.name == name]
        if found:
            jdk = jvm.Jdk("", int(name))
            jdk.java = found[0].java
            return jdk, found[0].wrap
    return pytest.skip(f"JDK {name}: not tested (not fetched; `make check-jdks` does it)")


def frozen(jdk, depth, *, options=(), threads=6, storm=0, locks=0, wrap=()):
    return Program(jdk, "Frozen", depth, threads, storm, locks, *SEEDS, jvm=[*options, "-Xmx512m"], wrap=wrap)


def is_true(frames, depth):
    """Whether FRAMES, outermost first and beginning with a root, are a way that the program can have gone."""
    names = [f[len(TEXT):] for f in frames if f.startswith(TEXT)]
    seed, level, i = SEEDS[int(names[0][-1])], 0, 1
    while i < len(names):
        if names[i] != "next" or level > depth:
            break
        i += 1
        if level == depth or i == len(names):
            break
        if names[i] != f"d{seed >> 3 * (level % DIGITS) & 7}":
            return False
        i, level = i + 1, level + 1
    rest = names[i:]
    ends = ([], ["burn"], ["park"], ["held"], ["held", "burn"])
    if level == depth:
        return not rest or (rest[0] == "leaf" and rest[1:] in ends) or (rest[0] == "back" and rest[1:] in ends)
    return not rest or (rest[0] == "back" and rest[1:] in ends)


def sure(stack):
    """The callers: the innermost compiled frame and what is inlined in it are as exact as debug information is, and the
    matter of other tests (docs/reference/jdks.md)."""
    kinds = stack["kinds"]
    end = len(kinds)
    while end and kinds[end - 1] == "kernel":
        end -= 1
    while end and kinds[end - 1] == "inlined":
        end -= 1
    end -= end > 0 and kinds[end - 1] == "jit"
    return stack["frames"][:end]


def concerns(frames):
    """Whether FRAMES are of the program's virtual threads, or end where that cannot be seen."""
    if TEXT + "storm" in frames or TEXT + "main" in frames:
        return False
    return frames[0] in (*UNPROVED, NO_CALLER) or any(f.startswith(TEXT) and "storm" not in f for f in frames)


def judge(stacks, depth):
    """(samples, whole ones, {reason: samples}, wrong stacks) of the program's threads."""
    samples, whole, reasons, wrong = 0, 0, collections.Counter(), []
    for stack in stacks:
        frames = sure(stack)
        if not concerns(frames):
            continue
        samples += stack["samples"]
        roots = [i for i, f in enumerate(frames) if f.startswith(TEXT + "root")]
        if frames[0] == "[virtual_thread]":
            whole += stack["samples"]
            if roots and not is_true(frames[roots[0]:], depth) or len(roots) > 1:
                wrong.append(stack)
            if not roots and any(f.startswith(TEXT + "d") or f.startswith(TEXT + "next") for f in frames):
                wrong.append(stack)
        else:
            reasons[frames[0]] += stack["samples"]
    return samples, whole, reasons, wrong


def check(profile, depth, what, say, least=WHOLE):
    samples, whole, reasons, wrong = judge(profile.stacks, depth)
    say(f"frozen stacks: {what}: {whole / max(1, samples):.2%} of {samples} whole; {dict(reasons)}")
    assert not wrong, "\n".join(f"{f} {k}" for f, k in zip(wrong[0]["frames"], wrong[0]["kinds"]))
    assert samples > 100, profile.samples
    assert whole >= least * samples, reasons
    others = sum(n for reason, n in reasons.items() if reason not in UNPROVED)
    assert others <= (1 - WHOLE) * samples, reasons
    return reasons


def run(jdk, depth, what, say, least=WHOLE, **more):
    with frozen(jdk, depth, **more) as program:
        # the deepest have 1,400 frames, and while they freeze the JVM has one of its own for each of them
        profile = record(program, "-i", "1ms", "-j", "4096", "-d", counted("2", "20"))
        assert program.alive()
    return check(profile, depth, what, say, least)


@pytest.mark.parametrize("depth", [3, 40, 700])
@pytest.mark.parametrize("compiler", COMPILERS)
def test_depths_and_compilers(jdk25, depth, compiler, say):
    run(jdk25, depth, f"depth {depth} {compiler}", say, options=COMPILERS[compiler])


@pytest.mark.parametrize("collector", COLLECTORS)
@pytest.mark.parametrize("storm", [0, 1])
def test_collectors(jdk25, collector, storm, say):
    """With the collector at work all the time, too; where it moves what we look at, the stack says so."""
    run(jdk25, 200, f"{collector} {'storm' if storm else 'calm'}", say,
        COLOURED[storm] if collector == "z" else WHOLE, options=COLLECTORS[collector], storm=storm)


@pytest.mark.parametrize("shape", SHAPES)
def test_shapes_of_pointers(jdk25, shape, say):
    run(jdk25, 200, shape, say, options=SHAPES[shape])


@pytest.mark.parametrize("event", ["wall", "lock"])
@pytest.mark.parametrize("collector", ["g1", "z"])
def test_waits(jdk25, event, collector, say):
    """Parked ones and those that wait for a lock: with their whole stack."""
    options = ("-e", "wall", "--vthreads", "-i", "5ms") if event == "wall" else ("-e", "lock")
    with frozen(jdk25, 60, options=COLLECTORS[collector], locks=1, threads=40) as program:
        profile = record(program, *options, "-d", counted("2", "20"))
    check(profile, 60, f"{event} {collector}", say, COLOURED[0] if collector == "z" else WHOLE)


@pytest.mark.parametrize("collector", ["g1", "zgc", "zgc-gen", "shenandoah", "int"])
@pytest.mark.parametrize("name", ["21", "26", "27", "28"])
def test_other_jdks(programs, name, collector, say):
    jdk, wrap = fetched(name)
    options = next((o for o in jdks.MODES[collector] if is_taken(jdk, wrap, o)), None)
    if options is None:
        pytest.skip(f"JDK {name} has no {collector}")
    run(jdk, 200, f"{name} {collector}", say, COLOURED[0] if "zgc" in collector else WHOLE, options=options, wrap=wrap)


def is_taken(jdk, wrap, options):
    return subprocess.run([*wrap, jdk.java, *options, "-version"], stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL).returncode == 0
