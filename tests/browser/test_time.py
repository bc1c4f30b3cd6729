"""Pages with time: the strip, a selection that all views follow, lanes and the heatmap."""
import json
import re

import pytest
from page_data import edited

SUMS = "return { samples: jstrobe.tree.totalSamples[0], weight: jstrobe.tree.totalWeight[0] }"


def drag(page, selector, first, last, row=0.5):
    """From share FIRST of the width of SELECTOR to share LAST, with real pointer events."""
    from selenium.webdriver.common.action_chains import ActionChains
    element = page.driver.find_element("css selector", selector)
    box = element.rect
    at = lambda share: (int((share - 0.5) * box["width"]), int((row - 0.5) * box["height"]))
    ActionChains(page.driver, duration=20).move_to_element_with_offset(element, *at(first)).click_and_hold() \
        .move_to_element_with_offset(element, *at((first + last) / 2)).move_to_element_with_offset(element, *at(last)) \
        .release().perform()


def rewritten(path, name, edit):
    """A copy of a page with other data."""
    copy = path.with_name(f"{path.stem}-{name}.html")
    copy.write_text(edit(path.read_text(encoding="utf-8")), encoding="utf-8")
    return copy


def test_whole_time_is_the_profile(page):
    with_time, without = page("time").js(SUMS), page("wall").js(SUMS)
    assert with_time == without == {"samples": 80, "weight": 4e9}


def test_a_part_of_the_time(page):
    """Stacks of even numbers are in the first five seconds, the odd ones in the rest."""
    p = page("time")
    whole = p.js(SUMS)
    p.open("#sel=0-5000")
    first = p.js(SUMS)
    p.open("#sel=5000-10000")
    second = p.js(SUMS)
    assert first["samples"] and second["samples"]
    assert first["samples"] + second["samples"] == whole["samples"]
    assert abs(first["weight"] + second["weight"] - whole["weight"]) < 1e-3 * whole["weight"]
    assert "of all" in p.text("#time .said")


def test_parts_add_up(page):
    """Also where a batch lasts over their bounds, and idle waits are shown."""
    p = page("time")
    p.open("#idle=1")
    whole, sums = p.js(SUMS), {"samples": 0, "weight": 0}
    assert whole["samples"] == 520
    for part in range(10):
        p.open(f"#idle=1&sel={part * 1000}-{part * 1000 + 1000}")
        one = p.js(SUMS)
        sums = {key: sums[key] + one[key] for key in sums}
    assert sums["samples"] == whole["samples"] and abs(sums["weight"] - whole["weight"]) < 1e-3 * whole["weight"]


def test_dragging_selects_and_back_undoes(page):
    p = page("time")
    drag(p, "#time canvas", 0.0, 0.25)
    p.wait("return location.hash.includes('sel=')")
    part = p.js(SUMS)
    assert 0 < part["samples"] < 80
    assert p.js("return jstrobe.root.samples") == part["samples"]
    p.driver.back()
    p.wait("return jstrobe.tree.totalSamples[0] === 80")
    drag(p, "#time canvas", 0.6, 0.9)
    p.wait("return location.hash.includes('sel=')")
    p.click("#time button:last-of-type")
    p.wait("return jstrobe.tree.totalSamples[0] === 80")
    assert "sel=" not in p.js("return location.hash")


def test_all_views_follow(page):
    p = page("time")
    p.open("#sel=0-5000&tab=methods")
    part = p.js(SUMS)
    own = p.js("return jstrobe.methods('').reduce((sum, row) => sum + row.selfSamples, 0)")
    assert own == part["samples"]
    p.open("#sel=0-5000&tab=threads&unit=samples")
    shown = p.js("return [...document.querySelectorAll('#threads .list > table tbody tr')].map((r) => +r.children[1].textContent)")
    assert sum(shown) == part["samples"]
    p.open("#sel=0-5000&view=callers")
    assert p.js("return jstrobe.root.samples") == part["samples"]


def test_methods_without_samples_are_no_rows(page):
    p = page("time")
    rows = lambda: p.js("return document.querySelectorAll('#methods .list > table tbody tr').length")
    p.open("#tab=methods&group=")
    everything, seen = rows(), set()
    for sel in ("0-1", "0-60", "400-405", "5000-5010", "9000-9001"):
        p.open(f"#tab=methods&group=&sel={sel}")
        assert p.js("return jstrobe.methods('').filter((row) => row.samples || row.weight).length") == rows()
        seen.add(rows())
    assert min(seen) < everything, seen


