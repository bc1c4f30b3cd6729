"""The edited graph: what each step leaves is computed here from the profile's stacks, and is what the page's tree has."""
import json
import re
from collections import Counter

import pytest
from selenium.webdriver.common.keys import Keys

TREE = """
    const t = jstrobe.tree, D = jstrobe.data, of = [];
    for (let i = 1; i <= t.count; i++) of.push([t.parent[i], D.names[t.name[i]], t.selfSamples[i], t.totalSamples[i], t.selfWeight[i], t.kind[i]]);
    return [of, t.selfSamples[0], t.totalSamples[0]];"""
RUN, PUT, VALUE, PARSE = "demo/OrderService$Request.run", "java/util/HashMap.put", "demo/json/Parser.value", "demo/json/Parser.parse"


def slashes(name):
    head, dot, method = name.rpartition(".")
    return name if "::" in name or not dot else head.replace("/0x", "/.0x").replace(".", "/").replace("//0x", ".0x") + "." + method


@pytest.fixture(scope="module")
def stacks(make_page):
    return lambda what: [(tuple(slashes(f) for f in s["frames"]), s["samples"], s["weight"])
                         for s in json.loads(make_page(what, "json").read_bytes())["stacks"]]


def edited(frames, what, name):
    """What is left of a stack; None: nothing, it is left out."""
    at = [i for i, f in enumerate(frames) if f == name]
    if what == "focus":
        return frames[at[0]:] if at else None
    if what == "drop":
        return None if at else frames
    if what == "hide":
        return tuple(f for f in frames if f != name)
    if what == "leaf":
        return frames[:at[0] + 1] if at else frames
    assert what == "once"
    return frames[:at[0]] + frames[at[-1]:] if at else frames


def expected(stacks, *edits):
    """Own samples and weight by way; and samples that are left out."""
    own, weights, out = Counter(), Counter(), 0
    for frames, samples, weight in stacks:
        for what, name in edits:
            frames = edited(frames, what, name) if frames else None
        if frames:
            own[frames] += samples
            weights[frames] += weight
        else:
            out += samples
    return own, weights, out


def shown(page):
    nodes, left, whole = page.js(TREE)
    ways, own, weights, total = [()], Counter(), Counter(), Counter()
    for parent, name, self_samples, samples, weight, _ in nodes:
        way = ways[parent] + (name,)
        assert way not in total, "a way stands twice"
        ways.append(way)
        total[way] = samples
        if self_samples:
            own[way] = self_samples
            weights[way] = weight
    return own, weights, total, left, whole


def address(*edits):
    from urllib.parse import quote
    return "edit=" + quote("\n".join(" ".join(e) for e in edits))


def check(page, stacks, *edits):
    own, weights, out = expected(stacks, *edits)
    has, has_weights, total, left, whole = shown(page)
    assert has == own and left == out and whole == sum(n for _, n, _ in stacks)
    assert has_weights == weights
    for way in total:
        assert total[way] == sum(n for w, n in own.items() if w[:len(way)] == way)
    return out, whole


def menu_key(page):
    from selenium.webdriver import ActionChains
    ActionChains(page.driver).key_down(Keys.SHIFT).send_keys(Keys.F10).key_up(Keys.SHIFT).perform()


ONE = [("hide", RUN), ("hide", PUT), ("hide", "start_thread"), ("focus", PARSE), ("focus", PUT), ("drop", PARSE), ("leaf", PARSE),
       ("leaf", VALUE), ("once", VALUE), ("once", PUT), ("hide", VALUE), ("focus", VALUE)]


@pytest.mark.parametrize("edit", ONE, ids=" ".join)
def test_one_step(page, stacks, edit):
    p = page("more-demo", "#" + address(edit))
    out, whole = check(p, stacks("more-demo"), edit)
    boxes = p.boxes()
    assert boxes[0]["samples"] == whole  # shares stay those of the profile
    first = [b for b in boxes if b["depth"] == 1]
    assert sum(b["samples"] for b in first) == whole - out
    assert sum(b["width"] for b in first) == pytest.approx(boxes[0]["width"])
    bar = p.text("#edits")
    assert ("left out" in bar) == bool(out)
    if out:
        assert f"{100 * out / whole:.2f} % left out" in bar


