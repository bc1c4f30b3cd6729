"""Fingers: what goes from top to bottom over a view of the time scrolls the page, what goes from left to right selects."""
import time

import pytest

WIDE, HIGH = 390, 700


@pytest.fixture
def phone(page):
    opened = []

    def open_page(what, hash=""):
        p = page(what)
        opened.append(p)
        p.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                                 {"width": WIDE, "height": HIGH, "deviceScaleFactor": 1, "mobile": True})
        p.driver.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": True})
        return p.open(hash)
    yield open_page
    for p in opened[-1:]:
        p.driver.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": False})
        p.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def swipe(page, selector, across, down):
    """A finger from the middle of SELECTOR, so many pixels."""
    box = page.js("""const e = document.querySelector(arguments[0]); e.scrollIntoView({ block: 'center' });
                     return e.getBoundingClientRect().toJSON()""", selector)
    x, y, steps = box["x"] + box["width"] / 2 - across / 2, min(box["y"] + box["height"] / 2, HIGH - 60), 12
    touch = lambda kind, part: page.driver.execute_cdp_cmd("Input.dispatchTouchEvent", {
        "type": kind, "touchPoints": [] if part is None else [{"x": x + across * part, "y": y + down * part}]})
    touch("touchStart", 0)
    for i in range(1, steps + 1):
        touch("touchMove", i / steps)
        time.sleep(0.02)
    touch("touchEnd", None)
    time.sleep(0.3)


@pytest.mark.parametrize("tab,selector", [("graph", "#time canvas"), ("heatmap", "#heatmap canvas"),
                                          ("lanes", "#lanes .lane:not(.axis) canvas")])
def test_up_scrolls_and_across_selects(phone, tab, selector):
    p = phone("marks", "#tab=" + tab)
    p.js("document.querySelector(arguments[0]).scrollIntoView({ block: 'center' })", selector)
    before = p.js("return scrollY")
    swipe(p, selector, 0, 150 if before else -150) # the page is at its end there
    assert abs(p.js("return scrollY") - before) > 60
    assert "sel=" not in p.js("return location.hash")
    assert "Drag over the strip" in p.text("#time .said")
    swipe(p, selector, 120, 0)
    assert "sel=" in p.js("return location.hash")
