"""jstrobe top in a terminal: each key does what it says, and the terminal is given back, whatever happens."""
import os
import re
import signal
import subprocess
import time

import pytest
from jvm import COMMAND, Program, jstrobe, wait_until
from terminal import ENTER, LEAVE, Terminal

pytestmark = pytest.mark.together

ORDERS = ("Orders", "lock", "work", 200)


def is_idle(program):
    """It ends behind its command."""
    wait_until(lambda: "not active" in jstrobe("status", program.pid).stdout, 60)


def figures(lines):
    """(samples of the screen, of all screens)."""
    return tuple(int(n) for n in re.search(r"(\d+) samples, .* (\d+) in all", lines[0]).groups())


def first(lines, head):
    """The row below the heads of columns that begin with HEAD."""
    return lines[next(i for i, line in enumerate(lines) if line.split()[:len(head)] == head) + 1]


def test_each_key(jdk):
    with Program(jdk, *ORDERS) as program, Terminal("top", "-e", "cpu,wall@50ms,lock,alloc@1k", program.pid, rows=30,
                                                   columns=160) as terminal:
        terminal.wait_for("order-")
        terminal.type("m")
        lines = terminal.wait_for("methods by SELF, cpu")
        assert "[Methods]" in lines[-1] and lines[1].startswith("CPU ")
        terminal.type("s")
        lines = terminal.wait_for("methods by TOTAL, cpu")
        assert float(first(lines, ["SELF", "TOTAL"]).split()[1].rstrip("%")) > 60
        terminal.type(">")
        names = [line.split("%  ")[-1] for line in terminal.wait_for("methods by METHOD, cpu")[4:-1] if "%  " in line]
        assert names == sorted(names) and len(names) > 3
        terminal.type("<")
        terminal.wait_for("methods by TOTAL")
        terminal.type("e")
        terminal.wait_for("methods by TOTAL, wall")
        terminal.wait_for("waits for work are left out")
        terminal.type("i")
        terminal.wait_for(lambda lines: not any("left out" in line for line in lines))
        terminal.type("i")
        terminal.type("t")
        lines = terminal.wait_for("threads by CPU")
        assert re.match(r" +[\d.]+%  [RrPNBWS.?]{20}  order-\d", first(lines, ["CPU", "STATES"])), lines
        # the Java threads alone are more than the screen: it can be moved
        before = first(lines, ["CPU", "STATES"])
        terminal.type(" \x1b[B")
        terminal.wait_for(lambda lines: "PAUSED" in lines[2] and first(lines, ["CPU", "STATES"]) != before)
        terminal.type("\x1b[6~\x1b[5~\x1b[5~ ")
        terminal.wait_for(lambda lines: "PAUSED" not in lines[2])
        terminal.type("g")
        lines = terminal.wait_for("groups by CPU")
        assert re.match(r" +[\d.]+% +8 .*  order-\*  ", first(lines, ["CPU", "THREADS"])), lines
        terminal.wait_for(lambda lines: any(re.search(r"2\d\d threads in \d+ groups were idle all the time", line)
                                            for line in lines))
        terminal.type("i")
        terminal.wait_for("  http-nio-8080-exec-*")
        terminal.type("i")
        terminal.type("w")
        lines = terminal.wait_for("wall by NOT IDLE")
        head = next(line for line in lines if line.startswith("  NOT IDLE"))
        assert "running" in head and "lock" in head and "idle" not in head
        assert "order-*" in first(lines, ["NOT", "IDLE"])
        terminal.type("l")
        lines = terminal.wait_for(lambda lines: "locks by WAITED" in lines[2] and "had it in" in "".join(lines))
        assert re.search(r"ReentrantLock\S* +in truth.Orders\$Stock.reserve; order-\* had it in truth.Orders\$Stock.\w+; "
                         r"waited for by order-\*", first(lines, ["WAITED", "WAITS"])), lines
        terminal.type("a")
        terminal.wait_for("alloc by BYTES/s")
        terminal.type("o")
        terminal.wait_for("LAST HOLDER")
        terminal.type("?")
        lines = terminal.wait_for("keys, last")
        assert any(line.startswith("  g ") for line in lines)
        terminal.type("\x1b")
        terminal.wait_for("overview, last")
        terminal.type("q")
        assert terminal.end() == 0 and terminal.is_given_back() and not terminal.strays(), terminal.strays()
        is_idle(program)


