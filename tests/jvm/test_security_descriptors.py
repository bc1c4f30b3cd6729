"""Descriptors that cross between command and target, against the table in docs/inside/security.md.

The target is hostile: it keeps whatever it gets, lists its /proc/self/fd, and tries what each descriptor is good for.
"""
import array
import os
import shutil
import socket
import subprocess
import tempfile
import time

import container
import jvm
import pytest
from fake_jvm import PERF_ASK, FakeJvm, ask, frame, look
from jvm import jstrobe, wait_until
from test_security_perf import why_not
from test_talk import DONE, OUTPUT, Command

pytestmark = [pytest.mark.together, pytest.mark.skipif(bool(why_not()), reason=why_not())]

APART = ["unshare", "--pid", "--kill-child", "--fork"]
CLOCK = dict(type=1, config=0, period=1000000, kernel=1)


def table():
    """The rows' first four cells: message, from and to, type, access."""
    with open(os.path.join(jvm.ROOT, "docs", "inside", "security.md")) as file:
        section = file.read().split("## Descriptors that cross")[1].split("\n## ")[0]
    rows = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in section.splitlines()
            if line.startswith("|")]
    assert rows[0][:4] == ["message", "from → to", "type", "access"]
    return {tuple(row[:4]) for row in rows[2:]}


@pytest.fixture
def results():
    """A folder for results that no other user can enter."""
    folder = tempfile.mkdtemp(prefix="results-", dir="/tmp")
    yield folder
    shutil.rmtree(folder)


def commands(folder):
    """What is asked of the target, and the messages that bring it descriptors; those that change a result get a new one."""
    def file(name):
        return ["-f", os.path.join(folder, name)]

    return [
        (["record", "-d", "0.1", *file("a.collapsed")], {"OUTPUT"}),
        (["record", "-d", "0.1", *file("a.jfr")], {"OUTPUT"}),
        (["record", "-d", "0.1", *file("a.jfr")], {"OUTPUT"}),  # an old one is there now
        (["record", "-d", "0.1", "-o", "collapsed"], {"OUTPUT"}),
        (["record", "-d", "0.1", "-o", "collapsed", "-f", "/dev/null"], {"OUTPUT"}),
        (["start", *file("b.html")], {"OUTPUT"}), (["start", *file("b.jfr")], {"OUTPUT"}),
        (["resume", *file("c.html")], {"OUTPUT"}), (["stop", *file("d.html")], {"OUTPUT"}),
        (["dump", *file("d.html")], {"OUTPUT"}), (["dump"], {"OUTPUT"}),
        (["stream", "-d", "0.1", *file("e.ndjson")], {"STREAM"}),
        (["start"], set()), (["status"], set()), (["list"], set()), (["version"], set()), (["metrics"], set()),
    ]


def is_harmless(found, named, root):
    """Nothing leads to a folder, and a result's file can only be written to. NAMED: it is one with a name."""
    assert found["type"] != "folder" and found["access"] != "path" and found["up"] == "ENOTDIR", found
    if found["message"] != "OUTPUT":
        return
    assert found["type"] == "regular" and found["access"] == "write" and found["read"] == "EBADF", found
    assert found["link"], found
    # in a container root is our root and may change modes: of a file that has no name
    assert (found["mode"] and found["again"]) or root, found
    assert found["names"] == 0 or named, found


@pytest.mark.parametrize("wrap, user", [((), 65534), (APART, 65534), (APART, 0)], ids=["another-user", "container", "its-root"])
def test_what_the_target_gets(results, wrap, user):
    """No more than the table says, from any command, and each of its rows is there."""
    if wrap and not container.permitted("--pid"):
        pytest.skip("needs namespaces")
    seen = set()
    with FakeJvm(user=user, wrap=wrap, loaded=True) as fake:
        known = set(fake.held())
        for words, brings in commands(results):
            done = jstrobe(*words, fake.pid)
            found = {fd: what for fd, what in fake.held().items() if fd not in known}
            known |= set(found)
            assert {what["message"] for what in found.values()} == brings, (words, found, done.stderr)
            for what in found.values():
                is_harmless(what, not wrap or words[0] in ("start", "resume"), user == 0)
                seen.add((what["message"], "command → agent", what["type"], what["access"]))
        jstrobe("start", "-e", "cpu", "--fdtransfer", fake.pid)
        seen |= {(what["message"], "command → agent", what["type"], what["access"])
                 for fd, what in fake.held().items() if fd not in known}
    assert seen == {row for row in table() if row[1] == "command → agent"}


def test_a_folder_of_another_user_is_not_closed():
    """A container's root gets no file with a name in it: the folder's user would run what it makes of the file."""
    if not container.permitted("--pid"):
        pytest.skip("needs namespaces")
    folder = tempfile.mkdtemp(prefix="theirs-", dir="/tmp")
    try:
        os.chmod(folder, 0o700)
        with FakeJvm(user=0, wrap=APART, loaded=True) as fake:
            known = set(fake.held())
            for owner, mode, works in ((65534, 0o700, False), (65534, 0o2700, False), (0, 0o755, False), (0, 0o710, False),
                                       (0, 0o700, True)):
                os.chown(folder, owner, owner)
                os.chmod(folder, mode)
                done = jstrobe("start", "-f", os.path.join(folder, "x.collapsed"), fake.pid)
                assert (done.returncode == 0) == works, (owner, mode, done.stderr)
                assert bool(set(fake.held()) - known) == works == bool(os.listdir(folder)), (owner, mode, fake.held())
                assert works or "a folder of your own" in done.stderr
    finally:
        shutil.rmtree(folder)


