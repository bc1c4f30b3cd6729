"""Numbers agree with clocks that jstrobe does not read: CPU time, shares, VM work, idleness."""
import math

import jvm
import pytest
from jvm import SOAK, Program, counted, record, wait_until

pytestmark = pytest.mark.each_jdk

BUSY = {
    "busy": ("KnownShares", ()),
    "mostly-idle": ("MostlyIdle", ()),
    "syscalls": ("Syscalls", ()),
    "page-faults": ("PageFaults", ()),
}


def tolerance(profile, interval_ns, cpu):
    """
    The larger of 2 %, half an interval a live thread, 3/sqrt(samples) - of the CPU time; and what the machine's host
    took away, which the kernel counts for perf events and not for CPU clocks.
    """
    threads = len(profile.threads)
    samples = max(1, profile.samples["stored"])
    return max(0.02, 0.5 * interval_ns * threads / cpu, 3 / math.sqrt(samples)) + profile.stolen / cpu


def seconds_for(samples, interval_ms, cores):
    return str(round(samples * interval_ms / 1000 / cores + 0.5, 1))


CASES = [(engine, workload, 1) for engine in ("cpu", "ctimer", "itimer") for workload in BUSY]
CASES += [(engine, workload, 10) for engine in ("cpu", "ctimer", "itimer")
          for workload in (BUSY if SOAK else ["busy"])]


@pytest.mark.parametrize("engine,workload,interval", CASES)
def test_total_weight_is_the_cpu_time(jdk17, engine, workload, interval, say):
    name, args = BUSY[workload]
    cores = {"busy": 2, "mostly-idle": 0.4}.get(workload, 1)
    wanted = counted(500, 5000)
    length = seconds_for(wanted, interval, cores) if SOAK else "2" if interval == 1 else "3"
    with Program(jdk17, name, *args) as program:
        profile = record(program, "-e", engine, "-i", f"{interval}ms", "-d", length)
        if SOAK and profile.samples["stored"] < wanted:
            # Timers go off at the kernel's tick at most, and others may have had the machine.
            more = float(length) * 1.1 * wanted / max(profile.samples["stored"], 50)
            profile = record(program, "-e", engine, "-i", f"{interval}ms", "-d", min(round(more, 1), 600))
    cpu = profile.target_cpu()
    weight = profile.weight["total"] + profile.weight["lost"]
    allowed = tolerance(profile, interval * 1e6, cpu)
    say(f"weight {engine} {interval} ms {workload}: {weight / cpu - 1:+.2%} of the CPU clock "
        f"(allowed {allowed:.1%}), {profile.samples['stored']} samples")
    assert abs(weight / cpu - 1) <= allowed
    assert profile.accounts(within=max(0.02, allowed / 2)), (profile.weight, cpu)
    # One sample of a timer is worth a tick of the kernel or more: two may be lost in a short run.
    lost, tick = profile.weight["lost"], max(interval * 1e6, 4e6)
    if engine == "ctimer":
        lost -= lost_at_the_end(profile, tick, weight)
    assert lost <= max(0.001 * weight, 2 * tick), profile.samples


def lost_at_the_end(profile, tick, weight):
    """
    What `ctimer` loses at a session's end. Timers of CPU time go off at the kernel's tick, and which bursts it meets is
    chance: what a thread ran since then is about a tick, twice as much half as often, and is one lost sample if the thread
    has no CPU then. With N threads more than N + 10 ticks of it are one run in 5,000.
    """
    threads, lost = profile.samples["lost"]["disabled"], profile.weight["lost_by_reason"]["disabled"]
    assert threads <= len(profile.threads)
    assert lost <= max(0.001 * weight, (threads + 10) * tick), profile.samples
    return lost


