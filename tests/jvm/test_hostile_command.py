"""Commands that show the right token, and then send what no command sends: the program lives, the session ends.

Conversations are drawn from a seed: honest parts, so that they come far, and all that may be wrong with them.
"""
import os
import random
import secrets
import socket
import struct
import threading

import door
import jvm
import pytest
from jvm import Program, counted, jstrobe, wait_until
from test_talk import COMMAND, FOLDER, OUTPUT, WELCOME

pytestmark = pytest.mark.together

STREAM, PERF, PLACE = 13, 14, 17
ROOM = 1 << 16  # the longest message that is none too long; see src/common/control/control.h

HONEST = ["start\nevent=cpu\ninterval=1000000", "start\nevent=cpu\nowner", "start\nevent=wall\nowner", "status", "list",
          "metrics", "version", "dump\ncollapsed", "stop\ncollapsed", "resume", "stop",
          "start\nevent=cpu\nloop=1s\nowner", "start\nevent=cpu\nfile=FOLDER/y.jfr\nowner", "start\ntrace=truth.*\nowner"]
WRONG = ["", "\n", "=", "start\n" * 200, "start=1", "start\nevent=\x1b[2J", "start\nevent=" + "x" * 5000,
         "start\ninterval=-1", "start\ninterval=99999999999999999999", "stop\nfile=FOLDER",
         "dump\nfile=FOLDER\nforce", "start\nfile=FOLDER/no/x.jfr", "start\nlog=FOLDER", "start\nstream=FOLDER",
         "start\nloop=1s\nfile=FOLDER/x", "start\nstream=fd:99999", "start\nconnect=FOLDER/x", "token=1",
         "\xff\xfe\x00x", "start\nbegin=malloc\nend=nothing", "start\nfilter=" + "9-" * 900]


class Peer:
    """The other end of a conversation, which has said hello and is welcomed."""

    def __init__(self, program):
        self.path = f"/tmp/.jstrobe-test-{secrets.token_hex(8)}"
        token = secrets.token_hex(16)
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(self.path)
            listener.listen(1)
            listener.settimeout(60)
            loading = threading.Thread(target=door.tell, args=(
                program.pid, f"connect={self.path},token={token},protocol=1"))
            loading.start()
            self.sock = listener.accept()[0]
            loading.join(timeout=60)
        os.remove(self.path)
        self.sock.settimeout(60)
        hello = self.sock.recv(4096)
        assert token.encode() in hello, hello

    def send(self, data, fds=()):
        """False: the agent has hung up, or takes no more."""
        self.sock.settimeout(0.2)
        try:
            socket.send_fds(self.sock, [data], list(fds))
            return True
        except OSError:
            return False


def message(kind, text=b"", said=None):
    return struct.pack("<IB", len(text) if said is None else said, kind) + text


def told(r, words, folder):
    return r.choice(words).replace("FOLDER", folder).encode("latin-1")


def drawn(r, folder):
    """A message, and descriptors that come along. What names a place means one in FOLDER."""
    way = r.randrange(12)
    if way < 4:
        return message(COMMAND, told(r, HONEST, folder)), ()
    if way < 6:
        return message(COMMAND, told(r, WRONG, folder)), ()
    if way == 6:
        return r.randbytes(r.choice((1, 4, 5, 100, 5000))), ()
    if way == 7:
        return message(r.randrange(256), r.randbytes(r.randrange(300))), ()
    if way == 8:
        return message(r.choice((COMMAND, OUTPUT)), b"x" * r.randrange(9), r.choice((2**32 - 1, 2**31, ROOM + 1, 20))), ()
    if way == 9:
        honest = bytearray(message(COMMAND, told(r, HONEST, folder)))
        honest[r.randrange(len(honest))] ^= 1 << r.randrange(8)
        return bytes(honest), ()
    if way == 10:
        return message(r.choice((OUTPUT, FOLDER, STREAM, PERF, PLACE)), r.choice((b"", b"x", f"{folder}/x".encode(), folder.encode() + b"/" * 5000))), ()
    return message(r.choice((OUTPUT, STREAM, PERF, COMMAND)), b"x"), r.choices(("pipe", "folder", "file", "socket"), k=r.randrange(5))


def opened(kinds):
    """Descriptors of these kinds, and those to close behind them."""
    fds = []
    for kind in kinds:
        if kind == "pipe":
            fds += os.pipe()[:1]
        elif kind == "folder":
            fds.append(os.open("/tmp", os.O_RDONLY))
        elif kind == "file":
            fds.append(os.memfd_create("x"))
        else:
            one, other = socket.socketpair()
            fds.append(one.detach())
            other.close()
    return fds


def converse(program, r, folder):
    peer = Peer(program)
    if r.randrange(20):
        peer.send(message(WELCOME, b"protocol=1\nversion=x\n"))
    for _ in range(r.randrange(8)):
        data, kinds = drawn(r, folder)
        fds = opened(kinds)
        told = peer.send(data, fds)
        for fd in fds:
            os.close(fd)
        if not told:
            break
        if r.randrange(3) == 0:
            peer.sock.settimeout(0.05)
            try:
                peer.sock.recv(1 << 16)
            except OSError:
                pass
    if r.randrange(4) == 0:
        peer.sock.shutdown(socket.SHUT_WR)
        peer.sock.settimeout(0.05)
        try:
            peer.sock.recv(100)
        except OSError:
            pass
    peer.sock.close()


def is_quiet(program):
    """No session, no thread and no descriptor of ours."""
    done = jstrobe("stop", "-f", "/dev/null", program.pid)
    print(done.returncode, done.stderr)  # seen if the wait for this ends in vain
    return "not active" in jstrobe("status", program.pid).stdout and \
        not any(name.startswith("jstrobe") for name in program.threads().values())


def test_garbage_behind_the_token(jdk, tmp_path, say):
    """The JVM has the rights of the tests: it is told no names but those in a folder of this test."""
    count = counted(25, 10000)
    with Program(jdk, "KnownShares") as program:
        assert jstrobe("record", "-d", "0.1", "-f", "/dev/null", program.pid).returncode == 0
        wait_until(lambda: is_quiet(program), 60)
        before = program.descriptors()
        for seed in range(count):
            assert program.alive(), f"seed {seed - 1}: {program.output[-20:]}"
            converse(program, random.Random(seed), str(tmp_path))
        wait_until(lambda: is_quiet(program), 120)
        wait_until(lambda: program.descriptors() <= before, 60)
        assert program.mark()  # it answers
        jvm.record(program, "-i", "1ms", "-d", "0.3")
        wait_until(lambda: is_quiet(program), 60)
        assert program.stop() == 0, program.output[-20:]
        say(f"hostile commands: {count} conversations with the right token, then garbage: the program lives")


def test_silence_behind_the_token(jdk):
    """Half a message and no more, answers that are not read: other commands are served meanwhile."""
    with Program(jdk, "KnownShares") as program:
        half, deaf = Peer(program), Peer(program)
        half.send(message(WELCOME, b"protocol=1\n") + b"\x05\x00")
        deaf.send(message(WELCOME, b"protocol=1\n"))
        for _ in range(300):
            if not deaf.send(message(COMMAND, b"metrics")):
                break
        assert jstrobe("start", "-i", "1ms", program.pid).returncode == 0
        assert "Profiling is running" in jstrobe("status", program.pid).stdout
        assert jstrobe("stop", "-f", "/dev/null", program.pid).returncode == 0
        half.sock.close()
        deaf.sock.close()
        wait_until(lambda: is_quiet(program), 60)
        assert program.stop() == 0
