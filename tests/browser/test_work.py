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
    assert [row[:3] for row in rows(p, "#work .groups tbody tr")] == [["order-*", "2", "4 s"]]
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
    assert [row[0] for row in rows(p, "#threads .groups tbody tr")] == ["order-*"]
    p.open("#tab=threads&idle=1")
    assert [row[2] for row in rows(p, "#threads .list > table tbody tr")] == [
        "http-nio-8080-exec-1", "http-nio-8080-exec-2", "order-1", "order-2", "main"]
    assert [row[0] for row in rows(p, "#threads .groups tbody tr")] == ["order-*", "http-nio-8080-exec-*", "main"]


def test_callers_leave_idle_waits_out(page):
    p = page("wall").open("#view=callers")
    names = {box["name"] for box in p.boxes() if box["depth"] == 1}
    assert names == {"shop/Stock.reserve", "java/lang/Thread.sleep0", "shop/Orders.handle"}


def test_waits_have_their_owners(page):
    p = page("locks")
    assert "for shop.Stock@1b2c (monitor) in shop.Stock.reserve" in p.text("#work li")
    assert "was mostly in shop.Stock.recount (75.00 %)" in p.text("#work li")
    assert numbers(p)["weight"] == 2e9
    assert [row[:2] for row in rows(p, "#work .groups tbody tr")] == [["order-*", "2"]]


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
    assert [row[0] for row in rows(p, "#work .groups tbody tr")] == ["order-*"]


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


def test_columns_of_groups_have_names(page):
    p = page("wall")
    wanted = ["Group of threads", "Threads", "Not idle", "What they did"]
    assert rows(p, "#work .groups thead tr") == [wanted]
    p.click("#tabs [data-tab=threads]")
    assert rows(p, "#threads .groups thead tr") == [wanted]
    bar, whole = p.js("return ['#threads .groups td.activities', '#threads .groups'].map((s) => document.querySelector(s).getBoundingClientRect().width)")
    assert bar > whole / 3, "bars have the place"


def test_the_bar_is_of_what_threads_did(page):
    """A thread that sleeps runs no interpreted code: what it did is told; kinds of code are the legend of the boxes."""
    p = page("wall")
    parts = lambda: p.js("return [...document.querySelectorAll('#kinds .bar i')].map((i) => i.title.split('.')[0])")
    assert parts() == ["running: 25", "lock: 37", "sleep: 37"]
    boxes = p.text("#kinds .graph-kinds")
    assert boxes == "Compiled by C2" or "Interpreted or native method" in boxes
    assert "%" not in boxes
    p.click("#tabs [data-tab=threads]")
    assert not p.js("return document.querySelector('#kinds .graph-kinds')")
    # of a part of the time the same, by hand: the sums of its moments
    p = page("time")
    p.open("#sel=0-5000&unit=samples")
    told = dict(p.js("return [...document.querySelectorAll('#kinds .bar i')].map((i) => [i.title.split(':')[0], parseFloat(i.title.split(': ')[1])])"))
    assert abs(sum(told.values()) - 100) < 0.1
    by_hand = p.js("""
        const T = jstrobe.time, sums = {}, names = jstrobe.data.work.activities.map((a) => a[0]);
        for (let i = 0; i < T.count; i++) {
          const place = T.place[i];
          if (!T.shown[place] || T.at[i] * T.step >= 5e9) continue;
          const n = T.span[i] && T.samples[i] > 1 ? Math.min(T.samples[i], Math.ceil((5e9 / T.step - T.at[i]) * (T.samples[i] - 1) / T.span[i])) : T.samples[i];
          sums[names[T.activity[place]]] = (sums[names[T.activity[place]]] || 0) + Math.max(0, n);
        }
        return sums;""")
    whole = sum(by_hand.values())
    for name, share in told.items():
        assert abs(share - 100 * by_hand[name] / whole) < 1, (told, by_hand)


def test_colours_mean_one_thing(page):
    """What threads did and kinds of code stand on one screen: no two of them look alike."""
    for theme in ("light", "dark"):
        p = page("marks")
        p.open("", theme)
        colours = p.js("""
            const box = document.createElement('div'), seen = {};
            document.body.append(box);
            for (const css of ['act0', 'act1', 'act2', 'act3', 'act4', 'act5', 'act6', 'act7', 'act8', 'act9', 'jit', 'c1', 'inlined', 'interpreted', 'native', 'jvm', 'kernel', 'other']) {
              const i = document.createElement('i');
              i.className = css;
              box.append(i);
              seen[css] = getComputedStyle(i).backgroundColor.match(/\\d+/g).map(Number);
            }
            document.querySelectorAll('#time .legend .mark .swatch').forEach((i, k) => { seen['mark' + k] = getComputedStyle(i).backgroundColor.match(/\\d+/g).map(Number); });
            box.remove();
            return seen;""")
        names = sorted(colours)
        for k, a in enumerate(names):
            for b in names[k + 1:]:
                if a[:3] == b[:3] == "act" or "act" in a + b or "mark" in a + b:
                    distance = sum((x - y) ** 2 for x, y in zip(colours[a], colours[b])) ** 0.5
                    assert distance > 25, (theme, a, b, colours[a], colours[b])
