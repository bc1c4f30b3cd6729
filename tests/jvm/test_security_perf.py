"""Attacks on the helper that opens perf events for a process that may not (--fdtransfer).

The attacker holds the socket that the command gave to the target. The test plays him as root, who can also say that a
question is another process's: a stronger one than any user's process is.
"""
import ctypes
import fcntl
import os
import select
import shutil
import signal
import struct
import subprocess
import tempfile
import time

import container
import jvm
import pytest
from fake_jvm import FakeJvm, ask
from jvm import jstrobe, wait_until

SOFTWARE, BREAKPOINT, TRACEPOINT = 1, 5, 2
CPU_CLOCK, PAGE_FAULTS = 0, 2



def why_not():
    if os.geteuid() != 0:
        return "needs root"
    if subprocess.run(["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "test", "-r",
                       os.path.join(os.path.dirname(os.path.abspath(__file__)), "fake_jvm.py")]).returncode != 0:
        return "the tests cannot be read by user 65534"
    return ""


pytestmark = [pytest.mark.together, pytest.mark.skipif(bool(why_not()), reason=why_not())]

RELEASE = tuple(int(n) for n in os.uname().release.split(".")[:2])
CLOCK = dict(type=SOFTWARE, config=CPU_CLOCK, period=1000000, kernel=1)


@pytest.fixture
def target():
    """A hostile process with a socket to a helper that was started for `cpu`."""
    with FakeJvm() as fake:
        started(fake, "-e", "cpu")
        yield fake


def started(fake, *options):
    done = jstrobe("start", *options, "--fdtransfer", fake.pid)
    assert done.returncode == 0, done.stderr
    return fake


def code(answer):
    """Of an ANSWER that may carry a descriptor, which is closed."""
    assert answer is not None, "the helper has hung up"
    if answer[1] >= 0:
        os.close(answer[1])
    return answer[0]


def as_target(fake, **question):
    return ask(fake.perf, dict(tid=fake.pid, **question), sender=fake.pid)


def served(fake):
    """An event of the target's own is opened: the helper is at work, and what follows is refused for its own reason."""
    given, fd = as_target(fake, **CLOCK)
    assert given == 0 and fd >= 0, given
    return fd


def is_over(fake):
    """The helper has hung up; it looks each second at what the target is."""
    fake.perf.settimeout(60)
    return fake.perf.recv(1) == b""


def with_setuid():
    """A program that runs as root, whichever user starts it; "" where the file system does not permit that."""
    folder = tempfile.mkdtemp(prefix="setuid-")
    os.chmod(folder, 0o755)
    path = os.path.join(folder, "sleep")
    shutil.copy("/usr/bin/sleep", path)
    os.chmod(path, 0o4755)
    if os.statvfs(path).f_flag & os.ST_NOSUID:
        shutil.rmtree(folder)
        pytest.skip("programs with the setuid bit have no effect in the folder for temporary files (nosuid)")
    return path


def uids(pid):
    with open(f"/proc/{pid}/status") as file:
        return next(line.split()[1:] for line in file if line.startswith("Uid:"))


@pytest.mark.parametrize("held", [False, True], ids=["asked-after", "looked-after"])
def test_setuid_exec(target, held):
    """The target becomes a program with root's rights: no event of that is had, and the helper ends."""
    path = with_setuid()
    try:
        os.close(served(target))
        target.say(f"exec {path} 600")
        wait_until(lambda: uids(target.pid)[1] == "0")
        if not held:
            assert as_target(target, **CLOCK) is None
        assert is_over(target)
    finally:
        shutil.rmtree(os.path.dirname(path))


def ends(fd):
    """The kernel ends the event FD: no process gets more of it."""
    poll = select.poll()
    poll.register(fd, select.POLLHUP)
    return poll.poll(60000)


def test_exec_of_an_ordinary_program(target):
    """The same user's other program: events that were handed over end, and no more are."""
    fd = served(target)
    fcntl.ioctl(fd, 0x2400, 0)  # PERF_EVENT_IOC_ENABLE
    target.say("exec /usr/bin/sleep 600")
    if RELEASE >= (5, 13):
        assert ends(fd), "the event goes on in the program behind exec"
    os.close(fd)
    assert is_over(target)


