"""The JSON output: parses, has the keys that docs/reference/json.md names, and its sums agree."""
import json
import os
import re

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
REASONS = re.findall(r"^LOSS\((\w+)", open(os.path.join(ROOT, "src/common/words/counters.def")).read(), re.M)
ENDS = re.findall(r"^END\((\w+)", open(os.path.join(ROOT, "src/common/words/counters.def")).read(), re.M)
KINDS = re.findall(r'^X\(\w+,\s*"(\w+)"', open(os.path.join(ROOT, "src/common/words/frame_kinds.def")).read(), re.M)


@pytest.fixture(params=["sample", "threads", "lines", "demo", "empty", "time-agent"])
def data(request, make_page):
    return json.loads(make_page(request.param, "json").read_bytes())


def keys_of(value, prefix=""):
    """All keys as "samples.lost.queue_full"; a list counts by its first item."""
    found = set()
    if isinstance(value, dict):
        for key, inner in value.items():
            found |= {prefix + key} | keys_of(inner, prefix + key + ".")
    elif isinstance(value, list) and value:
        found |= keys_of(value[0], prefix)
    return found


def test_keys_of_schema_1(data):
    assert data["schema"] == 1
    assert {"schema", "version", "event", "engine", "pid", "main", "jdk", "started_at", "duration_ns",
            "interval_ns", "samples", "weight", "queues", "handler_ns", "drain_ns",
            "walk_ended_early", "methods", "threads", "stacks"} <= set(data)
    assert set(data["samples"]["lost"]) == set(data["weight"]["lost_by_reason"]) == set(REASONS)
    assert set(data["walk_ended_early"]) == set(ENDS)
    assert {"unit", "total", "lost", "unsampled"} <= set(data["weight"]) and data["weight"]["unit"] == "ns"
    assert {"bytes", "increments", "max_capacity", "max_fill"} <= set(data["queues"])
    for key in ("handler_ns", "drain_ns"):
        assert {"mean", "p99", "p999", "max"} <= set(data[key])
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", data["started_at"])


def test_every_key_is_documented(data):
    documented = set(re.findall(r"`([\w.]+)`", open(os.path.join(ROOT, "docs/reference/json.md")).read()))
    reasons = {f"{place}.{r}" for place in ("samples.lost", "weight.lost_by_reason") for r in REASONS}
    reasons |= {f"walk_ended_early.{e}" for e in ENDS}
    assert keys_of(data) - reasons - documented == set()


def test_sums_agree(data):
    samples, weight = data["samples"], data["weight"]
    assert samples["taken"] == samples["stored"] + sum(samples["lost"].values())
    assert samples["complete"] <= samples["stored"]
    assert weight["lost"] == sum(weight["lost_by_reason"].values())
    for field, whole in (("samples", samples["stored"]), ("weight", weight["total"])):
        assert sum(s[field] for s in data["stacks"]) == whole
        assert sum(m["self" + {"samples": "", "weight": "_weight"}[field]] for m in data["methods"]) == whole


def test_methods_follow_from_the_stacks(data):
    self, total = {}, {}
    for s in data["stacks"]:
        names = [re.sub(r":\d+$", "", f) for f in s["frames"]]
        for name in set(names):
            total[name] = total.get(name, 0) + s["samples"]
        self[names[-1]] = self.get(names[-1], 0) + s["samples"]
    for m in data["methods"]:
        assert m["total"] == total.pop(m["name"])
        assert m["self"] == self.get(m["name"], 0)
    assert total == {}
    assert [m["self"] for m in data["methods"]] == sorted((m["self"] for m in data["methods"]), reverse=True)


def test_kinds_stand_beside_the_frames(data):
    for s in data["stacks"]:
        assert len(s["kinds"]) == len(s["frames"]) and set(s["kinds"]) <= set(KINDS)


def test_threads(make_page):
    data = json.loads(make_page("threads", "json").read_bytes())
    for number, t in enumerate(data["threads"]):
        mine = [s for s in data["stacks"] if s["thread"] == number]
        assert all(s["tid"] == t["tid"] for s in mine)
        assert sum(s["samples"] for s in mine) == t["samples"]
        assert sum(s["weight"] for s in mine) == t["weight"]
    without = json.loads(make_page("sample", "json").read_bytes())
    assert not any("tid" in s for s in without["stacks"])


def test_names_are_spelled_for_programs(make_page):
    data = json.loads(make_page("sample", "json").read_bytes())
    methods = {m["name"]: m["type"] for m in data["methods"]}
    assert methods["java.util.HashMap.put"] == "java"
    assert methods["do_syscall_64"] == "kernel" and methods["write"] == "native"
    assert methods["demo.OrderService$$Lambda$14/0x0000000800c03000.apply"] == "java"
    assert methods["demo.Größe.<init>"] == "java" and methods["[truncated]"] == "other"
    lines = json.loads(make_page("lines", "json").read_bytes())
    assert "demo.Tree.walk:7" in {f for s in lines["stacks"] for f in s["frames"]}
