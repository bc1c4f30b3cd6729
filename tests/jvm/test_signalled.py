"""Wall clock by signals (nobatch, periodic): states are the threads' own, and what the signals cost has a limit."""
import re

import pytest
from jvm import Program, counted, jstrobe, record

pytestmark = pytest.mark.in_pairs

WAYS = {"nobatch": ("-e", "wall", "-i", "10ms", "--nobatch"),
        "periodic": ("-e", "periodic", "-i", "10ms", "--time", "wall")}
STATES = {"sleep": "sleeping", "wait": "waiting", "park": "parked"}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("each", [1, 50])
def test_states(jdk, way, each, say):
    """A thread that waits does, though its signal comes late; one that runs does not."""
    with Program(jdk, "Sleepers", each) as program:
        profile = record(program, *WAYS[way], "-d", counted(1, 10))
        assert program.stop() == 0
    names = {i: t["name"] for i, t in enumerate(profile.json["threads"])}
    for kind, state in STATES.items():
        stacks = [s for s in profile.stacks if re.fullmatch(f"idle-{kind}-\\d+", names[s["thread"]])]
        samples, right = sum(s["samples"] for s in stacks), sum(s["samples"] for s in stacks if s["state"] == state)
        say(f"{way}, {jdk}: {kind}: {right} of {samples} are {state}")
        assert samples and right >= 0.99 * samples, [(s["state"], s["samples"], s["frames"][-4:]) for s in stacks][:9]
    worker = [s for s in profile.stacks if names[s["thread"]] == "worker"]
    assert {s["state"] for s in worker} <= {"running", "runnable", "held"}, worker


@pytest.mark.parametrize("way", WAYS)
def test_signals_have_a_budget(jdk, way, say):
    """1,000 threads each 10 ms: a quarter of a core, and the result says that threads were asked less often."""
    with Program(jdk, "Sleepers", 333, "idle") as program:
        before = program.cpu()
        profile = record(program, *WAYS[way], "-d", counted(2, 20))
        used = (program.cpu() - before) / profile.json["duration_ns"]
        said = jstrobe("record", *WAYS[way], "-d", 0.5, "-o", "text", "-f", "-", program.pid)
        assert program.stop() == 0
    stretched = profile.json["armed"]["intervals_between_signals"]
    say(f"{way}, {jdk}: 1,000 threads each 10 ms: {used:.0%} of a core, a signal every {stretched} intervals")
    assert stretched >= 4 and used < 0.7, (stretched, used)
    assert "each got one every" in said.stdout, said
    sums = {}
    for s in profile.stacks:
        sums[s["thread"]] = sums.get(s["thread"], 0) + s["weight"]
    idle = sorted(ns for i, ns in sums.items() if profile.json["threads"][i]["name"].startswith("idle-"))
    assert len(idle) == 999
    # what is after a thread's last signal is in no sample
    assert idle[0] > profile.json["duration_ns"] - 3 * stretched * 10e6 - 0.2e9, (idle[0], profile.json["duration_ns"])
    assert idle[-1] < 1.02 * profile.json["duration_ns"], (idle[-1], profile.json["duration_ns"])
