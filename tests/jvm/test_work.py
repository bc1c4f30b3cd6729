"""Results of wall time and locks are about work: a service in which 8 threads take turns at one lock, and 200 wait."""
import contextlib
import glob
import json
import os
import re

import pytest
from jvm import CORES, Program, jstrobe, recorded, result_file

pytestmark = pytest.mark.in_pairs

IDLE = 200
CASES = [("monitor", "sleep"), ("lock", "work")]


def page_data(path):
    """What the page draws."""
    with open(path, encoding="utf-8") as file:
        return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', file.read(), re.S)[1])


def result_of(program, event, *more):
    done = jstrobe("record", "-e", event, "-d", "2", *more, program.pid)
    assert done.returncode == 0, done.stderr
    return done.stdout


def names_lock_and_owner(line, kind):
    lock = "Orders$Stock" if kind == "monitor" else "ReentrantLock"
    return lock in line and "truth.Orders$Stock.recount" in line


@pytest.mark.parametrize("event", ["wall", "lock"])
def test_the_lock_comes_first(jdk, event, say):
    """Lock and method of its owner stand within the first three lines, and above the page's graph."""
    for kind, does in CASES:
        with Program(jdk, "Orders", kind, does, IDLE) as program:
            text = result_of(program, event)
            lines = [line for line in text.split("\n") if line.strip()]
            assert any(names_lock_and_owner(line, kind) for line in lines[:3]), text
            path = result_file(".html")
            result_of(program, event, "-f", path)
        work = page_data(path)["work"]
        assert names_lock_and_owner(work["locks"][0], kind), work["locks"]
        # who takes a fair share of the lock is no matter of ours: events tell of those that got it
        orders = [group for group in work["groups"] if group[0].startswith("order-")]
        assert work["groups"][0] in orders and sum(g[1] for g in orders) <= 8, work["groups"]
        assert event == "lock" or [g[:2] for g in orders] == [["order-*", 8]], work["groups"]
        os.remove(path)
        say(f"{event}, {kind}, {jdk}: {len(text)} bytes, {text.count(chr(10))} lines")


def test_idle_threads_are_one_line(jdk, say):
    with Program(jdk, "Orders", "monitor", "sleep", IDLE) as program:
        text, all_of_it = result_of(program, "wall"), result_of(program, "wall", "--idle")
    idle = re.search(r"(\d+) threads in \d+ groups were idle all the time", text)
    # those of the JVM come on top; some of its threads may have run
    assert IDLE <= int(idle[1]) <= IDLE + 60, text
    for name in ("http-nio-8080-exec", "timed-", "mail-", "poller-", "cleaner-", "acceptor", "Reference Handler"):
        assert name not in text, text
    # the table names who waited, not by what method of the JDK
    assert re.search(r"^ *[\d.]+% .* truth\.\S+  \(monitor\)$", text, re.M), text
    assert re.search(r"^ *[\d.]+% .* truth\.\S+  \(Thread\.sleep\)$", text, re.M), text
    share = float(re.search(r"idle waits are left out: ([\d.]+) %", text)[1])
    assert share > 90, text
    head = next(line for line in all_of_it.splitlines() if line.endswith("threads called"))
    assert head.startswith("all time  threads") and "not idle" not in all_of_it.replace("of what is not idle", ""), all_of_it
    row = next(line for line in all_of_it.splitlines() if line.endswith("http-nio-8080-exec-*"))
    assert not row.startswith("    0 ns") and row.split()[0] != "0", row
    assert "http-nio-8080-exec-*" in all_of_it and "idle waits are left out" not in all_of_it, all_of_it
    say(f"{jdk}: {share} % of the time idle; {text.count(chr(10))} lines, with --idle {all_of_it.count(chr(10))}")


