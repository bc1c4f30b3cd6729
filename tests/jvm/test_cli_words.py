"""What the command says without a JVM: help, docs, versions, wrong usage."""
import os
import re
import shutil
import subprocess

import jvm
import pytest
from jvm import jstrobe

pytestmark = pytest.mark.together

COMMANDS = ["record", "start", "stop", "dump", "resume", "status", "convert", "ps", "list", "version", "help", "selftest"]


def test_help_names_all_commands():
    for call in (["help"], ["--help"], ["-h"]):
        done = jstrobe(*call)
        assert done.returncode == 0 and not done.stderr
        for command in COMMANDS:
            assert re.search(rf"^  {command} ", done.stdout, re.M), command


def test_no_arguments_is_wrong_usage():
    done = jstrobe()
    assert done.returncode == 2 and "Usage" in done.stdout


@pytest.mark.parametrize("topic", COMMANDS + ["options", "events", "formats", "families", "words", "agent", "recipes", "problems"])
def test_help_topics(topic):
    done = jstrobe("help", topic)
    assert done.returncode == 0 and len(done.stdout) > 50, done.stderr
    if topic in COMMANDS:
        assert jstrobe(topic, "--help").stdout == done.stdout


def test_help_shows_what_can_be_used_and_no_more():
    text = jstrobe("help", "options").stdout
    for option in ("-e, --event", "-i, --interval", "-d, --duration", "-f, --file", "-o, --output",
                   "-t, --threads", "--total", "-j, --jstackdepth", "--lines", "-q, --quiet",
                   "--verbose", "-v, --version", "--attach-timeout"):
        assert option in text
    for hidden in ("queuesize", "collector-hold", "--proc", "token", "connect"):
        assert hidden not in text


def test_unknown_topic():
    done = jstrobe("help", "recrod")
    assert done.returncode == 2 and "did you mean record?" in done.stderr


def test_the_page_of_options_is_the_table():
    with open(os.path.join(jvm.ROOT, "docs", "reference", "options.md")) as file:
        assert file.read() == jstrobe("help", "--markdown").stdout, \
            "run: build/bin/jstrobe help --markdown > docs/reference/options.md"


def test_versions():
    with open(os.path.join(jvm.ROOT, "src", "common", "base", "base.h")) as file:
        version = re.search(r'JSTROBE_VERSION "(.*)"', file.read()).group(1)
    assert jstrobe("version").stdout == f"jstrobe {version}\n"
    assert jstrobe("-v").stdout == jstrobe("--version").stdout == version + "\n"


def test_list_shows_the_events():
    words = [line.split()[0] for line in jstrobe("list").stdout.splitlines()]
    assert words[:6] == ["cpu", "ctimer", "itimer", "wall", "periodic", "lock"]
    assert {"page-faults", "context-switches", "cycles"} <= set(words)
    assert {"nativelock", "nativemem"} <= set(words) and "tlab" not in words


def test_list_says_what_is_not_permitted(tmp_path):
    """As a user who may not profile the kernel; the list itself stays one word a line."""
    with open("/proc/sys/kernel/perf_event_paranoid") as file:
        if os.geteuid() != 0 or int(file.read()) < 2:
            pytest.skip("needs root, and a kernel that lets root alone profile it")
    unprivileged = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    command = str(tmp_path / "jstrobe")
    shutil.copy(jvm.COMMAND, command)
    for folder in (tmp_path, *tmp_path.parents[:2]):
        os.chmod(folder, 0o755)
    done = subprocess.run([*unprivileged, command, "list"], capture_output=True, text=True)
    assert done.stdout == jstrobe("list").stdout
    assert "cpu: for you: no permission for kernel profiling" in done.stderr
    assert "no permission" not in jstrobe("list").stderr


@pytest.mark.parametrize("args, words", [
    (["--threds", "1"], ["unknown option: --threds", "did you mean --threads?"]),
    (["recrod", "1"], ["unknown command: recrod", "did you mean record?"]),
    (["report", "x.jfr"], ["unknown command: report", "jstrobe convert FILE"]),
    (["-i", "0", "1"], ["-i: 0 is out of range", "50us to 100s"]),
    (["-i", "-1ms", "1"], ["-i: -1ms is out of range"]),
    (["-i", "1000000h", "1"], ["-i: '1000000h' is not a time"]),
    (["-i", "10", "1"], ["interval: 10ns is out of range for cpu", "50us to 100s"]),
    (["-d", "x", "1"], ["-d: 'x' is not a time"]),
    (["-j", "0", "1"], ["-j: 0 is out of range"]),
    (["--proc", "1"], ["not available yet: --proc"]),
    (["-o", "colapsed", "1"], ["unknown output format: colapsed", "collapsed?"]),
    (["record"], ["which JVM?"]),
    (["stop"], ["which JVM?"]),
    (["record", "1", "2"], ["one JVM at a time"]),
    (["record", "--"], ["nothing follows --"]),
    (["record", "1", "--", "java"], ["either a JVM ('1') or a program"]),
    (["ps", "1"], ["no arguments"]),
    (["-f"], ["-f needs a value: FILE"]),
])
def test_wrong_usage(args, words):
    done = jstrobe(*args)
    assert done.returncode == 2, (done.returncode, done.stderr)
    assert not done.stdout
    for word in words:
        assert word in done.stderr
    assert done.stderr.startswith("jstrobe: ")


@pytest.mark.parametrize("command", ["memory", "doctor", "selftest"])
def test_help_of_output_is_of_the_command(command):
    help_text = jstrobe("help", command).stdout
    assert "collapsed" not in help_text and "--output FORMAT        json, as --json does" in help_text
    assert ("with --watch" in help_text) == (command == "memory")