def test_some_step_changes_something(stacks):
    """That is: the profile has what these tests are about."""
    plain = expected(stacks("more-demo"))[0]
    for edit in ONE:
        if edit != ("once", PUT):
            assert expected(stacks("more-demo"), edit)[0] != plain, edit
    assert any(f.count(VALUE) > 1 for f, _, _ in stacks("more-demo"))


@pytest.mark.parametrize("edits", [
    (("focus", PARSE), ("once", VALUE), ("hide", PUT)), (("drop", PUT), ("leaf", PARSE), ("hide", "start_thread")),
    (("hide", PARSE), ("focus", VALUE)), (("leaf", PARSE), ("focus", VALUE)), (("focus", PARSE), ("drop", PARSE))],
    ids=lambda e: "+".join(w for w, _ in e))
def test_steps_one_after_the_other(page, stacks, edits):
    p = page("more-demo", "#" + address(*edits))
    out, whole = check(p, stacks("more-demo"), *edits)
    assert p.js("return document.querySelectorAll('#edits button').length") == len(edits) + 1
    if out == whole:
        assert p.text("#nothing") == "Nothing is left of the stacks."


def test_thousands_of_nodes(page, make_page):
    p = page("more-large", stacks=3000)
    truth = [(tuple(slashes(f) for f in s["frames"]), s["samples"], s["weight"])
             for s in json.loads(make_page("more-large", "json", stacks=3000).read_bytes())["stacks"]]
    names = [n for n, _ in Counter(f for frames, _, _ in truth for f in set(frames)).most_common(60)][5::12]
    for what, name in zip(("hide", "leaf", "drop", "once", "focus"), names):
        p.open("#" + address((what, name)))
        own, _, out = expected(truth, (what, name))
        has, _, _, left, _ = shown(p)
        assert has == own and left == out


def test_all_views_are_of_what_is_left(page, stacks):
    edit = ("focus", PARSE)
    p = page("more-demo", "#" + address(edit, ("hide", VALUE)))
    own, _, out = expected(stacks("more-demo"), edit, ("hide", VALUE))
    tops = Counter()
    for way, n in own.items():
        tops[way[-1]] += n
    p.click("[data-view=callers]")
    assert {b["name"]: b["samples"] for b in p.boxes() if b["depth"] == 1 and b["name"]}.items() <= tops.items()
    assert p.boxes()[0]["samples"] == sum(own.values())
    rows = p.js("return jstrobe.methods('').map((r) => [jstrobe.data.names[r.id], r.selfSamples, r.samples])")
    assert {name: n for name, n, _ in rows if n} == dict(tops)
    assert {name: n for name, _, n in rows}[PARSE] == sum(own.values()) and VALUE not in {name for name, _, _ in rows}
    # shares of kinds are of the whole profile, too
    p.open("#unit=samples&" + address(edit, ("hide", VALUE)))
    whole = sum(own.values()) + out
    legend = dict(p.js("return [...document.querySelectorAll('#kinds .legend:not(.graph-kinds) > span')].map((s) => [s.childNodes[1].textContent.trim(), s.title])"))
    assert f"{100 * out / whole:.2f} %" in legend["Left out"] and len(legend) > 1
    assert sum(float(re.search(r"([\d.]+) %", text)[1]) for text in legend.values()) == pytest.approx(100, abs=0.1)
    assert p.js("return [...document.querySelectorAll('#kinds .bar i')].reduce((sum, i) => sum + parseFloat(i.style.width), 0)") == pytest.approx(100, abs=0.1)
    p.open("#tab=tree&unit=samples&" + address(edit, ("hide", VALUE)))
    assert p.js("return document.querySelector('#tree tbody tr td').textContent") == f"{100 * sum(own.values()) / whole:.2f} %"
    p.search("HashMap")
    hit = sum(n for way, n in own.items() if any("HashMap" in f for f in way))
    assert p.text("#matched") == f"{100 * hit / whole:.2f} %"


