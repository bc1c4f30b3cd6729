"""What is asked for is served and said, or refused with what to do; nothing of it is ignored in silence."""
import os
import re
import signal
import subprocess
import time

import jvm
import pytest
from jvm import Program, jstrobe, wait_until

pytestmark = pytest.mark.together


def losses(text):
    """{event: what its line says}; of a single event "" is the key."""
    return {event: line for event, line in re.findall(r"^jstrobe: (?:([\w-]+): )?([\d,]+ (?:samples?|turns?) .*)$", text, re.M)}


# ---- what follows a session ---------------------------------------------------------------

@pytest.mark.parametrize("events, suffix", [("cpu,wall", ".jfr"), ("wall,cpu", ".html"), ("cpu", ".json"), ("cpu,page-faults", ".collapsed")])
def test_each_event_and_the_file_are_said_without_a_terminal(jdk, events, suffix):
    path = jvm.result_file(suffix)
    with Program(jdk, "KnownShares") as program:
        done = jstrobe("record", "-e", events, "-d", "0.5", "-f", path, program.pid)
        assert done.returncode == 0 and not done.stdout, done.stderr
        names = events.split(",")
        assert list(losses(done.stderr)) == (names if len(names) > 1 else [""]), done.stderr
        assert done.stderr.endswith(f"jstrobe: result: {path}\n")
        # once more: there is a file now
        done = jstrobe("record", "-e", events, "-d", "0.2", "-f", path, program.pid)
        assert done.returncode == 0 and f"result: {path}, in place of the file that was there" in done.stderr
        done = jstrobe("record", "-q", "-e", events, "-d", "0.2", "-f", path, program.pid)
        assert done.returncode == 0 and not done.stderr
    os.remove(path)


def test_start_stop_and_dump_say_the_same(jdk17):
    path, copy = jvm.result_file(".jfr"), jvm.result_file(".html")
    with Program(jdk17, "KnownShares") as program:
        assert jstrobe("start", "-e", "cpu,wall", "-f", path, program.pid).returncode == 0
        program.work(0.2)
        done = jstrobe("dump", "-f", copy, program.pid)
        assert done.returncode == 0 and list(losses(done.stderr)) == ["cpu", "wall"] and f"result: {copy}" in done.stderr
        done = jstrobe("stop", program.pid)
        assert done.returncode == 0 and list(losses(done.stderr)) == ["cpu", "wall"] and f"result: {path}" in done.stderr
    os.remove(path)
    os.remove(copy)


# ---- suffixes -----------------------------------------------------------------------------

@pytest.mark.parametrize("name", ["x.gif", "x.html.gz", "x.pdf", "app.jar"])
@pytest.mark.parametrize("command", ["record", "start", "dump", "trace", "agent", "convert"])
def test_a_suffix_that_no_format_has_is_refused(jdk17, tmp_path, command, name):
    path = tmp_path / name
    if command == "convert":
        text = tmp_path / "in.collapsed"
        text.write_text("a;b 1\n")
        done = jstrobe("convert", text, path)
        assert done.returncode == 2, done.stderr
    elif command == "agent":
        agent = f"-agentpath:{jvm.LIBRARY}=start,event=cpu,strict,file={path}"
        done = subprocess.run([jdk17.java, agent, "-version"], capture_output=True, text=True)
        assert done.returncode != 0
    else:
        with Program(jdk17, "KnownShares") as program:
            words = ["truth.KnownShares"] if command == "trace" else []
            done = jstrobe(command, "-f", path, program.pid, *words)
            assert done.returncode == 2, done.stderr
            with open(f"/proc/{program.pid}/maps") as maps:
                assert "libjstrobe" not in maps.read(), "refused before anything is done"
    assert name in done.stderr + done.stdout and "-o FORMAT" in done.stderr + done.stdout, done.stderr
    assert not path.exists()


