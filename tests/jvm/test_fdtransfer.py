"""Perf events that the command opens for a process that may not (--fdtransfer)."""
import os
import signal
import subprocess

import container
import jvm
import pytest
from container import Container
from jvm import Program, counted, jstrobe, record, wait_until

UNPRIVILEGED = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]


def why_not():
    with open("/proc/sys/kernel/perf_event_paranoid") as file:
        level = int(file.read())
    if os.geteuid() != 0:
        return "needs root"
    if level < 2:
        return f"perf_event_paranoid is {level}: an ordinary user's JVM needs no help"
    if subprocess.run(UNPRIVILEGED + ["test", "-r", jvm.LIBRARY]).returncode != 0:
        return "the build folder cannot be read by user 65534"
    return ""


pytestmark = [pytest.mark.together, pytest.mark.skipif(bool(why_not()), reason=why_not())]


def servers(program):
    """Processes that open events for PROGRAM."""
    return jvm.perf_helpers(program.pid)


def kinds(profile):
    return {kind for stack in profile.stacks for kind in stack["kinds"]}


def named_kernel_frames(profile):
    return {f for s in profile.stacks for f, k in zip(s["frames"], s["kinds"]) if k == "kernel" and "[" not in f}


def test_kernel_frames_for_an_ordinary_user(jdk):
    with Program(jdk, "Syscalls", wrap=UNPRIVILEGED) as program:
        without = record(program, "-e", "cpu", "-i", "1ms", "-d", "0.5")
        assert without.json["engine"] == "ctimer" and "kernel" not in kinds(without)
        descriptors = program.descriptors()
        profile = record(program, "-e", "cpu", "-i", "1ms", "-d", counted("1", "20"), "--fdtransfer")
        assert profile.json["engine"] == "perf", profile.done.stderr
        assert named_kernel_frames(profile), "kernel frames have names"
        wait_until(lambda: program.descriptors() <= descriptors)
        # an event that only perf has
        switches = record(program, "-e", "context-switches", "-d", "0.3", "--fdtransfer")
        assert switches.json["engine"] == "perf"


def test_new_threads_and_virtual_numbers(jdk17):
    """Threads that begin meanwhile, in a process whose threads have other numbers outside."""
    if not container.permitted("--pid"):
        pytest.skip("needs namespaces")
    with Container(jdk17, "ThreadChurn", (), namespaces=["--pid"], user=65534) as program:
        profile = record(program, "-e", "cpu", "-i", "1ms", "-d", counted("1.5", "20"), "--fdtransfer")
        # where the server gets no CPU for as long as an answer may take, timers are what it says, and nothing else
        assert profile.json["engine"] == "perf" or "does not answer" in profile.done.stderr, profile.done.stderr
        inside = profile.total("truth.ThreadChurn.burst")
        assert inside > 0.3 * profile.weight["total"]
        assert "kernel" in kinds(profile)


def test_the_server_lives_as_long_as_the_session(jdk17):
    with Program(jdk17, "Syscalls", wrap=UNPRIVILEGED) as program:
        done = jstrobe("start", "-e", "cpu", "--fdtransfer", program.pid)
        assert done.returncode == 0 and "by perf;" in done.stderr, done.stderr
        assert len(servers(program)) == 1
        refused = jstrobe("start", "-e", "cpu", "--fdtransfer", program.pid)
        assert refused.returncode == 1
        wait_until(lambda: len(servers(program)) == 1)  # that one's ends
        assert jstrobe("stop", "-f", jvm.result_file(".collapsed"), program.pid).returncode == 0
        wait_until(lambda: not servers(program))
        again = jstrobe("start", "-e", "cpu", program.pid)
        assert again.returncode == 0 and "by ctimer;" in again.stderr, "its rights end with the session"
        jstrobe("stop", "-f", jvm.result_file(".collapsed"), program.pid)


def test_the_server_dies(jdk17):
    """Threads that begin afterwards get timers; nothing waits, nothing is lost unsaid."""
    with Program(jdk17, "ThreadChurn", wrap=UNPRIVILEGED) as program:
        assert jstrobe("start", "-e", "cpu", "-i", "1ms", "--fdtransfer", program.pid).returncode == 0
        os.kill(servers(program)[0], signal.SIGKILL)
        program.reset()
        wait_until(lambda: program.mark().get("threads", 0) > 10)  # the program goes on
        path = jvm.result_file()
        stopped = jstrobe("stop", "-o", "json", "-f", path, program.pid)
        assert stopped.returncode == 0, stopped.stderr
        profile = jvm.Profile(path)
        profile.check()
        assert profile.json["engine"] in ("perf+ctimer", "ctimer"), profile.json["engine"]


def test_what_cannot_be(jdk17):
    agent = f"-agentpath:{jvm.LIBRARY}=start,event=cpu,fdtransfer"
    with Program(jdk17, "KnownShares", jvm=[agent]) as program:
        assert any("fdtransfer: perf descriptors come from a command only" in line for line in program.output)
        assert jstrobe("status", program.pid).stdout.startswith("Profiler is not active")
        done = jstrobe("start", "--fdtransfer", "--loop", "1s", "-f", "%n.jfr", program.pid)
        assert done.returncode == 1 and "does not go together with fdtransfer" in done.stderr
