"""The tab Locks: what was waited for, who had it, and who waited. What is true is computed from the same profile as JSON."""
import base64
import json

CELLS = "return [...document.querySelectorAll(arguments[0])].map((r) => [...r.children].map((c) => c.textContent))"
LINES = "return [...document.querySelectorAll(arguments[0])].map((e) => e.textContent)"


def seconds(ns):
    return f"{ns / 1e9:.2f} s" if ns % 1e9 else f"{ns // 10**9} s"


def test_a_lock_its_owners_and_its_waiters(page, make_page):
    p = page("locks", "#tab=locks")
    told = json.loads(make_page("locks", "json").read_text())
    lock = next(n for n, l in enumerate(told["locks"]) if l["class"] == "shop/Stock")
    waiting = [s for s in told["stacks"] if s["frames"][-1] == "shop.Stock"]
    having = [s for s in told["owner_stacks"] if s.get("lock_place") == lock]
    waited, waits = sum(s["weight"] for s in waiting), sum(s["samples"] for s in waiting)
    known = sum(s["time_ns"] for s in having)
    assert waited == 2e9 and known == 4e8  # what make_page.c says
    # one row: waits for work at the queue are none
    (row,) = p.js(CELLS, "#locks .list > section tbody tr")
    # what stacks do not tell of order-2 was for this lock, too: there is no other that keeps owners
    by_name = next(o["time_ns"] for o in told["owners"] if o["name"] == "order-2") - sum(s["time_ns"] for s in having if s["name"] == "order-2")
    assert by_name == 12e8
    assert row == [f"Stock@{told['locks'][lock]['identity']} (monitor) in shop.Stock.reserve", "100 %", seconds(waited), str(waits), "1 s", "order-*",
                   f"{100 * (known + by_name) // waited} %", "order-* in shop.Stock.recount and 1 more"]
    owners = p.js(CELLS, "#locks .lock section:first-child tbody tr")
    assert [(r[0], r[2], r[4]) for r in owners] == [
        ("15.00 %", "3", "shop.Stock.recount"), ("5.00 %", "1", "shop.Orders.handle"), ("60.00 %", "", "by name alone: no stack of it was taken"),
        ("20.00 %", "", "no stack of an owner was taken, and no name is sure")]
    assert [r[3] for r in owners[2:]] == ["order-2", "unknown"]
    # the paths of owners part behind the third frame: where one ends, and where the other goes on
    assert p.js(LINES, "#locks .lock section:first-child .stacks > div") == [
        "100 % java.lang.Thread.run", "shop.Orders.work", "shop.Orders.handle", "75 % shop.Stock.reserve", "shop.Stock.recount",
        "java.lang.Thread.sleep0"]
    assert p.js(LINES, "#locks .lock section:last-child .stacks > div")[-1] == "shop.Stock"
    # and the graph has the same stacks
    p.click("#locks .lock button")
    p.wait("return jstrobe.state.tab === 'graph' && jstrobe.root.samples > 0")
    assert p.js("return [jstrobe.state.view, jstrobe.root.samples, jstrobe.root.weight]") == ["callers", waits, waited]


def test_of_wall_time(page):
    p = page("wall", "#tab=locks")
    (row,) = p.js(CELLS, "#locks .list > section tbody tr")
    assert row == ["a monitor in shop.Stock.reserve", "37.50 %", "1.50 s", "30", "order-*", "most likely order-* in shop.Stock.recount (sleep)"]
    assert "-e lock records the waits" in p.text("#locks .list > .hint")
    assert p.text("#locks .lock section:first-child p").startswith("Most likely order-* in shop.Stock.recount (sleep)")
    p.click("#locks .lock button")
    p.wait("return jstrobe.state.q === '^shop/Stock\\\\.reserve$'")


