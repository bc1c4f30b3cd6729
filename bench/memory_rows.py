"""Rows on the Java heap: what samples of objects cost, and how soon a slow leak is named."""
import os
import re
import statistics
import time

from jvm import Profile, Program, jstrobe, result_file, wait_until
from measure import interval, only, ratio, spell

MIB = 1 << 20
MINUTE, GARBAGE, MINUTES = MIB, 500_000_000, 10


def result(verb, program, *options):
    path = result_file()
    done = jstrobe(verb, "-o", "json", "-f", path, *options, program.pid)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip())
    profile = Profile(path)
    os.remove(path)
    return profile


def is_named(suspects):
    """The one place that leaks comes first, and no other has a tenth of it."""
    return (bool(suspects) and suspects[0]["for"] == "truth.Leaks.leaks" and
            all(s["bytes_an_hour"] <= 0.1 * suspects[0]["bytes_an_hour"] for s in suspects[1:]))


def slow_leak(bench):
    """Each minute a result, of a heap that is collected for it: from when on the leak is named in all."""
    figures, good = [], True
    for jdk, collector in ((bench.jdk, "G1"), (bench.jdk25 or bench.jdk, "Z")):
        named, suspects = [], []
        with Program(jdk, "Leaks", MINUTE, GARBAGE, jvm=["-Xmx512m", f"-XX:+Use{collector}GC"]) as program:
            if jstrobe("start", "-e", "live", program.pid).returncode != 0:
                raise RuntimeError("live does not start")
            program.say("begin")
            begun = time.time()
            for minute in range(1, MINUTES + 1):
                time.sleep(max(0, begun + 60 * minute - time.time()))
                suspects = result("dump", program, "--gc").json.get("leaks", [])
                named.append(is_named(suspects))
            truth, seconds = program.mark(), time.time() - begun
        since = next(m for m in range(MINUTES + 1) if all(named[m:]))
        first = suspects[0] if suspects else {"bytes_an_hour": 0, "at_least": 0, "at_most": 0}
        figures.append(f"JDK {jdk.version}, {collector}: named from minute {since + 1} on, others {len(suspects) - 1}; after {MINUTES} minutes "
                       f"{first['bytes_an_hour'] / 60 / MIB:.2f} MB a minute ({first['at_least'] / 60 / MIB:.2f} to "
                       f"{first['at_most'] / 60 / MIB:.2f}), really {truth['leaked'] / seconds * 60 / MIB:.2f}, under "
                       f"{truth['garbage'] / seconds / 1e6:.0f} MB/s of garbage")
        good = good and since < MINUTES
    return figures, good


# ---- what samples cost ----------------------------------------------------------------

INTERVAL, WINDOW = 524288, 2
ENTRIES, SURVIVOR, CHURN = 55_000, 16384, 300_000_000


def cpu_ns(pid):
    """CPU time of the process, by its clock."""
    return time.clock_gettime_ns(~pid << 3 | 2)


def window(program):
    """(ns of the process's CPU time for a byte, bytes a second) while it runs for a while."""
    begun, bytes_before, cpu_before = time.time(), program.mark()["bytes"], cpu_ns(program.pid)
    time.sleep(WINDOW)
    cpu, done = cpu_ns(program.pid) - cpu_before, program.mark()["bytes"] - bytes_before
    return cpu / done, done / (time.time() - begun)


