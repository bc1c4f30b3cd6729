"""`jstrobe diff` of two results, and of what is no pair: text, JSON and the page, against what was changed."""
import json
import os
import subprocess

import pytest
from conftest import OUT, Page

COMMAND = os.path.join(OUT, "bin", "jstrobe")


def run(*args):
    return subprocess.run([COMMAND, "diff", *map(str, args)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.fixture(scope="module")
def pair(make_page, tmp_path_factory):
    """(before, after): half of the string parser's samples, twice the archive's, no prices, a new method."""
    folder = tmp_path_factory.mktemp("diff")
    data = json.loads(make_page("demo", "json").read_bytes())
    before, after = folder / "before.json", folder / "after.json"
    before.write_text(json.dumps(data))
    for s in data["stacks"]:
        names = " ".join(s["frames"])
        factor = 0.5 if "Parser.string" in names else 2 if "Archive" in names else 0 if "Pricing" in names else 1
        s["samples"], s["weight"] = int(s["samples"] * factor), int(s["weight"] * factor)
    data["stacks"].append({"frames": ["java.lang.Thread.run", "demo.New.work"], "kinds": ["jit", "jit"],
                           "samples": 400, "weight": 400000000})
    after.write_text(json.dumps(data))
    return before, after


def sums(path, name):
    """(self, total) ns of a method by the file's stacks."""
    stacks = json.loads(path.read_text())["stacks"]
    return (sum(s["weight"] for s in stacks if s["frames"][-1] == name),
            sum(s["weight"] for s in stacks if name in s["frames"]))


def test_json(pair):
    done = run(*pair, "-o", "json")
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["unit"] == "ns" and result["before"]["file"] == "before.json" and result["after"]["event"] == "cpu"
    assert result["compared_by"] == "second" and result["certainty"] == 0.95 and result["changes_looked_at"] > 20
    methods = {m["name"]: m for m in result["methods"]}
    seconds = [result[side]["duration_ns"] / 1e9 for side in ("before", "after")]
    for name in ("demo.json.Parser.string", "demo.Archive.store", "demo.New.work", "longest_match", "demo.Pricing.total"):
        known = [sums(path, name) for path in pair]
        m = methods[name]
        assert [(m["self_before"], m["total_before"]), (m["self_after"], m["total_after"])] == known, name
        for i, what in enumerate(("self", "total")):
            rates = [known[side][i] / seconds[side] for side in (0, 1)]
            assert [m[what]["before"], m[what]["after"]] == pytest.approx(rates, rel=1e-4), name
            assert m[what]["low"] <= m[what]["change"] <= m[what]["high"]
            assert m[what]["change"] == pytest.approx(rates[1] - rates[0], rel=1e-4, abs=1)
    change = [abs(m["self_after"] - m["self_before"]) for m in result["methods"]]
    assert change == sorted(change, reverse=True)
    for side in ("before", "after"):
        assert sum(m["self_" + side] for m in result["methods"]) == result[side]["total"]


def listed(*args):
    """{(method, self or total)} of a difference, and its JSON."""
    result = json.loads(run(*args, "-o", "json").stdout)
    return {(m["name"], what) for m in result["methods"] for what in ("self", "total") if m[what]["listed"]}, result


def test_what_has_changed_is_listed_once(pair):
    rows, result = listed(*pair)
    assert ("demo.New.work", "self") in rows and ("longest_match", "self") in rows
    methods = {m["name"]: m for m in result["methods"]}
    # who only calls what is listed is told to have changed by it
    assert methods["demo.New.work"]["total"]["in"] == "demo.New.work"
    by = {name: m["total"]["in"] for name, m in methods.items() if "in" in m["total"]}
    assert by and all(m in {name for name, _ in rows} for m in by.values()), by
    for name, what in rows:
        part = methods[name][what]
        assert part["beyond_chance"] and (part["low"] > 0 or part["high"] < 0), name


def test_equal_files_have_no_change(pair):
    rows, result = listed(pair[0], pair[0])
    assert not rows and not result["whole"]["beyond_chance"]
    assert f"({len(result['methods'])} methods: all within chance)" in run(pair[0], pair[0]).stdout


def test_text(pair):
    text = run(*pair).stdout
    lines = text.splitlines()
    assert lines[0].startswith("before  before.json: cpu, 10.02 s, 9,683 samples")
    assert lines[2].startswith("whole   ") and "before, " in lines[2]
    assert "others within chance" in text and "callers changed by what they call: " in text
    table = [line for line in lines if line.split()[-2:-1] in (["self"], ["total"])]
    assert {(line.split()[-1], line.split()[-2]) for line in table} == listed(*pair)[0]
    new = next(line for line in table if line.endswith("demo.New.work"))
    assert new.split()[:6] == ["0.00", "%", "3.99", "%", "+3.99", "%"] and 0 < float(new.split()[6]) < 3.99, new
    assert " new  self " in new
    gone = next(line for line in run(*reversed(pair)).stdout.splitlines() if line.endswith("demo.New.work"))
    assert " gone  self " in gone and "−3.99 %" in gone
    # the largest change first, whatever its sign
    sizes = [abs(float(line.split()[4].replace("−", "-"))) for line in table]
    assert sizes == sorted(sizes, reverse=True)


def test_by_unit_of_work(pair):
    """Twice the work in the second run: each method that does as much does half as much by unit of it."""
    text = run(*pair, "--per", "orders=1000,2000").stdout
    assert "1000 orders" in text.splitlines()[0] and "2000 orders" in text.splitlines()[1]
    result = listed(*pair, "--per", "1000,2000")[1]
    assert result["compared_by"] == "unit" and result["after"]["per"] == 2000
    m = next(m for m in result["methods"] if m["name"] == "demo.New.work")
    assert m["self"]["after"] == pytest.approx(400000000 / 2000)
    assert listed(*pair, "--per", "1000")[1]["after"]["per"] == 1000
    for wrong in ("0", "orders", "orders=", "1,2,3", "1,0", "-1", "1,", "1e3"):
        done = run(*pair, "--per", wrong)
        assert done.returncode == 2 and "how many units of work" in done.stderr, wrong


def test_by_samples(pair):
    line = next(line for line in run(*pair, "--samples").stdout.splitlines() if line.endswith("demo.New.work"))
    assert line.split()[:3] == ["0.00", "39.92", "+39.92"], line


def test_traces_are_compared_by_calls(make_page):
    """A trace can be compared as well: by time, and by calls."""
    done = run(make_page("calls", "json"), make_page("calls-none", "json"), "--samples", "-o", "json")
    result = json.loads(done.stdout)
    assert result["unit"] == "samples"
    assert all(m["self_before"] == m["self_after"] for m in result["methods"] if "[" not in m["name"])


def test_collapsed_stacks_against_a_result(make_page):
    both = make_page("demo", "json"), make_page("demo", "collapsed")
    text = run(*both).stdout
    assert f"({len(listed(*both)[1]['methods'])} methods: all within chance)" in text and "whole" not in text


def test_mistakes(pair, make_page, tmp_path):
    faults = make_page("events", "json")
    (tmp_path / "cut.json").write_text(pair[0].read_text()[:4000])
    (tmp_path / "other.json").write_text('{"name": "npm"}')
    for args, code, words in (
            ((pair[0],), 2, "which two files"),
            ((pair[0], "nowhere.json"), 1, "No such file"),
            ((pair[0], tmp_path / "cut.json"), 2, "no JSON that jstrobe wrote, or cut: byte 4000"),
            ((pair[0], tmp_path / "other.json"), 2, "neither `stacks` nor `tree`"),
            ((*pair, "-o", "calltree"), 2, "not as calltree"),
            ((*pair, "-t"), 2, "threads"),
            ((*pair, "-f", pair[0]), 2, "the same file"),
            ((pair[0], faults, "-e", "page-faults"), 1, "no samples of page-faults"),
    ):
        done = run(*args)
        assert done.returncode == code and words in done.stderr, (args, done.returncode, done.stderr)


@pytest.fixture(scope="module")
def difference(pair, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "diff.html"
    assert run(*pair, path).returncode == 0
    return path


@pytest.fixture
def opened(driver, difference):
    def open_page(hash=""):
        page = Page(driver, difference).open(hash)
        return page
    yield open_page
    assert [m for m in driver.get_log("browser")] == []


def test_page_shows_one_side(opened, pair):
    for hash, path in (("", pair[1]), ("#side=before", pair[0])):
        p = opened(hash)
        assert p.boxes()[0]["weight"] == sum(s["weight"] for s in json.loads(path.read_text())["stacks"])
        assert p.box("demo/Archive.store")["weight"] == sums(path, "demo.Archive.store")[1]
    assert not [b for b in p.boxes() if b["name"] == "demo/New.work"], "it was not there before"
    p.js("document.querySelector('#sides [data-side=\"1\"]').click()")
    p.wait("return window.jstrobe && !location.hash.includes('before') && jstrobe.root.weight === arguments[0]",
           sum(s["weight"] for s in json.loads(pair[1].read_text())["stacks"]))


def test_colours_tell_more_and_less(opened):
    p = opened()
    colour = """const g = jstrobe.graph, D = jstrobe.data;
        return g.colour(g.rows.flat().find((b) => b.node && D.names[b.node.name] === arguments[0]))"""
    for name, hue in (("demo/New.work", 8), ("demo/Archive.store", 8), ("demo/json/Parser.string", 214)):
        assert p.js(colour, name).startswith(f"hsl({hue} "), name
    p.point(p.box("demo/Archive.store"))
    tip = p.text("#tip")
    assert "before" in tip and "after" in tip and "points" in tip and "within chance" not in tip
    # what only chance has moved is grey, and the tip says so
    same = p.js("""const g = jstrobe.graph, D = jstrobe.data, grey = [];
        for (const b of g.rows.flat()) if (b.node && b.node.parent && g.colour(b) === g.restColour) grey.push(D.names[b.node.name]);
        return grey""")
    assert "demo/New.work" not in same and len(same) > 5, same


def test_callers_are_those_of_both_sides(driver, make_page, tmp_path):
    """What is merged has all stacks of either side: a method that lost one of its callers has lost that time."""
    data = json.loads(make_page("demo", "json").read_bytes())
    data["stacks"] += [{"frames": ["java.lang.Thread.run", caller, "demo.Shared.work"], "kinds": ["jit"] * 3, "samples": 300, "weight": 300000000}
                       for caller in ("demo.One.run", "demo.Two.run")]
    (tmp_path / "before.json").write_text(json.dumps(data))
    whole = sum(s["weight"] for s in data["stacks"])
    del data["stacks"][-1]
    (tmp_path / "after.json").write_text(json.dumps(data))
    assert run(tmp_path / "before.json", tmp_path / "after.json", tmp_path / "x.html").returncode == 0
    p = Page(driver, tmp_path / "x.html").open("#view=callers")
    p.point(p.box("demo/Shared.work"))
    told = p.js("const rows = [...document.querySelectorAll('#tip dt')]; return rows.find((r) => r.textContent === 'before').nextSibling.textContent")
    assert told.startswith(f"{100 * 6e8 / whole:.2f} %"), told


def test_tables_of_a_difference(opened):
    p = opened("#tab=methods")
    rows = p.js("return [...document.querySelectorAll('#methods tbody tr')].map((l) => [...l.children].map((c) => c.textContent))")
    assert rows[0][-1] == "longest_match" and rows[0][4] == "+1.12 s", rows[0]
    p = opened("#tab=tree")
    assert "Total changed" in p.text("#tree thead")
    p = opened("#tab=methods&group=package")
    assert "demo" in p.text("#methods tbody")
