"""Help is short, each page is of its command, and every option is either taken by a command or refused with a remedy.

All of it is asked of the command as it is built; nothing is attached to: refusals come before, and the pid is no process's.
"""
import itertools
import os
import re
import shlex
import subprocess
from concurrent.futures import ThreadPoolExecutor

import pytest
import tree

COMMAND = os.path.join(tree.OUT, "bin", "jstrobe")
NO_PROCESS = "4999999"
COMMANDS = re.findall(r"^COMMAND\((\w+)", tree.read("src/cli/commands.def"), re.M)
OPTION = re.compile(r"^  (?:-(.), |    )--([a-z_-]+)(?: (\S+))?", re.M)


@pytest.fixture(scope="module", autouse=True)
def built():
    if not os.path.exists(COMMAND):
        pytest.skip("the command is not built")


def run(*words, cwd=None):
    return subprocess.run([COMMAND, *words], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60, cwd=cwd)


def helped(*words):
    done = run("help", *words)
    assert done.returncode == 0 and not done.stderr, (words, done.stderr)
    return done.stdout


@pytest.mark.parametrize("command", COMMANDS)
def test_a_page_is_read_at_a_glance(command):
    page = helped(command)
    lines = page.splitlines()
    assert len(lines) <= 40 and max(map(len, lines)) <= 100, page
    assert lines[0].startswith(f"jstrobe {command}")
    question = next(line for line in lines if not line.startswith("jstrobe"))
    assert question.startswith("  ") and question.endswith("?"), question
    assert len(re.findall(rf"^  (?:sudo |watch )?jstrobe {command}\b", page, re.M)) == 3, page
    assert page.count("\nResult:\n") == 1
    assert run(command, "--help").stdout == page
    every = helped(command, "--all")
    assert max(map(len, every.splitlines())) <= 100
    assert run(command, "--help", "--all").stdout == every
    shown, all_of_them = ({name for _, name, _ in OPTION.findall(text)} for text in (page, every))
    assert len(shown) <= 15 and (len(shown) >= 8 or shown == all_of_them), shown
    assert shown <= all_of_them and ((" --all. " in page) == (shown != all_of_them))


def test_no_two_pages_are_equal():
    pages = {command: helped(command) for command in COMMANDS}
    for one, other in itertools.combinations(COMMANDS, 2):
        assert pages[one] != pages[other], (one, other)
        # nor are they but for their names
        assert pages[one].replace(one, "") != pages[other].replace(other, ""), (one, other)


def test_the_examples_are_understood(tmp_path):
    wrong = []
    for command in COMMANDS:
        for line in re.findall(r"^  (?:sudo |watch )?(jstrobe .*?)(?:  .*)?$", helped(command), re.M):
            words = shlex.split(re.split(r" [|>] ", line)[0])[1:]
            if "--" in words or command == "selftest":
                continue
            words = [NO_PROCESS if word in ("1234", "MyServer") else word.replace("/tmp/", f"{tmp_path}/") for word in words]
            done = run(*words, cwd=tmp_path)
            if done.returncode == 2 or done.returncode == 1 and "No such" not in done.stderr:
                wrong.append(f"{line}: {done.returncode} {done.stderr}")
    assert not wrong, "\n".join(wrong)
    assert not os.listdir(tmp_path)


def options():
    """Name, letter and value of every public option; `help --help` is of help itself."""
    return [(name, letter, value) for letter, name, value in OPTION.findall(helped("options")) if name != "help"]


def takers_of(name):
    """As `jstrobe help --NAME` says."""
    text = re.search(r"^  taken by  (.*(?:\n {12}.*)*)", helped("--" + name), re.M).group(1)
    return set(re.split(r",\s+", text))


def words_of(name, value):
    return ["--" + name, *([] if not value or value.startswith("[") else ["1"])]


