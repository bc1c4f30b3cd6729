"""The agent's side of a conversation against commands that lie, break rules or vanish."""
import os
import secrets
import socket
import struct
import subprocess

import jvm
import pytest
from jvm import LIBRARY, Program, jstrobe, wait_until

pytestmark = pytest.mark.together

HELLO, WELCOME, REFUSE, OUTPUT, FOLDER, COMMAND, NOTE, TEXT, STATUS, DONE, FAILED, ENDED = range(1, 13)


class Command:
    """A command of our own: a listening socket that the agent is sent to by jcmd."""

    def __init__(self, jdk, program, protocol=1):
        self.path = f"/tmp/.jstrobe-test-{secrets.token_hex(8)}"
        self.token = secrets.token_hex(16)
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(self.path)
        listener.listen(1)
        listener.settimeout(20)
        options = f"connect={self.path},token={self.token},protocol={protocol}"
        self.loaded = subprocess.run(
            [os.path.join(jdk.home, "bin", "jcmd"), str(program.pid), "JVMTI.agent_load", LIBRARY,
             f'"{options}"'], capture_output=True, text=True).stdout
        self.sock = listener.accept()[0]
        self.sock.settimeout(20)
        listener.close()
        os.remove(self.path)

    def send(self, kind, text="", fds=()):
        data = struct.pack("<IB", len(text), kind) + text.encode()
        socket.send_fds(self.sock, [data], list(fds)) if fds else self.sock.sendall(data)

    def _read(self, count):
        data = b""
        while len(data) < count:
            piece = self.sock.recv(count - len(data))
            if not piece:
                raise EOFError
            data += piece
        return data

    def receive(self):
        length, kind = struct.unpack("<IB", self._read(5))
        return kind, self._read(length).decode()

    def answer(self):
        """The DONE or FAILED of a command, what came before it left out."""
        while True:
            kind, text = self.receive()
            if kind in (DONE, FAILED):
                return kind, text

    def is_closed(self):
        try:
            while True:
                self.receive()
        except (EOFError, ConnectionResetError):
            return True

    def welcomed(self):
        kind, text = self.receive()
        assert kind == HELLO and f"token={self.token}" in text and "protocol=1" in text
        self.send(WELCOME, "protocol=1\nversion=x\n")
        return self

    def close(self):
        self.sock.close()


def quiet(program):
    """No thread of ours is left in the program, and no session runs."""
    wait_until(lambda: not any(t.startswith("jstrobe") for t in program.threads().values()), 3)
    assert "not active" in jstrobe("status", program.pid).stdout
    assert program.alive()


@pytest.fixture
def program(jdk17):
    with Program(jdk17, "Sleepers", 1, "idle") as running:
        yield running


def test_the_conversation_as_documented(jdk17, program):
    command = Command(jdk17, program).welcomed()
    command.send(COMMAND, "status")
    kind, text = command.receive()
    assert kind == STATUS and "running=0" in text
    assert command.receive()[0] == DONE
    command.send(COMMAND, "list")
    assert command.receive()[0] == TEXT and command.receive()[0] == DONE
    command.send(COMMAND, "start\nowner\ninterval=1000000")
    assert command.answer()[0] == DONE
    command.close()
    quiet(program)


def test_mistakes_are_answered_and_do_not_end_it(jdk17, program):
    command = Command(jdk17, program).welcomed()
    for text, word in (("start\nintervall=1", "intervall"), ("nonsense", "nonsense"), ("", "nothing"),
                       ("stop", "no session"), ("dump", "no session"), ("start\npprof", "pprof")):
        command.send(COMMAND, text)
        kind, answer = command.answer()
        assert kind == FAILED and word in answer, (text, answer)
    command.close()
    quiet(program)