def test_menu_by_mouse_keys_and_button(page, stacks):
    p = page("more-demo")
    items = lambda: p.js("return [...document.querySelectorAll('#menu button')].filter((b) => b.offsetParent).map((b) => b.firstChild.textContent)")
    point = lambda name: p.js("""
        const g = jstrobe.graph, b = g.rows.flat().find((x) => x.node && jstrobe.data.names[x.node.name] === arguments[0]), r = g.canvas.getBoundingClientRect();
        g.canvas.dispatchEvent(new MouseEvent('contextmenu', { bubbles: true, cancelable: true, clientX: r.left + b.x + 5, clientY: r.top + g.top(b.depth) + 8 }));""", name)
    point(PARSE)
    assert items()[:5] == ["Hide", "Focus on", "Drop", "Treat as leaf", "Collapse recursion"] and "Copy stack" in items()
    assert p.js("return document.activeElement.textContent").startswith("Hide") and p.text("#menu p") == "Parser.parse"
    p.keys(Keys.ARROW_DOWN, Keys.ARROW_DOWN, Keys.ARROW_UP, Keys.ENTER)
    assert items() == []
    check(p, stacks("more-demo"), ("focus", PARSE))
    assert p.text("#edits button") == "Focus on: Parser.parse  ✕"
    point(PUT)
    p.keys("h")  # as the menu says
    check(p, stacks("more-demo"), ("focus", PARSE), ("hide", PUT))
    p.driver.back()
    p.wait("return document.querySelectorAll('#edits button').length === 1")
    check(p, stacks("more-demo"), ("focus", PARSE))
    p.driver.back()
    p.wait("return document.querySelector('#edits').hidden")
    check(p, stacks("more-demo"))
    # keys alone: walk to a frame, Shift+F10, Esc; then its key
    p.js("document.querySelector('#graph').focus()")
    p.keys(*[Keys.ARROW_DOWN] * 4)
    name = p.js("return jstrobe.data.names[jstrobe.graph.selected.name]")
    menu_key(p)
    assert len(items()) == 8
    p.keys(Keys.ESCAPE)
    assert items() == [] and p.js("return document.activeElement.id") == "graph"
    p.keys("x")
    check(p, stacks("more-demo"), ("drop", name))
    # the chip takes it back, and so does the button of all
    p.click("#edits button")
    check(p, stacks("more-demo"))
    p.open("#" + address(("focus", PARSE), ("hide", PUT)))
    p.click("#edits button.all")
    check(p, stacks("more-demo"))
    # the button beside the crumbs
    p.click("#crumbs button.what")
    assert items() == [] and "Click a frame" in p.text("#told")
    p.point(p.box(PARSE), click=True)
    p.click("#crumbs button.what")
    assert p.text("#menu p") == "Parser.parse"
    assert p.js("return [...document.querySelectorAll('#menu [role=menuitem]')].every((b) => b.textContent && b.title)")


def test_the_bar_says_where_it_is_not_applied(page):
    p = page("marks")
    name = p.js("return jstrobe.methods('')[0].text")
    p.open("#" + address(("drop", name)))
    assert "left out" in p.text("#edits")
    for tab, applied in (("graph", True), ("tree", True), ("methods", True), ("sandwich", True), ("chart", True), ("threads", False), ("lanes", False),
                         ("heatmap", False), ("latency", False), ("events-table", False), ("locks", False)):
        p.click(f"#tabs [data-tab={tab}]")
        assert ("not applied here: " in p.text("#edits"), " left out" in p.text("#edits")) == (not applied, applied), tab
        assert p.js("return document.querySelector('#edits').classList.contains('unused')") != applied
    # a step can be taken back there
    p.click("#edits button")
    assert p.js("return [jstrobe.state.tab, jstrobe.state.edit, document.querySelector('#edits').hidden]") == ["locks", "", True]


def test_hiding_keeps_the_zoom(page, stacks):
    p = page("more-demo")
    p.point(p.box(PARSE), click=True)
    p.js("jstrobe.graph.select(jstrobe.graph.rows.flat().find((b) => b.node && b.node.depth > jstrobe.zoom.depth).node)")
    name = p.js("return jstrobe.data.names[jstrobe.graph.selected.name]")
    up = p.js("return jstrobe.data.names[jstrobe.graph.selected.parent.name]")
    p.keys("h")
    assert p.js("return jstrobe.data.names[jstrobe.zoom.name]") == up
    check(p, stacks("more-demo"), ("hide", name))


