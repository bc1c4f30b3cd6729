"""record on a running JVM: where the result goes, and all the ways in which it can end."""
import json
import os
import pty
import re
import signal
import subprocess
import time

import jvm
import pytest
from jvm import Program, jstrobe, wait_until
from litter import left_since, litter, remove_dead

pytestmark = pytest.mark.together

FORMATS = {".html": "<!DOCTYPE html", ".json": "{", ".collapsed": "", ".txt": "---", ".folded": ""}


def begin(program, *args, **more):
    return subprocess.Popen([jvm.COMMAND, "record", *map(str, args), str(program.pid)],
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more)


def sampling(program, timeout=10):
    """Wait until a session runs."""
    wait_until(lambda: "is running" in jstrobe("status", program.pid).stdout, timeout)


def not_sampling(program, timeout):
    wait_until(lambda: "is running" not in jstrobe("status", program.pid).stdout, timeout)


def test_files_by_extension(jdk17):
    with Program(jdk17, "KnownShares") as program:
        for suffix, first in FORMATS.items():
            path = jvm.result_file(suffix)
            done = jstrobe("record", "-d", "0.3", "-f", path, program.pid)
            assert done.returncode == 0 and not done.stdout, done.stderr
            assert oct(os.stat(path).st_mode & 0o777) == "0o600"
            with open(path) as file:
                assert file.read().lower().startswith(first.lower()), suffix
            # a text carries it itself
            assert ("samples taken" in done.stderr) == (suffix != ".txt") and f"result: {path}" in done.stderr
            os.remove(path)
        path = jvm.result_file(".html")
        assert jstrobe("record", "-d", "0.2", "-o", "json", "-f", path, program.pid).returncode == 0
        jvm.Profile(path).check()  # -o wins
        os.remove(path)


def test_nothing_but_the_file_is_left(jdk17):
    folder = os.path.join(jvm.WORK, f"only-{os.getpid()}")
    os.makedirs(folder)
    with Program(jdk17, "KnownShares") as program:
        assert jstrobe("record", "-d", "0.2", "-f", "x.json", program.pid, cwd=folder).returncode == 0
        assert os.listdir(folder) == ["x.json"]
        old = os.stat(os.path.join(folder, "x.json")).st_ino
        os.symlink("x.json", os.path.join(folder, "link.json"))
        assert jstrobe("record", "-d", "0.2", "-f", "link.json", program.pid, cwd=folder).returncode == 0
        assert os.path.islink(os.path.join(folder, "link.json"))
        assert os.stat(os.path.join(folder, "x.json")).st_ino != old, "replaced, not overwritten"
        for name in os.listdir(folder):
            os.remove(os.path.join(folder, name))
        running = begin(program, "-d", 30, "-f", "y.json", cwd=folder)
        sampling(program)
        running.kill()
        running.communicate()
        assert os.listdir(folder) == [], "not even after a kill -9"
    os.rmdir(folder)


def test_file_patterns(jdk17):
    folder = os.path.join(jvm.WORK, f"patterns-{os.getpid()}")
    os.makedirs(folder)
    with Program(jdk17, "KnownShares") as program:
        for _ in range(2):
            done = jstrobe("record", "-d", "0.1", "-f", folder + "/%p-%t-%n-%{WHO}.json", program.pid,
                           env=dict(os.environ, WHO="me"))
            assert done.returncode == 0
            done = jstrobe("record", "-d", "0.1", "-f", folder + "/n%n.json", program.pid)
            assert done.returncode == 0
    names = sorted(os.listdir(folder))
    assert names[-2:] == ["n1.json", "n2.json"], names
    assert all(re.fullmatch(rf"{program.pid}-\d{{8}}-\d{{6}}-[12]-me\.json", n) for n in names[:-2])
    subprocess.run(["rm", "-r", folder], check=True)


def test_stdout(jdk17):
    with Program(jdk17, "KnownShares") as program:
        plain = jstrobe("record", "-d", "0.5", program.pid)
        assert plain.returncode == 0 and "truth.KnownShares" in plain.stdout
        assert "samples taken" in plain.stdout and "\033" not in plain.stdout
        assert plain.stderr == "", "nothing but the result without a terminal"
        dash = jstrobe("record", "-d", "0.3", "-f", "-", "-o", "json", program.pid)
        assert json.loads(dash.stdout)["schema"] == 1 and dash.stderr == ""
        piped = subprocess.run(["sh", "-c", f"{jvm.COMMAND} record -d 0.3 -o collapsed "
                                f"{program.pid} | head -1"], capture_output=True, text=True)
        assert re.search(r" \d+$", piped.stdout)


