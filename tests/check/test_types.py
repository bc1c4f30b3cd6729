"""The page's code has no error of type that TypeScript sees: names that are not there, arguments that do not fit."""
import os
import re
import subprocess
import sys

import pytest

from tree import ROOT

sys.path.insert(0, os.path.join(ROOT, "tests", "jvm"))
import viewers  # noqa: E402

OPTIONS = ["--noEmit", "--allowJs", "--checkJs", "--target", "es2022", "--lib", "es2022,dom,dom.iterable",
           "--moduleDetection", "legacy", "--pretty", "false"]


def errors(tool, *files):
    done = subprocess.run(["node", tool, *OPTIONS, *files], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300)
    return [line for line in done.stdout.splitlines() if re.search(r"error TS\d+", line)]


def test_types(tmp_path):
    tool = viewers.fetched("typescript")
    if not tool:
        pytest.skip("TypeScript could not be fetched, or there is no node (scripts/fetch-viewers.sh)")
    web, page = os.path.join(ROOT, "web"), os.path.join(ROOT, "tests", "browser", "page.d.ts")
    files = sorted(os.path.join(web, name) for name in os.listdir(web) if name.endswith(".js"))
    assert len(files) > 15 and errors(tool, page, *files) == []
    # it looks: a name that is not there, and a method that a class has not
    wrong = tmp_path / "wrong.js"
    wrong.write_text("strpi();\nnew Strip().drawAll();\n")
    assert len(errors(tool, page, *files, str(wrong))) == 2
