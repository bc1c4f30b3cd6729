"""The page on small windows: what stands above folds, the page scrolls, and the view has most of the window."""
import pytest

SIZES = ((1366, 650), (1280, 720), (1280, 900), (390, 800))
HEIGHT = "const e = document.querySelector(arguments[0]); return e.getBoundingClientRect().height / innerHeight"


@pytest.fixture
def sized(page):
    """A page in a window of such a size."""
    opened = []

    def open_page(what, width, height, hash=""):
        p = page(what)
        opened.append(p)
        p.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False})
        return p.open(hash)
    yield open_page
    for p in opened[-1:]:
        p.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


@pytest.mark.parametrize("width,height", SIZES)
@pytest.mark.parametrize("what", ["wall", "marks", "findings"])
def test_the_graph_has_most_of_the_window(sized, what, width, height):
    p = sized(what, width, height)
    assert p.js(HEIGHT, "#scroller") >= 0.6
    for tab in ("tree", "methods", "threads") + (("latency", "lanes", "heatmap") if what == "marks" else ()):
        p.js("jstrobe.change({ tab: arguments[0] })", tab)
        assert p.js(HEIGHT, "#" + tab) >= 0.6, tab
    # all of it can be reached, and nothing sticks out at the side
    assert p.js("return document.documentElement.scrollWidth <= innerWidth")
    assert p.js("const m = document.querySelector('main').getBoundingClientRect(); return m.bottom + scrollY <= document.documentElement.scrollHeight + 1")


def test_nothing_is_cut_on_a_phone(sized):
    p = sized("marks", 390, 800)
    outside = p.js("""return [...document.querySelectorAll('.toolbar button')].filter((b) => b.offsetWidth).filter((b) => {
        const r = b.getBoundingClientRect(), box = b.parentElement.getBoundingClientRect(); return r.right > Math.min(innerWidth, box.right + 1) || r.bottom > box.bottom + 1; }).map((b) => b.textContent)""")
    assert outside == []
    title, facts = p.js("return ['#title', '#facts'].map((s) => document.querySelector(s).getBoundingClientRect().toJSON())")
    assert facts["top"] >= title["bottom"] - 1 and facts["width"] > 300


def test_findings_fold(sized):
    p = sized("findings", 1366, 650)
    tall = lambda: p.js("return document.querySelector('#findings').getBoundingClientRect().height")
    folded, count = tall(), p.js("return document.querySelectorAll('#findings li').length")
    assert folded < 40 and p.text("#findings .fold") == f"all {count} ▾"
    p.click("#findings .fold")
    assert tall() > folded + 10
    p.click("#findings .fold")
    assert tall() == folded
    p = sized("findings", 1400, 900)
    assert tall() > folded + 10
