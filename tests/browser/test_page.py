"""What the report page shows and does, checked against the JSON output of the same profile."""
import base64
import gzip
import json
import re

import pytest
from page_data import edited
from selenium.webdriver.common.keys import Keys


@pytest.fixture(scope="module")
def profile(make_page):
    """profile("demo") → the parsed JSON of what the page shows."""
    return lambda what: json.loads(make_page(what, "json").read_bytes())


def slashes(name):
    """A name of the JSON as the page spells it: "java.util.HashMap.put" → "java/util/HashMap.put"."""
    head, dot, method = name.rpartition(".")
    return name if "::" in name or not dot else head.replace("/0x", "/.0x").replace(".", "/").replace("//0x", ".0x") + "." + method


def stacks(profile):
    return [([slashes(f) for f in s["frames"]], s["samples"], s["weight"]) for s in profile["stacks"]]


def share(part, whole):
    return f"{100 * part / whole:.2f} %"


def test_header_says_what_was_recorded(page):
    p = page("demo")
    assert p.driver.title == "CPU profile of demo.OrderService"
    assert p.text("#title") == "CPU profile of demo.OrderService"
    facts = p.text("#facts")
    for fact in ("10.02 s recorded", "perf, every 1 ms", "pid 4711", "JDK 17.0.15+6-Debian"):
        assert fact in facts


def test_several_events_are_buttons(page, profile):
    """Each event of a session is a page of its own over the same file; the address says which."""
    one, two = profile("events")["profiles"]
    p = page("events")
    assert p.js("return [...document.querySelectorAll('#events button')].map((b) => b.textContent)") == ["cpu", "page-faults"]
    assert p.boxes()[0]["samples"] == one["samples"]["stored"]
    p.js("document.querySelectorAll('#events button')[1].click()")
    p.wait("return window.jstrobe && jstrobe.data.event === 'page-faults'")
    assert p.boxes()[0]["samples"] == two["samples"]["stored"]
    assert "every 7" in p.text("#facts") and "event=1" in p.js("return location.hash")
    assert p.text("#units [data-unit=weight]") == "Events"
    p.js("document.querySelector('#units [data-unit=weight]').click()")
    assert p.js("return jstrobe.state.event") == "1" and "page-faults" in p.text("#status")
    p.js("document.querySelectorAll('#events button')[0].click()")
    p.wait("return window.jstrobe && jstrobe.data.event === 'cpu'")
    p.driver.back()
    p.wait("return window.jstrobe && jstrobe.data.event === 'page-faults'")
    assert not page("demo").js("return document.querySelector('#events').offsetWidth")


def test_all_boxes_have_their_samples(page, profile):
    p, total = page("demo"), profile("demo")["samples"]["stored"]
    boxes = p.boxes()
    assert boxes[0]["name"] == "all" and boxes[0]["samples"] == total
    parse = sum(n for frames, n, _ in stacks(profile("demo")) if "demo/json/Parser.parse" in frames)
    assert p.box("demo/json/Parser.parse")["samples"] == parse
    assert p.box("demo/json/Parser.parse")["width"] == pytest.approx(boxes[0]["width"] * parse / total)


def test_click_zooms_and_the_browser_goes_back(page):
    p = page("demo")
    whole = p.boxes()[0]["width"]
    p.point(p.box("demo/Archive.store"), click=True)
    assert p.box("demo/Archive.store")["width"] == pytest.approx(whole)
    assert p.box("start_thread")["width"] == pytest.approx(whole)
    assert not [b for b in p.boxes() if b["name"] == "demo/Validator.check"]
    assert p.text("#crumbs [aria-current]") == "Archive.store"
    assert "zoom=" in p.js("return location.hash")
    p.driver.back()
    p.wait("return jstrobe.zoom === jstrobe.root")
    assert [b for b in p.boxes() if b["name"] == "demo/Validator.check"]


