"""Throws of exceptions, against a program that counts its own."""
import json
import os
import subprocess

import jvm
import live
import pytest
from jfr import Recording
from jvm import LIBRARY, Profile, Program, counted, jstrobe, result_file, wait_until

pytestmark = pytest.mark.in_pairs

THROWS, DYING = 2000, 20
SEEN = {"often": "truth.Throws$Often", "seldom": "truth.Throws$Seldom", "dying": "truth.Throws$Dying",
        "virtual": "truth.Throws$Virtual"}
METHODS = {"often": "truth.Throws.often", "seldom": "truth.Throws.seldom", "dying": "truth.Throws.die"}


def agent(*words):
    return f"-agentpath:{LIBRARY}=" + ",".join(("start", "event=exceptions", *words))


def throw(program):
    """All throws that the program was asked for; its own counts of them."""
    program.say("begin")
    wait_until(lambda: "done" in program.mark(), 120)
    counts = program.mark()
    return {name: counts[name] for name in SEEN if name in counts}


def result(program, *options):
    path = result_file()
    done = jstrobe("stop", "-o", "json", "-f", path, *options, program.pid)
    assert done.returncode == 0, done.stderr
    profile = Profile(path, done=done)
    profile.check()
    return profile


def of_class(profile, name, key="weight"):
    return sum(s[key] for s in profile.stacks if s["frames"][-1] == SEEN[name])


def accounts(profile):
    told = profile.weight["total"] + profile.weight["lost"] + profile.weight["unsampled"]
    assert told == profile.json["counted"], (profile.weight, profile.json["counted"])


def test_each_throw(jdk, say):
    """Interval 1: every throw is a sample, under its class, at the method that has thrown it."""
    virtual = 200 if jdk.version >= 21 else 0
    with Program(jdk, "Throws", THROWS, DYING, virtual, jvm=[agent("threads")]) as program:
        truth = throw(program)
        profile = result(program)
        assert program.alive()
    assert profile.lost() == 0 and profile.weight["unit"] == "events" and profile.weight["unsampled"] == 0
    for name, count in truth.items():
        assert of_class(profile, name) == of_class(profile, name, "samples") == count, (name, count)
    accounts(profile)
    for name, method in METHODS.items():
        wrong = [s["frames"] for s in profile.stacks if s["frames"][-1] == SEEN[name] and s["frames"][-2] != method]
        assert not wrong, wrong
    threads = {t["name"] for s in profile.stacks if s["frames"][-1] == SEEN["dying"] for t in [profile.threads[s["tid"]]]}
    assert threads == {"dier"}
    say(f"exceptions, {jdk}: {sum(truth.values())} throws of the program's own, all found; {profile.samples['taken']} in all")


@pytest.mark.parametrize("interval", [2, 10, 64])
def test_one_in_so_many(jdk, interval):
    """The weights are right: in all exactly, by class as far as chance lets them. What nothing catches is always there."""
    n = counted(10000, 100000)
    with Program(jdk, "Throws", n, DYING, 0, jvm=[agent(f"interval={interval}")]) as program:
        truth = throw(program)
        profile = result(program)
    assert of_class(profile, "dying") == of_class(profile, "dying", "samples") == DYING == truth["dying"]
    accounts(profile)
    thrown = truth["often"] + truth["seldom"]
    samples = of_class(profile, "often", "samples") + of_class(profile, "seldom", "samples")
    assert profile.weight["unsampled"] <= 2 * interval * len(profile.threads)
    # distances are from 1 to 2 N - 1: their sum's standard error is sqrt(samples / 3) N
    assert abs(samples * interval - thrown) < 5 * interval * (samples / 3) ** 0.5 + 2 * interval, (samples, thrown)
    for name in ("often", "seldom"):
        off = of_class(profile, name) - truth[name]
        # each sample stands for N throws, give or take: as many of them as chance lets it be of another class
        assert abs(off) < 5 * interval * (samples * 0.09 + samples / 3 * 0.1) ** 0.5 + 2 * interval, (name, off, truth)


def test_recording(jdk):
    """Each throw is an event with its class and weight, which the JDK's tool and convert read."""
    path = result_file(".jfr")
    with Program(jdk, "Throws", THROWS, DYING, 0, jvm=[agent(f"file={path}")]) as program:
        truth = throw(program)
        assert jstrobe("stop", program.pid).returncode == 0
    events = Recording(path).events["jstrobe.ExceptionThrow"]
    assert all(e["weight"] == 1 for e in events)
    for name, count in truth.items():
        found = [e for e in events if e["thrownClass"]["name"].replace("/", ".") == SEEN[name]]
        assert len(found) == count, (name, len(found), count)
        assert {e["uncaught"] for e in found} == {name == "dying"}
    tool = os.path.join(jdk.home, "bin", "jfr")
    if os.path.exists(tool):
        done = subprocess.run([tool, "print", "--json", "--events", "jstrobe.ExceptionThrow", path], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=True)
        printed = [e["values"] for e in json.loads(done.stdout)["recording"]["events"]]
        assert len(printed) == len(events)
        assert sum(e["thrownClass"]["name"] == "truth/Throws$Often" for e in printed) == truth["often"]
    made = result_file()
    done = jstrobe("convert", "-o", "json", path, made)
    assert done.returncode == 0, done.stderr
    profile = Profile(made)
    assert profile.json["event"] == "exceptions" and profile.weight["unit"] == "events"
    for name, count in truth.items():
        assert of_class(profile, name) == count, name
    collapsed = jstrobe("convert", "-o", "collapsed", path, "/dev/stdout")
    lines = [line.rsplit(" ", 1) for line in collapsed.stdout.splitlines()]
    assert sum(int(n) for stack, n in lines if "Throws$Often" in stack.split(";")[-1]) == truth["often"]


