"""Perf events of any kind: what they count agrees with the kernel's and the program's own numbers."""
import json
import os
import re
import signal
import subprocess
import time

import jvm
import pytest
from jvm import Profile, Program, jstrobe

pytestmark = pytest.mark.together

N = 2000
UNPRIVILEGED = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]


def profiles(path, done=None):
    """{event: Profile} of a JSON result, whatever the number of events; the invariants checked."""
    with open(path) as file:
        data = json.load(file, object_pairs_hook=jvm.unique)
    found = {}
    for one in data.get("profiles", [data]):
        single = path + ".one"
        with open(single, "w") as file:
            json.dump(one, file)
        profile = Profile(single, done=done)
        os.remove(single)
        profile.check()
        weight = profile.weight
        if weight["unit"] == "events":
            assert weight["total"] + weight["lost"] + weight["unsampled"] == profile.json["counted"]
        found[one["event"]] = profile
    return found


def during(program, events, task, *options):
    """Sample EVENTS while the program does TASK ("calls 100"); {event: Profile}."""
    done = jstrobe("start", "-t", "-e", events, *options, program.pid)
    assert done.returncode == 0, done.stderr
    program.say(task)
    program.wait_for("MARK")
    path = jvm.result_file()
    done = jstrobe("stop", "-o", "json", "-f", path, program.pid)
    assert done.returncode == 0, done.stderr
    found = profiles(path, done)
    os.remove(path)
    return found


def with_losses(profile, name):
    """What the thread NAME's samples weigh, and what may be missing of it."""
    weight = sum(t["weight"] for t in profile.threads.values() if t["name"] == name)
    return weight, profile.weight["lost"] + profile.weight["unsampled"]


def minor_faults(program, tid):
    with open(f"/proc/{program.pid}/task/{tid}/stat") as file:
        return int(file.read().rsplit(")", 1)[1].split()[7])


def switches(program, tid):
    with open(f"/proc/{program.pid}/task/{tid}/status") as file:
        return sum(int(line.split()[1]) for line in file if "ctxt_switches" in line)


@pytest.mark.parametrize("event", [
    "truth_target", "mem:truth_target:x", "mem:truth_variable/8:w", "uprobe:truth_target", "uretprobe:truth_target",
    f"uprobe:{jvm.NATIVE}+OFFSET"])
def test_native_function_is_counted(jdk17, event):
    """As many as the program made, on the thread that made them, with its stack."""
    if "OFFSET" in event:
        symbols = subprocess.run(["nm", "-D", jvm.NATIVE], capture_output=True, text=True, check=True).stdout
        event = event.replace("OFFSET", "0x" + re.search(r"(\w+) T truth_target", symbols).group(1))
    with Program(jdk17, "Events", jvm.NATIVE) as program:
        profile = during(program, event, f"calls {N}")[event]
    assert profile.json["counted"] == N
    weight, missing = with_losses(profile, "events")
    assert weight == profile.weight["total"] and weight + missing == N and weight > N / 2
    assert profile.total("truth.Events.calls") == weight, profile.stacks


@pytest.mark.parametrize("event", ["truth_target", "mem:truth_variable/8:w"])
def test_a_breakpoint_that_is_met_often_harms_nothing(jdk, event):
    """Some hypervisors lose the cause of one debug exception in some ten thousand: the kernel sends SIGTRAP then."""
    many = jvm.counted(400_000, 4_000_000)
    with Program(jdk, "Events", jvm.NATIVE) as program:
        def has_handler():
            with open(f"/proc/{program.pid}/status") as file:
                return int(re.search(r"SigCgt:\s*(\w+)", file.read()).group(1), 16) >> (signal.SIGTRAP - 1) & 1
        assert not has_handler()
        done = jstrobe("start", "-e", f"{event}@1000", program.pid)
        assert done.returncode == 0, done.stderr
        assert has_handler()
        program.ask(f"calls {many}")
        done = jstrobe("stop", "-o", "json", program.pid)
        assert done.returncode == 0, done.stderr
        counted = json.loads(done.stdout)["counted"]
        assert not has_handler()
        program.ask("calls 1")  # it lives
    # the thread meets the breakpoint of a function once more; an access is over
    assert counted == many or "mem:" in event and "not counted" in done.stderr and 0.999 * many < counted < many, done.stderr


