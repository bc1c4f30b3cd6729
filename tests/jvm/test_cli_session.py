"""Sessions that outlive their command: start, status, dump, stop, resume; names; ps."""
import json
import os
import re
import signal
import subprocess
import time

import jvm
import pytest
from jvm import Program, jstrobe
from litter import left_since, litter

pytestmark = pytest.mark.together


def samples_of(text):
    """Sum of a collapsed result."""
    return sum(int(line.rsplit(" ", 1)[1]) for line in text.splitlines())


def test_start_status_dump_stop(jdk):
    with Program(jdk, "KnownShares") as program:
        assert jstrobe("status", program.pid).stdout == "Profiler is not active\n"
        done = jstrobe("start", "-i", "1ms", program.pid)
        assert done.returncode == 0 and not done.stdout
        program.work(0.4)
        status = jstrobe("status", program.pid).stdout
        assert re.match(r"Profiling is running for \d+ seconds", status), status
        assert "0 lost" in status and " 1 ms " in status
        first = jstrobe("dump", "-o", "collapsed", program.pid)
        assert first.returncode == 0 and samples_of(first.stdout) > 20
        assert "samples taken" in first.stderr, "the loss line"
        program.work(0.2)
        last = jstrobe("stop", "-o", "collapsed", program.pid)
        assert last.returncode == 0 and samples_of(last.stdout) > samples_of(first.stdout)
        assert "not active" in jstrobe("status", program.pid).stdout
        # what was gathered can still be had
        assert jstrobe("dump", "-o", "collapsed", program.pid).stdout == last.stdout


def test_stop_without_start(jdk17):
    with Program(jdk17, "Sleepers", 1, "idle") as program:
        for command in ("stop", "dump"):
            done = jstrobe(command, program.pid)
            assert done.returncode == 1 and not done.stdout
            assert "no session runs" in done.stderr and "jstrobe start" in done.stderr
        assert jstrobe("record", "-d", "0.2", program.pid).returncode == 0
        done = jstrobe("stop", program.pid)
        assert done.returncode == 1 and "no session runs" in done.stderr
        assert program.alive()


def test_two_sessions_at_once(jdk17):
    with Program(jdk17, "KnownShares") as program:
        assert jstrobe("start", program.pid).returncode == 0
        for second in (["start"], ["record", "-d", "0.2"]):
            done = jstrobe(*second, program.pid)
            assert done.returncode == 1 and not done.stdout, done.stderr
            assert "already" in done.stderr and "stop" in done.stderr
        assert jstrobe("stop", program.pid).returncode == 0


def test_record_owns_its_session(jdk17):
    """Others may look at it, but neither stop it nor start a second one."""
    path = jvm.result_file()
    with Program(jdk17, "KnownShares") as program:
        running = subprocess.Popen([jvm.COMMAND, "record", "-d", "120", "-i", "1ms", "-f", path, str(program.pid)])
        end = time.time() + 30
        while f"pid {running.pid}" not in jstrobe("status", program.pid).stdout:
            assert time.time() < end
        program.work(0.1)
        for other in ("stop", "start"):
            done = jstrobe(other, program.pid)
            assert done.returncode == 1 and f"pid {running.pid}" in done.stderr
        assert samples_of(jstrobe("dump", "-o", "collapsed", program.pid).stdout) > 0
        running.send_signal(signal.SIGINT)  # ends it early, with its result
        assert running.wait(timeout=60) == 0
    assert jvm.Profile(path).samples["stored"] > 10
    os.remove(path)


def test_the_result_goes_where_start_said(jdk17):
    path = jvm.result_file(".collapsed")
    with Program(jdk17, "KnownShares") as program:
        assert jstrobe("start", "-f", path, program.pid).returncode == 0
        assert path in jstrobe("status", program.pid).stdout
        program.work(0.4)
        assert not os.path.exists(path)
        done = jstrobe("stop", program.pid)
        assert done.returncode == 0 and not done.stdout, done.stderr
        assert oct(os.stat(path).st_mode & 0o777) == "0o600"
        with open(path) as file:
            assert samples_of(file.read()) > 10
    os.remove(path)


def test_stop_with_a_place_of_its_own(jdk17):
    first, second = jvm.result_file(".collapsed"), jvm.result_file()
    with Program(jdk17, "KnownShares") as program:
        assert jstrobe("start", "-f", first, program.pid).returncode == 0
        program.work(0.1)
        assert jstrobe("stop", "-f", second, program.pid).returncode == 0
        assert program.stop() == 0
    assert not os.path.exists(first)
    jvm.Profile(second).check()
    os.remove(second)


def test_the_owed_result_is_written_when_the_jvm_ends(jdk):
    path = jvm.result_file()
    with Program(jdk, "KnownShares") as program:
        assert jstrobe("start", "-i", "1ms", "-f", path, program.pid).returncode == 0
        program.work(0.3)
        assert program.stop() == 0
    profile = jvm.Profile(path)
    profile.check()
    assert profile.samples["stored"] > 20
    os.remove(path)


