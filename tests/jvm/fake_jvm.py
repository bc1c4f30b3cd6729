"""A program that passes for a HotSpot JVM with jstrobe's agent in it, and does what it is told: a hostile target.

    with FakeJvm(user=65534) as fake:
        done = jstrobe("start", "-e", "cpu", "--fdtransfer", fake.pid)
        fake.perf                       # the socket that the command gave it
        fake.say("exec /usr/bin/sleep 60")
        fake.held()                     # what it has of the commands, and what can be done with it
        fake.say("give 3")              # from now on each of its messages brings three descriptors along
        fake.say("garble 7")            # … and what it says is drawn from that seed: honest, mutated, cut, too much
    fake.say("owes /var/tmp/x.html")# its status says that the result will be there
    fake.say("write 9 text")        # into that descriptor

As a script it is that program. It has a file libjvm.so mapped, takes SIGQUIT, listens where HotSpot's attach socket is,
and answers the command's questions.
"""
import errno
import fcntl
import json
import mmap
import os
import random
import select
import shutil
import signal
import socket
import stat
import struct
import subprocess
import sys
import tempfile
import threading

HELLO, WELCOME, OUTPUT, COMMAND, STATUS, DONE, STREAM, PERF, PERF_ASK, PERF_GIVE = 1, 2, 4, 6, 9, 10, 13, 14, 15, 16
KINDS = {OUTPUT: "OUTPUT", STREAM: "STREAM", PERF: "PERF", PERF_GIVE: "PERF_GIVE"}


def frame(kind, text=b""):
    return struct.pack("<IB", len(text), kind) + text


def receive(sock, size=0):
    """A message: its kind, its text, its descriptors; kind 0: the other side is gone."""
    data, descriptors = b"", []
    size = 5
    while len(data) < size:
        piece, found, _, _ = socket.recv_fds(sock, size - len(data), 8)
        descriptors += found
        if not piece:
            return 0, b"", descriptors
        data += piece
        if len(data) == 5:
            size = 5 + struct.unpack("<I", data[:4])[0]
    return data[4], data[5:], descriptors


# ---- the test's side -------------------------------------------------------------------

class FakeJvm:
    """USER: number of its user, and of its first group; GROUPS: of the others. WRAP: words before the program. LOADED: with
    an agent's library."""

    def __init__(self, user=65534, wrap=(), loaded=False, groups=()):
        self.folder = tempfile.mkdtemp(prefix="fake-jvm-")
        os.chmod(self.folder, 0o755)
        library = os.path.join(self.folder, "libjvm.so")
        for name in ("libjvm.so", "libjstrobe.so")[:2 if loaded else 1]:
            with open(os.path.join(self.folder, name), "wb") as file:
                file.write(b"\0" * 4096)
        ours, its = socket.socketpair()
        self.channel = ours
        if "--pid" in wrap:  # it is number 1 in there, as others are elsewhere: its socket needs a /tmp of its own
            os.chmod(self.folder, 0o1777)
            wrap = [*wrap, "--mount", "--propagation", "private", "sh", "-c",
                    'mount --bind "$0" /tmp && exec "$@"', self.folder]
            library = "/tmp/libjvm.so"
        # Its number may have been that of a JVM of root's which was killed, and whose socket only root can remove.
        words = [*wrap, "sh", "-c", 'rm -f /tmp/.java_pid$$ && exec "$@"', "sh", "setpriv", f"--reuid={user}", f"--regid={user}",
                 *(["--groups", ",".join(map(str, groups))] if groups else ["--clear-groups"]), "/usr/bin/python3",
                 os.path.abspath(__file__), library, str(its.fileno())]
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, pass_fds=[its.fileno()],
                                        text=True, cwd="/")
        its.close()
        assert self.process.stdout.readline() == "READY\n"
        self.pid = self.process.pid
        if "--fork" in wrap:  # unshare has it as its child
            with open(f"/proc/{self.pid}/task/{self.pid}/children") as file:
                self.pid = int(file.read().split()[0])
        self._perf = None

    @property
    def perf(self):
        """The socket at which perf events can be asked for."""
        if not self._perf:
            self.channel.settimeout(60)
            _, descriptors, _, _ = socket.recv_fds(self.channel, 1, 1)
            self._perf = socket.socket(fileno=descriptors[0])
            self._perf.settimeout(60)
        return self._perf

    def say(self, words):
        self.process.stdin.write(words + "\n")
        self.process.stdin.flush()

    def threads(self, count):
        """COUNT more threads; the numbers of all that stay, as the program sees them."""
        self.say(f"threads {count}")
        return json.loads(self.process.stdout.readline())

    def held(self):
        """
        The descriptors that it has of the commands so far: {number: what `look` says of each}. From the first call on it
        keeps what it gets.
        """
        self.say("held")
        return {int(fd): found for fd, found in json.loads(self.process.stdout.readline()).items()}

    def write(self, fd, word):
        """Into the descriptor FD that it has."""
        self.say(f"write {fd} {word}")
        assert self.process.stdout.readline() == "written\n"

    def requests(self):
        """What the JVM's attach socket was asked for so far."""
        self.say("requests")
        return json.loads(self.process.stdout.readline())

    def __enter__(self):
        return self

    def __exit__(self, *error):
        if self.pid != self.process.pid:  # setpriv has taken from it that it ends with unshare
            os.kill(self.pid, signal.SIGKILL)
        self.process.kill()
        self.process.wait()
        if self._perf:
            self._perf.close()
        self.channel.close()
        shutil.rmtree(self.folder)
        return False


