"""The page in Firefox: what Chromium draws and says, Firefox draws and says, too; mouse, keys and links do the same."""
import pytest
from firefox import Firefox, missing

import conftest

# each kind of page once, and what it opens on
PAGES = ["demo", "styled", "events", "objects", "io", "wall", "locks", "threads", "lines", "calls", "calls-threads", "leaks",
         "findings", "kinds-unknown", "empty", "nothing", "time", "marks", "more-demo", "more-events", "calls-more"]

SHOWN = """
    const texts = [...document.querySelectorAll('body *')].filter((e) => !e.children.length && e.offsetParent &&
      !e.closest('script, style')).map((e) => e.textContent.trim()).filter(Boolean);
    return { title: document.title, texts };"""
BOXES = """
    const g = jstrobe.graph, D = jstrobe.data;
    return g ? g.rows.flat().map((b) => [b.depth, Math.round(b.x * 1000 / g.width), Math.round(b.width * 1000 / g.width),
      !b.node ? '' : b.node.name < 0 ? 'all' : D.names[b.node.name], b.node ? b.node.samples : 0]) : [];"""
SUM = "return jstrobe.tree.totalSamples[0]"
# how many colours stand on a canvas: a blank one has one
COLOURS = """
    const c = document.querySelector(arguments[0]), d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data, seen = {};
    for (let i = 0; i < d.length; i += 4) seen[d[i] << 16 | d[i + 1] << 8 | d[i + 2]] = 1;
    return Object.keys(seen).length;"""


@pytest.fixture(scope="module")
def firefox(tmp_path_factory):
    why = missing(conftest.OUT)
    if why:
        pytest.skip(why)
    browser = Firefox(tmp_path_factory.mktemp("firefox"))
    yield browser
    browser.quit()


class Seen(conftest.Page):
    """A page in Firefox; at its end it has not complained."""

    def open(self, hash="", theme="light"):
        self.driver.get("about:blank")
        return self.get(f"file://{self.path}{hash}")

    def point_in(self, selector, share, row=0.5):
        return self.js("""
            const r = document.querySelector(arguments[0]).getBoundingClientRect();
            return [Math.round(r.left + r.width * arguments[1]), Math.round(r.top + r.height * arguments[2])];
            """, selector, share, row)

    def drag(self, selector, first, last):
        self.driver.drag(self.point_in(selector, first), self.point_in(selector, last))


@pytest.fixture
def seen(firefox, make_page):
    opened = []

    def open_page(what, hash="", **more):
        opened.append(Seen(firefox, make_page(what, **more)).open(hash))
        return opened[-1]
    yield open_page
    for p in opened:
        assert firefox.complaints(f"file://{p.path}") == []


@pytest.mark.parametrize("what", PAGES)
def test_as_in_chromium(page, seen, what):
    """Texts are the same, and boxes stand at the same places, to a thousandth of the width."""
    theirs, mine = page(what), seen(what)
    assert mine.js(SHOWN) == theirs.js(SHOWN)
    if what in ("empty", "nothing"):
        return
    known, boxes = ({(depth, name, samples): (x, width) for depth, x, width, name, samples in p.js(BOXES) if width > 2}
                    for p in (theirs, mine))
    assert boxes.keys() == known.keys() and (boxes or what.startswith("calls"))
    for key, (x, width) in boxes.items():
        assert abs(x - known[key][0]) <= 3 and abs(width - known[key][1]) <= 3, key


def test_a_part_of_the_time(seen):
    p = seen("time")
    assert p.js(SUM) == 80 and p.js(COLOURS, "#time canvas") > 3
    p.drag("#time canvas", 0.0, 0.25)
    p.wait("return location.hash.includes('sel=')")
    part = p.js(SUM)
    assert 0 < part < 80
    shown = p.js("return location.hash")
    p.driver.back()
    p.wait("return jstrobe.tree.totalSamples[0] === 80")
    p.open(shown)
    assert p.js(SUM) == part  # a link shows the same


def test_keys_and_search(seen):
    p = seen("demo")
    p.search("Order")
    assert any(b["matched"] for b in p.boxes())
    p.js("document.querySelector('#graph').focus()")
    p.driver.press("2")
    p.wait("return location.hash.includes('tab=methods')")
    p.driver.press("1")
    p.driver.press("i")
    p.wait("return location.hash.includes('flip=1')")
    p.driver.back()
    p.wait("return !location.hash.includes('flip=1')")


@pytest.mark.parametrize("tab", ["lanes", "heat"])
def test_lanes_and_heatmap(page, seen, tab):
    theirs, mine = page("time", hash=f"#tab={tab}"), seen("time", hash=f"#tab={tab}")
    assert mine.js(SHOWN) == theirs.js(SHOWN)


@pytest.mark.parametrize("what,hash", [
    ("more-demo", "edit=hide+demo%2Fjson%2FParser.value%0Adrop+java%2Futil%2FHashMap.put"), ("more-demo", "tab=sandwich&colour=package"),
    ("more-demo", "view=callers&edit=focus+demo%2Fjson%2FParser.parse"), ("time", "tab=chart")])
def test_edited_sandwich_and_chart(page, seen, what, hash):
    theirs, mine = page(what, hash="#" + hash), seen(what, hash="#" + hash)
    assert mine.js(SHOWN) == theirs.js(SHOWN) and mine.js(SUM) == theirs.js(SUM)
    halves = "return [...jstrobe.more.frames.graphs].map((g) => g.rows.flat().filter((b) => b.node).map((b) => [b.depth, b.node.name, b.node.samples]))"
    assert mine.js(halves) == theirs.js(halves)


def test_menu_by_the_mouse(seen):
    p = seen("more-demo")
    p.js("""const g = jstrobe.graph, b = g.rows[6][0], r = g.canvas.getBoundingClientRect();
        g.canvas.dispatchEvent(new MouseEvent('contextmenu', { bubbles: true, cancelable: true, clientX: r.left + b.x + 20, clientY: r.top + g.top(b.depth) + 8 }));""")
    assert p.js("return document.querySelectorAll('#menu button').length") == 8
    p.driver.press("h")
    p.wait("return location.hash.includes('edit=hide')")
    p.driver.back()
    p.wait("return document.querySelector('#edits').hidden")


def test_large_page(seen):
    p = seen("large-time", stacks=30000)
    assert p.js(SUM) > 0 and len(p.boxes()) > 100
