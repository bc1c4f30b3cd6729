"""Rows on the event io: what hooks of read and write cost the calls."""
import statistics
import time

from jvm import Program
from measure import agent, interval, spell


def write_ns(program, seconds):
    """ns of write(2), the median of the least of many runs."""
    before = len(program.output)
    time.sleep(seconds)
    return statistics.median(float(line.split()[1]) for line in program.output[before:] if line.startswith("WRITE"))


def write_call(bench):
    """What a call takes longer with the event at 1 ms than right before and after it."""
    added, plains = [], []
    with Program(bench.jdk, "Idle", 1, jvm=["-agentpath:" + agent("write_calls.c")]) as program:
        time.sleep(1)
        plain = write_ns(program, 2)
        for _ in range(bench.pairs):
            bench.ours.start_io(program.pid, "1ms")
            watched = write_ns(program, 2)
            bench.ours.stop(program.pid)
            after = write_ns(program, 2)
            added.append(watched - (plain + after) / 2)
            plains.append(plain)
            plain = after
    return ([f"{spell(added, '{:+.1f}')} ns, to {statistics.median(plains):.0f} ns without it"], interval(added)[2] <= 40)
