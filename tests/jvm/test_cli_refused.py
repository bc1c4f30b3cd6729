"""JVMs and other things that cannot be profiled, and places that take no result."""
import os
import signal
import socket
import subprocess
import time

import jvm
import pytest
from jvm import Program, jstrobe
from litter import left_since, litter

pytestmark = pytest.mark.together

ROOT = os.geteuid() == 0


def refused(pid, *words, code=3, args=("-d", "0.2")):
    path = jvm.result_file()
    done = jstrobe("record", "-f", path, *args, pid)
    assert done.returncode == code, (done.returncode, done.stdout, done.stderr)
    assert not os.path.exists(path) and not done.stdout
    for word in words:
        assert word in done.stderr, done.stderr
    lines = done.stderr.splitlines()
    assert len(lines) == 1 and lines[0].startswith("jstrobe: "), lines


def test_no_such_process():
    gone = subprocess.Popen(["true"])
    gone.wait()
    refused(gone.pid, f"there is no process {gone.pid}", "jstrobe ps")
    refused(0, "is no process number")
    refused(99999999999, "is no process number")


def test_no_such_name():
    refused("NoSuchProgramAnywhere", "no JVM is called 'NoSuchProgramAnywhere'", "jstrobe ps")


def test_no_jvm():
    other = subprocess.Popen(["sleep", "60"])
    try:
        refused(other.pid, f"process {other.pid} is no HotSpot JVM", "libjvm.so")
        assert other.poll() is None, "it was signalled"
    finally:
        other.kill()
        other.wait()


def test_a_thread(jdk17):
    with Program(jdk17, "Sleepers", 1, "idle") as program:
        tid = next(t for t in program.threads() if t != program.pid)
        refused(tid, f"is a thread of process {program.pid}")


def pretender(*libraries, handler=False):
    """A Python process that has files of these names mapped."""
    folder = os.path.join(jvm.OWN, "pretend")
    os.makedirs(folder, exist_ok=True)
    for library in libraries:
        with open(os.path.join(folder, library), "wb") as file:
            file.write(b"x" * 4096)
    script = ("import mmap, signal, sys, time\n"
              f"files = [open('{folder}/' + n) for n in {libraries!r}]\n"
              "maps = [mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ) for f in files]\n"
              + ("signal.signal(signal.SIGQUIT, lambda *a: None)\n" if handler else "")
              + "print('up', flush=True)\ntime.sleep(60)\ntime.sleep(60)")
    process = subprocess.Popen(["/usr/bin/python3", "-c", script], stdout=subprocess.PIPE)
    assert process.stdout.readline() == b"up\n"
    return process


@pytest.mark.parametrize("libraries, handler, word", [
    (["libjvm.so", "libj9vm29.so"], True, "OpenJ9"),
    (["libjvm.so"], False, "no handler for SIGQUIT"),
    (["libjvm.so"], True, "did not let us in within 500 ms"),
])
def test_what_looks_like_a_jvm(libraries, handler, word):
    """Nothing without a handler for it is ever sent a SIGQUIT."""
    process = pretender(*libraries, handler=handler)
    try:
        refused(process.pid, word, args=("--attach-timeout", "0.5"))
        assert process.poll() is None, "it was killed"
        assert not os.path.exists(f"/tmp/.attach_pid{process.pid}")
    finally:
        process.kill()
        process.wait()


def test_a_zombie():
    dead = subprocess.Popen(["true"])
    time.sleep(0.3)
    refused(dead.pid, "zombie")
    dead.wait()


@pytest.mark.parametrize("option, word", [
    ("-Xrs", "-Xrs"),
    ("-XX:+ReduceSignalUsage", "-Xrs"),
    ("-XX:+DisableAttachMechanism", "DisableAttachMechanism"),
])
def test_switches_that_forbid_attaching(jdk, option, word):
    """No SIGQUIT is sent: with -Xrs it would kill, else it would print a thread dump."""
    with Program(jdk, "Sleepers", 1, "idle", jvm=[option]) as program:
        refused(program.pid, word, "-agentpath")
        time.sleep(0.2)
        assert program.alive()
        assert program.stop() == 0
    assert not any("thread dump" in line for line in program.output)


def test_switches_in_the_environment(jdk17):
    wrap = ["env", "JAVA_TOOL_OPTIONS=-Dx=y -XX:+DisableAttachMechanism"]
    with Program(jdk17, "Sleepers", 1, "idle", wrap=wrap) as program:
        refused(program.pid, "DisableAttachMechanism")
        assert program.stop() == 0


