"""Rows on tracing: what a counted call costs, beside others that count calls; how fast classes are rewritten."""
import glob
import os
import re
import statistics
import subprocess
import time

import jvm
import visualvm
from jvm import CORES, Program
from measure import spell

KINDS = ("fib", "chain", "leaf", "clock")
# what is counted: not the loops around it
METHODS = [f"truth.CallBound.{name}" for name in ("fib", "chain", "one", "two", "three", "leaf")]


def windows(program, seconds):
    """({kind: CPU ns a call}, {kind: ns of real time a call}) during SECONDS."""
    before = program.mark()
    time.sleep(seconds)
    after = program.mark()
    return tuple({k: (after[k + clock] - before[k + clock]) / max(1, after[k + "_calls"] - before[k + "_calls"]) for k in KINDS}
                 for clock in ("_ns", "_real"))


def window(program, seconds):
    return windows(program, seconds)[0]


def command(*args):
    done = jvm.jstrobe(*args)
    if done.returncode != 0:
        raise RuntimeError(done.stderr)
    return done


def traced(jdk, timing, rounds, threads=1, methods=METHODS):
    """[(without, with, after)] of ROUNDS runs: ns a call by kinds."""
    found = []
    with Program(jdk, "CallBound", threads) as program:
        time.sleep(4)
        for _ in range(rounds):
            plain = window(program, 1.5)
            command("start", "--timing", timing, "--instrument", ";".join(methods), program.pid)
            time.sleep(3)  # compiled again by then
            probed = window(program, 1.5)
            command("stop", "-o", "json", "-f", "/dev/null", program.pid)
            time.sleep(3)
            found.append((plain, probed, window(program, 1.5)))
    return found


def added(found, kind):
    return [probed[kind] - (plain[kind] + after[kind]) / 2 for plain, probed, after in found]