@pytest.mark.parametrize("name, begins", [("x.log", "---"), ("x", "---"), ("x.1", "---"), ("x.flat", "---"), ("x.hot", "CPU profile")])
def test_suffixes_that_are_text(jdk17, tmp_path, name, begins):
    with Program(jdk17, "KnownShares") as program:
        done = jstrobe("record", "-d", "0.2", "-f", tmp_path / name, program.pid)
        assert done.returncode == 0, done.stderr
        done = jstrobe("record", "-d", "0.2", "-o", "json", "-f", tmp_path / "x.svg", program.pid)
        assert done.returncode == 0, "a format that was asked for wins"
    text = (tmp_path / name).read_text()
    assert text.startswith(begins) or ("\n" + begins) in text  # findings stand in front
    assert (tmp_path / "x.svg").read_text().startswith("{")


# ---- threads and lines on the terminal ----------------------------------------------------

@pytest.mark.parametrize("output", ["hot", "flat"])
def test_threads_are_told_apart_in_sums(jdk, output):
    with Program(jdk, "KnownShares") as program:
        tids = {tid for tid, name in program.threads().items()}
        apart = jstrobe("record", "-t", "-i", "1ms", "-d", "1", "-o", output, program.pid)
        together = jstrobe("record", "-i", "1ms", "-d", "0.3", "-o", output, program.pid)
        more = jstrobe("record", "-t", "-e", "wall", "--idle", "-d", "0.5", "-o", output, program.pid)
    assert apart.returncode == together.returncode == more.returncode == 0, apart.stderr
    row = re.compile(r"^ *([\d.]+)% +\S.*\[(.+) tid=(\d+)\]  (\S.*) \((\d+)% of it\)$", re.M)
    found = row.findall(apart.stdout)
    assert found and {int(tid) for _, _, tid, _, _ in found} <= tids | {int(t) for _, _, t, _, _ in found}
    shares = [float(share) for share, *_ in found]
    assert shares == sorted(shares, reverse=True) and 99 <= sum(shares) <= 100.1, found
    assert found[0][3].startswith("truth.") and 0 < int(found[0][4]) <= 100
    assert not row.search(together.stdout)
    assert len(row.findall(more.stdout)) > len(found), "more threads wait than run"


def test_lines_on_the_terminal(jdk17):
    with Program(jdk17, "KnownShares") as program:
        done = jstrobe("record", "--lines", "-i", "1ms", "-d", "0.5", program.pid)
    assert done.returncode == 0 and re.search(r"truth\.KnownShares\.\w+:\d+", done.stdout), done.stdout


# ---- patterns that match nothing ----------------------------------------------------------

@pytest.mark.parametrize("suffix", [".collapsed", ".html", ".txt", ".jfr", None])
@pytest.mark.parametrize("option, pattern", [("-I", "*NoSuchMethod*"), ("-X", "*")])
def test_patterns_that_leave_nothing_are_a_failure(jdk17, suffix, option, pattern):
    path = suffix and jvm.result_file(suffix)
    place = ("-f", path) if path else ()
    with Program(jdk17, "KnownShares") as program:
        done = jstrobe("record", "-d", "0.5", *place, option, pattern, program.pid)
        assert done.returncode == 1 and "nothing is left of" in done.stderr, done.stderr
        assert ("--include" if option == "-I" else "--exclude") in done.stderr
        assert not path or os.path.exists(path), "the result is there all the same"
        done = jstrobe("record", "-d", "0.5", *place, "-I", "*KnownShares*", program.pid)
        assert done.returncode == 0 and "nothing is left" not in done.stderr, done.stderr
    if path:
        os.remove(path)


@pytest.mark.parametrize("option, pattern", [("-I", "*NoSuchMethod*"), ("-X", "*")])
def test_patterns_of_a_start_are_not_called_those_of_a_stop(jdk, option, pattern):
    """Who stops a session that another command's patterns leave nothing of is told whose they are."""
    with Program(jdk, "KnownShares") as program:
        assert jstrobe("start", "-e", "wall", option, pattern, program.pid).returncode == 0
        program.work(0.3)
        for command in ("dump", "stop"):
            said = jstrobe(command, "-o", "collapsed", program.pid).stderr
            assert "what the session's start said" in said and "nothing is left of" in said, said
            assert "--include" not in said and "--exclude" not in said, said
            stored, of = (int(re.search(words, said)[1].replace(",", "")) for words in
                          (r"([\d,]+)(?: samples taken, all)? stored", r"left of ([\d,]+) samples"))
            assert stored <= 1.5 * of + 50, said
        assert program.stop() == 0


