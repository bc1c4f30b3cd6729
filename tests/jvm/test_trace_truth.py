"""jstrobe trace: times are those of the program's own clocks, also in rhythm with the ticks."""
import time

import pytest
from jvm import Program, counted, jstrobe
from test_trace import stop, wait

SESSIONS = 5  # each has ticks of its own: one might meet a rhythm by luck, or stand still with the whole machine


def start(program, *args):
    done = jstrobe("start", *args, program.pid)
    assert done.returncode == 0, done.stderr


def by_name(result):
    return {m["name"]: m for m in result["methods"]}


# A rhythm that is a tick's period, a part of it, a few of it, and none.
@pytest.mark.parametrize("timing", ["sampled", "adaptive"])
@pytest.mark.parametrize("rhythm", [(1000, 300, 150), (500, 120, 60), (2000, 150, 500), (1370, 200, 400)])
def test_rhythms(jdk, rhythm, timing):
    """Two methods of a task at a fixed rate each have their own time."""
    found = {"first": [], "second": []}
    with Program(jdk, "Rhythm", *rhythm) as program:
        wait(program, "tasks")
        for _ in range(SESSIONS):
            start(program, "--timing", timing, "--instrument", "truth.Rhythm.first;truth.Rhythm.second")
            before = program.mark()
            time.sleep(counted(2, 20))
            after = program.mark()
            methods = by_name(stop(program))
            for name in ("first", "second"):
                m, tasks = methods[name], after["tasks"] - before["tasks"]
                # a call that lost its CPU may be in one and not in the other; of ticks there are so many, and that is their error
                stray = 2 * m["max"] / tasks if timing == "adaptive" else 5 * m["mean"] / max(1, m["stamps"]) ** 0.5
                true = (after[name] - before[name]) / tasks
                found[name].append((abs(m["mean"] - true) - stray, true, m))
    for name, errors in found.items():
        error, true, m = sorted(errors, key=lambda e: e[0] / e[1])[SESSIONS // 2]
        assert error < 0.03 * true, (name, rhythm, true, m, [e[0] / e[1] for e in errors])
