"""The chart of one thread and the sandwich, against moments and stacks."""
import json
from collections import Counter

import pytest
from selenium.webdriver.common.keys import Keys
from test_edit import PARSE, PUT, VALUE, address, slashes
from test_time import drag

# [thread, at, span, samples, weight, way from the root] of each moment that is shown
MOMENTS = """
    const T = jstrobe.time, t = jstrobe.tree, D = jstrobe.data, of = [];
    for (let i = 0; i < T.count; i++) {
      const way = [], place = T.place[i];
      for (let n = T.node[place]; n > 0; n = t.parent[n]) way.unshift(D.names[t.name[n]]);
      if (T.shown[place] && T.samples[i]) of.push([T.thread[place], T.at[i], T.span[i], T.samples[i], T.weight[i], way]);
    }
    return of;"""
BOXES = """
    const c = jstrobe.more.chart, D = jstrobe.data;
    return c.rows.flat().filter((b) => b.node).map((b) => [b.depth, D.names[b.node.name], b.node.begin, b.node.end, b.node.samples, b.node.weight, b.x, b.width]);"""
CHOSEN = "return jstrobe.more.chart.of"


def pieces(moments, step):
    """[begin, end, way, samples, weight] of a thread's moments, one after the other, where neighbours touch."""
    found = []
    for _, at, span, samples, weight, way in moments:
        own = weight / samples / step
        if samples == 1:
            found.append([at if span else at - own, at + span, way, 1, weight, own])
        elif span / (samples - 1) > 1.6 * own:
            for k in range(samples):
                found.append([at + span * k / (samples - 1) - own, at + span * k / (samples - 1), way, 1, weight / samples, own])
        else:
            found.append([at - own, at + span, way, samples, weight, own])
    last, kept = float("-inf"), []
    for begin, end, way, samples, weight, own in sorted(found, key=lambda f: f[0]):
        if begin < last or begin - last <= max(0.6 * own, 1):
            begin = last
        begin = max(begin, 0)
        if end > begin:
            kept.append((begin, end, way, samples, weight))
            last = end
    return kept


def joined(parts):
    """Boxes: (depth, name, begin, end, samples)."""
    boxes, open_ = [], []

    def close(depth, at):
        while len(open_) > depth:
            way, begin, samples = open_.pop()
            boxes.append((len(open_), way[-1], begin, at, samples))
    last = 0
    for begin, end, way, samples, _ in parts:
        same = 0
        while begin <= last and same < min(len(open_), len(way)) and open_[same][0] == way[:same + 1]:
            same += 1
        close(same, last)
        open_ += [[way[:k + 1], begin, 0] for k in range(same, len(way))]
        for one in open_:
            one[2] += samples
        last = end
    close(0, last)
    return boxes


def rounded(boxes):
    return Counter((d, name, round(begin, 3), round(end, 3), n) for d, name, begin, end, n in boxes)


@pytest.mark.parametrize("what", ["time", "marks", "time-more"])
def test_boxes_are_neighbouring_samples(page, what):
    p = page(what if what != "time-more" else "time", "#tab=chart" + ("&idle=1" if what == "time-more" else ""))
    moments, step = p.js(MOMENTS), p.js("return jstrobe.time.step")
    threads = sorted({m[0] for m in moments})
    assert len(p.js("return [...document.querySelectorAll('#chart select option')].map((o) => o.value)")) == len(threads)
    for thread in threads:
        p.js("""const D = jstrobe.data, [tid, name] = D.threads[arguments[0]]; jstrobe.change({ chart: tid ? 'tid=' + tid : name })""", thread)
        assert p.js(CHOSEN) == thread
        parts = pieces([m for m in moments if m[0] == thread], step)
        has, wide = p.js(BOXES), p.js("return jstrobe.more.chart.scale")
        expected = [b for b in joined(parts) if (b[3] - b[2]) * wide >= 0.6]
        assert rounded([b[:5] for b in has]) == rounded(expected), thread
        for _, _, begin, end, _, _, x, width in has:
            assert abs(x - begin * wide) < 0.01 and abs(width - (end - begin) * wide) < 0.01
    assert "may be many short calls" in p.text("#chart")


def test_a_long_box_and_a_gap(page):
    """Boxes of a row do not overlap; where nothing was sampled there is none."""
    p = page("time", "#tab=chart")
    rows = p.js("return jstrobe.more.chart.rows.map((row) => row.map((b) => [b.x, b.width]))")
    assert rows
    for row in rows:
        for (x, width), (after, _) in zip(row, row[1:]):
            assert x + width <= after + 0.01
    assert any(after > x + width + 3 for row in rows for (x, width), (after, _) in zip(row, row[1:]))