def test_allocations(jdk):
    with Program(jdk, "AllocBound") as program, Terminal("top", "-e", "alloc", program.pid) as terminal:
        terminal.type("a")
        lines = terminal.wait_for(lambda lines: "alloc by BYTES/s" in lines[2] and "B/s  " in "".join(lines))
        assert re.search(r"[\d.]+ [KMG]B/s +[\d.]+% +[\d,]+  \w+\[\]  in truth.AllocBound.\w+",
                         first(lines, ["BYTES/s", "PART"])), lines
        terminal.type("q")
        assert terminal.end() == 0


def test_filter(jdk17):
    with Program(jdk17, *ORDERS) as program, Terminal("top", program.pid) as terminal:
        terminal.wait_for("order-")
        terminal.type("t/order-[1")
        lines = terminal.wait_for("/order-[1/")
        # it is no expression yet: said, and what was shown stays
        assert "order-[1" in lines[-1] and "[" in lines[-1].split("/")[0]
        terminal.type("3]$")
        lines = terminal.wait_for(lambda lines: lines[-1].startswith("/order-[13]$_"))
        shown = [line for line in lines[4:-1] if line.strip()]
        assert sorted(line.split()[-1] for line in shown) == ["order-1", "order-3"]
        terminal.type("\x7f\x7f\x7f2]")
        terminal.wait_for(lambda lines: any("order-2" in line for line in lines))
        terminal.type("\n")
        lines = terminal.wait_for(lambda lines: "[Threads]" in lines[-1])
        assert "/order-[12]/" in lines[2] and not any("order-3" in line for line in lines)
        terminal.type("/nothing is called so\n")
        terminal.wait_for("nothing matches")
        terminal.type("\x1b")
        lines = terminal.wait_for(lambda lines: "/" not in lines[2] and any("order-3" in line for line in lines))
        terminal.type("q")
        assert terminal.end() == 0 and terminal.is_given_back()


def test_what_comes_in_a_pause_is_counted(jdk17):
    with Program(jdk17, *ORDERS) as program, Terminal("top", program.pid, columns=200) as terminal:
        terminal.wait_for("order-")
        before = terminal.screen()
        terminal.type(" ")
        terminal.wait_for("PAUSED")
        time.sleep(5)
        lines = terminal.wait_for(lambda lines: re.search(r"PAUSED, \d{2,} samples since", lines[2]))
        waiting = int(re.search(r"PAUSED, ([\d,]+) samples", lines[2])[1].replace(",", ""))
        assert figures(lines)[1] == figures(terminal.screen())[1]
        # other views are of the same time
        paused = figures(lines)
        terminal.type("m")
        assert figures(terminal.wait_for("methods by SELF")) == paused
        terminal.type(" ")
        lines = terminal.wait_for(lambda lines: "PAUSED" not in lines[2])
        assert figures(lines)[0] >= waiting and float(re.search(r"last ([\d.]+) s", lines[2])[1]) >= 5
        terminal.wait_for(lambda lines: figures(lines)[1] > figures(before)[1] + waiting + 20)
        # every sample is on one screen
        all_screens = [figures(lines) for lines in terminal.screens() if len(lines) == 24 and "in all" in lines[0]]
        known = list(dict.fromkeys(all_screens))
        assert len(known) >= 4
        for (_, former), (samples, all_samples) in zip(known, known[1:]):
            assert all_samples == former + samples, known
        # and they are as many as its CPU time lets expect: one in 10 ms
        terminal.type("q")
        assert terminal.end() == 0


@pytest.mark.parametrize("how", ["q", "Ctrl-C", "TERM", "HUP", "the JVM ends", "the JVM is killed"])
def test_the_terminal_is_given_back(jdk17, how):
    with Program(jdk17, *ORDERS) as program, Terminal("top", program.pid) as terminal:
        terminal.wait_for("order-")
        terminal.type("w/ord")  # also while a filter is typed
        terminal.wait_for("/ord_")
        if how == "q":
            terminal.type("\nq")
        elif how == "Ctrl-C":
            terminal.type("\x03")
        elif how == "the JVM ends":
            program.process.terminate()
        elif how == "the JVM is killed":
            program.process.kill()
        else:
            terminal.process.send_signal(getattr(signal, "SIG" + how))
        assert terminal.end() == 0 and terminal.is_given_back(), terminal.seen[-300:]
        if "JVM" in how:
            assert f"process {program.pid} has ended".encode() in terminal.seen
            program.process.wait()
        else:
            is_idle(program)


