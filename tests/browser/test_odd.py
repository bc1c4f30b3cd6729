"""Addresses that are mistyped or made up, and pages of more threads than a person looks at."""
import base64
import urllib.parse

import pytest
from page_data import edited

SORRY = "const n = document.querySelector('body > .nothing'); return n && n.textContent"
EMPTY = "const n = document.querySelector('#nothing'); return n.hidden ? null : n.textContent"

# the address, and what state it stands for
ODD = [
    ("event=-1", {"event": "0"}), ("event=0.5", {"event": "0"}), ("event=1e9", {"event": "0"}), ("event=NaN", {"event": "0"}),
    ("tab=methods&group=constructor", {"tab": "methods", "group": ""}), ("tab=methods&group=__proto__", {"group": ""}),
    ("tab=methods&group=toString", {"group": ""}), ("tab=toString", {"tab": "graph"}),
    ("view=callers&focus=99999999", {"view": "callers", "focus": ""}), ("view=callers&focus=abc", {"focus": ""}),
    ("view=callers&focus=1.5", {"focus": ""}), ("view=callers&focus=Infinity", {"focus": ""}),
    ("view=callers&focus=-1", {"focus": ""}), ("tab=methods&method=abc", {"method": ""}),
    ("q=" + 100000 * "a", {"tab": "graph"}), ("q=(" + 100000 * "a", {"tab": "graph"}), ("zoom=__proto__", {"tab": "graph"}),
]


def number(n):
    """LEB128"""
    low = bytes([n & 127 | (128 if n > 127 else 0)])
    return low + number(n >> 7) if n > 127 else low


@pytest.mark.parametrize("what", ["demo", "events"])
def test_odd_addresses_show_the_default(page, what):
    """On opening, and where the address of an open page changes."""
    p = page(what)
    whole = p.js("return jstrobe.tree.totalSamples[0]")
    state = "return Object.fromEntries(arguments[0].map((key) => [key, jstrobe.state[key]]))"
    for words, wanted in ODD:
        p.open("#" + words)
        assert p.js(SORRY) is None and p.logs() == [], words[:40]
        assert p.js(state, list(wanted)) == wanted, words[:40]
        assert p.js("return jstrobe.tree.totalSamples[0]") == whole and (p.js(EMPTY) is None), words[:40]
    p.open()
    for words, wanted in ODD:
        p.js("location.hash = 'unit=samples'")
        p.wait("return jstrobe.state.view === 'callees' && jstrobe.state.tab === 'graph' && !jstrobe.state.q")
        p.js("window.moved = 0; addEventListener('popstate', () => { window.moved = 1; }, { once: true }); location.hash = arguments[0]", words)
        p.wait("return window.moved === 1")
        assert p.logs() == [] and p.js(state, list(wanted)) == wanted, words[:40]
        assert p.js("return document.querySelectorAll('#tabs [aria-pressed=true]').length") == 1


def test_an_odd_event_on_an_open_page(page):
    """The page of another event becomes the first one's."""
    p = page("events", "#event=1")
    assert p.js("return jstrobe.state.event") == "1"
    p.js("location.hash = 'event=-1'")
    p.wait("return window.jstrobe && jstrobe.state.event === '0' && jstrobe.data.event === document.querySelector('#events button').textContent")
    assert p.js(SORRY) is None


def test_long_text_is_searched_as_text(page):
    p = page("demo", "#q=" + 100000 * "a")
    assert p.text("#matched") == "0 %"
    p.search("(order")  # no regular expression; case does not count
    assert "not a regular expression" in p.js("return document.querySelector('#matched').title")
    p = page("sample")
    name = p.js("""
        const none = (name) => { try { return !new RegExp(name); } catch (error) { return /[a-z]/.test(name); } };
        const parts = jstrobe.data.names.flatMap((name) => [...name].map((_, i) => name.slice(i)));
        return parts.find(none);""")
    small = p.search(name.lower()) or p.text("#matched")
    p.search(name.upper())
    assert small != "0 %" == p.text("#matched"), name


@pytest.mark.parametrize("pattern", ["(.+)+~$", "(.*)*~", "([a-z/]+)+~", "(.|[^~])+~", ".*.*.*.*.*.*.*.*.*.*~", "((.+)+)+~$"])
def test_an_expression_that_runs_away(page, pattern):
    """It is searched as plain text, and the page says why; without a guard there was no answer within a minute."""
    p = page("demo", "#q=" + urllib.parse.quote(pattern))
    assert p.text("#matched") == "0 %"
    assert "takes too long: searched as plain text" in p.js("return document.querySelector('#matched').title")
    assert p.js("return performance.getEntriesByName('drawn')[0].startTime") < 9000


def test_usual_expressions_are_none_of_those(page):
    p = page("demo")
    for pattern in ("^java.*put", "(java|jdk)/.*", "(\\w+/)+\\w+", "(:\\d+)?$", "[a-z]+.*[A-Z].*[.]"):
        p.search(pattern)
        assert not p.js("return document.querySelector('#matched').classList.contains('literal')"), pattern
        assert p.js("return document.querySelector('#matched').textContent") != "0 %", pattern