def test_it_fits(page, make_page, driver, tmp_path):
    """At 1280 pixels long names leave all columns in their place, and no text runs under another."""
    text = make_page("locks").read_text()
    start = text.index('"work":')
    work, end = json.JSONDecoder().raw_decode(text[start + len('"work":'):])
    (row,) = work["lockRows"]
    long = "org.apache.tomcat.util.threads.http-nio-127.0.0.1-18861-exec-*"
    row |= {"groups": [[long, 7, 8, row["weight"] // 2], [long + "2", 7, 8, row["weight"] // 2]], "asked": "org.apache.tomcat.util.net.NioEndpoint$Poller.addEventOfSomeLength",
            "owners": [[long, "org.apache.tomcat.util.net.NioEndpoint$Poller.addEvent", n, w] for _, _, n, w in row["owners"]]}
    made = tmp_path / "long.html"
    made.write_text(text[:start] + '"work":' + json.dumps(work).replace("<", "\\u003c") + text[start + len('"work":') + end:])
    p = page("locks")
    p.path = made
    try:
        driver.set_window_size(1280, 900)
        p.open("#tab=locks")
        assert p.js("""return [...document.querySelectorAll('#locks, #locks .list, #locks section.io, #locks table')].filter((e) => e.scrollWidth > e.clientWidth + 1 ||
            e.getBoundingClientRect().right > e.parentElement.getBoundingClientRect().right + 1).length""") == 0
        assert p.js("return document.querySelector('#locks tbody tr td:first-child bdi').getBoundingClientRect().width > 250")
        assert p.js("return document.querySelector('#locks tbody tr td:last-child').getBoundingClientRect().width >= 150")
        first, second = p.js("return [...document.querySelectorAll('#locks .lock > section')].map((e) => [e.getBoundingClientRect().left, e.getBoundingClientRect().right])")
        assert p.js("""const range = document.createRange(); return Math.max(...[...document.querySelectorAll('#locks .lock > section:first-child td')].map((e) => {
            range.selectNodeContents(e); return range.getBoundingClientRect().right; }))""") <= first[1] < second[0]
    finally:
        driver.set_window_size(1400, 900)


def test_small_ways_are_counted(page):
    """Of a tree of stacks what has below 1 % is no line, but told of."""
    p = page("locks", "#tab=locks")
    work = p.js("return jstrobe.data.work")
    work["lockNames"] += ["big.A", "small.B", "small.C", "small.D"]
    n = len(work["lockNames"]) - 4
    packed = b""
    for frames in ([n], [n, n + 1], [n + 2], [n + 3]):
        packed += bytes([len(frames), *frames, 0])
    row = dict(work["lockRows"][0], waiting=[["x", 1, 985], ["x", 1, 5], ["x", 1, 4], ["x", 1, 6]])
    text = p.path.read_text()
    start = text.index('"work":') + len('"work":')
    _, end = json.JSONDecoder().raw_decode(text[start:])
    row["having"] = []
    p.path = p.path.with_name("ways.html")
    p.path.write_text(text[:start] + json.dumps({**work, "lockRows": [row], "lockStacks": base64.b64encode(packed).decode()}).replace("<", "\\u003c") + text[start + end:])
    p.open("#tab=locks")
    assert p.js(LINES, "#locks .lock section:last-child .stacks > *") == ["99 % big.A", "3 ways below 1 % are left out"]


def test_it_is_told_that_it_is_of_all(page):
    """A selection, and steps over the graph, do not change the tab: it says so above the table."""
    p = page("locks", "#tab=locks")
    assert not p.js("return document.querySelectorAll('#locks .whole').length")
    p.open("#tab=locks&edit=drop%20shop%2FStock.reserve")
    assert p.text("#locks .whole") == "Of all stacks: the steps that edit the graph do not change this tab."
    assert len(p.js(CELLS, "#locks .list > section tbody tr")) == 1


def test_a_selection_does_not_change_it(page):
    p = page("marks", "#tab=locks")
    rows = p.js(CELLS, "#locks .list > section tbody tr")
    p.open("#tab=locks&sel=1000-2000&edit=drop%20x")
    assert p.js(CELLS, "#locks .list > section tbody tr") == rows
    assert p.text("#locks .whole") == "Of the whole time, all threads and all stacks: the selection above and the steps that edit the graph do not change this tab."
    p.open("#tab=locks&sel=1000-2000")
    assert p.text("#locks .whole") == "Of the whole time and all threads: the selection above does not change this tab."
    assert p.js("return document.querySelector('#locks .list').firstChild.className") == "whole"


def test_only_where_there_are_locks(page):
    assert not page("time-agent").js("return document.querySelectorAll('#locks, [data-tab=locks]').length")
    assert not page("demo").js("return document.querySelectorAll('#locks, [data-tab=locks]').length")
    p = page("demo", "#tab=locks")
    assert p.js("return jstrobe.state.tab") == "graph"


def test_search_and_long_stacks(page, make_page, driver, tmp_path):
    """Names are data, what all stacks begin with is folded, and choosing another lock shows it."""
    text = make_page("locks").read_text()
    start = text.index('"work":')
    work, end = json.JSONDecoder().raw_decode(text[start + len('"work":'):])
    (row,), name = work["lockRows"], "<b>evil</b>.Lock"
    other = dict(row, lock=name, identity="99", asked="a.B.c", weight=5 * 10**8, owners=[], having=[], known=0, named=[], waiting=[["<i>x</i>", 1, 7]])
    work["lockNames"] += [f"f{i}.<u>g</u>" for i in range(60)]
    first = work["lockStacks"]
    packed = base64.b64decode(first) + bytes([60] + [7 + i for i in range(60)] + [3])
    work |= {"lockRows": [row, other], "lockStacks": base64.b64encode(packed).decode()}
    made = tmp_path / "many.html"
    made.write_text(text[:start] + '"work":' + json.dumps(work).replace("<", "\\u003c") + text[start + len('"work":') + end:])
    p = type(page("locks"))(driver, made).open("#tab=locks")
    assert len(p.js(CELLS, "#locks .list > section tbody tr")) == 2
    p.click("#locks .list > section tbody tr:nth-child(2)")
    assert p.text("#locks .lock h2") == f"Who had {name}@99 (monitor)" and p.text("#locks .lock p") == "It is not known who had it: the lock was just passed on, keeps no owner, or one of which no stack was taken."
    assert p.text("#locks details summary") == "21 frames that all have in common"
    assert len(p.js(LINES, "#locks .lock section:last-child .stacks > div")) == 40
    assert "… 3 frames" in p.text("#locks details") and not p.js("return document.querySelectorAll('#locks b, #locks u, #locks i').length")
    p.search("evil")
    assert len(p.js(CELLS, "#locks .list > section tbody tr")) == 1
    p.search("nothing like this")
    assert p.text("#locks .nothing") == "Nothing matches."
    assert all(made.name in address or address.startswith(("data:", "about:")) for address in p.requests())
