"""What stands out, on top of the page."""


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
