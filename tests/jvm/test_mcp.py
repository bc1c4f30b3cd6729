"""jstrobe mcp: by a client of the protocol's own makers, and by messages that no client should send."""
import contextlib
import glob
import json
import os
import signal
import subprocess
import sys
import time

import pytest

import jvm
from jvm import Program, jstrobe

pytestmark = pytest.mark.together

MOST = 4096
HELLO = {"jsonrpc": "2.0", "id": 0, "method": "initialize",
         "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "0"}}}


def folders():
    return set(glob.glob(os.path.join(jvm.WORK, "mcp-tmp", "jstrobe-mcp-*")))


class Server:
    """A server, and raw messages to it. Every line that it prints is a message."""

    def __init__(self):
        os.makedirs(os.path.join(jvm.WORK, "mcp-tmp"), exist_ok=True)
        self.process = subprocess.Popen([jvm.COMMAND, "mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        env=dict(os.environ, TMPDIR=os.path.join(jvm.WORK, "mcp-tmp")))
        self.ids = 0

    def send(self, message):
        data = message if isinstance(message, bytes) else json.dumps(message).encode()
        self.process.stdin.write(data + b"\n")
        self.process.stdin.flush()

    def read(self):
        line = self.process.stdout.readline()
        assert line.endswith(b"\n"), f"the server ended: {self.process.stderr.read()}"
        message = json.loads(line)
        assert message["jsonrpc"] == "2.0"
        return message

    def ask(self, message):
        self.send(message)
        return self.read()

    def call(self, tool, wait=True, **arguments):
        self.ids += 1
        self.send({"jsonrpc": "2.0", "id": self.ids, "method": "tools/call", "params": {"name": tool, "arguments": arguments}})
        if not wait:
            return self.ids
        answer = self.read()
        assert answer["id"] == self.ids
        if "error" in answer:
            return answer["error"]["code"], answer["error"]["message"]
        text = answer["result"]["content"][0]["text"]
        assert len(text.encode()) <= MOST
        return answer["result"]["isError"], text

    def end(self, signal_number=None):
        """Its exit status; nothing is left of it."""
        if signal_number:
            self.process.send_signal(signal_number)
        else:
            self.process.stdin.close()
        status = self.process.wait(timeout=30)
        rest = self.process.stdout.read()
        assert all(json.loads(line) for line in rest.splitlines())
        return status

    def __enter__(self):
        return self

    def __exit__(self, *error):
        if self.process.poll() is None:
            self.process.kill()
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            with contextlib.suppress(OSError):
                pipe.close()
        self.process.wait()


@pytest.fixture(scope="module")
def sdk():
    folder = jvm.run_script("fetch-python.sh", "mcp==2.3.0")
    if not folder:
        pytest.skip("the Python SDK of the protocol (PyPI: mcp) is not there, and cannot be fetched")
    return folder


def test_client_of_the_sdk(jdk, sdk, record_property):
    collapsed = jvm.result_file(".collapsed")
    with open(collapsed, "w") as file:
        file.write("truth/KnownShares.first;truth/Program.work 70\ntruth/Other.one 30\n")
    with Program(jdk, "KnownShares") as program:
        done = subprocess.run([sys.executable, os.path.join(os.path.dirname(__file__), "mcp_client.py"), jvm.COMMAND,
                               str(program.pid), collapsed], capture_output=True, text=True, timeout=200,
                              env=dict(os.environ, PYTHONPATH=sdk))
        assert done.returncode == 0, done.stderr[-3000:]
        assert "not active" in jstrobe("status", program.pid).stdout
        pid = program.pid
    os.remove(collapsed)
    seen = json.loads(done.stdout)
    answers = seen["answers"]
    record_property("bytes", {label: len(text.encode()) for label, (_, text) in answers.items()})
    assert all(0 < len(text.encode()) <= MOST for _, text in answers.values())
    assert seen["server"] == "jstrobe" and seen["version"] == "2025-11-25"
    assert seen["progress"] and seen["progress"][0] == [5, 7]
    wrong = {label for label, (is_error, _) in answers.items() if is_error}
    assert wrong == {"no times", "no handle", "no method", "no process", "an option"}, answers
    text = {label: answer for label, (_, answer) in answers.items()}
    assert str(pid) in text["jvms"] and "truth.KnownShares" in text["jvms"]
    for label in ("first", "findings"):
        assert text[label].startswith("Profile r1\n") or "\nProfile r1\n" in text[label]
        assert "truth.Program.work" in text[label] and "Ask next" in text[label]
    assert '"handle": "r2"' in text["second"] and "Waits (wall)" in text["second"]
    assert "heap" in text["memory"]
    assert "Hot paths of cpu" in text["paths"] and "truth.KnownShares" in text["paths"]
    assert "KnownShares.alpha" in text["focus"] and "KnownShares.zeta" not in text["focus"]
    assert text["callers"].startswith("Who calls truth.Program.work") and "truth.KnownShares.alpha" in text["callers"]
    assert "truth.KnownShares.beta" in text["callees"] and "java.lang.Thread.run" not in text["callees"]
    assert "4 slices" in text["timeline"] and text["timeline"].count("truth.Program.work") >= 3
    assert text["diff"].startswith("From r1 to f3:\n") and "units, 100 units" in text["diff"]
    assert "no recording" in text["no times"] and "record and open give handles" in text["no handle"]
    assert "no.such.Method" in text["no method"] and "4999999" in text["no process"]
    assert "is an option" in text["an option"]


MALFORMED = {
    "cut": (b'{"jsonrpc": "2.0", "id": 1, "method": "pi', -32700),
    "no json": (b"hello", -32700),
    "two values": (b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "x": 1"y"}', -32700),
    "a value behind a value": (b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "x": true:false}', -32700),
    "a word": (b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"a": nul}}', -32700),
    "a number": (b'{"jsonrpc": "2.0", "id": 01, "method": "ping"}', -32700),
    "NUL": (b'{"jsonrpc": "2.0", "id": 1, "method": "ping\0"}', -32700),
    "more behind": (b'{"jsonrpc": "2.0", "id": 1, "method": "ping"} {}', -32700),
    "deep": (b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": ' + b'{"a":' * 500 + b"1" + b"}" * 501, -32700),
    "batch": (b'[{"jsonrpc": "2.0", "id": 1, "method": "ping"}]', -32600),
    "a string": (b'"ping"', -32600),
    "no version": (b'{"id": 1, "method": "ping"}', -32600),
    "old version": (b'{"jsonrpc": "1.0", "id": 1, "method": "ping"}', -32600),
    "no method": (b'{"jsonrpc": "2.0", "id": 1}', -32600),
    "method a number": (b'{"jsonrpc": "2.0", "id": 1, "method": 7}', -32600),
    "id an object": (b'{"jsonrpc": "2.0", "id": {}, "method": "ping"}', -32600),
    "id null": (b'{"jsonrpc": "2.0", "id": null, "method": "ping"}', -32600),
    "params an array": (b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": []}', -32602),
    "no such method": (b'{"jsonrpc": "2.0", "id": 1, "method": "tools/made-up"}', -32601),
    "resources": (b'{"jsonrpc": "2.0", "id": 1, "method": "resources/list"}', -32601),
    "huge": (b'{"jsonrpc": "2.0", "id": 1, "method": "' + b"x" * 1_200_000 + b'"}', -32600),
    "huge and no end": (b"[" * 3_000_000, -32600),
    "no tool": (b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "made_up"}}', -32602),
    "no name": (b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call"}', -32602),
    "initialize without version": (b'{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}}', -32602),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_malformed(name):
    data, code = MALFORMED[name]
    with Server() as server:
        answer = server.ask(data)
        assert answer["error"]["code"] == code and answer["error"]["message"], answer
        # it goes on
        assert server.ask({"jsonrpc": "2.0", "id": "next", "method": "ping"}) == {"jsonrpc": "2.0", "id": "next", "result": {}}
        assert server.end() == 0


WRONG = {
    "record without target": ("record", {}),
    "seconds too many": ("record", {"target": 4999999, "seconds": 301}),
    "seconds none": ("record", {"target": 4999999, "seconds": 0}),
    "seconds below 0": ("record", {"target": 4999999, "seconds": -1}),
    "seconds a word": ("record", {"target": 4999999, "seconds": "5"}),
    "seconds a fraction": ("record", {"target": 4999999, "seconds": 1.5}),
    "seconds nearly none": ("record", {"target": 4999999, "seconds": 0.0}),
    "seconds out of range": ("record", {"target": 4999999, "seconds": 10 ** 30}),
    "target a list": ("record", {"target": [1]}),
    "target two lines": ("record", {"target": "a\nb"}),
    "target with NUL": ("record", {"target": "a\0b"}),
    "handle a number": ("findings", {"handle": 1}),
    "unknown argument": ("list_jvms", {"pid": 1}),
    "half a diff": ("diff", {"before": "r1"}),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_arguments(name):
    tool, arguments = WRONG[name]
    with Server() as server:
        code, message = server.call(tool, **arguments)
        assert code == -32602 and message
        assert server.end() == 0


def test_failures_say_what_to_do():
    with Server() as server:
        damaged = jvm.result_file(".jfr")
        with open(damaged, "wb") as file:
            file.write(b"FLR\0" + bytes(range(256)) * 40)
        for tool, arguments, said in (("findings", {"handle": "r1"}, "none was given yet"), ("open", {"path": "/none.jfr"}, "No such file"),
                                      ("open", {"path": damaged}, damaged), ("open", {"path": "/x" * 3000}, "too long"),
                                      ("record", {"target": "-e"}, "list_jvms"), ("record", {"target": ""}, "list_jvms"),
                                      ("record", {"target": 4999999, "event": "made-up"}, "made-up"),
                                      ("memory", {"target": 4999999}, "4999999")):
            is_error, text = server.call(tool, **arguments)
            assert is_error is True and said in text, (tool, text)
        os.remove(damaged)
        assert server.end() == 0


def test_versions_and_silence():
    """What is no request is not answered; versions are agreed on."""
    with Server() as server:
        for asked, agreed in (("2024-11-05", "2024-11-05"), ("2025-11-25", "2025-11-25"), ("1999-01-01", "2025-11-25"),
                              ("2025-03-26", "2025-11-25")):
            hello = dict(HELLO, params=dict(HELLO["params"], protocolVersion=asked))
            assert server.ask(hello)["result"]["protocolVersion"] == agreed
        for quiet in ({"jsonrpc": "2.0", "method": "notifications/initialized"}, {"jsonrpc": "2.0", "method": "made/up"},
                      {"jsonrpc": "2.0", "id": 5, "result": {}}, {"jsonrpc": "2.0", "method": "notifications/cancelled"},
                      {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 99}}, b"", b"  \t"):
            server.send(quiet)
        for one in (-7, 1.5, "ä\"\\", 2 ** 70):
            assert server.ask({"jsonrpc": "2.0", "id": one, "method": "ping"})["id"] == one
        assert server.end() == 0


def test_pieces_and_many_at_once():
    """Messages come in pieces, and several in one."""
    ping = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping"}).encode() + b"\n"
    with Server() as server:
        for byte in ping:
            server.process.stdin.write(bytes([byte]))
            server.process.stdin.flush()
        assert server.read()["id"] == 1
        server.process.stdin.write(ping * 50 + ping[:10])
        server.process.stdin.flush()
        assert all(server.read()["id"] == 1 for _ in range(50))
        large = {"jsonrpc": "2.0", "id": 2, "method": "ping", "params": {"_meta": {"x": "y" * 1_000_000}}}
        server.send(b"")
        assert server.read()["error"]["code"] == -32700 and server.ask(large)["id"] == 2
        server.process.stdin.write(ping[:10])
        # the input ends in the middle of a message
        assert server.end() == 0


def test_the_last_line_may_have_no_end():
    done = subprocess.run([jvm.COMMAND, "mcp"], input='{"jsonrpc": "2.0", "id": 1, "method": "ping"}', stdout=subprocess.PIPE,
                          text=True, timeout=60)
    assert done.returncode == 0 and json.loads(done.stdout) == {"jsonrpc": "2.0", "id": 1, "result": {}}, done


def ended(program):
    jvm.wait_until(lambda: "not active" in jstrobe("status", program.pid).stdout, 20)


@pytest.mark.parametrize("how", ("cancelled", "EOF", "SIGTERM", "SIGKILL"))
def test_a_recording_ends(jdk, how):
    """… with what the client wants of it no more: no session stays in the program, no file in the folder."""
    with Program(jdk, "KnownShares") as program, Server() as server:
        one = server.call("record", wait=False, target=program.pid, seconds=200)
        jvm.wait_until(lambda: "is running" in jstrobe("status", program.pid).stdout, 20)
        before = time.monotonic()
        if how == "cancelled":
            server.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": one}})
            assert server.ask({"jsonrpc": "2.0", "id": "p", "method": "ping"})["id"] == "p"
            ended(program)
            is_error, text = server.call("findings", handle="r1")
            assert is_error, text
            assert server.end() == 0
        elif how == "EOF":
            assert server.end() == 0
        elif how == "SIGTERM":
            assert server.end(signal.SIGTERM) == 0
        else:
            server.process.kill()
        ended(program)
        assert time.monotonic() - before < 60
    if how == "SIGKILL":  # then the server cannot remove it
        for folder in folders():
            for name in os.listdir(folder):
                os.remove(os.path.join(folder, name))
            os.rmdir(folder)


@pytest.mark.parametrize("event", ("cpu,trace=*.*", "cpu,interval=50us", "cpu@50us", "cpu,jfrsync=profile", "cpu,file=/tmp/x",
                                   "live,gc", "cpu,stream=/tmp/x", "java.lang.String.length", "", ",", "cpu,", ",cpu",
                                   "cpu,,wall", "cpu wall", "-e", "CPU", "cpu-clock", "nativemap\"", "x" * 3000))
def test_only_events_are_recorded(event):
    """What is an option to an agent, or changes the program, is no name of an event here."""
    jdk = jvm.find_jdk(17)
    with Program(jdk, "KnownShares") as program, Server() as server:
        is_error, text = server.call("record", target=program.pid, seconds=1, event=event)
        assert is_error and "cpu, wall, alloc, lock" in text and len(text) <= 4096, text
        # no agent is in the program
        with open(f"/proc/{program.pid}/maps") as file:
            assert "libjstrobe" not in file.read()


def test_events_with_commas_are_recorded(jdk):
    with Program(jdk, "KnownShares") as program, Server() as server:
        is_error, text = server.call("record", target=program.pid, seconds=1.0, event="cpu,wall,alloc")
        assert not is_error and "r1" in text, text


def test_a_call_may_be_cancelled_at_once(jdk):
    """… before the command that records is there, while it starts, and while it attaches: none goes on."""
    with Program(jdk, "KnownShares") as program, Server() as server:
        server.call("record", target=program.pid, seconds=1)
        for wait in (0, 0.001, 0.003, 0.01, 0.03, 0.1):
            one = server.call("record", wait=False, target=program.pid, seconds=100)
            time.sleep(wait)
            server.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": one}})
            assert server.ask({"jsonrpc": "2.0", "id": "p", "method": "ping"})["id"] == "p"
            ended(program)
            children = f"/proc/{server.process.pid}/task/{server.process.pid}/children"
            jvm.wait_until(lambda: not open(children).read().split(), 20)
        assert server.end() == 0


def test_folder_is_private_and_goes():
    jdk = jvm.find_jdk(17)
    with Program(jdk, "KnownShares") as program, Server() as server:
        before = folders()
        is_error, text = server.call("record", target=program.pid, seconds=1)
        assert not is_error, text
        made = folders() - before
        assert len(made) == 1
        folder = made.pop()
        assert os.stat(folder).st_mode & 0o777 == 0o700
        assert os.listdir(folder) == ["r1.jfr"]
        assert server.end() == 0
        assert not os.path.exists(folder)


def test_other_processes_are_left_alone():
    """Only the one that the call names gets an agent."""
    jdk = jvm.find_jdk(17)
    with Program(jdk, "KnownShares") as named, Program(jdk, "KnownShares") as other, Server() as server:
        server.call("list_jvms")
        assert server.call("record", target=named.pid, seconds=1)[0] is False
        is_error, text = server.call("record", target="truth.KnownShares", seconds=1)
        assert is_error and str(other.pid) in text and str(named.pid) in text, text
        with open(f"/proc/{other.pid}/maps") as maps:
            assert "libjstrobe" not in maps.read()
        assert server.end() == 0
