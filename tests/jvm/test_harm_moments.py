"""Start and stop at every moment of a JVM's life, and each command against each: the program notices nothing.

Moments, events, programs and commands are chosen at random. JSTROBE_SEED repeats a run, JSTROBE_ROUNDS says how many
rounds; with full counts (make soak) they are many.
"""
import os
import random
import subprocess
import threading
import time

import jvm
import pytest
from jvm import COMMAND, Program, counted, jstrobe, wait_until

pytestmark = pytest.mark.together

SEED = int(os.environ.get("JSTROBE_SEED", 0)) or random.SystemRandom().randrange(1, 1 << 32)
HANG = 120  # s: no answer, also on a busy machine
EVENTS = [("cpu",), ("ctimer",), ("itimer",), ("wall",), ("lock",), ("cpu", "wall"), ("cpu", "lock"), ("itimer", "wall"),
          ("itimer", "lock"), ("trace",)]
PROGRAMS = [("KnownShares",), ("Garbage",), ("ThreadChurn",), ("Churn", "loaders+hidden+lambdas", 20)]
LETS_US_IN = "-XX:+EnableDynamicAgentLoading"  # without a warning by JDK 21 and later
FLAGS = [(), (), ("-XX:+UseSerialGC",), ("-XX:+UseParallelGC",), ("-Xint",), ("-XX:TieredStopAtLevel=1",),
         ("-Xms256m", "-XX:+AlwaysPreTouch")]


def rounds(short, full):
    return int(os.environ.get("JSTROBE_ROUNDS", counted(short, full)))


class Round:
    """One round of a test: what it has chosen, so that it can be repeated."""

    def __init__(self, test, number):
        self.random = random.Random(f"{SEED} {test} {number}")
        self.said = [f"JSTROBE_SEED={SEED}", test, f"round {number}"]

    def choose(self, what):
        chosen = self.random.choice(what)
        self.said.append(str(chosen))
        return chosen

    def ms(self, most):
        """Few ms as often as many."""
        chosen = int(most ** self.random.random())
        self.said.append(f"{chosen} ms")
        return chosen

    def __str__(self):
        return ", ".join(self.said)


def event_options(events, agent=False):
    """How the agent's string or the command names EVENTS."""
    if events == ("trace",):
        return "instrument=truth.*" if agent else ("--instrument", "truth.*")
    if agent:
        return ",".join(f"event={event}" for event in events) + ",interval=1ms"
    return "-e", ",".join(events), "-i", "1ms"


def ends_as_without_us(process, where):
    """A program that was told to stop: its exit status and all it said."""
    try:
        out, errors = process.communicate("stop\n", timeout=HANG)
    except subprocess.TimeoutExpired:
        raise AssertionError(f"it hangs: {where}, pid {process.pid}") from None
    assert process.returncode == 0, (process.returncode, str(where), errors[-2000:], out[-2000:])
    lines = [line for line in out.splitlines() if not line.startswith("MARK")]
    assert lines == ["READY"] and not errors, (str(where), out[-2000:], errors[-2000:])