def test_sums_stay(jdk):
    """JSON has idle waits, and groups whose sums are those of all stacks."""
    path = result_file(".json")
    with Program(jdk, "Orders", "monitor", "sleep", IDLE) as program:
        result_of(program, "wall", "-f", path)
    with open(path, encoding="utf-8") as file:
        result = json.load(file)
    os.remove(path)
    groups = {g["name"]: g for g in result["groups"]}
    assert sum(g["weight"] for g in groups.values()) == result["weight"]["total"] == sum(s["weight"] for s in result["stacks"])
    assert sum(g["samples"] for g in groups.values()) == result["samples"]["stored"]
    for g in groups.values():
        assert sum(g["activity"].values()) == g["weight"], g
    assert groups["http-nio-8080-exec-*"]["threads"] == groups["http-nio-8080-exec-*"]["idle_threads"] == IDLE // 2
    assert groups["order-*"]["activity"]["lock"] > 0.7 * groups["order-*"]["weight"]
    for name in ("timed-*", "mail-*", "poller-*", "cleaner-*"):
        assert groups[name]["threads"] == groups[name]["idle_threads"] == IDLE // 8, groups[name]
    idle = sum(s["weight"] for s in result["stacks"] if s["activity"] == "idle")
    assert idle == sum(g["activity"]["idle"] for g in groups.values())


@pytest.mark.parametrize("event", ["wall", "lock"])
def test_tasks_that_take(jdk, event):
    """Who wants a connection that others have is not idle, who takes orders is: by wall time and by waits alone."""
    for mode, method, idle in (("lent_tasks", "truth.Pools$Lender.borrow", False),
                               ("consumers", "truth.Pools.consume", True)):
        with Program(jdk, "Pools", mode) as program:
            result = recorded(program.pid, "-e", event, "-t", "-d", 3)
        of = {True: 0, False: 0}
        for s in result["stacks"]:
            if method in s["frames"] and s["activity"] in ("idle", "park"):
                of[s["activity"] == "idle"] += s["weight"]
        assert of[idle] > 9 * of[not idle], (mode, of)


def slept(jdk, mode):
    """{thread of truth.Pools MODE: the part of its sleep that is not idle}, each of which slept for a fifth of the time."""
    with Program(jdk, "Pools", mode) as program:
        result = recorded(program.pid, "-e", "wall", "-t", "-i", "10ms", "-d", 3)
    times = {}
    for s in result["stacks"]:
        if s["state"] == "sleeping":
            mine = times.setdefault(result["threads"][s["thread"]]["name"], {True: 0, False: 0})
            mine[s["activity"] == "idle"] += s["weight"]
    return {name: t[False] / sum(t.values()) for name, t in times.items() if sum(t.values()) > 0.2 * result["duration_ns"]}


@pytest.mark.parametrize("mode,who", [("naps", {"pool-1-thread-1": 1}), ("steps", {"late": 1, "looker": 0}),
                                      ("looks", {"looker": 0}), ("looks_alone", {"looker": 0})])
def test_who_sleeps_while_others_wait(jdk, mode, who):
    """A task for whose result others wait, and who comes late to a barrier, are not idle; who looks for work is."""
    found = slept(jdk, mode)
    for name, part in who.items():
        assert name in found and abs(found[name] - part) < 0.05, (mode, found)


@pytest.mark.parametrize("kind", ["monitor", "lock"])
def test_owners_that_sleep(jdk, kind):
    """Who sleeps with a lock that others want in another method is not idle, by the event lock beside; a timer is."""
    for getters in (2, 5):
        with Program(jdk, "Holders", kind, getters) as program:
            result = recorded(program.pid, "-e", "wall,lock", "-t", "-i", "10ms", "-d", 2)
        wall = next(one for one in result["profiles"] if one["event"] == "wall")
        found = {}
        for s in wall["stacks"]:
            if s["state"] == "sleeping":
                mine = found.setdefault(wall["threads"][s["thread"]]["name"], {True: 0, False: 0})
                mine[s["activity"] == "idle"] += s["weight"]
        for name in ("refresher-0", "refresher-1"):
            assert found[name][False] > 2 * found[name][True], (kind, getters, found)  # it rests now and then
        assert found["timer"][False] == 0 and found["timer"][True] > 0, (kind, getters, found)


