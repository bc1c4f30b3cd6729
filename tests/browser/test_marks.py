"""Pages of recordings: pauses, spans and other events beside the samples. make_page.c says which there are."""
import pytest

SUMS = "return { samples: jstrobe.tree.totalSamples[0], weight: jstrobe.tree.totalWeight[0] }"
NAME = "</script><b>checkout</b>\u202e"


def at_mark(page, share, row, click=False):
    """Move the mouse to SHARE of the width of the rows of marks, to row ROW; maybe click. The tip's text."""
    from selenium.webdriver.common.action_chains import ActionChains
    element = page.driver.find_element("css selector", "#time canvas.marks")
    box = element.rect
    actions = ActionChains(page.driver, duration=20).move_to_element_with_offset(
        element, int((share - 0.5) * box["width"]), int(1 + row * 9 + 4 - box["height"] / 2))
    (actions.click() if click else actions).perform()
    return page.text("#tip")


def lane_of(page, thread):
    """The lane of a thread: the quick spans are of the first, the slow ones of the second."""
    return page.js("return 'tid=' + jstrobe.data.threads[arguments[0]][0]", thread)


def test_legend_and_tips(page):
    p = page("marks")
    legend = p.js("return [...document.querySelectorAll('#time .legend .mark')].map((e) => e.textContent)")
    assert legend == ["GC pause 8", "Span 33", "Event of the program 1"]
    assert "G1New, G1 <Evacuation> Pause · 200 ms · at 3.000 s" in at_mark(p, 0.31, 0)
    assert NAME in at_mark(p, 0.85, 1) and "2 s" in p.text("#tip")
    assert "deploy<b>" in at_mark(p, 0.70, 2)
    assert "7 that are shorter" in at_mark(p, 100.7 / 1024, 0)
    assert p.js("return document.querySelector('#tip').hidden") is False
    at_mark(p, 0.55, 0)
    assert p.js("return document.querySelector('#tip').hidden") is True
    assert not p.js("return document.querySelectorAll('#tip b, main b b').length")


def test_a_click_selects_its_time(page):
    p = page("marks")
    at_mark(p, 0.31, 0, click=True)
    p.wait("return location.hash.includes('sel=3000-3200')")
    pause = p.js(SUMS)
    p.open("#sel=3000-3200")
    assert p.js(SUMS) == pause and "lane=" not in p.js("return location.hash")
    # a span's is that of its thread; of two over one another the longest is the first
    p.open()
    at_mark(p, 0.75, 1, click=True)
    p.wait("return location.hash.includes('sel=5000-8000')")
    at_mark(p, 0.75, 1, click=True)
    p.wait("return location.hash.includes('sel=6000-8000')")
    span, lane = p.js(SUMS), lane_of(p, 1)
    p.open(f"#sel=6000-8000&lane={lane}")
    assert p.js(SUMS) == span and span["samples"]
    # and after zooming in, what is under the pointer is another one
    p.open("#seen=0-1000")
    at_mark(p, 0.3, 1, click=True)
    p.wait("return location.hash.includes('sel=250-350')")


def test_a_click_takes_what_is_drawn(page):
    """Of marks over one another the longest, not the shortest; a second click takes the next, and so on in a ring."""
    p = page("marks")
    text = at_mark(p, 0.75, 1)
    assert text.index("poll · 3 s") < text.index("checkout") and "Click to select the time of the first." in text
    for wanted, other in (("3 s", "2 s"), ("2 s", "3 s"), ("3 s", "2 s")):
        text = at_mark(p, 0.75, 1, click=True)
        assert text.index(f" · {wanted} · ") < text.index(f" · {other} · ")
        assert "Selected: the first. Click again for the next." in text
    assert "sel=5000-8000" in p.js("return location.hash")
    # a place with one mark
    assert "Selected." in at_mark(p, 0.31, 0, click=True)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_no_errors(page, theme):
    p = page("marks")
    p.open("", theme)
    assert p.logs() == []
    assert p.js("return document.querySelector('canvas.marks').width") > 0


def test_other_pages_have_none_of_it(page):
    p = page("time")
    assert not p.js("return document.querySelectorAll('canvas.marks, #latency, #events-table').length")
