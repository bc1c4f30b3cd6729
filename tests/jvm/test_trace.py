"""jstrobe trace: every call is counted, time goes to where it was spent, and the program comes out unharmed."""
import json
import os
import subprocess
import time

import jfr
import pytest
from jvm import CLASSES, COMMAND, SOAK, WORK, Program, counted, jstrobe, result_file

pytestmark = pytest.mark.together

PATTERN = "truth.Calls;truth.Calls$*"


def wait(program, counter):
    for _ in range(600):
        if program.mark().get(counter):
            return
        time.sleep(0.05)
    raise AssertionError(f"{program.name}: no {counter} in 30 s: {program.output[-20:]}")


SHARES = (("alpha", "beta", "gamma", "delta"), ("epsilon", "zeta"))  # methods of truth.KnownShares, by threads


def used_by(program, groups, cpu):
    """CPU ns of each of the program's counters in GROUPS, from now until every group has used CPU ns."""
    before = program.mark()
    for _ in range(600):
        time.sleep(0.1)
        after = program.mark()
        used = {name: after.get(name, 0) - before.get(name, 0) for group in groups for name in group}
        if all(sum(used[name] for name in group) >= cpu for group in groups):
            return used
    raise AssertionError(f"{program.name} got no CPU in a minute: {used}")


def stop(program):
    """The result of the session that runs, as JSON."""
    path = result_file()
    done = jstrobe("stop", "-o", "json", "-f", path, program.pid)
    assert done.returncode == 0, done.stderr
    return read(path)


def read(path):
    with open(path) as file:
        result = json.load(file)
    os.remove(path)
    check(result)
    return result


def check(result):
    """What is always true."""
    methods, tree = result["methods"], result["tree"]
    assert sum(m["invocations"] for m in methods) == result["invocations"]
    assert sum(n["invocations"] for n in tree) == result["invocations"]
    assert sum(t["invocations"] for t in result["threads"]) == result["invocations"]
    for node in tree:
        assert node["parent"] < node["node"], "a parent comes before its children"
        assert node["self_wall"] <= node["total_wall"] and node["self_cpu"] <= node["total_cpu"]
        assert node["self_wall"] < 10 * result["duration_ns"] * (1 + len(result["threads"])), "no time before the start"
    for method in methods:
        assert method["self_wall"] == sum(n["self_wall"] for n in tree if "method" in n and methods[n["method"]] is method)


def counts(result):
    """{Class.method(type): invocations} without the package."""
    return {f"{m['class'][6:]}.{m['name']}{m['signature']}": m["invocations"] for m in result["methods"]}


def expected(rounds, threads, virtual):
    """What truth.Calls does: see its method round()."""
    known = {
        "Calls.fib(I)I": 1973 * rounds, "Calls.leaf(I)I": 1000 * rounds, "Calls.catcher(I)I": 1000 * rounds,
        "Calls.through(I)V": 1000 * rounds, "Calls.thrower(I)V": 1000 * rounds, "Calls.ownCatch(I)I": 1000 * rounds,
        "Calls.make(I)I": 1000 * rounds, "Calls$Made.<init>(I)V": 1001 * rounds, "Calls$Base.<init>(I)V": 1001 * rounds,
        "Calls$Made.<init>(Ljava/lang/String;)V": rounds, "Calls$Shape.twice(I)I": 1000 * rounds,
        "Calls$Shape.lambda$square$0(I)I": 2000 * rounds, "Calls.locked(I)I": 1000 * rounds,
        "Calls.lockedToo(I)I": 1000 * rounds, "Calls.wide(JDI)J": 1000 * rounds,
        # thrown: by thrower and ownCatch 1000 each, by the constructors 666, by lockedToo 143
        "Calls$Known.<init>()V": 2809 * rounds, "Calls.after(I)I": 1667 * rounds,
        "Calls.overflowed(I)I": rounds, "Calls.round(Ltruth/Calls;Ltruth/Calls$Shape;)V": rounds,
        "Calls.shortLived()V": threads + virtual, "Calls.virtualBody()V": virtual, "Calls.rounds(I)V": 1,
    }
    for name in ("chain", "one", "two", "three"):
        known[f"Calls.{name}(I)I"] = 1000 * rounds + 10 * threads + 15 * virtual
    return known


