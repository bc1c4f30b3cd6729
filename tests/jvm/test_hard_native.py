"""Native libraries that play tricks with signals, stacks, threads and images while samples are taken."""
import ctypes
import json
import os
import re
import shutil
import signal
import time

import jvm
import pytest
from jvm import Program, counted, jstrobe, record, wait_until

pytestmark = pytest.mark.together

ALL = "segv+nowhere+alternate+raw+vforked+forked+loaded+blocked+attached"
SECONDS = counted("1.5", "120")


def tricks(jdk, names, **more):
    copy = os.path.join(jvm.OWN, "libcopy.so")
    shutil.copyfile(jvm.NATIVE, copy)
    return Program(jdk, "Tricks", jvm.NATIVE, copy, names, **more)


def worked(program, names):
    """Every trick was played at least once, none failed, and the program ends as it should."""
    end = time.time() + 60
    counters = program.mark()
    while not all(counters.get(name) for name in names.split("+")) and time.time() < end:
        time.sleep(0.1)
        counters = program.mark()
    assert counters["failed"] == 0, program.output[-5:]
    for name in names.split("+"):
        assert counters.get(name, 0) > 0, (name, counters)
    assert program.alive() and program.stop() == 0, program.output[-5:]
    return counters


@pytest.mark.parametrize("version,engine", [(17, "cpu"), (25, "ctimer"), (17, "itimer")])
def test_tricks(jdk, version, engine, say):
    if (jdk.version != version or engine == "itimer") and not jvm.SOAK:
        pytest.skip(f"{engine} on {jdk}: only with full counts (make soak)")
    names = ALL
    with tricks(jdk, names) as program:
        time.sleep(0.5)
        profile = record(program, "-e", engine, "-i", "500us", "-d", SECONDS)
        time.sleep(0.3)
        counters = worked(program, names)
    bad, total, worst = jvm.incomplete(profile)
    named = {k: v for k, v in profile.samples["lost"].items() if v}
    say(f"native tricks, {engine} {jdk}: {total} samples, {bad / total:.2%} incomplete {worst}, lost {named}; "
        f"{counters}")
    assert profile.total("tricks_work", key="samples") > 0
    assert profile.total("[unknown]", key="samples") == 0  # a name, or a reason
    assert profile.total("truth.Tricks.segv", key="samples") > 0
    # What blocks our signal is sampled when it lets it in, or counted as unsampled: never more than there was.
    assert profile.weight["total"] + profile.weight["lost"] <= 1.05 * profile.cpu_clock() + profile.stolen
    assert profile.accounts(within=0.05), (profile.weight, profile.target_cpu())


@pytest.mark.parametrize("names", ["segv+nowhere", "handled+nowhere"])
@pytest.mark.parametrize("engine", ["cpu", "wall"])
def test_faults_of_ours_where_they_may_not_be_taken(jdk, engine, names, say):
    """
    Each sample of `nowhere` loads what cannot be read, while a library's handler of SIGSEGV stands where ours stood, and
    puts back what was there before us; or while SIGSEGV is blocked.
    """
    if (engine == "wall") == (jdk.version == 17) and not jvm.SOAK:
        pytest.skip(f"{engine} on {jdk}: only with full counts (make soak)")
    sums = {}
    for number in range(counted(3, 100)):
        with tricks(jdk, names) as program:
            for _ in range(2):
                profile = record(program, "-e", engine, "-i", "500us", "-d", "0.5")
                sums["nowhere"] = sums.get("nowhere", 0) + profile.total("tricks_nowhere", key="samples")
                sums["faults"] = sums.get("faults", 0) + jvm.incomplete(profile)[0]
            worked(program, names)
    say(f"{names}, {engine} on {jdk}: {sums}")
    assert sums["nowhere"] > 0 and sums["faults"] > 0


def test_loaded_while_threads_attach_themselves(jdk, say):
    """
    From JDK 21 on the first JVMTI environment kills a JVM in which a thread is half attached (agent/jvm/half_attached.h). With
    little room for new objects threads wait there for memory.
    """
    names, rounds = "crowded+garbage", counted(3, 100)
    for _ in range(rounds):
        with tricks(jdk, names, jvm=["-Xmx64m", "-Xmn1m", "-XX:+UseSerialGC"]) as program:
            done = jstrobe("start", "-e", "ctimer", "-i", "10ms", program.pid)
            assert done.returncode == 0, done.stderr
            worked(program, names)
    say(f"loaded while 12 threads attach themselves, {jdk}: {rounds} of {rounds} live")


