"""What stands out, on top of the page."""
from page_data import edited


def test_sentences_lead_to_their_method(page):
    p = page("findings")
    items = p.js("return [...document.querySelectorAll('#findings li')].map((li) => li.firstChild.textContent)")
    assert items and "demo.Tree.walk" not in p.js("return location.hash")
    assert any("java.util" in text or "demo." in text for text in items), items
    p.js("document.querySelector('#findings .look').click()")
    look = p.js("return jstrobe.profiles ? '' : document.querySelector('#findings .look').title")
    method = look.replace("Search for ", "")
    assert method.rsplit(".", 1)[0].replace(".", "/") in p.js("return document.querySelector('#search').value.replace(/\\\\/g, '')")
    assert p.js("return [...document.querySelectorAll('#findings small')].length") == len(items)
    assert p.text("#findings small") == "The graph below shows who calls that."  # the page is open
    bottom = p.js("return document.querySelector('#findings').getBoundingClientRect().bottom")
    assert 0 < bottom < p.js("return innerHeight") / 2, "the graph has room"


def test_nothing_is_an_answer(page):
    p = page("nothing")
    assert p.text("#findings") == "Nothing stands out."


def test_an_agents_page_has_none(page):
    p = page("demo")
    assert p.js("return document.querySelector('#findings').hidden")


def test_advice_is_for_a_reader_of_the_page(page):
    """Not for a terminal, which has no graph."""
    p = page("findings")
    given = {"--lines shows which lines; the flame graph (-f x.html), who calls it.": "The graph below shows who calls it. With --lines a recording says which lines.",
             "-e wall,io tells these apart. The page (-f x.html) shows who calls that.": "-e wall,io tells these apart. The graph below shows who calls that.",
             "The flame graph (--alloc -f x.html) shows the classes on top.": "The graph of event alloc shows the classes on top."}
    p.path = edited(p.path, "advice", lambda data: data.update(findings=[{"id": "x", "sentence": "It is so.", "advice": advice, "look": ""} for advice in given]))
    p.open()
    assert p.js("return [...document.querySelectorAll('#findings small')].map((s) => s.textContent)") == list(given.values())


def test_sentences_begin_with_a_capital(page):
    """A name stays as it is."""
    p = page("findings")
    given = {"threads waited 2.46 s for x.": "Threads waited 2.46 s for x.", "threads and others waited 1 s.": "Threads and others waited 1 s.",
             "threads-* waited 1 s.": "threads-* waited 1 s.", "order-* waited 1 s.": "order-* waited 1 s."}
    p.path = edited(p.path, "capital", lambda data: data.update(findings=[{"id": "x", "sentence": text, "advice": "", "look": ""} for text in given]))
    p.open()
    assert p.js("return [...document.querySelectorAll('#findings li')].map((li) => li.textContent)") == list(given.values())
