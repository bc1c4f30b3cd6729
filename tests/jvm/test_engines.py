"""Containers as real engines make them: bubblewrap, runc, crun. Attaching from outside, true results, nothing left behind."""
import json
import os
import re
import subprocess

import engines
import jfr
import jvm
import litter
import pytest
from container import DEFAULT_RIGHTS
from engines import EngineContainer
from jvm import jstrobe, wait_until
from test_containers import COPY, clean, end_jvm

pytestmark = [pytest.mark.together, pytest.mark.each_jdk]

# Engine, and what its containers are. As Kubernetes makes them: a read-only root, no capability, an ordinary user, a
# small /tmp; in a namespace of users, whose numbers are others here; root in there, with what Docker leaves it and a /tmp
# that has no room for the library; bubblewrap by an ordinary user.
SMALL = {"/tmp": "mode=1777,size=64k", "/dev/shm": "mode=1777,size=4096k"}
SHAPES = [
    pytest.param("runc", dict(user=1000), id="runc"),
    pytest.param("runc", dict(user=1000, users=True), id="runc-users"),
    pytest.param("runc", dict(user=0, rights=DEFAULT_RIGHTS, tmpfs=SMALL), id="runc-root"),
    pytest.param("crun", dict(user=1000, users=True), id="crun-users"),
    pytest.param("bwrap", dict(user=1000), id="bwrap"),
    pytest.param("bwrap", dict(user=65534, users=True), id="bwrap-user"),
]


def needs(engine, users=False):
    why = engines.why_not(engine, users)
    if why:
        pytest.skip(why)


def files(program):
    """{path inside: (type and mode, size)} of all that is on file systems that can be written to."""
    found = {}
    for place in ("/tmp", "/dev/shm", "/run", "/var/tmp"):
        for folder, folders, names in os.walk(program.inside(place)):
            for name in folders + names:
                path = os.path.join(folder, name)
                st = os.lstat(path)
                found[path[len(program.inside("")):]] = (st.st_mode, st.st_size)
    return found


def fds(program):
    """What it has open, as the kernel names it, without numbers of sockets and the like."""
    names = []
    for fd in os.listdir(f"/proc/{program.pid}/fd"):
        try:
            names.append(re.sub(r"\d+", "N", os.readlink(f"/proc/{program.pid}/fd/{fd}")))
        except OSError:
            pass
    return sorted(names)


def own_threads(program):
    return [name for name in program.threads().values() if name.startswith("jstrobe")]


def status(program):
    with open(f"/proc/{program.pid}/status") as file:
        return dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)


def is_a_container(program, users, rights):
    """It is what this test is about: namespaces, filter, capabilities."""
    for kind in ["pid", "mnt", "net", "ipc", "uts"] + (["user"] if users else []):
        assert os.readlink(f"/proc/{program.pid}/ns/{kind}") != os.readlink(f"/proc/self/ns/{kind}"), kind
    said = status(program)
    assert said["Seccomp"] == "2" and said["NoNewPrivs"] == "1", said
    assert len(said["NSpid"].split()) > 1 and bin(int(said["CapEff"], 16)).count("1") == len(rights), said
    with pytest.raises(OSError, match="Read-only"):
        open(program.inside("/etc/jstrobe-test"), "w").close()


FIGHTERS = {"fighter-0", "fighter-1"}


def profiled(program, *options, fighters=1):
    """A result in JSON, in which that many of the program's threads have their names; what every result must be is
    checked."""
    path = jvm.result_file()
    done = jstrobe("record", "-t", "-o", "json", "-f", path, "-d", "1", *options, program.pid)
    assert done.returncode == 0, done.stderr
    assert os.stat(path).st_mode & 0o777 == 0o600 and os.stat(path).st_uid == 0
    profile = jvm.Profile(path)
    profile.done = done
    os.remove(path)
    profile.check()
    names = {t["name"] for t in profile.threads.values()}
    named = {name for name in names if name.startswith("fighter")}
    assert profile.samples["stored"] > 0 and fighters <= len(named) and named <= FIGHTERS, (profile.samples, names)
    assert profile.total("truth.Contended.monitor", profile.of_thread("fighter-")) > 0
    return profile


def recorded(program):
    """A recording with CPU, wall and lock in it."""
    path = jvm.result_file(".jfr")
    done = jstrobe("record", "-e", "cpu,wall,lock", "-i", "1ms", "-d", "1", "-f", path, program.pid)
    assert done.returncode == 0, done.stderr
    recording = jfr.Recording(path)
    os.remove(path)
    threads = {e["sampledThread"]["javaName"] for e in recording.events["jdk.ExecutionSample"]}
    waits = {e["eventThread"]["javaName"] for e in recording.events["jdk.JavaMonitorEnter"]}
    assert FIGHTERS & threads and FIGHTERS & waits, (threads, waits)
    counters = recording.counters()
    assert counters["taken"] == counters["stored"] + sum(
        e["samples"] for e in recording.events.get("jstrobe.SamplesLost", ()) if e.get("event", "cpu") == "cpu"), counters


def in_steps(program):
    """start, status, stop."""
    done = jstrobe("start", "-e", "cpu", "-i", "1ms", "-t", program.pid)
    assert done.returncode == 0, done.stderr
    program.work(0.2)
    assert "cpu" in jstrobe("status", program.pid).stdout
    done = jstrobe("stop", "-o", "collapsed", program.pid)
    assert done.returncode == 0 and "truth/Contended.monitor" in done.stdout and "fighter-" in done.stdout, done
    assert "not active" in jstrobe("status", program.pid).stdout