def rounds_of(bench):
    return max(3, bench.pairs // 4)


def jdks(bench):
    return [jdk for jdk in (bench.jdk, bench.jdk25) if jdk]


def trace_sampled(bench):
    figures, good = [], True
    for jdk in jdks(bench):
        found = traced(jdk, "sampled", rounds_of(bench))
        slower = [100 * (probed["leaf"] / ((plain["leaf"] + after["leaf"]) / 2) - 1) for plain, probed, after in found]
        figures.append(f"{jdk}: {spell(added(found, 'fib'), '{:.1f}')} ns a recursive call, {spell(added(found, 'chain'), '{:.1f}')} ns a "
                       f"call of a chain, {spell(added(found, 'leaf'), '{:.1f}')} ns a call of 80 ns ({spell(slower, '{:+.1f}')} %)")
        good = good and statistics.median(added(found, "fib")) <= 5 and statistics.median(added(found, "chain")) <= 5 and \
            statistics.median(slower) <= 3
        again = [plain2["fib"] / plain["fib"] for plain, _, plain2 in found]
        figures.append(f"{jdk}: after the probes are gone a recursive call takes {spell(again, '{:.3f}')} × what it took before")
    return figures, good


def trace_exact(bench):
    figures, good = [], True
    for jdk in jdks(bench):
        found = traced(jdk, "exact", rounds_of(bench))
        sampled = traced(jdk, "sampled", rounds_of(bench))
        clock = statistics.median(plain["clock"] for plain, _, _ in found)
        ours = statistics.median(added(found, "fib"))
        times = ours / statistics.median(added(sampled, "fib"))
        figures.append(f"{jdk}: {spell(added(found, 'fib'), '{:.1f}')} ns a recursive call, {spell(added(found, 'chain'), '{:.1f}')} of a "
                       f"chain; a clock read {clock:.1f} ns; {times:.1f} × what sampled timing adds")
        good = good and ours <= 2 * clock + 11 and times >= 10
    return figures, good


def trace_threads(bench):
    figures, good = [], True
    for jdk in jdks(bench):
        one = traced(jdk, "sampled", rounds_of(bench), 1)
        two = traced(jdk, "sampled", rounds_of(bench), min(2, CORES))
        cost = [statistics.median(probed["fib"] for _, probed, _ in found) for found in (one, two)]
        figures.append(f"{jdk}: {cost[0]:.2f} ns a call by one thread, {cost[1]:.2f} ns by each of two")
        good = good and cost[1] <= 1.1 * cost[0]
    return figures, good


def method_timing(jdk, rounds):
    """JDK 25's own: ns a call with it, less without; it cannot be switched on from outside, so each has its run."""
    found = []
    methods = ";".join(m.replace("CallBound.", "CallBound::") for m in METHODS)
    flags = (f"-XX:StartFlightRecording:jdk.MethodTiming#enabled=true,jdk.MethodTiming#filter={methods},"
             f"filename={jvm.result_file('.jfr')}")
    for _ in range(rounds):
        costs = []
        for args in ([], [flags]):
            with Program(jdk, "CallBound", 1, jvm=args) as program:
                time.sleep(5)
                costs.append(window(program, 1.5))
                program.stop()
        found.append((costs[0], costs[1], costs[0]))
    for path in glob.glob(os.path.join(jvm.WORK, "result-*.jfr")):
        os.remove(path)
    return found


def method_trace(tool, jdk, rounds, threshold, kinds):
    """async-profiler's: each call of a method that took THRESHOLD is an event with its stack ("0ns": each call)."""
    found = []
    for _ in range(rounds):
        costs = {}
        for kind in kinds:
            path = jvm.result_file(".jfr")
            with Program(jdk, "CallBound", 1) as program:
                time.sleep(4)
                plain = window(program, 1.5)[kind]
                tool.trace(program.pid, f"truth.CallBound.{kind}:{threshold}", path)
                time.sleep(3)
                costs[kind] = plain, window(program, 1.5)[kind]
            if os.path.exists(path):
                os.remove(path)
        plain, probed = ({k: v[i] for k, v in costs.items()} for i in (0, 1))
        found.append((plain, probed, plain))
    return found


def cpu_clock():
    """ns that a thread's CPU clock takes to read, about: a system call, which VisualVM makes twice a call by default."""
    def loop(clock):
        began = time.thread_time_ns()
        for _ in range(100000):
            time.clock_gettime_ns(clock)
        return (time.thread_time_ns() - began) / 100000
    return loop(time.CLOCK_THREAD_CPUTIME_ID) - loop(time.CLOCK_MONOTONIC)


def visualvm_rows(bench, rounds):
    """
    Lines on VisualVM's engine, in real time: the thread waits for the tool most of the time. Where the machine has other
    work, that takes as much longer as tool and program have to share with it, so CPU time stands beside.
    """
    if not visualvm.there():
        return ["VisualVM's engine: left out, Debian's package visualvm is not installed"], None
    figures, sampled, roots = [], None, ("fib(I)I", "chain(I)I", "leaf(I)I")
    for mode, what in (("sampled", "sampled timing"), ("exact", "exact timing"), ("default", "its default: both clocks")):
        used, found = [], []
        for _ in range(rounds):
            with Program(bench.jdk, "CallBound", 1) as program:
                time.sleep(4)
                plain = windows(program, 1.5)
            with visualvm.Profiled(bench.jdk, mode, "CallBound", roots, 1) as program:
                time.sleep(10)
                probed = windows(program, 5)
            for kept, clock in ((used, 0), (found, 1)):
                kept.append((plain[clock], probed[clock], plain[clock]))
        figures.append(f"VisualVM's engine, {what} ({bench.jdk}): {spell(added(found, 'fib'), '{:.1f}')} ns of real time a "
                       f"recursive call ({spell(added(used, 'fib'), '{:.1f}')} of CPU time), "
                       f"{spell(added(found, 'leaf'), '{:.1f}')} a call of 80 ns")
        sampled = sampled or statistics.median(added(found, "fib"))
    figures.append(f"a read of a thread's CPU clock: {cpu_clock():.0f} ns")
    ours = statistics.median(added(traced(bench.jdk, "sampled", rounds), "fib"))
    figures.append(f"VisualVM's sampled timing adds {sampled / ours:.0f} × what ours does ({bench.jdk}, {ours:.1f} ns)")
    return figures, sampled >= 20 * ours


def trace_peers(bench):
    """Beside the JDK's own counting of calls, and async-profiler's events of them."""
    bench.need_jfr()
    tool, rounds = bench.need_peer()[1], min(3, rounds_of(bench))
    ours = traced(bench.jdk25, "sampled", rounds)
    timing = method_timing(bench.jdk25, rounds)
    quiet = method_trace(tool, bench.jdk25, rounds, "10ms", ("fib", "leaf"))
    events = method_trace(tool, bench.jdk25, rounds, "0ns", ("leaf",))  # of fib's stacks no round would end
    figures = [f"{name}: {spell(added(found, 'fib'), '{:.1f}')} ns a recursive call, {spell(added(found, 'leaf'), '{:.1f}')} a call "
               f"of 80 ns" for name, found in (("jstrobe, sampled", ours), ("JDK 25's jdk.MethodTiming", timing),
                                               ("async-profiler's trace, no call long enough", quiet))]
    figures.append(f"async-profiler's trace, each call an event: {spell(added(events, 'leaf'), '{:.1f}')} ns a call of 80 ns")
    more, far = visualvm_rows(bench, rounds)
    return figures + more, statistics.median(added(timing, "fib")) >= 10 * statistics.median(added(ours, "fib")) and far is not False


def rewrite_speed(bench):
    """All classes of java.base, as they lie in the JDK, ten times each."""
    tool, folder = os.path.join(jvm.OUT, "tests", "rewrite_classes"), os.path.join(jvm.WORK, "rewrite")
    subprocess.run(["make", "-s", "-C", jvm.ROOT, "O=" + jvm.OUT, "tools"], check=True)
    subprocess.run([os.path.join(jvm.compiler(), "bin", "javac"), "--release", "8", "-Xlint:-options", "-nowarn", "-d", folder,
                    *glob.glob(os.path.join(jvm.ROOT, "tests", "jvm", "java", "rewrite", "*.java"))], check=True)
    speeds = []
    for _ in range(max(3, bench.pairs // 4)):
        done = subprocess.run([bench.jdk.java, "-cp", folder, "rewrite.Modules", tool, os.path.join(jvm.WORK, "rewritten"), "java.base"],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=True)
        size, ns = re.search(r"in=(\d+) out=\d+ ns=(\d+)", done.stderr).groups()
        speeds.append(int(size) * 1000 / int(ns))
    return [f"java.base of JDK 17, a probe in every method: {spell(speeds)} MB/s on one core"], statistics.median(speeds) >= 50
