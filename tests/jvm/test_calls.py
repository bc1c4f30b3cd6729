"""
-e Class.method: each call is a sample, with its callers; with an interval N one in N is, and stands for N.
"""
import json
import subprocess

import jfr
import pytest
from jvm import LIBRARY, Program, jstrobe, result_file, wait_until

pytestmark = pytest.mark.together

ROUNDS = 2000


def known(threads, rounds=ROUNDS):
    """Calls of each path below the thread's run method."""
    calls = {("round", "one", "fast"): 1, ("round", "two", "fast"): 3, ("round", "thrown"): 1}
    calls.update({("round",) + ("deep",) * n: 1 for n in range(1, 11)})
    return {path: count * rounds * threads for path, count in calls.items()}


def paths(result, event="calls"):
    """{path below and with Callers.round: weight} of EVENT in RESULT; and what is not below it."""
    found, other = {}, 0
    [profile] = [p for p in result.get("profiles", [result]) if p["event"] == event]
    for stack in profile["stacks"]:
        names = [frame.split(":")[0] for frame in stack["frames"]]
        assert not any("Jstrobe" in name or "Natives" in name for name in names), names
        own = [name.rsplit(".", 1)[1] for name in names if name.startswith("truth.Callers.")]
        own = own[::-1] if names and names[0].startswith("truth.Callers.") else own
        if "round" in own:
            path = tuple(own[own.index("round"):])
            found[path] = found.get(path, 0) + stack["weight"]
        else:
            other += stack["weight"]
    return found, other, profile


def wait(program, counter, value):
    wait_until(lambda: program.mark().get(counter, 0) >= value, 60)


def counted(jdk, methods, *args, threads=1, rounds=ROUNDS, jvm=()):
    path = result_file(".json")
    with Program(jdk, "Callers", threads, rounds, jvm=jvm) as program:
        done = jstrobe("start", "-e", methods, *args, program.pid)
        assert done.returncode == 0, done.stderr
        program.say("end")
        wait(program, "done", threads)
        done = jstrobe("stop", "-f", path, program.pid)
        assert done.returncode == 0, done.stderr
        assert program.stop() == 0
    with open(path) as file:
        return json.load(file), done.stderr


def check(found, other, wanted, share=1.0):
    """Each path, but for calls whose stack was not named (a class that has just changed) and lost ones."""
    assert sum(found.values()) + other <= sum(wanted.values()), (found, other)
    assert sum(found.values()) + other >= share * sum(wanted.values()), (found, other)
    assert set(found) <= set(wanted), set(found) - set(wanted)


@pytest.mark.parametrize("collector", ["-XX:+UseSerialGC", "-XX:+UseZGC"])
def test_each_call(jdk, collector):
    result, said = counted(jdk, "truth.Callers.fast", jvm=[collector])
    found, other, profile = paths(result)
    wanted = {path: n for path, n in known(1).items() if path[-1] == "fast"}
    check(found, other, wanted, 0.98)
    assert profile["cpu_time"] if "cpu_time" in profile else True
    assert f"of {4 * ROUNDS:,} calls sampled" in said, said
    # one to three, as the callers call it
    one, two = found[("round", "one", "fast")], found[("round", "two", "fast")]
    assert 2.8 < two / one < 3.2, found


def test_all_kinds_of_calls(jdk):
    """Calls that end by an exception and calls of itself, of a class by pattern, on several threads."""
    result, said = counted(jdk, "truth.Callers.fast", "--methods", "truth.Callers.thrown;truth.Callers.deep", threads=4)
    found, other, _ = paths(result)
    check(found, other, known(4), 0.95)
    assert len(found) == len(known(4)), found
    for path, count in known(4).items():
        assert count * 0.9 < found[path] < count * 1.1, (path, found)


def test_one_in_so_many(jdk):
    """The interval: samples weigh what they stand for, and the callers keep their shares."""
    result, said = counted(jdk, "truth.Callers.fast", "-i", "20", rounds=50_000)
    found, other, profile = paths(result)
    total = 4 * 50_000
    stored = sum(stack["samples"] for stack in profile["stacks"])
    assert 500 < stored < total / 20 * 1.1, stored # fewer where they come faster than they are taken away
    assert 0.95 * total <= sum(found.values()) + other <= total, (found, other)
    # four standard errors, with what differences of weights add
    squares = sum(stack["weight"] ** 2 / max(stack["samples"], 1) for stack in profile["stacks"]) / total ** 2
    share = found[("round", "two", "fast")] / sum(found.values())
    error = 4 * (0.75 * 0.25 * max(squares, 1 / stored) * 4) ** 0.5
    assert abs(share - 0.75) < min(error, 0.1), (share, error, stored)


