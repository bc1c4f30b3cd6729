"""Attaching across namespaces and chroots, and what a hostile file system can do about it."""
import glob
import itertools
import json
import os
import re
import shlex
import subprocess
import tempfile
import time

import container
import jvm
import pytest
from container import Container
from jvm import SOAK, counted, jstrobe

pytestmark = [pytest.mark.together,
              pytest.mark.skipif(os.geteuid() != 0 or not container.permitted("--pid", "--user"),
                                 reason="needs root and namespaces")]

FULL = pytest.mark.skipif(not SOAK, reason="runs only with full counts (make soak)")
COPY = re.compile(r"/(tmp|var/tmp)/jstrobe-\d+/[0-9.]+/[0-9a-f]{16}/libjstrobe\.so$")


def copies(program):
    """Paths inside of what jstrobe put there."""
    found = []
    for place in ("/tmp", "/var/tmp", "/dev/shm", "/run"):
        for folder, _, files in itertools.chain(*map(os.walk, glob.glob(program.inside(place) + "/jstrobe*"))):
            found += [os.path.join(folder, f)[len(program.inside("")):] for f in files]
    return found


def dot_files(program):
    return [f for f in os.listdir(program.inside("/tmp")) if f.startswith((".jstrobe", ".attach_pid"))]


def end_jvm(program):
    """The JVM ends, and a helper of the test keeps its file system: that process's pid."""
    keeper = subprocess.Popen(["nsenter", "-t", str(program.pid), "-m", "-r", "sleep", "60"])
    time.sleep(0.2)
    program.stop()
    return keeper


def clean(pid):
    """What `clean` says; a process that is busy just then, another test's, may not let itself be looked at: once more."""
    end = time.monotonic() + 60
    while True:
        done = jstrobe("clean", pid)
        if "perhaps" not in done.stdout or time.monotonic() > end:
            return done
        time.sleep(0.5)


@pytest.mark.parametrize("how", [
    pytest.param(dict(namespaces=["--pid", "--net", "--ipc", "--uts"], tmp="noexec"), id="noexec"),
    pytest.param(dict(namespaces=["--user", "--map-root-user", "--pid"]), id="user-namespace"),
    pytest.param(dict(chroot=True, user=65534), id="chroot-other-user"),
    pytest.param(dict(namespaces=["--pid"], tmp="full"), id="full", marks=FULL),
    pytest.param(dict(namespaces=["--pid"], user=65534), id="other-user", marks=FULL),
    pytest.param(dict(namespaces=["--pid", "--net"]), id="root", marks=FULL),
    pytest.param(dict(chroot=True), id="chroot", marks=FULL),
])
def test_profile_and_clean(jdk17, how):
    """A result lands outside; one copy inside, used again; nothing is left after `clean`."""
    with Container(jdk17, "KnownShares", (), **how) as program:
        path = jvm.result_file()
        for _ in range(2):
            done = jstrobe("record", "-i", "1ms", "-d", "0.5", "-f", path, program.pid)
            assert done.returncode == 0, done.stderr
        assert jvm.Profile(path).samples["stored"] > 0
        os.remove(path)
        assert len(copies(program)) == 1 and COPY.match(copies(program)[0]), copies(program)
        assert not dot_files(program)
        assert "0 copies of the agent removed, 1 still loaded" in jstrobe("clean", program.pid).stdout
        assert len(copies(program)) == 1
        keeper = end_jvm(program)
        try:
            done = clean(keeper.pid)
            assert "1 copy of the agent removed\n" == done.stdout, (done.stdout, done.stderr)
            for place in ("tmp", "var/tmp"):
                assert not glob.glob(os.path.join("/proc", str(keeper.pid), "root", place, "jstrobe*"))
        finally:
            keeper.kill()
            keeper.wait()


def test_another_container_has_its_own_copy(jdk17):
    """It has the same path and is loaded there: that is no reason to leave this one, nor is this one taken for that."""
    with Container(jdk17, "KnownShares", (), namespaces=["--pid"]) as other, \
            Container(jdk17, "KnownShares", (), namespaces=["--pid"]) as program:
        for one in (other, program):
            assert jstrobe("record", "-d", "0.2", "-f", "/dev/null", one.pid).returncode == 0
        assert [os.path.basename(p) for p in copies(other)] == [os.path.basename(p) for p in copies(program)]
        keeper = end_jvm(program)
        try:
            done = clean(keeper.pid)
            assert "1 copy of the agent removed\n" == done.stdout, (done.stdout, done.stderr)
        finally:
            keeper.kill()
            keeper.wait()
        assert len(copies(other)) == 1 and "0 copies of the agent removed, 1 still loaded" in clean(other.pid).stdout


