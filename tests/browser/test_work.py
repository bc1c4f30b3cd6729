"""Pages of wall time and waits: they open on what threads did and what held them up; idle waits are a switch."""
import json


def numbers(page):
    return page.js("return { samples: jstrobe.tree.totalSamples[0], weight: jstrobe.tree.totalWeight[0] }")


def rows(page, selector):
    return page.js("""return [...document.querySelectorAll(arguments[0])].map((r) => [...r.children].map((c) => c.textContent))""",
                   selector)


def test_the_lock_and_its_owner_are_on_the_first_screen(page):
    p = page("wall")
    first = p.text("#work li")
    assert "order-* waited 1.50 s to enter a monitor in shop.Stock.reserve" in first
    assert "its owner, order-*, was most likely in shop.Stock.recount (sleep)" in first
    at = p.js("return document.querySelector('#work li').getBoundingClientRect().bottom")
    assert 0 < at < p.js("return innerHeight") / 2
    # the graph has room, too
    assert p.js("return document.querySelector('#canvas').getBoundingClientRect().height") > 100


def test_groups_are_bars(page):
    p = page("wall")
    assert [row[:3] for row in rows(p, "#work .groups tr")] == [["order-*", "2", "4 s"]]
    assert p.text("#work p") == "3 threads in 2 groups were idle all the time, as far as stacks tell"
    pieces = p.js("return [...document.querySelectorAll('#work .bar i')].map((i) => [i.className, i.title])")
    assert pieces == [["act0", "running: 25.00 %"], ["act2", "lock: 37.50 %"], ["act5", "sleep: 37.50 %"]]
    assert [s.strip() for s in p.js("return [...document.querySelectorAll('#work .legend span')].map((s) => s.textContent)")] == ["running", "lock", "sleep"]


def test_idle_waits_are_a_switch(page):
    p = page("wall")
    names = lambda: {box["name"] for box in p.boxes()}
    assert numbers(p) == {"samples": 80, "weight": 4e9}
    assert "shop/Stock.reserve" in names() and "jdk/internal/misc/Unsafe.park" not in names()
    p.click("#idles [data-idle='1']")
    p.wait("return window.jstrobe && jstrobe.tree.totalSamples[0] === 520")
    assert numbers(p) == {"samples": 520, "weight": 26e9} and "jdk/internal/misc/Unsafe.park" in names()
    assert "idle=1" in p.js("return location.hash")
    p.driver.back()
    p.wait("return window.jstrobe && jstrobe.tree.totalSamples[0] === 80")
    assert p.js("return document.querySelector('#idles [aria-pressed=true]').textContent") == "Work"


def test_all_tabs_leave_idle_waits_out(page):
    p = page("wall")
    p.click("#tabs [data-tab=methods]")
    shown = p.js("return [...document.querySelectorAll('#methods tbody tr')].map((r) => r.lastChild.textContent)")
    assert "shop.Stock.reserve" in shown or "shop/Stock.reserve" in shown
    assert not [name for name in shown if "park" in name or "getTask" in name]
    p.click("#tabs [data-tab=tree]")
    assert "getTask" not in p.text("#tree")
    p.click("#tabs [data-tab=threads]")
    assert [row[2] for row in rows(p, "#threads .list > table tbody tr")] == ["order-1", "order-2"]
    assert [row[0] for row in rows(p, "#threads .groups tr")] == ["order-*"]
    p.open("#tab=threads&idle=1")
    assert [row[2] for row in rows(p, "#threads .list > table tbody tr")] == [
        "http-nio-8080-exec-1", "http-nio-8080-exec-2", "order-1", "order-2", "main"]
    assert [row[0] for row in rows(p, "#threads .groups tr")] == ["order-*", "http-nio-8080-exec-*", "main"]


def test_callers_leave_idle_waits_out(page):
    p = page("wall").open("#view=callers")
    names = {box["name"] for box in p.boxes() if box["depth"] == 1}
    assert names == {"shop/Stock.reserve", "java/lang/Thread.sleep0", "shop/Orders.handle"}


def test_waits_have_their_owners(page):
    p = page("locks")
    assert "for shop.Stock@1b2c (monitor) in shop.Stock.reserve" in p.text("#work li")
    assert "was mostly in shop.Stock.recount (75.00 %)" in p.text("#work li")
    assert numbers(p)["weight"] == 2e9
    assert [row[:2] for row in rows(p, "#work .groups tr")] == [["order-*", "2"]]


def test_a_lock_is_told_once(page):
    """The first of the locks is mostly among the findings."""
    p = page("wall")
    said = p.text("#work li")
    with open(p.path, encoding="utf-8") as file:
        text = file.read()
    finding = json.dumps([{"id": "lock", "sentence": said + ".", "advice": "Hold it for less long.", "look": ""}])
    p.path = p.path.with_name("wall-findings.html")
    p.path.write_text(text.replace('"version":', f'"findings": {finding}, "version":', 1), encoding="utf-8")
    p.open()
    assert said in p.text("#findings li") and not p.js("return document.querySelector('#work li')")
    assert [row[0] for row in rows(p, "#work .groups tr")] == ["order-*"]


def test_other_pages_have_none_of_it(page):
    p = page("demo")
    assert not p.js("return document.querySelector('#work').offsetHeight + document.querySelector('#idles').offsetWidth")
    assert not p.js("return jstrobe.data.work || jstrobe.data.idle || null")


def test_methods_are_the_programs(page):
    """Who waited, not the method of the JDK that it waited in; the table of all methods is a click away."""
    p = page("wall")
    p.open("#tab=methods")
    rows = p.js("return jstrobe.methods('program').map((r) => [r.text, r.selfSamples, r.selfWeight])")
    assert sum(r[1] for r in rows) == p.js("return jstrobe.tree.totalSamples[0]")
    assert sum(r[2] for r in rows) == p.js("return jstrobe.tree.totalWeight[0]")
    ours = [text for text, *_ in rows if not text.startswith(("java/", "jdk/", "sun/"))]
    assert any("  (" in text for text in ours) and not any("  (" in text for text, *_ in rows if text not in ours), rows
    p.click("#methods tbody tr")
    p.wait("return location.hash.includes('q=')")
    p.open("#tab=methods")
    p.click("#groups [data-group='']")
    p.wait("return location.hash.includes('group=&') || location.hash.endsWith('group=')")
    inner = p.js("return [...document.querySelectorAll('#methods tbody tr td:last-child')].map((td) => td.textContent)")
    assert any(text.startswith(("java/", "jdk/", "sun/")) for text in inner), inner