def test_waits_for_room_and_results(jdk):
    """The event lock alone says what threads waited for, and where; objects that are new for each wait are one row."""
    for program_name, mode, what, where, row in (
            ("Holders", ("room", 1), "for room in a queue", "producer-0", "in truth.Holders.produce"),
            ("Holders", ("room", 4), "for room in a queue", "producer-*", "in truth.Holders.produce"),
            ("Pools", ("few",), "for results of tasks", "client-*", "FutureTask (park), ")):
        with Program(jdk, program_name, *mode) as program:
            text = result_of(program, "lock", "-t")
        said = next((line for line in text.split("\n") if re.match(r"\d+\. Within .* threads were parked", line)), text)
        assert what in said and f"those called {where} in truth." in said, text
        assert row in text, text
        assert row != "FutureTask (park), " or text.count("FutureTask (park)") == 1, text


@pytest.mark.parametrize("count,who", [(1, "consumer-0"), (4, "consumer-*")])
def test_who_sleeps_there_is_named(jdk, count, who):
    """Consumers that sleep for each element look like timers; where others want room in their queues they are named."""
    with Program(jdk, "Holders", "room", count) as program:
        result = recorded(program.pid, "-e", "wall", "-t", "-i", "10ms", "-d", 3)
    found = next(one for one in result["findings"] if one["id"] == "waits")
    assert "for room in a queue" in found["sentence"] and "truth.Holders.produce" in found["sentence"], found
    assert f"Meanwhile {who} slept " in found["advice"] or count == 1 and "Meanwhile timer slept" in found["advice"], found


def test_reads_of_requests_and_answers(jdk):
    """Where I/O is recorded beside wall time, both say the same: who reads the next request is idle, of an answer not."""
    for arguments in ((1,), (4,), (3, 0)):
        with Program(jdk, "Served", *arguments) as program:
            result = recorded(program.pid, "-e", "wall,io", "-t", "-i", "10ms", "-d", 2)
        found = {}
        for s in next(one for one in result["profiles"] if one["event"] == "wall")["stacks"]:
            for method in ("truth.Served.serve", "truth.Served.ask"):
                if method in s["frames"] and s["state"] == "native":
                    mine = found.setdefault(method, {})
                    mine[s["activity"]] = mine.get(s["activity"], 0) + s["weight"]
        if len(arguments) == 1:  # else its next request is there before it reads
            assert found["truth.Served.serve"]["idle"] > 9 * found["truth.Served.serve"].get("network", 0), found
        assert "idle" not in found["truth.Served.ask"] and found["truth.Served.ask"]["network"] > 0, found


@pytest.mark.parametrize("kind,count", [("monitor", 1), ("monitor", 4), ("condition", 4), ("park", 1), ("park", 3),
                                        ("datagram", 2), ("queue", 3)])
def test_waits_for_work_or_for_an_answer(jdk, kind, count):
    """Who waits in a method of the program may wait for work or for an answer: both are said; who takes from a queue is
    idle."""
    method = {"monitor": "askMonitor", "condition": "askCondition", "park": "askParked", "datagram": "askDatagram"}
    for event in ("wall", "lock") if kind in ("monitor", "condition") else ("wall",):
        with Program(jdk, "Answers", kind, count) as program:
            text = result_of(program, event)
        group = "client-0" if count == 1 else "client-*"
        said = re.search(r"^(\d+) threads? in \d+ groups? waited all the time for work or for an answer: (.*)$", text, re.M)
        if kind == "queue":
            assert not said and "may be waits for an answer" not in text, text
            continue
        if event == "lock":  # now and then one waits for the monitor itself
            assert "work or for an answer" in text and "may be waits for an answer" in text, text
            continue
        row = re.search(rf"^.*%  {re.escape(group)}$", text, re.M)
        if row:  # it ran for a moment
            assert float(re.search(r"([\d.]+)%  client", row[0])[1]) > 80, text
            assert re.search(r"idle waits are left out: .* \(\d.* % may be waits for an answer\)", text), text
            continue
        assert said and f"{group} in truth.Answers.{method[kind]}" in said[2], text
        assert int(said[1]) == count or kind == "datagram" and int(said[1]) == count + 1, text
        assert re.search(r"idle waits are left out: .* \(\d.* % may be waits for an answer\)", text), text


def test_what_hardly_runs_is_told(jdk):
    """A program that uses no CPU time has perhaps no work: no finding; what it did that was not idle is said all the same."""
    with Program(jdk, "Waiters", "converter") as program:
        text = result_of(program, "wall")
    said = text.split("\n")[:3]
    assert "of the time in which threads " in text and "converter" in "\n".join(said), text


