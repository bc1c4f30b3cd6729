"""jstrobe trace: waits are no work, slow calls are told one by one, roots and depths are kept, budgets too."""
import time

import pytest
from jvm import Program, counted, jstrobe
from test_trace import SHARES, counts, expected, stop, used_by, wait

pytestmark = pytest.mark.together

WAITS = {"sleeps": "sleep", "waits": "wait", "parks": "park", "blocks": "monitor", "reads": "io"}


def start(program, *args):
    done = jstrobe("start", *args, program.pid)
    assert done.returncode == 0, done.stderr
    return done


def by_name(result):
    return {m["name"]: m for m in result["methods"]}


def traced_waits(jdk, *args):
    """(result, what the program's counters grew by meanwhile) of truth.Waits."""
    with Program(jdk, "Waits") as program:
        wait(program, "rounds")
        start(program, "--instrument", "truth.Waits", "--exclude", "truth.Waits.lambda$*", *args)
        before = program.mark()
        time.sleep(counted(1, 10))
        after = program.mark()
        result = stop(program)
    return result, {name: after[name] - before.get(name, 0) for name in after}


def check_waits(result, truth, error):
    """Each method's time is in its kind of wait, as long as the program says; that of `works` is its own."""
    methods = by_name(result)
    for name, kind in WAITS.items():
        m = methods[name]
        assert m["waits"][kind] > 0.8 * m["total_wall"], (name, m)
        assert m["self_wall"] < 0.15 * m["total_wall"], (name, m)
        # one that had begun before the start, and one that was not over at the end
        assert abs(m["waits"][kind] - truth[name]) < error * truth[name] + 150e6, (name, m, truth)
    assert methods["works"]["self_wall"] > 0.9 * methods["works"]["total_wall"]
    assert sum(methods["works"]["waits"].values()) < 0.1 * methods["works"]["total_wall"], methods["works"]


def test_waiting_is_no_work(jdk):
    for rest in reversed(range(6)):
        result, truth = traced_waits(jdk, "--timing", "sampled")
        assert all(m["p99"] is None for m in result["methods"])
        try:
            check_waits(result, truth, 0.2)
            return
        except AssertionError:
            # a tick that comes late, as on a busy machine, gives all of the time to one method
            if not rest:
                raise


def test_slow_calls(jdk):
    """Exact timing with a threshold: lengths of calls, an event for each slow one, and what ran before."""
    result, truth = traced_waits(jdk, "--latency", "15ms")
    assert result["timing"] == "exact"
    check_waits(result, truth, 0.1)
    methods = by_name(result)
    for name in (*WAITS, "works"):
        m = methods[name]
        assert m["min"] <= m["p50"] <= m["p99"] <= m["max"], m
        assert m["max"] <= m["total_wall"], m
        # A call may be shorter than the others: a wait for what another thread held for a while already.
        assert m["p50"] > 15e6 or 2 * truth[name + "_slow"] <= m["invocations"] + 2, (m, truth)
    events, names = result["events"], [m["name"] for m in result["methods"]]
    assert result["events_lost"] == 0
    for name in (*WAITS, "works"):
        mine = [e for e in events if names[e["method"]] == name]
        m = methods[name]
        assert m["timed"] >= m["invocations"] - 1 > 0 and m["timed"] >= len(mine), (m, len(mine))
        assert (m["timed"] == len(mine)) == (m["min"] >= 15e6), (m, len(mine))
        # of calls at the very threshold, the program may say another than jstrobe
        assert len(mine) >= truth[name + "_slow"] - 1 > 0, (m, len(mine), truth)
        assert max(e["duration"] for e in mine) == methods[name]["max"]
        for event in mine:
            frames = [f.split(":")[0] for f in event["stack"]]
            assert frames[0] == f"truth.Waits.{name}" and "truth.Waits.round" in frames, frames
            assert event["thread"] == "waits"
    entered = {names[e["method"]]: e["threads"] for e in result["entered_before"]}
    assert entered["help"] == 1 and entered["main"] == 1, entered


@pytest.mark.parametrize("args", [("--timing", "adaptive"), ("--cpu-clock",)])
def test_other_timings(jdk, args):
    """Counts are exact, and each thread's CPU time goes where the program's own clock says."""
    with Program(jdk, "KnownShares") as program:
        start(program, "--instrument", "truth.KnownShares", *args)
        used = used_by(program, SHARES, counted(300e6, 5e9))
        result = stop(program)
    found = {m["name"]: m["total_cpu"] for m in result["methods"]}
    stamps = {m["name"]: m["stamps"] for m in result["methods"]}
    for names in SHARES:
        true = {name: used[name] for name in names}
        for name in names:
            share, truth = found[name] / sum(found[n] for n in names), true[name] / sum(true.values())
            # by ticks: the standard error of so many, several times, as on a busy machine they are few
            error = 6 * (truth * (1 - truth) / max(1, sum(stamps[n] for n in names))) ** 0.5 if args[-1] == "adaptive" else 0.05
            assert abs(share - truth) < error + counted(0.05, 0.02), (name, share, truth, found, true, stamps)


