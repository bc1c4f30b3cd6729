"""Traces: the JSON against its schema, texts, and the page in a browser, of a made-up trace (tests/unit/calls_sample.h)."""
import json
import os
import re

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

TIMES = {"total_wall": int, "self_wall": int, "total_cpu": int, "self_cpu": int}
WAITS = {"sleep": int, "wait": int, "park": int, "monitor": int, "io": int}
# docs/reference/json.md in short: each key and what its value is; a tuple is a choice, a list has items of one kind
SCHEMA = {
    "schema": int, "version": str, "timing": ("sampled", "exact", "adaptive", "none"), "pid": int, "main": str,
    "jdk": str, "duration_ns": int, "period_ns": int, "invocations": int, "uncounted": int, "classes": int,
    "classes_not_run": int, "tree_bytes": int, "probe_ns": float, "held_ns": int, "events_lost": int, "skipped_more": int,
    "methods": [{"class": str, "name": str, "signature": str, "invocations": int, "stamps": int, "mean": int,
                 "timed": int, "min": (int, None), "p50": (int, None), "p99": (int, None), "max": (int, None),
                 "waits": WAITS, "error": int, "since_ns": int, **TIMES}],
    "tree": [{"node": int, "parent": int, "invocations": int, "method?": int, "thread?": int, "waits?": WAITS, **TIMES}],
    "threads": [{"name": str, "id": int, "threads": int, "invocations": int, "wall": int, "cpu": int, "waits": WAITS}],
    "events": [{"method": int, "started_at_ns": int, "duration": int, "thread": str, "thread_id": int, "truncated": bool,
                "stack": [str]}],
    "entered_before": [{"method": int, "threads": int}],
    "skipped": [{"name": str, "reason": str}],
}


def conform(value, schema, path="$"):
    """VALUE has what SCHEMA asks for and nothing of another kind; keys that SCHEMA does not know are errors here."""
    if isinstance(schema, dict):
        assert isinstance(value, dict), path
        must = {k for k in schema if not k.endswith("?")}
        may = {k.rstrip("?") for k in schema}
        assert must <= set(value) <= may, f"{path}: {must - set(value)} missing, {set(value) - may} unknown"
        for key, inner in value.items():
            conform(inner, schema.get(key, schema.get(key + "?")), f"{path}.{key}")
    elif isinstance(schema, list):
        assert isinstance(value, list), path
        for i, inner in enumerate(value):
            conform(inner, schema[0], f"{path}[{i}]")
    elif isinstance(schema, tuple):
        assert any(value is s or value == s or (isinstance(s, type) and type(value) is s) for s in schema), f"{path}: {value}"
    else:
        assert type(value) is schema, f"{path}: {value}"


@pytest.fixture(params=["calls", "calls-threads", "calls-none"])
def data(request, make_page):
    return json.loads(make_page(request.param, "json").read_bytes())


def test_schema(data):
    conform(data, SCHEMA)
    assert data["schema"] == 1


def test_every_key_is_documented(data):
    text = open(os.path.join(ROOT, "docs/reference/json.md")).read()
    documented = set(re.findall(r"`(\w+)(?:\[\])?`", text[text.index("## The result of a trace"):]))
    documented |= {"schema", "version", "pid", "main", "jdk", "duration_ns"}
    known = set()

    def walk(schema):
        for key, inner in schema.items():
            known.add(key.rstrip("?"))
            inner = inner[0] if isinstance(inner, list) else inner
            if isinstance(inner, dict):
                walk(inner)
    walk(SCHEMA)
    assert known - documented == set()


def test_sums_agree(data):
    methods, tree = data["methods"], data["tree"]
    for values in (methods, tree, data["threads"]):
        assert sum(v["invocations"] for v in values) == data["invocations"] == 72024
    assert sum(m["self_wall"] + sum(m["waits"].values()) for m in methods) == sum(n["total_wall"] for n in tree if not n["parent"])
    for i, method in enumerate(methods):
        assert method["self_wall"] == sum(n["self_wall"] for n in tree if n.get("method") == i)
    total = next(m for m in methods if m["name"] == "total" and m["signature"] == "()J")
    assert total["total_wall"] == (3250000 if data["timing"] == "exact" else 0), "once where it called itself"
    assert [n["parent"] < n["node"] for n in tree] == [True] * len(tree)


def test_collapsed_has_the_slow_calls(make_page, data):
    """The sample asks for calls of 2 ms and longer; trees in full are in tests/unit/test_writers_calls.c."""
    lines = make_page("calls-threads", "collapsed").read_text().splitlines()
    assert lines == ["[main];java.lang.Thread.run;com.acme.Main.run 2100000"]


def test_text_has_every_part(make_page):
    text = make_page("calls", "text").read_text()
    for part in ("call tree", "back traces", "  class\n", "  package\n", "  thread\n", "calls took 2 ms or longer",
                 "entered before", "not instrumented", "com.acme.Order.total(Ljava/lang/String;)", "com.acme.money\n"):
        assert part in text, part
    hot = [line.split() for line in text[text.index("  method\n"):].splitlines()[1:] if line][:1][0]
    assert hot[0] == "2005" and hot[2] == "2.750" and hot[-1] == "com.acme.Order.total()"
    # upside down: the constructor's time by its caller
    back = text[text.index("back traces"):]
    at = back.index("com.acme.money.Round.<init>\n")
    assert back[at:].splitlines()[1].split()[-1] == "com.acme.Order.total()"
    counts = make_page("calls-none", "text").read_text()
    assert "CPU" not in counts and "72,024 calls" in counts


