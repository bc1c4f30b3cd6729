"""What the command says first: one planted trouble a program is named first, and a sound program has none."""
import json
import os
import shutil

import pytest

import jvm
from jvm import Program, jstrobe, recorded

pytestmark = pytest.mark.in_pairs

# trouble: event, the finding, what its sentence must name, options of the JVM
PLANTED = {
    "hot": ("cpu", "hot_method", "truth.Planted.checksum", ()),
    "regex": ("cpu", "hot_family", "regular expressions", ()),
    "exceptions": ("cpu", "hot_family", "exceptions", ()),
    "format": ("cpu", "hot_family", "formatting", ()),
    "random": ("cpu", "hot_family", "SecureRandom", ()),
    "gc": ("cpu", "gc", "Garbage collection", ("-Xmx80m",)),
    "idle": ("cpu", "not_the_cpu", "it waits", ()),
    "lock": ("lock", "lock", "truth.Planted$Account", ()),
    "crowd": ("cpu", "run_queue", "had no CPU", ()),
    "bytes": ("cpu", "small_io", "read 1 bytes each", ()),
    "garbage": ("alloc", "allocation", "truth.Planted.copy", ()),
    "leak": ("live", "leak", "truth.Planted.remember", ("-Xmn16m",)),
    "threads": ("cpu", "thread_churn", "threads a second", ()),
    "classes": ("cpu", "class_loading", "Loading classes", ()),
    "interpreted": ("cpu", "interpreted_only", "-Xint", ("-Xint",)),
}
SOUND = {"spread": "cpu", "requests": "cpu", "locked": "lock", "garbage": "alloc", "cache": "live", "files": "cpu"}
# the same of pools (truth.Pools): of each trouble, and of twins, in which the finding is not made
POOLS = {
    "few": ("pool_too_small", "pool-1-thread-* that run such tasks were all taken"),
    "few_promises": ("pool_too_small", "waited in truth.Pools.later"),
    "few_forks": ("pool_too_small", "ForkJoinPool-1-worker-*"),
    "lent_tasks": ("pool_too_small", "the 8 threads of pool-1-thread-* that run such tasks were all taken"),  # 12 wait
    "many": ("pool_too_large", "wanted to run, but the program has"),
    "idlers": ("pool_too_large", "of the 300 threads called pool-1-thread-* had nothing to do"),
}
POOLS_SOUND = ("enough", "enough_promises", "enough_forks", "computing", "locking", "beside", "few_workers", "few_idlers")
# of locks (truth.Convoys): what its sentence must name; and twins
CONVOYS = {
    "convoy": ("lock_convoy", ("clerk-* waited in a convoy for java.util.concurrent.locks.ReentrantLock$FairSync@",)),
    "writer": ("lock_owner", ("reader-* and others waited ", " in truth.Convoys$Table.read; one thread, writer, had it")),
}
CONVOYS_SOUND = ("apart", "seldom")
POLLS = {"late": ("-XX:LoopStripMiningIter=0", "-XX:-UseCountedLoopSafepoints"), "prompt": ()}  # of a program's loop
CARRIERS_SOUND = ("free", "monitor", "wait", "platform")  # of virtual threads (truth.Carriers)
LIVE = ("--gc",)
BUSY = 0.5


def delays(pid):
    """ns for which the threads of PID wanted a CPU so far."""
    total = 0
    for tid in os.listdir(f"/proc/{pid}/task"):
        try:
            with open(f"/proc/{pid}/task/{tid}/schedstat") as file:
                total += int(file.read().split()[1])
        except OSError:
            pass
    return total


def cpu_time(pid):
    with open(f"/proc/{pid}/stat") as file:
        words = file.read().rsplit(")", 1)[1].split()
    return (int(words[11]) + int(words[12])) * 10**9 // os.sysconf("SC_CLK_TCK")


def findings(program, event, seconds):
    """Those of a recording, and which part of the time in which its threads wanted to run they had no CPU."""
    before = delays(program.pid), cpu_time(program.pid)
    options = LIVE if event == "live" else ("-i", "1ms") if event == "cpu" else ()
    result = recorded(program.pid, "-e", event, "-d", seconds, *options)
    waited, ran = delays(program.pid) - before[0], cpu_time(program.pid) - before[1]
    for one in result["findings"]:
        assert one["id"] and one["sentence"].endswith("."), one
    return result["findings"], waited / (waited + ran) if waited + ran > 0 else 0


def but_for_the_machine(found, waited):
    """Without what other programs on the machine do to this one, which the test finds for itself."""
    kept = []
    for one in found:
        if one["id"] in ("run_queue", "steal"):
            assert one["id"] == "steal" or waited > 0.10, f"no thread waited: {one}, {waited}"
            continue
        kept.append(one)
    return kept


def judge(right, waited, said):
    """A program that hardly gets a CPU is not warm, and has few samples: what it shows then is another trouble."""
    if not right and waited > BUSY:
        pytest.skip(f"the machine is too busy: the program's threads had no CPU for {waited:.0%} of the time; said: {said}")
    assert right, said