def test_the_address_restores_the_view(page):
    p = page("demo")
    p.point(p.box("demo/Archive.store"), click=True)
    p.search("deflate")
    p.click("[data-flip='1']")
    p.click("[data-unit=weight]")
    before, address = p.boxes(), p.js("return location.hash")
    p.open(address)
    assert p.boxes() == before
    assert p.js("return document.querySelector('#search').value") == "deflate"


def test_ancestor_and_crumb_zoom_out(page):
    p = page("demo")
    p.point(p.box("demo/Archive.store"), click=True)
    p.point(p.box("demo/OrderService$Request.run"), click=True)
    assert p.text("#crumbs [aria-current]") == "OrderService$Request.run"
    p.click("#crumbs button")
    assert p.text("#crumbs [aria-current]") == "all"


@pytest.mark.parametrize("query", ["HashMap", "^java/util/", "Parser.value", "deflate|Regex", "Parser[", "zzz"])
def test_search_counts_each_stack_once(page, profile, query):
    p, data = page("demo"), profile("demo")
    p.search(query)
    try:
        pattern = re.compile(query, 0 if re.search("[A-Z]", query) else re.I)
    except re.error:
        pattern = re.compile(re.escape(query))
    hit = sum(n for frames, n, _ in stacks(data) if any(pattern.search(f) for f in frames))
    assert p.text("#matched") == (share(hit, data["samples"]["stored"]) if hit else "0 %")
    for box in p.boxes():
        if box["name"] and box["name"] != "all":
            assert box["matched"] == bool(pattern.search(box["name"])), box


def test_search_in_the_zoomed_part(page, profile):
    p = page("demo")
    p.search("HashMap")
    p.point(p.box("demo/json/Parser.parse"), click=True)
    inside = [(f, n) for f, n, _ in stacks(profile("demo")) if "demo/json/Parser.parse" in f]
    hit = sum(n for f, n in inside if any("HashMap" in name for name in f))
    assert p.text("#matched").endswith(f"{share(hit, sum(n for _, n in inside))} here")


def test_next_and_previous_match(page):
    p = page("demo")
    p.search("match")
    p.js("document.querySelector('#graph').focus()")
    count = sum(b["matched"] for b in p.boxes())
    seen = []
    for _ in range(count):
        p.keys("n")
        seen.append(p.js("const s = jstrobe.graph.selected; return [s.depth, jstrobe.data.names[s.name], s.index]"))
    assert len({json.dumps(s) for s in seen}) == count > 3
    assert p.text("#status") == f"match {count} of {count} frames"
    p.keys("n")
    assert p.text("#status") == f"match 1 of {count} frames"
    p.keys("N")
    assert p.text("#status") == f"match {count} of {count} frames"


def test_icicle_and_flame_mirror_each_other(page):
    p = page("demo")
    icicle = p.boxes()
    top = p.js("return jstrobe.graph.top(0)")
    p.click("[data-flip='1']")
    assert p.boxes() == icicle
    assert p.js("return jstrobe.graph.top(0) > jstrobe.graph.top(1)") and top == 0
    p.point(p.box("demo/Archive.store"), click=True)
    assert p.text("#crumbs [aria-current]") == "Archive.store"


def test_options_choose_the_first_view(page, profile):
    """reverse, inverted, dot, sig and minwidth; the reader can go back to the other view."""
    p, data = page("styled"), profile("styled")
    assert p.js("return [jstrobe.state.view, jstrobe.state.flip]") == ["callers", "1"]
    assert p.js("return jstrobe.graph.top(0) > jstrobe.graph.top(1)")
    p.click("[data-view='callees']")
    p.click("[data-flip='']")
    boxes = p.boxes()
    assert boxes[0]["samples"] == data["samples"]["stored"]
    narrow = [b for b in boxes if b["name"] == "[below minwidth]"]
    least = data["samples"]["stored"] * 5 / 100
    assert narrow and all(b["samples"] >= least for b in boxes if b not in narrow)
    name = next(b["name"] for b in boxes if ".put" in b["name"] or ".store" in b["name"])
    assert "/" not in name.split("(")[0]
    p.point(p.box(name), click=True)
    assert p.text("#crumbs [aria-current]") == ".".join(name.split("(")[0].split(".")[-2:]) + name[name.find("("):]
    p.js("location.reload()")
    assert p.js("return [jstrobe.state.view, jstrobe.state.flip]") == ["callees", ""]


