"""Pages made from tables are equal to what the tables say now; links between pages lead somewhere."""
import os
import re
import subprocess

import pytest
import tree

COMMAND = os.path.join(tree.OUT, "bin", "jstrobe")


def test_options_page():
    if not os.path.exists(COMMAND):
        pytest.skip("the command is not built")
    assert tree.run(COMMAND, "help", "--markdown") == tree.read("docs/reference/options.md"), "run `make docs`"
    assert tree.read("docs/use/top.md").endswith(tree.run(COMMAND, "help", "--markdown", "top")), "run `make docs`"


def test_counters_page():
    assert tree.run("scripts/counters-doc.py") == tree.read("docs/reference/counters.md"), "run `make docs`"


def test_stream_schema():
    assert tree.run("scripts/stream-schema.py") == tree.read("docs/reference/stream.schema.json"), "run `make docs`"


def test_memory_page():
    assert tree.run("scripts/memory-doc.py") == tree.read("docs/reference/memory.md"), "run `make docs`"


def test_formats_page():
    assert tree.run("scripts/formats-doc.py") == tree.read("docs/reference/formats.md"), "run `make docs`"


def pages():
    return [f for f in tree.tracked_files() if f.endswith(".md")]


def text_of(page):
    """Without what a page shows as code."""
    text = re.sub(r"^( *)```.*?^\1```", "", tree.read(page), flags=re.M | re.S)
    return re.sub(r"`[^`\n]*`", lambda m: m[0] if "](" not in m[0] else "", text)


def anchors(page):
    """What `page#…` can lead to: GitHub's names of the headings."""
    found = set()
    for heading in re.findall(r"^#{1,6} +(.*?) *$", text_of(page), re.M):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
        name = base = re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")
        number = 0
        while name in found:
            number += 1
            name = f"{base}-{number}"
        found.add(name)
    return found


def broken_links(page):
    for target in re.findall(r"\]\(([^)\s]+)[^)]*\)", text_of(page)):
        if "://" in target:
            continue
        path, _, anchor = target.partition("#")
        file = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
        if not os.path.exists(os.path.join(tree.ROOT, file)):
            yield f"{page}: {target}"
        elif anchor and anchor not in anchors(file):
            yield f"{page}: {target} (no such heading)"


def test_links_lead_somewhere():
    broken = [link for page in pages() for link in broken_links(page)]
    assert not broken, "\n".join(broken)


def test_pages_that_texts_name_exist():
    """`docs/…` in a comment, a message or another page."""
    broken = []
    for path in tree.tracked_files():
        if not path.endswith((".c", ".h", ".def", ".S", ".md", ".py", ".sh", ".java", ".js", ".html", ".mk", "Makefile")):
            continue
        for page in re.findall(r"(?<![\w/.])docs/[\w/.-]+\.(?:md|json|png)\b", tree.read(path)):
            if not os.path.exists(os.path.join(tree.ROOT, page)):
                broken.append(f"{path}: {page}")
    assert not broken, "\n".join(broken)


def test_every_page_is_in_the_index():
    """docs/README.md leads to each page of the three shelves."""
    index = {os.path.normpath(os.path.join("docs", link)) for link in re.findall(r"\]\(([^)#\s]+)", tree.read("docs/README.md"))}
    missing = {page for page in pages() if page.startswith("docs/")} - index - {"docs/README.md"}
    assert not missing, missing


def test_figures_stay_when_nothing_was_measured():
    """`make docs` on a tree without results of its own leaves the page of benchmarks as it is."""
    script = "import run; t = open(run.DOCS).read(); assert run.with_rows(t, {}) == t"
    done = subprocess.run(["/usr/bin/python3", "-c", script], cwd=os.path.join(tree.ROOT, "bench"), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_a_table_names_each_key_once():
    """Of what results hold; a table ends where another line comes."""
    twice, seen = [], set()
    for line in tree.read("docs/reference/json.md").splitlines():
        seen = seen if line.startswith("|") else set()
        keys = set(re.findall(r"`([^`]+)`", line.split("|")[1])) if line.startswith("|") else set()
        twice += keys & seen
        seen |= keys
    assert not twice, twice


def test_files_that_pages_name_exist():
    """`src/room/file.c` in a page is a promise that the file is there."""
    broken = []
    for page in pages():
        if page.startswith("CHANGELOG"):
            continue
        for target in re.findall(r"`((?:src|tests|scripts|bench|demo|web|docs)/[\w./-]+\.\w+)`",
                                 tree.read(page)):
            if not os.path.exists(os.path.join(tree.ROOT, target)):
                broken.append(f"{page}: {target}")
    assert not broken, broken


def test_make_help_lists_every_target():
    text = tree.read("Makefile")
    phony = set(re.search(r"^\.PHONY:(.*)$", text, re.M).group(1).split())
    shown = set(re.findall(r"^  ([a-z-]+) ", tree.run("make", "-s", "help"), re.M))
    assert shown <= phony, shown - phony
    wanted = {"all", "deps", "demo", "check", "soak", "bench", "install", "uninstall", "clean", "help"}
    assert wanted <= shown, wanted - shown


def test_scripts_are_valid_shell():
    for path in tree.tracked_files():
        if path.endswith(".sh") or path == ".ci/run":
            done = subprocess.run(["sh", "-n", path], cwd=tree.ROOT, stderr=subprocess.PIPE, text=True)
            assert done.returncode == 0, done.stderr
            assert os.access(os.path.join(tree.ROOT, path), os.X_OK), f"{path} is not executable"