def alloc_cost(bench):
    """A program that only allocates: CPU time for a byte with samples against right before and after."""
    tools, added, slower, rates = bench.need_peer(), {}, {}, []
    flags = ["-Xmx256m", "-XX:+UseParallelGC"]
    with Program(bench.jdk, "AllocBound", jvm=flags) as a, Program(bench.jdk, "AllocBound", jvm=flags) as b:
        time.sleep(3)
        for pair in range(bench.pairs):
            # one of them is stopped; who comes first changes
            for tool, mine, other in [(tools[0], a, b), (tools[1], b, a)][::1 if pair % 2 else -1]:
                with only(mine, other):
                    before, rate = window(mine)
                    tool.start(mine.pid, event="alloc", interval="512k")
                    sampled, _ = window(mine)
                    tool.stop(mine.pid)
                    after, _ = window(mine)
                plain = (before + after) / 2
                added.setdefault(tool.name, []).append((sampled - plain) * INTERVAL / 1e3)
                slower.setdefault(tool.name, []).append(100 * (sampled / plain - 1))
                rates.append(rate)
    share = [a / b for a, b in zip(*(added[t.name] for t in tools)) if b > 0]
    figures = [f"{statistics.median(rates) / 1e9:.1f} GB/s; CPU time of the process " +
               ", ".join(f"{t.name} {spell(slower[t.name], '{:+.1f}')} %" for t in tools) + "; a sample " +
               ", ".join(f"{t.name} {spell(added[t.name], '{:.1f}')} µs" for t in tools) +
               f"; ratio of pairs {spell(share, '{:.2f}')}"]
    return figures, interval(share)[2] <= 0.5


# ---- what the table of live objects costs ---------------------------------------------

def pauses(log, since):
    """ms of the pauses in LOG behind its byte SINCE, and of what G1 does for weak references in each."""
    with open(log) as file:
        file.seek(since)
        text = file.read()
    return tuple([float(ms) for ms in re.findall(form, text, re.M)]
                 for form in (r"Pause [^\n]*? ([\d.]+)ms$", r"Weak Processing: ([\d.]+)ms$"))


def live_pauses(bench):
    """Two programs with the same objects, one of which has a session with a table that is all but full."""
    figures, good = [], True
    for jdk, collector in ((bench.jdk, "G1"), (bench.jdk25 or bench.jdk, "Z")):
        logs = [result_file(".log"), result_file(".log")]
        heap = "3g" if collector == "G1" else "2g"  # so that each is collected once in a second or two
        flags = ["-Xms" + heap, "-Xmx" + heap, f"-XX:+Use{collector}GC"]
        count = int(ENTRIES / (1 - 2.718281828 ** -1))
        programs = [Program(jdk, "KeepMany", SURVIVOR, count, CHURN, jvm=[*flags, f"-Xlog:gc,gc+phases=debug:file={log}"]) for log in logs]
        longest, middle, weak = ([], []), ([], []), ([], [])
        with programs[0] as watched, programs[1] as plain:
            if jstrobe("start", "-e", f"live@{SURVIVOR}", watched.pid).returncode != 0:
                raise RuntimeError("live does not start")
            for program in programs:
                program.say("begin")
            for program in programs:
                wait_until(lambda program=program: "kept" in program.mark(), 300)
            for pair in range(bench.pairs):
                found = [None, None]
                for k in ((0, 1), (1, 0))[pair % 2]:
                    with only(programs[k], programs[1 - k]):
                        since = os.path.getsize(logs[k])
                        time.sleep(8)
                        found[k] = pauses(logs[k], since)
                if all(all_pauses for all_pauses, _ in found):
                    for k in (0, 1):
                        longest[k].append(max(found[k][0]))
                        middle[k].append(statistics.median(found[k][0]))
                        weak[k].extend(found[k][1])
            kept = result("dump", watched).samples["stored"]
        slow = ratio(*longest)
        figures.append(f"JDK {jdk.version}, {collector}: {kept:,} objects in the table; longest pause {spell(longest[0], '{:.2f}')} ms, without "
                       f"{spell(longest[1], '{:.2f}')} ms, ratio {spell(slow, '{:.3f}')}; median pause "
                       f"{spell(middle[0], '{:.3f}')} ms, without {spell(middle[1], '{:.3f}')} ms, ratio {spell(ratio(*middle), '{:.3f}')}"
                       f" ({len(slow)} pairs of 8 s)" + (f"; weak references in a pause {statistics.median(weak[0]):.2f} ms, without "
                       f"{statistics.median(weak[1]):.2f} ms" if all(weak) else ""))
        good = good and interval(slow)[0] <= 1.05
    return figures, good
