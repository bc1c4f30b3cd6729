"""What a JVM says of JAVA_TOOL_OPTIONS is left out where `record -- SCRIPT` has set it, and nothing else of its stderr."""
import os
import pty
import subprocess

import jvm
import pytest

pytestmark = pytest.mark.together

LINE = "Picked up JAVA_TOOL_OPTIONS: "


def script(jdk, before="", after=":"):
    """A program that is no java, which starts one; java -version says where it stands on stderr."""
    return ["sh", "-c", f"{before} {jdk.java} -XX:+UseSerialGC -cp {jvm.CLASSES} truth.Launched 300 0 <&0; {after}"]


def record(program, env=None, **more):
    path = jvm.result_file()
    done = subprocess.run([jvm.COMMAND, "record", "-q", "-i", "1ms", "-f", path, "--", *program], input=b"hello\n", timeout=90,
                          capture_output=True, cwd=jvm.WORK, env=dict(os.environ, **(env or {})), **more)
    assert os.path.exists(path), done
    os.remove(path)
    return done


def helpers():
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/comm") as comm:
                found += [pid] if comm.read() == "jstrobe stderr\n" else []
        except OSError:
            pass
    return found


def test_the_line_is_left_out(jdk):
    done = record(script(jdk))
    assert done.returncode == 0 and done.stdout == b"out hello\n" and done.stderr == b"err hello\n", done
    jvm.wait_until(lambda: not helpers())


def test_each_jvm_says_it_and_all_else_passes(jdk17):
    """Lines like it, parts of lines, bytes that are no text, in their order."""
    odd = r"printf 'Picked up JAVA_TOOL_OPTIONS: -Dx\nPicked' >&2; sleep 0.3; printf ' up\n\377\000\033[1m Pi\n' >&2;"
    done = record(script(jdk17, before=odd, after=f"{jdk17.java} -XX:+UseSerialGC -version 2>/dev/null; printf end >&2"))
    assert done.stderr == b"Picked up JAVA_TOOL_OPTIONS: -Dx\nPicked up\n\xff\0\x1b[1m Pi\nerr hello\nend", done.stderr
    assert done.returncode == 0


def test_one_that_the_user_has_set_is_said(jdk17):
    done = record(script(jdk17), env={"JAVA_TOOL_OPTIONS": "-Dmine=1"})
    assert done.stderr.startswith(f"{LINE}-Dmine=1 -agentpath:".encode()) and done.stderr.endswith(b"err hello\n")


def test_java_itself_has_its_own_stderr(jdk17):
    """There the agent is an argument, and nothing stands between."""
    done = record([jdk17.java, "-cp", jvm.CLASSES, "truth.Launched", "300", "0"])
    assert done.stderr == b"err hello\n"


def test_a_terminal_stays_one(jdk17):
    master, slave = pty.openpty()
    seen = "test -t 2 && echo terminal >&2; stty size <&2 >&2;"
    path = jvm.result_file()
    running = subprocess.Popen([jvm.COMMAND, "record", "-q", "-f", path, "--", *script(jdk17, before=seen)],
                               stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=slave, cwd=jvm.WORK)
    os.close(slave)
    running.stdin.write(b"hello\n")
    running.stdin.close()
    assert running.wait(90) == 0
    shown = b""
    try:
        while True:
            shown += os.read(master, 4096)
    except OSError:
        pass
    os.close(master)
    assert shown.startswith(b"terminal\r\n0 0\r\n") and shown.endswith(b"err hello\r\n") and b"Picked" not in shown, shown
    os.remove(path)


def test_what_the_program_leaves_running_may_write_on(jdk17, tmp_path):
    """It writes to stderr when command and program are long gone, and lives."""
    log = tmp_path / "stderr"
    later = (f"(trap 'exit 3' PIPE; while [ ! -e {tmp_path}/go ]; do sleep 0.1; done; echo late >&2; "
             f"echo lived > {tmp_path}/lived) &")
    with open(log, "wb") as file:
        running = subprocess.run([jvm.COMMAND, "record", "-q", "-f", jvm.result_file(), "--", *script(jdk17, before=later)],
                                 input=b"hello\n", stdout=subprocess.DEVNULL, stderr=file, cwd=jvm.WORK, timeout=90)
    assert running.returncode == 0 and b"late" not in log.read_bytes()
    (tmp_path / "go").touch()
    jvm.wait_until((tmp_path / "lived").exists)
    jvm.wait_until(lambda: b"late\n" in log.read_bytes())
    assert log.read_bytes() == b"err hello\nlate\n"
    jvm.wait_until(lambda: not helpers())


def test_a_program_that_cannot_be_started(tmp_path):
    done = subprocess.run([jvm.COMMAND, "record", "--", str(tmp_path / "nothing")], capture_output=True, text=True, timeout=30)
    assert done.returncode == 1 and "cannot be started" in done.stderr
    jvm.wait_until(lambda: not helpers())