@pytest.mark.parametrize("what", ["demo", "sample", "threads"])
def test_callers_view_has_the_same_totals(page, profile, what):
    p, data = page(what, "#view=callers"), profile(what)
    boxes = p.boxes()
    first = [b for b in boxes if b["depth"] == 1]
    assert sum(b["samples"] for b in first) == data["samples"]["stored"] == boxes[0]["samples"]
    assert sum(b["weight"] for b in first) == data["weight"]["total"]
    tops = {}
    for frames, n, _ in stacks(data):
        if what == "demo":
            tops[frames[-1]] = tops.get(frames[-1], 0) + n
    for name, n in tops.items():
        assert [b["samples"] for b in first if b["name"] == name] == [n]


def test_callers_of_one_method(page, profile):
    p = page("demo")
    p.keys("2")
    p.js("""[...document.querySelectorAll('#methods tbody tr')]
        .find((r) => r.textContent.includes('HashMap.putVal')).click()""")
    p.js("[...document.querySelectorAll('.side button')].find((b) => b.textContent.startsWith('Callers')).click()")
    frames = {f: n for f, n in ((b["name"], b["samples"]) for b in p.boxes())}
    total = sum(n for f, n, _ in stacks(profile("demo")) if "java/util/HashMap.putVal" in f)
    assert frames["all"] == frames["java/util/HashMap.putVal"] == frames["java/util/HashMap.put"] == total
    assert "Callers of HashMap.putVal" in p.text("#crumbs")


def test_samples_and_time(page, profile):
    p, data = page("sample"), profile("sample")
    write = next(m for m in data["methods"] if m["name"] == "do_syscall_64")
    whole = p.boxes()[0]["width"]
    assert p.box("do_syscall_64")["width"] == pytest.approx(whole * write["total"] / data["samples"]["stored"])
    p.keys("w")
    assert p.box("do_syscall_64")["width"] == pytest.approx(whole * write["total_weight"] / data["weight"]["total"])
    assert p.js("return jstrobe.state.unit") == "weight"


def test_tooltip_tells_kind_total_and_self(page):
    p = page("sample")
    p.point(p.box("java/util/HashMap.put"))
    tip = p.text("#tip")
    assert "java/util/HashMap.put" in tip
    assert "Compiled by C2 54.55 %" in tip and "Inlined 45.45 %" in tip  # 30 and 25 of 55
    assert "61.11 % · 55 samples · 550 ms" in tip
    assert "self61.11 %" in tip
    p.point(p.box("start_thread"))
    assert "libc.so.6" in p.text("#tip") and "self0 %" in p.text("#tip")


def test_kinds_that_the_file_does_not_say(page):
    """Collapsed stacks do not say how a method was compiled; then its frames are Java, and nothing more is said."""
    p = page("kinds-unknown")
    assert "Java" in p.text("#kinds") and "Compiled by C2" not in p.text("#kinds")
    p.point(p.box("java/util/HashMap.put"))
    assert "Java 54.55 %" in p.text("#tip") and "Compiled by C2" not in p.text("#tip")
    assert "Compiled by C2" in page("sample").text("#kinds")


