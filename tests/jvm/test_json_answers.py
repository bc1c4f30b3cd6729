"""What ps, list, status and version answer with --json, key by key, and whose JVMs ps cannot see."""
import json
import os
import re
import shutil
import subprocess
import time

import jvm
import pytest
from container import Container, permitted
from jvm import Program, jstrobe

pytestmark = pytest.mark.together

ROOT = os.geteuid() == 0
UNPRIVILEGED = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]


def answer(*words):
    done = jstrobe(*words)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["schema"] == 1
    return told


def documented(command):
    """Keys that docs/reference/json.md names for COMMAND."""
    with open(os.path.join(jvm.ROOT, "docs", "reference", "json.md")) as file:
        rows = re.findall(r"^\| (?:(`.*?`) )?\| (`.*?) \|", file.read().split("## Answers of the short commands")[1], re.M)
    keys, of = {}, ""
    for name, cell in rows:
        of = name.strip("`") or of
        keys.setdefault(of, set()).update(re.findall(r"`(\w+)", cell))
    return keys[command]


def test_ps(jdk):
    with Program(jdk, "Sleepers", 1, "idle") as program:
        told = answer("ps", "--json")
        (mine,) = [row for row in told["jvms"] if row["pid"] == program.pid]
        assert mine["main"] == "truth.Sleepers" and mine["uid"] == os.geteuid() and mine["jdk"].startswith(
            "1.8" if jdk.version == 8 else str(jdk.version))
        assert mine["container"] is False and mine["pid_inside"] == program.pid and mine["user"]
        assert [row["pid"] for row in told["jvms"]] == sorted(row["pid"] for row in told["jvms"])
        assert set(told) - {"schema"} == documented("ps")
        assert answer("ps", "-o", "json")["schema"] == 1
        done = jstrobe("ps", "-o", "text")
        assert done.returncode == 2 and "its output is a text, or with --json an object, not text" in done.stderr


@pytest.mark.skipif(not ROOT, reason="needs root to become another user")
def test_ps_of_others(jdk17, tmp_path):
    """Whose they are, how many, and what to do; without a word about processes that are no JVMs."""
    command = str(tmp_path / "jstrobe")
    shutil.copy(jvm.COMMAND, command)
    for folder in (tmp_path, *tmp_path.parents[:2]):
        os.chmod(folder, 0o755)
    other = ["setpriv", "--reuid=54321", "--regid=54321", "--clear-groups"]
    with Program(jdk17, "Sleepers", 1, "idle", wrap=other) as one, Program(jdk17, "Sleepers", 1, "idle", wrap=other) as two, \
            Program(jdk17, "Sleepers", 1, "idle", wrap=UNPRIVILEGED) as own:
        done = subprocess.run([*UNPRIVILEGED, command, "ps"], capture_output=True, text=True)
        assert done.returncode == 0 and f"{own.pid}  " in done.stdout and str(one.pid) not in done.stdout
        assert "jstrobe: 2 JVMs of user 54321: run as root to see them\n" in done.stderr, done.stderr
        told = json.loads(subprocess.run([*UNPRIVILEGED, command, "ps", "--json"], capture_output=True, text=True).stdout)
        unseen = {row["pid"]: row for row in told["unseen"]}
        assert {one.pid, two.pid} <= set(unseen) and own.pid not in unseen and own.pid in {row["pid"] for row in told["jvms"]}
        assert unseen[one.pid]["uid"] == 54321 and unseen[one.pid]["remedy"] == "run as root to see it"
        assert unseen[one.pid]["main"] in ("truth.Sleepers", "?")
        two.stop()
        done = subprocess.run([*UNPRIVILEGED, command, "ps"], capture_output=True, text=True)
        assert "jstrobe: 1 JVM of user 54321: run as root to see it\n" in done.stderr, done.stderr
        assert not json.loads(jstrobe("ps", "--json").stdout)["unseen"]


