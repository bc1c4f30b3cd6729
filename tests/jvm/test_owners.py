"""Who held what others waited for: holders that are gone when their waiter tells, and nobody named who it was not."""
import re
import time

import pytest
from jvm import Program, counted, record

CASES = [(kind, ms, threads) for kind in ("monitor", "lock") for ms in (1, 20) for threads in ("platform", "virtual")]


@pytest.mark.parametrize("kind,ms,threads", CASES)
def test_brief_holders(jdk, kind, ms, threads, say):
    """Holders that end with what they hold are named, each by its own name: 99 % of them, and no other thread."""
    if threads == "virtual" and jdk.version < (24 if kind == "monitor" else 21):
        pytest.skip(f"{jdk}: virtual threads there have no monitors of their own")
    with Program(jdk, "Holders", kind, ms, threads) as program:
        program.work(0.3)
        profile = record(program, "-e", "lock", "-d", counted(2, 20))
        time.sleep(0.1)
        assert program.stop() == 0
    names = {"monitor": "java.lang.Object", "lock": "java.util.concurrent.locks.ReentrantLock$NonfairSync"}
    waits = sum(line["waits"] for line in profile.json["locks"] if line["class"].replace("/", ".") == names[kind] and
                line["kind"] == {"monitor": "monitor", "lock": "park"}[kind])
    owners = {o["name"]: o["waits"] for o in profile.json["owners"]}
    brief = {name: n for name, n in owners.items() if re.fullmatch(r"brief-\d+", name)}
    named = sum(brief.values())
    others = {name: n for name, n in owners.items() if name not in brief}
    say(f"lock, {jdk}: holders of {ms} ms ({kind}, {threads}): {named} of {waits} named, others {others}")
    assert waits > 20, profile.json["locks"]
    assert named >= 0.99 * waits - 1, (named, waits, others)
    assert all(n == 1 for n in brief.values()), brief
    assert not [name for name in others if "virtual" in name], others


@pytest.mark.parametrize("kind,ms,times", [("monitor", 1, 2), ("monitor", 12, 3), ("lock", 1, 4), ("lock", 12, 2)])
def test_one_line_each(jdk, kind, ms, times, say):
    """A holder who is asked for while it lives, at its end and after that is one line of owners, and one thread."""
    with Program(jdk, "Holders", kind, ms, "platform", times) as program:
        program.work(0.3)
        profile = record(program, "-e", "lock", "-d", counted(2, 20))
        assert program.stop() == 0
    lines = [o["name"] for o in profile.json["owners"] if o["name"].startswith("brief-")]
    twice = sorted({name for name in lines if lines.count(name) > 1})
    waits = [o["waits"] for o in profile.json["owners"] if o["name"].startswith("brief-")]
    say(f"lock, {jdk}: holders of {times} × {ms} ms ({kind}): {len(lines)} lines, {len(twice)} of them again")
    assert len(lines) > 5, profile.json["owners"]
    assert not twice, twice
    # but for the first and the last one, which were not seen from begin to end
    assert sum(n != times for n in waits) <= 2 + len(waits) // 20, waits