@pytest.mark.parametrize("timing", [(), ("--timing", "exact"), ("--cpu-clock",)])
@pytest.mark.parametrize("idle, busy", [("naps", "spin"), ("yields", "works")])
def test_cpu_time_of_others_on_the_carrier(jdk25, idle, busy, timing):
    """A virtual thread that lets others have its carrier is not charged with their CPU time when it comes back."""
    if not jdk25:
        pytest.skip("no JDK 25")
    one = ["-Djdk.virtualThreadScheduler.parallelism=1", "-Djdk.virtualThreadScheduler.maxPoolSize=1"]
    with Program(jdk25, "OneCarrier", idle, busy, jvm=one) as program:
        wait(program, busy)
        wait(program, idle)
        names = [f"truth.OneCarrier.{name}" for name in (idle, busy) if name != "spin"]
        start(program, "--instrument", ";".join(names), *timing)
        before = program.mark()
        for _ in range(600):
            time.sleep(0.1)
            after = program.mark()
            used = (after[busy] - before[busy]) * 1e6
            if used > counted(300e6, 3e9) and after[idle] > before[idle] + 3:
                break
        result = stop(program)
    methods = by_name(result)
    # a share of its carrier would be all the others' work
    assert methods[idle]["total_wall"] > 0.3 * used, (methods, used)
    assert methods[idle]["total_cpu"] < 0.2 * used, (methods, used)
    if busy in methods:
        assert methods[busy]["total_cpu"] > 0.2 * used, (methods, used)


def test_adaptive(jdk):
    """All calls are counted, hot methods are timed now and then, and the stamps keep to their budget."""
    with Program(jdk, "CallBound", 1) as program:
        time.sleep(1)
        start(program, "--timing", "adaptive", "--budget", "10", "--instrument", "truth.CallBound")
        before = program.mark()
        time.sleep(counted(1.5, 20))
        after = program.mark()
        result = stop(program)
    methods = by_name(result)
    for name, calls in (("fib", "fib_calls"), ("leaf", "leaf_calls"), ("chain", "chain_calls")):
        times = 4 if name == "chain" else 1  # the program counts chain, one, two and three together
        assert methods[name]["invocations"] * times >= after[calls] - before[calls]
        assert methods[name]["p50"] and methods[name]["p50"] <= methods[name]["max"]
    assert methods["fib"]["invocations"] > 50 * counted(1000, 10000)
    assert 0 < result["stamped"] < result["invocations"] / 3
    cost = result["stamped"] * (result["stamped_ns"] - result["probe_ns"])
    # the budget is one thread's, of the time between ticks as they come
    assert cost < 0.2 * result["duration_ns"], (cost, result["duration_ns"])
    # single threaded: what is below the root is at most the time there was
    roots = [n["total_wall"] for n in result["tree"] if not n["parent"]]
    assert 0.5 * result["duration_ns"] < sum(roots) < 1.1 * result["duration_ns"]
    true = {name: after[f"{name}_ns"] - before[f"{name}_ns"] for name in ("fib", "leaf")}
    found = {name: methods[name]["total_cpu"] for name in true}
    assert abs(found["fib"] / sum(found.values()) - true["fib"] / sum(true.values())) < 0.2, (found, true)
    assert 0 < methods["leaf"]["error"] < methods["leaf"]["total_wall"]


@pytest.mark.parametrize("timing", ["sampled", "exact", "adaptive"])
def test_roots_and_depth(jdk, timing):
    """Below a root alone, and no deeper than said."""
    with Program(jdk, "Calls", 3) as program:
        wait(program, "ready")
        start(program, "--timing", timing, "--instrument", "truth.Calls;truth.Calls$*", "--root",
              "truth.Calls.catcher;truth.Calls.chain", "--depth", "2")
        program.say("end")
        wait(program, "done")
        result = stop(program)
    found, known = counts(result), expected(3, 0, 0)
    names = ("Calls.catcher(I)I", "Calls.through(I)V", "Calls.chain(I)I", "Calls.one(I)I")
    assert {name: found[name] for name in names} == {name: known[name] for name in names}
    assert found["Calls.after(I)I"] == 3 * 1000  # catcher's alone
    assert result["invocations"] == sum(found[name] for name in names) + found["Calls.after(I)I"]


@pytest.mark.parametrize("args, words", [
    (("--latency", "5ms", "--timing", "sampled"), "exact"),
    (("--cpu-clock", "--timing", "none"), "exact"),
])
def test_timings_that_do_not_go_together(jdk, args, words):
    with Program(jdk, "Calls", 1) as program:
        done = jstrobe("start", "--instrument", "truth.Calls", *args, program.pid)
        assert done.returncode == 1 and words in done.stderr, (done.returncode, done.stderr)
        assert program.alive()
