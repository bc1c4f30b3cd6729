"""What takes over a second is told on a terminal, and Ctrl-C keeps what there is: conversions of large files.

tests/jvm/test_told_progress.py has what is told of sessions.
"""
import os
import pty
import random
import re
import signal
import subprocess
import time

import pytest
import tree

COMMAND = os.path.join(tree.OUT, "bin", "jstrobe")
LINES = 200000


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """A file that takes some seconds to read."""
    if not os.path.exists(COMMAND):
        pytest.skip("the command is not built")
    chosen = random.Random(7)
    path = tmp_path_factory.mktemp("large") / "large.collapsed"
    block = "".join(f"a{chosen.randrange(40)};b{chosen.randrange(40)};c{chosen.randrange(40)} {chosen.randrange(9) + 1}\n"
                    for _ in range(LINES))
    with open(path, "w") as file:
        for _ in range(60):
            file.write(block)
    return str(path)


def on_a_terminal(words, interrupt=None):
    """Exit status and all that is shown; INTERRUPT: Ctrl-C when that is shown."""
    signal.alarm(240)
    pid, terminal = pty.fork()
    if pid == 0:
        os.execv(COMMAND, ["jstrobe", *words])
    shown = ""
    try:
        while True:
            shown += os.read(terminal, 4096).decode()
            if interrupt and re.search(interrupt, shown):
                os.write(terminal, b"\x03")
                interrupt = None
    except OSError:  # its end is closed
        pass
    os.close(terminal)
    signal.alarm(0)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), shown


def test_reading_is_told_and_can_be_stopped(large, tmp_path):
    out = tmp_path / "part.collapsed"
    status, shown = on_a_terminal(["convert", large, str(out)], interrupt=r"\d %.*reading")
    bars = re.findall(r"\r\x1b\[K\[(#*)(\.*)\] +(\d+) % reading large\.collapsed: (\d+) of (\d+) MB", shown)
    assert bars and all(len(done) + len(left) == 20 and abs(len(done) * 5 - int(percent)) <= 5
                        for done, left, percent, _, _ in bars), shown[-500:]
    assert status == 130 and re.search(r"large\.collapsed: stopped at \d+ MB of \d+ MB; the result is of what was read", shown)
    part = sum(int(line.rsplit(" ", 1)[1]) for line in out.read_text().splitlines())
    assert 0 < part < 60 * LINES * 5 * 0.9, "less than the whole, and not nothing"
    assert os.listdir(tmp_path) == ["part.collapsed"]


def test_two_parts_are_not_compared(large, tmp_path):
    out = tmp_path / "diff.html"
    status, shown = on_a_terminal(["diff", large, large, str(out)], interrupt=r"\d %.*reading")
    assert status == 130 and "interrupted; there is no result" in shown and not os.listdir(tmp_path)


def test_without_a_terminal_nothing_is_told(large, tmp_path):
    process = subprocess.Popen([COMMAND, "convert", large, str(tmp_path / "x.collapsed")], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
    time.sleep(1.5)
    process.send_signal(signal.SIGINT)
    out, said = process.communicate(timeout=120)
    assert not out and "%" not in said and "\x1b" not in said
    assert process.returncode in (0, 130) and (process.returncode == 0) == (not said), said
    assert os.listdir(tmp_path) == ["x.collapsed"]


def test_a_small_file_is_told_nothing_of(tmp_path):
    (tmp_path / "a.collapsed").write_text("a;b 1\n")
    status, shown = on_a_terminal(["convert", str(tmp_path / "a.collapsed"), str(tmp_path / "b.collapsed")])
    assert status == 0 and shown == ""