@pytest.mark.skipif(SOAK, reason="the soak runs all workloads on the first JDK, longer")
@pytest.mark.parametrize("engine", ["cpu", "ctimer"])
def test_total_weight_on_the_newest_jdk(jdk25, engine):
    with Program(jdk25, "KnownShares") as program:
        profile = record(program, "-e", engine, "-i", "1ms", "-d", "3")
    cpu = profile.cpu_clock() - profile.json.get("own_cpu_ns", 0)
    weight = profile.weight["total"] + profile.weight["lost"]
    assert abs(weight / cpu - 1) <= tolerance(profile, 1e6, cpu)


# Fixed by construction are the shares within a thread; how much a thread gets is the kernel's choice.
SHARES = {"shares-1": ["alpha", "beta", "gamma", "delta"], "shares-2": ["epsilon", "zeta"]}


@pytest.mark.parametrize("engine,points", [("cpu", 2), ("ctimer", 4), ("itimer", 4)])
def test_shares_of_methods(jdk, engine, points, say):
    """
    Each method's share against CPU time it measured itself. Timers go off at the kernel's tick
    (250 a second or so), so they need longer for the same number of samples.
    """
    length = "10" if SOAK else "6" if engine == "cpu" else "7"
    if engine != "cpu" and not SOAK and (jdk.version, engine) != (17, "ctimer"):
        pytest.skip("only with full counts (make soak): one kind of timer, on one JDK, is in the short ones")
    with Program(jdk, "KnownShares") as program:
        program.reset()
        profile = record(program, "-e", engine, "-i", "1ms", "-d", length)
        truth = program.mark()
    worst = 0
    for thread, methods in SHARES.items():
        stacks, everything = profile.of_thread(thread), sum(truth[m] for m in methods)
        assert stacks, f"no sample of {thread}"
        for method in methods:
            seen = 100 * profile.share("truth.KnownShares." + method, stacks)
            known = 100 * truth[method] / everything
            worst = max(worst, abs(seen - known))
            # On a busy machine there are few samples, and chance alone is worth more points.
            chance = 300 * math.sqrt(known / 100 * (1 - known / 100) / sum(s["samples"] for s in stacks))
            assert abs(seen - known) <= max(points, chance), \
                f"{method}: {seen:.2f} % of {thread}'s profile, {known:.2f} % of its CPU time"
    say(f"shares {engine} {jdk}: worst method is {worst:.2f} points off (allowed {points}), "
        f"{profile.samples['stored']} samples")


@pytest.mark.parametrize("compiler", ["c1", "c2"])
def test_what_runs_seldom_has_a_small_share(jdk, compiler, say):
    """
    Code behind a method's return says nothing of that return: an inlined method there runs in one call of 256. The
    method was compiled before the session, so what the JVM knows of its inside is not much.
    """
    options = ["-XX:CompileCommand=quiet", "-XX:CompileCommand=dontinline,truth.Seldom::often"]
    options += ["-XX:TieredStopAtLevel=1"] if compiler == "c1" else []
    with Program(jdk, "Seldom", jvm=options) as program:
        wait_until(lambda: program.mark().get("rounds", 0) > 20)
        profile = record(program, "-i", "1ms", "-d", counted("1.5", "10"))
    stacks = profile.of_thread("seldom")
    often, seldom = (profile.share("truth.Seldom." + name, stacks) for name in ("often", "seldom"))
    say(f"a method that runs in one call of 256, {compiler} {jdk}: {seldom:.2%} of the samples, its caller {often:.1%}")
    assert often > 0.05 and seldom < 0.1 * often


