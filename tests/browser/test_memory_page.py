"""The tab Memory. What is true is computed from the same profile as JSON."""
import json
import re

CELLS = "return [...document.querySelectorAll(arguments[0])].map((r) => [...r.children].map((c) => c.textContent))"
CLASSES = "#memory .list > section:last-child > table > tbody > tr:not(.inside)"
MB = 1 << 20


def bytes_text(n):
    return f"{n / MB:.1f} MB" if n < 10 * MB else f"{n / MB:.0f} MB"


def of_program(frame):
    return not re.match(r"(java|javax|jdk|sun|com\.sun)\.", frame) and "$$Lambda" not in frame


def site(frames):
    """For whom objects were made: the innermost method of the program, else its innermost lambda, else what made them."""
    above = frames[-2::-1]
    lambdas = [f for f in above if "$$Lambda" in f]
    return next(iter([f for f in above if of_program(f)] + lambdas + [above[0]]))


def sums(stacks, key):
    rows = {}
    for s in stacks:
        row = rows.setdefault(key(s["frames"]), [0, 0, 0])
        rows[key(s["frames"])] = [a + b for a, b in zip(row, (s["weight"], s["objects"], s["samples"]))]
    return sorted(rows.items(), key=lambda r: -r[1][0])


def expected(rows, all_bytes):
    return sorted(["100 %" if b == all_bytes else f"{100 * b / all_bytes:.2f} %", bytes_text(b), str(o), str(n), name] for name, (b, o, n) in rows)


def shown(rows):
    return sorted([share, size, objects, samples, name.replace("/", ".")] for share, size, objects, mean, samples, *_, name in rows)


def test_classes_and_where_their_objects_are_made(page, make_page):
    p = page("memory", "#tab=memory")
    stacks = json.loads(make_page("memory", "json").read_text())["stacks"]
    classes = sums(stacks, lambda frames: frames[-1])
    all_bytes = sum(s["weight"] for s in stacks)
    assert len(classes) == 3 and shown(p.js(CELLS, CLASSES)) == expected(classes, all_bytes)
    for n in range(3):
        row = p.js(CELLS, CLASSES)[n][-1].replace("/", ".")
        p.js("document.querySelectorAll(arguments[0])[arguments[1]].click()", CLASSES, n)
        mine = [s for s in stacks if s["frames"][-1] == row]
        sites = p.js(CELLS, "#memory .inside tbody tr")
        assert shown(sites) == expected(sums(mine, site), sum(s["weight"] for s in mine)), row
        assert len(p.js(CELLS, "#memory .inside")) == 1
    # of what was allocated it is not known what is there
    assert "half" not in p.text("#memory") and "grew" not in p.text("#memory")
    assert not p.js("return document.querySelectorAll('#memory b').length")
    p.click("#memory .inside button")
    p.wait("return jstrobe.state.tab === 'graph' && jstrobe.state.view === 'callers'")
    assert p.js("return jstrobe.root.weight") == sum(s["weight"] for s in mine)
    # a site leads to its frames
    p.js("jstrobe.change({ tab: 'memory', view: 'callees', focus: '' })")
    p.js("document.querySelector('#memory .inside tbody tr').click()")
    p.wait("return jstrobe.state.tab === 'graph' && jstrobe.state.q.startsWith('^')")
    assert "%" in p.text("#matched")


def test_search(page):
    p = page("memory", "#tab=memory&q=Text")
    assert [row[-1] for row in p.js(CELLS, CLASSES)] == ["java/lang/String", "byte[]"]
    assert [row[-1] for row in p.js(CELLS, "#memory .inside tbody tr")] == ["shop/Text.build"]
    p.search("nothing like it")
    assert p.text("#memory .nothing") == "Nothing matches."


def test_what_is_there_and_what_grows(page, make_page):
    p = page("kept", "#tab=memory")
    told = json.loads(make_page("kept", "json").read_text())
    assert p.text("#memory .hint") == "40 MB of the heap were in use at its last collection, of 512 MB that it may have."
    halves = {row[-1].replace("/", "."): row[5:7] for row in p.js(CELLS, CLASSES)}
    ages = {}  # as make_page.c has it
    for i, s in enumerate(sorted(told["stacks"], key=lambda s: s["samples"])):
        both = ages.setdefault(s["frames"][-1], [0, 0])
        ages[s["frames"][-1]] = [both[0] + (0 if i % 3 == 1 else s["weight"] / 4), both[1] + (0 if i % 3 == 0 else s["weight"] / 2)]
    assert halves == {name: [f"{n / MB:.1f} MB" for n in both] for name, both in ages.items()}
    rows = p.js(CELLS, "#memory .list > section:nth-of-type(1) tbody tr")
    assert len(told["leaks"]) == 2
    assert [tuple(r[:7]) for r in rows] == [
        (*(bytes_text(l[key]) for key in ("bytes_an_hour", "at_least", "at_most", "bytes")), l["class"].replace("/", "."),
         l["allocated_in"], l["for"] if l["for"] != l["allocated_in"] else "") for l in told["leaks"]]


def test_native_memory(page):
    p = page("native", "#tab=memory")
    tables = [p.js(CELLS, f"#memory .list > section:nth-of-type({n}) tbody tr") for n in (2, 3)]
    assert tables[0] == [["37.50 %", "9.0 MB", "9", "2.3 MB", "8.5 MB", "inflateInit2_", ""],
                         ["33.33 %", "8.0 MB", "8", "", "", "inflateInit2_", "shop/Text.build"],
                         ["29.17 %", "7.0 MB", "7", "1.8 MB", "", "shop/Orders.order", ""]]
    assert tables[1] == [["70.83 %", "17 MB", "libz.so.1"], ["29.17 %", "7.0 MB", "libjvm.so"]]


def test_only_where_it_is_of_memory(page):
    for what in ("wall", "marks", "demo"):
        assert not page(what).js("return document.querySelectorAll('#memory, [data-tab=memory]').length"), what