def test_part_of_the_time_thread_and_stack(page):
    p = page("time", "#tab=chart")
    lane = p.js("return document.querySelectorAll('#chart select option')[1].value")
    drag(p, "#chart-canvas", 0.0, 0.25)
    p.wait("return location.hash.includes('sel=')")
    part = p.js("const c = jstrobe.more.chart; return [c.from, c.to, jstrobe.time.selected.from, jstrobe.time.selected.to]")
    assert part[:2] == part[2:] and p.js("return jstrobe.more.chart.rows.flat().every((b) => b.x >= -0.01 && b.x + b.width <= jstrobe.more.chart.width + 0.7)")
    assert p.js("return document.querySelector('#chart pre').hidden")
    p.driver.back()
    p.wait("return !location.hash.includes('sel=')")
    # a click tells the stack
    way, x, depth = p.js("""const c = jstrobe.more.chart, b = c.rows[c.rows.length - 1].find((one) => one.node), way = [];
        for (let n = b.node; n.name >= 0; n = n.parent) way.push(jstrobe.data.names[n.name]);
        return [way, b.x + b.width / 2, b.depth]""")
    from selenium.webdriver import ActionChains
    where = p.js("const c = jstrobe.more.chart, r = c.canvas.getBoundingClientRect(); return [r.left + arguments[0], r.top + c.top(arguments[1]) + 5]", x, depth)
    actions = ActionChains(p.driver)
    actions.w3c_actions.pointer_action.move_to_location(round(where[0]), round(where[1])).click()
    actions.perform()
    told = p.text("#chart pre").split("\n")
    assert [line.strip() for line in told[1:]] == way and " for " in told[0]
    # the row that is chosen in the timeline is the thread; the list chooses another
    p.open(f"#tab=chart&lane={lane}")
    assert p.js("return document.querySelector('#chart select').value") == lane
    p.js("const s = document.querySelector('#chart select'); s.value = s.options[0].value; s.dispatchEvent(new Event('change'))")
    assert "chart=" in p.js("return location.hash") and p.js("return document.querySelector('#chart select').value") != lane or lane == p.js("return document.querySelector('#chart select').options[0].value")


def test_keys_walk_the_chart(page):
    p = page("time", "#tab=chart")
    p.js("document.querySelector('#chart').focus()")
    p.keys(Keys.ARROW_DOWN)
    assert p.js("return jstrobe.more.chart.selected.depth") == 0
    p.keys(Keys.ARROW_DOWN, Keys.ARROW_DOWN)
    assert p.js("return jstrobe.more.chart.selected.depth") == 2
    first = p.js("return jstrobe.more.chart.selected.begin")
    p.keys(Keys.ARROW_RIGHT)
    assert p.js("return jstrobe.more.chart.selected.begin") > first
    p.keys(Keys.ENTER)
    assert not p.js("return document.querySelector('#chart pre').hidden")
    p.keys(Keys.ARROW_UP)
    assert p.js("return jstrobe.more.chart.selected.depth") == 1


def test_letters_in_the_list_are_no_keys(page):
    p = page("time", "#tab=chart")
    p.js("document.querySelector('#chart-canvas').focus(); document.querySelector('#chart select').focus()")
    p.keys("x", "h", "2")
    assert p.js("return [jstrobe.state.tab, jstrobe.state.edit]") == ["chart", ""]


def test_chart_follows_the_steps(page):
    """A hidden method has no box; dropped stacks are gaps."""
    p = page("time", "#tab=chart")
    before = p.js(BOXES)
    name = before[0][1]
    deep = max(before)[1]
    p.open("#tab=chart&" + address(("drop", deep)))
    assert deep not in {b[1] for b in p.js(BOXES)}
    p.open("#tab=chart&" + address(("hide", name)))
    assert name not in {b[1] for b in p.js(BOXES)} and p.js(BOXES)


def test_chart_begins_with_what_is_left(page):
    """Not with the thread that is heaviest without the steps: nothing may be left of it."""
    p = page("time", "#tab=chart&idle=1")
    moments, first = p.js(MOMENTS), p.js(CHOSEN)

    def left_without(name):
        sums = Counter()
        for thread, _, _, _, weight, way in moments:
            sums[thread] += weight * (name not in way)
        return sums
    name, left = next((name, left) for name, left in ((name, left_without(name)) for name in sorted({name for *_, way in moments for name in way}))
                      if max(left.values()) > 0 == left[first])
    p.open("#tab=chart&idle=1&" + address(("drop", name)))
    (heaviest, weight), = left.most_common(1)
    assert p.js(CHOSEN) == heaviest != first and p.js(BOXES)
    assert p.js("return jstrobe.more.chart.weightOf(arguments[0])", heaviest) == pytest.approx(weight)
    # of a part of the time
    p.open("#tab=chart&idle=1&sel=5000-9000&" + address(("drop", name)))
    shown, all_of_it = p.js("return jstrobe.more.chart.weightOf(arguments[0])", heaviest), p.js("return jstrobe.time.threadSums.map((sum) => sum[1])")
    assert 0 <= shown <= all_of_it[heaviest] and p.js(CHOSEN) == max(range(len(all_of_it)), key=lambda t: p.js("return jstrobe.more.chart.weightOf(arguments[0])", t))