def test_keyboard(page):
    p = page("demo")
    p.keys("i")
    assert p.js("return jstrobe.state.flip") == "1"
    p.keys("i", "r")
    assert p.js("return jstrobe.state.view") == "callers"
    p.keys("r", Keys.ARROW_DOWN, Keys.ARROW_DOWN, Keys.ARROW_DOWN)
    assert p.js("return jstrobe.graph.selected.depth") == 2  # the first one selects the root itself
    p.keys(Keys.ENTER)
    assert p.text("#crumbs [aria-current]") == "thread_native_entry"
    p.keys(Keys.ESCAPE)
    assert p.text("#crumbs [aria-current]") == "start_thread"
    p.keys("0")
    assert p.text("#crumbs [aria-current]") == "all"
    p.keys("?")
    assert p.js("return document.querySelector('#keys').open")
    p.keys(Keys.ESCAPE)
    assert not p.js("return document.querySelector('#keys').open")
    p.keys("/")
    assert p.js("return document.activeElement.id") == "search"
    p.keys("i", "r")
    assert p.js("return [jstrobe.state.view, document.activeElement.value]") == ["callees", "ir"]


def test_dark_follows_the_system_and_the_switch(page):
    p = page("demo", theme="dark")
    assert p.js("return document.documentElement.dataset.theme") == "dark"
    dark = p.js("return getComputedStyle(document.body).backgroundColor")
    p.keys("d")
    assert p.js("return document.documentElement.dataset.theme") == "light"
    assert p.js("return getComputedStyle(document.body).backgroundColor") != dark
    p.js("localStorage.clear()")


def pixels(p):
    """Width and height of the canvas and how many colours are on it (read from a copy)."""
    return p.js("""const c = jstrobe.graph.canvas, copy = new OffscreenCanvas(c.width, c.height).getContext('2d');
        copy.drawImage(c, 0, 0);
        const d = copy.getImageData(0, 0, c.width, c.height).data;
        const seen = new Set(); for (let i = 0; i < d.length; i += 4 * 97) seen.add(d[i] << 16 | d[i+1] << 8 | d[i+2]);
        return [c.width, c.height, seen.size]""")


def test_canvas_is_painted_and_follows_the_window(page):
    p = page("demo")
    width, _, colours = pixels(p)
    assert colours > 8
    p.driver.set_window_size(1000, 700)
    try:
        p.wait("return jstrobe.graph.canvas.width < arguments[0] - 300", width)
        assert p.boxes()[0]["width"] == p.js("return document.querySelector('#scroller').clientWidth")
        assert pixels(p)[2] > 8
    finally:
        p.driver.set_window_size(1400, 900)


def test_canvas_has_the_screens_pixels(page):
    p = page("demo")
    p.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                             {"width": 1400, "height": 800, "deviceScaleFactor": 2, "mobile": False})
    try:
        p.wait("const g = jstrobe.graph; return g.canvas.width === 2 * g.scroller.clientWidth")
    finally:
        p.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_loss_line_is_always_visible(page, make_page):
    for what, warns in (("demo", False), ("sample", True), ("clean", False)):
        p = page(what)
        line = make_page(what, "loss").read_text().strip()
        for tab in ("graph", "methods", "threads"):
            p.click(f"[data-tab={tab}]")
            shown = p.driver.find_element("css selector", "#loss")
            assert line in shown.text and shown.is_displayed()
            assert shown.rect["y"] + shown.rect["height"] < 140
        assert p.js("return document.querySelector('#loss').classList.contains('warn')") is warns
        assert p.logs() == []


def test_details_name_every_cost(page):
    p = page("sample")
    assert not p.driver.find_element("css selector", "#details").is_displayed()
    p.click("#loss")
    details = p.text("#details")
    for word in ("Queues", "1 increment", "fill up to 21", "Handler", "p99.9 5.6 µs", "Collector's drain",
                 "Own CPU time", "Lost: queue_full", "Lost: recursion", "Ended: truncated"):
        assert word in details


def table(p, section):
    return p.js("""return [...document.querySelectorAll(`#${arguments[0]} .list tbody tr`)]
        .map((r) => [...r.cells].map((c) => c.textContent))""", section)


