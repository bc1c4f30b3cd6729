"""The rows of docs/benchmarks.md: what is measured, the goal, and the measurement itself.

A measurement returns (lines of figures, whether the goal was reached), or raises Skip with the
reason why it cannot be made here.
"""
import os
import re
import resource
import statistics
import subprocess
import time
from typing import Callable, NamedTuple

import attach_rows
import context_rows
import diff_rows
import jvm
import io_rows
import lock_rows
import memory_rows
import nativelock_rows
import nativemem_rows
import stream_rows
import trace_change
import trace_rows
import wall_rows
from jvm import CORES, Program, record
from measure import interval, only, ratio, spell
from peers import AsyncProfiler, Jfr, Jstrobe


class Skip(Exception):
    pass


class Row(NamedTuple):
    what: str
    goal: str
    measure: Callable


class Bench:
    """What all rows share: JDKs, profilers, the number of pairs."""

    def __init__(self, pairs):
        self.pairs = pairs
        print(subprocess.run([os.path.join(jvm.ROOT, "scripts", "fetch-peers.sh")],
                             stdout=subprocess.PIPE, text=True,
                             env=dict(os.environ, O=jvm.OUT)).stdout, end="", flush=True)
        self.jdk = jvm.find_jdk(17)
        self.jdk25 = jvm.find_jdk(25)
        self.ours, self.theirs, self.jfr = Jstrobe(), AsyncProfiler(), Jfr(self.jdk25)
        if not self.jdk25:
            print("JDK 25: not tested")

    def need_peer(self):
        if not self.theirs.there():
            raise Skip("async-profiler could not be fetched")
        return [self.ours, self.theirs]

    def need_jfr(self):
        if not self.jfr.there():
            raise Skip("no JDK 25 with the jfr tool")


# ---- times ---------------------------------------------------------------------------

def walk(bench):
    """Both measure their own walks, by the same option: features=stats."""
    figures, good = [], True
    tools = bench.need_peer()
    for depth, form in [(depth, form) for depth in (10, 100, 1000) for form in ("warm", "cold")]:
        found, args = {}, ("Spin", 1, depth, *(["warm"] if form == "warm" else []))
        with Program(bench.jdk, *args) as a, Program(bench.jdk, *args) as b:
            for pair in range(bench.pairs):
                for tool, mine, other in turns(tools, a, b, pair):
                    with only(mine, other):
                        tool.start(mine.pid, interval="100us", stats=True)
                        time.sleep(0.7)
                        found.setdefault(tool.name, []).append(tool.walk_ns(mine.pid))
        ours, theirs = (found[t.name] for t in tools)
        share = ratio(ours, theirs)
        good = good and interval(share)[2] <= 0.5
        figures.append(f"depth {depth}, {'compiled' if form == 'warm' else 'interpreted'}: {spell(ours)} ns, async-profiler {spell(theirs)} ns, "
                       f"ratio {spell(share, '{:.2f}')}")
    return figures, good


def turns(tools, a, b, pair):
    """
    (tool, its program, the other one): programs change sides from pair to pair, since two JVMs
    that run the same code do not always compile it alike.
    """
    mine, other = (a, b) if pair % 2 == 0 else (b, a)
    return ((tools[0], mine, other), (tools[1], other, mine))


def window(program, seconds):
    """(units of work, CPU ns of the spinning thread) during SECONDS."""
    before = program.mark()
    time.sleep(seconds)
    after = program.mark()
    return after["units"] - before["units"], after["cpu"] - before["cpu"]


def outside(bench):
    """
    What a sample really costs, kernel included: the thread's CPU time for a unit of known work
    with sampling, less that without (windows around it), divided by the samples of a unit.
    """
    tools, found = bench.need_peer(), {}
    with Program(bench.jdk, "Spin", 1, 10) as a, Program(bench.jdk, "Spin", 1, 10) as b:
        for pair in range(bench.pairs):
            for tool, mine, other in turns(tools, a, b, pair):
                with only(mine, other):
                    units, cpu = window(mine, 0.5)
                    tool.start(mine.pid, interval="100us")
                    sampled_units, sampled_cpu = window(mine, 1)
                    tool.stop(mine.pid)
                    more_units, more_cpu = window(mine, 0.5)
                plain = (cpu + more_cpu) / (units + more_units)
                samples = sampled_cpu / 100_000
                found.setdefault(tool.name, []).append(
                    (sampled_cpu - sampled_units * plain) / samples)
    ours, theirs = (found[t.name] for t in tools)
    share = ratio(ours, theirs)
    return [f"{spell(ours)} ns a sample, async-profiler {spell(theirs)} ns, ratio {spell(share, '{:.2f}')}"], \
        interval(share)[2] <= 0.5