def on_terminal(program, *args, env=None):
    """Run record with stderr on a terminal; (exit status, what was shown)."""
    master, slave = pty.openpty()
    running = subprocess.Popen([jvm.COMMAND, "record", *args, str(program.pid)], env=env,
                               stdout=slave, stderr=slave)
    os.close(slave)
    shown = b""
    while True:
        try:
            piece = os.read(master, 4096)
        except OSError:
            break
        if not piece:
            break
        shown += piece
    os.close(master)
    return running.wait(), shown.decode()


def test_progress_and_colours_on_a_terminal_only(jdk17):
    env = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "TERM")}
    env["TERM"] = "xterm"
    with Program(jdk17, "KnownShares") as program:
        status, shown = on_terminal(program, "-d", "2.5", env=env)
        assert status == 0
        assert re.search(r"\r\S*\[#*\.*\] +\d+ % sampling cpu: \d s left, \d+ samples, 0 lost", shown), shown
        assert "\033[1m" in shown, "the table has colours"
        status, shown = on_terminal(program, "-d", "1.2", env=dict(env, NO_COLOR="1"))
        assert status == 0 and not re.search(r"\033\[\d+m", shown)
        status, shown = on_terminal(program, "-q", "-d", "1.2", "-f", "/dev/null", env=env)
        assert status == 0 and shown == ""