def clone_as(pid):
    """A child of number PID (clone3 with set_tid) that sleeps; None where the kernel has no such call."""
    wanted = ctypes.c_int(pid)
    args = struct.pack("11Q", 0, 0, 0, 0, signal.SIGCHLD, 0, 0, 0, ctypes.addressof(wanted), 1, 0)
    child = ctypes.CDLL(None, use_errno=True).syscall(435, args, len(args))
    if child == 0:
        os.execv("/usr/bin/sleep", ["sleep", "600"])
    return child if child > 0 else None


def test_the_number_used_again(target):
    """Another process, of root, has the target's number: none of its events."""
    os.close(served(target))
    target.say("end")
    target.process.wait()
    again = clone_as(target.pid)
    if not again:
        pytest.skip("numbers of processes cannot be chosen here (clone3 with set_tid)")
    try:
        assert again == target.pid
        assert as_target(target, **CLOCK) is None
        assert is_over(target)
    finally:
        os.kill(again, signal.SIGKILL)
        os.waitpid(again, 0)


def test_the_target_ends_and_its_socket_does_not(target):
    """A child, or another process that has the socket, does not keep the helper alive."""
    os.close(served(target))
    target.say("end")
    target.process.wait()
    assert is_over(target)


def test_another_process_asks(target):
    """The socket was handed on: the process that asks with it is not the target, so that was the last question."""
    os.close(served(target))
    assert ask(target.perf, dict(tid=target.pid, **CLOCK)) is None
    assert as_target(target, **CLOCK) is None


def test_what_was_not_asked_for(target):
    os.close(served(target))
    for question in (dict(CLOCK, config=PAGE_FAULTS), dict(CLOCK, config=9), dict(CLOCK, type=0), dict(CLOCK, type=4),
                     dict(CLOCK, type=TRACEPOINT, config=1), dict(CLOCK, config1=1),
                     dict(type=BREAKPOINT, bp_type=3, config1=4096, config2=8, period=1),
                     dict(type=BREAKPOINT, bp_type=4, config1=4096, config2=8, period=1)):
        assert code(as_target(target, **question)) == 13, question
    os.close(served(target))


def test_breakpoints_that_were_asked_for():
    """An event on a function brings breakpoints on execution, none on memory; one in user mode, no kernel."""
    with FakeJvm() as fake:
        started(fake, "-e", "malloc", "--all-user")
        point = dict(type=BREAKPOINT, config2=8, config1=0x10000, period=1)
        assert code(as_target(fake, **point, bp_type=4)) == 0
        assert code(as_target(fake, **point, bp_type=3)) == 13
        assert code(as_target(fake, **point, bp_type=4, kernel=1)) == 13
        assert code(as_target(fake, **CLOCK)) == 13
        assert code(ask(fake.perf, dict(kallsyms=1), sender=fake.pid)) == 13


def test_symbols_once(target):
    assert code(ask(target.perf, dict(kallsyms=1), sender=target.pid)) == 0
    assert code(ask(target.perf, dict(kallsyms=1), sender=target.pid)) == 13


def test_threads_of_others(target):
    other = subprocess.Popen(["sleep", "600"])
    try:
        for tid in (other.pid, os.getpid(), 1, 0, -1, (1 << 32) + other.pid):
            answer = ask(target.perf, dict(CLOCK, tid=tid), sender=target.pid)
            assert code(answer) == 3, tid
    finally:
        other.kill()
        other.wait()
    os.close(served(target))


def test_exec_before_the_helper_starts(target):
    """What was looked at when attaching is what counts: here the target's user is another one by then."""
    # A second conversation of a target that is hostile from the begin: it has the socket of the first, and the
    # command of the second finds another program behind the number.
    target.say("exec /usr/bin/sleep 600")
    wait_until(lambda: open(f"/proc/{target.pid}/comm").read() == "sleep\n")
    done = jstrobe("start", "-e", "cpu", "--fdtransfer", target.pid)
    assert done.returncode == 3 and "no HotSpot JVM" in done.stderr


