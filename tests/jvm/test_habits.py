"""Options that async-profiler's users know: each changes the result as they expect."""
import datetime
import json
import os
import re
import subprocess
import time

import jvm
import pytest
from jvm import Program, counted, jstrobe, wait_until

pytestmark = pytest.mark.together

LEAVES = ("alpha", "beta", "gamma", "delta", "epsilon", "zeta")


def stacks(text):
    """{stack: count} of a collapsed result."""
    return {line.rsplit(" ", 1)[0]: int(line.rsplit(" ", 1)[1]) for line in text.splitlines()}


def names(text):
    return {name for stack in stacks(text) for name in stack.split(";")}


@pytest.fixture(scope="module")
def ended(programs):
    """dump(options…) → the text of one ended session of KnownShares: the same data for all tests."""
    with Program(jvm.find_jdk(17), "KnownShares") as program:
        assert jstrobe("start", "-i", "1ms", "-t", program.pid).returncode == 0
        time.sleep(1)
        assert jstrobe("stop", "-o", "collapsed", program.pid).returncode == 0

        def dump(*options):
            done = jstrobe("dump", *options, program.pid)
            assert done.returncode == 0, done.stderr
            return done.stdout
        yield dump


def test_names(ended):
    plain = names(ended("-o", "collapsed"))
    assert "truth/KnownShares.alpha" in plain
    assert "KnownShares.alpha" in names(ended("-o", "collapsed", "-s"))
    assert "truth.KnownShares.alpha" in names(ended("-o", "collapsed", "--dot"))
    assert "truth/KnownShares.alpha(J)J" in names(ended("-o", "collapsed", "-g"))
    assert "java/lang/Thread.run()V" in names(ended("-o", "collapsed", "-g"))
    annotated = names(ended("-o", "collapsed", "-a"))
    assert {"truth/KnownShares.alpha_[j]", "truth/KnownShares.alpha_[1]",
            "truth/KnownShares.alpha_[0]"} & annotated, annotated
    assert any(re.fullmatch(r"libjvm\.so`.*", name) for name in names(ended("-o", "collapsed", "-l")))
    both = names(ended("-o", "collapsed,simple,sig,ann"))
    assert any(name.startswith("KnownShares.alpha(J)J_[") for name in both), both


def test_hidden_classes(ended):
    """The lambdas that are the threads' bodies: by what they call, or with their address, as agents see it, or without."""
    named = {n for n in names(ended("-o", "collapsed")) if "$$Lambda" in n}
    assert named and all(re.fullmatch(r"truth/\w+\$\$Lambda → [\w.]+", n) for n in named), named
    plain = {n for n in names(ended("-o", "collapsed", "--no-norm")) if "$$Lambda" in n}
    assert plain and all(re.fullmatch(r"truth/.*\$\$Lambda\$\d+\.0x[0-9a-f]{16}\.run", n) for n in plain), plain
    short = {n for n in names(ended("-o", "collapsed", "-n", "--no-norm")) if "$$Lambda" in n}
    assert short and all(re.fullmatch(r"truth/.*\$\$Lambda\$\d+\.run", n) for n in short), short


def test_include_and_exclude(ended):
    everything = stacks(ended("-o", "collapsed"))
    for options, wanted in (
            (["-I", "truth/KnownShares.alpha"], lambda s: "truth/KnownShares.alpha" in s.split(";")),
            (["-I", "*.alpha", "-I", "*.zeta"], lambda s: ".alpha" in s or ".zeta" in s),
            (["-X", "*.alpha"], lambda s: not any(f.endswith(".alpha") for f in s.split(";"))),
            (["-t", "-I", "shares-1"], lambda s: True)):
        shown = stacks(ended("-o", "collapsed", *options))
        if "-t" in options:
            assert shown and all(s.startswith("[shares-1 tid=") for s in shown)
            continue
        assert shown, options
        assert sum(shown.values()) == sum(n for s, n in everything.items() if wanted(s)), options
    text = ended("-o", "traces", "-I", "truth.KnownShares.alpha")
    assert re.search(r"^Filter +: [\d,]+ of [\d,]+ samples shown", text, re.M), text
    assert "KnownShares.alpha" in text and "KnownShares.beta" not in text


