"""Programs with timers of their own: their handlers do not run on our threads, nor do they die of us at their end."""
import os
import re
import shutil
import signal
import subprocess

import jvm
import pytest
from jvm import Program, counted, jstrobe, wait_until
from test_native_program import SOURCES, preloaded

pytestmark = pytest.mark.together

TIMERS = ["prof", "virtual", "real", "created"]
FAULTS = {signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGTRAP}
# The JVM has its own for each thread that is attached to it.
OF_THE_JVM = {signal.SIGHUP, signal.SIGINT, signal.SIGTERM, signal.SIGUSR2}
ATTACHED = {"jstrobe control", "jstrobe names", "jstrobe trace", "jstrobe tick", "jstrobe talk"}
UNBLOCKABLE = {signal.SIGKILL, signal.SIGSTOP, 32, 33}  # the latter are the C library's


@pytest.fixture(scope="module")
def own_timers(tmp_path_factory):
    path = str(tmp_path_factory.mktemp("programs") / "own_timers")
    subprocess.run([os.environ.get("CC", "gcc"), "-O1", "-g", "-Wall", "-D_GNU_SOURCE", "-pthread", "-o", path,
                    os.path.join(SOURCES, "own_timers.c")], check=True)
    return path


def said(done):
    return [int(n) for n in re.findall(r"\d+", done.stdout)]


@pytest.mark.parametrize("event", ["cpu", "ctimer", "wall", "cpu,wall"])
@pytest.mark.parametrize("timer", TIMERS)
def test_handlers_run_where_they_belong(own_timers, tmp_path, timer, event):
    file = tmp_path / "r.collapsed"
    options = "".join(f",event={one}" for one in event.split(","))
    done = preloaded(own_timers, timer, "400", "handled", command=f"start{options},interval=1ms", file=file)
    assert done.returncode == 7, done
    handled, foreign = said(done)
    assert handled > 2 and foreign == 0 and os.path.exists(file), done


@pytest.mark.parametrize("timer", TIMERS)
def test_a_timer_that_kills_at_the_end(own_timers, tmp_path, timer):
    """The result takes longer than the timer: without us the program would be gone before it goes off."""
    died = []
    for number in range(counted(13, 50)):
        file = tmp_path / f"{number}.html"
        done = preloaded(own_timers, timer, "100", "dies", file=file)
        if done.returncode != 7 or os.path.getsize(file) < 1000:
            died.append((number, done))
    # the system may let it wait for 24 ms before it gets to exit(); half of them and more died before
    assert len(died) < 4, died


@pytest.mark.parametrize("timer", ["real", "created"])
def test_an_alarm_lasts_until_after_the_result(own_timers, tmp_path, timer):
    """What it watches over may come behind us."""
    file = tmp_path / "r.html"
    done = preloaded(own_timers, timer, "100", "alarm", file=file)
    assert done.returncode == -signal.SIGALRM and os.path.getsize(file) > 1000, done


@pytest.mark.skipif(not shutil.which("perl"), reason="there is no perl")
@pytest.mark.parametrize("event", ["cpu", "wall"])
def test_perl(tmp_path, event, say):
    """Its handler crashes on threads that are not its own; at its end the timer goes on, so that it may die anyway."""
    script = ("use Time::HiRes qw(setitimer ITIMER_PROF time); $SIG{PROF}=sub{$p++}; setitimer(ITIMER_PROF,0.01,0.01); "
              "my $e=time+0.2; my $x; while(time<$e){$x+=$_ for 1..1e4}")
    ends, rounds = [], counted(20, 100)
    for number in range(rounds):
        file = tmp_path / f"{number}.html"
        ends.append(preloaded("perl", "-e", script, command=f"start,event={event},interval=1ms", file=file).returncode)
        assert ends[-1] or os.path.getsize(file) > 1000
    say(f"{event}: {ends.count(0)} of {rounds} ended well, {ends.count(-signal.SIGPROF)} died of their timer")
    assert set(ends) <= {0, -signal.SIGPROF} and ends.count(0) > 0.7 * rounds, ends


def open_signals(pid):
    """{name of a thread of ours: the signals that it does not block}"""
    found = {}
    for tid in os.listdir(f"/proc/{pid}/task"):
        try:
            with open(f"/proc/{pid}/task/{tid}/status") as file:
                fields = dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)
        except OSError:
            continue
        if fields["Name"].startswith("jstrobe"):
            blocked = int(fields["SigBlk"], 16)
            found[fields["Name"]] = {n for n in range(1, 65) if not blocked >> (n - 1) & 1} - UNBLOCKABLE
    return found


@pytest.mark.parametrize("options", [
    "-e cpu", "-e ctimer", "-e itimer", "-e wall", "-e cpu -e wall --alloc 512k --lock 1ms", "-e live", "-e nativemem",
    "-e nativelock", "-e io", "-e page-faults", "-e cpu --last 1m", "-e cpu --loop 1s",
    "--trace truth.KnownShares.alpha"])
@pytest.mark.parametrize("kind", ["jfr", "html"])
def test_signals_of_our_threads(jdk17, options, kind):
    """None of the program's handlers can run on them; of a timer of ours for the whole process they take their part."""
    name = "-%n." if "--loop" in options else "."
    path = jvm.result_file(name + kind)
    with Program(jdk17, "KnownShares") as program:
        done = jstrobe("start", *options.split(), "-f", path, program.pid)
        assert done.returncode == 0, done.stderr
        allowed = FAULTS | ({signal.SIGPROF} if "itimer" in options else set())
        for _ in range(5):
            program.work(0.1)
            for thread, signals in open_signals(program.pid).items():
                more = OF_THE_JVM if thread in ATTACHED else set()
                assert signals <= allowed | more, (thread, sorted(signals - allowed - more))
        if "trace" not in options:
            wait_until(lambda: "jstrobe drain" in open_signals(program.pid))
        assert jstrobe("stop", program.pid).returncode == 0
        assert "jstrobe drain" not in open_signals(program.pid)
        # the next session's threads take nothing any more
        assert jstrobe("start", "-e", "ctimer", program.pid).returncode == 0
        wait_until(lambda: "jstrobe drain" in open_signals(program.pid))
        assert open_signals(program.pid)["jstrobe drain"] <= FAULTS
        assert jstrobe("stop", "-f", jvm.result_file(".collapsed"), program.pid).returncode == 0


@pytest.mark.parametrize("event", ["cpu", "wall"])
def test_signals_of_our_threads_without_a_jvm(own_timers, tmp_path, event):
    env = dict(os.environ, LD_PRELOAD=jvm.LIBRARY, JSTROBE_COMMAND=f"start,event={event},file={tmp_path}/r.jfr")
    with subprocess.Popen([own_timers, "prof", "1500", "handled"], env=env, stdout=subprocess.DEVNULL) as process:
        wait_until(lambda: "jstrobe drain" in open_signals(process.pid))
        for thread, signals in open_signals(process.pid).items():
            assert signals <= FAULTS, (thread, sorted(signals))
        assert process.wait(timeout=60) == 7
