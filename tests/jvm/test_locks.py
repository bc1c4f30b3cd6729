"""The order in which the agent takes its locks: sessions of all kinds, in a build whose locks tell (make CHECK_LOCKS=1)."""
import fcntl
import os
import re
import subprocess

import jvm
import pytest
from jvm import Program, jstrobe

pytestmark = pytest.mark.together

PAGE = os.path.join(jvm.ROOT, "docs", "inside", "architecture.md")
FOLDER = os.path.join(jvm.OUT, "locks")


def declared():
    """{name: its place} of the table "Locks": a lock may be waited for while those above it are held."""
    with open(PAGE) as file:
        table = re.search(r"^## Locks\n(.*?)(?=^## |\Z)", file.read(), re.S | re.M).group(1)
    names = re.findall(r"^\| `([^`]+)` \|", table, re.M)
    assert len(names) == len(set(names)) > 20, names
    return {name: place for place, name in enumerate(names)}


@pytest.fixture(scope="module")
def checked():
    """The command and the library whose locks tell; made by one worker at a time."""
    os.makedirs(FOLDER, exist_ok=True)
    with open(os.path.join(FOLDER, "making"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        made = subprocess.run(["make", "-s", "-C", jvm.ROOT, f"O={FOLDER}", "CHECK_LOCKS=1", "all"],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              env={k: v for k, v in os.environ.items() if k not in ("O", "MAKEFLAGS", "MAKELEVEL")})
    assert made.returncode == 0, made.stdout[-3000:]
    return os.path.join(FOLDER, "bin", "jstrobe"), os.path.join(FOLDER, "lib", "libjstrobe.so")


@pytest.fixture
def use(checked, monkeypatch):
    monkeypatch.setattr(jvm, "COMMAND", checked[0])
    monkeypatch.setattr(jvm, "LIBRARY", checked[1])


def done(*args):
    said = jstrobe(*args)
    assert said.returncode == 0, (args, said.stderr)


def sessions(program, virtual):
    """All kinds, with what may happen meanwhile."""
    more = ("--vthreads",) if virtual else ()
    pid, path, stream = program.pid, jvm.result_file(".json"), jvm.result_file(".ndjson")
    done("record", "-d", "0.5", "-e", "cpu,wall,lock", "-t", "--lines", *more, "-f", path, pid)
    done("start", "-e", "cpu,wall,lock", "-i", "1ms", *more, "--stream", stream, "-f", jvm.result_file(".jfr"), pid)
    program.work(0.5)
    for asked in ("status", "metrics", "dump"):
        done(asked, *(["-f", path, "--force"] if asked == "dump" else []), pid)
    done("stop", pid)
    done("start", "-e", "cpu", "--last", "10s", "--loop", "300ms", "-f", jvm.result_file("-%n.json"), pid)
    program.work(1.0)
    done("stop", pid)
    # every event that has an option of its own, and calls and waits that go on
    done("start", "--all", "--nativewait", "--nativemem", "0", "--nativelock", "0", "--io", "0", "--rate", "100/s",
         "--stream", stream, "--force", "-f", jvm.result_file(".jfr"), pid)
    program.work(1.0)
    for asked in ([], ["--gc"]):
        done("dump", *asked, "-o", "json", "-f", path, "--force", pid)
    done("stop", pid)
    done("start", "-e", "cpu,io", "--loop", "300ms", "-f", jvm.result_file("-%n.json"), pid)
    program.work(1.0)
    done("stop", pid)
    done("start", "-e", "ctimer", "--filter", "name:*", "-f", path, "--force", pid)
    program.work(0.3)
    done("stop", pid)
    done("start", "-e", "itimer", "--on-signal", "10", "-f", path, "--force", pid)
    os.kill(pid, 10)
    program.work(0.5)
    done("stop", pid)
    for timing in ("sampled", "exact", "adaptive"):
        done("start", "--timing", timing, "--instrument", "truth.*", pid)
        program.work(0.5)
        done("dump", "-o", "json", "-f", "/dev/null", pid)
        done("stop", "-f", "/dev/null", pid)
    jstrobe("stop", pid)  # that none runs is said, too
    done("record", "-d", "1", "--jfrsync", "profile", "-f", jvm.result_file(".jfr"), pid)


def test_the_order_of_locks(jdk, use, monkeypatch, say):
    told = jvm.result_file(".locks")
    monkeypatch.setenv("JSTROBE_LOCK_ORDER", told)
    name, *args = ("Churn", "loaders+hidden+lambdas", 20) if jdk.version == 17 else ("KnownShares",)
    with Program(jdk, name, *args) as program:
        sessions(program, jdk.version >= 21)
        assert program.stop() == 0, program.output[-5:]
    recorded = jvm.result_file(".jfr")
    with Program(jdk, "ThreadChurn", jvm=[f"-agentpath:{jvm.LIBRARY}=start,event=cpu,event=wall,event=exceptions,file={recorded}"]) as program:
        assert program.stop() == 0, program.output[-5:]
    assert os.path.getsize(recorded) > 0
    with open(told) as file:
        orders = sorted(set(file.read().splitlines()))
    order = declared()
    assert len(orders) > 20, orders
    pairs = [line.split(" > ") for line in orders]
    unknown = sorted({name for pair in pairs for name in pair if name not in order})
    assert not unknown, f"not in the table of {PAGE}: {unknown}"
    wrong = [f"{first} > {then}" for first, then in pairs if order[first] >= order[then]]
    say(f"orders of locks seen on {jdk}: {len(orders)}, of {len(order)} locks")
    assert not wrong, wrong