def ask(sock, question, sender=None, credentials=None):
    """
    What the helper answers: its code and the descriptor or -1; None: it has hung up. SENDER: the process that the
    question shall be of, which root may say.
    """
    along = []
    if sender:
        along = [(socket.SOL_SOCKET, socket.SCM_CREDENTIALS, struct.pack("3i", sender, os.getuid(), os.getgid()))]
    text = "".join(f"{key}={value}\n" for key, value in question.items()).encode()
    try:
        sock.sendmsg([frame(PERF_ASK, text)], along)
        kind, text, descriptors = receive(sock)
    except OSError:
        return None
    if kind != PERF_GIVE:
        return None
    return int(text.decode().split("code=")[1].split()[0]), descriptors[0] if descriptors else -1


# ---- the program -----------------------------------------------------------------------

TALK = "talk"  # a thread of one conversation, that ends with it


class State:
    """What it does with descriptors."""

    def __init__(self, gift):
        self.keeps, self.gives, self.gift, self.random, self.owes = False, 0, gift, None, ""
        self.own, self.came = set(), {}  # sockets of its own; number: kind of the message that brought it
        self.lock = threading.Lock()     # `own` says what there is

    def opened(self, make):
        """A socket of its own."""
        with self.lock:
            sock = make()
            self.own.add(sock.fileno())
        return sock

    def close(self, sock):
        with self.lock:
            self.own.discard(sock.fileno())
            sock.close()


def attempt(what):
    """None: it worked; else the error's name."""
    try:
        found = what()
        if isinstance(found, int) and found >= 0:
            os.close(found)
        return None
    except OSError as error:
        return errno.errorcode[error.errno]


def look(fd, kind):
    """What FD is, and what its holder can do with it."""
    st, path = os.fstat(fd), f"/proc/self/fd/{fd}"
    access = fcntl.fcntl(fd, fcntl.F_GETFL)
    types = {stat.S_IFREG: "regular", stat.S_IFSOCK: "socket", stat.S_IFDIR: "folder", stat.S_IFIFO: "pipe"}
    return {
        "message": kind, "type": types.get(stat.S_IFMT(st.st_mode), os.readlink(path)),
        "access": "path" if access & os.O_PATH else ("read", "write", "both")[access & os.O_ACCMODE],
        "name": os.readlink(path), "names": st.st_nlink, "size": st.st_size,
        "up": attempt(lambda: os.open("..", os.O_RDONLY, dir_fd=fd)),
        "read": attempt(lambda: os.pread(fd, 1, 0) and None),
        "again": attempt(lambda: os.open(path, os.O_RDONLY)),
        "link": attempt(lambda: os.link(path, f"link-{fd}", follow_symlinks=True)),
        "mode": attempt(lambda: os.chmod(path, 0o4777)),
    }


def held(state):
    """All of /proc/self/fd but what it had before and its own sockets."""
    found = {}
    for fd in map(int, os.listdir("/proc/self/fd")):
        if fd in state.own:
            continue
        try:
            found[fd] = look(fd, state.came.get(fd, "?"))
        except OSError:
            pass  # the folder itself, closed by now; a conversation that has just ended
    return found


LIES = [b"", b"\n", b"code=2\nreason=\x1b]0;x\x07", b"code=4", b"code=110\nreason=late", b"taken=99999999999999999999\nloss=\n",
        b"running=1\nowed=/etc/passwd\nrecording=1\n", b"format=jfr\nrunning=1\n", b"engine=\xc2\x9b31m\n", b"=\n==\n", b"x" * 5000]