def test_no_chart_without_times(page):
    assert not page("more-demo").js("return document.querySelector('#chart')")
    assert not page("time-agent").js("return document.querySelector('#chart, #sandwich, #edits')")


HALVES = """
    const D = jstrobe.data;
    return jstrobe.more.sandwich.halves.map((g) => g.rows.flat().filter((b) => b.node && b.depth).map((b) => {
      const way = [];
      for (let n = b.node; n.parent; n = n.parent) way.unshift(D.names[n.name]);
      return [way, b.node.samples, b.width / g.width];
    }));"""


@pytest.mark.parametrize("method", [PARSE, PUT, VALUE])
def test_sandwich(page, make_page, method):
    stacks = [([slashes(f) for f in s["frames"]], s["samples"]) for s in json.loads(make_page("more-demo", "json").read_bytes())["stacks"]]
    above, below = Counter(), Counter()
    for frames, n in stacks:
        if method not in frames:
            continue
        at = frames.index(method)
        for k in range(at + 1):
            above[tuple(reversed(frames[at - k:at + 1]))] += n
        for k in range(at, len(frames)):
            below[tuple(frames[at:k + 1])] += n
    p = page("more-demo", "#unit=samples&tab=sandwich")
    p.js("jstrobe.change({ method: String(jstrobe.data.names.indexOf(arguments[0])) })", method)
    total = above[(method,)]
    for half, truth in zip(p.js(HALVES), (above, below)):
        assert {tuple(way): n for way, n, _ in half}.items() <= truth.items()
        assert len(half) > 2 and [n for way, n, _ in half if len(way) == 1] == [total]
        for way, n, width in half:
            assert width == pytest.approx(n / total, abs=0.002)
        drawn = {way for way, n in truth.items() if n / total > 0.01}
        assert drawn <= {tuple(way) for way, _, _ in half}
    whole = sum(n for _, n in stacks)
    assert f"total {100 * total / whole:.2f} %" in p.text("#sandwich .view-head")


def test_sandwich_from_everywhere(page):
    p = page("more-demo", "#tab=methods&group=&unit=samples")
    p.js("""[...document.querySelectorAll('#methods .list tbody tr')].find((r) => r.textContent.includes('HashMap.putVal')).click()""")
    p.js("[...document.querySelectorAll('.side button')].find((b) => b.textContent === 'Sandwich').click()")
    assert p.js("return jstrobe.state.tab") == "sandwich" and "HashMap.putVal" in p.text("#sandwich .view-head")
    # a click puts a caller in the middle, Back takes it back
    where = p.js("""const g = jstrobe.more.sandwich.halves[0], b = g.rows[2][0], r = g.canvas.getBoundingClientRect();
        return [r.left + b.x + 20, r.top + g.top(b.depth) + 8]""")
    p.js("document.elementFromPoint(...arguments).dispatchEvent(new MouseEvent('click', { bubbles: true, clientX: arguments[0], clientY: arguments[1] }))", *where)
    assert p.text("#sandwich .view-head .name").endswith("HashMap.put")
    p.driver.back()
    p.wait("return document.querySelector('#sandwich .view-head .name').textContent.endsWith('HashMap.putVal')")
    # keys: walk up in the upper half, then put it in the middle
    p.js("document.querySelector('#sandwich .half').focus()")
    p.keys(Keys.ARROW_UP, Keys.ARROW_UP, Keys.ENTER)
    assert p.text("#sandwich .view-head .name").endswith("HashMap.put")
    # from the graph by its key; nothing chosen: the hottest; a method without samples says so
    p.open("")
    p.point(p.box(PARSE), click=True)
    p.keys("s")
    assert "Parser.parse" in p.text("#sandwich .view-head")
    p.open("#tab=sandwich&unit=samples")
    hottest = p.js("return jstrobe.methods('').reduce((a, b) => b.selfSamples > a.selfSamples ? b : a).text")
    assert p.text("#sandwich .view-head .name") == hottest
    p.open("#tab=sandwich&" + address(("hide", hottest)))
    p.js("jstrobe.change({ method: String(jstrobe.data.names.indexOf(arguments[0])) })", hottest)
    assert "No samples of this method" in p.text("#sandwich")


def test_sandwich_of_a_part_of_the_time(page):
    p = page("time", "#tab=sandwich&unit=samples&sel=0-5000")
    total = p.js("return jstrobe.more.sandwich.halves.map((g) => g.root.samples)")
    row = p.js("return jstrobe.methods('').find((r) => r.id === jstrobe.more.sandwich.method).samples")
    assert total == [row, row]