def test_not_loaded_while_a_thread_stays_half_attached(jdk, tmp_path):
    """From JDK 21 on the JVM would die of it: refused, with the reason, and loaded when the thread has got on."""
    until = tmp_path / "until"
    until.write_text("")
    with tricks(jdk, "half", wrap=["env", f"HALF_UNTIL={until}"]) as program:
        wait_until(lambda: program.mark().get("half", 0) > 0)
        for _ in range(2):
            done = jstrobe("status", program.pid) if jdk.version < 21 else jstrobe("start", "-i", "10ms", program.pid)
            assert program.alive(), program.output[-5:]
            if jdk.version >= 21:
                assert done.returncode != 0 and "half attached" in done.stderr and "try again" in done.stderr, done
        until.unlink()
        if jdk.version >= 21:
            wait_until(lambda: jstrobe("start", "-i", "10ms", program.pid).returncode == 0)
            assert jstrobe("stop", "-o", "collapsed", program.pid).returncode == 0
        worked(program, "half")


def test_tricks_under_libjsig_and_check_jni(jdk, say):
    """libjsig keeps the JVM's handlers behind the program's; -Xcheck:jni looks over the agent's shoulder."""
    names = "segv+alternate+attached"
    if jdk.version == 25 and not jvm.SOAK:
        pytest.skip("only with full counts (make soak)")
    libjsig = os.path.join(jdk.home, "lib", "libjsig.so")
    if not os.path.exists(libjsig):
        libjsig = os.path.join(jdk.home, "lib", "server", "libjsig.so")
    assert os.path.exists(libjsig), "this JDK has no libjsig"
    with tricks(jdk, names, wrap=["env", f"LD_PRELOAD={libjsig}"], jvm=["-Xcheck:jni"]) as program:
        before = list(program.output)
        profile = record(program, "-i", "500us", "-d", counted("1.5", "60"))
        worked(program, names)
    assert profile.samples["stored"] > 30
    said = [line for line in program.output[len(before):] if not line.startswith("MARK")]
    said = [line for line in said if "EnableDynamicAgentLoading" not in line and "java agent" not in line.lower()]
    complaints = [line for line in said if re.search(r"jstrobe|FATAL|WARNING in native|pending exception", line)]
    assert not [c for c in complaints if "loaded dynamically" not in c], said


def test_children_get_no_signal_of_ours(jdk17):
    """Children of a sampled JVM: nothing of ours is ignored, blocked or pending there."""
    with Program(jdk17, "Children") as program:
        wait_until(lambda: program.mark().get("children", 0) > 5)
        plain = program.mark()
        assert jstrobe("start", "-i", "200us", program.pid).returncode == 0
        program.reset()
        time.sleep(counted(0.7, 60))
        wait_until(lambda: program.mark().get("children", 0) > 5)
        during = program.mark()
        done = jstrobe("stop", "-o", "json", program.pid)
        assert done.returncode == 0, done.stderr
        assert program.stop() == 0
    assert during["children"] > 5 and "failed" not in during, during
    # A child is an exec and a read: milliseconds each, counted when they have ended, sampled never.
    children = json.loads(done.stdout)["children_cpu_ns"]
    assert 5 * 200_000 < children < during["children"] * 1_000_000_000
    for state in ("ignored", "blocked", "pending"):
        assert during.get(state, 0) == plain.get(state, 0), (plain, during)


# ---- stopped and traced ----

PTRACE_SEIZE, PTRACE_INTERRUPT, PTRACE_DETACH, WALL = 0x4206, 0x4207, 17, 0x40000000


def ptrace(request, tid, data=0):
    libc = ctypes.CDLL(None, use_errno=True)
    libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
    return libc.ptrace(request, tid, None, data)


def hold(tid, seconds):
    """Stop one thread as a debugger does, wherever it is, and let it go with what it was about to get."""
    if ptrace(PTRACE_SEIZE, tid):
        return False
    ptrace(PTRACE_INTERRUPT, tid)
    try:
        status = os.waitpid(tid, WALL)[1]
    except ChildProcessError:
        return False
    time.sleep(seconds)
    if not os.WIFSTOPPED(status):
        return False
    stopped_by = os.WSTOPSIG(status)
    ptrace(PTRACE_DETACH, tid, 0 if status >> 16 else stopped_by)
    return True


def test_stopped_and_traced(jdk17):
    """Stopped as a whole and thread by thread, over and over, while samples are taken."""
    with Program(jdk17, "KnownShares") as program:
        assert jstrobe("start", "-i", "200us", "-t", program.pid).returncode == 0
        held, end = 0, time.time() + counted(1, 60)
        while time.time() < end or held <= 10:
            os.kill(program.pid, signal.SIGSTOP)
            time.sleep(0.02)
            os.kill(program.pid, signal.SIGCONT)
            for tid in list(program.threads())[:6]:
                held += hold(tid, 0.002)
            time.sleep(0.02)
        path = jvm.result_file()
        done = jstrobe("stop", "-o", "json", "-f", path, program.pid)
        assert done.returncode == 0, done.stderr
        profile = jvm.Profile(path)
        os.remove(path)
        profile.check()
        assert profile.samples["stored"] > 100
        assert program.alive() and program.stop() == 0, program.output[-5:]
