"""The tabs of spans and of other events, and what the slowest spans did beside the others. make_page.c says which there are."""
from test_marks import NAME, SUMS, lane_of

ROWS = "return [...document.querySelectorAll(arguments[0] + ' tbody tr')].map((r) => [...r.children].map((c) => c.textContent))"


def test_distribution_and_slowest(page):
    p = page("marks")
    p.click("#tabs [data-tab=latency]")
    names, slowest = p.js(ROWS, "#latency section:nth-child(1)"), p.js(ROWS, "#latency section:nth-child(2)")
    assert [row[:6] + row[8:] for row in names] == [
        ["22", "100 ms", "100 ms", "2 s", "2 s", "6 s", NAME], ["11", "100 ms", "100 ms", "3 s", "3 s", "4 s", "poll"]]
    bars = p.js("return [...document.querySelectorAll('#latency .bars i')].map((b) => parseFloat(b.style.height))")
    assert len([b for b in bars if b]) == 4 and bars[0] == bars[60] == 100 and bars[-1] > 0 and not bars[59]
    assert len(slowest) == 33 and [row[:3] for row in slowest[:4]] == [
        ["3 s", "5.000 s", "http-nio-8080-exec-1"], ["2 s", "6.000 s", "order-2"], ["2 s", "8.000 s", "order-2"],
        ["100 ms", "0.000 s", "order-1"]]
    # those of one name
    p.click("#latency section:nth-child(1) tbody td")
    assert len(p.js(ROWS, "#latency section:nth-child(2)")) == 22
    assert not p.js("return document.querySelectorAll('#latency b').length")
    # a click shows what its thread did meanwhile
    p.click("#latency section:nth-child(2) tbody tr")
    p.wait("return location.hash.includes('sel=6000-8000')")
    span = p.js(SUMS)
    p.open(f"#sel=6000-8000&lane={lane_of(p, 1)}")
    assert p.js(SUMS) == span and span["samples"]
    p.open("#tab=latency")
    p.search("nothing of that name")
    assert "Nothing matches" in p.text("#latency")


def test_slowest_against_the_others(page):
    """Three clicks from the page: the tab, the button; the graph is that of the slow spans, red what they have more of."""
    p = page("marks")
    p.click("#tabs [data-tab=latency]")
    p.click("#latency button.slow")
    p.wait("return location.hash.includes('slow=')")
    slow = p.js(SUMS)
    assert "the slowest 9 % of " + NAME + ": 2 of 22, from 2 s on" in p.text("#time .said")
    assert "more than in the others" in p.text("#kinds")
    address = p.js("return location.hash")
    # by hand: the second thread from 6 s to 10 s
    p.open(f"#sel=6000-10000&lane={lane_of(p, 1)}")
    assert p.js(SUMS) == slow and slow["samples"]
    # the address has it, back and Escape undo it
    p.open(address)
    assert p.js(SUMS) == slow
    p.driver.find_element("css selector", "body").send_keys("\ue00c")
    p.wait("return !location.hash.includes('slow=')")
    assert p.js(SUMS) == {"samples": 80, "weight": 4e9}
    # a drag is a selection in its place
    p.open(address)
    p.js("jstrobe.change({ sel: '0-1000' })")
    assert "slow=" not in p.js("return location.hash")


def test_red_is_what_slow_ones_have_more_of(page):
    """The slowest poll waits for work, the others for a lock: what is compared are spans, not all of the time."""
    p = page("marks")
    p.open("#slow=3,10&rest=1&idle=1&unit=samples")
    boxes = {b["name"]: b["colour"] for b in p.js("""
        const g = jstrobe.graph;
        return g.rows.flat().filter((b) => b.node && b.node.parent).map((b) => ({ name: jstrobe.data.names[b.node.name], colour: g.colour(b) }));""")}
    assert any(c.startswith("hsl(8 ") for c in boxes.values()), boxes
    slow = p.js(SUMS)
    p.open(f"#sel=5000-8000&lane={lane_of(p, 2)}&idle=1")
    assert p.js(SUMS) == slow and slow["samples"]


def test_strange_addresses_of_slow_spans(page):
    p = page("marks")
    for words in ("slow=0,10", "slow=99,10", "slow=1,0", "slow=1,100", "slow=a,b", "slow=-1,10"):
        p.open("#" + words)
        assert p.js(SUMS) == {"samples": 80, "weight": 4e9}, words
    assert p.logs() == []


def test_events(page):
    p = page("marks")
    p.click("#tabs [data-tab=events-table]")
    rows = p.js(ROWS, "#events-table")
    assert rows == [["12", "", "", "0.005 s", "9.000 s", "", "", "", "jdk.ThreadStart"],
                    ["5", "~3 ms", "2 ms", "0.000 s", "1.000 s", "~1.0 MB", "3.0 MB", "heap<i>Used", "</script>evil"]]
    assert "estimated" in p.text("#events-table .hint")
    p.click("#events-table [data-sort=longest]")
    assert [row[0] for row in p.js(ROWS, "#events-table")] == ["5", "12"]
    p.search("Thread")
    assert len(p.js(ROWS, "#events-table")) == 1