def test_the_last_switch_counts_and_arguments_are_none(jdk17):
    options = ["-XX:+DisableAttachMechanism", "-XX:-DisableAttachMechanism"]
    with Program(jdk17, "Sleepers", 1, "idle", "-Xrs", jvm=options) as program:
        assert jstrobe("record", "-d", "0.2", program.pid).returncode == 0


def test_a_stopped_process(jdk17):
    with Program(jdk17, "Sleepers", 1, "idle") as program:
        os.kill(program.pid, signal.SIGSTOP)
        time.sleep(0.2)
        refused(program.pid, "is stopped", "kill -CONT")
        os.kill(program.pid, signal.SIGCONT)
        assert jstrobe("record", "-d", "0.2", program.pid).returncode == 0


def test_a_silent_jvm_and_the_timeout(jdk17):
    """It was attached to before, and stops while the agent is loaded a second time."""
    with Program(jdk17, "Sleepers", 1, "idle") as program:
        assert jstrobe("status", program.pid).returncode == 0
        os.kill(program.pid, signal.SIGSTOP)  # seen as stopped only a moment later, or at once
        began = time.time()
        refused(program.pid, "stopped", args=("--attach-timeout", "1"))
        assert time.time() - began < 8, "the default of 10 s"
        os.kill(program.pid, signal.SIGCONT)
        assert program.alive()


@pytest.mark.skipif(not ROOT, reason="needs root to become another user")
def test_another_users_jvm(jdk17):
    unprivileged = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    with Program(jdk17, "Sleepers", 1, "idle") as program:
        copy = os.path.join("/tmp", f"jstrobe-refused-{os.getpid()}")
        subprocess.run(["cp", jvm.COMMAND, copy], check=True)
        try:
            done = subprocess.run(unprivileged + [copy, "record", "-d", "1", str(program.pid)],
                                  capture_output=True, text=True)
        finally:
            os.remove(copy)
        assert done.returncode == 3
        assert f"process {program.pid} belongs to root" in done.stderr
        assert program.alive()


@pytest.mark.skipif(not ROOT, reason="needs root to be two others")
def test_something_of_another_user_in_the_way(jdk17):
    """Left behind in /tmp: said with its owner and the command that removes it; then it can be attached to."""
    unprivileged = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    if subprocess.run(unprivileged + ["test", "-r", jvm.LIBRARY]).returncode != 0:
        pytest.skip("the build folder cannot be read by user 65534")
    with Program(jdk17, "Sleepers", 1, "idle", wrap=unprivileged) as program:
        for name, owner in ((".java_pid", 1), (".java_pid", 0), (".attach_pid", 1)):
            path = f"/tmp/{name}{program.pid}"
            if name == ".java_pid":
                with socket.socket(socket.AF_UNIX) as listener:
                    listener.bind(path)
            else:
                open(path, "x").close()
            os.chown(path, owner, owner)
            try:
                refused(program.pid, f"{name}{program.pid} in its /tmp belongs to", f"(uid {owner})",
                        f"rm /proc/%d/root/tmp/{name}{program.pid}" % program.pid)
            finally:
                os.remove(path)
        assert jstrobe("status", program.pid).returncode == 0
        assert program.stop() == 0
    assert not any("thread dump" in line for line in program.output)


def test_missing_folder(jdk17):
    with Program(jdk17, "Sleepers", 1, "idle") as program:
        done = jstrobe("record", "-d", "30", "-f", "/no/such/folder/x.html", program.pid, timeout=5)
        assert done.returncode == 1
        assert "there is no folder /no/such/folder" in done.stderr
        assert jstrobe("start", "-f", "/no/such/folder/x.html", program.pid).returncode == 1
        assert "not active" in jstrobe("status", program.pid).stdout
        done = jstrobe("record", "-d", "30", "-f", jvm.WORK, program.pid, timeout=5)
        assert done.returncode == 1 and "folder" in done.stderr


