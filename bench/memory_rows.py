"""Rows on the Java heap: what samples of objects cost, and how soon a slow leak is named."""
import os
import time

from jvm import Profile, Program, jstrobe, result_file

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