@pytest.mark.parametrize("tmp, words", [("read-only", "has a read-only /tmp"), ("none", "has no /tmp")])
def test_no_tmp(jdk17, tmp, words):
    with Container(jdk17, tmp=tmp) as program:
        done = jstrobe("status", program.pid)
        assert "not active" in done.stdout  # the JVM was never attached to
        done = jstrobe("start", program.pid)
        assert done.returncode == 3 and words in done.stderr and "-agentpath" in done.stderr
        assert not copies(program)


def plant(program, what, path):
    """Something hostile at PATH (inside); what is there must be as it was afterwards."""
    place = program.inside(path)
    if what == "link":
        os.symlink("/etc", place)
    elif what == "file":
        with open(place, "w") as file:
            file.write("not yours")
    elif what == "foreign":
        os.mkdir(place)
        os.chown(place, 12345, 12345)
    elif what == "writable":
        os.mkdir(place)
        os.chmod(place, 0o777)
    elif what == "fifo":
        os.mkfifo(place)
    return os.lstat(place)


@pytest.fixture
def inside(jdk17):
    with Container(jdk17, namespaces=["--pid"]) as program:
        yield program
        assert program.alive()


def test_hostile_files(inside):
    """At each step of the way: an error that names the file, nothing followed, changed or loaded."""
    assert jstrobe("start", inside.pid).returncode == 0
    path = copies(inside)[0]
    assert jstrobe("stop", inside.pid).returncode == 0
    top, version, build = "/tmp/jstrobe-0", path.rsplit("/", 2)[0], path.rsplit("/", 1)[0]
    kept = inside.inside("/tmp/kept")
    etc = sorted(os.listdir(inside.inside("/etc")))
    for where, kinds in ((top, ("link", "file", "foreign", "writable")), (version, ("link", "foreign")),
                         (build, ("link", "writable")), (path, ("link", "file", "fifo"))):
        os.rename(inside.inside(where), kept)
        for what in kinds:
            before = plant(inside, what, where)
            done = jstrobe("start", inside.pid)
            assert done.returncode == 3, (where, what, done.stderr)
            assert inside.inside(where) in done.stderr and "remove it" in done.stderr, (where, what, done.stderr)
            after = os.lstat(inside.inside(where))
            assert (before.st_ino, before.st_mode, before.st_size, before.st_mtime_ns) == \
                   (after.st_ino, after.st_mode, after.st_size, after.st_mtime_ns)
            if what in ("foreign", "writable"):
                assert not os.listdir(inside.inside(where))
                os.rmdir(inside.inside(where))
            else:
                os.remove(inside.inside(where))
        os.rename(kept, inside.inside(where))
    assert sorted(os.listdir(inside.inside("/etc"))) == etc and not dot_files(inside)
    os.truncate(inside.inside(path), 1000)  # ours once, and cut short
    done = jstrobe("start", inside.pid)
    assert done.returncode == 3 and "changed or cut short" in done.stderr


def test_tmp_that_leads_out(jdk17):
    """A link in a container never leads into the file system outside: root writes nothing there."""
    outside = tempfile.mkdtemp(dir="/var/tmp")
    try:
        with Container(jdk17, extra=[f"umount tmp; rmdir tmp; ln -s {outside} tmp"]) as program:
            done = jstrobe("start", program.pid)
            assert done.returncode == 3 and "has no /tmp" in done.stderr, done.stderr
            assert not os.listdir(outside)
        with Container(jdk17, extra=["umount tmp; rmdir tmp; ln -s /var/tmp tmp"]) as program:
            assert jstrobe("start", program.pid).returncode == 0
            assert os.listdir(program.inside("/var/tmp/jstrobe-0"))
            assert not glob.glob("/var/tmp/jstrobe*")
    finally:
        os.rmdir(outside)


SAMPLE = ["record", "-i", "1ms", "-d", "0.5", "-o", "collapsed", "1"]


def from_exec(program, rights, user):
    """`kubectl cp` and `kubectl exec`: the command in all of the container's namespaces, with its rights and user."""
    os.makedirs(program.inside("/tmp/cp/bin"))
    os.makedirs(program.inside("/tmp/cp/lib"))
    subprocess.run(["cp", jvm.COMMAND, program.inside("/tmp/cp/bin/")], check=True)
    subprocess.run(["cp", jvm.LIBRARY, program.inside("/tmp/cp/lib/")], check=True)
    return subprocess.run(["nsenter", "-t", str(program.pid), "-m", "-p", "-r", "-w/", *container.with_rights(rights),
                           "setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", "/tmp/cp/bin/jstrobe", *SAMPLE],
                          capture_output=True, text=True, timeout=60)