@pytest.mark.skipif(not ROOT, reason="needs root to mount a small file system")
@pytest.mark.parametrize("suffix", [".html", ".json", ".collapsed"])
def test_full_disk(jdk17, suffix):
    """Nothing half-written remains, the target goes on, and a second try elsewhere succeeds."""
    folder = os.path.join(jvm.OWN, "full")
    os.makedirs(folder, exist_ok=True)
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4k", "none", folder]).returncode != 0:
        pytest.skip("cannot mount a tmpfs here")
    try:
        with open(os.path.join(folder, "filler"), "wb") as file:
            file.write(b"x" * 4096)
        with Program(jdk17, "KnownShares") as program:
            done = jstrobe("record", "-i", "1ms", "-d", "0.5", "-f",
                           os.path.join(folder, "x" + suffix), program.pid)
            assert done.returncode == 1
            assert "No space left on device" in done.stderr and "free some space" in done.stderr
            assert os.listdir(folder) == ["filler"]
            assert jstrobe("start", "-i", "1ms", program.pid).returncode == 0
            time.sleep(0.5)
            done = jstrobe("stop", "-f", os.path.join(folder, "y" + suffix), program.pid)
            assert done.returncode == 1 and "No space left on device" in done.stderr
            path = jvm.result_file()
            assert jstrobe("dump", "-f", path, program.pid).returncode == 0
            jvm.Profile(path)
            os.remove(path)
            assert program.alive()
        assert os.listdir(folder) == ["filler"]
    finally:
        subprocess.run(["umount", folder], check=True)


def test_result_to_a_device_that_is_full(jdk17):
    with Program(jdk17, "KnownShares") as program:
        done = jstrobe("record", "-d", "0.2", "-f", "/dev/full", program.pid)
        assert done.returncode == 1 and "No space left on device" in done.stderr
        assert jstrobe("record", "-d", "0.2", "-f", "/dev/null", program.pid).returncode == 0
        assert program.alive()
    assert not os.path.isfile("/dev/full") and not os.path.isfile("/dev/null")


@pytest.mark.skipif(not ROOT, reason="needs root for namespaces")
def test_library_that_the_target_cannot_see(jdk17):
    """Where --libpath says it is; without --libpath it would be copied (test_containers.py)."""
    before = litter()
    with Program(jdk17, "Sleepers", 1, "idle") as program:
        refused(program.pid, "is not visible to process", args=("--libpath", "/no/such/lib.so"))
        assert not left_since(before)
        assert program.stop() == 0


def test_a_library_that_does_not_load(jdk):
    path = os.path.join(jvm.OWN, "broken.so")
    with open(path, "w") as file:
        file.write("this is no library")
    with Program(jdk, "Sleepers", 1, "idle") as program:
        refused(program.pid, "could not load the agent", "broken.so", args=("--libpath", path))
        assert program.stop() == 0
    os.remove(path)


def test_agent_of_another_protocol(jdk17):
    """A connection that shows the right token but speaks another protocol is told so."""
    other = os.path.join(jvm.OWN, "other.c")
    library = os.path.join(jvm.OWN, "libother.so")
    with open(other, "w") as file:
        file.write(r'''
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
int Agent_OnAttach(void *vm, char *options, void *reserved)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	char token[64] = "", text[200];
	int s = socket(AF_UNIX, SOCK_STREAM, 0), n;

	sscanf(options, "connect=%107[^,],token=%63[^,]", a.sun_path, token);
	if (connect(s, (struct sockaddr *)&a, sizeof(a)))
		return 1;
	n = snprintf(text + 5, 190, "protocol=77\ntoken=%s\nversion=9.9.9\npid=1\n", token);
	memset(text, 0, 5);
	text[0] = n;
	text[4] = 1;
	return write(s, text, n + 5) != n + 5;
}
''')
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", library, other], check=True)
    with Program(jdk17, "Sleepers", 1, "idle") as program:
        refused(program.pid, "9.9.9", "protocol 77", "one version", args=("--libpath", library))
        assert program.stop() == 0


def test_target_that_dies_while_it_is_attached_to(jdk17):
    """Whenever it dies: an error, no file, nothing left in /tmp."""
    before = litter()
    for delay in (0, 0.002, 0.01, 0.03):
        path = jvm.result_file()
        with Program(jdk17, "Sleepers", 1, "idle") as program:
            running = subprocess.Popen([jvm.COMMAND, "record", "-d", "20", "-f", path,
                                        str(program.pid)], stderr=subprocess.PIPE, text=True)
            time.sleep(delay)
            program.process.kill()
            said = running.communicate(timeout=15)[1]
        assert running.returncode in (1, 3), (delay, said)
        assert said.startswith("jstrobe: ") and not os.path.exists(path)
        assert not left_since(before)