def test_tables_have_the_menu(page, stacks):
    p = page("more-demo", "#tab=methods")
    row = "[...document.querySelectorAll('#methods .list tbody tr')].find((r) => r.textContent.includes('HashMap.putVal'))"
    p.js(f"{row}.focus()")
    menu_key(p)
    assert "Copy stack" not in p.text("#menu") and "HashMap.putVal" in p.text("#menu")
    p.keys("h")
    check(p, stacks("more-demo"), ("hide", "java/util/HashMap.putVal"))
    assert not p.js(f"return !!{row}") and p.js("return jstrobe.state.tab") == "methods"
    p.open("#tab=tree")
    p.js("document.querySelector('#tree tbody tr').focus()")
    name = p.js("return jstrobe.data.names[document.activeElement.node.name]")
    p.keys("x")
    check(p, stacks("more-demo"), ("drop", name))


def test_another_event_keeps_the_steps(page, make_page):
    p = page("more-events", "#" + address(("focus", PUT), ("hide", PARSE)))
    one, two = json.loads(make_page("more-events", "json").read_bytes())["profiles"]
    as_stacks = lambda profile: [(tuple(slashes(f) for f in s["frames"]), s["samples"], s["weight"]) for s in profile["stacks"]]
    check(p, as_stacks(one), ("focus", PUT), ("hide", PARSE))
    p.js("document.querySelectorAll('#events button')[1].click()")
    p.wait("return window.jstrobe && jstrobe.data.event === 'page-faults'")
    check(p, as_stacks(two), ("focus", PUT), ("hide", PARSE))
    assert p.js("return document.querySelector('#edits button.none').textContent").startswith("Hide: " + PARSE)
    # what is no step is none
    p.open("#edit=" + "nothing%20x%0Ahide%0A%0Afocus")
    assert p.js("return document.querySelector('#edits').hidden")
    check(p, as_stacks(one))