def test_hot_methods_equal_the_json(page, profile):
    p, data = page("demo", "#tab=methods"), profile("demo")
    rows = {r[4]: (r[1], r[3]) for r in table(p, "methods")}
    assert len(rows) == len(data["methods"])
    for m in data["methods"]:
        assert rows[slashes(m["name"])] == (f"{m['self']:,}", f"{m['total']:,}"), m
    order = [r[4] for r in table(p, "methods")]
    assert order[0] == slashes(data["methods"][0]["name"])
    p.click("[data-sort=total]")
    totals = [int(r[3].replace(",", "")) for r in table(p, "methods")]
    assert totals == sorted(totals, reverse=True)
    p.search("regex")
    assert all("regex" in r[4] for r in table(p, "methods")) and table(p, "methods")


def test_objects(page, profile):
    """How many objects there are, where samples are of some: a column, and a line of the tooltip."""
    p, told = page("objects"), profile("objects")
    p.keys("2")
    p.click("[data-sort=objects]")
    shown = [(name, int(number.replace(",", ""))) for name, number in p.js(
        "return [...document.querySelectorAll('#methods .list tbody tr')].map((r) => [r.querySelector('.name').textContent, "
        "r.querySelectorAll('td.number')[2].textContent])")]
    assert shown[0][1] > 0 and [n for _, n in shown] == sorted((n for _, n in shown), reverse=True)
    rows = {slashes(m["name"]): m["self_objects"] for m in told["methods"]}
    assert dict(shown) == {name: rows[name] for name, _ in shown} and len(shown) == len(rows)
    assert not page("demo").js("return jstrobe.data.objects !== undefined")


def test_calls_that_read_and_write(page, make_page):
    """The tables of `io` in a tab of their own: each line has the numbers that the terminal has, estimates marked."""
    with open(make_page("io", "hot")) as text:
        told = text.read().split("\n\n")
    number = r"((?:[<~] ?)?[\d.,]+ ?(?:[a-zA-Zµ]+)?(?: \d\d [a-z]+)?)"
    line = re.compile(rf" *{number} +(idle|[\d.]+%) +((?:[<~] ?)?[\d,]+) +{number} +{number}  (\w+) (.*)")
    shown, shares = {}, {}
    p = page("io")
    assert p.text("#tabs [data-tab=io]") == "Files and peers"
    p.keys("5")
    for cells in table(p, "io"):
        if len(cells) == 7:
            shown[cells[5] + " " + cells[6]] = tuple(cells[1:5])
            shares[cells[5] + " " + cells[6]] = cells[0]
    seen = 0
    for part in told:
        head, _, rest = part.partition("\n")
        for row in rest.split("\n") if "calls     bytes   longest" in head else []:
            time, share, calls, moved, longest, operation, target = line.fullmatch(row).groups()
            there = shares[f"{operation} {target}"]
            assert there == share or abs(float(share[:-1]) - float(there.strip("<% "))) <= 0.5, (row, there)
            assert shown[f"{operation} {target}"] == (time, calls, moved, longest), row
            seen += 1
    assert seen == 120 == len(shown)
    assert {mark: sum(cell.startswith(mark) for cells in shown.values() for cell in cells) > 10 for mark in "~<"} == \
        {"~": True, "<": True}
    titles = p.js("return [...document.querySelectorAll('#io h2')].map((h) => h.textContent)")
    assert titles == ["Files", "Peers", "Others", "Asked for by", "All calls, each counted"]
    counted = [cells for cells in table(p, "io") if len(cells) == 5]
    assert [c[2:] for c in counted[:2]] == [["12,345", "1.2 MB", "write"], ["24,690", "2.4 MB", "accept"]]
    # a row leads to its frame, a search leaves what it finds
    p.search("journal-1\\d$")
    assert {cells[6].split(",")[0] for cells in table(p, "io") if len(cells) == 7} == {f"/data/journal-{i}" for i in range(10, 20)}
    p.search("Audit.log")
    p.click("#io tr.link")
    assert p.js("return jstrobe.state.tab") == "graph" and "Audit" in p.js("return jstrobe.state.q")
    assert p.js("return document.querySelectorAll('script').length") == 3
    assert page("demo").js("return document.querySelector('#tabs [data-tab=io]').hidden")


