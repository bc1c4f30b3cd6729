"""Who held what others waited for: holders that are gone when their waiter tells, and no thread named that it was not."""
import re
import time

import pytest
from jvm import Program, counted, record

pytestmark = pytest.mark.in_pairs

CASES = [(kind, ms, threads) for kind in ("monitor", "lock") for ms in (1, 20) for threads in ("platform", "virtual")]
CLASSES = {"monitor": "java.lang.Object", "lock": "java.util.concurrent.locks.ReentrantLock$NonfairSync"}


class Told:
    """What a result tells of the holders' waits, beside what the program itself has counted of them."""

    def __init__(self, jdk, kind, *args):
        with Program(jdk, "BriefHolders", kind, *args) as program:
            program.work(0.3)
            # 0: of waits below the interval, as of those that find the lock free again, not all are recorded
            self.json = record(program, "-e", "lock", "--lock", "0", "-d", counted(2, 20)).json
            time.sleep(0.1)
            counts = program.mark()
            assert program.stop() == 0
        self.lines = [o["name"] for o in self.json["owners"]]
        owners = {o["name"]: o["waits"] for o in self.json["owners"]}
        self.brief = {name: n for name, n in owners.items() if re.fullmatch(r"brief-\d+", name)}
        self.others = {name: n for name, n in owners.items() if name not in self.brief}
        self.waits = sum(line["waits"] for line in self.json["locks"] if is_theirs(line, kind))
        # as Thread.start() waits for the ThreadGroup, which a holder that ends has (17)
        self.else_waits = sum(line["waits"] for line in self.json["locks"] if not is_theirs(line, kind))
        seen = sorted(int(name[6:]) for name in self.brief)
        assert len(seen) > 5, self.json["owners"]
        # but for the first and the last one, which were not seen from begin to end
        self.counted = {name: counts.get(name, 0) for name in (f"brief-{n}" for n in range(seen[0] + 1, seen[-1]))}

    def missing(self):
        """Owners who have fewer waits than there were: {name: (told, counted)}."""
        return {name: (self.brief.get(name, 0), n) for name, n in self.counted.items() if self.brief.get(name, 0) < n}

    def surplus(self):
        return {name: (self.brief.get(name, 0), n) for name, n in self.counted.items() if self.brief.get(name, 0) > n}

    def check(self):
        """
        Each wait is told with the one who was waited for. Where the lock was free again before its owner was looked at,
        with none: that makes 1 % at most, and no wait that is missing at an owner is with another one.
        """
        missing, surplus = self.missing(), self.surplus()
        without = self.waits + self.else_waits - sum(self.brief.values()) - sum(self.others.values())
        gone = sum(n - told for told, n in missing.values())
        more = sum(told - n for told, n in surplus.values())
        assert gone <= min(without, 0.01 * self.waits + 1), (missing, without, self.waits)
        assert more <= self.else_waits, (surplus, self.json["locks"])


def is_theirs(line, kind):
    return (line["class"].replace("/", ".") == CLASSES[kind] and
            line["kind"] == {"monitor": "monitor", "lock": "park"}[kind])


@pytest.mark.parametrize("kind,ms,threads", CASES)
def test_brief_holders(jdk, kind, ms, threads, say):
    """Holders that end with what they hold are named, each by its own name: 99 % of them, and no other thread."""
    if threads == "virtual" and jdk.version < (24 if kind == "monitor" else 21):
        pytest.skip(f"{jdk}: virtual threads there have no monitors of their own")
    told = Told(jdk, kind, ms, threads)
    named = sum(told.brief.values())
    say(f"lock, {jdk}: holders of {ms} ms ({kind}, {threads}): {named} of {told.waits} named, others {told.others}")
    assert told.waits > 20, told.json["locks"]
    assert named >= 0.99 * told.waits - 1, (named, told.waits, told.others)
    assert sum(n == 1 for n in told.counted.values()) >= 0.9 * len(told.counted), told.counted
    told.check()
    assert not [name for name in told.others if "virtual" in name], told.others


@pytest.mark.parametrize("kind,ms,times", [("monitor", 1, 2), ("monitor", 12, 3), ("lock", 1, 4), ("lock", 12, 2)])
def test_one_line_each(jdk, kind, ms, times, say):
    """A holder who is asked for while it lives, at its end and after that is one line of owners, and one thread."""
    told = Told(jdk, kind, ms, "platform", times)
    twice = sorted({name for name in told.lines if told.lines.count(name) > 1 and name in told.brief})
    say(f"lock, {jdk}: holders of {times} × {ms} ms ({kind}): {len(told.brief)} lines, {len(twice)} of them again")
    assert not twice, twice
    assert sum(n == times for n in told.counted.values()) >= 0.9 * len(told.counted), told.counted
    told.check()