def test_a_part_without_samples(page):
    """It says that of the part, not of the whole profile; waits for work that are left out are told."""
    def quiet(data):
        data["time"]["steps"] *= 2  # nothing happens in the second half
    p = page("time")
    p.path = edited(p.path, "quiet", quiet)
    for idle in ("", "&idle=1"):
        p.open("#sel=15000-16000" + idle)
        assert p.js(EMPTY) == "No samples in this part of the time."
    p = page("time-agent")
    p.path = edited(p.path, "quiet-agent", quiet)
    p.open("#sel=15000-16000")
    assert p.js(EMPTY) == "No samples in this part of the time."
    # where all that threads did was to wait for work
    p = page("time")
    idle, lane, name = p.js("""
        const T = jstrobe.time, busy = new Set();
        for (let i = 0; i < T.count; i++) if (T.shown[T.place[i]]) busy.add(T.thread[T.place[i]]);
        const place = T.place.find((at) => !T.shown[at] && !busy.has(T.thread[at]));
        const [tid, name] = jstrobe.data.threads[T.thread[place]];
        return [place !== undefined, 'tid=' + tid, name];""")
    assert idle
    p.open("#sel=1000-9000&lane=" + lane)
    assert p.js(EMPTY) == f"{name} ({lane.replace('=', ' ')}) waited for work in this part of the time. “All waits” shows where."
    assert " waited for work in that time" in p.text("#time .said")
    p.open("#sel=1000-9000&idle=1&lane=" + lane)
    assert p.js(EMPTY) is None
    # the callers of a method that has none there
    p.open("#sel=0-5000")
    absent = p.js("""
        const t = jstrobe.tree, names = new Set();
        for (let i = 1; i <= t.count; i++) if (t.totalSamples[i]) names.add(t.name[i]);
        return jstrobe.data.names.findIndex((_, id) => !names.has(id));""")
    assert absent >= 0
    p.open(f"#sel=0-5000&view=callers&focus={absent}")
    assert p.js(EMPTY).startswith("No samples of ") and p.js(EMPTY).endswith(" in this part of the time.")


def test_arrows_keep_the_selections_length(page):
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.keys import Keys
    p = page("time")
    selected = lambda: p.js("const s = jstrobe.time.selected; return s && [s.from, s.to]")
    steps = p.js("return jstrobe.time.steps")
    for key, edge in ((Keys.ARROW_LEFT, 0), (Keys.ARROW_RIGHT, steps)):
        p.open("#sel=4000-4780")
        long = selected()[1] - selected()[0]
        p.js("document.querySelector('#time canvas').focus()")
        for _ in range(60):
            ActionChains(p.driver).send_keys(key).perform()
            assert selected()[1] - selected()[0] == long
        assert edge in selected()
    before = selected()
    ActionChains(p.driver).key_down(Keys.SHIFT).send_keys(Keys.ARROW_LEFT).key_up(Keys.SHIFT).perform()
    assert selected()[0] == before[0] and before[0] < selected()[1] < before[1]


def many_threads(count):
    """COUNT threads, each with a root of its own as with -t."""
    def edit(data):
        data["nodes"] = count
        data["tree"] = base64.b64encode(b"".join(
            bytes([(32 if i else 0) | 16 | 7]) + number(i) + number(1) + number(1000 + i) for i in range(count))).decode()
        data["names"] = [f"[worker-{i} tid={i + 1}]" for i in range(count)]
        data["nameTypes"] = "4" * count
        data["libraries"] = []
        data["threads"] = [[i + 1, f"worker-{i}", 1, 1000 + i] for i in range(count)]
    return edit


def test_many_threads(page):
    count = 20000
    p = page("threads")
    p.path = edited(p.path, "many-threads", many_threads(count))
    p.open("#tab=threads&unit=weight")
    rows = lambda: p.js("return [...document.querySelectorAll('#threads .list > table tbody tr')].map((r) => r.children[2].textContent)")
    assert rows() == [f"worker-{count - 1 - i}" for i in range(300)]
    assert p.text("#threads .list > p") == "19,700 more: search narrows them."
    again = p.js("const t = performance.now(); jstrobe.change({}); document.body.offsetHeight; return performance.now() - t")
    print(f"the tab Threads of {count:,} threads is drawn again in {again:.0f} ms")
    assert again < 500
    p.search("worker-77$")
    assert rows() == ["worker-77"] and not p.js("return document.querySelector('#threads .list > p')")
    p.click("#threads .list > table tbody tr")
    assert p.js("return jstrobe.data.names[jstrobe.zoom.name]") == "[worker-77 tid=78]"


def test_many_groups_of_threads(page):
    def edit(data):
        group = data["work"]["groups"][0]
        data["work"]["groups"] = [[f"group-{chr(97 + i % 26)}-{i}", *group[1:]] for i in range(5000)]
    p = page("wall")
    p.path = edited(p.path, "many-groups", edit)
    p.open("#tab=threads")
    assert p.js("return document.querySelectorAll('#threads .groups tbody tr').length") == 300
    assert p.text("#threads .all-groups > p") == "4,700 more: search narrows them."