@pytest.mark.parametrize("interval", [1, 7])
def test_page_faults(jdk17, interval):
    with Program(jdk17, "Events", jvm.NATIVE) as program:
        tid = program.tid("events")
        before = minor_faults(program, tid)
        profile = during(program, "page-faults", f"faults {N}", "-i", interval)["page-faults"]
        after = minor_faults(program, tid)
    weight, missing = with_losses(profile, "events")
    assert weight <= after - before and weight + missing >= N
    there = profile.total("truth_touch")
    assert there <= N and there + missing >= N - interval, (there, missing)
    assert profile.json["effective_interval"] >= interval


def test_context_switches(jdk17):
    with Program(jdk17, "Events", jvm.NATIVE) as program:
        tid = program.tid("events")
        before = switches(program, tid)
        profile = during(program, "context-switches", "waits 300")["context-switches"]
        after = switches(program, tid)
    weight, missing = with_losses(profile, "events")
    assert profile.json["interval"] == 2
    assert weight <= after - before and weight + missing >= 300
    assert profile.total("truth.Events.waits") + missing >= 300


def test_waits_do_not_become_a_storm(jdk17):
    """With interval 1 a sample wakes the thread, which waits again, which is the next event."""
    with Program(jdk17, "Sleepers") as program:
        done = jstrobe("record", "-e", "context-switches@1", "-d", "1", "-o", "collapsed", program.pid)
        assert done.returncode == 0, done.stderr
        threads = len(program.threads())
    # the interval grows after 64 samples, or twice as many where they came too slowly for that at first
    counted = int(re.search(r"of ([\d,]+) context-switches", done.stderr).group(1).replace(",", ""))
    assert "doubled" in done.stderr, done.stderr
    assert counted < threads * 256 + 4000, done.stderr


def in_tracefs(command):
    """Run in a mount namespace of its own in which tracefs is mounted."""
    return ["unshare", "-m", "sh", "-c", "mount -t tracefs tracefs /sys/kernel/tracing && exec \"$@\"", "sh"] + command


def test_tracepoints(jdk17, say):
    if subprocess.run(in_tracefs(["test", "-d", "/sys/kernel/tracing/events/syscalls/sys_enter_getppid"]),
                      capture_output=True).returncode != 0:
        pytest.skip("no tracefs with system calls can be mounted here")
    event = "syscalls:sys_enter_getppid"
    with Program(jdk17, "Events", jvm.NATIVE, wrap=in_tracefs([])) as program:
        found = during(program, event + ",sched:sched_switch:prev_pid==0", f"calls {N}")
        listed = jstrobe("list", program.pid).stdout
    profile = found[event]
    weight, missing = with_losses(profile, "events")
    assert profile.json["counted"] == N == weight + missing and weight > N / 2
    assert profile.total("truth.Events.calls") == weight
    # the filter lets nothing pass: the idle task is none of ours
    assert found["sched:sched_switch:prev_pid==0"].samples["taken"] == 0
    assert re.search(r"SUBSYSTEM:EVENT.*yes", listed), listed


def test_several_events(jdk17):
    with Program(jdk17, "Events", jvm.NATIVE) as program:
        found = during(program, "cpu,page-faults,truth_target,mem:truth_variable/8:w", f"faults {N}", "-i", "1ms")
        assert [p.json["event"] for p in found.values()] == \
            ["cpu", "page-faults", "truth_target", "mem:truth_variable/8:w"]
        assert [p.weight["unit"] for p in found.values()] == ["ns", "events", "events", "events"]
        assert found["cpu"].json["interval_ns"] == 1_000_000
        faults = found["page-faults"]
        assert faults.total("truth_touch") + faults.weight["lost"] + faults.weight["unsampled"] >= N - 1
        assert found["truth_target"].json["counted"] == 0
        # the result of one, by its name; of all, one after the other
        one = jstrobe("dump", "-o", "text", "--event", "page-faults", program.pid).stdout
        assert one.count("Execution profile") == 1 and "Event               : page-faults" in one
        all_of_them = jstrobe("dump", "-o", "text", program.pid).stdout
        assert re.findall(r"Event +: (\S+) ", all_of_them) == list(found)
        collapsed = jstrobe("dump", "-o", "collapsed", program.pid).stdout
        assert {line.split(";")[0] for line in collapsed.splitlines()} <= {"[" + name + "]" for name in found}
        shown = jstrobe("dump", "-o", "collapsed", "--show", "page-faults", program.pid)
        assert "truth_touch" in shown.stdout and "[page-faults]" not in shown.stdout, shown.stderr
        wrong = jstrobe("dump", "-o", "text", "-e", "cycles", program.pid)
        assert wrong.returncode != 0 and "not of cycles" in wrong.stderr, wrong.stderr
        resumed = jstrobe("resume", "-e", "cpu", program.pid)
        assert resumed.returncode != 0 and "resume with the same" in resumed.stderr, resumed.stderr