def test_recursion_counts_once_in_total(page):
    p = page("sample", "#tab=methods")
    rows = {r[4]: (r[1], r[3]) for r in table(p, "methods")}
    assert rows["demo/Tree.walk"] == ("10", "10")


def test_lines_are_summed_up_in_the_method_table(page):
    p = page("lines")
    assert {b["name"] for b in p.boxes()} >= {"demo/OrderService.run:12", "demo/OrderService.run:14"}
    p.keys("2")
    rows = {r[4]: r[3] for r in table(p, "methods")}
    assert rows["demo/OrderService.run"] == "81"


def test_callers_and_callees_of_a_method(page):
    p = page("sample", "#tab=methods")
    p.js("""[...document.querySelectorAll('#methods tbody tr')]
        .find((r) => r.textContent.includes('HashMap.put')).click()""")
    side = p.js("return [...document.querySelectorAll('.side tr')].map((r) => r.textContent)")
    assert side == ["84.62 %demo/OrderService.run", "15.38 %demo/OrderService$$Lambda$14.0x0000000800c03000.apply",
                    "100 %its own code"]
    p.js("[...document.querySelectorAll('.side button')].find((b) => b.textContent === 'Find in graph').click()")
    assert {b["name"] for b in p.boxes() if b["matched"]} == {"java/util/HashMap.put"}


def test_recursion_counts_once_for_callers(page):
    """demo/Tree.walk is on three levels of 8 stacks and on two of 2 cut ones."""
    p = page("sample", "#tab=methods")
    p.js("""[...document.querySelectorAll('#methods tbody tr')]
        .find((r) => r.textContent.includes('Tree.walk')).click()""")
    side = p.js("return [...document.querySelectorAll('.side tr')].map((r) => r.textContent)")
    assert side == ["80.00 %demo/OrderService.run", "20.00 %[truncated]", "100 %demo/Tree.walk", "100 %its own code"]
    p.js("[...document.querySelectorAll('.side button')].find((b) => b.textContent.startsWith('Callers')).click()")
    assert p.boxes()[0]["samples"] == p.box("demo/Tree.walk")["samples"] == 10
    assert p.box("demo/OrderService.run")["samples"] == 8


def test_threads(page, profile):
    p = page("threads", "#tab=threads")
    rows = table(p, "threads")
    assert [(r[1], r[2], r[3]) for r in rows] == [
        (str(t["samples"]), t["name"], str(t["tid"])) for t in profile("threads")["threads"]]
    p.click("#threads tbody tr")
    assert p.text("#crumbs [aria-current]") == "[main tid=101]"


def test_names_are_data(page):
    """Markup in names is shown, never run: no element, no dialog, no error, script not ended early."""
    p = page("threads")
    evil = 'evil/"</script><script>alert(1)</script>.a;b\\\n<!--'
    p.point(p.box(evil))
    assert evil in p.text("#tip")
    p.click("[data-tab=methods]")
    assert evil in [r[4] for r in table(p, "methods")]
    p.click("[data-tab=threads]")
    assert '\x1b[31m<b>"evil"</b>' in [r[2] for r in table(p, "threads")]
    assert p.js("return [document.querySelectorAll('script').length, document.querySelectorAll('main b').length]") == [3, 0]


def test_no_samples(page, make_page):
    p = page("empty")
    assert make_page("empty", "loss").read_text().strip() in p.text("#nothing")
    assert "No samples: the process used 3.2 ms of CPU time" in p.text("#loss")
    p.keys("i", "r", "w", "n", Keys.ARROW_DOWN, "2")
    assert "No samples" in p.text("#methods")
    p.keys("3", "1")
    assert p.driver.find_element("css selector", "#nothing").is_displayed()