def test_page_shows_the_tree(page):
    p = page("calls", form="html")
    assert p.text("#title") == "Calls of com.acme.Main" and "exact timing" in p.text("#facts")
    assert p.text("#units [data-unit=samples]") == "Calls"
    whole = p.boxes()[0]
    assert whole["weight"] == 4495000 and p.box("[monitor]")["weight"] == 60000
    assert p.box("com.acme.Order.total()")["weight"] == 3250000
    assert p.box("</script><b>Größe.x;y")["weight"] == 125000
    p.point(p.box("com.acme.money.Round.<init>"))
    tip = p.text("#tip")
    assert "70,000" in tip and "≈ CPU" in tip and "500 µs" in tip


def rows(p, section):
    """[[texts of cells]] of the table."""
    return p.js("return [...document.querySelectorAll(arguments[0] + ' tbody tr')].map((l) => [...l.children].map((c) => c.textContent))", section)


def test_tree_table(page):
    p = page("calls", "#tab=tree", form="html")
    table = rows(p, "#tree")
    assert [r[-1] for r in table][:3] == ["▾com.acme.Main.run", "▾com.acme.Order.total()", "com.acme.money.Round.<init>"]
    assert table[1][1:5] == ["3.3 ms", "2.5 ms", "2,000", "1.6 µs"]
    p.js("document.querySelectorAll('#tree tbody tr')[1].click()")  # close total()
    assert not any("Round" in r[-1] for r in rows(p, "#tree"))
    p.js("document.querySelectorAll('#tree tbody tr')[1].click()")
    p.js("document.querySelector('#tree [data-sort=calls]').click()")
    top = [r[-1] for r in rows(p, "#tree") if "NoPackage" in r[-1] or "Main.run" in r[-1]]
    assert top == ["▾NoPackage.rest", "▾com.acme.Main.run"] or top[0].endswith("NoPackage.rest"), "10 calls before 3"
    p.search("round")
    assert [r[-1] for r in rows(p, "#tree")] == ["▾com.acme.Main.run", "▾com.acme.Order.total()", "com.acme.money.Round.<init>"]
    p.js("""document.querySelectorAll('#tree tbody tr')[2].dispatchEvent(new MouseEvent('dblclick', { bubbles: true }))""")
    assert p.text("#crumbs [aria-current]") == "Round.<init>"


def test_tree_table_by_keys(page):
    p = page("calls", "#tab=tree", form="html")
    p.js("document.querySelector('#tree tbody tr').focus()")
    from selenium.webdriver.common.keys import Keys
    before = len(rows(p, "#tree"))
    p.keys(Keys.ARROW_LEFT)
    assert len(rows(p, "#tree")) < before
    p.keys(Keys.ARROW_RIGHT, Keys.ARROW_DOWN)
    assert len(rows(p, "#tree")) == before
    assert "total" in p.js("return document.activeElement.textContent")


def test_back_traces(page):
    p = page("calls", "#tab=tree&view=callers", form="html")
    table = rows(p, "#tree")
    at = next(i for i, r in enumerate(table) if "Round" in r[-1])
    assert table[at][1:3] == ["500 µs", "70,000"]
    assert sum(int(r[2].replace(",", "")) for r in p.js("""
        return jstrobe.root.children('weight').map((n) => [0, 0, String(n.calls)])""")) == 72024


def test_methods_classes_packages(page):
    p = page("calls", "#tab=methods", form="html")
    methods = {r[-1]: r for r in rows(p, "#methods")}
    assert methods["com.acme.Order.total()"][1:6] == ["2.8 ms", "72.30 %", "3.3 ms", "2,005", "1.6 µs"]
    run = methods["com.acme.Main.run"]
    assert run[6] == "2 ms" and methods["NoPackage.rest"][6] == "-", "p99 where it is known"
    p.click("[data-group=class]")
    classes = {r[-1]: r for r in rows(p, "#methods")}
    assert classes["com.acme.Order"][1] == "2.8 ms" and classes["com.acme.Order"][4] == "2,010"
    p.click("[data-group=package]")
    packages = {r[-1]: r for r in rows(p, "#methods")}
    assert packages["com.acme"][3] == "4.4 ms" and packages["com.acme.money"][4] == "70,000"
    assert "(no package)" in packages


def test_threads_apart(page):
    p = page("calls-threads", form="html")
    assert {b["name"] for b in p.boxes() if b["depth"] == 1} == {"[main tid=0]", "[several threads tid=1]"}
    p.click("[data-tab=threads]")
    assert {r[2] for r in rows(p, "#threads")} == {"main", "several threads"}


def test_counts_alone(page):
    p = page("calls-none", form="html")
    assert not p.js("return document.querySelector('#units').offsetWidth") and p.boxes()[0]["samples"] == 72024
    p.click("[data-tab=tree]")
    assert [h for h in p.js("return [...document.querySelectorAll('#tree th')].map((h) => h.textContent)")] == ["Total", "Self", "Calls", "Call tree"]