def java(jdk, flags, program, agent=None):
    return subprocess.Popen([jdk.java, "-Xmx256m", "-XX:-CreateCoredumpOnCrash", LETS_US_IN, *flags,
                             *([f"-agentpath:{jvm.LIBRARY}={agent}"] if agent else []),
                             "-cp", jvm.CLASSES, "truth." + program[0], *map(str, program[1:])], cwd=jvm.WORK, text=True,
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def forget(*paths):
    for path in paths:
        if os.path.exists(path):
            os.remove(path)


def test_a_session_that_ends_while_the_jvm_starts(jdk):
    """-agentpath with a timeout of some ms: it falls due before, in and after VMInit; alone and again and again."""
    path = jvm.result_file(".json")
    for number in range(rounds(4, 1500)):
        r = Round(f"timeout {jdk}", number)
        agent = f"start,{event_options(r.choose(EVENTS), agent=True)},timeout={max(1, r.ms(400))}ms,file={path}"
        process = java(jdk, r.choose(FLAGS), r.choose(PROGRAMS), agent)
        try:
            ends_as_without_us(process, r)
        finally:
            process.kill()
        forget(path)


def command(*args):
    return subprocess.Popen([COMMAND, *jvm.replacing(args)], cwd=jvm.WORK, text=True, stdin=subprocess.DEVNULL,
                            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def finish(one, where):
    """The command comes to an end, of its own, with a result or a reason."""
    try:
        errors = one.communicate(timeout=HANG)[1]
    except subprocess.TimeoutExpired:
        one.kill()
        raise AssertionError(f"a command hangs: {one.args[1:]}, {where}") from None
    assert one.returncode in (0, 1, 2, 3), (one.returncode, one.args[1:], errors, str(where))
    assert one.returncode == 0 or errors.strip(), (one.returncode, one.args[1:], str(where))


def test_attached_to_while_the_jvm_starts(jdk):
    """The command comes as soon as there is a process; it is refused with a reason, or there is a session."""
    path = jvm.result_file(".json")
    for number in range(rounds(3, 1000)):
        r = Round(f"attach {jdk}", number)
        events = r.choose(EVENTS)
        process = java(jdk, r.choose(FLAGS), r.choose(PROGRAMS))
        try:
            time.sleep(r.ms(500) / 1000)
            finish(command("start", *event_options(events), process.pid), r)
            time.sleep(r.ms(100) / 1000)
            if r.choose((True, False)):
                finish(command("stop", "-f", path, process.pid), r)
            ends_as_without_us(process, r)
        finally:
            process.kill()
        forget(path)


def any_command(r, pid, path):
    """Some command, begun."""
    choice = r.choose(("start", "stop", "dump", "status", "metrics", "record", "stream", "trace", "loop"))
    if choice in ("start", "record"):
        more = ("-d", "0.2", "-f", path) if choice == "record" else ()
        return command(choice, *event_options(r.choose(EVENTS)), *more, pid)
    if choice == "loop":
        return command("start", *event_options(r.choose(EVENTS[:-1])), "--loop", "100ms", "-f", path, pid)
    if choice in ("stop", "dump"):
        return command(choice, "-f", path, pid)
    if choice == "stream":
        return command("stream", "-d", "0.2", "-f", path, pid)
    if choice == "trace":
        return command("start", "--instrument", "truth.*", pid)
    return command(choice, pid)


def test_the_jvm_ends_meanwhile(jdk):
    """System.exit while commands begin, stop, dump: exit status and output as without them, nothing hangs."""
    for number in range(rounds(3, 1000)):
        r = Round(f"exit {jdk}", number)
        process = java(jdk, r.choose(FLAGS), r.choose(PROGRAMS))
        paths = [jvm.result_file(r.choose((".json", ".jfr", ".html"))) for _ in range(3)]
        try:
            assert process.stdout.readline() == "READY\n", str(r)
            if r.choose((True, False)):
                finish(command("start", *event_options(r.choose(EVENTS)), process.pid), r)
            running = [any_command(r, process.pid, path) for path in paths]
            time.sleep(r.ms(300) / 1000)
            out, errors = process.communicate("stop\n", timeout=HANG)
            assert process.returncode == 0 and not out and not errors, (process.returncode, str(r), out, errors[-2000:])
            for one in running:
                finish(one, r)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"it hangs: {r}, pid {process.pid}") from None
        finally:
            process.kill()
        forget(*paths)


def caught_signals(program):
    with open(f"/proc/{program.pid}/status") as file:
        return [line for line in file if line.startswith(("SigCgt", "SigIgn"))]


def stop_all(program):
    """No session runs; one that its command owns ends with it. Only `stop` never falls between two rounds of a loop."""
    end = time.monotonic() + HANG
    while "not active" not in (done := jstrobe("stop", program.pid)).stderr:
        assert time.monotonic() < end, done


def test_each_command_against_each(jdk):
    """From several sides at once: each gets a result or a reason, and afterwards nothing of ours is left."""
    for number in range(rounds(1, 300)):
        r = Round(f"commands {jdk}", number)
        with Program(jdk, *r.choose(PROGRAMS), jvm=[LETS_US_IN]) as program:
            assert jstrobe("record", "-e", "cpu,wall,lock", "-d", "0.1", "-f", "/dev/null", program.pid).returncode == 0
            wait_until(lambda: not ours(program))
            signals, descriptors = caught_signals(program), program.descriptors()
            sides = [(Round(f"commands {jdk} {number}", side), jvm.result_file(".json")) for side in range(4)]
            wrong = []

            def side(own, path):
                try:
                    for _ in range(counted(3, 10)):
                        finish(any_command(own, program.pid, path), own)
                except AssertionError as error:
                    wrong.append(error)
            threads = [threading.Thread(target=side, args=one) for one in sides]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert not wrong, wrong
            stop_all(program)
            end = time.monotonic() + HANG
            while ours(program):
                assert time.monotonic() < end, (ours(program), str(r), [str(one) for one, _ in sides],
                                                jstrobe("status", program.pid).stdout)
                time.sleep(0.1)
            assert caught_signals(program) == signals, str(r)
            wait_until(lambda: program.descriptors() <= descriptors + 4, HANG)  # its own jars, as it goes on
            assert program.stop() == 0, (program.output[-5:], str(r))
            assert [line for line in program.output if not line.startswith("MARK")] == ["READY"], program.output
            forget(*(path for _, path in sides))


def ours(program):
    """Our threads in it."""
    return [name for name in program.threads().values() if name.startswith("jstrobe")]


# ---- many short lives ---------------------------------------------------------------------------

def brief(jdk, r, agent=None):
    """A JVM that is over after some ms; as small as it can be, so that there can be many."""
    flags = ["-Xmx32m", "-XX:+UseSerialGC", "-XX:-CreateCoredumpOnCrash", LETS_US_IN, *r.choose(((), (), ("-Xint",), ("-XX:TieredStopAtLevel=1",)))]
    lives = r.ms(200)
    return subprocess.Popen([jdk.java, *flags, *([f"-agentpath:{jvm.LIBRARY}={agent}"] if agent else []), "-cp", jvm.CLASSES,
                             "truth.Brief", str(lives), r.choose(("return", "exit", "halt"))], cwd=jvm.WORK, text=True,
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def ends_quietly(process, r):
    """
    0, and not a word of ours or the JVM's, but for one: on a busy machine the JVM's end may come before our threads got on
    within the 200 ms that it waits. Then that is said; whether it was.
    """
    try:
        out, errors = process.communicate(timeout=HANG)
    except subprocess.TimeoutExpired:
        raise AssertionError(f"it hangs: {r}, pid {process.pid}") from None
    late = errors.count("\n") == 1 and "result is not written: the profiler was held up too long" in errors
    assert (process.returncode, out) == (0, "") and (late or not errors), (process.returncode, str(r), out[-2000:], errors[-2000:])
    return late


def one_life(jdk, r, path):
    """Begun with the agent, for some ms or to the end; or a command comes at some ms of its life, perhaps two."""
    events, way = r.choose(EVENTS), r.choose(("timeout", "timeout", "end", "command", "two"))
    if way in ("timeout", "end"):
        said = f"start,{event_options(events, agent=True)}{f',timeout={r.ms(150)}ms' if way == 'timeout' else ''},file={path}"
        process, asked = brief(jdk, r, said), []
    else:
        process = brief(jdk, r)
        time.sleep(r.ms(200) / 1000)
        asked = [command("start", *event_options(events), "-f", path, process.pid)]
        if way == "two":
            time.sleep(r.ms(100) / 1000)
            asked.append(command("stop", "-f", path, process.pid))
    try:
        for each in asked:
            finish(each, r)
        return ends_quietly(process, r)
    finally:
        process.kill()
        forget(path)


def test_short_lives(jdk, say):
    """Thousands of JVMs that live for some ms: a start and a stop meet every moment from the first to the last one."""
    count, failed, late = rounds(20, 5000), [], []

    def lives(side):
        path = jvm.result_file(".json")
        try:
            for number in range(side, count, 2):
                late.extend([number] if one_life(jdk, Round(f"life {jdk}", number), path) else [])
        except AssertionError as error:
            failed.append(error)
    sides = [threading.Thread(target=lives, args=(side,)) for side in range(2)]
    for side in sides:
        side.start()
    for side in sides:
        side.join()
    assert not failed, failed
    assert len(late) <= 1 + count // 100, late
    say(f"short lives on {jdk}: {count}, results not written in time {len(late)}, JSTROBE_SEED={SEED}")