def test_every_option_is_explained():
    for name, letter, value in options():
        text = helped("--" + name)
        assert text.splitlines()[0] == (f"-{letter}, " if letter else "") + f"--{name}" + (f" {value}" if value else "")
        assert "\n  agent     " in text and max(map(len, text.splitlines())) <= 100, text
        assert takers_of(name) <= set(COMMANDS), text
        assert text in helped(name) or name in COMMANDS or name in ("events", "formats", "agent"), name
        assert not letter or helped("-" + letter) == text
    assert "from 50us to 100s" in helped("-i") and "10ms" in helped("interval")
    assert helped("jstackdepth") == helped("-j") and "memory for stacks" in helped("framebuf")


def test_what_is_no_topic():
    done = run("help", "--intervl")
    assert done.returncode == 2 and "did you mean --interval?" in done.stderr
    assert "jstrobe help options" in run("help", "--qqqqqqqq").stderr
    assert "did you mean --event?" in run("help", "--evnet").stderr


def test_every_option_is_taken_or_refused(tmp_path):
    """All options, all commands. What help says is what happens, and who is refused is told where it belongs."""
    rows = options()
    assert len(rows) > 100
    takers = {name: takers_of(name) for name, _, _ in rows}
    pairs = [(command, name, value) for command in COMMANDS if command != "help" for name, _, value in rows]

    def one(pair):
        command, name, value = pair
        done = run(command, *words_of(name, value), NO_PROCESS, cwd=tmp_path)  # no session of selftest has that name
        refused = f"jstrobe: {command}: --{name} is not an option of {command}; it belongs to " in done.stderr
        if command in takers[name]:
            return None if not refused else f"{command} --{name}: refused, but taken by {takers[name]}"
        named = set(re.split(r", ", done.stderr.split("it belongs to ")[-1].splitlines()[0])) if refused else set()
        return None if refused and done.returncode == 2 and named == takers[name] and not done.stdout else \
            f"{command} --{name}: {done.returncode} {done.stderr}"

    with ThreadPoolExecutor(4) as pool:
        wrong = [text for text in pool.map(one, pairs) if text]
    assert not wrong, "\n".join(wrong)
    assert not os.listdir(tmp_path)


@pytest.mark.parametrize("words, said", [
    (["status", "--interval", "1ms", NO_PROCESS],
     "status: --interval is not an option of status; it belongs to record, start, resume, stream, top"),
    (["stop", "-i", "1ms", NO_PROCESS], "stop: --interval is not an option of stop; it belongs to record, start"),
    (["--once", NO_PROCESS], "record: --once is not an option of record; it belongs to top"),
    ([NO_PROCESS, "stop", "-d", "1"], "stop: --duration is not an option of stop"),
    (["stop", "-o", "flat,interval=1ms", NO_PROCESS], "stop: --interval is not an option of stop"),
    (["status", "--interval", "nonsense", NO_PROCESS], "status: --interval is not an option of status"),
    (["diff", "-t", "a", "b"], "diff: --threads is not an option of diff; it belongs to record"),
    (["convert", "-d", "10", "in.jfr"], "convert: --duration is not an option of convert; it belongs to record, trace"),
    (["memory", "-d", "3", NO_PROCESS], "memory: -d says how long --watch goes on; add --watch TIME"),
])
def test_what_is_said(words, said):
    done = run(*words)
    assert done.returncode == 2 and said in done.stderr and done.stderr.startswith("jstrobe: "), done.stderr


@pytest.mark.parametrize("name", ["asprof", "profiler.sh"])
def test_async_profilers_callers_are_let_pass(name):
    """At its doors what was taken without effect still is."""
    for words in (["status", "-i", "1ms"], ["stop", "-e", "cpu", "-d", "3", "--all"], ["dump", "-i", "1ms", "--wall"]):
        done = subprocess.run([os.path.join(tree.OUT, "bin", name), *words, NO_PROCESS], capture_output=True, text=True)
        assert done.returncode == 3 and "there is no process" in done.stderr, done.stderr
    done = subprocess.run([os.path.join(tree.OUT, "bin", name), "status", "--from", "1s", NO_PROCESS],
                          capture_output=True, text=True)
    assert done.returncode == 2 and "only 'jstrobe convert' and 'diff' know it" in done.stderr