def test_an_inlined_leaf_has_its_share(jdk, say):
    """
    A leaf that is inlined twice into a method that is not, compiled before the session: of its code only the checks
    say where they stand. All its time goes to the leaf's reads of memory.
    """
    # Compiled in time: what is compiled during the session has the positions of DebugNonSafepoints.
    options = ["-Xbatch", "-XX:CompileCommand=quiet", "-XX:CompileCommand=dontinline,truth.Tail::root"]
    with Program(jdk, "Tail", jvm=options) as program:
        wait_until(lambda: program.mark().get("rounds", 0) > 300, 120)
        profile = record(program, "-i", "1ms", "-d", counted("1.5", "10"))
    stacks = profile.of_thread("tail")
    leaf, mid, root = (profile.share("truth.Tail." + name, stacks) for name in ("leaf", "mid", "root"))
    unsure = profile.samples["ambiguous"] / profile.samples["stored"]
    say(f"a leaf inlined twice, {jdk}: leaf {leaf:.1%}, root {root:.1%}; {unsure:.0%} ambiguous")
    assert leaf > 0.9 and mid > 0.9 and root > 0.9
    assert unsure > 0.5


LEAF_LOOPS = ["nanosUntil", "nanosAfterwards", "nanosCounted", "millisUntil", "millisCounted", "sinCounted", "sinWhile",
              "powCounted", "powWhile", "copyCounted", "copyWhile"]


@pytest.mark.parametrize("compiler", ["c1", "c2"])
def test_a_leaf_routine_is_its_callers(jdk, compiler, say):
    """
    Calls of leaf routines are not described where they return to: what is described next in memory is a method that
    never calls them and takes no time. Compiled before the session, too.
    """
    options = ["-XX:CompileCommand=quiet"]
    options += [f"-XX:CompileCommand=dontinline,truth.LeafCalls::{loop}" for loop in LEAF_LOOPS]
    options += ["-XX:TieredStopAtLevel=1"] if compiler == "c1" else []
    with Program(jdk, "LeafCalls", jvm=options) as program:
        wait_until(lambda: program.mark().get("rounds", 0) > 300, 120)
        profile = record(program, "-i", "1ms", "-d", counted("4", "20"))
    wrong, seen, points, chance = 0, 0, {}, {}
    for loop in LEAF_LOOPS:
        stacks = [s for s in profile.of_thread("leaf-calls") if f"truth.LeafCalls.{loop}" in s["frames"]]
        inlined = profile.total("java.util.concurrent.atomic.LongAdder.increment", stacks, "samples")
        samples = sum(s["samples"] for s in stacks)
        points[loop] = 100 * inlined / max(1, samples)
        chance[loop] = 300 * math.sqrt(0.03 * 0.97 / max(1, samples))
        wrong, seen = wrong + inlined, seen + samples
    unsure = profile.samples["ambiguous"]
    say(f"leaf routines, {compiler} {jdk}: {wrong} of {seen} samples below a method that calls none, {unsure} "
        "ambiguous; " + ", ".join(f"{loop} {points[loop]:.1f}" for loop in LEAF_LOOPS))
    assert seen > 300
    assert wrong <= max(0.03 * seen, unsure), points
    if compiler == "c2":  # known from both sides, round the loop
        assert all(points[loop] <= 3 + chance[loop] for loop in ("nanosUntil", "millisUntil")), (points, chance)


@pytest.mark.parametrize("name,thread,method", [
    ("Exceptions", "exceptions", "truth.Exceptions.storm"),
    ("CloneCopy", "clone-copy", "truth.CloneCopy.storm"),
])
def test_time_inside_the_vm_has_its_java_caller(jdk, name, thread, method, say):
    with Program(jdk, name) as program:
        profile = record(program, "-i", "1ms", "-d", counted("3", "20"), watch=thread)
    own = profile.total(method, profile.of_thread(thread)) / profile.thread_clock()
    # A short run is mostly the profiler's own start; the result shows that time apart.
    own_cpu = 0 if SOAK else profile.json["own_cpu_ns"]
    process = profile.weight["total"] / (profile.cpu_clock() - own_cpu)
    say(f"VM work {name} {jdk}: {own:.2%} of the thread's CPU time under {method.split('.')[-1]}, "
        f"{process:.2%} of the process's in some stack")
    assert own >= 0.99
    assert process >= 0.98