def slow_down(bench, every):
    """
    CPU time of the whole process, agent included, for a unit of work: with against without. What
    a profiler does once, when it starts, is measured elsewhere: it is given half a second for that.
    The collector is the one without concurrent phases: theirs change what a unit costs by 5 % and more.
    """
    figures, good, tools = [], True, bench.need_peer()
    for name, args in (("Spin", (CORES, 50)), ("Words", ("build",)), ("Words", ("match",))):
        found = {}
        calm = ["-XX:+UseSerialGC", "-Xms256m", "-Xmx256m"]
        with Program(bench.jdk, name, *args, jvm=calm) as a, Program(bench.jdk, name, *args, jvm=calm) as b:
            for program in (a, b):
                with only(program, b if program is a else a):
                    time.sleep(3)  # compiled by then
            for pair in range(bench.pairs):
                for tool, mine, other in turns(tools, a, b, pair):
                    with only(mine, other):
                        plain = cost(mine)
                        tool.start(mine.pid, interval=every)
                        time.sleep(0.5)
                        sampled = cost(mine)
                        tool.stop(mine.pid)
                        plain = (plain + cost(mine)) / 2
                    found.setdefault(tool.name, []).append(100 * (sampled / plain - 1))
        ours, theirs = (found[t.name] for t in tools)
        more = [a - b for a, b in zip(ours, theirs)]
        good = good and (interval(more)[1] <= 0 if every == "1ms" else interval(ours)[2] < 1)
        figures.append(f"{' '.join([name, *[a for a in args if isinstance(a, str)]])}: "
                       f"{spell(ours, '{:+.2f}')} %, async-profiler {spell(theirs, '{:+.2f}')} %, "
                       f"difference {spell(more, '{:+.2f}')} points")
    return figures, good


def slow_down_1ms(bench):
    return slow_down(bench, "1ms")


def slow_down_10ms(bench):
    return slow_down(bench, "10ms")


def cost(program, seconds=1):
    """CPU ns of the process for a unit of work."""
    units, cpu = program.mark()["units"], program.cpu()
    time.sleep(seconds)
    return (program.cpu() - cpu) / (program.mark()["units"] - units)


def attach(bench):
    """`start` on a JVM with 20,000 classes that has not been profiled before."""
    tools, taken, late, noise = bench.need_peer(), {}, {}, []
    for _ in range(bench.pairs):
        for tool in tools:
            with Program(bench.jdk, "ManyClasses", 20000) as program:
                time.sleep(0.5)
                program.reset()
                time.sleep(0.3)
                noise.append(program.mark()["worst_ns"] / 1e6)
                program.reset()
                began = time.perf_counter()
                tool.start(program.pid)
                taken.setdefault(tool.name, []).append(1000 * (time.perf_counter() - began))
                time.sleep(0.1)
                late.setdefault(tool.name, []).append(program.mark()["worst_ns"] / 1e6)
                tool.stop(program.pid)
    ours, theirs = (taken[t.name] for t in tools)
    share = ratio(ours, theirs)
    return [f"{spell(ours, '{:.1f}')} ms, async-profiler {spell(theirs, '{:.1f}')} ms, "
            f"ratio {spell(share, '{:.2f}')}",
            f"1 ms ticker late by at most {spell(late[tools[0].name], '{:.1f}')} ms, "
            f"async-profiler {spell(late[tools[1].name], '{:.1f}')} ms, alone {spell(noise, '{:.1f}')} ms"], \
        interval(share)[2] <= 0.5 and statistics.median(late[tools[0].name]) <= max(
            5, statistics.median(noise))


# ---- sizes ---------------------------------------------------------------------------