def mode_of(path):
    return oct(os.stat(path).st_mode & 0o7777)


@pytest.mark.parametrize("words, mode", [([], "0o600"), (["--mode", "640"], "0o640")])
def test_what_a_container_had_open_is_given_up(results, words, mode):
    """Behind `stop` the result is a file that the target never had open, without the set-id bit that it set."""
    if not container.permitted("--pid"):
        pytest.skip("needs namespaces")
    path = os.path.join(results, "x.collapsed")
    try:
        os.setxattr(results, "trusted.jstrobe.test", b"1")
    except OSError as error:
        pytest.skip(f"the file system of /tmp has no attributes that only root sets: {error}")
    with FakeJvm(user=0, wrap=APART, loaded=True) as fake:
        known = set(fake.held())
        assert jstrobe("start", "-f", "x.collapsed", *words, fake.pid, cwd=results).returncode == 0
        number, = set(fake.held()) - known  # looking at it, it makes it a program of root's for all
        assert mode_of(path) == "0o4777"
        fake.write(number, "a;b_3")
        fake.say(f"owes {path}")
        before = os.stat(path).st_ino
        done = jstrobe("stop", fake.pid)
        assert done.returncode == 0, done
        fake.held()  # it tries once more
        assert os.stat(path).st_ino != before and mode_of(path) == mode and not os.listxattr(path)
        assert os.listdir(results) == ["x.collapsed"]
        with open(path) as file:
            assert file.read() == "a;b_3"


def test_a_file_that_a_jvm_was_given(jdk17, results):
    """The same with an agent that is honest, and a name that says nothing elsewhere."""
    if not container.permitted("--pid"):
        pytest.skip("needs namespaces")
    for name in ("x.collapsed", "x.jfr"):
        path = os.path.join(results, name)
        with container.Container(jdk17, "KnownShares", (), namespaces=["--pid"], user=0) as program:
            assert jstrobe("start", "-f", name, program.pid, cwd=results).returncode == 0
            os.chmod(path, 0o4777)
            program.work(0.1)
            before = os.stat(path).st_ino
            done = jstrobe("stop", program.pid, cwd="/")
            assert done.returncode == 0, done.stderr
            after = os.stat(path)
            assert after.st_ino != before and after.st_mode & 0o7777 == 0o600 and after.st_size > 0, after
            assert not os.listxattr(path) and program.stop() == 0


def test_a_target_names_any_file(results):
    """As the place of its result: what it was not given stays what it is, and a set-id bit is said."""
    if not container.permitted("--pid"):
        pytest.skip("needs namespaces")
    with FakeJvm(user=0, wrap=APART, loaded=True) as fake:
        for mode, says in ((0o755, False), (0o4755, True)):
            path = os.path.join(results, f"tool-{mode:o}")
            with open(path, "w") as file:
                file.write("#!/bin/sh\n")
            os.chmod(path, mode)
            before = os.stat(path)
            fake.say(f"owes {path}")
            done = jstrobe("stop", fake.pid)
            assert bool(done.returncode) == says == ("has mode 4755" in done.stderr), done
            after = os.stat(path)
            assert (before.st_ino, before.st_mode, before.st_ctime_ns) == (after.st_ino, after.st_mode, after.st_ctime_ns)


def test_a_device_of_a_containers_root():
    """It has CAP_MKNOD, and puts a device where our result goes: nothing is written to it."""
    if not container.permitted("--pid"):
        pytest.skip("needs namespaces")
    with FakeJvm(user=0, wrap=APART, loaded=True) as fake:
        place = os.path.join(fake.folder, "out.collapsed")
        if subprocess.run(["mknod", place, "c", "1", "7"], stderr=subprocess.DEVNULL).returncode:
            pytest.skip("devices cannot be made here")
        profile = os.path.join(fake.folder, "in.collapsed")
        with open(profile, "w") as file:
            file.write("a;b 3\n")
        inside = os.path.join("/proc", str(fake.pid), "root", "tmp", "out.collapsed")
        for path in (place, inside):
            for words in (("record", "-d", "0.1", "-f", path, fake.pid), ("convert", profile, "-f", path),
                          ("stream", "-d", "0.1", "-f", path, fake.pid), ("stop", "-f", path, fake.pid)):
                done = jstrobe(*words)
                assert done.returncode and "is no file but a device" in done.stderr, (words, done)
        done = jstrobe("convert", profile, "-f", place, "--force")
        assert done.returncode and "No space left on device" in done.stderr, done  # /dev/full: now it was written to


