"""Rows of the wall clock and of periodic sampling that need programs of their own."""
import os
import statistics
import time

import jvm
import measure
from jvm import Program, record
from measure import interval

SECONDS = 4


# ---- parked virtual threads --------------------------------------------------------------

def switch_rate(program, seconds=SECONDS):
    """Switches of PROGRAM's rings a second of CPU time: it uses all cores, so that this is its speed when it is alone."""
    a, cpu = program.mark(), program.cpu()
    time.sleep(seconds)
    b = program.mark()
    return (b["switches"] - a["switches"]) / (program.cpu() - cpu) * 1e9


def rates(bench, program):
    """[(switches a CPU second with plain wall clock, with parked virtual threads, without a reader)], in turn."""
    found, library = [], measure.agent("mounts.c")
    for _ in range(max(3, bench.pairs // 4)):
        turn = []
        for more in ((), ("--vthreads",)):
            bench.ours.start(program.pid, event="wall", interval="50ms", more=more)
            time.sleep(0.5)
            turn.append(switch_rate(program))
            bench.ours.stop(program.pid)
        measure.load_agent(bench.jdk25, program.pid, library, "on")
        turn.append(switch_rate(program))
        measure.load_agent(bench.jdk25, program.pid, library, "off")
        found.append(turn)
    return found


def parked_time():
    """How far the weights are from what 10,000 sleeping virtual threads say, as a share."""
    threads, ms = 10_000, 40
    with Program(jvm.find_jdk(25), "Parked", "sleep", threads, ms) as program:
        time.sleep(2)
        a = program.mark()
        profile = record(program, "-e", "wall", "-i", "50ms", "-d", "20", "--vthreads")
        b = program.mark()
    truth = (b["north"] + b["south"] - a["north"] - a["south"]) * profile.json["duration_ns"] / (b["now"] - a["now"])
    seen = sum(s["weight"] for s in profile.stacks if s["state"] == "parked" and "truth.Parked.park" in s["frames"])
    # Those that are parked when it begins are seen from their next park on: half a sleep of each.
    return (seen + threads * ms * 1e6 / 2) / truth - 1


def virtual_threads(bench):
    if not bench.jdk25:
        raise RuntimeError("it needs JDK 25")
    work = 1e9 * os.cpu_count() / 1e6 - 300  # ns of a core a switch at a million a second, less the switch itself
    with Program(bench.jdk25, "Parked", "ring", 10_000, int(work)) as program:
        time.sleep(3)
        alone = switch_rate(program)
        turns = rates(bench, program)
        after = switch_rate(program)
    plain = statistics.median(rate for rate, _, _ in turns)
    middle, low, high = interval([100 * (1 - parked / rate) for rate, parked, _ in turns])
    floor = interval([100 * (1 - told / rate) for rate, _, told in turns])
    off = parked_time()
    figures = [f"{plain:,.0f} switches a second of CPU time with wall clock; {middle:.1f} % [{low:.1f}, {high:.1f}] slower with `--vthreads`",
               f"the JVM telling callbacks that do nothing: {floor[0]:.1f} % [{floor[1]:.1f}, {floor[2]:.1f}] slower",
               f"before any agent was loaded {alone:,.0f}, after the sessions {after:,.0f}",
               f"parked time {off:+.2%} of what the threads say"]
    return figures, middle <= 5 and abs(off) <= 0.01


# ---- periodic ------------------------------------------------------------------------------

def clocks(program):
    """{tid: (CPU ns, times it was switched to)} of all threads."""
    found = {}
    for tid in program.threads():
        try:
            with open(f"/proc/{program.pid}/task/{tid}/schedstat") as file:
                cpu, _, times = map(int, file.read().split())
            found[tid] = cpu, times
        except OSError:
            pass  # it has ended
    return found


def periodic(bench):
    with Program(bench.jdk, "Phases") as program:
        time.sleep(2)
        bench.ours.start(program.pid, event="periodic", more=("-t",))
        before = clocks(program)
        time.sleep(20)
        after = clocks(program)
        profile = bench.ours.stop(program.pid)
    worst, idle, woken, weights = 0, 0, 0, {tid: t["weight"] for tid, t in profile.threads.items()}
    sampled = {tid: t["samples"] for tid, t in profile.threads.items()}
    for tid, (cpu, times) in before.items():
        used = after[tid][0] - cpu if tid in after else 0
        if used >= 500_000_000:
            worst = max(worst, abs(weights.get(tid, 0) / used - 1))
        elif used == 0 and tid in after:
            idle += 1
            woken += after[tid][1] - times + sampled.get(tid, 0)
    return ([f"weights of busy threads within {worst:.2%} of their CPU clocks",
             f"{idle} threads used no CPU: {woken} signals to them"], worst <= 0.02 and idle > 0 and woken == 0)
