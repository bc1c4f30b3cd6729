"""Rows on comparisons: what `jstrobe diff` claims of equal runs, and whether it finds a change of 5 %."""
import json
import os
import subprocess

import jvm
from jvm import Program

CPU_SECONDS = 3
# Small methods that are compiled into one another have their samples shared out by the compiler's own notes, another way
# in each run (docs/inside/inlined.md): each is compiled by itself here, as large ones are.
JVM = ("-Xms64m", "-Xmx64m", "-XX:+AlwaysPreTouch", "-XX:CompileCommand=quiet",
       "-XX:CompileCommand=dontinline,truth.Workshop::*")


def command(*args):
    return subprocess.run([jvm.COMMAND, *map(str, args)], stdout=subprocess.PIPE, check=True, text=True).stdout


def run(jdk, extra=0):
    """(recording, units of work) of a JVM of its own."""
    path = jvm.result_file(".jfr")
    with Program(jdk, "Workshop", extra, jvm=JVM) as program:
        command("start", "-q", "-i", "250us", "-f", path, program.pid)
        begin = program.mark()["units"]
        program.work(CPU_SECONDS, 600)
        units = program.mark()["units"] - begin
        command("stop", "-q", program.pid)
    return path, units


def claims(before, after):
    """[(method, what)] that the difference of two runs lists, by unit of work."""
    said = json.loads(command("diff", "-q", "--per", f"units={before[1]},{after[1]}", "-o", "json", before[0], after[0]))
    return [(m["name"], what) for m in said["methods"] for what in ("self", "total") if m[what]["listed"]]


CHANGED = ("truth.Workshop.price", "self")


class Score:
    """What differences of one kind of file have claimed and found."""

    def __init__(self, name):
        self.name, self.claimed, self.found, self.beside, self.pairs = name, [], 0, 0, 0

    def add(self, a, b, c):
        """A and B are equal, C has the change."""
        self.claimed += claims(a, b)
        rows = claims(a, c)
        self.found += CHANGED in rows
        self.beside += len(rows) - (CHANGED in rows)
        self.pairs += 1

    def spell(self):
        return (f"{self.name}: {len(self.claimed)} rows claimed in {self.pairs} pairs of equal runs; the change found in "
                f"{self.found} of {self.pairs}, {self.beside} other rows claimed there")


def as_json(a):
    """The same without the times of samples."""
    path = a[0] + ".json"
    command("convert", "-q", "-f", path, a[0])
    return path, a[1]


def diff_claims(bench):
    recordings, results, samples = Score("recordings"), Score("results in JSON"), []
    for pair in range(bench.pairs):
        three = run(bench.jdk), run(bench.jdk), run(bench.jdk, 5)
        sums = [as_json(a) for a in three]
        recordings.add(*three)
        results.add(*sums)
        with open(sums[0][0]) as file:
            samples.append(json.load(file)["samples"]["stored"])
        for path, _ in (*three, *sums):
            os.remove(path)
        print(recordings.spell(), recordings.claimed, results.claimed, flush=True)
    figures = [recordings.spell(), results.spell(),
               f"{CPU_SECONDS} s of CPU time each, {min(samples):,} to {max(samples):,} samples"]
    return figures, len(recordings.claimed) <= bench.pairs / 20 and recordings.found >= 0.9 * bench.pairs
