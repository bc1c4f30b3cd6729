"""Statistics of paired runs, and programs that hold still while another is measured."""
import contextlib
import os
import random
import signal
import statistics


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
