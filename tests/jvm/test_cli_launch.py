"""record -- PROGRAM, and the agent without the command: -agentpath and jcmd."""
import os
import signal
import stat
import subprocess
import threading
import time

import jvm
import pytest
from jvm import LIBRARY, Program, jstrobe
from litter import left_since, litter

pytestmark = pytest.mark.together

COUNT = "truth.Launched"


def launch(jdk, *options, program=(), **more):
    return subprocess.Popen([jvm.COMMAND, "record", *map(str, options), "--", *map(str, program)],
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            text=True, cwd=jvm.WORK, **more)


def java(jdk, *args):
    return [jdk.java, "-cp", jvm.CLASSES, COUNT, *args]


def test_streams_and_status_pass_through(jdk):
    path = jvm.result_file()
    running = launch(jdk, "-q", "-i", "1ms", "-f", path, program=java(jdk, "300", "7"))
    out, err = running.communicate("hello\n", timeout=60)
    assert running.returncode == 7 and out == "out hello\n" and err == "err hello\n"
    running = launch(jdk, "--overwrite", "-i", "1ms", "-f", path, program=java(jdk, "300", "7"))
    out, err = running.communicate("hello\n", timeout=60)
    assert running.returncode == 7 and out == "out hello\n"
    # behind the program's own words ours on the result
    assert err.startswith("err hello\n") and all(line.startswith("jstrobe: ") for line in err.splitlines()[1:]), err
    profile = jvm.Profile(path)
    profile.check()
    assert profile.share("truth.Launched.main") > 0.3
    os.remove(path)


@pytest.mark.parametrize("before,after,said", [
    ("%(java)s -version", "%(program)s", True), ("%(java)s -version; %(java)s -version", "exec %(program)s", True),
    ("%(program)s", "sleep 2", True), ("true", "%(program)s", False), ("%(program)s", "true", False)])
def test_a_script_with_a_second_jvm(jdk, before, after, said):
    """The first JVM is profiled; what its script does later is not, and that is said."""
    words = {"java": jdk.java, "program": " ".join(java(jdk, "1500", "0"))}
    path = jvm.result_file()
    running = launch(jdk, "-i", "1ms", "-f", path, program=["bash", "-c", f"{before}; {after}" % words])
    _, err = running.communicate("x\n", timeout=120)
    assert running.returncode == 0, err
    assert ("JVMs that it started later are not profiled" in err) == said, err
    os.remove(path)


def test_profiled_from_the_first_instruction(jdk17):
    """The JVM's own start is in the result."""
    path = jvm.result_file()
    running = launch(jdk17, "-i", "200us", "-f", path, program=java(jdk17, "50", "0"))
    running.communicate("x\n", timeout=60)
    assert running.returncode == 0
    frames = {f for s in jvm.Profile(path).stacks for f in s["frames"]}
    assert any(f.startswith("java.lang.System.initPhase") for f in frames), "System.initPhase…"
    os.remove(path)


def test_result_on_stdout_follows_the_programs_own(jdk17):
    running = launch(jdk17, "-o", "collapsed", program=java(jdk17, "300", "0"))
    out, err = running.communicate("x\n", timeout=60)
    first, *rest = out.splitlines()
    assert first == "out x" and any("truth/Launched.main" in line for line in rest)
    assert running.returncode == 0


def test_duration_ends_profiling_but_not_the_program(jdk17):
    path = jvm.result_file()
    running = launch(jdk17, "-d", "0.3", "-f", path, program=java(jdk17, "200", "3"))
    end = time.time() + 10
    while not os.path.exists(path):
        assert running.poll() is None and time.time() < end
        time.sleep(0.02)
    assert running.poll() is None
    out, _ = running.communicate("late\n", timeout=60)
    assert running.returncode == 3 and out == "out late\n"
    os.remove(path)


def test_signals_reach_the_program(jdk17):
    """SIGTERM ends the JVM as it always does (143); the result is written by then."""
    path = jvm.result_file()
    running = launch(jdk17, "-f", path, program=java(jdk17, "0", "0"))
    time.sleep(1)
    running.send_signal(signal.SIGTERM)
    running.wait(timeout=30)  # stdin stays open: its end would be a normal exit
    running.communicate()
    assert running.returncode == 143
    jvm.Profile(path).check()
    os.remove(path)


def test_program_that_is_killed(jdk17):
    path = jvm.result_file()
    running = launch(jdk17, "-f", path, program=java(jdk17, "0", "0"))
    time.sleep(1)
    with open(f"/proc/{running.pid}/task/{running.pid}/children") as file:
        os.kill(int(file.read().split()[0]), signal.SIGKILL)
    _, err = running.communicate(timeout=30)
    assert running.returncode == 137 and "killed or crashed" in err
    assert not os.path.exists(path)


