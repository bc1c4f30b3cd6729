"""Colours: kinds of code and packages can be told apart, also by who sees no red or no green; packages have the shares of
their stacks; and the page on paper."""
import base64
import itertools
import json
import math
import re
from collections import Counter

import pytest

# Machado, Oliveira, Fernandes: A Physiologically-based Model for Simulation of Color Vision Deficiency (2009), severity 1
SIGHT = {
    "normal": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protanopia": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deuteranopia": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881))}
LEAST = {"kind": 12, "pack": 10, "strip": 12}  # of CIE 1976's difference; about 2 are seen side by side
READABLE = 4.5  # contrast of text that WCAG's level AA asks for


def linear(v):
    return v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4


def lab(rgb, sight):
    r, g, b = (min(1, max(0, sum(a * linear(v / 255) for a, v in zip(row, rgb)))) for row in sight)
    x, y, z = (0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.95047, 0.2126 * r + 0.7152 * g + 0.0722 * b, (0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.08883
    fx, fy, fz = (t ** (1 / 3) if t > 0.008856 else 7.787 * t + 16 / 116 for t in (x, y, z))
    return 116 * fy - 16, 500 * (fx - fy), 200 * (fy - fz)


def light(rgb):
    return sum(w * linear(v / 255) for w, v in zip((0.2126, 0.7152, 0.0722), rgb))


def shown(page, css):
    """[r, g, b] of a colour as the browser has it."""
    return page.js("""const e = document.createElement('i'); e.style.color = arguments[0]; document.body.append(e);
        const c = getComputedStyle(e).color.match(/[\\d.]+/g).map(Number); e.remove(); return c.slice(0, 3)""", css)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_colours_of_the_strip(page, theme):
    p = page("more-demo", theme=theme)
    names = ["kind-jit", "kind-native", "kind-jvm", "kind-kernel", "kind-gc", "act-4"]
    colours = {name: shown(p, f"hsl(var(--{name}))") for name in names}
    for sight, matrix in SIGHT.items():
        for a, b in itertools.combinations(names, 2):
            assert math.dist(lab(colours[a], matrix), lab(colours[b], matrix)) > LEAST["strip"], (sight, a, b)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("which", ["kind", "pack"])
def test_colours_can_be_told_apart(page, which, theme):
    p = page("more-demo", theme=theme)
    names = {"kind": ["interpreted", "c1", "jit", "inlined", "native", "kernel", "other", "jvm"], "pack": [str(i) for i in range(10)]}[which]
    colours = {name: shown(p, f"hsl(var(--{which}-{name}))") for name in names}
    ink = light(shown(p, "var(--box-ink)"))
    for sight, matrix in SIGHT.items():
        for a, b in itertools.combinations(names, 2):
            assert math.dist(lab(colours[a], matrix), lab(colours[b], matrix)) > LEAST[which], (sight, a, b)
        for name in names:
            assert math.dist(lab(colours[name], matrix), lab(shown(p, "hsl(var(--box-match))"), matrix)) > 8, (sight, name)
    for name, colour in colours.items():
        bright, dim = sorted((ink, light(colour)), reverse=True)
        assert (bright + 0.05) / (dim + 0.05) > READABLE - 0.1, name


def package(name):
    if "::" in name or "." not in name:
        return ""
    return ".".join(name.split("/")[:-1][:2])


def test_colours_by_package(page, make_page):
    data = json.loads(make_page("more-demo", "json").read_bytes())
    own = Counter()
    for s in data["stacks"]:
        top = s["frames"][-1]
        own[".".join(top.split(".")[:-2][:2]) if top.count(".") > 1 and "::" not in top else "no Java"] += s["samples"]
    p = page("more-demo", "#unit=samples")
    plain = p.js("const g = jstrobe.graph; return g.rows.flat().filter((b) => b.node).map((b) => g.colour(b))")
    p.click("#colours [data-colour=package]")
    assert "colour=package" in p.js("return location.hash") and p.js("return document.querySelector('#kinds').offsetHeight > 0")
    told = dict(p.js("return [...document.querySelectorAll('.package-kinds > span')].map((s) => [s.firstChild.nextSibling.textContent.trim(), s.title])"))
    whole = sum(own.values())
    for name, samples in own.items():
        if name in told:
            assert told[name] == f"{name}: {100 * samples / whole:.2f} % on top of the stack", name
    assert {"java.util", "demo.json", "no Java"} <= set(told) and set(told) - {"other packages"} <= {*own, "demo", "java.io"}
    # one package, one colour, but for shades; another one, another colour
    hues = p.js("""const g = jstrobe.graph, D = jstrobe.data;
        return g.rows.flat().filter((b) => b.node && b.node.parent).map((b) => [D.names[b.node.name], jstrobe.more.packages.numbers()[b.node.name], g.colour(b)])""")
    assert hues != plain
    of = {}
    for name, number, _ in hues:
        of.setdefault(package(name) if "/" in name else "", set()).add(number)
    assert all(len(numbers) == 1 for numbers in of.values()), of
    p.keys("p")
    assert p.js("const g = jstrobe.graph; return g.rows.flat().filter((b) => b.node).map((b) => g.colour(b))") == plain
    assert "colour" not in p.js("return location.hash") and "Compiled by C2" in p.text("#kinds")


@pytest.mark.parametrize("what", ["time", "more-demo", "more-objects"])
def test_the_legend_is_there(page, what):
    p = page(what, "#colour=package")
    for tab in ("graph", "sandwich", "chart")[:3 if what == "time" else 2]:
        p.js("jstrobe.change({ tab: arguments[0] })", tab)
        assert p.js("const l = document.querySelector('.package-kinds'); return !!l && l.offsetHeight > 0 && l.children.length > 0"), tab
    p.js("jstrobe.change({ tab: 'tree' })")
    assert not p.js("return document.querySelector('.package-kinds')")


def test_on_paper(page):
    p = page("more-demo", "#colour=package", theme="dark")
    wide = p.js("return jstrobe.graph.canvas.width")
    pdf = p.driver.execute_cdp_cmd("Page.printToPDF", {"printBackground": True})
    assert base64.b64decode(pdf["data"]).startswith(b"%PDF")
    p.wait("return document.documentElement.dataset.theme === 'dark'")  # as it was
    assert p.js("return jstrobe.graph.canvas.width") == wide
    p.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print", "features": [{"name": "prefers-color-scheme", "value": "dark"}]})
    try:
        p.js("dispatchEvent(new Event('beforeprint'))")
        assert p.js("return document.documentElement.dataset.theme") == "light"
        assert p.js("return [...document.querySelectorAll('.toolbar, .corner, #crumbs .what')].every((e) => !e.offsetHeight)")
        assert p.js("return jstrobe.graph.viewHeight >= jstrobe.graph.height && scrollY === 0")
        assert p.js("return jstrobe.graph.canvas.getBoundingClientRect().right <= document.documentElement.clientWidth")
        p.js("dispatchEvent(new Event('afterprint'))")
        assert p.js("return document.documentElement.dataset.theme") == "dark" and not p.js("return document.querySelector('#scroller').style.height")
    finally:
        p.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": []})
    assert not re.search("undefined|NaN", p.text("#kinds"))