def test_text_counts_both(jdk17):
    """Samples are called samples, and what they stand for has the event's name."""
    with Program(jdk17, "CallBound", 1) as program:
        done = jstrobe("record", "-d", "1", "-e", "truth.CallBound.leaf", "-i", "1000", "-o", "flat", program.pid)
        assert done.returncode == 0, done.stderr
        assert "Total samples " in done.stdout and "Total calls" not in done.stdout, done.stdout[:800]


def test_beside_others(jdk):
    """In one recording with CPU time and allocations: execution samples of its own event, found by name."""
    path = result_file(".jfr")
    with Program(jdk, "Callers", 1, ROUNDS) as program:
        done = jstrobe("start", "-e", "truth.Callers.fast,cpu", "--alloc", "64k", "-f", path, program.pid)
        assert done.returncode == 0, done.stderr
        program.say("end")
        wait(program, "done", 1)
        assert jstrobe("stop", program.pid).returncode == 0
        assert program.stop() == 0
    done = jstrobe("convert", "-e", "calls", "-o", "collapsed", "--total", path)
    assert done.returncode == 0, done.stderr
    lines = [line.rsplit(" ", 1) for line in done.stdout.splitlines()]
    sums = {caller: sum(int(n) for stack, n in lines if stack.endswith(f"{caller};truth/Callers.fast")) for caller in ("truth/Callers.one", "truth/Callers.two")}
    assert 2.8 < sums["truth/Callers.two"] / sums["truth/Callers.one"] < 3.2, lines
    assert jfr.Recording(path)


def test_from_the_start(jdk):
    """As async-profiler's users write it, from the JVM's start, one format after the other."""
    for options, form in (("collapsed,", ".collapsed"), ("", ".html"), ("", ".jfr"), ("flat,traces,", ".txt")):
        path = result_file(form)
        agent = f"-agentpath:{LIBRARY}=start,{options}event=truth.Callers.fast,file={path}"
        with Program(jdk, "Callers", 1, ROUNDS, jvm=[agent]) as program:
            program.say("end")
            wait(program, "done", 1)
            assert program.stop() == 0
        with open(path, "rb") as file:
            content = file.read()
        if form == ".collapsed":
            lines = dict(line.rsplit(b" ", 1) for line in content.splitlines())
            assert any(stack.endswith(b"Callers.two;truth/Callers.fast") for stack in lines), content[:500]
        assert b"JstrobeProbe" not in content and b"fast" in content, (form, content[:300])


def test_signatures_and_patterns(jdk17):
    """A signature, with slashes or brackets in it, is no event of the kernel's; nor is a pattern."""
    for methods in ("truth.Callers.fast(I)V", "truth.Callers.fa*", "truth.Callers.main([Ljava/lang/String;)V,truth.Callers.fast", "truth/Callers.fast"):
        result, said = counted(jdk17, methods)
        found, other, _ = paths(result)
        assert found.get(("round", "one", "fast")), (methods, found, said)


def test_what_is_refused(jdk17):
    with Program(jdk17, "Callers", 1, 1) as program:
        for args, words in ((["-e", "calls"], "calls of which methods?"),
                            (["--methods", "a.B.c", "--trace", "a.B.d"], "methods: calls are either"),
                            (["--methods", "a.B.c", "--instrument", "a.B.d"], "methods: calls are either")):
            done = jstrobe("start", *args, program.pid)
            assert done.returncode != 0 and words in done.stderr, (args, done.stderr)
        done = jstrobe("record", "-d", "0.5", "-e", "truth.Callers.fist", "-o", "collapsed", program.pid)
        assert done.returncode == 1 and "truth.Callers.fist" in done.stderr, (done.returncode, done.stderr)
        assert program.stop() == 0


def test_sessions_one_after_the_other(jdk):
    """Each session counts its own, and leaves nothing behind: then other events, a trace, and calls again."""
    path = result_file(".json")
    with Program(jdk, "CallBound", 1) as program:
        for _ in range(3):
            for args in (["-e", "truth.CallBound.leaf", "-i", "1000"], ["-e", "cpu"], ["-e", "truth.CallBound.chain", "-i", "1000"]):
                done = jstrobe("record", "-d", "0.5", *args, "-f", path, program.pid)
                assert done.returncode == 0, done.stderr
                with open(path) as file:
                    result = json.load(file)
                if args[1] != "cpu":
                    tops = {stack["frames"][-1].split(":")[0] for stack in result["stacks"]} | {stack["frames"][0].split(":")[0] for stack in result["stacks"]}
                    assert args[1] in tops, tops
            assert program.alive()
        done = jstrobe("trace", "-d", "0.5", "-f", path, program.pid, "truth.CallBound.leaf")
        assert done.returncode == 0, done.stderr
        assert program.stop() == 0
