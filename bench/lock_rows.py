"""Rows on waits for locks: what watching them costs a program that does little else."""
import time

from jvm import CORES, Program
from measure import interval, only, spell


def speed(program, seconds):
    """Units of work a second of real time."""
    before, start = program.mark()["units"], time.monotonic()
    time.sleep(seconds)
    return (program.mark()["units"] - before) / (time.monotonic() - start)


def lock_slow_down(bench):
    """Throughput with against without (windows around it), of threads that fight for one monitor, or one ReentrantLock."""
    figures, good, tools = [], True, bench.need_peer()
    for kind in ("monitor", "lock"):
        found = {}
        args = (kind, 4 * CORES, 1)
        calm = ["-XX:+UseSerialGC", "-Xms256m", "-Xmx256m"]
        with Program(bench.jdk, "Contended", *args, jvm=calm) as a, Program(bench.jdk, "Contended", *args, jvm=calm) as b:
            for program in (a, b):
                with only(program, b if program is a else a):
                    time.sleep(2)
            for pair in range(bench.pairs):
                mine, other = (a, b) if pair % 2 == 0 else (b, a)
                for tool, program, rest in ((tools[0], mine, other), (tools[1], other, mine)):
                    with only(program, rest):
                        plain = speed(program, 1)
                        tool.start(program.pid, event="lock", interval="10us")
                        time.sleep(0.5)
                        watched = speed(program, 1)
                        tool.stop(program.pid)
                        time.sleep(0.5)
                        plain = (plain + speed(program, 1)) / 2
                    found.setdefault(tool.name, []).append(100 * (plain / watched - 1))
        ours, theirs = (found[t.name] for t in tools)
        half = [a - b / 2 for a, b in zip(ours, theirs)]
        good = good and interval(half)[1] <= 0
        figures.append(f"one {kind}, {4 * CORES} threads: {spell(ours, '{:+.1f}')} %, async-profiler "
                       f"{spell(theirs, '{:+.1f}')} %")
    return figures, good