@pytest.mark.parametrize("compiler", ["c1", "c2"])
def test_an_exception_leaves_an_interpreted_method(jdk, compiler, say):
    """
    The JVM takes the frame of the method that throws away and looks for the handler in its caller: until it jumps there
    no frame pointer leads to the caller. Compiled by C2 it keeps other values in that register.
    """
    options = ["-XX:CompileCommand=quiet", "-XX:CompileCommand=exclude,truth.ThrownOut::thrower",
               "-XX:CompileCommand=dontinline,truth.ThrownOut::caller"]
    options += ["-XX:TieredStopAtLevel=1"] if compiler == "c1" else []
    with Program(jdk, "ThrownOut", jvm=options) as program:
        wait_until(lambda: program.mark().get("rounds", 0) > 300, 120)
        profile = record(program, "-i", "1ms", "-d", counted("3", "20"))
    stacks = profile.of_thread("thrown-out")
    everything = sum(s["samples"] for s in stacks)
    looked = [s for s in stacks if any("exception_handler_for_return" in frame for frame in s["frames"])]
    called = profile.total("truth.ThrownOut.caller", looked, "samples")
    known = profile.total("truth.ThrownOut.run", stacks, "samples")
    searches = sum(s["samples"] for s in looked)
    say(f"thrown out, {compiler} {jdk}: {known} of {everything} samples below `run`, {called} of {searches} in the search "
        "for the handler below the caller")
    assert everything > 300 and searches > 10
    assert known >= 0.99 * everything
    assert called >= 0.95 * searches


def test_jvm_threads_have_their_names(jdk):
    """GC and JIT threads stand under the names the JVM gave them, with the CPU time they used."""
    if not SOAK and jdk.version != 25:
        pytest.skip("only with full counts (make soak): the newest JDK is in the short ones")
    with Program(jdk, "CloneCopy") as program:
        profile = record(program, "-i", "1ms", "-d", counted("2", "10"))
        kernel = program.threads()
    collecting = [t for t in profile.threads.values() if t["name"].startswith(("GC Thread", "G1 "))]
    assert sum(t["weight"] for t in collecting) > 0, [t["name"] for t in profile.threads.values()]
    with Program(jdk, "Words") as program:
        profile = record(program, "-i", "1ms", "-d", "2")
        kernel = program.threads()
    compiling = [t for t in profile.threads.values() if "CompilerThre" in t["name"]]
    assert sum(t["weight"] for t in compiling) > 0, sorted(kernel.values())


@pytest.mark.parametrize("engine", ["cpu", "ctimer", "itimer"])
def test_sleeping_threads_do_not_appear(jdk17, engine):
    with Program(jdk17, "Sleepers", 10) as program:
        profile = record(program, "-e", engine, "-i", "1ms", "-d", counted("2", "10"))
    assert sum(s["samples"] for s in profile.of_thread("worker")) > 100
    assert not profile.of_thread("idle-"), profile.of_thread("idle-")[:1]


def test_an_idle_program_gives_a_valid_empty_result(jdk17):
    """Next to no CPU time: the file is valid whatever was found, and the command says why."""
    with Program(jdk17, "Sleepers", 3, "idle") as program:
        profile = record(program, "-e", "ctimer", "-i", "100ms", "-d", "0.5")
    if profile.samples["stored"] == 0:
        assert profile.stacks == [] and profile.done.stderr.strip(), "nothing said about 0 samples"


@pytest.mark.parametrize("engine", ["cpu", "ctimer"])
def test_threads_add_up(jdk17, engine):
    """A thread's weight against the scheduler's count of it."""
    with Program(jdk17, "KnownShares") as program:
        profile = record(program, "-e", engine, "-i", "1ms", "-d", "3", watch="shares-1")
    weight = sum(t["weight"] for t in profile.threads.values() if t["name"] == "shares-1")
    clock = profile.thread_clock()
    assert abs(weight / clock - 1) <= 0.02 + profile.stolen / clock, (weight, clock, profile.stolen)
