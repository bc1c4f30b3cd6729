"""jstrobe trace beside other agents, in the words of async-profiler, and with patterns that mean nothing or ourselves."""
import os
import re
import subprocess
import zipfile

import pytest
from jvm import WORK, Program, jstrobe
from test_trace import counts, expected, stop, wait

pytestmark = pytest.mark.together


def late_agent(jdk, program):
    """The code of truth.Calls as an agent sees it that comes behind all others."""
    path = os.path.join(WORK, f"late-{program.pid}.jar")
    file = os.path.join(WORK, f"late-{program.pid}.class")
    with zipfile.ZipFile(path, "w") as jar:
        jar.writestr("META-INF/MANIFEST.MF", "Manifest-Version: 1.0\nAgent-Class: truth.LateAgent\n"
                     "Can-Retransform-Classes: true\n\n")
    try:
        run(jdk, "jcmd", str(program.pid), "JVMTI.agent_load", path, file)
        # what numbers constants have is the JVM's own affair: it merges pools
        return re.sub(r"#\d+", "#", run(jdk, "javap", "-c", "-p", file))
    finally:
        os.remove(path)
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


def test_in_other_words(jdk):
    """event=CLASS.METHOD and trace=METHOD:TIME, as async-profiler has them."""
    with Program(jdk, "Waits") as program:
        wait(program, "rounds")
        done = jstrobe("start", "-e", "truth.Waits.parks", program.pid)
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