@pytest.mark.parametrize("rows,columns", [(10, 40), (3, 20), (1, 1), (60, 250), (24, 80)])
def test_any_size(jdk17, rows, columns):
    """Each view fits, in whatever the window was made."""
    with Program(jdk17, *ORDERS) as program, Terminal("top", program.pid) as terminal:
        terminal.wait_for("order-")
        terminal.resize(rows, columns)
        for key in "mtgwlao?":
            terminal.type(key)
            lines = terminal.wait_for(lambda lines: True)
            time.sleep(0.15)
            lines = terminal.wait_for(lambda lines: True)
            assert len(lines) == rows and max(map(len, lines)) <= columns, lines
        terminal.resize(24, 120)
        lines = terminal.wait_for("keys, last")
        assert len(lines) == 24
        terminal.type("q")
        assert terminal.end() == 0 and terminal.is_given_back() and not terminal.strays()


def test_fast_typing(jdk17):
    """What is typed at once is all obeyed, in its order."""
    with Program(jdk17, *ORDERS) as program, Terminal("top", program.pid) as terminal:
        terminal.type("t/order-5\n" + "ss" * 30 + "mtgwla" * 40 + "\x1b[A\x1b[B\x1b[Z\x1bOP" * 20 + "t")
        lines = terminal.wait_for(lambda lines: "threads by CPU" in lines[2] and any("order-5" in line for line in lines))
        assert "/order-5/" in lines[2] and not any("order-4" in line for line in lines)
        terminal.type("/" + "x" * 1000 + "\n\x1bq")
        assert terminal.end() == 0 and terminal.is_given_back()


def test_suspended_and_back(jdk17):
    """Ctrl-Z gives the shell its terminal, fg takes it again; in the background it is left alone."""
    with Program(jdk17, *ORDERS) as program, Terminal(command=["bash", "--norc", "--noprofile", "-i"],
                                                     env={"PS1": "ready> "}) as terminal:
        terminal.wait_for_bytes(b"ready> ")
        for _ in range(2):
            terminal.type(f"{COMMAND} top {program.pid}\n")
            terminal.wait_for("order-")
            terminal.type("\x1a")
            terminal.wait_for_bytes(b"Stopped")
            assert terminal.seen.rfind(ENTER) < terminal.seen.rfind(LEAVE)
            terminal.type("stty -a | grep -c -- -icanon; echo 'off '$?\n")
            terminal.wait_for_bytes(b"off ")
            at = len(terminal.seen)
            terminal.type("fg\n")
            terminal.wait_for_bytes(ENTER)
            terminal.wait_for("order-")
            terminal.type("m")
            terminal.wait_for("methods by SELF")
            assert terminal.seen[at:].count(LEAVE) == 0
            # stopped, and on in the background: it leaves the terminal to the shell
            terminal.type("\x1a")
            terminal.wait_for_bytes(b"Stopped")
            terminal.type("bg\n")
            terminal.wait_for_bytes(b"&")
            at = len(terminal.seen)
            time.sleep(3)
            terminal.type("echo on''e\n")
            terminal.wait_for_bytes(b"one")
            assert ENTER not in terminal.seen[at:] and b"samples" not in terminal.seen[at:]
            terminal.type("fg\n")
            terminal.wait_for_bytes(ENTER)
            terminal.wait_for("methods by SELF")
            terminal.type("q")
            terminal.wait_for_bytes(b"ready> ")
        # killed in the background
        terminal.type(f"{COMMAND} top {program.pid}\n")
        terminal.wait_for("order-")
        terminal.type("\x1a")
        terminal.wait_for_bytes(b"Stopped")
        terminal.type("kill %1; wait; echo of''f\n")
        terminal.wait_for_bytes(b"off")
        assert terminal.seen.rfind(ENTER) < terminal.seen.rfind(LEAVE)
        terminal.type("exit\n")
        assert terminal.end() == 0
        is_idle(program)


