"""The tabs of spans and of other events, and what the slowest spans did beside the others. make_page.c says which there are."""
from page_data import edited
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


def two_events(path, first="cpu"):
    """The page of marks as one of two events: the first is called as FIRST, the second is wall."""
    return edited(path, f"two-{first}", lambda one: [{**one, "event": first}, {**{key: value for key, value in one.items() if key != "marks"}, "event": "wall"}])


def test_spans_are_shown_with_their_waits(page):
    """Where there is a profile of wall time, spans lead to it; what is selected stays from event to event."""
    p = page("marks")
    p.path = two_events(p.path)
    p.open("#tab=latency")
    assert "Event wall is shown then" in p.text("#latency .hint")
    p.click("#latency section:nth-child(2) tbody tr")
    p.wait("return location.hash.includes('event=1') && window.jstrobe && jstrobe.data.event === 'wall' && jstrobe.state.sel")
    assert p.js("return [jstrobe.state.sel, jstrobe.state.lane, jstrobe.state.tab]") == ["5000-8000", lane_of(p, 2), "graph"]
    p.open("#tab=latency")
    p.click("#latency button.slow")
    p.wait("return location.hash.includes('event=1') && window.jstrobe && jstrobe.data.event === 'wall' && jstrobe.state.slow")
    assert "the slowest 9 %" in p.text("#time .said") and p.js(SUMS)["samples"]
    # chosen by hand the other event keeps the part, and offers wall time
    p.click("#events button:first-child")
    p.wait("return window.jstrobe && jstrobe.data.event === 'cpu'")
    assert p.js("return jstrobe.state.slow") and "In wall time" in p.text("#time .said")
    # a page without wall time shows what it has
    p.path = p.path.with_name("two-one.html")
    p.path.write_text(two_events(make_path(p), "cpu").read_text(encoding="utf-8").replace('"event": "wall"', '"event": "lock"'), encoding="utf-8")
    p.open("#tab=latency")
    assert "Event wall" not in p.text("#latency .hint")


def make_path(p):
    return p.path.with_name("marks-flamegraph-100000.html")


def test_spans_of_virtual_threads(page):
    """They have their carrier's name, samples that of the virtual thread: all virtual threads are shown, and that is told."""
    p = page("marks")
    names = p.js("return jstrobe.data.threads.map((t) => t[1])")

    def edit(data):
        data["threads"][names.index("order-2")][:2] = [0, "virtual thread #77"]
        data["marks"]["threads"] = [[tid, "ForkJoinPool-1-worker-1" if name == "order-2" else name] for tid, name in data["marks"]["threads"]]
    p.path = edited(p.path, "virtual", edit)
    p.open("#tab=latency")
    assert "have the name of the carrier" in p.text("#latency .hint")
    p.click("#latency button.slow")
    p.wait("return location.hash.includes('slow=')")
    assert p.js(SUMS)["samples"] and "what all virtual threads did then" in p.text("#time .said")
    p.open("#sel=6000-10000&lane=tid%3D0")
    by_hand = p.js(SUMS)
    p.open("#slow=" + p.js("return '1,10'"))
    p.open("#tab=latency")
    p.click("#latency section:nth-child(2) tbody tr:nth-child(2)")
    p.wait("return location.hash.includes('sel=6000-8000')")
    assert p.js("return jstrobe.state.lane") == "tid=0" and 0 < p.js(SUMS)["samples"] < by_hand["samples"]
    # a lane of one virtual thread is that thread's
    p.open("#tab=lanes&lane=virtual%20thread%20%2377")
    assert p.js(SUMS)["samples"] and p.text("#lanes .chosen > button") == "virtual thread #77"


def without_thread(path, name, name_of_copy):
    """The page of two events, whose first has no samples of thread NAME: as if it had slept all the time."""
    def edit(both):
        both[0]["threads"] = [[tid + 5000, "other"] + more if thread == name else [tid, thread] + more for tid, thread, *more in both[0]["threads"]]
    return edited(path, name_of_copy, edit)


