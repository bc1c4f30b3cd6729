"""Rows on native locks: what hooks of pthread_mutex_lock and its like cost calls that need not wait."""
import statistics
import time

import jvm
from jvm import Program
from measure import agent, interval, spell


def pair_ns(program, word, seconds):
    """ns of a lock and its unlock, the median of the least of many runs."""
    before = len(program.output)
    time.sleep(seconds)
    return statistics.median(float(line.split()[1]) for line in program.output[before:] if line.startswith(word))


def lock_pair(bench):
    """What a pair of calls takes longer with the event at 10 us than right before and after it."""
    tools, added = bench.need_peer(), {}
    words = {"PAIR": "mutex", "READ": "read lock"}
    with Program(bench.jdk, "Idle", 1, jvm=["-agentpath:" + agent("lock_pairs.c")]) as program:
        time.sleep(1)
        # async-profiler leaves its hooks in the tables: it comes last, against what was before
        for tool in tools:
            plain = {word: pair_ns(program, word, 2) for word in words}
            for _ in range(bench.pairs):
                tool.start_nativelock(program.pid, "10us")
                watched = {word: pair_ns(program, word, 2) for word in words}
                tool.stop(program.pid)
                for word in words:
                    if tool is bench.ours:
                        plain[word] = (plain[word] + pair_ns(program, word, 2)) / 2
                    added.setdefault((tool.name, word), []).append(watched[word] - plain[word])
    lines = [f"{words[word]}: " + ", ".join(
        f"{t.name + ' ' if t is not bench.ours else ''}{spell(added[t.name, word], '{:+.1f}')} ns" for t in tools)
        for word in words]
    return lines, all(interval(added[bench.ours.name, word])[2] <= 3 for word in words)


def turns(program, seconds):
    """Turns a second."""
    before, began = program.mark().get("turns", 0), time.monotonic()
    time.sleep(seconds)
    return (program.mark()["turns"] - before) / (time.monotonic() - began)


def lock_fight(bench):
    """How many turns fewer two threads have with the event than right before and after it, in per cent."""
    tools, fewer = bench.need_peer(), {}
    with Program(bench.jdk, "NativeLocks", jvm.NATIVE, "fight", 1000) as program:
        program.say("begin")
        time.sleep(1)
        for tool in tools:
            plain = turns(program, 2)
            for _ in range(bench.pairs):
                tool.start_nativelock(program.pid, "10us")
                watched = turns(program, 2)
                tool.stop(program.pid)
                if tool is bench.ours:
                    plain = (plain + turns(program, 2)) / 2
                fewer.setdefault(tool.name, []).append(100 * (watched / plain - 1))
    ours, theirs = (fewer[t.name] for t in tools)
    return ([f"{spell(ours, '{:+.1f}')} %, async-profiler {spell(theirs, '{:+.1f}')} %"],
            interval(ours)[2] >= interval(theirs)[1])