def garble(r, kind, text):
    """What is sent instead of the message: bytes, None to hang up."""
    way = r.randrange(10)
    if way < 3:
        return frame(kind, text)
    if way == 3:
        return frame(r.choice((7, 8, 9, 10, 11, 12)), r.choice(LIES)) + frame(kind, text)
    if way == 4:
        return frame(r.choice((7, 8, 9)), r.choice(LIES)) * r.choice((1, 30, 3000)) + frame(kind, text)
    if way == 5:
        return frame(kind, r.choice(LIES))
    if way == 6:
        data = bytearray(frame(kind, text))
        place = r.randrange(len(data))
        data[place] ^= 1 << r.randrange(8)
        # behind another length the rest would have to come, which is waited for as for any answer: minutes
        return bytes(data) + (frame(kind, text) if place >= 4 else b"")
    if way == 7:
        return r.randbytes(r.choice((1, 5, 6, 300, 70000)))
    if way == 8:
        return frame(kind, text)[:r.randrange(5 + len(text))] + b"\0" * r.randrange(3)
    return None


def talk(options, channel, state):
    """The agent's side of a conversation; a hostile one ends it when it has said something else than it should."""
    sock = state.opened(lambda: socket.socket(socket.AF_UNIX))
    if sock.connect_ex(options["connect"]):
        state.close(sock)  # the command has given up by now
        return

    def tell(kind, text):
        data = frame(kind, text)
        if state.random and (kind != HELLO or not state.random.randrange(4)):
            data = garble(state.random, kind, text)
        if data is None:
            raise ConnectionError
        socket.send_fds(sock, [data[:1]], [state.gift] * state.gives)
        sock.sendall(data[1:])
        if not data.endswith(frame(kind, text)):
            raise ConnectionError  # silence instead is tried in tests/unit/test_cli_conversation.c

    try:
        converse(sock, options, tell, channel, state)
    except OSError:
        pass
    state.close(sock)


def converse(sock, options, tell, channel, state):
    tell(HELLO, f"protocol={options['protocol']}\ntoken={options['token']}\nversion=0\npid={os.getpid()}\n".encode())
    while True:
        kind, text, descriptors = receive(sock)
        if kind == PERF:
            socket.send_fds(channel, [b"p"], descriptors)
        if state.keeps:
            state.came.update((fd, KINDS.get(kind, str(kind))) for fd in descriptors)
        else:
            for fd in descriptors:
                os.close(fd)
        if kind == COMMAND and text.startswith(b"status"):
            tell(STATUS, f"running=1\nevent=cpu\nowed={state.owes}\n".encode())
        if kind == COMMAND:
            tell(DONE, b"engine=fake\ntaken=1\nstored=1\n")
        if not kind:
            return


def serve(listener, channel, requests, state):
    while True:
        select.select([listener], [], [])
        sock = state.opened(lambda: listener.accept()[0])
        data = b""
        while data.count(b"\0") < 5:
            data += sock.recv(4096)
        words = [word.decode() for word in data.split(b"\0")]
        requests.append(words)
        options = dict(item.split("=", 1) for item in words[4].split(",") if "=" in item)
        threading.Thread(target=talk, name=TALK, args=(options, channel, state), daemon=True).start()
        sock.sendall(b"0\nreturn code: 0\n")
        state.close(sock)


def main():
    memory = []
    for library in filter(os.path.exists, (sys.argv[1], os.path.join(os.path.dirname(sys.argv[1]), "libjstrobe.so"))):
        with open(library, "rb") as file:
            memory.append(mmap.mmap(file.fileno(), 4096, prot=mmap.PROT_READ))
    channel, requests = socket.socket(fileno=int(sys.argv[2])), []
    signal.signal(signal.SIGQUIT, lambda *_: None)
    path = f"/tmp/.java_pid{os.getpid()}"
    if os.path.exists(path):
        os.remove(path)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    os.chmod(path, 0o600)
    listener.listen(4)
    state = State(os.open(sys.argv[1], os.O_RDONLY))
    state.own.update(map(int, os.listdir("/proc/self/fd")))
    threading.Thread(target=serve, args=(listener, channel, requests, state), daemon=True).start()
    print("READY", flush=True)
    for line in sys.stdin:
        words = line.split()
        if words[0] == "requests":
            print(json.dumps(requests), flush=True)
        elif words[0] == "threads":
            for _ in range(int(words[1])):
                threading.Thread(target=signal.pause, daemon=True).start()
            print(json.dumps([t.native_id for t in threading.enumerate() if t.name != TALK]), flush=True)
        elif words[0] == "held":
            with state.lock:
                print(json.dumps(held(state)), flush=True)
            state.keeps = True
        elif words[0] == "give":
            state.gives = int(words[1])
        elif words[0] == "garble":
            state.random = random.Random(int(words[1]))
        elif words[0] == "owes":
            state.owes = words[1]
        elif words[0] == "write":
            os.write(int(words[1]), words[2].encode())
            print("written", flush=True)
        elif words[0] == "exec":
            os.remove(path)
            os.execv(words[1], words[1:])
        elif words[0] == "end":
            break
    if os.path.exists(path):  # the folder it lies in may be gone already
        os.remove(path)


if __name__ == "__main__":
    main()
