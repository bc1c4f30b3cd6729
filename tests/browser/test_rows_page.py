"""Rows of what the JVM reported again and again, below the strip: beside_samples.h says what that was."""
import pytest

ROW, BAND, GAP = 22, 8, 2
TOPS = {"cpu": 0, "heap": ROW + GAP, "allocated": 2 * (ROW + GAP), "deopts": 3 * (ROW + GAP), "classes": 3 * (ROW + GAP) + BAND + GAP}


def tip_at(page, seconds, whole=10):
    from selenium.webdriver.common.action_chains import ActionChains
    element = page.driver.find_element("css selector", "#time canvas.rows-over-time")
    box = element.rect
    ActionChains(page.driver, duration=20).move_to_element_with_offset(element, int((seconds / whole - 0.5) * box["width"]), 0).perform()
    return page.js("return [...document.querySelectorAll('#tip p')].map((p) => p.textContent)")


def pixel(page, seconds, y, whole=10):
    """Of a copy: a canvas that is read again and again is told of in the console."""
    return page.js("""const c = document.querySelector('canvas.rows-over-time'), ratio = c.width / c.clientWidth, copy = document.createElement('canvas').getContext('2d');
        copy.drawImage(c, Math.round(arguments[0] * c.width), Math.round(arguments[1] * ratio), 1, 1, 0, 0, 1, 1);
        return [...copy.getImageData(0, 0, 1, 1).data]""", seconds / whole, y)


def test_tips(page):
    p = page("marks")
    assert "2 deoptimisations in this part of the time" in tip_at(p, 1.0)
    # what was known last, and when that was: nothing of what is still to come
    cpu, heap, allocated = tip_at(p, 4.7)[:3]
    assert cpu.startswith("CPU of the process 29 %, of the machine 50 % of 2 CPUs, at 3.98")
    assert heap.startswith("Heap after the collection at 3.99") and heap.endswith(": 12 MB")
    # (50 MB - 12 MB) in the two seconds between
    assert allocated.startswith("Allocated 19 MB a second, 3.99")
    assert tip_at(p, 4.985)[-1] == "10 classes loaded in this part of the time"
    # a peak beside a usual value
    assert tip_at(p, 2.995)[0].startswith("CPU of the process 28 % to 90 %, of the machine 50 % of 2 CPUs, at 2.99")
    assert tip_at(p, 1.9)[0].startswith("CPU of the process 26 %") and not any("Heap" in line or "Allocated" in line for line in tip_at(p, 1.9))
    assert [line for line in tip_at(p, 2.5) if "Heap" in line][0].endswith(": 10 MB") and any("2 s" in line or "1.99" in line for line in tip_at(p, 2.5))
    # between the last collection and the end the rate is not known
    assert any("Heap" in line and "14 MB" in line for line in tip_at(p, 8)) and not any("Allocated" in line for line in tip_at(p, 8))


def test_legend_and_drawing(page):
    p = page("marks")
    assert p.js("return [...document.querySelectorAll('#time .legend .row')].map((e) => e.textContent)") == ["Deoptimisations 3", "Classes loaded 10"]
    assert p.js("return document.querySelector('canvas.rows-over-time').clientHeight") == TOPS["classes"] + BAND
    label = p.js("return document.querySelector('canvas.rows-over-time').getAttribute('aria-label')")
    assert label == ("CPU of the process, up to 90 % of 2 CPUs, grey: of the machine, up to 50 %; Heap after collections, up to 14 MB; "
                     "Allocated between collections, up to 20 MB a second; 3 deoptimisations; 10 classes loaded")
    paper = pixel(p, 9.8, TOPS["heap"] + 10)
    assert pixel(p, 5, TOPS["heap"] + 18) != paper and pixel(p, 9, TOPS["heap"] + 18) == paper
    assert pixel(p, 5, TOPS["allocated"] + 18) != paper and pixel(p, 7, TOPS["allocated"] + 18) == paper
    assert pixel(p, 0.998, TOPS["deopts"] + 4) != paper and pixel(p, 5, TOPS["deopts"] + 4) == paper
    assert pixel(p, 4.985, TOPS["classes"] + 4) != paper and pixel(p, 0.998, TOPS["classes"] + 4) == paper
    # what is seen of the time is what is drawn of it
    p.open("#seen=4000-6000")
    assert pixel(p, 0.985, TOPS["classes"] + 4, whole=2) != paper and pixel(p, 1.5, TOPS["classes"] + 4, whole=2) == paper
    assert tip_at(p, 0.985, whole=2)[-1] == "10 classes loaded in this part of the time"


def test_text_leaves_the_lines(page):
    """The machine's 100 % lie at the top of the row: the text stands below them, between them and a line at the bottom, if there is one."""
    p = page("marks")

    def place(*rows):
        return p.js("""const lines = arguments[0].map((mean) => [0, 1e9, 2e9].map((at) => ({ at, mean: mean * 1e6 })));
            return jstrobe.more.overview.placeOfText({ points: lines[0], beside: lines[1] || [] }, (ns) => ns / 1e7, (value) => 21 - value / 1e6 * 19, 120)""", rows)
    assert place(1) == 6 and place(0.02, 1) == 6 and place(0.02) == 2 and place(0.5, 1) == 6 and place(0.02, 0.5) == 2


def test_dragging_selects(page):
    from test_time import drag
    p = page("marks")
    drag(p, "#time canvas.rows-over-time", 0.2, 0.4)
    p.wait("return location.hash.includes('sel=')")
    low, high = p.js("return [jstrobe.time.selected.from, jstrobe.time.selected.to].map((n) => n / jstrobe.time.steps)")
    assert low == pytest.approx(0.2, abs=0.01) and high == pytest.approx(0.4, abs=0.01)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_no_errors(page, theme):
    p = page("marks")
    p.open("#tab=lanes", theme)
    assert p.logs() == []


def test_other_pages_have_none_of_it(page):
    assert not page("time").js("return document.querySelectorAll('canvas.rows-over-time').length")


def test_a_heap_that_is_read_each_second_says_so(page, make_page, driver, tmp_path):
    """As recordings of our own have it: not what the heap had right after the collection."""
    made = tmp_path / "read.html"
    made.write_text(make_page("marks").read_text().replace('"heap":{"points"', '"heapRead":{"points"'))
    p = type(page("marks"))(driver, made).open()
    tip = tip_at(p, 4.7)[1]
    assert tip.startswith("Heap in use at 3.99") and tip.endswith(", up to a second after a collection: 12 MB")
    assert "Heap in use, read once a second where there was a collection, up to 14 MB" in p.js("return document.querySelector('canvas.rows-over-time').getAttribute('aria-label')")
    assert all(made.name in address or address.startswith(("data:", "about:")) for address in p.requests())
