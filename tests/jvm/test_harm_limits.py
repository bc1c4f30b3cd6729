"""Targets that may have little more than they have, of any kind and for any event: a refusal that says why, or a result.

Descriptors and threads are left 0 to 10 more than there are, address space 0 to 10 MB more. JSTROBE_SEED repeats a
choice; with full counts (make soak) all numbers are tried with all events.
"""
import os
import random
import resource
import subprocess

import jvm
import pytest
from jvm import Program, jstrobe
from test_limits import leave_descriptors

pytestmark = pytest.mark.together

SEED = int(os.environ.get("JSTROBE_SEED", 0)) or random.SystemRandom().randrange(1, 1 << 32)
STARTS = {
    "cpu": ("-e", "cpu"), "ctimer": ("-e", "ctimer"), "wall": ("-e", "wall"), "lock": ("-e", "lock"),
    "cpu+wall": ("-e", "cpu,wall"), "trace": ("--instrument", "truth.*"), "jfr": ("-e", "cpu", "-f"),
}
UNPRIVILEGED = 65534
FLAGS = ["-XX:+EnableDynamicAgentLoading", "-XX:+UseSerialGC"]


def answered(*args):
    """Exit status; no answer at all ends the test, and so does a refusal without a reason."""
    done = jstrobe(*args, timeout=120)
    assert done.returncode in (0, 1, 2, 3), (args, done.returncode, done.stderr)
    assert done.returncode == 0 or done.stderr.strip(), (args, done.returncode)
    return done.returncode


def leave_threads(program, count):
    """The limit is of all threads of the user, who has no others."""
    running = sum(len(os.listdir(f"/proc/{pid}/task")) for pid in os.listdir("/proc") if pid.isdigit() and
                  owner(pid) == program_user(program))
    limit_to(program, resource.RLIMIT_NPROC, running + count)


def owner(pid):
    try:
        return os.stat(f"/proc/{pid}").st_uid
    except OSError:
        return None


def program_user(program):
    return os.stat(f"/proc/{program.pid}").st_uid


def leave_memory(program, count):
    with open(f"/proc/{program.pid}/statm") as file:
        size = int(file.read().split()[0]) * resource.getpagesize()
    limit_to(program, resource.RLIMIT_AS, size + (count << 20))


def limit_to(program, what, most):
    """Its soft limit; None: as much as it may have. As its own user, for root may lack the right to do it to others."""
    names = {resource.RLIMIT_NPROC: ("nproc", "Max processes"), resource.RLIMIT_AS: ("as", "Max address space"),
             resource.RLIMIT_NOFILE: ("nofile", "Max open files")}
    option, name = names[what]
    with open(f"/proc/{program.pid}/limits") as file:
        hard = next(line[len(name):].split()[1] for line in file if line.startswith(name))
    user = program_user(program)
    wrap = [] if user == os.geteuid() else ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups"]
    subprocess.run([*wrap, "prlimit", "--pid", str(program.pid), f"--{option}={hard if most is None else most}:"],
                   check=True)


def leave_all(program):
    for what in (resource.RLIMIT_AS, resource.RLIMIT_NPROC, resource.RLIMIT_NOFILE):
        limit_to(program, what, None)


LIMITS = {"descriptors": leave_descriptors, "threads": leave_threads, "memory": leave_memory}
IN_CHECK = {("descriptors", 17), ("threads", 25), ("memory", 17)}


@pytest.mark.parametrize("limit", LIMITS)
def test_little_is_left(jdk, limit, say):
    if not jvm.SOAK and (limit, jdk.version) not in IN_CHECK:
        pytest.skip("only with full counts (make soak)")
    chosen = random.Random(f"{SEED} {limit} {jdk}")
    wrap = []
    if limit == "threads":
        if os.geteuid() != 0:
            pytest.skip("needs root, to be a user who has no other threads")
        wrap = ["setpriv", f"--reuid={UNPRIVILEGED}", f"--regid={UNPRIVILEGED}", "--clear-groups"]
        if subprocess.run([*wrap, "test", "-r", jvm.LIBRARY]).returncode:
            pytest.skip(f"the build folder cannot be read by user {UNPRIVILEGED}")
    cases = [(event, free) for event in STARTS for free in range(1, 11)]
    cases = cases if jvm.SOAK else chosen.sample(cases, 2)
    started = 0
    with Program(jdk, "KnownShares", jvm=FLAGS, wrap=wrap) as program:
        if chosen.random() < 0.5 or limit == "memory":  # else the library is loaded under the limit
            assert answered("record", "-d", "0.1", "-f", "/dev/null", program.pid) == 0
        for event, free in cases:
            where = f"{event} with {free} more {limit}, JSTROBE_SEED={SEED}"
            folder = os.path.join(jvm.WORK, "limits")
            os.makedirs(folder, exist_ok=True)
            os.chmod(folder, 0o777)
            file = [os.path.join(folder, f"{os.getpid()}.jfr")] if event == "jfr" else []
            LIMITS[limit](program, free)
            rc = answered("start", "--attach-timeout", "5s", "-i", "1ms", *STARTS[event], *file, program.pid)
            started += rc == 0
            if rc == 0:
                answered("dump", "--attach-timeout", "5s", "-f", "/dev/null", program.pid)
                answered("stop", "--attach-timeout", "5s", "-f", "/dev/null", program.pid)
            leave_all(program)
            assert program.alive(), (where, program.output[-10:])
            # now that there is enough of all: what runs is stopped, and the next one works
            if "is running" in jstrobe("status", program.pid).stdout:
                assert answered("stop", "-f", "/dev/null", program.pid) in (0, 3 * (limit == "descriptors")), where
            rc = answered("record", "--attach-timeout", "5s", "-d", "0.1", "-f", "/dev/null", program.pid)
            if limit == "descriptors" and rc == 3:
                break  # the JVM's own thread for attaching ends when it gets none; the program goes on
            assert rc == 0, where
            for path in file:
                if os.path.exists(path):
                    os.remove(path)
        assert program.stop() == 0, program.output[-10:]
    say(f"{limit} {jdk}: {started} of {len(cases)} starts went well with 1 to 10 more")