def test_what_the_helper_gives():
    """Events and, once, the kernel's symbols."""
    with FakeJvm() as fake:
        assert jstrobe("start", "-e", "cpu", "--fdtransfer", fake.pid).returncode == 0
        given = [ask(fake.perf, dict(CLOCK, tid=fake.pid), sender=fake.pid), ask(fake.perf, dict(kallsyms=1), sender=fake.pid)]
        seen = set()
        for code, fd in given:
            assert code == 0
            found = look(fd, "PERF_GIVE")
            kind = "perf event" if "perf_event" in found["type"] else found["type"]
            seen.add(("PERF_GIVE", "helper → agent", kind, found["access"]))
            os.close(fd)
        assert seen == {row for row in table() if row[1] == "helper → agent"}


def links(pid):
    found = []
    for fd in os.listdir(f"/proc/{pid}/fd") if os.path.exists(f"/proc/{pid}/fd") else ():
        try:
            found.append(os.readlink(f"/proc/{pid}/fd/{fd}"))
        except OSError:
            pass  # closed meanwhile
    return found


def waits(pid):
    """It sleeps, and did not run meanwhile."""
    def look():
        with open(f"/proc/{pid}/status") as file:
            fields = dict(line.split(":\t", 1) for line in file if ":\t" in line)
        return fields["State"][0], fields["voluntary_ctxt_switches"], fields["nonvoluntary_ctxt_switches"]
    before = look()
    time.sleep(0.3)
    return before[0] == "S" and look() == before


def test_what_the_command_is_sent(results):
    """Each of the target's messages brings three descriptors along: they are closed where they arrive."""
    with FakeJvm(loaded=True) as fake:
        fake.say("give 3")
        fake.held()
        running = subprocess.Popen([jvm.COMMAND, "record", "-d", "30", "-f", os.path.join(results, "x.html"), str(fake.pid)],
                                   stderr=subprocess.PIPE, text=True)
        try:
            # its answer to "start" comes behind the result's file, and is read when the command waits again
            wait_until(lambda: any("OUTPUT" == what["message"] for what in fake.held().values()), 60)
            wait_until(lambda: waits(running.pid), 60)
            assert not any("libjvm.so" in link for link in links(running.pid))
            assert running.poll() is None
            running.terminate()
            said = running.communicate(timeout=60)[1]
            assert running.returncode == 0, said
        finally:
            running.kill()
            running.wait()
        for words in (["status"], ["stop", "-f", os.path.join(results, "y.html")], ["version"]):
            done = jstrobe(*words, fake.pid)
            assert done.returncode == 0, (words, done.stderr)


def test_what_the_helper_is_sent():
    with FakeJvm() as fake:
        assert jstrobe("start", "-e", "cpu", "--fdtransfer", fake.pid).returncode == 0
        question = "".join(f"{key}={value}\n" for key, value in dict(CLOCK, tid=fake.pid).items()).encode()
        wait_until(lambda: jvm.perf_helpers(fake.pid), 60)
        helper, = jvm.perf_helpers(fake.pid)
        os.close(ask(fake.perf, dict(CLOCK, tid=fake.pid), sender=fake.pid)[1])
        credentials = (socket.SOL_SOCKET, socket.SCM_CREDENTIALS, array.array("i", [fake.pid, 0, 0]))
        with open(__file__) as gift:
            rights = (socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [gift.fileno()] * 3))
            for _ in range(20):
                try:
                    fake.perf.sendmsg([frame(PERF_ASK, question)], [credentials, rights])
                    _, descriptors, _, _ = socket.recv_fds(fake.perf, 100, 4)
                except OSError:
                    break  # it may hang up
                for fd in descriptors:
                    os.close(fd)
        wait_until(lambda: not any(os.path.basename(__file__) in link for link in links(helper)), 60)


def test_what_an_agent_sends(jdk17):
    """The real one sends none."""
    class Careful(Command):
        def _read(self, count):
            data = b""
            while len(data) < count:
                piece, found, flags, _ = socket.recv_fds(self.sock, count - len(data), 8)
                assert not found and not flags & socket.MSG_CTRUNC
                if not piece:
                    raise EOFError
                data += piece
            return data

    with jvm.Program(jdk17, "Sleepers", 1, "idle") as program, tempfile.TemporaryFile() as result:
        command = Careful(jdk17, program).welcomed()
        with open(f"/proc/self/fd/{result.fileno()}", "wb") as file:
            command.send(OUTPUT, "x", [file.fileno()])
        for words in ("start\ninterval=1000000", "status", "list", "metrics", "stop\ncollapsed"):
            command.send(6, words)
            assert command.answer()[0] == DONE, words
        command.close()
        assert program.stop() == 0


def test_what_a_program_gets(results):
    """`record -- PROGRAM`: stdin, stdout and stderr of the command, and nothing else."""
    done = jstrobe("record", "-f", os.path.join(results, "x.html"), "--", "/usr/bin/python3", "-c",
                   "import os; print(sorted(map(int, os.listdir('/proc/self/fd'))))", stdin=subprocess.DEVNULL)
    assert done.stdout == "[0, 1, 2, 3]\n", (done.stdout, done.stderr)  # 3: the folder that is listed