@pytest.mark.parametrize("timing", ["sampled", "exact", "adaptive", "none"])
def test_every_call_is_counted(jdk, timing):
    """Exceptions, constructors, recursion, stack overflow, short threads, virtual threads."""
    rounds, threads = counted(20, 500), counted(200, 10000)
    virtual = counted(100, 10000) if jdk.version >= 21 else 0
    with Program(jdk, "Calls", rounds, threads, virtual, 30 if timing == "sampled" else 0) as program:
        wait(program, "ready")
        done = jstrobe("start", "--timing", timing, "--instrument", PATTERN, program.pid)
        assert done.returncode == 0, done.stderr
        program.say("end")
        wait(program, "done")
        result = stop(program)
        assert program.stop() == 0
    found, known = counts(result), expected(rounds, threads, virtual)
    assert {k: found.get(k) for k in known} == known
    assert result["uncounted"] == 0 and found["Calls.overflow(I)V"] >= rounds
    reasons = {s["name"]: s["reason"] for s in result["skipped"]}
    assert "abstract" in reasons["truth.Calls$Shape.area(I)I"]
    assert (timing == "none") == (not any(m["total_wall"] for m in result["methods"]))


def test_from_the_first_call(jdk):
    """A program that jstrobe starts: classes get their probes as they are loaded."""
    path = result_file()
    done = subprocess.Popen([COMMAND, "trace", "-f", path, "--exclude", "truth.Calls.leaf", "truth.Calls", "--",
                             jdk.java, "-Xverify:all", "-cp", CLASSES, "truth.Calls", "2"], stdin=subprocess.PIPE,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=WORK)
    try:
        done.stdin.write("end\n")
        done.stdin.flush()
        for _ in range(600):
            done.stdin.write("mark\n")
            done.stdin.flush()
            if "done=1" in done.stdout.readline():
                break
            time.sleep(0.05)
        done.stdin.write("stop\n")
        done.stdin.flush()
        assert done.wait(timeout=60) == 0
    finally:
        if done.poll() is None:
            done.kill()
    result = read(path)
    found, known = counts(result), expected(2, 0, 0)
    known = {k: v for k, v in known.items() if k.startswith("Calls.") and "leaf" not in k}
    known["Calls.rounds(I)V"] = 2  # one of them was before "end", without work
    assert {k: found.get(k) for k in known} == known
    assert not any("leaf" in k for k in found)
    assert found["Calls.main([Ljava/lang/String;)V"] == 1


def test_the_jdk_itself(jdk):
    """Probes in the JDK's classes (in the soak: all of java.**), every changed class verified; the program goes on."""
    with Program(jdk, "Words", jvm=["-Xverify:all"]) as program:
        for _ in range(counted(1, 5)):
            pattern = "java.**" if SOAK else "java.util.regex.**;java.lang.String;java.lang.Thread;java.lang.Object"
            done = jstrobe("start", "--instrument", pattern, "--all-classes", program.pid)
            assert done.returncode == 0, done.stderr
            time.sleep(counted(0.5, 10))
            result = stop(program)
            assert program.alive(), program.output[-20:]
            assert result["invocations"] > 1000 and result["classes"] > counted(20, 400)
            assert not any("refused" in s["reason"] or "damaged" in s["reason"] for s in result["skipped"]), result["skipped"]
        assert program.stop() == 0
        assert not any("Error" in line or "Exception" in line for line in program.output), program.output[-20:]


@pytest.mark.parametrize("timing", ["sampled", "exact"])
def test_time_goes_where_it_is_spent(jdk, timing):
    """Each thread's CPU time by methods, as the program itself has measured it with the thread's clock."""
    with Program(jdk, "KnownShares") as program:
        done = jstrobe("start", "--timing", timing, "--instrument", "truth.KnownShares", program.pid)
        assert done.returncode == 0, done.stderr
        used = used_by(program, SHARES, counted(500e6, 10e9))
        result = stop(program)
    found = {m["name"]: m["total_cpu"] for m in result["methods"]}
    stamps = {m["name"]: m["stamps"] for m in result["methods"]}
    for names in SHARES:
        true = {name: used[name] for name in names}
        for name in names:
            share, truth = found[name] / sum(found[n] for n in names), true[name] / sum(true.values())
            # the standard error of so many stamps, several times, and the two windows differ a little
            error = counted(6, 4) * (truth * (1 - truth) / sum(stamps[n] for n in names)) ** 0.5 + counted(0.05, 0.005)
            assert abs(share - truth) < error, (name, share, truth, found, true, stamps)