WAITERS = {"timer": 0, "looker": 1, "converter": 0, "helper": 1, "parent": 0, "keeper": 1}


@pytest.mark.parametrize("who", ["rounds", "stays"])
def test_latches_one_after_the_other(jdk, who):
    """By the event lock: who waits at one latch after the other has work; who looks at one again and again has none."""
    with Program(jdk, "Waiters", who) as program:
        text = result_of(program, "lock", "-t")
    assert (f"s in all (for a latch), most of it those called {who} in truth.Waiters.await." in text) == (who == "rounds"), text
    assert ("waited for work alone" in text) == (who == "stays"), text


@pytest.mark.parametrize("who", WAITERS)
def test_who_waits_for_what_comes(jdk, who):
    """A Timer's task that sleeps has work, and who waits for processes and threads that end; a Timer alone, who waits for a
    helper that stays and for a thread that stays have none."""
    with Program(jdk, "Waiters", who) as program:
        result = recorded(program.pid, "-e", "wall", "-t", "-i", "10ms", "-d", 2)
    times = {True: 0, False: 0}
    for s in result["stacks"]:
        if result["threads"][s["thread"]]["name"] == who and s["state"] in ("waiting", "sleeping", "parked", "native"):
            times[s["activity"] == "idle"] += s["weight"]
    assert sum(times.values()) > 0.6 * result["duration_ns"], times
    # the timer sleeps 80 ms of each 100
    assert times[False] == 0 if WAITERS[who] else times[False] > (0.6 if who == "timer" else 0.9) * sum(times.values()), times


@pytest.mark.parametrize("event", ["wall", "lock"])
def test_main_waits_for_virtual_tasks(jdk25, event):
    """Results that virtual threads make come: main does not wait for work."""
    with Program(jdk25, "Waiters", "main") as program:
        result = recorded(program.pid, "-e", event, "-t", "-d", 2)
    of = {True: 0, False: 0}
    for s in result["stacks"]:
        if result["threads"][s["thread"]]["name"] == "main-of-tasks" and s["state"] == "parked":
            of[s["activity"] == "idle"] += s["weight"]
    assert of[False] > 0.5 * result["duration_ns"] and not of[True], of


def test_waits_for_a_class(jdk):
    """Who waits for a class's initialisation waits for the thread that is in it, not for a CPU."""
    with Program(jdk, "Waiters", "class") as program:
        text = result_of(program, "wall", "-t")
    assert re.search(r"^\d+\. starter-\* waited \S+ s for a class to be initialised in truth.Waiters.use, .*; its owner, "
                     r"starter-\*, was most likely in truth.Waiters\$Slow.<clinit> \(sleep\)", text, re.M), text
    row = next(line for line in text.splitlines() if line.endswith("starter-*"))
    head = next(line for line in text.splitlines() if line.endswith("threads called"))
    assert re.search(r" 66\.\d%", row) and re.search(r" 33\.\d%", row), (head, row)


def test_initialisers_that_wait_for_each_other(jdk):
    """They stand still for ever: for a class, not for a CPU, and so does who needs one of them."""
    with Program(jdk, "Waiters", "classes") as program:
        result = recorded(program.pid, "-e", "wall", "-t", "-i", "10ms", "-d", 2)
        text = result_of(program, "wall", "-t")
    seen = {}
    for s in result["stacks"]:
        seen.setdefault(result["threads"][s["thread"]]["name"], set()).add(s["activity"])
    assert all(seen[name] == {"lock"} for name in ("hen", "egg", "farmer")), seen
    assert re.search(r"^\d+\. .*for a class to be initialised in truth.Waiters.*$", text, re.M), text
    assert "Initialisers that need each other's class wait for ever" in text and "waited for a CPU meanwhile" not in text, text
    for name in ("hen", "egg", "farmer"):
        row = next(line for line in text.splitlines() if line.endswith(" " + name))
        assert " 100.0%" in row, text