@pytest.mark.skipif(not ROOT or not permitted("--pid"), reason="needs root for namespaces")
def test_ps_of_containers(jdk17, tmp_path):
    command = str(tmp_path / "jstrobe")
    shutil.copy(jvm.COMMAND, command)
    for folder in (tmp_path, *tmp_path.parents[:2]):
        os.chmod(folder, 0o755)
    with Container(jdk17, namespaces=["--pid"]) as program:
        (row,) = [row for row in answer("ps", "--json")["jvms"] if row["pid"] == program.pid]
        assert row["container"] is True and row["pid_inside"] < program.pid and row["main"] == "truth.Sleepers"
        assert re.search(rf"^ *{program.pid} .* \(in a container, there {row['pid_inside']}\)$", jstrobe("ps").stdout, re.M)
        done = subprocess.run([*UNPRIVILEGED, command, "ps"], capture_output=True, text=True)
        assert re.search(r"^jstrobe: \d+ JVMs? of user root in (a container|containers): run as root to see (it|them)$",
                         done.stderr, re.M), done.stderr


def test_list_and_version(jdk17):
    told = answer("list", "--json")
    text = dict(re.findall(r"^(\S+) +(.*)$", jstrobe("list").stdout, re.M))
    assert all(text[row["name"]] == row["help"] for row in told["events"]) and len(told["events"]) > 20
    assert set(told) - {"schema"} == documented("list") - {"name", "help"}
    with open(os.path.join(jvm.ROOT, "src", "common", "base", "base.h")) as file:
        version = re.search(r'JSTROBE_VERSION "(.*)"', file.read()).group(1)
    assert answer("version", "--json") == {"schema": 1, "version": version}
    with Program(jdk17, "Sleepers", 1, "idle") as program:
        told = answer("list", "--json", program.pid)
        assert told["pid"] == program.pid
        lines = jstrobe("list", program.pid).stdout.splitlines()
        assert len(lines) == len(told["events"])
        for line, row in zip(lines, told["events"]):
            verdict = ("yes" + (", " + row["because"] if row["because"] else "")) if row["available"] else "no: " + row["because"]
            assert re.fullmatch(rf"{re.escape(row['name'])} +{re.escape(row['help'])} +{re.escape(verdict)}", line), (line, row)
        assert answer("version", "--json", program.pid) == {"schema": 1, "version": version, "pid": program.pid, "agent": version}


def test_status(jdk17):
    with Program(jdk17, "KnownShares") as program:
        assert answer("status", "--json", program.pid) == {"schema": 1, "pid": program.pid, "agent": False, "running": False}
        with open(f"/proc/{program.pid}/maps") as maps:
            assert "jstrobe" not in maps.read()
        path = jvm.result_file(".jfr")
        before = time.monotonic_ns()
        assert jstrobe("start", "-e", "cpu@1ms,wall", "-f", path, program.pid).returncode == 0
        since = time.monotonic_ns()
        program.work(0.5)
        at_least = time.monotonic_ns() - since
        told = answer("status", "--json", program.pid)
        at_most = time.monotonic_ns() - before
        assert told["agent"] and told["running"] and told["result"] == path and told["owner_pid"] == 0
        assert [(row["event"], row["interval"], row["unit"]) for row in told["events"]] == [("cpu", 1000000, "cpu"),
                                                                                          ("wall", 50000000, "wall")]
        assert told["events"][0]["threads_perf"] + told["events"][0]["threads_timer"] > 0
        samples = told["samples"]
        assert samples["taken"] >= samples["stored"] > 0 and at_least <= told["running_for_ns"] <= at_most
        assert set(told) - {"schema"} <= documented("status")
        assert jstrobe("stop", program.pid).returncode == 0
        told = answer("status", "--json", program.pid)
        assert told["agent"] and not told["running"] and told["has_result"] and "samples" not in told
        assert jstrobe("start", "--instrument", "truth.KnownShares", program.pid).returncode == 0
        classes = answer("status", "--json", program.pid)["classes"]
        assert classes["matched"] >= 1 and set(classes) == {"matched", "with_probes", "left"}
        assert jstrobe("stop", "-f", "/dev/null", program.pid).returncode == 0