def memory(bench):
    tools, figures, good = bench.need_peer(), [], True
    for threads in (50, 2000):
        found = {}
        for _ in range(max(3, bench.pairs // 4)):
            for tool in tools:
                with Program(bench.jdk, "Idle", threads) as program:
                    time.sleep(2)
                    before = program.memory()
                    tool.start(program.pid)
                    time.sleep(3)
                    found.setdefault(tool.name, []).append((program.memory() - before) / 2**20)
                    tool.stop(program.pid)
        ours, theirs = (found[t.name] for t in tools)
        good = good and statistics.median(ours) <= statistics.median(theirs)
        figures.append(f"{threads} threads: {spell(ours, '{:.1f}')} MB, "
                       f"async-profiler {spell(theirs, '{:.1f}')} MB")
    return figures, good


def size(bench):
    tools = bench.need_peer()
    ours, theirs = (os.path.getsize(t.library) for t in tools)
    return [f"{ours:,} bytes, async-profiler {theirs:,}"], ours <= theirs


# ---- wall clock ------------------------------------------------------------------------

def idle_switches(program):
    """Context switches so far of the threads called "idle"."""
    found = {}
    for tid, name in program.threads().items():
        if name == "idle":
            with open(f"/proc/{program.pid}/task/{tid}/status") as file:
                found[tid] = sum(int(line.split()[1]) for line in file if "ctxt_switches" in line)
    return found


def busy(program, seconds):
    """Share of a core that PROGRAM uses, in %."""
    cpu, began = program.cpu(), time.time()
    time.sleep(seconds)
    return (program.cpu() - cpu) / 1e7 / (time.time() - began)


def watch_idle(tool, kind, count, seconds, active, more=()):
    """
    Wall clock at 10 ms of COUNT threads that wait and ACTIVE ones that do not: CPU share of a core that the
    process uses more than before, context switches of the threads that wait, what stop() gave, seconds.
    """
    with Program(jvm.find_jdk(17), "IdlePool", kind, count, active) as program:
        time.sleep(2)
        alone = busy(program, seconds)
        started = time.time()
        tool.start(program.pid, event="wall", more=more)
        time.sleep(2)
        switches, used = idle_switches(program), busy(program, seconds)
        after = idle_switches(program)
        result = tool.stop(program.pid)
        return used - alone, sum(after[t] - switches[t] for t in switches), result, time.time() - started


def served(profile):
    """(signals a second to threads that waited, turns with a sample of all that were due, lost ones by reason)."""
    ran = sum(s["samples"] for s in profile.stacks if s["state"] in ("running", "runnable"))
    signals = max(0, profile.json["handler_ns"]["count"] - ran)
    due = len(profile.threads) * profile.json["duration_ns"] / profile.json["interval_ns"]
    return (signals / profile.json["duration_ns"] * 1e9, profile.samples["stored"] / due,
            {k: v for k, v in profile.samples["lost"].items() if v})


def wall_signals(bench):
    """Whom signals go to, and how many turns are served, with two threads that run."""
    figures, good = [], True
    for count in (1000, 10000):
        for mode in ("marker", "slots"):
            _, switches, profile, _ = watch_idle(bench.ours, "pool", count, 8, 2, ("-t", "--wallmode", mode))
            signals, share, lost = served(profile)
            good = good and switches <= count / 100 and signals <= 10 and (mode == "slots" or share >= 0.98)
            figures.append(f"{count} threads, {mode}: {switches} context switches of threads that wait, {signals:.1f} signals a "
                           f"second to threads that do not run, {share:.1%} of all turns have a sample, missed {lost}")
    return figures, good


def wall_pairs(bench, tools, *args):
    """[% of a core by TOOL, pair by pair] for each of TOOLS: the wall clock at 10 ms of threads that wait."""
    found = [[] for _ in tools]
    with Program(jvm.find_jdk(17), "IdlePool", *args) as a, Program(jvm.find_jdk(17), "IdlePool", *args) as b:
        time.sleep(2)
        for pair in range(bench.pairs):
            for tool, mine, other in turns(tools, a, b, pair):
                with only(mine, other):
                    alone = busy(mine, 2)
                    tool.start(mine.pid, event="wall")
                    time.sleep(2)
                    found[tools.index(tool)].append(busy(mine, 4) - alone)
                    tool.stop(mine.pid)
    return found


def wall_cost(bench):
    """CPU time of the whole process beyond what it used before; nothing runs in it but what watches."""
    tools = bench.need_peer()
    marker, theirs = wall_pairs(bench, tools, "pool", 1000, 0)
    share = ratio(marker, theirs)
    figures = [f"1000 threads (pool): marker {spell(marker, '{:.2f}')} % of a core, async-profiler's batch mode "
               f"{spell(theirs, '{:.2f}')} %, ratio {spell(share, '{:.3f}')}"]
    good = interval(share)[2] <= 0.1
    # two descriptors a thread; the JVM needs some to let us in
    most = min(10000, (resource.getrlimit(resource.RLIMIT_NOFILE)[1] - 2000) // 2)
    for kind, count in (("pool", 10000), ("epoll", most), ("socket", most)):
        found = {mode: watch_idle(bench.ours, kind, count, 8, 0, ("--wallmode", mode))[0]
                 for mode in ("marker", "slots")}
        theirs = watch_idle(tools[1], kind, count, 8, 0)[0]
        limits = (4, 7) if kind == "pool" else (4, 10)
        good = good and found["marker"] <= limits[0] and found["slots"] <= limits[1]
        figures.append(f"{count} threads ({kind}): marker {found['marker']:.2f} %, slots {found['slots']:.2f} % of a core, "
                       f"async-profiler's batch mode {theirs:.2f} %")
    return figures, good


# ---- truth ---------------------------------------------------------------------------

ERRORS = ("[unknown", "[break", "[no_Java", "[not_walkable", "[deopt", "[GC_active", "[truncated", "[error",
          "[frame", "[stack")


def their_complete(stacks):
    """Share of samples without an error frame and with a known root, in collapsed stacks."""
    total = sum(n for _, n in stacks)
    good = 0
    for frames, samples in stacks:
        body = frames[1:]  # the first is the thread
        root = body[0].replace("/", ".").split("_[")[0] if body else ""
        if body and not any(f.startswith(ERRORS) for f in body) and jvm.is_root(root):
            good += samples
    return good / max(1, total)


def demo(jdk, *options):
    """The order service of `make demo`."""
    sources, folder = os.path.join(jvm.ROOT, "demo", "src", "demo"), os.path.join(jvm.OUT, "bench", "demo")
    subprocess.run([os.path.join(jvm.compiler(), "bin", "javac"), "--release", "8", "-nowarn", "-Xlint:-options",
                    "-d", folder, *(os.path.join(sources, file) for file in os.listdir(sources))], check=True)
    program = Program(jdk, "demo", main="demo.OrderService", classpath=folder, ready=False, jvm=options)
    program.wait_for("order service: started")
    return program


def complete(bench):
    figures, good = [], True
    programs = [("demo", ()), ("Recursion", (1000,)), ("Words", ()), ("Deflate", ()), ("ClassInit", ())]
    for name, args in programs:
        with demo(bench.jdk) if name == "demo" else Program(bench.jdk, name, *args) as program:
            profile = record(program, "-i", "1ms", "-d", "10")
            bad, total, _ = jvm.incomplete(profile)
            ours, theirs = (total - bad) / profile.samples["taken"], None
            if bench.theirs.there():
                bench.theirs.start(program.pid, interval="1ms")
                time.sleep(10)
                theirs = their_complete(bench.theirs.stop(program.pid))
        good = good and ours >= 0.995
        figures.append(f"{name}: {ours:.2%}" + (f", async-profiler {theirs:.2%}" if theirs is not None else ""))
    return figures, good


def seldom(bench):
    """An inlined method that runs in one call of 256, its code behind its caller's return; compiled before the session."""
    figures, good = [], True
    for jdk in filter(None, (bench.jdk, bench.jdk25)):
        options = ["-XX:CompileCommand=quiet", "-XX:CompileCommand=dontinline,truth.Seldom::often", "-XX:TieredStopAtLevel=1"]
        with Program(jdk, "Seldom", jvm=options) as program:
            jvm.wait_until(lambda: program.mark().get("rounds", 0) > 20)
            profile = record(program, "-i", "1ms", "-d", "5")
            ours, theirs = profile.share("truth.Seldom.seldom", profile.of_thread("seldom"), "samples"), None
            if bench.theirs.there():
                bench.theirs.start(program.pid, interval="1ms")
                time.sleep(5)
                stacks = [(frames, n) for frames, n in bench.theirs.stop(program.pid) if frames[0].startswith("[seldom")]
                theirs = sum(n for frames, n in stacks if "truth/Seldom.seldom" in frames) / sum(n for _, n in stacks)
        good = good and ours <= 0.02
        figures.append(f"{jdk}: {ours:.1%}" + (f", async-profiler {theirs:.1%}" if theirs is not None else ""))
    return figures, good


def vm_state(bench):
    """CPU time of the causing thread under its Java method; for JFR: samples that have a stack."""
    figures, good = [], True
    jdk = bench.jdk25 or bench.jdk
    for name, thread, method in (("Exceptions", "exceptions", "truth.Exceptions.storm"),
                                 ("CloneCopy", "clone-copy", "truth.CloneCopy.storm")):
        with Program(jdk, name) as program:
            profile = record(program, "-i", "1ms", "-d", "10", watch=thread)
            own = profile.total(method, profile.of_thread(thread)) / profile.thread_clock()
            process = profile.weight["total"] / profile.cpu_clock()
            line = f"{name}: {own:.2%} of the thread's CPU time, {process:.2%} of the process's"
            if bench.theirs.there():
                tid = program.tid(thread)
                bench.theirs.start(program.pid, interval="1ms")
                cpu = program.thread_cpu(tid)
                time.sleep(10)
                cpu = program.thread_cpu(tid) - cpu
                stacks = bench.theirs.stop(program.pid)
                under = sum(n for frames, n in stacks
                            if method in [f.split("_[")[0].replace("/", ".") for f in frames])
                line += f"; async-profiler {under * 1e6 / cpu:.2%}"
        if bench.jfr.there():
            path = jvm.result_file(".jfr")
            with Program(jdk, name, jvm=[bench.jfr.option(path, "1ms")]) as program:
                time.sleep(10)
                cpu = program.thread_cpu(program.tid(thread))
                program.stop()
            having, failed, lost = bench.jfr.samples(path)
            os.remove(path)
            line += f"; JFR {having * 1e6 / cpu:.2%} ({having} samples with a stack, {failed} failed, {lost} lost)"
        good = good and own >= 0.99 and process >= 0.98
        figures.append(line)
    return figures, good


def native(bench):
    figures, good = [], True
    jdk = bench.jdk25 or bench.jdk
    for threads, ms in ((CORES, 0), (CORES, 5000), (16 * CORES, 0), (16 * CORES, 5000)):
        with Program(jdk, "NativeBurn", jvm.NATIVE, threads, ms) as program:
            profile = record(program, "-i", "1ms", "-d", "12")
        line = f"{threads} threads, burn {'for ever' if not ms else '5 s'}: {profile.lost_share():.3%} of " \
               f"{profile.samples['taken']}"
        if bench.jfr.there():
            path = jvm.result_file(".jfr")
            with Program(jdk, "NativeBurn", jvm.NATIVE, threads, ms,
                         jvm=[bench.jfr.option(path, "1ms")]) as program:
                time.sleep(12)
                program.stop()
            having, failed, lost = bench.jfr.samples(path)
            os.remove(path)
            line += f"; JFR {lost / max(1, having + failed + lost):.1%} lost, {failed} failed of " \
                    f"{having + failed + lost}"
        good = good and profile.lost_share() < 0.001
        figures.append(line)
    return figures, good


def h2(bench):
    jar = os.path.join(jvm.OUT, "peers", "h2-2.5.252.jar")
    if not os.path.exists(jar):
        raise Skip("H2 could not be fetched")
    folder = os.path.join(jvm.OUT, "bench", "classes")
    subprocess.run([os.path.join(jvm.compiler(), "bin", "javac"), "--release", "8", "-nowarn", "-Xlint:-options",
                    "-d", folder, os.path.join(jvm.ROOT, "bench", "java", "H2Load.java")], check=True)
    figures, good = [], True
    for every in ("1ms", "10ms", "20ms"):
        with Program(bench.jdk, "", main="H2Load", classpath=f"{folder}:{jar}") as program:
            profile = record(program, "-i", every, "-d", "10")
        queues = profile.json["queues"]
        good = good and profile.lost_share() < 0.001
        figures.append(f"{every}: {profile.lost_share():.3%} of {profile.samples['taken']} lost, queues "
                       f"{queues['bytes']:,} bytes, fullest {queues['max_fill']} of {queues['max_capacity']}, "
                       f"{queues['increments']} increments")
    return figures, good


# ---- files that were recorded earlier ----------------------------------------------------

GIGABYTE = 1 << 30


def timed(command):
    """(seconds, MB resident at most) of a command."""
    began = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = status
    if status:
        raise RuntimeError(f"{command[0]} ended with {status}")
    return time.perf_counter() - began, used.ru_maxrss / 1024


def repeated(path):
    """A file of 1 GB: the chunks of PATH again and again, whose keys thus mean the same each time."""
    big = path + ".big.jfr"
    with open(path, "rb") as file:
        chunks = file.read()
    with open(big, "wb") as file:
        for _ in range(GIGABYTE // len(chunks) + 1):
            file.write(chunks)
    return big


def recorded(bench):
    """{who recorded it: path}: 30 s of the order service, all CPU samples at 1 ms."""
    folder = os.path.join(jvm.OUT, "bench")
    kinds = {"async-profiler's": (bench.jdk, lambda path: f"-agentpath:{bench.theirs.library}=start,event=cpu,"
                                                          f"interval=1ms,file={path}"),
             "our own": (bench.jdk, lambda path: f"-agentpath:{jvm.LIBRARY}=start,event=cpu,interval=1ms,file={path}")}
    if bench.jfr.there():
        kinds["the JDK's"] = (bench.jdk25, lambda path: bench.jfr.option(path, "1ms"))
    found = {}
    for number, (who, (jdk, option)) in enumerate(kinds.items()):
        path = os.path.join(folder, f"convert-{number}.jfr")
        with demo(jdk, option(path)) as program:
            time.sleep(30)
            program.process.terminate()
            program.process.wait()
        found[who] = path
    return found


def convert(bench):
    """Best of 3 with the file in memory; the flame graph of CPU samples."""
    converter = os.path.join(jvm.OUT, "peers", "jfr-converter-4.5.jar")
    if not (bench.theirs.there() and os.path.exists(converter)):
        raise Skip("async-profiler or its converter could not be fetched")
    figures, good = [], True
    for who, path in recorded(bench).items():
        big, page = repeated(path), path + ".html"
        family = "--cpu-time" if who == "the JDK's" else "--cpu"
        ours, theirs = [], []
        try:
            for _ in range(3):
                with open(big, "rb") as file:
                    while file.read(1 << 24):
                        pass
                ours.append(timed([jvm.COMMAND, "convert", "-q", family, big, page]))
                theirs.append(timed([bench.jdk.java, "-jar", converter, family, big, page]))
        finally:
            os.remove(big)
        mine, other = min(ours)[0], min(theirs)[0]
        memory_used = max(used for _, used in ours)
        good = good and mine <= other / 5 and memory_used <= 256
        figures.append(f"{who} recording: {mine:.2f} s and {memory_used:.0f} MB, jfr-converter {other:.2f} s and "
                       f"{max(used for _, used in theirs):.0f} MB, ratio {mine / other:.2f}")
    return figures, good


# ---- recordings ----------------------------------------------------------------------

def count_events(bench, path, event):
    """How many of EVENT the JDK's own tool finds in a recording."""
    text = subprocess.run([os.path.join(bench.jdk.home, "bin", "jfr"), "summary", path], check=True, text=True,
                          stdout=subprocess.PIPE).stdout
    found = re.search(rf"{re.escape(event)}\s+(\d+)", text)
    return int(found.group(1)) if found else 0


def record_ours(bench, program, seconds, *options):
    path = jvm.result_file(".jfr")
    jvm.jstrobe("record", *options, "-d", seconds, "-f", path, program.pid, timeout=seconds + 60)
    return path


def record_theirs(bench, program, seconds, *options):
    path = jvm.result_file(".jfr")
    subprocess.run([bench.theirs.launcher, "--libpath", bench.theirs.library, *options, "-d", str(seconds), "-f", path,
                    str(program.pid)], check=True, stdout=subprocess.DEVNULL, timeout=seconds + 60)
    return path


def recording_size(bench):
    """Of a program that is warm, in both orders: what is compiled meanwhile makes stacks of its own."""
    bench.need_peer()
    figures, good, seconds = [], True, 20
    for name in "demo", "Words":
        with demo(bench.jdk) if name == "demo" else Program(bench.jdk, name) as program:
            time.sleep(20)
            paths = [[], []]
            for who in (0, 1, 1, 0):
                paths[who].append(record_theirs(bench, program, seconds, "-e", "cpu", "-i", "1ms") if who else
                                  record_ours(bench, program, seconds, "-i", "1ms", "--cpuevents", "execution"))
        a_sample = [sum(map(os.path.getsize, those)) /
                    max(1, sum(count_events(bench, p, "jdk.ExecutionSample") for p in those)) for those in paths]
        good = good and a_sample[0] <= 0.7 * a_sample[1]
        figures.append(f"{name}, 2 × {seconds} s at 1 ms: {a_sample[0]:.1f} bytes a sample with all that belongs to "
                       f"it, async-profiler {a_sample[1]:.1f}, ratio {a_sample[0] / a_sample[1]:.2f}")
    return figures, good


def wall_recording_size(bench):
    bench.need_peer()
    wall = "-e", "wall", "-i", "10ms"
    with Program(bench.jdk, "Sleepers", 1000, "idle") as program:
        ours = record_ours(bench, program, 30, *wall)
        batch, single = (record_theirs(bench, program, 30, *wall, *more) for more in ([], ["--nobatch"]))
    ours, batch, single = map(os.path.getsize, (ours, batch, single))
    return ([f"{ours:,} bytes, async-profiler {batch:,}, ratio {ours / batch:.2f}; with nobatch {single:,}, "
             f"1/{single / ours:.0f}"], ours <= batch and ours * 20 < single)


def replay(bench):
    """A day of samples through collector and writer: what it takes in memory, and how fast it goes."""
    program, path = os.path.join(jvm.OUT, "tests", "replay"), jvm.result_file(".jfr")
    if not os.path.exists(program):
        raise Skip("tests/replay is not built: make tools")
    text = subprocess.run([program, "24", "600", path], check=True,
                          stdout=subprocess.PIPE, text=True).stdout
    os.remove(path)
    kb = {int(hour): int(size) for hour, size in re.findall(r"^(\d+) rss (\d+)", text, re.M)}
    made, written, speed = map(int, re.search(r"samples (\d+) written (\d+) speed (\d+)", text).groups())
    return ([f"{made:,} samples in 24 h, {written:,} in the file; {speed} × as fast as they came; resident at most in hour 1 "
             f"{kb[1] / 1024:.1f} MB, in hour 24 {kb[24] / 1024:.1f} MB ({100 * (kb[24] / kb[1] - 1):+.1f} %), "
             f"between {min(kb.values()) / 1024:.1f} and {max(kb.values()) / 1024:.1f}"],
            made == written and speed >= 500 and abs(kb[24] / kb[1] - 1) <= 0.05)


ROWS = {
    "complete": Row("stacks complete: known root, no error frame", "≥ 99.5 % of all samples taken", complete),
    "seldom": Row("share of an inlined method that runs in one call of 256, of its thread's samples (C1)", "≤ 2 %", seldom),
    "vm_state": Row("CPU time inside the VM under the Java method that caused it",
                    "≥ 99 % of the thread's own CPU time, ≥ 98 % of the process's in some stack", vm_state),
    "native": Row("samples lost, threads in native code, 1 ms", "< 0.1 %", native),
    "h2": Row("samples lost under ordinary load (H2, 2 clients)", "< 0.1 %; queue bytes and fill reported", h2),
    "walk": Row("ns of a walk at depths 10, 100, 1000 (by their own clocks)", "≤ 0.5 × async-profiler's", walk),
    "outside": Row("extra CPU ns a sample of a spinning thread, 100 µs, seen from outside",
                   "≤ 0.5 × async-profiler's", outside),
    "slow_down_1ms": Row("slow-down of CPU-bound work at 1 ms", "≤ async-profiler's", slow_down_1ms),
    "slow_down_10ms": Row("slow-down of CPU-bound work at 10 ms", "< 1 %", slow_down_10ms),
    "attach": Row("`start` on a JVM with 20,000 classes", "≤ 0.5 × async-profiler's; no pause above 5 ms", attach),
    "attach_status": Row("first attach to a JVM, until `status` answers", "≤ the JVM's bare attach + 20 ms",
                         attach_rows.attach_status),
    "diff": Row("`jstrobe diff` of runs of a program of 10 methods, by unit of work",
                "equal runs, 20 pairs: ≤ 1 row in all of them; a method that does 5 % of the whole more: found in ≥ 18 of 20",
                diff_rows.diff_claims),
    "trace_sampled": Row("what a traced call costs, sampled timing", "≤ 5 ns a tiny call, ≤ 3 % of a call of 80 ns",
                         trace_rows.trace_sampled),
    "trace_exact": Row("what a traced call costs, exact timing", "≤ two clock reads + 11 ns; ≥ 10 × sampled timing",
                       trace_rows.trace_exact),
    "trace_threads": Row("two threads on the same traced methods", "a call costs each ≤ 1.1 × what it costs one",
                         trace_rows.trace_threads),
    "trace_peers": Row("a traced call beside other tools", "≥ 10 × cheaper than jdk.MethodTiming, ≥ 20 × than VisualVM's sampled timing", trace_rows.trace_peers),
    "trace_classes": Row("probes into 10,000 classes of a running program, and out again",
                         "≤ 1.5 × a RetransformClasses with a hook that does nothing; longest pause ≤ 2 × its",
                         trace_change.trace_classes),
    "trace_removed": Row("speed 10 s after the probes are gone", "not slower: the interval includes 1", trace_change.trace_removed),
    "trace_truth": Row("self times of methods with ≥ 1 % of the time", "≤ 1 point from the uninstrumented truth", trace_change.trace_truth),
    "rewrite_speed": Row("class files rewritten", "≥ 50 MB/s", trace_rows.rewrite_speed),
    "lock_slow_down": Row("slow-down of threads that fight for a lock, `lock` at 10 µs", "≤ 1/2 of async-profiler's",
                          lock_rows.lock_slow_down),
    "malloc_pair": Row("`malloc(64)` and `free`, what a pair takes longer with `nativemem` at 512 KiB",
                       "≤ 15 ns; ≤ 0.3 × async-profiler's", nativemem_rows.malloc_pair),
    "slow_leak": Row("a leak of 1 MB a minute in objects of 1 KB under 500 MB/s of garbage, at 512 KiB, for 10 minutes",
                     "named as first suspect within 10 minutes, no other above 10 % of it", memory_rows.slow_leak),
    "alloc_cost": Row("`alloc` at 512 KiB on a thread that only allocates: CPU time", "≤ 0.5 × async-profiler's a sample",
                      memory_rows.alloc_cost),
    "live_pauses": Row("`live` with 55,000 of 65,536 places taken, 1.4 GB of objects that stay, 300 MB/s of others: pauses",
                       "longest ≤ +5 %", memory_rows.live_pauses),
    "write_call": Row("`write(2)` of 64 bytes to a pipe, what a call takes longer with `io` at 1 ms", "≤ 40 ns",
                      io_rows.write_call),
    "lock_pair": Row("a lock that is free and its unlock, what a pair takes longer with `nativelock` at 10 µs",
                     "≤ 3 ns", nativelock_rows.lock_pair),
    "lock_fight": Row("two threads that fight for a mutex, held for 1 µs each time, with `nativelock` at 10 µs: turns",
                      "not fewer than with async-profiler", nativelock_rows.lock_fight),
    "context": Row("`SampleContext.set` and `clear`, the pair", "≤ 10 ns", context_rows.context),
    "memory": Row("memory added to a JVM", "≤ async-profiler's", memory),
    "recording_size": Row("size of a recording, a CPU sample (`cpuevents=execution`)", "≤ 0.7 × async-profiler's",
                          recording_size),
    "wall_recording_size": Row("size of a wall-clock recording, 1,000 idle threads, 30 s at 10 ms",
                               "≤ async-profiler's; < 1/20 of its `nobatch`", wall_recording_size),
    "replay": Row("24 h of samples (50 threads, 2 CPUs, 10 ms, 19,400 new stacks an hour, chunks of 20 min) through collector and writer",
                  "≥ 500 × as fast; resident in hour 1 and hour 24 within 5 %", replay),
    "convert": Row("recording of 1 GB → flame graph", "≤ 1/5 of jfr-converter's time, ≤ 256 MB", convert),
    "wall_signals": Row("wall clock at 10 ms, 1,000 and 10,000 threads that wait, 2 that run: who gets signals, turns served",
                        "no switch of theirs (≤ 1 per 100 threads); ≤ 10 signals/s to others that wait; ≥ 98 % of turns",
                        wall_signals),
    "wall_cost": Row("the same with none that runs: CPU time of profiling",
                     "parked: ≤ 1/10 of async-profiler's at 1,000; 10,000: ≤ 4 % marker, ≤ 7 % slots; epoll, sockets ≤ 4 %, ≤ 10 %",
                     wall_cost),
    "virtual_threads": Row("10,000 virtual threads, a million switches a second on all cores: wall clock with `--vthreads`",
                           "≤ 5 % slower, not slower without it; parked time within 1 %", wall_rows.virtual_threads),
    "periodic": Row("`-e periodic`, 10 ms: weights against the threads' CPU clocks, and signals to threads that used no CPU",
                    "within 2 %; 0", wall_rows.periodic),
    "stream_latency": Row("live stream: event to record in the reader's hands, 1 ms CPU sampling, 2 busy threads",
                          "median < 15 ms, p99 < 50 ms", stream_rows.stream_latency),
    "stream_stopped": Row("live stream: the reader stands still for 10 s", "throughput not lower; drops counted, stream valid",
                          stream_rows.stream_stopped),
    "top_cost": Row("`jstrobe top` on 1,000 threads", "≤ 2 % of a core", stream_rows.top_cost),
    "size": Row("size of the stripped library", "≤ async-profiler's", size),
}

# Rows whose times are compared in pairs.
PAIRED = {"alloc_cost", "live_pauses", "attach_status", "stream_stopped", "walk", "outside", "slow_down_1ms", "slow_down_10ms", "attach", "lock_slow_down"}