def test_texts(jdk):
    with Program(jdk, "Calls", 5) as program:
        wait(program, "ready")
        assert jstrobe("start", "--instrument", "truth.Calls", program.pid).returncode == 0
        program.say("end")
        wait(program, "done")
        text = jstrobe("dump", program.pid).stdout
        collapsed = jstrobe("stop", "-o", "collapsed", program.pid).stdout
    assert "truth.Calls.fib" in text and "calls, " in text and "probes cost" in text
    lines = dict(line.rsplit(" ", 1) for line in collapsed.splitlines() if ".chain" in line)
    assert lines["truth.Calls.run;truth.Calls.rounds;truth.Calls.round;truth.Calls.chain;truth.Calls.one"] == "5000"


def test_forms(jdk, jdk25):
    """A page, a recording that JDK 25's `jfr` shows, threads apart; before and at the stop."""
    files = {form: result_file("." + form) for form in ("html", "jfr", "json")}
    with Program(jdk, "Calls", 5, 3) as program:
        wait(program, "ready")
        assert jstrobe("start", "--instrument", "truth.Calls", program.pid).returncode == 0
        program.say("end")
        wait(program, "done")
        for form in ("html", "jfr"):
            done = jstrobe("dump", "-f", files[form], program.pid)
            assert done.returncode == 0, done.stderr
        assert jstrobe("stop", "-t", "-f", files["json"], program.pid).returncode == 0
    with open(files["json"]) as file:
        result = json.load(file)
    check(result)
    known = expected(5, 3, 0)
    roots = [n for n in result["tree"] if not n["parent"]]
    assert [result["threads"][n["thread"]]["invocations"] for n in roots] == [t["invocations"] for t in result["threads"]]
    events = jfr.Recording(files["jfr"]).events["jdk.MethodTiming"]
    found = {e["method"]["name"]: e["invocations"] for e in events}
    assert found["fib"] == known["Calls.fib(I)I"] and found["through"] == known["Calls.through(I)V"]
    lines = dict(line.rsplit(" ", 1) for line in jstrobe("convert", "-o", "collapsed", files["jfr"]).stdout.splitlines())
    assert lines["truth/Calls.fib"] == str(known["Calls.fib(I)I"]), lines
    same = jstrobe("diff", "--samples", files["jfr"], files["jfr"])
    assert same.returncode == 0 and "methods: all within chance)" in same.stdout and "Calls.fib" not in same.stdout, same
    page = open(files["html"]).read()
    assert "truth.Calls.fib" in page and '"timing":"sampled"' in page
    if jdk25:
        view = subprocess.run([os.path.join(jdk25.home, "bin", "jfr"), "view", "--width", "160", "method-timing", files["jfr"]],
                              stdout=subprocess.PIPE, text=True).stdout
        assert any(line.split()[:2] == ["truth.Calls.fib(int)", f"{known['Calls.fib(I)I']:,}"] for line in view.splitlines()), view
    for path in files.values():
        os.remove(path)


@pytest.mark.parametrize("args, code, words", [
    ((), 2, "which methods"),
    (("a..b",), 1, "pattern"),
    (("truth.Calls", "--timing", "often"), 2, "sampled|exact|adaptive|none"),
])
def test_mistakes(jdk, args, code, words):
    with Program(jdk, "Calls", 1) as program:
        done = jstrobe("trace", "-d", "1", program.pid, *args)
        assert done.returncode == code and words in done.stderr, (done.returncode, done.stderr)
        assert program.alive()


def test_what_a_trace_cannot_do_is_refused(jdk17):
    """An empty pattern (an unset variable of the shell) is no profile of CPU time; options of samples say that they are."""
    with Program(jdk17, "CallCost") as program:
        done = jstrobe("trace", "-d", "0.2", program.pid, "")
        assert done.returncode == 2 and "a pattern is empty" in done.stderr, done
        for option, *value in (("--filter", "1-2"), ("--ttsp",), ("--begin", "malloc"), ("--fdtransfer",)):
            done = jstrobe("trace", "-d", "0.2", option, *value, program.pid, "truth.CallCost.call")
            assert done.returncode == 2 and f"{option} is not an option of trace; it belongs to " in done.stderr, done
        assert program.stop() == 0, program.output[-5:]