def test_counts_or_times(ended):
    """total gives ns, samples takes it back; text is ordered by ns in any case."""
    counts, times = (sum(stacks(ended("-o", "collapsed", *o)).values()) for o in ([], ["--total"]))
    assert times > 1000 * counts
    assert sum(stacks(ended("-o", "collapsed", "--total", "--samples")).values()) == counts
    rows = re.findall(r"^ *(\d+) +[\d.]+% +\d+  \S", ended("-o", "flat"), re.M)
    assert len(rows) > 4 and [int(r) for r in rows] == sorted((int(r) for r in rows), reverse=True)


def test_so_many_rows(ended):
    text = ended("-o", "traces=2,flat=3")
    assert len(re.findall(r"^--- \d+ ns", text, re.M)) == 2
    assert len(re.findall(r"^ *\d+ +[\d.]+% +\d+  \S", text, re.M)) == 3


def test_page_options(ended, tmp_path):
    path = tmp_path / "x.html"
    ended("--reverse", "--inverted", "--title", "My <title>", "--minwidth", "60", "-f", path)
    page = path.read_text()
    assert "My &lt;title>" in page and '"reverse":true' in page and '"inverted":true' in page
    assert "[below minwidth]" in page
    ended("--minwidth", "100", "-f", path)
    assert "KnownShares" not in path.read_text().split('"names":')[1], "two threads: none is all"


def test_java_only_and_depth(jdk17):
    """cstack=no leaves no native frame; jstackdepth=N/M keeps M frames of deeper stacks."""
    with Program(jdk17, "Recursion", 200) as program:
        done = jstrobe("record", "-d", "0.5", "-i", "1ms", "--cstack", "no", "-j", "40/5",
                       "-o", "json", program.pid)
        assert done.returncode == 0, done.stderr
        profile = json.loads(done.stdout)
    kinds = {k for s in profile["stacks"] for k in s["kinds"]}
    assert not kinds & {"native", "kernel"}, kinds
    cut = [s for s in profile["stacks"] if s["frames"][0] == "[truncated]"]
    assert cut and all(len(s["frames"]) == 6 for s in cut)
    others = [s for s in profile["stacks"] if s not in cut]
    assert all(len(s["frames"]) <= 40 for s in others)


