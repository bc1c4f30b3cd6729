"""Rows on native memory: what hooks of malloc and free cost the calls."""
import statistics
import time

from jvm import Program
from measure import agent, interval, spell


def pair_ns(program, seconds):
    """ns of malloc(64) and free, the median of the least of many runs."""
    before = len(program.output)
    time.sleep(seconds)
    return statistics.median(float(line.split()[1]) for line in program.output[before:] if line.startswith("PAIR"))


def malloc_pair(bench):
    """What a pair of calls takes longer with the event at 512 KiB than right before and after it."""
    tools, added = bench.need_peer(), {}
    with Program(bench.jdk, "Idle", 1, jvm=["-agentpath:" + agent("malloc_pairs.c")]) as program:
        time.sleep(1)
        # async-profiler leaves its hooks in the tables: it comes last, against what was before
        for tool in tools:
            plain = pair_ns(program, 2)
            for _ in range(bench.pairs):
                tool.start_nativemem(program.pid, 524288)
                watched = pair_ns(program, 2)
                tool.stop(program.pid)
                if tool is bench.ours:
                    plain = (plain + pair_ns(program, 2)) / 2
                added.setdefault(tool.name, []).append(watched - plain)
    ours, theirs = (added[t.name] for t in tools)
    share = interval(ours)[2] / interval(theirs)[1]
    return ([f"{spell(ours, '{:+.1f}')} ns, async-profiler {spell(theirs, '{:+.1f}')} ns"],
            interval(ours)[2] <= 15 and share <= 0.3)
