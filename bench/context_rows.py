"""The row on what a program pays for saying what its threads work for."""
import time

from jvm import CLASSES, CONTEXT_JAR, Program, jstrobe
from measure import interval, spell

ROUNDS = 20
WARM = 300  # rounds, of two million pairs each: the compilers are through by then


def pairs(jdk, what, agent):
    """ns of a set and a clear, each the median of a hundred short rounds."""
    found = []
    with Program(jdk, "Requests", what, 1, classpath=f"{CLASSES}:{CONTEXT_JAR}") as program:
        if agent:
            jstrobe("record", "-d", 0.1, "-o", "collapsed", program.pid)
        while program.mark().get("rounds", 0) < WARM:
            time.sleep(0.1)
        seen = program.mark()["rounds"]
        while len(found) < ROUNDS:
            mark = program.mark()
            if mark["rounds"] > seen:
                found.append(mark["picoseconds"] / 1000)
                seen = mark["rounds"]
    return found


def context(bench):
    figures, good = [], True
    for jdk, what, name in ((bench.jdk, "pair", "JDK 17"), (bench.jdk25, "pair", "JDK 25"),
                            (bench.jdk25, "virtual-pair", "JDK 25, virtual thread")):
        with_agent, without = pairs(jdk, what, True), pairs(jdk, what, False)
        good = good and interval(with_agent)[2] <= 10
        figures.append(f"{name}: {spell(with_agent, '{:.1f}')} ns, without the agent {spell(without, '{:.1f}')} ns")
    return figures, good
