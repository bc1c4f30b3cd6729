"""Rows on live streams: how soon a record is there, what a reader that has stopped costs, what `top` costs."""
import os
import re
import signal
import subprocess
import threading
import time

import live
from jvm import COMMAND, CORES, Program, jstrobe
from measure import interval, ratio, spell

STOPPED = 10  # seconds that a reader stands still


def stream_latency(bench):
    """By the clock that both sides read: a record's time against the moment its line is read."""
    with Program(bench.jdk, "Moments") as program:
        stream, status, errors = live.read([COMMAND, "stream", "-i", "1ms", "-d", 30, program.pid],
                                           live.Stream(check=False))
        assert status == 0, errors
    ms = stream.latencies()
    middle, late = ms[len(ms) // 2], ms[len(ms) * 99 // 100]
    delivered, stored, dropped = stream.count()
    assert delivered == stored and not dropped
    return [f"{len(ms):,} samples: median {middle:.1f} ms, p99 {late:.1f} ms, latest {ms[-1]:.0f} ms"], (
        middle < 15 and late < 50)


def units(program, seconds):
    """Units of work a second of real time."""
    before, start = program.mark()["units"], time.monotonic()
    time.sleep(seconds)
    return (program.mark()["units"] - before) / (time.monotonic() - start)


def stream_stopped(bench):
    """Throughput while the reader stands still against the same while it reads, and what became of the stream."""
    stopped, reading = [], []
    with Program(bench.jdk, "Spin", max(1, CORES - 1), 50) as program:
        process = subprocess.Popen([COMMAND, "stream", "-i", "100us", "--lines", str(program.pid)],
                                   stdout=subprocess.PIPE)
        stream = live.Stream(check=False)

        def follow():
            for line in process.stdout:
                stream.take(line)
        reader = threading.Thread(target=follow)
        reader.start()
        time.sleep(3)
        for _ in range(bench.pairs):
            reading.append(units(program, STOPPED))
            process.send_signal(signal.SIGSTOP)
            stopped.append(units(program, STOPPED))
            process.send_signal(signal.SIGCONT)
            time.sleep(1)
        dropped = int(re.search(r"(\d+) dropped", jstrobe("status", program.pid).stdout).group(1))
        process.send_signal(signal.SIGINT)
        reader.join(60)
        assert process.wait(60) == 0
    delivered, stored, lost = stream.count()
    share = ratio(stopped, reading)
    return [f"{spell(share, '{:.3f}')} × the throughput; {dropped:,} samples dropped and told of, stream valid afterwards"], (
        interval(share)[2] >= 1 and lost > 0 and delivered + lost == stored)


def top_cost(bench):
    """CPU time of the command on 1,000 threads, beside what it has the agent do."""
    with Program(bench.jdk, "Sleepers", 1000, "idle") as program:
        master, slave = os.openpty()
        process = subprocess.Popen([COMMAND, "top", str(program.pid)], stdin=slave, stdout=slave, stderr=slave)
        os.close(slave)
        threading.Thread(target=lambda: drain(master), daemon=True).start()
        time.sleep(5)
        clock = (~process.pid << 3) | 2
        before, own, start = time.clock_gettime_ns(clock), program.cpu(), time.monotonic_ns()
        time.sleep(20)
        span = time.monotonic_ns() - start
        tool = 100 * (time.clock_gettime_ns(clock) - before) / span
        target = 100 * (program.cpu() - own) / span
        process.send_signal(signal.SIGINT)
        process.wait(30)
    return [f"{tool:.2f} % of a core, the JVM with its agent {target:.2f} %"], tool <= 2


def drain(fd):
    try:
        while os.read(fd, 65536):
            pass
    except OSError:
        pass