def listed(program):
    """`ps` on the host shows it by its number there."""
    def line():
        return next((text for text in jstrobe("ps").stdout.splitlines() if text.split()[:1] == [str(program.pid)]), "")
    wait_until(lambda: "truth.Contended" in line())  # on a busy machine any process may be late, and is left out


def everything(program):
    listed(program)
    assert profiled(program, "-e", "cpu", "-i", "1ms").json["engine"] == "ctimer"  # perf_event_open is denied
    wall = profiled(program, "-e", "wall", "-i", "10ms", fighters=2)
    assert any(t["name"] == "main" for t in wall.threads.values())
    lock = profiled(program, "-e", "lock")
    blocked = [s for s in lock.of_thread("fighter-") if s["state"] == "blocked"]
    assert blocked and all("truth.Contended.monitor" in s["frames"] for s in blocked), lock.stacks
    recorded(program)
    in_steps(program)
    helped = profiled(program, "-e", "cpu", "-i", "1ms", "--fdtransfer")
    assert helped.json["engine"] == "perf" or "does not answer" in helped.done.stderr, helped.json["engine"]


@pytest.mark.parametrize("engine, how", SHAPES)
def test_from_outside(jdk, engine, how):
    needs(engine, how.get("users", False))
    before_us = litter.litter()
    with EngineContainer(jdk, engine, "Contended", "monitor", 2, 1, **how) as program:
        is_a_container(program, how.get("users") or engine == "bwrap", how.get("rights", ()))
        # the first time: the JVM makes its attach socket, and the library is there from then on
        assert jstrobe("record", "-d", "0.1", "-o", "collapsed", program.pid).returncode == 0
        wait_until(lambda: not own_threads(program))
        before, open_before = files(program), fds(program)
        copies = [path for path in before if path.endswith(".so")]
        assert len(copies) == 1 and copies[0].startswith("/dev/shm/jstrobe-" if how.get("tmpfs") else "/tmp/jstrobe-")
        everything(program)
        wait_until(lambda: not own_threads(program) and not jvm.perf_helpers(program.pid))
        wait_until(lambda: fds(program) == open_before)
        assert files(program) == before
        assert status(program)["TracerPid"] == "0"
        keeper = end_jvm(program) if engine != "bwrap" else None
        try:
            if keeper:  # and what was copied goes when it is told to
                done = clean(keeper.pid)
                assert done.stdout == "1 copy of the agent removed\n", (done.stdout, done.stderr)
            else:
                assert program.stop() == 0
        finally:
            if keeper:
                keeper.kill()
                keeper.wait()
        assert program.process.returncode == 0
    assert not litter.left_since(before_us)


@pytest.mark.parametrize("engine, users", [("runc", False), ("runc", True), ("crun", True), ("bwrap", False)])
def test_calls_are_denied(engine, users):
    """The filter of these tests does what Docker's does: such calls fail before the kernel looks at what they ask."""
    needs(engine, users)
    wanted = ["perf_event_open", "bpf", "ptrace", "process_vm_readv", "process_vm_writev", "kcmp", "pidfd_getfd",
              "name_to_handle_at", "userfaultfd", "keyctl", "unshare", "setns", "clone3"]
    script = "import ctypes, json, sys\nlibc = ctypes.CDLL(None, use_errno=True)\nfound = {}\n" \
             "for name, number in json.loads(sys.argv[1]).items():\n" \
             "    assert libc.syscall(number, -1, -1, -1, -1, -1, -1) == -1\n    found[name] = ctypes.get_errno()\n" \
             "assert libc.syscall(int(sys.argv[2]), 0x10000000, 0, 0, 0, 0) == -1\n" \
             "found['clone'] = ctypes.get_errno()\nprint(json.dumps(found))"
    asked = {name: engines.numbers()[name] for name in wanted}
    done = engines.run(engine, ["/usr/bin/python3", "-c", script, json.dumps(asked), str(engines.numbers()["clone"])],
                       users=users, user=65534 if engine == "bwrap" else 1000)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {**dict.fromkeys([*wanted, "clone"], engines.EPERM), "clone3": engines.ENOSYS}


NOEXEC = {"/tmp": "mode=1777,noexec,size=4096k", "/dev/shm": "mode=1777,noexec,size=4096k"}


@pytest.mark.parametrize("engine", ["runc", "crun", "bwrap"])
@pytest.mark.parametrize("tmpfs, words", [({}, ["has no /tmp", "has a read-only /tmp"]), (NOEXEC, ["noexec"])],
                         ids=["no-tmp", "noexec"])
def test_no_place(jdk17, engine, tmpfs, words):
    """No /tmp, or nothing that may be executed (Docker's `--read-only --tmpfs /tmp`): an error, and nothing is changed."""
    if engine == "bwrap" and tmpfs:
        pytest.skip("bubblewrap has no tmpfs that is noexec")
    needs(engine, engine != "bwrap")
    with EngineContainer(jdk17, engine, "Contended", "monitor", 2, 1, users=engine != "bwrap", tmpfs=tmpfs) as program:
        before, open_before = files(program), fds(program)
        assert "not active" in jstrobe("status", program.pid).stdout
        for words_of in (("start",), ("record", "-d", "0.1", "-o", "collapsed")):
            done = jstrobe(*words_of, program.pid)
            assert done.returncode == 3 and any(word in done.stderr for word in words), done.stderr
            assert "-agentpath" in done.stderr or "--libpath" in done.stderr, done.stderr
        assert files(program) == before and fds(program) == open_before
        assert program.stop() == 0
