"""Commands that come while a JVM starts up, before it lets any agent in (preload/slow_start.c holds it up there)."""
import os
import subprocess
import time

import jvm
import pytest
from jvm import Program, counted, jstrobe, wait_until

pytestmark = pytest.mark.together

SIGQUIT = 1 << 2
LETS_US_IN = "-XX:+EnableDynamicAgentLoading"


@pytest.fixture
def starting(jdk, tmp_path, programs):
    """A JVM that can be asked to load an agent, and refuses for so many ms."""
    agent = jvm.build_agent("slow_start", tmp_path)

    def start(ms):
        program = Program(jdk, "KnownShares", jvm=[LETS_US_IN, f"-agentpath:{agent}={ms}"], ready=False)
        wait_until(lambda: caught(program.pid) & SIGQUIT, 60)
        return program
    return start


def caught(pid):
    with open(f"/proc/{pid}/status") as file:
        return next(int(line.split()[1], 16) for line in file if line.startswith("SigCgt:"))


def test_the_command_waits_for_the_jvm(starting, tmp_path):
    with starting(3000) as program:
        path = str(tmp_path / "result.json")
        done = jstrobe("record", "--attach-timeout", "60s", "-i", "1ms", "-d", "1", "-f", path, program.pid)
        assert done.returncode == 0, done.stderr
        program.wait_for("READY")
        assert jvm.Profile(path).samples["stored"] > 0
        assert program.stop() == 0


def test_not_longer_than_it_is_told(starting):
    """Then it says why, and that another try can help; the program is none the worse."""
    with starting(8000) as program:
        began = time.monotonic()
        done = jstrobe("record", "--attach-timeout", "1s", "-d", "1", program.pid)
        took = time.monotonic() - began
        assert done.returncode == 3, (done.returncode, done.stderr)
        assert "starting up" in done.stderr and "again" in done.stderr, done.stderr
        assert took < 7, took
        program.wait_for("READY")
        assert program.stop() == 0


# ---- with the agent from the JVM's first instruction on ----------------------------------------

WAYS = {
    "usual": [], "interpreter": ["-Xint"], "c1": ["-XX:TieredStopAtLevel=1"], "no-archive": ["-Xshare:off"],
    "no-perf-data": ["-XX:-UsePerfData"], "zgc": ["-XX:+UseZGC"], "serial": ["-XX:+UseSerialGC"],
}


@pytest.mark.parametrize("hold", [0, 30, 300])
@pytest.mark.parametrize("way", WAYS)
def test_what_runs_first_has_names(jdk, way, hold, tmp_path, programs, say):
    """No class is unloaded so early: whatever was sampled has its name, however late the collector comes."""
    path = str(tmp_path / "result.json")
    with jvm.knobs():
        agent = f"-agentpath:{jvm.LIBRARY}=start,event=cpu,interval=1ms,collector-hold={hold},file={path}"
    with Program(jdk, "KnownShares", jvm=[*WAYS[way], agent]) as program:
        time.sleep(2 * hold / 1000)  # the collector comes once: on a fast machine all had ended before, with full queues
        assert program.stop() == 0
    stacks = jvm.Profile(path).stacks
    java = sum(s["samples"] for s in stacks if any("." in frame for frame in s["frames"]))
    unloaded = sum(s["samples"] for s in stacks if "[unloaded]" in s["frames"])
    say(f"{jdk}, {way}, collector held {hold} ms: {unloaded} of {java} samples with Java frames have an [unloaded] one")
    assert java > 20 and unloaded == 0
    os.remove(path)


def test_the_launcher_has_not_loaded_the_jvm_yet(jdk, programs):
    """`java … & jstrobe record $!`: a process that is about to be a JVM is no other program."""
    for number in range(counted(8, 100)):
        process = subprocess.Popen([jdk.java, LETS_US_IN, "-cp", jvm.CLASSES, "truth.Brief", "1500", "exit"],
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(0.003 * (number % 4))
        done = jstrobe("record", "-d", "0.1", "-f", "/dev/null", process.pid)
        assert "no HotSpot JVM" not in done.stderr, (number, done)
        assert process.wait(60) == 0