def test_scripts_get_the_agent_by_the_environment(jdk17):
    path = jvm.result_file()
    running = launch(jdk17, "--verbose", "-f", path,
                     program=["sh", "-c", 'exec "$@"', "sh", *java(jdk17, "300", "5")])
    _, err = running.communicate("x\n", timeout=60)
    assert running.returncode == 5 and "JAVA_TOOL_OPTIONS" in err
    jvm.Profile(path).check()
    os.remove(path)


def test_programs_without_a_jvm():
    before = litter()
    for program, status in ((["sh", "-c", "exit 4"], 4), (["true"], 1)):
        done = jstrobe("record", "--", *program)
        assert done.returncode == status
        assert f"ended (exit status {status if status > 1 else 0}) before a JVM loaded the agent" in done.stderr
        assert "chroot" in done.stderr, "what may be in the way of one"
    done = jstrobe("record", "--", "/no/such/program")
    assert done.returncode == 1 and "/no/such/program cannot be started: No such file" in done.stderr
    assert not left_since(before)


def test_missing_folder_is_said_before_the_program_starts(jdk17):
    done = jstrobe("record", "-f", "/no/such/folder/x", "--", "touch", os.path.join(jvm.OWN, "ran"))
    assert done.returncode == 1 and "no folder" in done.stderr
    assert not os.path.exists(os.path.join(jvm.OWN, "ran"))


def test_session_that_cannot_start_lets_the_program_run(jdk17):
    """Another session was there first, begun by the environment."""
    env = dict(os.environ, JAVA_TOOL_OPTIONS=f"-agentpath:{LIBRARY}=start,event=cpu")
    running = launch(jdk17, "-i", "1ms", program=java(jdk17, "10", "6"), env=env)
    out, err = running.communicate("x\n", timeout=60)
    assert running.returncode == 6 and out == "out x\n"
    assert "already" in err and "runs unprofiled" in err and "err x" in err, err


# ---- the agent alone -------------------------------------------------------------------------

def with_agent(jdk, options):
    program = Program(jdk, "OneChain", jvm=[f"-agentpath:{LIBRARY}={options}"], ready=False)
    return program


def test_agentpath_patterns_and_formats(jdk17):
    folder = os.path.join(jvm.WORK, f"agent-{os.getpid()}")
    os.makedirs(folder)
    with with_agent(jdk17, f"start,event=cpu,interval=1ms,collapsed,file={folder}/%p-%n.out") as program:
        program.wait_for("READY")
        time.sleep(0.5)
        assert os.listdir(folder) == []
        assert program.stop() == 0
    assert os.listdir(folder) == [f"{program.pid}-1.out"]
    with open(os.path.join(folder, f"{program.pid}-1.out")) as file:
        assert sum(int(line.rsplit(" ", 1)[1]) for line in file) > 20
    subprocess.run(["rm", "-r", folder], check=True)


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to make a device")
def test_agentpath_into_a_device_or_a_pipe(jdk17, tmp_path):
    """It is written to; a rename would put a file in its place. What is neither stays as it is."""
    device, pipe, folder = tmp_path / "null", tmp_path / "pipe", tmp_path / "folder"
    os.mknod(device, 0o666 | stat.S_IFCHR, os.makedev(1, 3))
    os.mkfifo(pipe)
    folder.mkdir()
    for path in (device, pipe, folder):
        got = []
        reader = threading.Thread(target=lambda: got.append(pipe.read_text())) if path == pipe else None
        if reader:
            reader.start()
        options = f"start,interval=1ms,collapsed,file={path}" + (",force" if path == pipe else "")
        with Program(jdk17, "OneChain", jvm=[f"-agentpath:{LIBRARY}={options}"]) as program:
            time.sleep(0.3)
            assert program.stop() == 0
        if reader:
            reader.join(10)
            assert "OneChain" in got[0]
        assert stat.S_IFMT(os.stat(path).st_mode) == \
            {device: stat.S_IFCHR, pipe: stat.S_IFIFO, folder: stat.S_IFDIR}[path]
        said = [line for line in program.output if "this is a folder" in line]
        assert len(said) == (path == folder), program.output
    assert sorted(os.listdir(tmp_path)) == ["folder", "null", "pipe"]


