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
    assert tree.run(COMMAND, "help", "--markdown") == tree.read("docs/options.md"), "run `make docs`"


def test_counters_page():
    assert tree.run("scripts/counters-doc.py") == tree.read("docs/counters.md"), "run `make docs`"


def pages():
    return [f for f in tree.tracked_files() if f.endswith(".md")]


def test_links_lead_somewhere():
    broken = []
    for page in pages():
        for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", tree.read(page)):
            if "://" not in target and not os.path.exists(
                    os.path.join(tree.ROOT, os.path.dirname(page), target)):
                broken.append(f"{page}: {target}")
    assert not broken, broken


def test_a_table_names_each_key_once():
    """Of what results hold; a table ends where another line comes."""
    twice, seen = [], set()
    for line in tree.read("docs/json.md").splitlines():
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
