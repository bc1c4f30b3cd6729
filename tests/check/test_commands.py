"""Every command line that README and docs show is one that jstrobe understands.

They run here with a pid that no process has, or with files that are not there: what is wrong with a line is said before that, with
exit status 2. tests/jvm/test_readme.py and tests/jvm/test_recipes.py run commands against programs.
"""
import os
import re
import shlex
import subprocess

import pytest
import tree

COMMAND = os.path.join(tree.OUT, "bin", "jstrobe")
NO_PROCESS = "4999999"
PIDS = {"1234", "26461", "PID", "$PID", "PID|NAME"}
WITH_PROCESS = {"record", "start", "stop", "dump", "resume", "status", "stream", "top", "metrics", "memory", "trace", "doctor", "clean", "list"}
WITH_FILES = {"convert", "diff", "explain"}


def shown():
    """(page, words) of the command lines in blocks of shell text."""
    for page in tree.tracked_files():
        if not page.endswith(".md") or page.startswith(("CHANGELOG", "bench/")):
            continue
        for block in re.findall(r"^```sh\n(.*?)^```$", tree.read(page), re.M | re.S):
            for line in block.replace("\\\n", " ").split("\n"):
                for part in re.split(r"&&|(?<![\w'])\||;(?=\s)", re.split(r"\s# ", line + " ")[0]):
                    words = re.sub(r"…|\[options\]", "", part).split("#")[0].strip()
                    if re.match(r"(build/bin/|/opt/jstrobe/bin/)?jstrobe ", words):
                        yield page, shlex.split(words)[1:]


def runnable():
    for page, words in shown():
        if "--" in words or not words:
            continue
        if words[0] in WITH_PROCESS and PIDS & set(words):
            yield page, [NO_PROCESS if word in PIDS else word for word in words]
        elif words[0] in WITH_FILES:
            yield page, words


def test_there_are_many():
    lines = list(runnable())
    assert len(lines) > 50 and {"README.md", "docs/use/locks.md", "docs/use/convert.md"} <= {page for page, _ in lines}


def test_commands_are_understood(tmp_path):
    if not os.path.exists(COMMAND):
        pytest.skip("the command is not built")
    wrong = []
    for page, words in runnable():
        words = [word.replace("/tmp/prof", str(tmp_path)) for word in words]
        done = subprocess.run([COMMAND, *words], cwd=tmp_path, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=30)
        said = done.stderr.strip()
        reached = done.returncode == 3 if words[0] in WITH_PROCESS else done.returncode == 1 and "No such file" in said
        if not reached and not (words[0] == "clean" and done.returncode != 2):
            wrong.append(f"{page}: jstrobe {' '.join(words)}: {done.returncode}: {said}")
    assert not wrong, "\n".join(wrong)
    assert not os.listdir(tmp_path)
