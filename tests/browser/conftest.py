"""The report page in a real browser: pages are written by the real writer (make_page.c), opened
from file:// in headless Chromium and driven by Selenium. Nothing here needs a JVM."""
import glob
import json
import os
import shlex
import shutil
import subprocess
import sys

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
OUT = os.path.abspath(os.environ.get("O", os.path.join(ROOT, "build")))


@pytest.fixture(scope="session")
def make_page(tmp_path_factory):
    """make_page(what, format="flamegraph", stacks=…) → path of the file, each written once."""
    folder = tmp_path_factory.mktemp("pages")
    program = folder / "make_page"
    template = os.path.join(OUT, "gen", "page_template.h")
    subprocess.run(["make", "-s", "-C", ROOT, "O=" + OUT, template, *(os.path.join(OUT, "gen", name) for name in ("page_code.h", "page_more.h"))], check=True)
    subprocess.run([*shlex.split(os.environ.get("CC") or "gcc"), "-std=gnu11", "-D_GNU_SOURCE", "-O2", "-Wall",
                    "-Wextra", "-Wno-unused-parameter", "-Werror", "-I" + os.path.join(ROOT, "src"),
                    "-I" + os.path.dirname(template), os.path.join(HERE, "make_page.c"),
                    *glob.glob(os.path.join(ROOT, "src/profile/model/**/*.c"), recursive=True),
                    *glob.glob(os.path.join(ROOT, "src/profile/writers/**/*.c"), recursive=True),
                    *glob.glob(os.path.join(ROOT, "src/profile/views/*.c")),
                    *glob.glob(os.path.join(ROOT, "src/profile/findings/*.c")),
                    *glob.glob(os.path.join(ROOT, "src/common/base/*.c")),
                    *glob.glob(os.path.join(ROOT, "src/common/words/*.c")), "-DJSTROBE_ZLIB", "-o", str(program), "-lz"], check=True)

    def write(what, form="flamegraph", stacks=100000):
        path = folder / f"{what}-{form}-{stacks}.html"
        if not path.exists():
            with open(path, "wb") as out:
                subprocess.run([str(program), what, form, str(stacks)], stdout=out, check=True)
        return path
    return write


@pytest.fixture(scope="session")
def driver(tmp_path_factory):
    """One headless Chromium for all tests; its own profile folder, logs on."""
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    for flag in ("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-sync",
                 "--disable-background-networking", "--disable-component-update",
                 "--disable-dev-shm-usage", "--window-size=1400,900",
                 f"--user-data-dir={tmp_path_factory.mktemp('chromium')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    service = Service(shutil.which("chromedriver"))
    browser = webdriver.Chrome(options=options, service=service)
    browser.set_window_size(1400, 900)
    yield browser
    browser.quit()


class Page:
    """An open page and what one does with it."""

    def __init__(self, driver, path):
        self.driver, self.path = driver, path

    def open(self, hash="", theme="light"):
        self.driver.get("about:blank")
        self.logs()
        self.requests()
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {
            "features": [{"name": "prefers-color-scheme", "value": theme}]})
        return self.get(f"file://{self.path}{hash}")

    def get(self, address):
        """Open it, and wait until its code has run, or has said why not."""
        self.driver.get(address)
        self.wait("return !!(window.jstrobe || document.querySelector('body > .nothing'))")
        return self

    def js(self, code, *args):
        return self.driver.execute_script(code, *args)

    def text(self, selector):
        return self.js("return document.querySelector(arguments[0]).textContent", selector)

    def click(self, selector):
        self.driver.find_element("css selector", selector).click()

    def keys(self, *keys):
        """Press keys where the focus is."""
        from selenium.webdriver import ActionChains
        for key in keys:
            ActionChains(self.driver).send_keys(key).perform()

    def search(self, query):
        """Type into the search box and wait for the result."""
        self.js("""const s = document.querySelector('#search'); s.focus(); s.value = arguments[0];
                   s.dispatchEvent(new Event('input'));""", query)
        self.wait("return jstrobe.state.q === arguments[0]", query)

    def wait(self, code, *args, seconds=10):
        from selenium.webdriver.support.ui import WebDriverWait
        return WebDriverWait(self.driver, seconds, 0.02).until(lambda d: d.execute_script(code, *args))

    def boxes(self):
        """All boxes drawn: [{name, depth, x, width, samples, self, matched}]."""
        return self.js("""
            const g = jstrobe.graph, D = jstrobe.data;
            return g.rows.flat().map((b) => ({ depth: b.depth, x: b.x, width: b.width,
              name: !b.node ? null : b.node.name < 0 ? 'all' : D.names[b.node.name],
              samples: b.node ? b.node.samples : b.value, self: b.node ? b.node.selfSamples : 0,
              weight: b.node ? b.node.weight : 0, matched: !!b.node && !!g.isMatch(b.node) }));""")

    def box(self, name, at=0):
        found = [b for b in self.boxes() if b["name"] == name]
        assert len(found) > at, f"no box {at} called {name}"
        return found[at]

    def point(self, box, click=False):
        """Move the mouse onto a box, as a person would; maybe click."""
        from selenium.webdriver import ActionChains
        where = self.js("""
            const g = jstrobe.graph, r = g.canvas.getBoundingClientRect();
            return [r.left + arguments[0] + Math.min(arguments[1] / 2, 40), r.top + g.top(arguments[2]) + 8];
            """, box["x"], box["width"], box["depth"])
        actions = ActionChains(self.driver)
        actions.w3c_actions.pointer_action.move_to_location(round(where[0]), round(where[1]))
        if click:
            actions.w3c_actions.pointer_action.click()
        actions.perform()

    def logs(self):
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def requests(self):
        """Addresses that were asked for since the last call."""
        events = [json.loads(e["message"])["message"] for e in self.driver.get_log("performance")]
        return [e["params"]["request"]["url"] for e in events
                if e["method"] == "Network.requestWillBeSent"]


@pytest.fixture
def page(driver, make_page, record_property):
    """page("demo") opens the page; at the end no page may have complained or asked for anything."""
    opened = []

    def open_page(what="demo", hash="", theme="light", **more):
        path = make_page(what, **more)
        opened.append(Page(driver, path).open(hash, theme))
        return opened[-1]
    yield open_page
    for p in opened[-1:]:
        assert p.logs() == [], "console messages"
        outside = [u for u in p.requests() if not u.startswith(("file://" + str(p.path), "data:", "about:"))]
        assert outside == [], "requests"


def pytest_report_header():
    return f"pages are drawn by {shutil.which('chromium')}, python {sys.version.split()[0]}"