@pytest.mark.parametrize("broken", [
    b"\xff\xff\xff\xff\x06",                  # a length beyond all bounds
    b"\x00\x00\x00\x00\x00",                  # type 0
    b"\x00\x00\x00\x00\xff",                  # unknown type
    struct.pack("<IB", 5, DONE) + b"hello",   # the agent's own word
    struct.pack("<IB", 100, COMMAND) + b"st", # half a message, then the end
    b"GET / HTTP/1.0\r\n\r\n",
])
@pytest.mark.parametrize("welcome", [False, True])
def test_broken_messages_end_it(jdk17, program, broken, welcome):
    command = Command(jdk17, program)
    if welcome:
        command.welcomed()
        command.send(COMMAND, "start\nowner")
        assert command.answer()[0] == DONE
    else:
        assert command.receive()[0] == HELLO
    command.sock.sendall(broken)
    command.sock.shutdown(socket.SHUT_WR)
    assert command.is_closed()
    command.close()
    quiet(program)


def test_refused(jdk17, program):
    command = Command(jdk17, program)
    command.receive()
    command.send(REFUSE, "no")
    assert command.is_closed()
    quiet(program)


def test_another_protocol(jdk17, program):
    command = Command(jdk17, program, protocol=99)
    assert "return code: 0" not in command.loaded
    assert command.receive()[0] == HELLO
    kind, text = command.receive()
    assert kind == FAILED and "protocol 99" in text and "one version" in text
    assert command.is_closed()
    quiet(program)


def test_descriptors_that_are_no_result(jdk17, program):
    """A pipe could block the agent for ever; a file is no folder."""
    before = program.descriptors()
    for kind, text, make in ((OUTPUT, "", os.pipe), (FOLDER, "x", os.pipe),
                             (FOLDER, "../x", lambda: (os.open("/tmp", os.O_RDONLY),)),
                             (FOLDER, "", lambda: (os.open("/tmp", os.O_RDONLY),)),
                             (OUTPUT, "", lambda: ())):
        command = Command(jdk17, program).welcomed()
        fds = make()
        command.send(kind, text, fds[:1])
        assert command.is_closed()
        command.close()
        for fd in fds:
            os.close(fd)
    quiet(program)
    wait_until(lambda: program.descriptors() <= before + 1)  # the attach listener's socket is new


def test_many_descriptors(jdk17, program):
    command = Command(jdk17, program).welcomed()
    command.send(COMMAND, "status")
    command.answer()
    before = program.descriptors()
    with open("/dev/null") as null:
        for _ in range(20):
            command.send(COMMAND, "status", [null.fileno()] * 50)
            command.answer()
    assert program.descriptors() <= before + 1  # one may hang on the last message
    command.close()
    quiet(program)


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to become another user")
def test_a_socket_of_another_user(jdk17, program):
    """The listener must be root or the JVM's own user."""
    path = f"/tmp/.jstrobe-test-{secrets.token_hex(8)}"
    script = (f"import socket; s = socket.socket(socket.AF_UNIX); s.bind({path!r}); s.listen(1); "
              "print('up', flush=True); c = s.accept()[0]; print(c.recv(10), flush=True)")
    other = subprocess.Popen(["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups",
                              "/usr/bin/python3", "-c", script], stdout=subprocess.PIPE, text=True)
    try:
        assert other.stdout.readline() == "up\n"
        done = subprocess.run([os.path.join(jdk17.home, "bin", "jcmd"), str(program.pid),
                               "JVMTI.agent_load", LIBRARY, f'"connect={path},token=1,protocol=1"'],
                              capture_output=True, text=True)
        assert "return code: 0" not in done.stdout
        assert other.stdout.readline() == "b''\n", "not even a hello"
    finally:
        other.kill()
        other.wait()
        os.remove(path)
    quiet(program)


def test_several_commands_at_once(jdk17):
    """The first attach of many: one invitation, no thread dump, all are served."""
    for _ in range(jvm.counted(2, 20)):
        with Program(jdk17, "Sleepers", 1, "idle") as program:
            running = [subprocess.Popen([jvm.COMMAND, "version", str(program.pid)],
                                        stdout=subprocess.PIPE, text=True) for _ in range(6)]
            versions = {r.communicate(timeout=30)[0] for r in running}
            assert [r.returncode for r in running] == [0] * 6 and len(versions) == 1
            assert program.stop() == 0
        assert program.output == ["READY"], program.output[:5]