@pytest.mark.parametrize("trouble", PLANTED)
def test_planted(jdk, trouble):
    event, wanted, named, options = PLANTED[trouble]
    wrap = ()
    if trouble == "crowd":
        if not shutil.which("taskset"):
            pytest.skip("taskset is not installed")
        wrap = ("taskset", "-c", str(min(os.sched_getaffinity(0))))
    name = "hot" if trouble == "interpreted" else trouble
    with Program(jdk, "Planted", name, jvm=options, wrap=wrap) as program:
        found, waited = findings(program, event, 6 if event == "live" else 4)
    if trouble != "crowd":
        found = but_for_the_machine(found, waited)
    said = [one["sentence"] for one in found]
    judge(found and found[0]["id"] == wanted and named in said[0], 0 if trouble == "crowd" else waited, said)


@pytest.mark.parametrize("program_name", SOUND)
def test_sound(jdk, program_name):
    event = SOUND[program_name]
    with Program(jdk, "Sound", program_name) as program:
        found, waited = findings(program, event, 6 if event == "live" else 4)
    said = [one["sentence"] for one in but_for_the_machine(found, waited)]
    judge(not said, waited, said)


@pytest.mark.parametrize("trouble", POOLS)
def test_pools(jdk, trouble):
    wanted, named = POOLS[trouble]
    with Program(jdk, "Pools", trouble) as program:
        found, waited = findings(program, "wall", 4)
    said = [one["sentence"] for one in found if one["id"] == wanted]
    judge(said and named in said[0], 0 if trouble == "many" else waited, [one["sentence"] for one in found])
    rest = but_for_the_machine(found, waited if trouble != "many" else 1)
    assert rest[0]["id"] == wanted or trouble == "idlers", rest  # what has no effect on time comes last


@pytest.mark.parametrize("twin", POOLS_SOUND)
def test_pools_sound(jdk, twin):
    with Program(jdk, "Pools", twin) as program:
        found, _ = findings(program, "wall", 4)
    assert not [one for one in found if one["id"].startswith("pool_")], found


def record_wall(jdk, *name):
    with Program(jdk, *name) as program:
        return recorded(program.pid, "-e", "wall", "-d", 4)


def record_carriers(jdk, name):
    if jdk.version < 21:
        pytest.skip("there are no virtual threads")
    return record_wall(jdk, "Carriers", name)


def of_pinned(result):
    return [one for one in result["findings"] if one["id"] == "pinned"]


def converted(result):
    """What convert says of RESULT."""
    before, after = jvm.result_file(".json"), jvm.result_file(".json")
    with open(before, "w") as file:
        json.dump(result, file)
    done = jstrobe("convert", before, after)
    assert done.returncode == 0, done.stderr
    with open(after) as file:
        return json.load(file)


def test_pinned(jdk):
    result = record_carriers(jdk, "pinned")
    found = of_pinned(result)
    assert found and found[0] == result["findings"][0], result["findings"]
    assert "waited in truth.Program.sleep" in found[0]["sentence"], found
    assert "none was free for other virtual threads" in found[0]["sentence"], found
    assert "initializer of a class, here truth.Carriers$Slow.<clinit>" in found[0]["advice"], found

    # as JDK 21 keeps a carrier, and a later one does not: in a monitor
    for stack in result["stacks"]:
        if any("parkOnCarrierThread" in frame for frame in stack["frames"]):
            stack["frames"] = [frame.replace("parkOnCarrierThread", "parkNanos") for frame in stack["frames"]]
            stack["state"] = "blocked"
    assert not of_pinned(converted(result))
    result["jdk"] = "21.0.5+11"
    found = of_pinned(converted(result))
    assert found and "synchronized" in found[0]["advice"], found


@pytest.mark.parametrize("twin", CARRIERS_SOUND)
def test_pinned_sound(jdk, twin):
    result = record_carriers(jdk, twin)
    assert not of_pinned(result), result["findings"]


def test_virtual_threads_that_are_left_out(jdk):
    """What virtual threads wait for is not there without --vthreads: that is said where they do much, and nowhere else."""
    if jdk.version < 21:
        pytest.skip("there are no virtual threads")
    for name, wanted in (("platform", False), ("works", True)):
        for more in ((), ("--vthreads",)):
            with Program(jdk, "Carriers", name) as program:
                found = recorded(program.pid, "-e", "wall", "-i", "10ms", "-d", 3, *more)["findings"]
            said = [one for one in found if one["id"] == "virtual_parked"]
            assert bool(said) == (wanted and not more), (name, more, found)
            assert not said or f"--vthreads {program.pid} " in said[0]["advice"], said