def test_stream(jdk):
    """A record for each, as its schema says, at once."""
    path = result_file(".ndjson")
    with Program(jdk, "Throws", 500, DYING, 0, jvm=[agent(f"stream={path}")]) as program:
        truth = throw(program)
        assert jstrobe("stop", program.pid).returncode == 0
        wait_until(lambda: os.path.exists(path))
    with open(path, "rb") as file:
        stream = live.read_text(file.read())
    header = stream.of("header")[0]["events"]
    assert [(e["event"], e["interval"], e["unit"], e["of"]) for e in header] == [("exceptions", 1, "events", "events")]
    for name, count in truth.items():
        found = [s for s in stream.of("sample") if s.get("class") == SEEN[name]]
        assert len(found) == count and {s.get("uncaught", False) for s in found} == {name == "dying"}, name
        assert all(s["value"] == 1 and METHODS[name] in stream.frames(s)[-1] for s in found)


def test_other_outputs(jdk):
    """Page, text and collapsed stacks name the class; the flight recorder has the fields of its samples, too."""
    with Program(jdk, "Throws", THROWS, DYING, 0, jvm=[agent("last=10m")]) as program:
        truth = throw(program)
        for suffix, mark in (".html", "truth/Throws$Often"), (".txt", "truth.Throws$Often"), (".collapsed", "Throws$Often"):
            path = result_file(suffix)
            done = jstrobe("dump", "-f", path, program.pid)
            assert done.returncode == 0, done.stderr
            with open(path) as file:
                assert mark in file.read(), suffix
        path = result_file(".jfr")
        assert jstrobe("dump", "-f", path, program.pid).returncode == 0
        events = Recording(path).events["jstrobe.ExceptionThrow"]
        assert sum(e["uncaught"] for e in events) >= DYING
        profile = result(program)
    assert of_class(profile, "often") == truth["often"]
    assert sum(e["thrownClass"]["name"].endswith("Often") for e in events) == truth["often"]


def test_beside_cpu_samples(jdk):
    path = result_file()
    with Program(jdk, "Throws", THROWS, DYING, 0,
                 jvm=[f"-agentpath:{LIBRARY}=start,event=cpu,exceptions,interval=1ms"]) as program:
        truth = throw(program)
        status = jstrobe("status", program.pid).stdout
        assert jstrobe("stop", "-o", "json", "-f", path, program.pid).returncode == 0
    with open(path) as file:
        both = {p["event"]: p for p in json.load(file)["profiles"]}
    assert set(both) == {"cpu", "exceptions"} and "a sample each 1 events" in status
    for name, count in truth.items():
        assert sum(s["weight"] for s in both["exceptions"]["stacks"] if s["frames"][-1] == SEEN[name]) == count
    for p in both.values():
        assert p["samples"]["taken"] == p["samples"]["stored"] + sum(p["samples"]["lost"].values())


def test_attached_late(jdk):
    """A JVM that was not asked at its start does not tell: that is said, and nothing else happens. Later sessions may."""
    with Program(jdk, "Throws", THROWS, DYING, 0) as program:
        done = jstrobe("record", "-e", "exceptions", "-d", "1", program.pid)
        assert done.returncode != 0 and "when it started" in done.stderr and "-agentpath" in done.stderr, done.stderr
        assert jstrobe("record", "-e", "cpu", "-d", "0.2", "-f", result_file(), program.pid).returncode == 0
        assert throw(program)["dying"] == DYING and program.alive()
    with Program(jdk, "Throws", THROWS, DYING, 0, jvm=[agent()]) as program:
        result(program)
        assert jstrobe("start", "-e", "exceptions", program.pid).returncode == 0
        truth = throw(program)
        profile = result(program)
    for name, count in truth.items():
        assert of_class(profile, name) == count, name


def test_launched(jdk):
    """jstrobe record -- java …: from the first instruction on."""
    path = result_file()
    words = ["record", "-e", "exceptions", "-o", "json", "-f", path, "--"]
    with Program(jdk, "Throws", THROWS, DYING, 0, wrap=lambda java: [jvm.COMMAND, *words, *java]) as program:
        truth = throw(program)
        program.stop()
    profile = Profile(path)
    for name, count in truth.items():
        assert of_class(profile, name) == count, name


def cost(program):
    """The least of what the program says a throw takes in a round, ns: others use the machine, too."""
    program.reset()
    wait_until(lambda: program.mark().get("rounds", 0) >= 20, 120)
    found = []
    while len(found) < 15:
        before = program.mark()["rounds"]
        wait_until(lambda: program.mark()["rounds"] > before, 60)
        found.append(program.mark()["ns"])
    return min(found)


def test_stop_leaves_nothing_behind(jdk, say):
    """After a session throws take as long as after the one before, however much that one recorded."""
    with Program(jdk, "Throws", "cost", "trace") as program:
        alone = cost(program)
    with Program(jdk, "Throws", "cost", "trace", jvm=[agent("interval=1000000", "loglevel=debug")]) as program:
        noted = [line for line in program.output if "exceptions:" in line]
        result(program)
        after = cost(program)
        assert jstrobe("start", "-e", "exceptions@1", program.pid).returncode == 0
        each = cost(program)
        profile = result(program)
        again = cost(program)
    assert len(noted) == 1 and "also after the session" in noted[0], program.output[:5]
    say(f"exceptions, {jdk}: a throw takes {alone} ns, {each} ns where each is recorded ({profile.lost_share():.0%} lost, "
        f"{profile.json['handler_ns']['mean']} ns of it ours), {after} and {again} ns after a session")
    assert again < 2 * after, (alone, after, again)
