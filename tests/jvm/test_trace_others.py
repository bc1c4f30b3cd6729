"""jstrobe trace beside other agents, in async-profiler's words, by annotations, and with patterns that mean nothing or us."""
import os
import re
import subprocess
import zipfile

import pytest
from jvm import WORK, Program, jstrobe
from test_trace import counts, expected, stop, wait

pytestmark = pytest.mark.together


def load_agent(jdk, program, name, argument):
    """Attach the Java agent truth.NAME."""
    path = os.path.join(WORK, f"agent-{program.pid}.jar")
    with zipfile.ZipFile(path, "w") as jar:
        jar.writestr("META-INF/MANIFEST.MF", f"Manifest-Version: 1.0\nAgent-Class: truth.{name}\n"
                     "Can-Retransform-Classes: true\n\n")
    try:
        run(jdk, "jcmd", str(program.pid), "JVMTI.agent_load", path, argument)
    finally:
        os.remove(path)


def late_agent(jdk, program):
    """The code of truth.Calls as an agent sees it that comes behind all others."""
    file = os.path.join(WORK, f"late-{program.pid}.class")
    try:
        load_agent(jdk, program, "LateAgent", file)
        # what numbers constants have is the JVM's own affair: it merges pools
        return re.sub(r"#\d+", "#", run(jdk, "javap", "-c", "-p", file))
    finally:
        if os.path.exists(file):
            os.remove(file)


def run(jdk, tool, *args):
    done = subprocess.run([os.path.join(jdk.home, "bin", tool), *args], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, timeout=120)
    assert done.returncode == 0, done.stdout
    return done.stdout


def test_other_agents(jdk):
    """An agent behind ours sees the probes and then the class's own bytes again; its changes lose no call."""
    with Program(jdk, "Calls", 5) as program:
        wait(program, "ready")
        assert jstrobe("start", "--instrument", "truth.Nothing", program.pid).returncode == 0
        assert jstrobe("stop", "-o", "json", "-f", "/dev/null", program.pid).returncode == 0
        before = late_agent(jdk, program)
        assert jstrobe("start", "--instrument", "truth.Calls;truth.Calls$*", program.pid).returncode == 0
        during = late_agent(jdk, program)
        program.say("end")
        wait(program, "done")
        result = stop(program)
        after = late_agent(jdk, program)
    assert "JstrobeProbe.enter" in during and "JstrobeProbe" not in before
    assert [line.split() for line in after.splitlines()] == [line.split() for line in before.splitlines()]
    found, known = counts(result), expected(5, 0, 0)
    known = {name: count for name, count in known.items() if not name.startswith("Calls.shortLived") and count}
    assert {name: found.get(name) for name in known} == known


def test_a_class_that_is_refused(jdk):
    """The JVM refuses a class that an agent behind ours spoils: it is named with the reason, all others are counted."""
    with Program(jdk, "Calls", 5) as program:
        wait(program, "ready")
        assert jstrobe("start", "--instrument", "truth.Nothing", program.pid).returncode == 0  # so that ours comes first
        assert jstrobe("stop", "-o", "json", "-f", "/dev/null", program.pid).returncode == 0
        load_agent(jdk, program, "SpoilingAgent", "truth/Calls$Known")
        assert jstrobe("start", "--instrument", "truth.Calls;truth.Calls$*", program.pid).returncode == 0
        program.say("end")
        wait(program, "done")
        result = stop(program)
        assert program.stop() == 0
    refused = [s for s in result["skipped"] if "refused" in s["reason"]]
    assert refused == [{"name": "truth.Calls$Known", "reason": "the JVM refused the changed class"}]
    found, known = counts(result), expected(5, 0, 0)
    assert not found.get("Calls$Known.<init>")
    known = {name: count for name, count in known.items()
             if not name.startswith(("Calls.shortLived", "Calls$Known.")) and count}
    assert {name: found.get(name) for name in known} == known


def test_in_other_words(jdk):
    """event=CLASS.METHOD with an option of tracing, and trace=METHOD:TIME, as async-profiler has it."""
    with Program(jdk, "Waits") as program:
        wait(program, "rounds")
        done = jstrobe("start", "-e", "truth.Waits.parks", "--timing", "sampled", program.pid)
        assert done.returncode == 0, done.stderr
        count = program.mark()["rounds"]
        while program.mark()["rounds"] < count + 2:
            pass
        result = stop(program)
        assert [m["name"] for m in result["methods"]] == ["parks"] and result["invocations"] >= 1
        done = jstrobe("start", "--trace", "truth.Waits.parks:5ms", program.pid)
        assert done.returncode == 0, done.stderr
        count = program.mark()["rounds"]
        while program.mark()["rounds"] < count + 2:
            pass
        result = stop(program)
    assert result["timing"] == "exact" and result["events"]
    assert all(e["duration"] >= 5e6 and e["stack"][0].startswith("truth.Waits.parks") for e in result["events"])


def test_patterns_that_mean_nothing_or_us(jdk):
    with Program(jdk, "Calls", 1) as program:
        wait(program, "ready")
        done = jstrobe("start", "--instrument", "truth.Nothing", program.pid)
        assert done.returncode == 0 and "truth.Nothing matches no method so far" in done.stdout + done.stderr
        assert stop(program)["invocations"] == 0
        done = jstrobe("start", "--instrument", "java.lang.JstrobeProbe;jstrobe.**;jdk.internal.misc.Unsafe.getLong*",
                       program.pid)
        assert done.returncode == 0, done.stderr
        program.say("end")
        wait(program, "done")
        result = stop(program)
        assert result["invocations"] == 0 and program.alive()
        assert any("JstrobeProbe" in s["name"] and "probes use it" in s["reason"] for s in result["skipped"])
        assert program.stop() == 0


@pytest.mark.parametrize("pattern, names", [
    ("@Marked", "marked both Whole.one Whole.two Late.four Late.five"),
    ("@truth.Annotated$Quiet;@Annotated$Timed", "Late.five timed both"),
])
def test_annotations(jdk, pattern, names):
    """Methods with an annotation and all methods of classes with one, by its own name or with what is before it."""
    with Program(jdk, "Annotated") as program:
        wait(program, "ready")
        done = jstrobe("start", "--instrument", pattern, "--exclude", "**.<*init>", program.pid)
        assert done.returncode == 0, done.stderr
        program.say("end")
        wait(program, "done")
        result = stop(program)
        assert program.stop() == 0
    found = {f"{m['class']}.{m['name']}".replace("truth.Annotated", "").strip(".$"): m["invocations"] for m in result["methods"]}
    assert found == {name: 100 for name in names.split()}
