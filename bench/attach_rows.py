"""The row on how long it takes until a JVM that was never attached to answers."""
import os
import signal
import socket
import time

from jvm import Program, jstrobe
from measure import interval, spell

LIMIT = 20  # ms more than the JVM's own attach mechanism needs


def bare(pid):
    """ms of the least that attaching can be: wake the JVM's listener, ask its version over the socket it makes."""
    began = time.perf_counter()
    trigger, door = f"/proc/{pid}/cwd/.attach_pid{pid}", f"/tmp/.java_pid{pid}"
    with open(trigger, "w"):
        os.kill(pid, signal.SIGQUIT)
        while not os.path.exists(door):
            time.sleep(0.001)
    os.remove(trigger)
    with socket.socket(socket.AF_UNIX) as sock:
        sock.connect(door)
        sock.sendall(b"1\0jcmd\0VM.version\0\0\0")
        answer = b""
        while part := sock.recv(4096):
            answer += part
    assert answer.startswith(b"0\n"), answer
    return 1000 * (time.perf_counter() - began)


def ours(pid):
    """ms of `jstrobe status`, the whole command: the agent is loaded and answers."""
    began = time.perf_counter()
    done = jstrobe("status", pid)
    assert done.returncode == 0, done.stderr
    return 1000 * (time.perf_counter() - began)


def attach_status(bench):
    figures, good = [], True
    for jdk in (bench.jdk, bench.jdk25):
        took = {ours: [], bare: []}
        for _ in range(bench.pairs):
            for way, times in took.items():
                with Program(jdk, "Sleepers", 1, "idle") as program:
                    time.sleep(0.3)
                    times.append(way(program.pid))
        more = [a - b for a, b in zip(took[ours], took[bare])]
        good = good and interval(more)[2] <= LIMIT
        figures.append(f"{jdk}: {spell(took[ours], '{:.1f}')} ms, bare {spell(took[bare], '{:.1f}')} ms, "
                       f"{spell(more, '{:.1f}')} ms more")
    return figures, good