def test_resume_keeps_what_was_gathered(jdk17):
    with Program(jdk17, "KnownShares") as program:
        assert jstrobe("start", "-i", "1ms", program.pid).returncode == 0
        program.work(0.3)
        first = samples_of(jstrobe("stop", "-o", "collapsed", program.pid).stdout)
        assert jstrobe("resume", "-i", "1ms", program.pid).returncode == 0
        program.work(0.3)
        assert samples_of(jstrobe("stop", "-o", "collapsed", program.pid).stdout) > first + 100
        path = jvm.result_file()
        assert jstrobe("dump", "-t", "-o", "json", "-f", path, program.pid).returncode == 0
    threads = [t["tid"] for t in jvm.Profile(path).json["threads"]]
    os.remove(path)
    assert threads and len(threads) == len(set(threads)), "a thread is in the list twice"


def test_start_options_hold_at_stop(jdk17):
    """-t and --total of start need not be said again; -o may be."""
    with Program(jdk17, "OneChain") as program:
        assert jstrobe("start", "-t", "--total", "-o", "collapsed", "-i", "1ms",
                       program.pid).returncode == 0
        program.work(0.3)
        text = jstrobe("stop", program.pid).stdout
    assert any(line.startswith("[chain") or line.startswith("chain") for line in text.splitlines())
    assert samples_of(text) > 1_000_000, "nanoseconds"


# ---- the launcher's grammar --------------------------------------------------------------

def test_launcher_style(jdk17):
    """Options and a pid are a recording; an action comes first, the pid last."""
    asprof = os.path.join(os.path.dirname(jvm.COMMAND), "asprof")
    path = jvm.result_file(".collapsed")

    def run(*args):
        return subprocess.run([asprof, *map(str, args)], capture_output=True, text=True, timeout=60)

    with Program(jdk17, "KnownShares") as program:
        assert run("-e", "cpu", "-d", "1", "-i", "1ms", "-f", path, program.pid).returncode == 0
        with open(path) as file:
            assert samples_of(file.read()) > 20
        os.remove(path)
        assert run("collect", "-d", "0.2", "-o", "collapsed", program.pid).returncode == 0
        assert run("start", "-e", "ctimer", "-i", "1000000", program.pid).returncode == 0
        assert "is running" in run("status", program.pid).stdout
        program.work(0.2)
        assert samples_of(run("dump", "-o", "collapsed", program.pid).stdout) > 10
        assert "truth.KnownShares" in run("stop", "-o", "flat=5,traces=2", program.pid).stdout
        assert "cpu" in run("list", program.pid).stdout
        assert run("-d", "0.2", "-e", "itimer", "-o", "flat", program.pid).returncode == 0


# ---- finding JVMs --------------------------------------------------------------------------

def named(*names):
    """Classes of these names in package names, each the same as truth.Sleepers; their class path."""
    folder = os.path.join(jvm.OWN, "names")
    os.makedirs(folder, exist_ok=True)
    sources = []
    for name in names:
        sources.append(os.path.join(folder, name + ".java"))
        with open(sources[-1], "w") as file:
            file.write(f"package names; public class {name} {{ public static void main(String[] a)"
                       " throws Exception { truth.Sleepers.main(a); } }")
    subprocess.run([os.path.join(jvm.compiler(), "bin", "javac"), "--release", "8", "-nowarn",
                    "-Xlint:-options", "-cp", jvm.CLASSES, "-d", folder, *sources], check=True)
    return f"{folder}:{jvm.CLASSES}"


def test_ps_and_names(jdk):
    """By class with and without package, by a part; several are named in the error."""
    one, two = f"One{os.getpid()}x", f"Two{os.getpid()}x"
    path = named(one, two)

    def run(name, options=()):
        return Program(jdk, name, 1, "idle", main="names." + name, classpath=path, jvm=options)

    with run(one) as a, run(one) as b, run(two, ["--add-modules", "java.sql"]) as c:
        listed = {int(line.split()[0]): line.split() for line in
                  jstrobe("ps").stdout.splitlines()[1:]}
        for program, main in ((a, one), (b, one), (c, two)):
            pid, user, version, name = listed[program.pid][:4]
            assert name == "names." + main and version.split(".")[0] == str(jdk.version)
        done = jstrobe("record", "-d", "0.1", one)
        assert done.returncode == 3
        assert str(a.pid) in done.stderr and str(b.pid) in done.stderr, done.stderr
        for name in ("names." + two, two, "es." + two[:-1]):
            assert jstrobe("status", name).returncode == 0, name


def test_version_and_list_of_an_agent(jdk17):
    with Program(jdk17, "Sleepers", 1, "idle") as program:
        assert jstrobe("version", program.pid).stdout.strip() == jstrobe("-v").stdout.strip()
        assert "ctimer" in jstrobe("list", program.pid).stdout


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root for namespaces")
def test_jvm_in_a_pid_namespace(jdk17):
    """The process calls itself 1; its files are found through /proc/PID/root."""
    before = litter()
    away = ["unshare", "-p", "-f", "--kill-child", "--mount-proc"]
    with Program(jdk17, "KnownShares", wrap=away) as program:
        with open(f"/proc/{program.pid}/task/{program.pid}/children") as file:
            child = int(file.read().split()[0])
        path = jvm.result_file()
        done = jstrobe("record", "-d", "0.5", "-i", "1ms", "-f", path, child)
        assert done.returncode == 0, done.stderr
        assert ".java_pid1" in os.listdir("/tmp")
        assert not left_since(before)
        assert program.stop() == 0
    with open(path) as file:
        assert json.load(file)["samples"]["stored"] > 50
    os.remove(path)
