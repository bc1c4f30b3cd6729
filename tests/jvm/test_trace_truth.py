"""jstrobe trace: times are those of the program's own clocks, in rhythm with the ticks, and with more threads than CPUs."""
import time

import pytest
from jvm import CORES, Program, counted, jstrobe, result_file
from test_trace import stop, wait

pytestmark = pytest.mark.in_pairs

HELD_LONG = 10_000  # ns: a stamp that takes less did not lose its CPU (TREE_HELD_LONG)
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
    assert abs(works["self_cpu"] - true["ran"]) < 0.03 * true["ran"] + stray, (works, true)
    assert sum(t["cpu"] for t in result["threads"]) <= true["cpu"] + 1e6 * threads
    # it is 0 where no thread lost its CPU as a probe read a clock
    held = result["held_ns"]
    assert held == 0 or held >= HELD_LONG
    if args[0] == "exact":
        # each ns between the program's first clock and its last is a method's or was held: none is lost
        assert works["self_wall"] + around["self_wall"] + held >= true["inside"] + true["beside"], (works, around, true)


# With ticks between, whatever is called next is in its place; without, what a constructor never called.
@pytest.mark.parametrize("timing, times, ms", [(timing, 200, 0) for timing in ("sampled", "exact", "adaptive", "none")] +
                         [(timing, 60, 20) for timing in ("sampled", "exact", "adaptive")])
def test_constructors_that_throw_out_of_super(jdk, timing, times, ms):
    """What comes after a constructor that its super class's ended is not below it, though no method with probes caught that."""
    with Program(jdk, "Constructors", times, ms) as program:
        start(program, "--timing", timing, "--instrument",
              "truth.Constructors$Made;truth.Constructors$More;truth.Constructors$Work")
        program.say("begin")
        wait(program, "done")
        result = stop(program)
    methods, tree = result["methods"], {n["node"]: n for n in result["tree"]}

    def way(node):
        path = []
        while node:
            path.append("{class}.{name}".format(**methods[tree[node]["method"]])[len("truth.Constructors$"):])
            node = tree[node]["parent"]
        return ";".join(reversed(path))

    found = {}
    for n in tree.values():
        found[way(n["node"])] = found.get(way(n["node"]), 0) + n["invocations"]
    kinds = [i % 4 % 3 for i in range(times)]
    next_one = "Work.step" if ms else "Work.after"
    assert {k: v for k, v in found.items() if not k.startswith("M")} == {next_one: times, next_one + ";Work.inner": times}, found
    heads = {k: v for k, v in found.items() if k in ("Made.<init>", "More.<init>")}
    assert heads == {"Made.<init>": sum(k != 2 for k in kinds), "More.<init>": kinds.count(2)}, found
    assert max(k.count("Made") for k in found) <= 2 and max(k.count("More") for k in found) == 1, found
    if ms:
        # the sleeps between the calls belong to no method
        assert sum(n["self_wall"] for n in tree.values()) < 0.2 * times * ms * 1e6, found


def test_the_cost_is_said_as_it_is(jdk):
    """No share beyond the whole, threads with the calls below them, and what of the probes is in the columns."""
    path = result_file(".txt")
    with Program(jdk, "Calls", 300) as program:
        wait(program, "ready")
        start(program, "--timing", "exact", "-t", "--instrument", "truth.Calls;truth.Calls$*")
        program.say("end")
        wait(program, "done")
        done = jstrobe("stop", "-t", "-o", "text", "-f", path, program.pid)
    assert done.returncode == 0, done.stderr
    with open(path) as file:
        text = file.read()
    assert "nothing is subtracted" in text, text[:2000]
    shares = [float(w.lstrip("(")) for w, unit in zip(text.split(), text.split()[1:]) if unit == "%"]
    assert all(s <= 100 for s in shares), text[:2000]
    rows = [line.split() for line in text[text.index("call tree"):].splitlines() if "[" in line]
    assert rows and all(int(row[0]) > 0 for row in rows if row[0].isdigit()), rows