@pytest.mark.parametrize("sig", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signals_end_it_early_with_the_result(jdk17, sig):
    path = jvm.result_file()
    with Program(jdk17, "KnownShares") as program:
        running = begin(program, "-d", 60, "-i", "1ms", "-f", path)
        sampling(program)
        time.sleep(0.5)
        began = time.time()
        running.send_signal(sig)
        assert running.wait(timeout=50) == 0, running.stderr.read()
        assert time.time() - began < 50, "it went on to its own end"
        assert "not active" in jstrobe("status", program.pid).stdout
        profile = jvm.Profile(path)
        profile.check()
        assert profile.samples["stored"] > 20
        assert program.alive()
    os.remove(path)


def test_a_second_ctrl_c_stops_without_the_result(jdk17):
    """The target is stopped meanwhile, so that the first one cannot be answered."""
    path = jvm.result_file()
    with Program(jdk17, "KnownShares") as program:
        running = begin(program, "-d", 60, "-f", path)
        sampling(program)
        os.kill(program.pid, signal.SIGSTOP)
        time.sleep(0.2)
        running.send_signal(signal.SIGINT)
        time.sleep(0.3)
        running.send_signal(signal.SIGINT)  # if it has not given up by itself, which it does after a second
        assert running.wait(timeout=20) == 130
        assert not os.path.exists(path)
        os.kill(program.pid, signal.SIGCONT)
        not_sampling(program, 2)
        assert program.alive()


def test_ctrl_c_while_attaching(jdk17):
    before = litter()
    with Program(jdk17, "Sleepers", 1, "idle") as program:
        assert jstrobe("status", program.pid).returncode == 0
        os.kill(program.pid, signal.SIGSTOP)
        running = begin(program, "-d", 60)
        time.sleep(0.4)
        if running.poll() is None:  # else it saw that the target is stopped
            running.send_signal(signal.SIGINT)
            assert running.wait(timeout=3) == 130
        else:
            assert running.returncode == 3
        os.kill(program.pid, signal.SIGCONT)
        assert not left_since(before)


def test_when_the_command_is_killed_the_agent_stops(jdk):
    with Program(jdk, "KnownShares") as program:
        assert jstrobe("record", "-d", "0.2", program.pid).returncode == 0
        time.sleep(0.2)
        before, threads = program.descriptors(), set(program.threads().values())
        running = begin(program, "-d", 60)
        sampling(program)
        running.kill()
        # within 1 s, on a machine that has the time
        wait_until(lambda: not set(program.threads().values()) - threads and program.descriptors() <= before,
                   seconds=1 if os.getloadavg()[0] <= jvm.CORES else 4)
        running.communicate()
        status = jstrobe("status", program.pid).stdout
        assert "Profiler is not active" in status and "dumped" not in status, "its data are gone"
        assert jstrobe("record", "-d", "0.2", program.pid).returncode == 0


def test_the_target_ends_normally(jdk):
    path = jvm.result_file()
    with Program(jdk, "KnownShares") as program:
        running = begin(program, "-d", 60, "-i", "1ms", "-f", path)
        sampling(program)
        time.sleep(0.5)
        assert program.stop() == 0
        assert running.wait(timeout=10) == 0
        assert f"process {program.pid} ended" in running.stderr.read()
    profile = jvm.Profile(path)
    profile.check()
    assert profile.samples["stored"] > 20
    os.remove(path)


def test_the_target_is_killed(jdk17):
    path = jvm.result_file()
    with Program(jdk17, "KnownShares") as program:
        running = begin(program, "-d", 60, "-f", path)
        sampling(program)
        program.process.kill()
        assert running.wait(timeout=10) == 1
        said = running.stderr.read()
        # or, before it had heard that sampling began
        assert "killed or crashed" in said or f"process {program.pid} ended meanwhile" in said
    assert not os.path.exists(path)


def test_the_target_ends_at_any_moment(jdk):
    """Its own exit status, at once; the command has a result or says why there is none."""
    for round_ in range(jvm.counted(8, 200)):
        path = jvm.result_file()
        with Program(jdk, "KnownShares") as program:
            running = begin(program, "-i", "1ms", "-d", 60, "-f", path)
            time.sleep(0.1 * (round_ % 8) / 8)
            assert program.stop() == 0
            said = running.communicate(timeout=20)[1]
        assert running.returncode in (0, 1, 3), (running.returncode, said)
        assert os.path.exists(path) == (running.returncode == 0), said
        assert re.match("jstrobe: (process|the JVM is ending|there is no process)", said), said
        if running.returncode == 0:
            jvm.Profile(path).check()
            os.remove(path)


def test_the_command_is_killed_at_any_moment(jdk17):
    with Program(jdk17, "KnownShares") as program:
        for round_ in range(jvm.counted(16, 500)):
            running = begin(program, "-i", "1ms", "-d", 60)
            time.sleep(0.05 * (round_ % 8) / 8)
            running.send_signal([signal.SIGKILL, signal.SIGINT][round_ % 2])
            running.communicate(timeout=20)
            remove_dead()
            assert program.alive()
        not_sampling(program, 4)
        assert jstrobe("record", "-d", "0.2", program.pid).returncode == 0
        assert program.stop() == 0


def test_no_samples_is_no_failure(jdk17):
    """An empty result of every kind is valid, exit 0, and a line says why."""
    with Program(jdk17, "Sleepers", 1, "idle") as program:
        for suffix in (".html", ".json", ".collapsed"):
            path = jvm.result_file(suffix)
            done = jstrobe("record", "-e", "ctimer", "-i", "10s", "-d", "0.2", "-f", path, program.pid)
            assert done.returncode == 0, done.stderr
            assert len(done.stderr.splitlines()) == 2 and "No samples" in done.stderr.splitlines()[0], done.stderr
            assert "CPU time" in done.stderr and os.path.exists(path)
            if suffix == ".json":
                assert jvm.Profile(path).samples["taken"] == 0
            os.remove(path)
        done = jstrobe("record", "-e", "ctimer", "-i", "10s", "-d", "0.2", program.pid)
        assert done.returncode == 0 and "No samples" in done.stdout


def test_rounds_leave_nothing_behind(jdk17):
    """Attach, profile, stop, again and again: threads, descriptors and /tmp as before."""
    before = litter()
    with Program(jdk17, "Sleepers", 2, "idle") as program:
        for _ in range(3):
            assert jstrobe("record", "-d", "0.05", "-f", "/dev/null", program.pid).returncode == 0
        time.sleep(0.2)
        descriptors, threads = program.descriptors(), sorted(program.threads().values())
        memory = program.memory()
        for _ in range(jvm.counted(20, 1000)):
            assert jstrobe("record", "-d", "0.05", "-f", "/dev/null", program.pid).returncode == 0
        time.sleep(0.2)
        assert program.descriptors() <= descriptors
        assert [t for t in program.threads().values() if t.startswith("jstrobe")] == []
        assert len(program.threads()) <= len(threads) + 1  # the JVM may start one of its own
        assert program.memory() - memory < jvm.counted(8, 24) << 20
        assert not left_since(before)


def test_quiet_and_verbose(jdk17):
    with Program(jdk17, "KnownShares") as program:
        done = jstrobe("record", "-q", "-d", "0.2", "-o", "collapsed", program.pid)
        assert done.returncode == 0 and done.stderr == ""
        done = jstrobe("record", "--verbose", "-d", "0.2", "-o", "collapsed", program.pid)
        assert done.returncode == 0 and "loading" in done.stderr