BOXES = """
    const g = jstrobe.graph;
    return g.rows.flat().filter((b) => b.node && b.node.parent).map((b) => ({ i: b.node.index, name: jstrobe.data.names[b.node.name],
      samples: b.node.samples, colour: g.colour(b) }));"""


def test_comparison_with_the_rest(page):
    """Red is what has more of the selection than of the rest, by hand."""
    p = page("time")
    whole = {b["i"]: b["samples"] for b in p.js(BOXES)}
    all_of_it = p.js("return jstrobe.root.samples")
    p.open("#sel=0-5000&unit=samples")
    plain = p.js(BOXES)
    p.click("#time button[aria-pressed=false]")
    p.wait("return location.hash.includes('rest=1')")
    assert "more than in the rest of the time" in p.text("#kinds")
    part, grey = p.js("return jstrobe.root.samples"), p.js("return jstrobe.graph.restColour")
    for before, box in zip(plain, p.js(BOXES)):
        assert before["i"] == box["i"]
        here, there = box["samples"] / part, (whole[box["i"]] - box["samples"]) / (all_of_it - part)
        if box["colour"] != grey:  # test_rest.py has what is coloured, and what is not
            assert box["colour"].startswith("hsl(8 " if here > there else "hsl(214 "), box
            assert whole[box["i"]] >= 5
    # callers, too, and the key undoes it
    p.open("#sel=0-5000&unit=samples&rest=1&view=callers")
    assert p.js("return jstrobe.graph.rows.flat().filter((b) => b.node && b.node.parent).length") > 0
    p.keys("c")
    p.wait("return !location.hash.includes('rest=1')")
    # without a selection there is nothing to compare
    p.open("#rest=1")
    assert "more than" not in p.text("#kinds")


def test_lanes(page):
    p = page("time")
    p.click("#tabs [data-tab=lanes]")
    names = lambda: p.js("return [...document.querySelectorAll('#lanes .lane > button')].map((b) => b.textContent.trim())")
    assert names() == ["▸ order-*  (2)"]
    p.click("#lanes .lane > button")
    assert names() == ["▾ order-*  (2)", "order-1", "order-2"]
    # a click on a bar tells the stack at that moment
    p.click("#lanes .lane.one canvas")
    assert "order-1" in p.text("#lanes pre") and "shop" in p.text("#lanes pre")
    # dragging selects on that lane alone
    drag(p, "#lanes .lane.one:nth-child(4) canvas", 0.02, 0.98)
    p.wait("return location.hash.includes('lane=')")
    threads = p.js("return jstrobe.data.threads.map((t) => t[1])")
    p.click("#tabs [data-tab=threads]")
    assert [row for row in p.js("return [...document.querySelectorAll('#threads .list > table tbody tr')].map((r) => r.children[2].textContent)")] == ["order-2"]
    assert "order-1" in threads


# whether something is drawn in a part of canvas c
COPY = """
    const r = devicePixelRatio, copy = new OffscreenCanvas(c.width, c.height).getContext('2d', { willReadFrequently: true });
    copy.drawImage(c, 0, 0);
    const some = (x, y, w, h) => copy.getImageData(x * r, y * r, w * r, h * r).data.some((n) => n);
"""


