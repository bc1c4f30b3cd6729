"""Rows on tracing: what it does to a program to put probes into its classes and to take them out; whether times are true."""
import json
import os
import re
import statistics
import time

import jvm
from jvm import Program
from measure import agent, interval, load_agent, ratio, spell
from trace_rows import METHODS, command, jdks, rounds_of, window

CLASSES = 10000
# program and arguments, its classes for the bare agent, and for a trace
JDK_PARTS = ("com/sun/", "javax/swing/", "jdk/javadoc/", "sun/awt/", "sun/java2d/", "sun/jvm/", "sun/security/", "sun/tools/")
POPULATIONS = {
    "of the JDK": (["JdkClasses", CLASSES, *JDK_PARTS], "+".join("L" + p for p in JDK_PARTS),
                   ";".join(p.replace("/", ".") + "**" for p in JDK_PARTS)),
    "with ten empty methods": (["ManyClasses", CLASSES], "Lmade/", "made.**"),
}
BATCH = 200  # src/agent/tracing/trace_classes.c


def bare(jdk, population, library):
    """(ms on and off, ms of the longest batch) of a hook that does nothing."""
    path = jvm.result_file(".txt")
    what, prefixes, _ = POPULATIONS[population]
    with Program(jdk, *what) as program:
        time.sleep(2)
        said = load_agent(jdk, program.pid, library, f"{prefixes},{BATCH},{path}")
    if not os.path.exists(path):
        raise RuntimeError(said)
    with open(path) as file:
        count, on, off, worst = map(int, file.read().split())
    os.remove(path)
    assert count >= CLASSES, count
    return (on + off) / 1e6, worst / 1e6


def ours(jdk, population):
    """The same of a trace: the times of changing as it says, and the whole of `stop`, command and result included."""
    what, _, patterns = POPULATIONS[population]
    with Program(jdk, *what) as program:
        time.sleep(2)
        done = command("start", "--instrument", patterns, program.pid)
        said = re.search(r"in (\d+) classes have probes \((\d+) ms; at most (\d+) ms", done.stderr)
        # interfaces have none
        assert int(said.group(1)) > 0.8 * CLASSES, done.stderr
        began = time.perf_counter()
        command("stop", "-o", "json", "-f", "/dev/null", program.pid)
        off = 1000 * (time.perf_counter() - began)
    return int(said.group(2)) + off, int(said.group(3))


def trace_classes(bench):
    figures, good, library = [], True, agent("retransform.c")
    for jdk, population in ((j, p) for j in jdks(bench) for p in POPULATIONS):
        pairs = [(ours(jdk, population), bare(jdk, population, library)) for _ in range(rounds_of(bench))]
        cost, late = ([(a[i], b[i]) for a, b in pairs] for i in (0, 1))
        share, pause = ratio(*zip(*cost)), ratio(*zip(*late))
        figures.append(f"{jdk}, classes {population}: {spell([a for a, _ in cost])} ms, bare {spell([b for _, b in cost])} ms, ratio {spell(share, '{:.2f}')}; "
                       f"longest batch of {BATCH} classes {spell([a for a, _ in late], '{:.1f}')} ms, bare "
                       f"{spell([b for _, b in late], '{:.1f}')} ms, ratio {spell(pause, '{:.2f}')}")
        # classes that are nearly all probe show the most it can be
        if population == "of the JDK":
            good = good and statistics.median(share) <= 1.5 and statistics.median(pause) <= 2
    return figures, good


def trace_removed(bench):
    """Windows before a trace and 10 s after it: one pair a trace."""
    figures, good = [], True
    for jdk in jdks(bench):
        pairs = []
        with Program(jdk, "CallBound", 1) as program:
            time.sleep(5)
            for _ in range(bench.pairs):
                before = window(program, 1.5)
                command("start", "--instrument", ";".join(METHODS), program.pid)
                time.sleep(1)
                command("stop", "-o", "json", "-f", "/dev/null", program.pid)
                time.sleep(10)
                pairs.append((before, window(program, 1.5)))
        for kind in ("fib", "chain", "leaf"):
            share = [after[kind] / before[kind] for before, after in pairs]
            figures.append(f"{jdk}: {kind} takes {spell(share, '{:.3f}')} × what it took before ({len(share)} pairs)")
            good = good and interval(share)[1] <= 1
    return figures, good


PARTS = {"fibonacci": "delta"}  # whose time the program counts as another's
GROUPS = (("alpha", "beta", "gamma", "delta"), ("epsilon", "zeta"))


def worst_error(result, true):
    """Points, over the methods of each thread that have at least 1 % of it."""
    found = {}
    for m in result["methods"]:
        name = PARTS.get(m["name"], m["name"])
        found[name] = found.get(name, 0) + m["self_wall"]
    worst = 0
    for names in GROUPS:
        for name in names:
            truth = 100 * true[name] / sum(true[n] for n in names)
            if truth >= 1:
                worst = max(worst, abs(100 * found.get(name, 0) / sum(found.get(n, 0) for n in names) - truth))
    return worst


def trace_truth(bench):
    """Self times of a program that measures itself, against its own sums over the same seconds.

    Each of its methods runs for a CPU time that was chosen beforehand, by the thread's own clock: what probes cost them makes
    them do less, not take longer, so the truth is that of the program without probes.
    """
    figures, good = [], True
    for jdk in jdks(bench):
        for timing in ("sampled", "exact"):
            errors = []
            with Program(jdk, "KnownShares") as program:
                time.sleep(3)
                for _ in range(rounds_of(bench)):
                    path = jvm.result_file()
                    command("start", "--timing", timing, "--instrument", "truth.KnownShares", program.pid)
                    start = program.mark()
                    time.sleep(20)
                    end = program.mark()
                    command("stop", "-o", "json", "-f", path, program.pid)
                    with open(path) as file:
                        result = json.load(file)
                    os.remove(path)
                    errors.append(worst_error(result, {n: end[n] - start[n] for names in GROUPS for n in names}))
            figures.append(f"{jdk}, {timing}: worst method {spell(errors, '{:.2f}')} points")
            good = good and statistics.median(errors) <= 1
    return figures, good