def test_a_part_of_the_time(page):
    """What two parts of the time have is what the whole has, step or no step."""
    p = page("time")
    names = p.js("""const t = jstrobe.tree, most = {};
        for (let i = 1; i <= t.count; i++) most[jstrobe.data.names[t.name[i]]] = Math.max(most[jstrobe.data.names[t.name[i]]] || 0, t.totalSamples[i]);
        return Object.entries(most).sort((a, b) => b[1] - a[1]).map(([n]) => n)""")
    for edit in (("drop", names[len(names) // 2]), ("hide", names[1]), ("focus", names[2]), ("leaf", names[0])):
        p.open("#" + address(edit))
        whole, _, _, left, total = shown(p)
        halves, lefts, totals = Counter(), 0, 0
        for sel in ("0-5000", "5000-10000"):
            p.js("jstrobe.change({ sel: arguments[0] }, true)", sel)
            own, _, _, out, part = shown(p)
            halves += own
            lefts, totals = lefts + out, totals + part
        assert (halves, lefts, totals) == (whole, left, total)
        # undone within the part: as if it had been selected without it
        p.js("jstrobe.change({ edit: '' }, true)")
        undone = shown(p)
        p.open("#sel=5000-10000")
        assert shown(p) == undone
        p.driver.back()
    assert p.logs() == []


def test_comparison_with_the_rest_of_what_is_left(page):
    p = page("time")
    name = p.js("return jstrobe.data.names[jstrobe.tree.name[1]]")
    p.open("#sel=0-5000&rest=1&" + address(("hide", name)))
    assert p.js("return jstrobe.time.other.totalSamples.length") == p.js("return jstrobe.tree.count + 1")
    assert p.js("return jstrobe.time.other.totalSamples[0]") == 80 and p.logs() == []


def test_copy_of_a_stack(page):
    """Into the clipboard, or by a selection where there is none."""
    p = page("more-demo")
    p.js("Object.defineProperty(navigator, 'clipboard', { configurable: true, value: { writeText: async (t) => { window.copied = t; } } })")
    p.point(p.box(PUT), click=True)
    p.keys("y")
    p.wait("return !!window.copied")
    lines = p.js("return window.copied").split("\n")
    way = p.js("const way = []; for (let n = jstrobe.zoom; n.parent; n = n.parent) way.unshift(jstrobe.data.names[n.name]); return way")
    samples, whole = p.js("return [jstrobe.zoom.samples, jstrobe.root.samples]")
    assert lines[1:-1] == way and way[-1] == PUT and lines[-1] == ""
    assert lines[0].startswith(f"{100 * samples / whole:.2f} % · {samples:,} samples") and lines[0].endswith("CPU profile of demo.OrderService")
    # callers: the root is the last one of the graph
    p.open("#view=callers&unit=samples")
    p.js("Object.defineProperty(navigator, 'clipboard', { configurable: true, value: undefined })")
    p.js("document.addEventListener('copy', () => { window.copied = document.activeElement.value; })")
    node = "jstrobe.graph.rows.flat().find((b) => b.node && b.depth === 3).node"
    p.js(f"jstrobe.graph.select({node})")
    p.keys("y")
    p.wait("return !!window.copied")
    way = p.js(f"const way = []; for (let n = {node}; n.parent; n = n.parent) way.push(jstrobe.data.names[n.name]); return way")
    assert p.js("return window.copied").split("\n")[1:-1] == way and len(way) == 3
    assert p.text("#told") == "Copied." and not p.js("return document.querySelector('#copied')")
    # nothing copies: there is a window with the text
    p.js("document.execCommand = () => false")
    p.keys("y")
    p.wait("return !!document.querySelector('#copied')")
    assert p.js("const a = document.querySelector('#copied textarea'); return a.value.slice(a.selectionStart, a.selectionEnd)").split("\n")[1:-1] == way
    p.keys(Keys.ESCAPE)
    p.wait("return !document.querySelector('#copied')")


def test_pages_that_cannot_be_edited(page):
    """Those of the agent have not the code; a trace counts calls."""
    p = page("demo", "#" + address(("hide", PUT)))
    assert not p.js("return document.querySelector('#edits') || document.querySelector('#menu')")
    assert p.js("return jstrobe.tree.selfSamples[0]") == 0
    assert not re.search("Hide", p.text("#keys"))


@pytest.mark.parametrize("name", ["", "hide x\nfocus y", "a\\nb", "back\\slash"])
def test_names_of_any_kind(page, make_page, stacks, name):
    """What is in a name is no step, and a frame without a name can be taken away as well."""
    plain = make_page("more-demo")
    copy = plain.with_name("odd-names-%d.html" % len(name))
    text = plain.read_text(encoding="utf-8")
    assert json.dumps(VALUE) in text
    copy.write_text(text.replace(json.dumps(VALUE), json.dumps(name)), encoding="utf-8")
    p = page("more-demo")
    p.path = copy
    p.open()
    for what in ("hide", "drop", "leaf", "once", "focus"):
        p.js("jstrobe.change({ edit: '', zoom: '' }, true)")
        p.js("jstrobe.change(jstrobe.more.frames.edits.with(arguments[0], arguments[1], 1), true)", what, name)
        own, _, out = expected(stacks("more-demo"), (what, VALUE))
        assert p.js("return [jstrobe.tree.totalSamples[0], jstrobe.tree.selfSamples[0]]") == [sum(own.values()) + out, out], what
        assert p.js("return jstrobe.more.frames.edits.list.map((e) => [e.what, e.name])") == [[what, name]]
    assert p.logs() == []


def test_no_more_steps_than_there_may_be(page):
    p = page("more-demo", "#edit=" + "%0A".join(["hide nothing"] * 2000))
    assert p.js("return jstrobe.more.frames.edits.list.length") == 50
    p.js("jstrobe.change(jstrobe.more.frames.edits.with('hide', arguments[0], 1), true)", VALUE)
    assert p.js("return jstrobe.more.frames.edits.list.map((e) => e.name)") == ["nothing"] * 50 and p.logs() == []