def test_strip_and_lanes_have_one_axis(page):
    """A time is at the same place in the strip, in the lanes and on their axis, and a line says which one is under the mouse."""
    from selenium.webdriver.common.action_chains import ActionChains
    p = page("time")
    ends = lambda selector: p.js("const r = document.querySelector(arguments[0]).getBoundingClientRect(); return [r.left, r.right]", selector)
    wide = ends("#time canvas")
    p.click("#tabs [data-tab=lanes]")
    strip = ends("#time canvas")
    for selector in ("#lanes .axis canvas", "#lanes .lane:nth-child(2) canvas"):
        assert all(abs(a - b) <= 1 for a, b in zip(strip, ends(selector))), (selector, strip, ends(selector))
    assert p.js("const c = document.querySelector('#lanes .axis canvas');" + COPY + "return some(0, 0, c.clientWidth, c.clientHeight)"), "times are drawn"
    lane = p.driver.find_element("css selector", "#lanes .lane:nth-child(2) canvas")
    ActionChains(p.driver).move_to_element_with_offset(lane, lane.rect["width"] // 4, 0).perform()
    assert abs(float(p.text("#cursor").split()[0]) - 7.5) < 0.05
    line = p.js("const r = document.querySelector('#cursor').getBoundingClientRect(); return [r.top, r.bottom]")
    assert line[0] <= p.js("return document.querySelector('#time canvas').getBoundingClientRect().top") and line[1] > lane.rect["y"]
    p.click("#tabs [data-tab=graph]")
    assert ends("#time canvas") == wide


def test_names_of_lanes_are_told_apart(page):
    """What does not fit loses its middle: the end of the name and the number of threads stay."""
    p = page("time")
    long = "data-plane-kafka-network-thread-1-ListenerName(%s)-with-a-very-long-name-that-is-never-read-at-once-%s"
    p.path = rewritten(p.path, "names", lambda text: text.replace('"order-1"', json.dumps(long % ("PLAINTEXT", "alpha"))).replace('"order-2"', json.dumps(long % ("PLAINTEXT", "omega"))))
    p.open("#tab=lanes")
    shown = p.js("""return [...document.querySelectorAll('#lanes .lane > button')].map((b) => {
        const [head, tail] = b.children; return [tail.textContent, tail.getBoundingClientRect().right <= b.getBoundingClientRect().right + 1, head.scrollWidth > head.clientWidth]; })""")
    assert [s[1:] for s in shown] == [[True, True]] * 2 and [s[0][-5:] for s in shown] == ["alpha", "omega"], shown


def test_a_part_behind_the_end_is_told(page):
    p = page("time")
    p.open("#sel=20000-120000")
    assert p.js(SUMS)["samples"] == 80
    assert "is no part of the 10.00 s that were recorded: all of the time is shown" in p.text("#time .said")
    p.open("#sel=5000-120000")
    assert "5.000 s – 10.00 s" in p.text("#time .said")
    p.open("#sel=0-10000")
    assert "no part" not in p.text("#time .said")


def test_what_is_on_top_is_told_apart(page):
    """Where classes are on top of all stacks, the strip tells the heaviest, not "Other" alone; the title says which event it is."""
    p = page("time-agent")

    def of_classes(data):
        data["top"] = [[0, 0]] * 7 + [[5, 5], [0, 0]]
        return [data, {**data, "event": "alloc"}]
    p.path = edited(p.path, "classes", of_classes)
    p.open()
    names = p.js("return [...document.querySelectorAll('#time .legend span')].map((s) => s.title)")
    methods = p.js("return jstrobe.methods('').filter((m) => m.selfWeight).sort((a, b) => b.selfWeight - a.selfWeight).map((m) => m.text)")
    assert len(methods) > 1 and names[:6] == methods[:6], (names, methods)
    first = p.text("#title")
    p.open("#event=1")
    assert first.startswith("wall profile") and p.text("#title") == first.replace("wall profile", "alloc profile")


def test_heatmap_has_axes(page):
    """Times below the columns, parts of a column beside the rows."""
    p = page("time")
    p.open("#tab=heatmap")
    drawn = p.js("const c = document.querySelector('#heatmap canvas');" + COPY + """
        return [some(0, 20, 46, c.clientHeight - 60), some(60, c.clientHeight - 13, 200, 12)];""")
    assert drawn == [True, True]


def test_a_day_has_hours(page):
    """From two hours on times are told as the headline has them, on axes, too."""
    p = page("time")
    step = json.loads("[" + re.search(r'"time":\{[^}]*?"step":(\d+)', p.path.read_text(encoding="utf-8"))[1] + "]")[0]
    p.path = rewritten(p.path, "day", lambda text: text.replace(f'"step":{step}', f'"step":{86400 * 10**9 // 10000}', 1))
    p.open()
    assert p.js("return jstrobe.time.steps * jstrobe.time.step") == 86400e9
    assert "that part of 24:00:00 alone" in p.text("#time .said")
    p.js("""window.drawn = []; const draw = CanvasRenderingContext2D.prototype.fillText;
        CanvasRenderingContext2D.prototype.fillText = function (text, ...more) { drawn.push(text); draw.call(this, text, ...more); };""")
    p.js("jstrobe.change({ sel: '3456000-7344000' })")
    assert "0:57:36 – 2:02:24" in p.text("#time .said")
    axis = [t for t in p.js("return drawn") if ":" in t or t.endswith(" s")]
    assert axis[:3] == ["0:00", "2:00", "4:00"], axis
    p.js("drawn.length = 0; jstrobe.change({ tab: 'heatmap', sel: '' })")
    p.wait("return drawn.some((t) => t.endsWith(' min'))")
    axis = p.js("return drawn")
    assert not [t for t in axis if t.endswith(" s")] and "0:00" in axis and re.search("A column is .*(min|h)", p.text("#heatmap .time-said")), axis
    # a part of it that is short has seconds
    p.open("#seen=3600000-3720000")
    assert p.js("return jstrobe.time.steps * jstrobe.time.step") == 86400e9 and p.logs() == []


def test_heatmap_selects(page):
    p = page("time")
    p.click("#tabs [data-tab=heatmap]")
    assert "A column is" in p.text("#heatmap .time-said")
    drag(p, "#heatmap canvas", 0.01, 0.3, 0.3)
    p.wait("return location.hash.includes('sel=')")
    assert p.js(SUMS)["samples"] < 80


def test_heatmap_finer_than_stacks(page):
    """Steps of 100 s, and counts of 20 ms beside: each sample is in the middle of its second; a selection takes whole steps."""
    p = page("fine")
    p.open("#tab=heatmap")
    said = p.text("#heatmap .time-said")
    assert "known by steps of 100" in said or "known by steps of 1 min 40" in said, said
    cells = "const h = jstrobe.heatmap, n = h.rows; const at = (k) => (Math.floor(k / n) * h.column + (k % n + 0.5) * h.column / n) * jstrobe.time.step / 1e9;"
    for zoom, least in (("", 1), ("#tab=heatmap&seen=200000-300000", 20)):
        p.open(zoom or "#tab=heatmap")
        found = p.js(cells + "return { sum: h.values.reduce((a, b) => a + b, 0), rows: n, column: h.column * jstrobe.time.step / 1e9, at: [...h.values].map((v, k) => (v ? at(k) : -1)).filter((t) => t >= 0) }")
        assert found["rows"] >= least and found["at"], found
        cell = found["column"] / found["rows"]
        assert all(abs(t % 1 - 0.51) <= cell / 2 + 0.011 for t in found["at"]), found
        if not zoom:
            assert abs(found["sum"] - p.js(SUMS)["weight"]) < 1e-6 * found["sum"]
    drag(p, "#heatmap canvas", 0.2, 0.3, 0.3)
    p.wait("return location.hash.includes('sel=')")
    assert re.search(r"sel=200000-300000\b", p.js("return location.hash"))
    assert p.logs() == []


def test_strange_addresses_show_everything(page):
    p = page("time")
    for words in ("sel=9000-100", "sel=a-b", "sel=99999-999999", "lane=nothing", "sel=-5-10", "seen=8-2"):
        p.open("#" + words)
        assert p.js(SUMS) == {"samples": 80, "weight": 4e9}, words
    assert p.logs() == []


def test_keys(page):
    from selenium.webdriver.common.keys import Keys
    p = page("time")
    p.driver.find_element("css selector", "#time canvas").send_keys(Keys.ARROW_RIGHT)
    p.wait("return location.hash.includes('sel=')")
    first = p.js("return location.hash")
    p.driver.find_element("css selector", "#time canvas").send_keys(Keys.ARROW_RIGHT)
    p.wait(f"return location.hash !== '{first}'")
    p.driver.find_element("css selector", "body").send_keys(Keys.ESCAPE)
    p.wait("return !location.hash.includes('sel=')")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_no_errors(page, theme):
    p = page("time")
    for tab in ("graph", "lanes", "heatmap"):
        p.open(f"#tab={tab}&sel=1000-4000", theme)
        assert p.logs() == []
        assert not p.js("return [...document.querySelectorAll('canvas')].some((c) => c.offsetParent && !c.width)")


def test_pages_without_times_have_none_of_it(page):
    p = page("demo")
    assert not p.js("return document.querySelectorAll('#time, #lanes, #heatmap').length")


def test_pages_of_the_agent(page):
    """They know no groups of threads and nothing of idle waits: the strip shows kinds of code, and all samples."""
    p = page("time-agent")
    whole = p.js(SUMS)
    assert whole["samples"] == 520
    p.open("#sel=0-5000")
    first = p.js(SUMS)
    p.open("#sel=5000-10000")
    assert 0 < first["samples"] == whole["samples"] - p.js(SUMS)["samples"]
    for tab in ("graph", "lanes", "heatmap", "threads", "methods", "tree"):
        p.open(f"#tab={tab}&sel=1000-4000")
        assert p.logs() == []
    p.open("#tab=lanes")
    assert p.js("return document.querySelectorAll('#lanes .lane').length") > 1
    assert "Java" in p.text("#time") and "idle" not in p.text("#time").lower()
    # of wall time they count threads: who waits has no CPU
    assert p.js("return [...document.querySelectorAll('#lanes canvas')].map((c) => c.title).filter(Boolean)")[0].endswith("threads")
    assert "CPUs" not in p.js("return document.querySelector('#time').innerHTML")
