"""A result whose name is taken: asked on a terminal, refused elsewhere, before anything is attached to or written.

The JVM is process 4999999, which is none: a command that is refused because of its file never learns that.
tests/jvm/test_present_result.py does the same with sessions.
"""
import os
import pty
import signal
import subprocess

import pytest
import tree

COMMAND = os.path.join(tree.OUT, "bin", "jstrobe")
NO_PROCESS = "4999999"
OLD = "what was there"
ATTACHING = [["record", "-f", "x.html", NO_PROCESS], ["-f", "x.html", NO_PROCESS],
             ["trace", "-f", "x.html", NO_PROCESS, "a.B"], ["start", "-f", "x.html", NO_PROCESS],
             ["resume", "-f", "x.html", NO_PROCESS], ["stream", "-f", "x.html", NO_PROCESS],
             ["record", "--timeout", "9", "-f", "x.html", NO_PROCESS], ["start", "--loop", "9s", "-f", "x.html", NO_PROCESS]]
READING = [["convert", "in.collapsed", "x.html"], ["convert", "in.collapsed", "-f", "x.html"],
           ["diff", "in.collapsed", "in.collapsed", "x.html"], ["convert", "--diff", "in.collapsed", "in.collapsed", "x.html"]]
STARTING = [["record", "-f", "x.html", "--", "touch", "started"], ["stream", "-f", "x.html", "--", "touch", "started"],
            ["trace", "-f", "x.html", "a.B", "--", "touch", "started"]]


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    if not os.path.exists(COMMAND):
        pytest.skip("the command is not built")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x.html").write_text(OLD)
    (tmp_path / "in.collapsed").write_text("a;b 3\na;c 4\n")
    return tmp_path


def run(*words, name="jstrobe"):
    return subprocess.run([os.path.join(tree.OUT, "bin", name), *words], capture_output=True, text=True, timeout=60,
                          stdin=subprocess.DEVNULL)


def on_a_terminal(answer, *words):
    """Exit status, and what the terminal shows, when a person types ANSWER to the question."""
    signal.alarm(120)
    pid, terminal = pty.fork()
    if pid == 0:
        os.execv(COMMAND, ["jstrobe", *words])
    shown = b""
    try:
        while b"[y/N] " not in shown:
            shown += os.read(terminal, 4096)
        os.write(terminal, answer)
        while True:
            shown += os.read(terminal, 4096)
    except OSError:  # the other end is closed
        pass
    os.close(terminal)
    signal.alarm(0)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), shown.decode()


@pytest.mark.parametrize("words", ATTACHING + READING + STARTING, ids=" ".join)
def test_without_a_terminal(words, place):
    done = run(*words)
    assert done.returncode == 2 and not done.stdout, done
    assert done.stderr == ("jstrobe: x.html exists already; say --overwrite to replace it, or -f 'x-%n.html' for the first "
                           "number that is free\n")
    assert (place / "x.html").read_text() == OLD
    assert sorted(os.listdir(place)) == ["in.collapsed", "x.html"]


@pytest.mark.parametrize("words", ATTACHING, ids=" ".join)
def test_the_remedies_of_sessions(words):
    assert run(*words, "--overwrite").returncode == 3
    for name in ("x-%n.html", "y.html", "/dev/null", "-"):
        options = [] if name != "/dev/null" or "stream" in words else ["-o", "html"]
        assert run(*[name if word == "x.html" else word for word in words], *options).returncode in (1, 3), name


@pytest.mark.parametrize("words", READING, ids=" ".join)
def test_the_remedies_of_files(words, place):
    assert run(*words, "--overwrite").returncode == 0
    assert "<html" in (place / "x.html").read_text()
    for number in (1, 2):
        assert run(*[word.replace("x.html", "x-%n.html") for word in words]).returncode == 0
        assert "<html" in (place / f"x-{number}.html").read_text() and not (place / f"x-{number + 1}.html").exists()


def test_names_with_patterns(place):
    """The name as it will be: of the process, and of a loop's first round; rounds whose numbers come again replace."""
    (place / f"x-{os.getpid()}.html").write_text(OLD)
    done = run("record", "-f", "x-%p.html", str(os.getpid()))
    assert done.returncode == 2 and f"x-{os.getpid()}.html exists already" in done.stderr and "-f 'x-%p-%n.html'" in done.stderr
    (place / "y-0.jfr").write_text(OLD)
    assert run("start", "--loop", "1h", "-f", "y-%n.jfr", NO_PROCESS).returncode == 2
    assert run("start", "--loop", "1h", "-f", "y-%n{24}.jfr", NO_PROCESS).returncode == 3
    done = run("record", "-f", ".hidden.html", NO_PROCESS)
    assert done.returncode == 3
    (place / "x").write_text(OLD)
    assert "-f 'x-%n'" in run("record", "-f", "x", NO_PROCESS).stderr


def test_several_files_into_a_folder(place):
    (place / "b.collapsed").write_text("a;b 3\n")
    (place / "b.html").write_text(OLD)
    done = run("convert", "b.collapsed", "in.collapsed", ".")
    assert done.returncode == 2 and "./b.html exists already" in done.stderr
    assert run("convert", "--overwrite", "b.collapsed", "in.collapsed", ".").returncode == 0
    assert "<html" in (place / "b.html").read_text()


@pytest.mark.parametrize("words", ATTACHING + READING, ids=" ".join)
def test_a_person_is_asked(words, place):
    for answer in (b"\n", b"n\n", b"no\n", b"yess\n", b"\x04"):
        status, shown = on_a_terminal(answer, *words)
        assert status == 130 and "x.html exists. Replace it? [y/N] " in shown, shown
        assert "x.html stays as it is; nothing was done" in shown and NO_PROCESS not in shown
        assert (place / "x.html").read_text() == OLD
    assert on_a_terminal(b"\x03", *words)[0] in (130, -2)
    assert (place / "x.html").read_text() == OLD
    status, shown = on_a_terminal(b"y\n", *words)
    if words in READING:
        assert status == 0 and "<html" in (place / "x.html").read_text(), shown
    else:
        assert status == 3 and f"there is no process {NO_PROCESS}" in shown


def test_async_profilers_callers_are_not_asked(place):
    for name in ("asprof", "profiler.sh"):
        assert run("-f", "x.html", NO_PROCESS, name=name).returncode == 3
    assert run("in.collapsed", "x.html", name="jfrconv").returncode == 0
    assert "<html" in (place / "x.html").read_text()


@pytest.mark.parametrize("suffix", ["zip", "gif", "htm1", "pdf"])
def test_a_suffix_without_a_format(suffix, place):
    for words in (["record", "-f", f"y.{suffix}", NO_PROCESS], ["stop", "-f", f"y.{suffix}", NO_PROCESS],
                  ["start", "-f", f"y.{suffix}", NO_PROCESS], ["convert", "in.collapsed", f"y.{suffix}"]):
        done = run(*words)
        assert done.returncode == 2 and suffix in done.stderr, done
        assert "use .html" in done.stderr or "not available yet" in done.stderr
        assert len(done.stderr.splitlines()) == 1 and sorted(os.listdir(place)) == ["in.collapsed", "x.html"]
