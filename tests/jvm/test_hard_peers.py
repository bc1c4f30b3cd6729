"""Other profilers in the same JVM: two jstrobes, async-profiler, JFR; both work, or one says why not."""
import os
import re
import shutil
import subprocess
import time

import jvm
import pytest
from jvm import Program, jstrobe, record

pytestmark = pytest.mark.together

METHOD = "truth.KnownShares"


def load_agent(program, library, options):
    """What the agent said; asserts that it was loaded."""
    done = subprocess.run([os.path.join(program.jdk.home, "bin", "jcmd"), str(program.pid), "JVMTI.agent_load",
                           library, f'"{options}"'], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=60)
    assert "return code: 0" in done.stdout, done.stdout
    return done.stdout


def samples_in(path):
    """Samples in METHOD of a collapsed result."""
    with open(path) as file:
        return sum(int(line.rsplit(" ", 1)[1]) for line in file
                   if METHOD in line.replace("/", "."))


@pytest.fixture
def other():
    """A second jstrobe: another copy of the library is another library."""
    path = os.path.join(jvm.OWN, "other", "libjstrobe.so")
    os.makedirs(os.path.dirname(path), exist_ok=True)
    shutil.copyfile(jvm.LIBRARY, path)
    return path


@pytest.mark.parametrize("first_to_stop", ["first", "second"])
def test_two_jstrobes(jdk, other, first_to_stop):
    if (jdk.version, first_to_stop) != (25, "second") and not jvm.SOAK:
        pytest.skip("only with full counts (make soak)")
    mine, theirs = jvm.result_file(".collapsed"), jvm.result_file(".collapsed")
    with Program(jdk, "KnownShares") as program:
        assert jstrobe("start", "-i", "1ms", "-f", mine, program.pid).returncode == 0
        load_agent(program, other, f"start,event=ctimer,interval=1ms,file={theirs}")
        time.sleep(0.7)
        stops = [lambda: jstrobe("stop", program.pid), lambda: load_agent(program, other, "stop")]
        for stop in stops if first_to_stop == "first" else reversed(stops):
            stop()
            time.sleep(0.2)
        # And once more, now that handlers of either may have stayed in the chain.
        profile = record(program, "-i", "1ms", "-d", "0.5")
        assert profile.samples["stored"] > 20
        assert program.alive() and program.stop() == 0, program.output[-5:]
    for path in (mine, theirs):
        assert samples_in(path) > 20, path
        os.remove(path)


def async_profiler():
    path = os.path.join(jvm.OUT, "peers", "ap46", "lib", "libasyncProfiler.so")
    if not os.path.exists(path) and jvm.SOAK:
        jvm.run_script("fetch-peers.sh")
    if not os.path.exists(path):
        pytest.skip("async-profiler is not there: scripts/fetch-peers.sh fetches it (make soak does)")
    return path


@pytest.mark.parametrize("theirs", ["cpu", "itimer", "ctimer"])
def test_beside_async_profiler_and_jfr(jdk, theirs):
    if (jdk.version, theirs) != (17, "cpu") and not jvm.SOAK:
        pytest.skip("only with full counts (make soak)")
    library = async_profiler()
    result, recording = jvm.result_file(".collapsed"), jvm.result_file(".jfr")
    flags = [f"-XX:StartFlightRecording=filename={recording},settings=profile"]
    with Program(jdk, "KnownShares", jvm=flags) as program:
        load_agent(program, library, f"start,event={theirs},interval=1ms,file={result}")
        profile = record(program, "-e", "cpu", "-i", "1ms", "-d", "1")
        # itimer is SIGPROF, and that is taken: refused with the reason, nothing harmed.
        refused = jstrobe("record", "-e", "itimer", "-d", "0.2", program.pid)
        load_agent(program, library, f"stop,collapsed,file={result}")
        again = record(program, "-i", "1ms", "-d", "0.5")
        assert program.stop() == 0, program.output[-5:]
    assert profile.samples["stored"] > 30 and again.samples["stored"] > 10
    assert refused.returncode == 1 and re.search(r"SIGPROF has a handler", refused.stderr), refused.stderr
    assert samples_in(result) > 10
    assert os.path.getsize(recording) > 10000
    os.remove(result)
    os.remove(recording)


def test_async_profiler_starts_while_we_sample(jdk25):
    if not jvm.SOAK:
        pytest.skip("only with full counts (make soak)")
    library = async_profiler()
    result = jvm.result_file(".collapsed")
    with Program(jdk25, "KnownShares") as program:
        assert jstrobe("start", "-i", "1ms", program.pid).returncode == 0
        load_agent(program, library, f"start,event=cpu,interval=1ms,file={result}")
        time.sleep(0.7)
        done = jstrobe("stop", "-o", "collapsed", program.pid)
        assert done.returncode == 0 and METHOD in done.stdout.replace("/", "."), done.stderr
        time.sleep(0.3)
        load_agent(program, library, f"stop,collapsed,file={result}")
        assert program.alive() and program.stop() == 0, program.output[-5:]
    assert samples_in(result) > 10
    os.remove(result)


@pytest.mark.parametrize("name, trusted, when", [
    ("libasyncProfiler-4.so", True, "between sessions"), ("libasyncProfiler-4.so", True, "in a session"),
    ("libother.so", False, "between sessions")])
def test_a_profilers_handler_in_front(jdk, tmp_path, name, trusted, when):
    """Known ones pass on what is ours, so stacks are whole at once; of others that must be seen first (src/agent/hooks/faults.c)."""
    library = str(tmp_path / name)
    os.rename(jvm.build_agent("in_front", tmp_path), library)
    with Program(jdk, "Spin", 1, 10, "warm", jvm=["-XX:+EnableDynamicAgentLoading"]) as program:
        assert record(program, "-i", "100us", "-d", "0.3").samples["stored"] > 100
        if when == "between sessions":
            load_agent(program, library, "x")
            profile = record(program, "-i", "100us", "-d", "0.7")
        else:
            path = jvm.result_file()
            assert jstrobe("start", "-i", "100us", program.pid).returncode == 0
            load_agent(program, library, "x")
            time.sleep(3)
            assert jstrobe("stop", "-f", path, program.pid).returncode == 0
            profile = jvm.Profile(path)
            os.remove(path)
        assert program.stop() == 0, program.output[-5:]
    stored, early = profile.samples["stored"], profile.json["walk_ended_early"]["fault"]
    assert stored > 500
    if trusted:
        assert early <= stored * (0.02 if when == "between sessions" else 0.6), (early, stored)
    else:
        assert early > stored * 0.3, (early, stored)