def test_waits_that_began_before(jdk):
    """The event lock sees none of them: it says so, and what wall time shows of them is told beside it, too."""
    with Program(jdk, "OpenWaits", 3, "platform") as program:
        program.say("begin")
        while program.mark()["came"] < 12:
            program.work(0.05)
        for events in ("wall", "wall,lock", "lock"):
            done = jstrobe("record", "-e", events, "-d", "1.5", program.pid)
            assert done.returncode == 0, done.stderr
            told = "to enter a monitor" in done.stdout or "ReentrantLock" in done.stdout
            assert told == ("wall" in events), (events, done.stdout)
        assert "no thread has begun to wait for a lock for long enough" in done.stdout + done.stderr
        program.say("end")
        assert program.stop() == 0


def parts_idle(result):
    """{thread: the part of its waits that is idle}."""
    times = {}
    for s in result["stacks"]:
        if s["state"] in ("parked", "waiting"):
            mine = times.setdefault(result["threads"][s["thread"]]["name"], {True: 0, False: 0})
            mine[s["activity"] == "idle"] += s["weight"]
    return {name: t[True] / sum(t.values()) for name, t in times.items()}


@pytest.mark.parametrize("event", ["wall", "lock"])
def test_tasks_at_a_latch(jdk, event):
    """Tasks that wait for a remote answer are not idle; who waits all the time for the program's end is, in a task or
    not. Events see only waits that begin."""
    with Program(jdk, "Pools", "latches") as program:
        result = recorded(program.pid, "-e", event, "-t", "-d", 3)
    idle = parts_idle(result)
    assert idle["pool-1-thread-1"] < 0.02 and idle["pool-1-thread-2"] < 0.02, idle
    if event == "lock":
        return
    assert idle["keeper"] == idle["awaiter"] == 1, idle
    advice = next(f["advice"] for f in result["findings"] if f["id"] == "pool_too_small")
    part = int(re.match(r"For (\d+) % of the time, these tasks wait for something themselves, most in truth.Pools.remote",
                        advice)[1])
    assert part >= 90, advice


@pytest.mark.parametrize("event", ["wall", "lock"])
def test_who_joins_subtasks(jdk25, event):
    """Who waits for the results of subtasks has work; who takes from an empty queue has none."""
    with Program(jdk25, "Pools", "scopes") as program:
        result = recorded(program.pid, "-e", event, "-t", "-d", 3)
    idle = parts_idle(result)
    clients = [part for name, part in idle.items() if name.startswith("client-")]
    assert len(clients) == 3 and max(clients) < 0.05, idle
    assert event == "lock" or idle["consumer"] == 1, idle


def test_files_tell_the_same(jdk):
    """A recording and JSON become the same short report."""
    recording, result = result_file(".jfr"), result_file(".json")
    with Program(jdk, "Orders", "monitor", "sleep", IDLE) as program:
        result_of(program, "wall", "-f", recording)
        result_of(program, "wall", "-f", result)
    for path in (recording, result):
        done = jstrobe("convert", path, "-o", "hot", "-f", "-")
        assert done.returncode == 0, done.stderr
        assert any(names_lock_and_owner(line, "monitor") for line in done.stdout.split("\n")[:5]), done.stdout
        assert re.search(r"\d+ threads in \d+ groups were idle all the time", done.stdout), done.stdout
        # names are Java's: the kernel has 15 characters of them
        everything = jstrobe("convert", path, "-o", "hot", "--idle", "-f", "-").stdout
        assert re.search(r"^ *\d+ min \d+ s +100 .* http-nio-8080-exec-\*$", everything, re.M), everything
        os.remove(path)


def test_a_recording_of_locks_is_explained(jdk):
    """It names locks, as the short report of the same seconds does: how a thread waited is the type of its event."""
    recording = result_file(".jfr")
    with Program(jdk, "Orders", "monitor", "sleep", IDLE) as program:
        result_of(program, "lock", "-f", recording)
    done = jstrobe("explain", recording)
    os.remove(recording)
    assert done.returncode == 0, done.stderr
    waits = done.stdout[done.stdout.index("Waits (lock)"):].split("\n")
    assert any("Orders$Stock" in line and " waited " in line for line in waits[:3]), done.stdout
    assert "Findings" in done.stdout and not any("exec-*" in line for line in waits), done.stdout