def test_events_of_the_agents_string(jdk17):
    """In -agentpath commas part options, too: events may follow the first bare."""
    path = jvm.result_file()
    agent = f"-agentpath:{jvm.LIBRARY}=start,event=page-faults,cpu,minor-faults@2,interval=3,file={path}"
    with Program(jdk17, "Events", jvm.NATIVE, jvm=[agent]) as program:
        program.stop()
        found = profiles(path)
    os.remove(path)
    assert {name: p.json.get("interval") for name, p in found.items()} == \
        {"page-faults": 3, "cpu": None, "minor-faults": 2}
    assert found["cpu"].json["interval_ns"] == 10_000_000


def jvm_settles(program):
    """Descriptors, once no control thread of ours is left."""
    for _ in range(100):
        if not any(name.startswith("jstrobe") for name in program.threads().values()):
            break
        time.sleep(0.1)
    return program.descriptors()


REFUSED = {
    "itimer,ctimer": "both are CPU time",
    "cpu,ctimer": "both are CPU time",
    "page-faults,page-faults": "stands twice",
    "no_such_function": "no event has this name",
    "kprobe:": "write it like|built without CONFIG_KPROBES",
    "mem:truth_variable/3:w": "the length is 1, 2, 4 or 8",
    "nosource/event=1/": "no event source",
    "nothing:there": "tracefs|no such tracepoint",
    "uprobe:/no/such/file+0x10": "refuses this event",
}


def test_refused(jdk17):
    """With the reason, and with nothing left behind."""
    with Program(jdk17, "Events", jvm.NATIVE) as program:
        jstrobe("list", program.pid)  # attaching opens a socket of the JVM's
        held = jvm_settles(program)
        for events, says in REFUSED.items():
            done = jstrobe("record", "-d", "1", "-e", events, program.pid)
            assert done.returncode != 0, events
            assert re.search(says, done.stderr), f"{events}: {done.stderr}"
        assert jvm_settles(program) <= held


def test_without_permission(jdk17):
    """An ordinary user at paranoid 2: faults of user mode, nothing that only happens in the kernel."""
    with open("/proc/sys/kernel/perf_event_paranoid") as file:
        level = int(file.read())
    if level != 2:
        pytest.skip(f"perf_event_paranoid is {level}, the test is for 2")
    if subprocess.run(UNPRIVILEGED + ["test", "-r", jvm.LIBRARY]).returncode != 0:
        pytest.skip("the build folder cannot be read by user 65534")
    with Program(jdk17, "Events", jvm.NATIVE, wrap=UNPRIVILEGED) as program:
        refused = jstrobe("start", "-e", "context-switches", program.pid)
        assert refused.returncode != 0
        assert "perf_event_paranoid is 2" in refused.stderr, refused.stderr
        found = during(program, "page-faults", f"faults {N}")["page-faults"]
        assert found.total("truth_touch") + found.weight["lost"] + found.weight["unsampled"] >= N - 1
        assert "kernel" not in {k for s in found.stacks for k in s["kinds"]}
        listed = jstrobe("list", program.pid).stdout
    assert re.search(r"page-faults.*user mode only", listed), listed
    assert re.search(r"context-switches.*no: not permitted", listed), listed
    assert re.search(r"\ncpu-clock.*no: not permitted", listed), listed


def test_list(jdk17):
    with Program(jdk17, "Events", jvm.NATIVE) as program:
        listed = jstrobe("list", program.pid).stdout
        counter = re.search(r"^cycles.* (yes|no: the machine has none)$", listed, re.M)
        assert counter, listed
        done = jstrobe("record", "-d", "1", "-e", "cycles", program.pid)
    assert re.search(r"^page-faults.* yes$", listed, re.M), listed
    if counter.group(1) == "yes":
        assert done.returncode == 0, done.stderr
    else:
        assert "no such hardware counter" in done.stderr, done.stderr