def test_no_way_out(make_page):
    """Nothing in the file names another place, and the policy in it would stop it anyway."""
    text = make_page("demo").read_text()
    assert not re.findall(r"""(?:src|href|action)\s*=\s*["'](?!data:)""", text)
    assert not re.findall(r"https?://", text)
    assert "default-src 'none'" in text
    assert text.count("</script>") == 3
    code = gzip.decompress(base64.b64decode(re.search(r'id="code">(.*?)</script>', text, re.S)[1])).decode()
    assert len(code) > 100000 and "</script" not in code
    assert not re.findall(r"https?://|fetch\(|XMLHttpRequest|WebSocket|import\(", code)


def test_a_page_that_cannot_open_says_why(page, tmp_path):
    p = page("demo")
    with open(p.path, encoding="utf-8") as file:
        text = file.read()
    broken = tmp_path / "broken.html"
    broken.write_text(re.sub(r'(id="code">\n.{200}).{40}', r"\1" + "A" * 40, text, count=1, flags=re.S))
    p.get(f"file://{broken}")
    assert "This page is damaged, or was cut off" in p.text("body > .nothing")
    p.logs()
    p.requests()
    script = p.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": "delete window.DecompressionStream"})
    try:
        p.open()
        assert "needs a newer browser" in p.text("body > .nothing") and not p.js("return !!window.jstrobe")
    finally:
        p.driver.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", script)
    p.open()
    assert p.js("return !!window.jstrobe && !document.querySelector('body > .nothing')")


def test_without_javascript(page, make_page):
    """The short report is in the page, and shown; hostile names are text there, too."""
    text = make_page("sample").read_text(encoding="utf-8")
    rows = re.search(r"<noscript>.*<pre>(.*)</pre>\s*</noscript>", text, re.S)[1]
    assert "self%" in rows and "samples taken" in rows and "<" not in rows and "&lt;" in rows, rows
    assert text.count("</noscript>") == 1
    p = page("sample")
    ask = p.driver.execute_cdp_cmd
    ask("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        p.driver.get(f"file://{p.path}#plain")
        p.driver.refresh()
        root = ask("DOM.getDocument", {})["root"]["nodeId"]
        shown = ask("DOM.querySelector", {"nodeId": root, "selector": "noscript pre"})["nodeId"]
        box = ask("DOM.getBoxModel", {"nodeId": shown})["model"]
    finally:
        ask("Emulation.setScriptExecutionDisabled", {"value": False})
    assert box["height"] > 100 and box["width"] > 300, box


def test_no_legend_of_one_kind(page):
    """Where classes, or files, are on top of all stacks, kinds of code say nothing."""
    p = page("objects")
    assert p.js("return document.querySelector('#kinds').offsetHeight") > 0
    p.path = edited(p.path, "markers", lambda data: data.update(top=[[0, 0]] * 7 + [[5, 5], [0, 0]]))
    p.open()
    assert p.js("return jstrobe.data.top[7]") == [5, 5]
    assert not p.js("return document.querySelector('#kinds').offsetHeight")


def test_what_grows_is_on_the_page(page, profile):
    """The five that grow fastest, a sentence each, with their intervals, as in JSON; and when the heap is full."""
    p, json_profile = page("leaks"), profile("leaks")
    suspects = json_profile["leaks"]
    assert len(suspects) > 5 and json_profile["heap_full"]["free"] == 472 << 20
    title, lines = p.text("#leaks h2"), p.js("return [...document.querySelectorAll('#leaks li')].map((li) => li.textContent)")
    assert "What grew all the time (90 s)" in title
    assert len(lines) == 7 and lines[5] == f"and {len(suspects) - 5} more"
    for line, suspect in zip(lines[:5], suspects):
        assert f"{suspect['class']} allocated in {suspect['allocated_in']}" in line and re.search(r"\(.* to .*\)", line), line
    assert lines[6].startswith("At this rate the heap is full in ") and "472 MB of 512 MB" in lines[6]
    # the graph keeps its place (test_small_screens.py), and it is not there without growth
    assert p.js("return document.querySelector('#scroller').clientHeight") > 200
    assert not page("objects").js("return document.querySelector('#leaks').offsetHeight")
