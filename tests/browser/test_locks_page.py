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
    assert row == ["100 %", seconds(waited), str(waits), "1 s", "order-*", f"{100 * known // waited} %",
                   "order-* in shop.Stock.recount and 1 more", f"Stock@{told['locks'][lock]['identity']} (monitor) in shop.Stock.reserve"]
    owners = p.js(CELLS, "#locks .lock section:first-child tbody tr")
    assert [(r[0], r[2], r[4]) for r in owners] == [
        ("15.00 %", "3", "shop.Stock.recount"), ("5.00 %", "1", "shop.Orders.handle"), ("80.00 %", "", "no stack of an owner was taken")]
    assert owners[2][3] == "unknown"
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
    assert row == ["37.50 %", "1.50 s", "30", "order-*", "most likely order-* in shop.Stock.recount (sleep)", "a monitor in shop.Stock.reserve"]
    assert "-e lock records the waits" in p.text("#locks .list > .hint")
    assert p.text("#locks .lock section:first-child p").startswith("Most likely order-* in shop.Stock.recount (sleep)")
    p.click("#locks .lock button")
    p.wait("return jstrobe.state.q === '^shop/Stock\\\\.reserve$'")


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
    other = dict(row, lock=name, identity="99", asked="a.B.c", weight=5 * 10**8, owners=[], having=[], known=0, waiting=[["<i>x</i>", 1, 7]])
    work["lockNames"] += [f"f{i}.<u>g</u>" for i in range(60)]
    first = work["lockStacks"]
    packed = base64.b64decode(first) + bytes([60] + [7 + i for i in range(60)] + [3])
    work |= {"lockRows": [row, other], "lockStacks": base64.b64encode(packed).decode()}
    made = tmp_path / "many.html"
    made.write_text(text[:start] + '"work":' + json.dumps(work).replace("<", "\\u003c") + text[start + len('"work":') + end:])
    p = type(page("locks"))(driver, made).open("#tab=locks")
    assert len(p.js(CELLS, "#locks .list > section tbody tr")) == 2
    p.click("#locks .list > section tbody tr:nth-child(2)")
    assert p.text("#locks .lock h2") == f"Who had {name}@99 (monitor)" and p.text("#locks .lock p") == "No owner is known: the lock was just passed on, or is one that keeps none."
    assert p.text("#locks details summary") == "21 frames that all have in common"
    assert len(p.js(LINES, "#locks .lock section:last-child .stacks > div")) == 40
    assert "… 3 frames" in p.text("#locks details") and not p.js("return document.querySelectorAll('#locks b, #locks u, #locks i').length")
    p.search("evil")
    assert len(p.js(CELLS, "#locks .list > section tbody tr")) == 1
    p.search("nothing like this")
    assert p.text("#locks .nothing") == "Nothing matches."
    assert all(made.name in address or address.startswith(("data:", "about:")) for address in p.requests())
