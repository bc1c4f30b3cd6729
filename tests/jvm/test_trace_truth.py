"""jstrobe trace: times are those of the program's own clocks, in rhythm with the ticks, and with more threads than CPUs."""
import time

import pytest
from jvm import CORES, Program, counted, jstrobe
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


@pytest.mark.parametrize("args", [("sampled",), ("exact",), ("adaptive",), ("exact", "--cpu-clock")])
@pytest.mark.parametrize("a_core", [1, 3, 8])
def test_more_threads_than_cpus(jdk, a_core, args):
    """Wall-clock and CPU times are the program's own; CPU time exceeds neither the other nor the threads' clocks."""
    threads = a_core * CORES
    calls = counted(1200, 12000) // a_core
    with Program(jdk, "Outnumbered", threads, calls, 500) as program:
        start(program, "--timing", args[0], *args[1:], "--instrument", "truth.Outnumbered.around;truth.Outnumbered.works")
        program.say("begin")
        for _ in range(1200):
            if program.mark().get("done") == threads:
                break
            time.sleep(0.05)
        true = program.mark()
        result = stop(program)
    methods = by_name(result)
    works, around = methods["works"], methods["around"]
    assert works["invocations"] == around["invocations"] == threads * calls
    # a thread may lose its CPU between the program's clock and ours; of ticks there are so many, and that is their error
    stray = 2 * works["max"] if works["max"] else 5 * works["self_wall"] / works["stamps"] ** 0.5
    assert abs(works["self_wall"] - true["inside"]) < 0.03 * true["inside"] + stray, (works, true)
    assert around["self_wall"] < 0.03 * true["inside"] + stray, (around, true, result["held_ns"])
    for node in result["tree"]:
        assert node["self_cpu"] <= node["self_wall"], node
        assert node["total_cpu"] <= node["total_wall"], node
    assert works["self_cpu"] + around["self_cpu"] <= true["cpu"], (works, around, true)
    assert abs(works["self_cpu"] - true["ran"]) < 0.05 * true["ran"] + stray, (works, true)
    assert sum(t["cpu"] for t in result["threads"]) <= true["cpu"] + 1e6 * threads
    assert result["held_ns"] > 0 or a_core == 1