def test_a_thread_that_the_event_before_has_not(page):
    """It is kept on the way to wall time; where there are no samples of it, none are shown, and that is told."""
    p = page("marks")
    lane = lane_of(p, 1)
    p.open(f"#sel=6000-8000&lane={lane}")
    wanted = p.js(SUMS)
    p.path = without_thread(two_events(p.path), "order-2", "slept")
    p.open("#tab=latency")
    assert not p.js("return document.querySelector('#latency button.slow').disabled")
    p.click("#latency section:nth-child(2) tbody tr:nth-child(2)")
    p.wait("return location.hash.includes('event=1') && window.jstrobe && jstrobe.data.event === 'wall' && jstrobe.state.sel")
    assert p.js("return [jstrobe.state.sel, jstrobe.state.lane]") == ["6000-8000", lane] and p.js(SUMS) == wanted
    name = f"order-2 ({lane.replace('=', ' ')})"
    assert name + " · " in p.text("#time .said")
    # back in the event that has none of it
    p.click("#events button:first-child")
    p.wait("return window.jstrobe && jstrobe.data.event === 'cpu'")
    assert p.js("return jstrobe.state.lane") == lane and p.js(SUMS) == {"samples": 0, "weight": 0}
    assert f"no samples of {name} in that time" in p.text("#time .said") and "In wall time" in p.text("#time .said")
    assert p.text("#nothing") == f"No samples of {name} in this part of the time."
    p.click("#tabs [data-tab=chart]")
    assert f"no samples of {name}" in p.text("#chart .view-head")
    for tab in ("tree", "methods", "threads", "lanes", "heatmap", "sandwich", "latency"):
        p.click(f"#tabs [data-tab={tab}]")
    # a click on the mark itself stays in the event
    p.open()
    from test_marks import at_mark
    at_mark(p, 0.9, 1, click=True)
    p.wait("return location.hash.includes('sel=8000-10000')")
    assert p.js(SUMS)["samples"] == 0
    # a thread that no event knows
    p.open("#lane=stranger")
    assert p.js(SUMS)["samples"] == 80 and "No thread is called stranger" in p.text("#time .said")
    assert p.logs() == []


def test_how_much_of_a_virtual_threads_span_is_known(page):
    """Parked virtual threads have no samples without --vthreads: what is covered is told, and event lock offered."""
    p = page("marks")
    name = "virtual thread #77"

    def edit(events):
        for event in events:
            event["threads"] = [[0, name] + more if thread == "order-2" else [tid, thread] + more for tid, thread, *more in event["threads"]]
        events[0]["marks"]["threads"] = [[0, name] if thread == "order-2" else [tid, thread] for tid, thread in events[0]["marks"]["threads"]]
        events.append({**events[1], "event": "lock"})
    p.path = edited(two_events(p.path), "parked", edit)
    p.open("#tab=latency")
    assert "of virtual threads that are parked it has them with --vthreads alone" in p.text("#latency .hint")
    p.click("#latency section:nth-child(2) tbody tr:nth-child(2)")
    p.wait("return location.hash.includes('event=1') && window.jstrobe && jstrobe.data.event === 'wall' && jstrobe.state.sel")
    assert p.js("return jstrobe.state.lane") == name
    known = p.js(SUMS)["weight"]
    assert 0 < known < 1.8e9
    assert p.text("#time .cover").startswith(f"samples cover {known / 1e6:.0f} ms") and p.text("#time .cover").endswith(
        " of 2 s: parked virtual threads are sampled with --vthreads alone; event lock has its waits for locks")
    p.js("[...document.querySelectorAll('#time button')].find((b) => b.textContent === 'In event lock').click()")
    p.wait("return location.hash.includes('event=2') && window.jstrobe && jstrobe.data.event === 'lock'")
    assert p.js("return [jstrobe.state.sel, jstrobe.state.lane]") == ["6000-8000", name]
    assert not p.js("return document.querySelectorAll('#time .cover').length")
    # of the slowest, too; not of a part of the time that is no span, nor of a thread of the system
    p.open("#event=1&slow=1,10")
    assert " of 4 s: parked virtual threads" in p.text("#time .cover") and "their waits" in p.text("#time .cover")
    for words in ("sel=6000-7000&lane=virtual%20thread%20%2377", "sel=5000-8000&lane=" + lane_of(p, 2)):
        p.open("#event=1&" + words)
        assert not p.js("return document.querySelectorAll('#time .cover').length"), words


def test_one_carried_span_does_not_keep_the_others_from_wall_time(page):
    p = page("marks")

    def edit(events):
        events[0]["threads"].append([0, "virtual thread #9", 0, 0])
        threads, carrier = events[0]["marks"]["threads"], "ForkJoinPool-1-worker-1"
        events[0]["marks"]["threads"] = [[tid, carrier if n == carried else thread] for n, (tid, thread) in enumerate(threads)]
    for carried, wanted in ((0, True), (1, False)):  # the quick ones, the slow ones of that name
        p.path = edited(two_events(make_path(p)), f"carried-{carried}", edit)
        p.open("#tab=latency")
        p.click("#latency button.slow")
        p.wait("return location.hash.includes('slow=1')")
        assert ("event=1" in p.js("return location.hash")) == wanted


def test_what_is_estimated(page):
    """Of a part of a file's time, sums of spans that it does not tell one by one are in proportion: each such is "~"."""
    p = page("marks")

    def edit(data):
        for name in data["marks"]["names"]:
            assert name[7] == 0
            name[7] = int(name[1] == "poll")
    p.path = edited(p.path, "estimated", edit)
    p.open("#tab=latency")
    names = p.js(ROWS, "#latency section:nth-child(1)")
    assert [row[:6] + row[8:] for row in names] == [
        ["22", "100 ms", "100 ms", "2 s", "2 s", "6 s", NAME], ["~11", "~100 ms", "~100 ms", "~3 s", "~3 s", "~4 s", "poll"]]
    assert "estimated" in p.text("#latency > .list > .hint")
