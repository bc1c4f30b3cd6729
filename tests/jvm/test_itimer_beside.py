"""itimer beside other events: what it says of CPU time stays true, and the others' samples come, too."""
import math
import os

import jvm
import pytest
from api import AWAY, Api
from jvm import CpuClock, Program, counted, jstrobe, stolen
from test_events import profiles
from test_truth import SHARES, tolerance

pytestmark = pytest.mark.together

BESIDE = ["alloc@512k", "lock@10us", "wall@10ms", "nativemem@64k", "nativelock@10us", "io@100us", "live@512k",
          "page-faults@10", "context-switches@20", "alloc@512k,lock@10us", "alloc@512k,wall@20ms,lock@10us"]


def recorded(program, events, seconds, *more):
    """{event: its profile}, with the clock of the target."""
    path = jvm.result_file()
    clock, before = CpuClock(program.cpu), stolen()
    done = jstrobe("record", "-t", "-o", "json", "-f", path, "-e", events, *more, "-d", seconds, program.pid)
    clock.stop()
    assert done.returncode == 0, done.stderr
    found = profiles(path, done)
    for profile in found.values():
        profile.clocks, profile.stolen = [clock], stolen() - before
        profile.check()
    return found


def check_cpu(profile, truth, points):
    """Its total is the target's CPU time, and each method's share is what the method has measured itself."""
    cpu = profile.cpu_clock() - profile.json.get("own_cpu_ns", 0)
    weight = profile.weight["total"] + profile.weight["lost"]
    assert abs(weight / cpu - 1) <= tolerance(profile, 1e6, cpu) + 0.01, (weight, cpu)
    worst = 0
    for thread, methods in SHARES.items():
        stacks, everything = profile.of_thread(thread), sum(truth[m] for m in methods)
        assert stacks, f"no sample of {thread}"
        for method in methods:
            seen, known = profile.share("truth.KnownShares." + method, stacks), truth[method] / everything
            chance = 3 * math.sqrt(known * (1 - known) / sum(s["samples"] for s in stacks))
            assert abs(seen - known) <= max(points, chance), (method, seen, known)
            worst = max(worst, abs(seen - known))
    return weight / cpu - 1, worst


@pytest.mark.parametrize("beside", BESIDE)
def test_cpu_time(jdk17, beside, say):
    with Program(jdk17, "KnownShares") as program:
        program.reset()
        found = recorded(program, "itimer@1ms," + beside, counted("3", "10"))
        truth = program.mark()
        assert list(found) == ["itimer"] + [name.split("@")[0] for name in beside.split(",")]
        total, worst = check_cpu(found["itimer"], truth, 0.04)
        assert found["itimer"].json["engine"] == "itimer"
        if "wall" in found:
            # each thread's time passes as it is, whether it runs or waits; a busy machine makes the clock miss ticks
            length, lost = found["wall"].json["duration_ns"], found["wall"].weight["lost"]
            for thread in ("shares-1", "main"):
                passed = sum(s["weight"] for s in found["wall"].of_thread(thread))
                assert passed < 1.1 * length and passed + lost > 0.85 * length, (thread, passed, lost, length)
        assert jstrobe("status", program.pid).stdout == "Profiler is not active\n"
    say(f"itimer beside {beside}: total {total:+.2%} of the CPU clock, worst method {100 * worst:.2f} points off, "
        f"{found['itimer'].samples['stored']} samples; of the others {[p.samples['stored'] for p in found.values()][1:]}")


def test_what_the_others_see(jdk):
    """On programs that do what they sample; in any order of the list."""
    with Program(jdk, "Garbage") as program:
        found = recorded(program, "alloc@64k,itimer@1ms", "2")
        assert found["alloc"].samples["stored"] > 20 and found["itimer"].samples["stored"] > 20


def test_the_words_of_pyroscope(jdk, tmp_path):
    path = str(tmp_path / "p.jfr")
    agent = f"-agentpath:{jvm.LIBRARY}=start,event=itimer,interval=10ms,alloc=512k,lock=10ms,file={path}"
    with Program(jdk, "KnownShares", jvm=[agent]) as program:
        program.work(1)
        assert program.stop() == 0
        assert not any("unprofiled" in line for line in program.output), program.output
    done = jstrobe("convert", "--cpu", "-o", "collapsed", path)
    assert done.returncode == 0 and "truth/KnownShares.alpha" in done.stdout, done.stderr
    with Api(jdk) as program:
        it = program.made("a", AWAY, jvm.LIBRARY)
        for _ in range(3):
            assert "started" in it.execute(f"start,event=itimer,interval=10ms,alloc=512k,lock=10ms,jfr,file={path}")
            program.work(0.3)
            it.execute(f"stop,file={path}")
            assert os.path.getsize(path) > 1000
        assert program.close() == 0, program.output


def test_still_refused(jdk17):
    with Program(jdk17, "KnownShares") as program:
        for events, says in (("itimer,cpu", "both are CPU time"), ("ctimer,itimer", "both are CPU time"),
                             ("itimer,itimer", "twice")):
            done = jstrobe("record", "-e", events, "-d", "0.2", program.pid)
            assert done.returncode == 1 and says in done.stderr, done.stderr
        done = jstrobe("record", "-e", "alloc,itimer", "--filter", "name:main", "-d", "0.2", program.pid)
        assert done.returncode == 1 and "filter: itimer" in done.stderr, done.stderr
