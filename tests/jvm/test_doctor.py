"""jstrobe doctor: each precondition, provoked where a test can provoke it, and named with its remedy."""
import json
import os
import resource
import signal
import subprocess
import time

import pytest
from jvm import Program, jstrobe, wait_until

pytestmark = pytest.mark.together


def doctor(pid, status=0):
    """{name: check} of the JSON form; its verdict and exit status belong together."""
    done = jstrobe("doctor", "--json", pid)
    found = json.loads(done.stdout)
    assert done.returncode == status, done.stdout + done.stderr
    assert found["schema"] == 1 and found["pid"] == pid
    assert (found["verdict"] == "problem") == (status == 3)
    return {check["name"]: check for check in found["checks"]}


def stop(pid):
    """Send SIGSTOP and wait until the process stands."""
    os.kill(pid, signal.SIGSTOP)
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        with open(f"/proc/{pid}/stat") as stat:
            if stat.read().rsplit(")", 1)[1].split()[0] == "T":
                return
        time.sleep(0.01)
    raise AssertionError(f"{pid} does not stop")


def problems(checks):
    return {name for name, check in checks.items() if check["verdict"] == "problem"}


def test_nothing_in_the_way(jdk17):
    with Program(jdk17, "Spin", 1, 10) as program:
        checks = doctor(program.pid)
        assert not problems(checks)
        assert checks["dynamic_agents"]["verdict"] == "ok"
        text = jstrobe("doctor", program.pid).stdout
        assert text.startswith(f"Process {program.pid}, truth.Spin, JDK 17.")
        for name in checks:
            assert f" {name} " in text
        with open(f"/proc/{program.pid}/maps") as maps:
            assert "libjstrobe" not in maps.read(), "looking loads nothing"


def test_limits_and_stopped(jdk17):
    with Program(jdk17, "Spin", 1, 10) as program:
        soft, hard = resource.prlimit(program.pid, resource.RLIMIT_NOFILE)
        resource.prlimit(program.pid, resource.RLIMIT_NOFILE, (len(os.listdir(f"/proc/{program.pid}/fd")) + 20, hard))
        check = doctor(program.pid)["descriptors"]
        assert check["verdict"] == "note" and "prlimit" in check["remedy"]
        resource.prlimit(program.pid, resource.RLIMIT_NOFILE, (len(os.listdir(f"/proc/{program.pid}/fd")) + 2, hard))
        assert problems(doctor(program.pid, status=3)) == {"descriptors"}
        resource.prlimit(program.pid, resource.RLIMIT_NOFILE, (soft, hard))
        pending, most = resource.prlimit(program.pid, resource.RLIMIT_SIGPENDING)
        resource.prlimit(program.pid, resource.RLIMIT_SIGPENDING, (8, most))
        assert doctor(program.pid)["pending_signals"]["verdict"] == "note"
        resource.prlimit(program.pid, resource.RLIMIT_SIGPENDING, (pending, most))
        stop(program.pid)
        checks = doctor(program.pid, status=3)
        os.kill(program.pid, signal.SIGCONT)
        assert problems(checks) == {"state"} and "kill -CONT" in checks["state"]["text"]
        assert not problems(doctor(program.pid))


def test_switches(jdk25):
    with Program(jdk25, "Spin", 1, 10, jvm=["-Xrs", "-XX:-EnableDynamicAgentLoading"]) as program:
        checks = doctor(program.pid, status=3)
        assert problems(checks) == {"attach", "dynamic_agents"}
        assert "-Xrs" in checks["attach"]["text"] and "-agentpath" in checks["dynamic_agents"]["remedy"]
    with Program(jdk25, "Spin", 1, 10, jvm=["-XX:+DisableAttachMechanism", "-XX:+EnableDynamicAgentLoading",
                                            "-XX:+UnlockDiagnosticVMOptions", "-XX:+DebugNonSafepoints"]) as program:
        checks = doctor(program.pid, status=3)
        assert problems(checks) == {"attach"}
        assert "DisableAttachMechanism" in checks["attach"]["text"]
        assert checks["dynamic_agents"]["verdict"] == "ok" and not checks["debug_info"]["text"]
    with Program(jdk25, "Spin", 1, 10) as program:
        checks = doctor(program.pid)
        assert checks["dynamic_agents"]["verdict"] == "note" and checks["debug_info"]["text"]


@pytest.mark.parametrize("words,status,said", [
    ([], 2, "which JVM"), ([999999999], 3, "999999999"), (["NoSuchProgram"], 3, "NoSuchProgram")])
def test_bad_targets(words, status, said):
    done = jstrobe("doctor", *words)
    assert done.returncode == status and said in done.stderr


def test_not_a_jvm():
    with subprocess.Popen(["sleep", "60"]) as sleeper:
        checks = doctor(sleeper.pid, status=3)
        sleeper.kill()
    assert problems(checks) == {"vm"} and "dynamic_agents" not in checks


def test_long_safepoint(jdk17):
    """Attaching gives up in time and says why, doctor names it, and afterwards everything works."""
    with Program(jdk17, "LongSafepoint", 9, jvm=["-XX:-UseCountedLoopSafepoints", "-XX:LoopStripMiningIter=0"]) as program:
        assert doctor(program.pid)["safepoint"]["verdict"] == "ok"
        before = os.listdir(f"/proc/{program.pid}/fd")
        program.say("end")
        time.sleep(0.3)
        # on a busy machine the loop has not begun yet, or a look finds the VM thread waiting for a CPU
        for _ in range(8):
            check = doctor(program.pid)["safepoint"]
            if check["verdict"] == "note":
                break
        assert check["verdict"] == "note" and "--attach-timeout" in check["remedy"], check
        began = time.monotonic()
        done = jstrobe("record", "-d", "1", "--attach-timeout", "1500ms", program.pid)
        assert done.returncode == 3 and "longer --attach-timeout" in done.stderr, done.stderr
        assert time.monotonic() - began < 7, "it waited for the end of the safepoint"
        with open(f"/proc/{program.pid}/maps") as maps:
            assert "libjstrobe" not in maps.read()
        wait_until(lambda: program.mark().get("loops"))
        assert doctor(program.pid)["safepoint"]["verdict"] == "ok"
        assert len(os.listdir(f"/proc/{program.pid}/fd")) <= len(before) + 2  # the JVM's own attach socket
        assert jstrobe("record", "-d", "0.2", "-f", "/dev/null", program.pid).returncode == 0