def test_more_is_sampled(jdk17):
    """+ begins the session anew with what the view needs; one that ran before is left as it is."""
    with Program(jdk17, *ORDERS) as program:
        with Terminal("top", "-e", "ctimer", program.pid, columns=200) as terminal:
            terminal.wait_for("order-")
            terminal.type("l")
            lines = terminal.wait_for("locks: not sampled; what is: ctimer")
            assert any(f"jstrobe top -e ctimer,lock {program.pid}" in line for line in lines)
            terminal.type("+")
            terminal.wait_for(lambda lines: "locks by WAITED" in lines[2] and "had it in" in "".join(lines))
            terminal.type("w")
            terminal.wait_for("wall: not sampled; what is: ctimer,lock")
            terminal.type("+")
            terminal.wait_for(lambda lines: "wall by NOT IDLE" in lines[2] and "order-*" in "".join(lines))
            terminal.type("+")
            terminal.wait_for("all that it needs is sampled")
            terminal.type("q")
            assert terminal.end() == 0 and terminal.is_given_back()
        is_idle(program)
        assert jstrobe("start", "-e", "ctimer", program.pid).returncode == 0
        with Terminal("top", program.pid, columns=200) as terminal:
            terminal.wait_for("order-")
            terminal.type("a")
            terminal.wait_for("alloc: not sampled; what is: ctimer")
            terminal.wait_for("the session ran before")
            terminal.type("+")
            terminal.wait_for("the session ran before, and stays as it is")
            terminal.type("q")
            assert terminal.end() == 0
        assert "ctimer" in jstrobe("status", program.pid).stdout


def test_groups_as_wished(jdk17):
    with Program(jdk17, *ORDERS) as program:
        with Terminal("top", "--group", "order|http", "--idle", program.pid) as terminal:
            terminal.type("w")
            lines = terminal.wait_for(lambda lines: any(line.endswith("  http") for line in lines))
            assert any(line.endswith("  order") for line in lines)
            terminal.type("q")
            assert terminal.end() == 0
        done = jstrobe("top", "--group", "(", program.pid)
        assert done.returncode == 2 and "is no regular expression" in done.stderr


def test_hostile_names(jdk17):
    """Names of threads cannot say anything to the terminal."""
    with Program(jdk17, "OddNames") as program, Terminal("top", program.pid) as terminal:
        terminal.wait_for("bang!and;semicolon")
        terminal.type("t")
        terminal.wait_for("esc?[2J")
        for key in "gwml":
            terminal.type(key)
            terminal.read(0.5)
        terminal.type("q")
        assert terminal.end() == 0 and terminal.is_given_back()
        assert not terminal.strays(), terminal.strays()


@pytest.mark.parametrize("env", [{"TERM": "dumb"}, {"NO_COLOR": "1"}])
def test_poor_terminals(jdk17, env):
    with Program(jdk17, *ORDERS) as program, Terminal(command=["env", *(f"{k}={v}" for k, v in env.items()), COMMAND, "top",
                                                              str(program.pid)]) as terminal:
        if "TERM" in env:
            assert terminal.end() == 0 and b"\x1b" not in terminal.seen and b"truth.Orders$Stock.recount" in terminal.seen
            return
        terminal.wait_for("order-")
        terminal.type("q")
        assert terminal.end() == 0 and not re.search(rb"\x1b\[[\d;]*m", terminal.seen)


def test_a_pipe_is_no_terminal(jdk17):
    """Keys come from a terminal, and a screen goes to one; else it is a text."""
    with Program(jdk17, *ORDERS) as program:
        done = jstrobe("top", "-d", 1, program.pid)
        assert done.returncode == 0 and "\x1b" not in done.stdout and "q quit" not in done.stdout
        with open(os.devnull) as nothing:
            done = subprocess.run([COMMAND, "top", "-d", "1", str(program.pid)], stdin=nothing, capture_output=True, text=True)
        assert done.returncode == 0 and "truth.Orders$Stock.recount" in done.stdout


def test_a_session_that_someone_stops(jdk17):
    with Program(jdk17, *ORDERS) as program:
        assert jstrobe("start", program.pid).returncode == 0
        with Terminal("top", program.pid) as terminal:
            terminal.wait_for("order-")
            assert jstrobe("stop", program.pid).returncode == 0
            assert terminal.end() == 0 and terminal.is_given_back()
            assert f"the session in process {program.pid} was stopped".encode() in terminal.seen


def test_gaps_of_the_history(jdk17):
    """A JVM that stood still has no figures for that time, and none are made up."""
    with Program(jdk17, *ORDERS) as program, Terminal("top", program.pid) as terminal:
        terminal.wait_for(lambda lines: re.search(r"[▁-█]{3}", lines[1]))
        program.process.send_signal(signal.SIGSTOP)
        try:
            terminal.wait_for(lambda lines: re.search(r"[▁-█]·{3}.*no data", lines[1]))
        finally:
            program.process.send_signal(signal.SIGCONT)
        terminal.wait_for(lambda lines: re.search(r"[▁-█]·{3,}[▁-█]{2}", lines[1]))
        terminal.type("q")
        assert terminal.end() == 0