def test_groups_as_the_user_wants_them(jdk):
    with Program(jdk, "Orders", "monitor", "sleep", IDLE) as program:
        text = result_of(program, "wall", "--idle", "--group", "^(order|http|timed)-")
        refused = jstrobe("record", "-e", "wall", "-d", "1", "--group", "(", program.pid)
    rows = {name: threads for threads, name in re.findall(r"^ *(?:\d+ min \d+ s|[\d.]+ \w+) +(\d+) .*%.*  (\S+)$", text, re.M)}
    assert (rows["order"], rows["http"], rows["timed"], rows["mail-*"]) == ("8", "100", "25", "25"), text
    assert refused.returncode == 2 and "--group '(' is no regular expression" in refused.stderr, refused.stderr


def test_names_are_whole(jdk):
    """Of Java's threads and of HotSpot's own, of which the kernel keeps 15 characters."""
    path = result_file(".json")
    with Program(jdk, "Orders", "monitor", "sleep", IDLE) as program:
        result_of(program, "wall", "-f", path)
    with open(path, encoding="utf-8") as file:
        names = {thread["name"] for thread in json.load(file)["threads"]}
    os.remove(path)
    assert {"http-nio-8080-exec-100", "Reference Handler", "Signal Dispatcher", "VM Periodic Task Thread"} <= names, names
    assert any(name.startswith("C1 CompilerThread") or name.startswith("C2 CompilerThread") for name in names), names
    assert not names & {"VM Periodic Tas", "C1 CompilerThre", "C2 CompilerThre", "Monitor Deflati"}, names


def schedule(program):
    """ns that threads called spin-… had a CPU, and were ready without one, by the kernel."""
    on = ready = 0
    for task in glob.glob(f"/proc/{program.pid}/task/*"):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # others of the JVM's may end meanwhile
            with open(task + "/comm", encoding="utf-8") as name, open(task + "/schedstat", encoding="utf-8") as counts:
                if name.read().startswith("spin-"):
                    had, lacked, _ = map(int, counts.read().split())
                    on, ready = on + had, ready + lacked
    return on, ready


@pytest.mark.parametrize("threads", [1, 2 * CORES])
def test_waits_for_a_cpu_are_as_the_kernel_counts_them(jdk, threads, say):
    path = result_file(".json")
    with Program(jdk, "Spin", threads, 5, "warm") as program:
        before = schedule(program)
        result_of(program, "wall", "-i", "10ms", "-f", path)
        after = schedule(program)
    on, ready = after[0] - before[0], after[1] - before[1]
    with open(path, encoding="utf-8") as file:
        group = next(g for g in json.load(file)["groups"] if g["name"].startswith("spin-"))
    os.remove(path)
    running, runnable = group["activity"]["running"], group["activity"]["runnable"]
    share, expected = runnable / (running + runnable), ready / (on + ready)
    say(f"{threads} threads, {jdk}: without a CPU {100 * share:.1f} % of the time, by the kernel {100 * expected:.1f} %")
    # it looks for longer than the session lasts, on a machine that others use as well
    assert abs(share - expected) < 0.12, (share, expected)
    assert running + runnable > 0.9 * group["weight"], group


def test_held_by_the_jvm(jdk):
    """Who is stopped for a collection, or waits for one, does not lack a CPU."""
    path = result_file(".json")
    with Program(jdk, "Collected", jvm=["-XX:+UseSerialGC", "-Xmx300m"]) as program:
        done = jstrobe("record", "-d", "3", "-e", "wall", "-i", "10ms", "-t", "-f", path, program.pid)
        assert done.returncode == 0, done.stderr
    with open(path) as file:
        result = json.load(file)
    held = {}
    for s in result["stacks"]:
        name = result["threads"][s["thread"]]["name"]
        own = held.setdefault(name, {})
        own[s["state"]] = own.get(s["state"], 0) + s["weight"]
    computes, collects = held["computes"], held["collects"]
    assert computes["held"] > 0.2 * sum(computes.values()), held
    assert set(computes) <= {"running", "runnable", "held"}, held
    assert collects["held"] > 0.8 * (sum(collects.values()) - collects.get("sleeping", 0)), held