def from_debug(program, rights):
    """`kubectl debug --target`: the container's processes are seen, from another file system, by root with these rights."""
    enter = shlex.join([*container.with_rights(rights), jvm.COMMAND, *SAMPLE])
    return subprocess.run(["nsenter", "-t", str(program.pid), "-p", "unshare", "--mount", "sh", "-c",
                           "mount -t proc none /proc; exec " + enter], capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize("user", [0, 65534])
def test_from_kubectl_exec(jdk17, user):
    with Container(jdk17, "KnownShares", (), namespaces=["--pid"], user=user, rights=container.DEFAULT_RIGHTS) as program:
        done = from_exec(program, container.DEFAULT_RIGHTS, user)
        assert done.returncode == 0 and "truth/KnownShares." in done.stdout, done.stderr
        assert program.stop() == 0


@pytest.mark.parametrize("user, rights, works", [(0, [], True), (65534, ["sys_ptrace"], True), (65534, [], False)])
def test_from_kubectl_debug(jdk17, user, rights, works):
    """Root's rights are enough for root's JVM; another user's needs CAP_SYS_PTRACE, and the error says so."""
    with Container(jdk17, "KnownShares", (), namespaces=["--pid"], user=user, rights=container.DEFAULT_RIGHTS) as program:
        done = from_debug(program, [*container.DEFAULT_RIGHTS, *rights])
        if works:
            assert done.returncode == 0 and "truth/KnownShares." in done.stdout, done.stderr
        else:
            assert done.returncode == 3 and "(uid 65534)" in done.stderr and "CAP_SYS_PTRACE" in done.stderr, done.stderr
            assert not copies(program) and not dot_files(program)
        assert program.stop() == 0


@FULL
def test_two_versions_in_turn(jdk17, say):
    """Another version's copy beside ours, in the same JVM."""
    old = os.path.join(jvm.OWN, "old-version.so")
    rounds = counted(0, 500)
    with open(jvm.LIBRARY, "rb") as file, open(old, "wb") as copy:
        copy.write(file.read() + b"\0another build")
    os.chmod(old, 0o755)
    with Container(jdk17, namespaces=["--pid"]) as program:
        subprocess.run(["cp", old, program.inside("/var/tmp/libjstrobe.so")], check=True)
        memory = None
        for number in range(rounds):
            for words in ((), ("--libpath", "/var/tmp/libjstrobe.so")):
                done = jstrobe("record", "-d", "0.05", "-f", "/dev/null", *words, program.pid)
                assert done.returncode == 0, (number, done.stderr)
            if number == rounds // 10:
                memory, descriptors = program.memory(), program.descriptors()
        jvm.wait_until(lambda: program.descriptors() <= descriptors)
        assert program.memory() < memory + (8 << 20)
        say(f"two builds in turn in a container: {2 * rounds} rounds, memory {memory >> 20} -> "
            f"{program.memory() >> 20} MB")
        assert program.stop() == 0


# ---- doctor and record say the same -----------------------------------------------------------

READ_ONLY = {place: f"mkdir -p {place}; mount -t tmpfs -o mode=1777,ro none {place}" for place in ("var/tmp", "dev/shm", "run")}
NOEXEC = {place: f"mkdir -p {place}; mount -t tmpfs -o mode=1777,noexec none {place}" for place in READ_ONLY}
FILLED = {place: f"mkdir -p {place}; mount -t tmpfs -o mode=1777,size=4k none {place}; head -c 4096 /dev/zero > {place}/filler"
        for place in READ_ONLY}


@pytest.mark.parametrize("user", [0, 1000], ids=["root", "user"])
@pytest.mark.parametrize("tmp, extra, way", [
    ("plain", [], True), ("noexec", [], True), ("full", [], None), ("read-only", [], False), ("none", [], False),
    ("noexec", list(READ_ONLY.values()), False), ("noexec", list(NOEXEC.values()), False),
    ("noexec", [READ_ONLY["var/tmp"], NOEXEC["dev/shm"]], None), ("noexec", list(FILLED.values()), False),
    ("plain", ["chmod 755 tmp"], None)],
    ids=["plain", "noexec", "full", "read-only", "none", "no-place", "all-noexec", "one-left", "all-full", "not-mine"])
def test_doctor_says_what_record_does(jdk17, tmp, extra, way, user):
    """WAY: whether it can be attached to; None: whatever the two say, it is the same."""
    with Container(jdk17, namespaces=["--pid"], tmp=tmp, extra=extra, user=user) as program:
        listed = {place: sorted(os.listdir(program.inside(place))) for place in ("/tmp", "/var/tmp", "/run")
                  if os.path.isdir(program.inside(place))}
        checks = json.loads(jstrobe("doctor", "--json", program.pid).stdout)
        assert listed == {place: sorted(os.listdir(program.inside(place))) for place in listed}, "looking makes nothing"
        problems = [c["text"] for c in checks["checks"] if c["verdict"] == "problem"]
        done = jstrobe("record", "-d", "0.2", "-f", "/dev/null", program.pid)
        assert (done.returncode == 0) == (checks["verdict"] != "problem"), (problems, done.stderr)
        assert way is None or (done.returncode == 0) == way, done.stderr
        if problems:
            # what is full is seen at another step when it is really tried
            assert any(text.split(":")[0] in done.stderr for text in problems), (problems, done.stderr)
        assert program.alive()
