"""Words of the first screen: those of the tables' heads and of the line below them are in `jstrobe help words`."""
import re

import pytest
from jvm import Program, jstrobe

pytestmark = pytest.mark.in_pairs

PLAIN = {"time", "method", "lock", "waited", "for", "thread", "that", "waits", "longest", "bytes", "when", "the", "wait", "began",
         "threads", "made", "owner", "all", "an", "of", "with", "and", "where", "%", "by", "kept", "in"}


def heads(text):
    """Words of lines that are heads: no figure is in them, and a column of figures is below."""
    lines = text.splitlines()
    for line, below in zip(lines, lines[1:]):
        if "  " in line.strip() and not re.search(r"\d", line) and re.search(r"\d.*\d", below):
            yield line


LOCKED = ("Orders", "lock", "work", 20)


@pytest.mark.parametrize("event, more, program", [("cpu", ["-i", "1ms"], LOCKED), ("wall", [], LOCKED), ("lock", [], LOCKED),
                                                  ("alloc", ["-i", "4k"], ("Planted", "garbage"))])
def test_heads_are_told(jdk17, event, more, program):
    told = jstrobe("help", "words").stdout
    assert max(map(len, told.splitlines())) <= 100
    with Program(jdk17, *program) as running:
        done = jstrobe("record", "-e", event, "-d", 2, *more, running.pid)
    assert done.returncode == 0, done.stderr
    found = [word for head in heads(done.stdout) for word in re.split(r"  +", head.strip())]
    assert found, done.stdout
    for words in found:
        unknown = [w for w in re.sub("[,;]", "", words).split() if w not in PLAIN and w not in told]
        assert not unknown or words in told, (words, done.stdout)
    # the last line: counts and sizes apart, each of its parts is told, or plain
    last = done.stdout.rstrip().splitlines()[-1]
    for part in last.split(" · "):
        assert any(words in part for words in ("all stored", "lost", "CPU time sampled", "complete stacks", "wall time of", "waited by",
                                               "they stand for", "may belong to the method")), part


def test_reasons_and_activities_are_told():
    told = jstrobe("help", "words").stdout
    for word in ("signal_pending", "queue_full", "CPU wait", "Object.wait", "(± 4)", "held by", "[k]"):
        assert word in told, told
