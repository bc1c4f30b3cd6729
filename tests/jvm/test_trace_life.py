"""Changing classes goes on beside everything else: it is called off, gives way, and leaves nothing behind."""
import json
import os
import re
import signal
import subprocess
import time

import pytest
from jvm import COMMAND, WORK, Program, jstrobe, result_file

pytestmark = pytest.mark.together

WIDE = "java.**;sun.**;jdk.**"  # more than 500 classes


def eventually(true, what, seconds=60):
    """Until TRUE() holds; what it returned."""
    end = time.time() + seconds
    while True:
        found = true()
        if found:
            return found
        assert time.time() < end, f"not in {seconds} s: {what}"
        time.sleep(0.1)


def start(program, pattern, *options):
    done = jstrobe("start", *options, "--instrument", pattern, program.pid)
    assert done.returncode == 0, done.stderr
    return done.stderr


def result(program, word="stop"):
    path = result_file()
    done = jstrobe(word, "-o", "json", "-f", path, program.pid)
    assert done.returncode == 0, done.stderr
    with open(path) as file:
        found = json.load(file)
    os.remove(path)
    return found


def calls(found, name):
    return sum(m["invocations"] for m in found["methods"] if m["name"] == name)


def is_bare(program, pattern):
    """No method has probes of a session before: they would count for no method, in a session that is about other methods."""
    start(program, pattern)
    before = program.mark().get("calls", 0)
    eventually(lambda: program.mark().get("calls", 0) >= before + 2000, "the program goes on")
    found = result(program)
    return found["uncounted"] == 0 and calls(found, "calls") == 0


def status(program):
    return jstrobe("status", program.pid, timeout=60).stdout


@pytest.fixture
def go():
    path = result_file(".go")
    yield path
    if os.path.exists(path):
        os.remove(path)


def test_a_class_defined_after_the_stop_loses_its_probes(jdk, go):
    """Its bytes passed the hook in the session; its super class came when that was over."""
    with Program(jdk, "Loading", go) as program:
        start(program, "truth.Loading$Late")
        program.say("end")
        eventually(lambda: program.mark().get("blocked"), "the class is being loaded")
        result(program)
        assert "not active" in status(program)
        with open(go, "w"):
            pass
        eventually(lambda: program.mark().get("calls"), "the class is there")
        eventually(lambda: is_bare(program, "truth.Loading.other"), "it has lost its probes")
        # and no thread waits any more
        eventually(lambda: "jstrobe trace" not in program.threads().values(), "the thread has ended")
        assert program.stop() == 0


def test_a_class_read_before_the_start_gets_its_probes(jdk, go):
    """Its bytes passed no hook; it is there after the session has looked at the loaded classes."""
    with Program(jdk, "Loading", go) as program:
        program.say("end")
        eventually(lambda: program.mark().get("blocked"), "the class is being loaded")
        start(program, "truth.Loading$Late")
        with open(go, "w"):
            pass
        eventually(lambda: program.mark().get("calls"), "the class is there")
        eventually(lambda: calls(result(program, "dump"), "run"), "it is counted")
        result(program)
        assert program.stop() == 0


def test_hidden_classes_are_in_no_number(jdk):
    """The classes that the start says match, and those that the result says did not run, are of one set."""
    with Program(jdk, "Churn", "hidden", 100000) as program:
        eventually(lambda: program.mark().get("classes", 0) > 1000, "there are many")
        said = start(program, WIDE + ";churn.**;truth.**")
        matched = int(re.search(r"(\d+) classes match", said).group(1))
        eventually(lambda: "that match have probes" in status(program), "classes that run have probes")
        found = eventually(lambda: (lambda one: one["classes"] and one)(result(program, "dump")), "and are counted")
    # what is loaded meanwhile is a few; hidden ones are a thousand
    told = found["classes"] + found["classes_not_run"]
    assert told < matched + 200, (matched, told)


def test_a_wide_pattern_gives_what_runs(jdk):
    """Start comes back at once and says what it will do; what runs is counted, the rest is told; stop takes it all out."""
    with Program(jdk, "Words") as program:
        said = start(program, WIDE)
        assert "classes match" in said and "--all-classes" in said, said
        eventually(lambda: calls(result(program, "dump"), "append"), "what runs is counted")
        assert "that match have probes" in status(program)
        text = jstrobe("dump", "-o", "flat", program.pid).stdout
        assert "from s" in text and "counted from when their class got its probes" in text, text
        found = result(program)
        assert found["classes_not_run"] > 0 and found["classes"] > 0
        # they were there before, and got their probes after the first looks at what runs
        called = [m for m in found["methods"] if m["invocations"] and m["class"].startswith("java.util.")]
        assert called and all(1e9 < m["since_ns"] < found["duration_ns"] for m in called), called
        program.reset()
        eventually(lambda: program.mark().get("units"), "the program goes on")
        # probes go behind the result's back
        eventually(lambda: "classes" not in status(program), "all classes are as before")
        assert program.stop() == 0


def test_few_classes_are_counted_from_the_start(jdk):
    """Start comes back when they have their probes."""
    with Program(jdk, "Words") as program:
        began = time.monotonic()
        start(program, "truth.Words")
        took = time.monotonic() - began
        eventually(lambda: calls(result(program, "dump"), "stream"), "it runs")
        found = result(program)["methods"]
        assert found and all(0 < m["since_ns"] < took * 1e9 for m in found), (took, found)
        assert program.stop() == 0


def test_annotations_concern_the_classes_that_name_them(jdk):
    """Not each class that there is."""
    with Program(jdk, "Words") as program:
        start(program, "@java.lang.FunctionalInterface")
        done, matched = map(int, re.search(r"(\d+) of (\d+) that match", status(program)).groups())
        assert 0 < done == matched < 300
        result(program)
        assert program.stop() == 0


def test_all_classes_can_be_had_and_called_off(jdk):
    """Every command is answered meanwhile; the command that goes takes its probes with it."""
    with Program(jdk, "Words") as program:
        trace = subprocess.Popen([COMMAND, "trace", "-d", "100", "--all-classes", str(program.pid), WIDE],
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=WORK)
        try:
            eventually(lambda: "that match have probes" in status(program), "it has begun")
            trace.send_signal(signal.SIGKILL)
        finally:
            trace.kill()
            trace.communicate()
        eventually(lambda: "not active" in status(program) and "classes" not in status(program), "it is undone")
        program.reset()
        eventually(lambda: program.mark().get("units"), "the program goes on")
        start(program, "truth.Words.build")
        eventually(lambda: calls(result(program, "dump"), "build"), "the next session counts")
        found = result(program)
        assert found["uncounted"] == 0 and calls(found, "calls") == 0, "probes of the session before"
        assert program.stop() == 0


def test_the_program_can_end_at_any_moment(jdk):
    """While stacks are looked at, while classes change, while they change back."""
    for stop, wait in ((False, 0), (False, 2.2), (True, 0)):
        with Program(jdk, "Words") as program:
            start(program, WIDE, "--all-classes" if stop else "--timing=sampled")
            time.sleep(wait)
            if stop:
                result(program)
            assert program.stop() == 0
