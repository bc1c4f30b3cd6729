"""Statistics of paired runs, programs that hold still while another is measured, and agents for comparison."""
import contextlib
import os
import random
import signal
import statistics
import subprocess

import jvm


def interval(values, rounds=2000):
    """(median, low, high): 95 % bootstrap interval of the median."""
    values, dice = list(values), random.Random(1)
    medians = sorted(statistics.median(dice.choices(values, k=len(values))) for _ in range(rounds))
    return statistics.median(values), medians[int(0.025 * rounds)], medians[int(0.975 * rounds)]


def spell(values, form="{:,.0f}"):
    """'816 [801, 840]'"""
    middle, low, high = interval(values)
    return f"{form.format(middle)} [{form.format(low)}, {form.format(high)}]"


def ratio(ours, theirs):
    """Ratios of pairs, for spell() and interval()."""
    return [a / b for a, b in zip(ours, theirs) if b]


@contextlib.contextmanager
def only(program, *others):
    """PROGRAM runs, OTHERS are stopped: no one disturbs the measurement."""
    for other in others:
        os.kill(other.pid, signal.SIGSTOP)
    try:
        os.kill(program.pid, signal.SIGCONT)
        yield
    finally:
        for other in others:
            os.kill(other.pid, signal.SIGCONT)


def agent(source):
    """bench/native/SOURCE as a JVMTI agent: its path."""
    library = os.path.join(jvm.WORK, source.replace(".c", ".so"))
    include = os.path.join(jvm.compiler(), "include")
    subprocess.run([os.environ.get("CC", "gcc"), "-O2", "-fPIC", "-shared", "-I" + include, "-I" + os.path.join(include, "linux"),
                    os.path.join(jvm.ROOT, "bench", "native", source), "-o", library], check=True)
    return library


def load_agent(jdk, pid, library, options):
    """Have a JVM load it; what jcmd said."""
    done = subprocess.run([os.path.join(jdk.home, "bin", "jcmd"), str(pid), "JVMTI.agent_load", library, options],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.stdout