@pytest.mark.parametrize("swaps", [jvm.counted(200, 20000)])
def test_exec_in_the_midst(swaps, say):
    """Questions and execs at once: no event that is had is one of the program behind."""
    path = with_setuid()
    had = 0
    try:
        for _ in range(jvm.counted(5, 200)):
            with FakeJvm() as fake:
                started(fake, "-e", "cpu")
                os.close(served(fake))
                fake.say(f"exec {path} 600")
                events = []
                end = time.time() + 60  # a busy machine lets the target come to its exec late
                while (answer := as_target(fake, **CLOCK)) is not None:
                    assert time.time() < end, "the helper goes on behind the exec"
                    events.append(answer[1])
                    if len(events) > swaps and (oldest := events.pop(0)) >= 0:
                        os.close(oldest)
                had += len(events)
                for fd in (fd for fd in events if fd >= 0):
                    assert ends(fd), "it goes on in the program behind exec"
                    os.close(fd)
    finally:
        shutil.rmtree(os.path.dirname(path))
    say(f"{had} questions were answered before the exec")


def test_a_command_without_rights():
    """What the helper could not do is said at once, with the capability that lacks."""
    with FakeJvm() as fake:
        rights = "-all,+setuid,+setgid,+sys_ptrace"
        done = subprocess.run(["setpriv", "--bounding-set", rights, "--inh-caps", "-all", jvm.COMMAND, "start", "-e", "cpu",
                               "--fdtransfer", str(fake.pid)], capture_output=True, text=True, timeout=60)
        assert done.returncode != 0 and "CAP_PERFMON" in done.stderr, done.stderr


@pytest.mark.parametrize("count", [1000, 16000])
@pytest.mark.parametrize("wrap", [(), ("unshare", "--pid", "--kill-child", "--fork")], ids=["beside", "namespace"])
def test_a_target_of_many_groups(wrap, count):
    """What the kernel says of a thread is longer then, and its number stands behind the groups."""
    if wrap and not container.permitted("--pid"):
        pytest.skip("needs namespaces")
    with FakeJvm(wrap=wrap, groups=range(1 << 20, (1 << 20) + count)) as fake, jvm.knobs():
        started(fake, "-e", "cpu", "--engine-fail", "numbers")
        tids = fake.threads(2)
        for tid in tids:
            given, fd = ask(fake.perf, dict(CLOCK, tid=tid), sender=fake.pid)
            assert given == 0, (tid, given)
            os.close(fd)


def read_by_helper(pid):
    """Bytes that helpers for process PID have read so far."""
    total = 0
    for helper in jvm.perf_helpers(pid):
        try:
            with open(f"/proc/{helper}/io") as file:
                total += int(file.readline().split()[1])
        except OSError:
            pass
    return total


@pytest.mark.parametrize("numbers", [True, False], ids=["asked-for", "looked-for"])
def test_threads_of_a_pid_namespace(numbers, say):
    """Each thread gets its own event; finding a new one among many costs no look at all of them."""
    if not container.permitted("--pid"):
        pytest.skip("needs namespaces")
    count = jvm.counted(200, 2000)
    with FakeJvm(wrap=["unshare", "--pid", "--kill-child", "--fork"]) as fake, jvm.knobs():
        started(fake, "-e", "cpu", *([] if numbers else ["--engine-fail", "numbers"]))
        fake.threads(count)
        tids = fake.threads(1)
        for tid in tids[:3] + tids[-3:]:
            given, fd = ask(fake.perf, dict(CLOCK, tid=tid), sender=fake.pid)
            assert given == 0
            os.close(fd)
        before = read_by_helper(fake.pid)
        assert code(ask(fake.perf, dict(CLOCK, tid=tids[-1]), sender=fake.pid)) == 0  # the newest
        newest, before = read_by_helper(fake.pid) - before, read_by_helper(fake.pid)
        assert code(ask(fake.perf, dict(CLOCK, tid=tids[1]), sender=fake.pid)) == 0
        oldest = read_by_helper(fake.pid) - before
        say(f"the newest of {count} threads: {newest} bytes read of /proc; one of the oldest: {oldest}")
        assert newest < 20000 and (oldest < 20000 or not numbers or RELEASE < (6, 11))