def test_mistakes_in_agentpath_leave_the_program_alone(jdk):
    for options, words in (
            ("start,page-faults", ["unknown option: page-faults; an event is event=page-faults"]),
            ("start,interval=0", ["interval: 0 is out of range"]),
            ("start,file=/no/such/folder/x.html", ["/no/such/folder"]),
            ("start,file=x.gif", ["there is no format .gif"]),
            ("start,file=x.pb.gz", ["only the jstrobe command writes it"]),
            ("stop", ["no "]),
            ("threads", ["nothing to do"]),
            ("connect=/no/such/socket,token=1,protocol=1", ["/no/such/socket"])):
        with with_agent(jdk, options) as program:
            program.wait_for("READY")
            assert program.stop() == 0
        said = [line for line in program.output if line != "READY"]
        assert len(said) == 1 and said[0].startswith("jstrobe: "), (options, said)
        assert "runs unprofiled" in said[0] and all(w in said[0] for w in words), said


# Strings that other programs send to async-profiler, of its older versions too; what is said to them.
OF_OTHERS = [
    ("start,event=cpu,interval=10000000,", []),
    ("start,event=cpu,interval=1000000,jstackdepth=2048,buffer=10000,collapsed=total,ann,file={}.txt", []),
    ("start,interval=1us,threads,event=cpu,framebuf=1000,width=800,allkernel,cstack=lbr,file={}.jfr",
     ["cstack: unknown mode lbr; it is vm", "interval: 1us is too short for cpu; it is 50us"]),
    ("start,event=wall,alloc,loop=5m,interval=10ms,file={}-%t.jfr", []),
    ("start,event=cpu,alloc=512k,live,lock=10ms,interval=10ms,file={}.jfr", []),
    ("start,event=alloc,alloc=512k,live,interval=10ms,file={}.jfr", ["interval: that of alloc is bytes"]),
    ("start,event=cpu,file={}.html,interval=1000000,simple", []),
    ("start,Event=cpu,logLevel=WARN,intervall=1ms,features=vtable+pcaddr,cstack=vmx,proc=30,file={}.jfr",
     ["intervall (did you mean interval?); it is left out", "features=vtable", "features=pcaddr", "proc"]),
]


@pytest.mark.parametrize("options, words", OF_OTHERS)
def test_strings_of_others(jdk, tmp_path, options, words):
    """They profile; what is read otherwise than it was said is told, a line each."""
    with with_agent(jdk, options.format(tmp_path / "x")) as program:
        program.wait_for("READY")
        status = jstrobe("status", program.pid).stdout
        assert status.startswith("Profiling is running"), status
        assert program.stop() == 0
    said = [line for line in program.output if line.startswith("jstrobe: ")]
    assert len(said) == len(words) and all(w in line for w, line in zip(words, said)), said
    assert len(os.listdir(tmp_path)) == ("file=" in options)


def test_a_string_that_only_loads(jdk, tmp_path):
    """IDEs load the library first, with all the words, and start later."""
    with with_agent(jdk, f"version,jfr,event=wall,interval=10ms,cstack=no,file={tmp_path}/x.jfr,log={tmp_path}/log,"
                         "logLevel=DEBUG") as program:
        program.wait_for("READY")
        assert jstrobe("status", program.pid).stdout == "Profiler is not active\n"
        assert program.stop() == 0
    assert program.output == ["READY"]


def test_strict_makes_a_mistake_fatal(jdk17):
    for options in ("strict,start,intervall=1ms", "start,intervall=1ms,strict"):
        with with_agent(jdk17, options) as program:
            assert program.process.wait(timeout=30) == 1
            time.sleep(0.2)
        assert any("intervall" in line for line in program.output)
        assert "READY" not in program.output


def test_empty_options_do_nothing(jdk17):
    with Program(jdk17, "OneChain", jvm=[f"-agentpath:{LIBRARY}"]) as program:
        assert program.stop() == 0
    assert program.output == ["READY"]


def jcmd(jdk, program, options):
    done = subprocess.run([os.path.join(jdk.home, "bin", "jcmd"), str(program.pid),
                           "JVMTI.agent_load", LIBRARY, f'"{options}"'], capture_output=True, text=True)
    return done.stdout


def test_option_strings_by_jcmd(jdk):
    path, status = jvm.result_file(".collapsed"), jvm.result_file(".txt")
    with Program(jdk, "OneChain") as program:
        assert "return code: 0" in jcmd(jdk, program, "start,event=cpu,interval=1ms")
        time.sleep(0.5)
        assert "return code: 0" in jcmd(jdk, program, f"status,file={status}")
        with open(status) as file:
            assert "running" in file.read()
        assert "return code: 0" in jcmd(jdk, program, f"dump,file={path}")
        os.remove(path)
        assert "return code: 0" in jcmd(jdk, program, f"stop,file={path}")
        with open(path) as file:
            assert sum(int(line.rsplit(" ", 1)[1]) for line in file) > 20
        assert "return code: 0" not in jcmd(jdk, program, "stop")
        assert program.stop() == 0
    os.remove(path)
    os.remove(status)