@pytest.mark.parametrize("trouble", CONVOYS)
def test_convoys(jdk, trouble):
    wanted, named = CONVOYS[trouble]
    with Program(jdk, "Convoys", trouble) as program:
        found, waited = findings(program, "lock", 4)
    found = but_for_the_machine(found, waited)
    said = [one["sentence"] for one in found]
    judge(found and found[0]["id"] == wanted and all(part in said[0] for part in named), waited, said)
    assert [one["id"] for one in found if one["id"].startswith("lock")] == [wanted], said


@pytest.mark.parametrize("twin", CONVOYS_SOUND)
def test_convoys_sound(jdk, twin):
    with Program(jdk, "Convoys", twin) as program:
        found, _ = findings(program, "lock", 4)
    assert not [one for one in found if one["id"].startswith("lock")], found


@pytest.mark.parametrize("polls", POLLS)
def test_safepoints(jdk, polls):
    """The JVM's own counters, of a loop that asks for safepoints and of one that does not."""
    with Program(jdk, "Planted", "late", jvm=POLLS[polls]) as program:
        result = recorded(program.pid, "-e", "cpu", "-d", 4)
    around = result["surroundings"]
    assert around["safepoints"] > 0 and around["safepoint_sync"] <= around["span"], around

    def of_safepoints():
        return [one["sentence"] for one in converted(result)["findings"] if one["id"] == "safepoint_sync"]

    # a thread that has no CPU is late, too: then nothing is said, and a twin would not tell
    waited = around["run_delay"] / (around["run_delay"] + around["cpu"])
    if waited > 0.15:
        assert not of_safepoints(), around
    around["run_delay"] = 0
    if polls == "late":
        said = of_safepoints()
        assert said and "For " in said[0] and "last one to come to a safepoint" in said[0], around
        assert around["safepoint_sync"] > 0.5 * around["span"], around
    else:
        # beside others a thread is a little late each time, whatever it runs: then that is said, and it is true
        share = around["safepoint_sync"] / around["span"]
        assert bool(of_safepoints()) == (share >= 0.05), around
        judge(share < 0.3, max(waited, BUSY + 0.01 if waited > 0.15 else 0), around)
    around["safepoint_sync"] = around["span"] // 25
    assert not of_safepoints(), around


@pytest.mark.parametrize("event", ("wall", "cpu", "lock"))
@pytest.mark.parametrize("circle", ("deadlock", "ring", "behind"))
def test_deadlock(jdk, circle, event):
    with Program(jdk, "Convoys", circle) as program:
        found, _ = findings(program, event, 1)
    said = [one["sentence"] for one in found]
    assert found[0]["id"] == "deadlock", said
    assert ("and so on in a circle" if circle == "ring" else "for one that the first has") in said[0], said
    assert f"These {5 if circle == 'ring' else 2} threads" in found[0]["advice"], found[0]
    if event == "wall":
        assert "philosopher-0 (in truth.Convoys.eat) waits for a monitor that philosopher-1 " in said[0], said


@pytest.mark.parametrize("twin", ("chain", "writer"))
def test_no_deadlock(jdk, twin):
    with Program(jdk, "Convoys", twin) as program:
        result = recorded(program.pid, "-e", "wall", "-d", 1)
    assert result["surroundings"]["deadlocked"] == 0, result["surroundings"]
    assert not [one for one in result["findings"] if one["id"] == "deadlock"], result["findings"]


@pytest.mark.parametrize("collector", ("Z", "Parallel", "Serial"))
def test_deadlock_of_collectors(jdk, collector):
    """What a reference looks like depends on the collector."""
    with Program(jdk, "Convoys", "deadlock", jvm=(f"-XX:+Use{collector}GC",)) as program:
        found, _ = findings(program, "wall", 1)
    assert found[0]["id"] == "deadlock", found


@pytest.mark.parametrize("connections", ("lent", "free"))
def test_connections(jdk, connections):
    """As if the program's pool were one of those that are known."""
    result = record_wall(jdk, "Pools", connections)
    assert not [one for one in result["findings"] if one["id"] == "pool_lent"], result["findings"]
    for stack in result["stacks"]:
        stack["frames"] = [frame.replace("truth.Pools$Lender.borrow", "com.zaxxer.hikari.util.ConcurrentBag.borrow")
                           for frame in stack["frames"]]
    said = [one["sentence"] for one in converted(result)["findings"] if one["id"] == "pool_lent"]
    if connections == "free":
        assert not said
        return
    assert said and "(client-*) waited in truth.Pools.transact for a connection of HikariCP: none" in said[0], said
    assert float(said[0].split()[2]) == pytest.approx(10, abs=1), said  # of 12 clients 2 have one


SAID_OF_WAITS = {"deadlock", "lock_convoy", "lock_owner", "lock", "pool_too_small", "pool_too_large", "pool_lent",
                 "pinned", "safepoint_sync"}


@pytest.mark.parametrize("program_name", SOUND)
def test_sound_waits(jdk, program_name):
    """What threads wait for is no trouble of these programs either."""
    found = record_wall(jdk, "Sound", program_name)["findings"]
    assert not [one for one in found if one["id"] in SAID_OF_WAITS], found
