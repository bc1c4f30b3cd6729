"""Rows on tracing: what it does to a program to put probes into its classes and to take them out; whether times are true."""
import json
import os
import re
import statistics
import subprocess
import time

import jvm
from jvm import Program
from measure import interval, ratio, spell
from trace_rows import METHODS, command, jdks, rounds_of, window

CLASSES = 10000
BATCH = 200  # src/agent/trace_classes.c


def bare_agent():
    """bench/native/retransform.c as a library."""
    library = os.path.join(jvm.WORK, "retransform.so")
    include = os.path.join(jvm.compiler(), "include")
    subprocess.run([os.environ.get("CC", "gcc"), "-O2", "-fPIC", "-shared", "-I" + include, "-I" + os.path.join(include, "linux"),
                    os.path.join(jvm.ROOT, "bench", "native", "retransform.c"), "-o", library], check=True)
    return library


def bare(jdk, library):
    """(ms on and off, ms of the longest batch) of a hook that does nothing."""
    path = jvm.result_file(".txt")
    with Program(jdk, "ManyClasses", CLASSES) as program:
        time.sleep(2)
        done = subprocess.run(
            [os.path.join(jdk.home, "bin", "jcmd"), str(program.pid), "JVMTI.agent_load", library, f"Lmade/,{BATCH},{path}"],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if not os.path.exists(path):
        raise RuntimeError(done.stdout)
    with open(path) as file:
        count, on, off, worst = map(int, file.read().split())
    os.remove(path)
    assert count == CLASSES, count
    return (on + off) / 1e6, worst / 1e6


def ours(jdk):
    """The same of a trace: the times of changing as it says, and the whole of `stop`, command and result included."""
    with Program(jdk, "ManyClasses", CLASSES) as program:
        time.sleep(2)
        done = command("start", "--instrument", "made.**", program.pid)
        said = re.search(r"in (\d+) classes have probes \((\d+) ms; at most (\d+) ms", done.stderr)
        assert int(said.group(1)) == CLASSES, done.stderr
        began = time.perf_counter()
        command("stop", "-o", "json", "-f", "/dev/null", program.pid)
        off = 1000 * (time.perf_counter() - began)
    return int(said.group(2)) + off, int(said.group(3))


def trace_classes(bench):
    figures, good, library = [], True, bare_agent()
    for jdk in jdks(bench):
        pairs = [(ours(jdk), bare(jdk, library)) for _ in range(rounds_of(bench))]
        cost, late = ([(a[i], b[i]) for a, b in pairs] for i in (0, 1))
        share, pause = ratio(*zip(*cost)), ratio(*zip(*late))
        figures.append(f"{jdk}: {spell([a for a, _ in cost])} ms, bare {spell([b for _, b in cost])} ms, ratio {spell(share, '{:.2f}')}; "
                       f"longest batch of {BATCH} classes {spell([a for a, _ in late], '{:.1f}')} ms, bare "
                       f"{spell([b for _, b in late], '{:.1f}')} ms, ratio {spell(pause, '{:.2f}')}")
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


GROUPS = (("alpha", "beta", "gamma", "delta"), ("epsilon", "zeta"))


def worst_error(result, true):
    """Points, over the methods of each thread that have at least 1 % of it."""
    found = {m["name"]: m["self_wall"] for m in result["methods"]}
    worst = 0
    for names in GROUPS:
        for name in names:
            truth = 100 * true[name] / sum(true[n] for n in names)
            if truth >= 1:
                worst = max(worst, abs(100 * found.get(name, 0) / sum(found.get(n, 0) for n in names) - truth))
    return worst


def trace_truth(bench):
    """Self times of a program that measures itself, against its own sums over the same seconds without probes."""
    figures, good = [], True
    for jdk in jdks(bench):
        for timing in ("sampled", "exact"):
            errors = []
            with Program(jdk, "KnownShares") as program:
                time.sleep(3)
                for _ in range(rounds_of(bench)):
                    start = program.mark()
                    time.sleep(20)
                    end = program.mark()
                    path = jvm.result_file()
                    command("start", "--timing", timing, "--instrument", "truth.KnownShares", program.pid)
                    time.sleep(20)
                    command("stop", "-o", "json", "-f", path, program.pid)
                    with open(path) as file:
                        result = json.load(file)
                    os.remove(path)
                    errors.append(worst_error(result, {n: end[n] - start[n] for names in GROUPS for n in names}))
            figures.append(f"{jdk}, {timing}: worst method {spell(errors, '{:.2f}')} points")
            good = good and statistics.median(errors) <= 1
    return figures, good
