"""Rows on native locks: what hooks of pthread_mutex_lock and its like cost calls that need not wait."""
import glob
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


def sleeps(program):
    """How often the two threads have given up their CPU so far, which is where they have waited in the kernel."""
    count = 0
    for path in glob.glob(f"/proc/{program.pid}/task/*/status"):
        try:
            with open(path) as file:
                words = dict(line.split(":", 1) for line in file if ":" in line)
        except OSError:  # another thread has ended
            continue
        if words["Name"].strip().startswith("fighter-"):
            count += int(words["voluntary_ctxt_switches"])
    return count


def fought(program, seconds):
    """Turns a second, and how many of a thousand a thread has slept for: others on the machine make turns fewer, but
    not more of them sleep."""
    before, slept, began = program.mark().get("turns", 0), sleeps(program), time.monotonic()
    time.sleep(seconds)
    had = program.mark()["turns"] - before
    return had / (time.monotonic() - began), 1000 * (sleeps(program) - slept) / max(had, 1)


def lock_fight(bench):
    """How many turns fewer two threads have with the event than right before and after it, in per cent; and of a thousand
    turns how many more they sleep for."""
    tools, fewer, asleep, quiet = bench.need_peer(), {}, {}, []
    with Program(bench.jdk, "NativeLocks", jvm.NATIVE, "fight", 1000) as program:
        program.say("begin")
        time.sleep(1)
        for tool in tools:
            plain, still = fought(program, 2)
            for _ in range(bench.pairs):
                tool.start_nativelock(program.pid, "10us")
                watched, slept = fought(program, 2)
                tool.stop(program.pid)
                if tool is bench.ours:
                    after = fought(program, 2)
                    plain, still = (plain + after[0]) / 2, (still + after[1]) / 2
                fewer.setdefault(tool.name, []).append(100 * (watched / plain - 1))
                asleep.setdefault(tool.name, []).append(slept - still)
                quiet.append(still)
    ours, theirs = (fewer[t.name] for t in tools)
    mine, others = (asleep[t.name] for t in tools)
    return ([f"turns: {spell(ours, '{:+.1f}')} %, async-profiler {spell(theirs, '{:+.1f}')} %",
             f"sleeps of 1,000 turns: {spell(mine, '{:+.1f}')}, async-profiler {spell(others, '{:+.1f}')}, to "
             f"{statistics.median(quiet):.1f} without either"],
            interval(ours)[2] >= interval(theirs)[1] and interval(mine)[1] <= interval(others)[2])