def test_command_line_of_async_profiler(jdk17):
    """A line as scripts have it: every letter is taken, the file is what it says."""
    path = jvm.result_file(".collapsed")
    asprof = os.path.join(jvm.OUT, "bin", "asprof")
    with Program(jdk17, "KnownShares") as program:
        done = subprocess.run(
            [asprof, "-e", "cpu", "-d", "1", "-i", "1000000", "-j", "500", "-t", "-s", "-g", "-a", "-l", "-n",
             "-I", "*alpha*", "-X", "*zeta*", "--cstack", "vm", "--width", "1000", "-L", "warn",
             "-f", path, str(program.pid)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    with open(path) as file:
        shown = stacks(file.read())
    os.remove(path)
    assert shown and all(re.match(r"\[shares-1 tid=\d+\];", s) and "KnownShares.alpha(J)J_[" in s for s in shown)


def test_timeout_stops_and_writes(jdk17, tmp_path):
    """The command returns at once; the session ends by itself, and the agent's thread with it."""
    path = tmp_path / "result.collapsed"
    with Program(jdk17, "KnownShares") as program:
        began = time.time()
        done = jstrobe("--timeout", "1s", "-i", "1ms", "-f", path, program.pid)
        assert done.returncode == 0, done.stderr
        assert "Profiling is running" in jstrobe("status", program.pid).stdout
        wait_until(lambda: os.path.exists(path))
        assert time.time() - began >= 1
        assert sum(stacks(path.read_text()).values()) > 10
        assert "not active" in jstrobe("status", program.pid).stdout
        wait_until(lambda: "jstrobe timer" not in program.threads().values(), 5)
        # without a file the data stay to be fetched
        assert jstrobe("start", "--timeout", "500ms", "-i", "1ms", program.pid).returncode == 0
        end = time.time() + 20
        while "not active" not in jstrobe("status", program.pid).stdout:
            assert time.time() < end
        assert stacks(jstrobe("dump", "-o", "collapsed", program.pid).stdout)


def test_loop_writes_file_after_file(jdk17, tmp_path):
    """%n counts the rounds from 0; each holds what came since the one before; stop ends the last."""
    with Program(jdk17, "KnownShares") as program:
        done = jstrobe("start", "--loop", "500ms", "-i", "1ms", "-f", tmp_path / "r-%p-%n.collapsed", program.pid)
        assert done.returncode == 0, done.stderr
        files = [tmp_path / f"r-{program.pid}-{n}.collapsed" for n in range(4)]
        wait_until(lambda: os.path.exists(files[2]))
        assert jstrobe("stop", program.pid).returncode == 0
        assert files[3].exists()
        counts = [sum(stacks(f.read_text()).values()) for f in files]
        assert all(0 < n < 20000 for n in counts[:3]), counts
        time.sleep(1)
        assert sorted(os.listdir(tmp_path)) == sorted(f.name for f in files)
        done = jstrobe("start", "--loop", "1h", program.pid)
        assert done.returncode == 1 and "loop: the results have no file" in done.stderr
        for option in ("--loop", "1s"), ("--timeout", "5s"):
            done = jstrobe("record", *option, "-d", "30", "-f", tmp_path / "n-%n.collapsed", program.pid)
            assert done.returncode == 2 and f"-d and {option[0]} do not go together" in done.stderr, done.stderr
        assert "not active" in jstrobe("status", program.pid).stdout


@pytest.mark.parametrize("event", ["cpu", "cpu,wall"])
def test_a_loop_says_what_is_in_no_round(jdk, event, tmp_path):
    """Rounds and the gaps that they name fill the time; status and stop name the present round's file."""
    with Program(jdk, "KnownShares") as program:
        done = jstrobe("start", "--loop", "700ms", "-e", event, "-f", tmp_path / "l-%n.json", program.pid)
        assert done.returncode == 0, done.stderr
        for n in (1, 2, 3):
            wait_until(lambda: f"l-{n}.json" in jstrobe("status", program.pid).stdout, 60)  # while it goes on
            assert not (tmp_path / f"l-{n + 1}.json").exists()
        done = jstrobe("stop", program.pid)
        assert done.returncode == 0, done.stderr
    rounds = sorted(tmp_path.iterdir(), key=lambda path: int(path.stem[2:]))
    assert rounds[-1].name in done.stdout + done.stderr, (rounds, done.stdout, done.stderr)
    assert len(rounds) >= 4
    former = None
    for path in rounds:
        found = json.loads(path.read_text())
        for one in found.get("profiles", [found]):
            began = datetime.datetime.fromisoformat(one["started_at"].replace("Z", "+00:00")).timestamp()
            if former is None:
                assert "gap_ns" not in one
            else:
                assert one["gap_ns"] > 0
                assert abs(former + one["gap_ns"] / 1e9 - began) < 0.005, (path.name, former, began, one["gap_ns"])
            ended = began + one["duration_ns"] / 1e9
        former = ended


def test_agent_string_with_loop_and_timeout(jdk17, tmp_path):
    """From -agentpath: rounds until the timeout ends the last one; %n{MAX} comes round again."""
    pattern = tmp_path / "a%n{2}.collapsed"
    agent = f"-agentpath:{jvm.LIBRARY}=start,interval=1ms,loop=400ms,timeout=1500ms,file={pattern}"
    with Program(jdk17, "KnownShares", jvm=[agent]) as program:
        wait_until(lambda: os.path.exists(tmp_path / "a1.collapsed"))
        wait_until(lambda: "not active" in jstrobe("status", program.pid).stdout, 20)
    assert sorted(os.listdir(tmp_path)) == ["a0.collapsed", "a1.collapsed"]


def test_log(jdk17, tmp_path):
    """What the agent has to say without a command goes to the file that log= names."""
    log = tmp_path / "agent.log"
    with Program(jdk17, "Sleepers", 1, "idle", jvm=[f"-agentpath:{jvm.LIBRARY}=start,event=9nonsense,log={log}"]):
        assert "unknown event: 9nonsense" in log.read_text()
    log.unlink()
    with Program(jdk17, "Sleepers", 1, "idle", jvm=[
            f"-agentpath:{jvm.LIBRARY}=start,event=9nonsense,log={log},loglevel=none"]) as program:
        assert not log.exists() and not [line for line in program.output if "jstrobe" in line]


def caught(program):
    """Numbers of the signals that the process has handlers for."""
    with open(f"/proc/{program.pid}/status") as file:
        mask = int(next(line.split()[1] for line in file if line.startswith("SigCgt:")), 16)
    return {n for n in range(1, 65) if mask >> (n - 1) & 1}


def test_signal(jdk17):
    """The signal asked for is the one; one that is in use is refused with the reason."""
    with Program(jdk17, "KnownShares") as program:
        before = caught(program)
        for event in ("cpu", "ctimer"):
            assert jstrobe("start", "-e", event, "--signal", "30/16", "-i", "1ms", program.pid).returncode == 0
            assert caught(program) - before == {30}
            time.sleep(0.3)
            done = jstrobe("stop", "-o", "collapsed", program.pid)
            assert sum(stacks(done.stdout).values()) > 0
            assert caught(program) == before
        for number, reason in ((3, "in use"), (11, "cannot be used"), (9, "cannot be used"), (40, "cannot be used")):
            done = jstrobe("start", "--signal", number, program.pid)
            assert done.returncode == 1 and f"signal={number}" in done.stderr and reason in done.stderr
        done = jstrobe("start", "-e", "itimer", "--signal", "30", program.pid)
        assert done.returncode == 1 and "SIGPROF" in done.stderr
        assert caught(program) == before


def test_thread_filter(jdk17):
    """Only the threads that are named have samples; the CPU time of the others is unsampled."""
    with Program(jdk17, "KnownShares") as program:
        tid = program.tid("shares-1")
        for event in ("cpu", "ctimer"):
            done = jstrobe("record", "-e", event, "-d", "0.5", "-i", "1ms", "-t", "--filter", f"1,{tid}",
                           "-o", "json", program.pid)
            assert done.returncode == 0, done.stderr
            profile = json.loads(done.stdout)
            assert [t["tid"] for t in profile["threads"]] == [tid]
            assert profile["samples"]["stored"] > 0
            assert profile["weight"]["unsampled"] >= 0.3 * profile["weight"]["total"], profile["weight"]
        done = jstrobe("record", "-e", "itimer", "-d", "0.5", "--filter", tid, program.pid)
        assert done.returncode == 1 and "filter: itimer" in done.stderr


def test_words_of_async_profiler(jdk17):
    """What goes wrong is called as there."""
    with Program(jdk17, "Sleepers", 1, "idle") as program:
        assert "Profiler is not active" in jstrobe("stop", program.pid).stderr
        assert jstrobe("start", program.pid).returncode == 0
        assert "Profiler already started" in jstrobe("start", program.pid).stderr
        assert jstrobe("stop", program.pid).returncode == 0
        assert "Profiler is not active" in jstrobe("stop", program.pid).stderr


@pytest.mark.parametrize("ended", ["by the clock", "by a stop"])
def test_stop_after_the_end(jdk, tmp_path, ended):
    """The result of a session that has ended is there until the next one begins: a stop that says where writes it."""
    path = str(tmp_path / "late.collapsed")
    with Program(jdk, "KnownShares") as program:
        early = jstrobe("stop", "-f", path, program.pid)
        assert early.returncode == 1 and "Profiler is not active" in early.stderr and not os.path.exists(path)
        clock = ["--timeout", "1"] if ended == "by the clock" else []
        assert jstrobe("start", "-e", "cpu", "-i", "1ms", *clock, program.pid).returncode == 0
        if ended == "by the clock":
            wait_until(lambda: "not active" in jstrobe("status", program.pid).stdout)
        else:
            program.work(0.5)
            assert jstrobe("stop", "-f", os.devnull, program.pid).returncode == 0
        for late in (["-f", path], ["-o", "collapsed"], ["-f", path]):
            done = jstrobe("stop", *late, program.pid)
            assert done.returncode == 0, done.stderr
            assert "the session had ended before; this is its result" in done.stderr
            if "-f" in late:
                with open(path) as file:
                    done.stdout = file.read()
                os.remove(path)
            assert "truth/KnownShares.alpha" in done.stdout
        done = jstrobe("stop", program.pid)
        assert done.returncode == 1 and "Profiler is not active" in done.stderr, "without a place there is nothing to do"
        assert jstrobe("start", "-e", "ctimer", program.pid).returncode == 0
        done = jstrobe("stop", "-f", path, program.pid)
        assert done.returncode == 0 and "had ended before" not in done.stderr


def started(pid):
    """Ticks since boot at which a process began; 0 when it is gone."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return int(file.read().rpartition(")")[2].split()[19])
    except OSError:
        return 0


def test_jps_is_the_newest_jvm(jdk17):
    """Others may start JVMs meanwhile: then it is one of those, never an older one."""
    with Program(jdk17, "Sleepers", 1, "idle") as older, Program(jdk17, "Sleepers", 1, "idle") as program:
        for _ in range(10):
            done = jstrobe("version", "--verbose", "jps")
            found = re.search(r"into process (\d+)", done.stderr)
            if found and started(int(found[1])):
                break
        assert int(found[1]) != older.pid and started(int(found[1])) >= started(program.pid)


def test_the_process_may_stand_first(jdk17):
    with Program(jdk17, "Sleepers", 1, "idle") as program:
        assert jstrobe(program.pid, "status").stdout == "Profiler is not active\n"
        assert jstrobe(program.pid, "start", "-i", "1ms").returncode == 0
        assert jstrobe(program.pid, "stop").returncode == 0


def test_place_frames(jdk17):
    """sched and record-cpu put their frames outside everything, in async-profiler's order."""
    with Program(jdk17, "KnownShares") as program:
        for event in ("cpu", "ctimer"):
            done = jstrobe("record", "-e", event, "-d", "0.5", "-i", "1ms", "-t", "--sched", "--record-cpu",
                           "-o", "collapsed", program.pid)
            assert done.returncode == 0, done.stderr
            found = stacks(done.stdout)
            pattern = r"\[CPU-\d+\];\[SCHED_[A-Z]+\];\[[^;]+ tid=\d+\];[^;]+"
            assert found and all(re.match(pattern, s) for s in found), list(found)[:5]
            cpus = {int(re.match(r"\[CPU-(\d+)", s)[1]) for s in found}
            assert cpus <= set(range(os.cpu_count())), cpus
        found = stacks(jstrobe("record", "-d", "0.3", "-i", "1ms", "--sched", "-o", "collapsed", program.pid).stdout)
        policy = {os.SCHED_OTHER: "OTHER", os.SCHED_BATCH: "BATCH", os.SCHED_IDLE: "IDLE"}[os.sched_getscheduler(0)]
        assert found and all(s.startswith(f"[SCHED_{policy}];") for s in found), found


def test_user_mode_only(jdk17):
    """No kernel frame; the time in the kernel is reported as unsampled."""
    with Program(jdk17, "Syscalls") as program:
        done = jstrobe("record", "--all-user", "-d", "0.5", "-i", "1ms", "-o", "json", program.pid)
        assert done.returncode == 0, done.stderr
        profile = json.loads(done.stdout)
    assert profile["samples"]["stored"] > 0
    assert not [s for s in profile["stacks"] if "kernel" in s["kinds"]]


def user_clock(program):
    """User ns of the process, in ticks of the kernel; (~pid << 3) | 1 is the kernel's name for that clock."""
    return time.clock_gettime_ns((~program.pid << 3) | 1)


@pytest.mark.parametrize("name", ["PageFaults", "Syscalls", "KnownShares"])
@pytest.mark.parametrize("event", ["cpu", "ctimer", "periodic"])
def test_user_mode_weighs_user_time(jdk, event, name, say):
    """
    Of threads that are in the kernel mostly, half of the time, hardly: samples weigh what the kernel counts as user
    time, give or take what so many samples or ticks may be off by chance; the rest is unsampled.
    """
    with Program(jdk, name) as program:
        outer = user_clock(program)
        started = jstrobe("start", "-e", event, "-i", "1ms", "--all-user", program.pid)
        assert started.returncode == 0, started.stderr
        inner, cpu = user_clock(program), program.cpu()
        program.work(1.5, 120)
        least, cpu = user_clock(program) - inner, program.cpu() - cpu
        done = jstrobe("stop", "-o", "json", program.pid)
        most = user_clock(program) - outer
    assert done.returncode == 0, done.stderr
    profile = json.loads(done.stdout)
    weight = profile["weight"]
    sampled, tick = weight["total"] + weight["lost"], 4e6
    chance = 4 * tick * max(16, most / tick) ** 0.5
    say(f"user time, {event}, {name} on {jdk}: {sampled / 1e9:.3f} s sampled, {least / 1e9:.3f} to {most / 1e9:.3f} "
        f"by the kernel's clock, {weight['unsampled'] / 1e9:.3f} s unsampled of {cpu / 1e9:.3f} s")
    assert least - profile["own_cpu_ns"] - chance <= sampled <= most + chance
    assert weight["unsampled"] >= cpu - most - profile["own_cpu_ns"] - chance
    assert profile["samples"]["stored"] > 0


def test_user_mode_needs_a_count_of_user_time(jdk17):
    """ITIMER_PROF goes by user and kernel time as one."""
    with Program(jdk17, "KnownShares") as program:
        done = jstrobe("record", "-e", "itimer", "--all-user", "-d", "0.2", program.pid)
        assert done.returncode == 1 and "use -e cpu or -e ctimer" in done.stderr, done.stderr


@pytest.mark.parametrize("event", ["cpu", "wall", "page-faults", "cpu,lock"])
@pytest.mark.parametrize("pattern", ["name:zzz", "group:zzz", "1-2", "name:main2*;name:zzz"])
def test_a_filter_that_no_thread_matches_is_said(jdk, event, pattern):
    """It looks like a quiet program otherwise."""
    with Program(jdk, "KnownShares") as program:
        done = jstrobe("record", "-e", event, "--filter", pattern, "-d", "0.3", program.pid)
        said = done.stdout + done.stderr
        assert "no thread matched the filter" in said and "CPU time in" not in said, said
        done = jstrobe("record", "-e", event, "--filter", "name:shares-1", "-d", "0.3", program.pid)
        assert "no thread matched" not in done.stdout + done.stderr, done.stderr


def test_one_cpu(jdk17):
    """Samples of one CPU only; engines without perf events refuse, as async-profiler does."""
    with Program(jdk17, "KnownShares") as program:
        for tid in os.listdir(f"/proc/{program.pid}/task"): # others may keep it off CPU 0 for half a second
            os.sched_setaffinity(int(tid), {0})
        done = jstrobe("record", "--target-cpu", "0", "--record-cpu", "-d", "0.5", "-i", "1ms", "-o", "collapsed", program.pid)
        if done.returncode == 1 and "no permission" in done.stderr:
            pytest.skip("no perf events are permitted here: " + done.stderr)
        assert done.returncode == 0, done.stderr
        found = stacks(done.stdout)
        total = sum(found.values())
        # a thread can be moved between the signal and the handler's look
        assert sum(n for s, n in found.items() if s.startswith("[CPU-0];")) >= 0.9 * total > 0
        done = jstrobe("record", "-e", "ctimer", "--target-cpu", "0", "-d", "0.5", program.pid)
        assert done.returncode == 1 and "target-cpu is only supported with perf_events" in done.stderr
        done = jstrobe("record", "--target-cpu", "8000", "-d", "0.5", program.pid)
        assert done.returncode == 1 and "this machine has CPUs 0 to" in done.stderr


def test_a_stop_names_the_file_that_it_wrote(jdk, tmp_path):
    """Also where a round of a loop ends while the stop comes."""
    with Program(jdk, "KnownShares") as program:
        for number in range(counted(12, 200)):
            suffix = (".json", ".jfr")[number % 2]
            place = str(tmp_path / f"round-{number}-%n{suffix}")
            assert jstrobe("start", "--loop", "60ms", "-f", place, program.pid).returncode == 0
            program.work(0.05 + 0.013 * (number % 7))
            done = jstrobe("stop", program.pid)
            assert done.returncode == 0, done.stderr
            said = re.search(r"result: (\S+)", done.stderr + done.stdout).group(1)
            written = [path for path in tmp_path.iterdir() if path.name.startswith(f"round-{number}-")]
            last = max(written, key=lambda path: int(path.stem.split("-")[-1]))
            assert said == str(last), (said, sorted(path.name for path in written))
        assert program.stop() == 0, program.output[-5:]


def test_ratelimit(jdk, say):
    """A rate of samples, kept by the interval: their sum is the CPU time all the same. Allocations follow theirs."""
    with Program(jdk, "KnownShares") as program:
        done = jstrobe("record", "-d", "4", "-e", "cpu", "--ratelimit", "cpu:50;alloc:20", "-o", "json", program.pid)
        assert done.returncode == 2 or "rate" in done.stderr, done.stderr  # no allocations are sampled: no rate of theirs
        done = jstrobe("record", "-d", "4", "-e", "cpu", "-i", "1ms", "--ratelimit", "cpu:50", "-o", "json", program.pid)
        assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    taken, cpus = result["samples"]["taken"], os.cpu_count()
    say(f"{taken} samples in 4 s, interval {result['interval_ns']} ns on {cpus} CPUs")
    assert result["interval_ns"] == cpus * 20_000_000
    assert 5 <= taken <= 4 * 50 * 1.15, taken  # a busy machine gives it less than two CPUs
    weight = sum(stack["weight"] for stack in result["stacks"])
    assert 0.7 < weight / (taken * result["interval_ns"]) < 1.3, (weight, taken)