@pytest.mark.parametrize("command", ["ps", "status", "list", "metrics", "version", "help"])
def test_answers_that_do_not_come_out_are_a_failure(jdk17, command):
    """A disk that is full: the exit status says that the answer is not whole. A reader who leaves early is no failure."""
    with Program(jdk17, "KnownShares") as program:
        words = [jvm.COMMAND, command] + ([] if command in ("ps", "version", "help") else [str(program.pid)])
        if command in ("status", "metrics"):
            assert jstrobe("start", program.pid).returncode == 0
        with open("/dev/full", "w") as full:
            done = subprocess.run(words, stdout=full, stderr=subprocess.PIPE, text=True)
        assert done.returncode == 1 and "No space left on device" in done.stderr, (done.returncode, done.stderr)
        assert subprocess.run(words, stdout=subprocess.DEVNULL).returncode == 0


def test_convert_says_so_as_well(tmp_path):
    text = tmp_path / "x.collapsed"
    text.write_text("a;b 1\na;c 2\n")
    for words, status in ((("-I", "nope"), 1), (("-X", "*"), 1), (("-I", "b"), 0), ((), 0)):
        done = jstrobe("convert", text, "-o", "collapsed", *words)
        assert done.returncode == status and ("nothing is left of 3 samples" in done.stderr) == (status == 1), done.stderr


@pytest.mark.parametrize("patterns, status, says", [
    (["no.such.Class"], 1, "matches no.such.Class;"), (["no.Such", "@No"], 1, "matches no.Such, @No;"),
    (["truth.KnownShares.alpha"], 0, None), (["truth.KnownShares.alpha", "no.Such.method"], 0, "no method matches no.Such.method")])
def test_patterns_of_a_trace(jdk, patterns, status, says):
    path = jvm.result_file()
    with Program(jdk, "KnownShares") as program:
        done = jstrobe("trace", "-d", "0.5", "-f", path, program.pid, *patterns)
    assert done.returncode == status, done.stderr
    assert says in done.stderr if says else "no method" not in done.stderr, done.stderr
    assert os.path.exists(path)
    os.remove(path)


# ---- Ctrl-C -------------------------------------------------------------------------------

@pytest.mark.parametrize("sig, again", [(signal.SIGINT, False), (signal.SIGTERM, False), (signal.SIGINT, True)])
def test_a_signal_while_the_result_is_being_written(jdk, sig, again):
    """Its time was over when the signal came: the result comes all the same; the signal once more ends without it."""
    path = jvm.result_file()
    with Program(jdk, "KnownShares") as program:
        running = subprocess.Popen([jvm.COMMAND, "record", "-d", "4", "-f", path, str(program.pid)],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        wait_until(lambda: "is running" in jstrobe("status", program.pid).stdout)
        time.sleep(2)  # the command has heard so, too
        os.kill(program.pid, signal.SIGSTOP)  # it cannot answer: the command waits for the result
        time.sleep(3)
        assert running.poll() is None
        running.send_signal(sig)
        time.sleep(0.3)
        assert running.poll() is None, running.stderr.read()
        if again:
            running.send_signal(sig)
            _, said = running.communicate(timeout=20)
            assert running.returncode == 130 and "without a result" in said
            assert not os.path.exists(path)
        os.kill(program.pid, signal.SIGCONT)
        if not again:
            _, said = running.communicate(timeout=20)
            assert running.returncode == 0, said
            assert "once more ends without it" in said
            jvm.Profile(path).check()
            os.remove(path)
        assert program.alive()
