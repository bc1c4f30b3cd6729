"""Programs without a JVM, or without one yet: LD_PRELOAD with JSTROBE_COMMAND, and include/jstrobe.h."""
import glob
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys

import jvm
import pytest
from jfr import Recording
from jvm import jstrobe

pytestmark = pytest.mark.together

SOURCES = os.path.join(jvm.ROOT, "tests", "jvm", "programs")


@pytest.fixture(scope="module")
def scenes(tmp_path_factory):
    """The program of scenes; it finds the library where it was linked with it."""
    folder = tmp_path_factory.mktemp("programs")
    home, path = jvm.compiler(), str(folder / "without_jvm")
    lib = os.path.dirname(jvm.LIBRARY)
    subprocess.run([os.environ.get("CC", "gcc"), "-O1", "-g", "-Wall", "-D_GNU_SOURCE", "-pthread", "-o", path,
                    os.path.join(SOURCES, "without_jvm.c"), f"-I{home}/include", f"-I{home}/include/linux",
                    "-I" + os.path.join(jvm.ROOT, "include"), "-L" + lib, "-ljstrobe", "-Wl,-rpath," + lib, "-ldl"],
                   check=True)
    subprocess.run([f"{home}/bin/javac", "--release", "8", "-Xlint:-options", "-d", str(folder),
                    os.path.join(SOURCES, "Burn.java")], check=True)
    return path


def preloaded(*program, command="start,event=cpu,interval=1ms", file=None, name="JSTROBE_COMMAND", timeout=60, cwd=None,
              **more):
    env = dict(os.environ, LD_PRELOAD=jvm.LIBRARY)
    env[name] = command + (f",file={file}" if file else "")
    env.update(more)
    return subprocess.run([str(p) for p in program], env=env, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, timeout=timeout)


def burnt(done):
    """ms that the program says it burnt in burn()."""
    return int(re.search(r"burnt (\d+)", done.stdout).group(1))


def profiles(path):
    with open(path) as file:
        result = json.load(file)
    return result.get("profiles", [result])


def of_session(path, truth):
    """Of TRUTH, ms that the program burnt, those that lie in the session: main() waits for its begin for 2 ms only."""
    return min(truth, profiles(path)[0]["cpu_time_ns"] / 1e6)


def in_function(path, word="burn"):
    """ms of CPU time in stacks with a frame WORD, and of all, of a JSON result; of several events the first."""
    stacks = profiles(path)[0]["stacks"]
    inside = sum(s["weight"] for s in stacks if any(f.endswith(word) for f in s["frames"]))
    return inside / 1e6, sum(s["weight"] for s in stacks) / 1e6


# what each burns, and its exit status; a program that becomes another one leaves the other's result
SCENES = {"plain": (300, 7), "threads": (400, 0), "at_once": (300, 5), "quickly": (300, 6), "in_handler": (300, 9),
          "first_thread_ends": (300, 0), "forks": (300, 0), "vforks": (300, 0), "becomes": (300, 7),
          "becomes_nothing": (400, 0), "resets_signals": (300, 0), "first_thread_ends_in_c": (300, 0),
          "goes_elsewhere": (300, 0), "first_thread_is_cancelled": (300, 0)}


@pytest.mark.parametrize("event", ["cpu", "ctimer"])
@pytest.mark.parametrize("scene", sorted(SCENES))
def test_ends(scenes, tmp_path, scene, event, say):
    """However a program ends, its exit status and output stay, and its CPU time is in the result."""
    truth, status = SCENES[scene]
    file = tmp_path / "r.json"
    named = file.name if scene == "goes_elsewhere" else file  # relative: to the folder that the program began in
    done = preloaded(scenes, scene, scenes, command=f"start,event={event},interval=1ms", file=named, cwd=tmp_path)
    assert done.returncode == status and done.stderr == "", (done.returncode, done.stdout, done.stderr)
    plain = subprocess.run([scenes, scene, scenes], stdout=subprocess.PIPE, text=True)
    assert done.stdout == plain.stdout and plain.returncode == status
    inside, everything = in_function(file)
    say(f"{scene}, {event}: {inside:.0f} of {truth} ms in burn(), {everything:.0f} ms in all")
    # ctimer sees time in ticks of the kernel
    assert abs(inside - of_session(file, truth)) <= (40 if event == "ctimer" else 15)
    assert everything > truth - 60
    assert os.listdir(tmp_path) == ["r.json"]


def test_a_fault_that_is_sent(scenes, tmp_path):
    """It ends the program, as it does without us."""
    done = preloaded(scenes, "sends_fault", file=tmp_path / "r.json")
    assert done.returncode == -signal.SIGSEGV


def test_first_thread_ends_without_descriptors(scenes, tmp_path):
    """Its last thread ends the program, and not before; there is no descriptor for a result."""
    done = preloaded(scenes, "first_thread_ends_without_files", file=tmp_path / "r.json")
    assert (done.returncode, done.stdout) == (0, "burnt 300\n")


def test_ends_within_malloc(scenes, tmp_path):
    """_exit() in a handler that broke into malloc: its lock is not to be had, so nothing may need it for long."""
    for i in range(12):
        done = preloaded(scenes, "ends_within_malloc", file=tmp_path / "r.json", timeout=40)
        assert done.returncode == 8


def test_bad_addresses(scenes, tmp_path):
    """What the kernel refuses is refused, and not read by us."""
    done = preloaded(scenes, "bad_addresses", command="start,event=io,io=0", file=tmp_path / "r.json")
    assert (done.returncode, done.stderr) == (0, ""), done.stderr


def test_c_api_in_a_forked_child(scenes, tmp_path):
    done = subprocess.run([scenes, "calls_in_child", str(tmp_path / "r.json")], stdout=subprocess.PIPE, text=True)
    assert done.returncode == 0
    assert done.stdout.count(": this process was forked from one that was profiled") == 2, done.stdout
    assert done.stdout.endswith("stop: done\n") and not os.listdir(tmp_path)


@pytest.mark.parametrize("suffix", ["json", "jfr"])
@pytest.mark.parametrize("event", ["cpu", "cpu,page-faults", "cpu,wall,nativemem,io"])
def test_descriptors_are_the_programs(scenes, tmp_path, event, suffix):
    """A program that closes all descriptors, as daemons do, has its own files under their numbers: not ours."""
    (tmp_path / "own").mkdir()
    done = preloaded(scenes, "closes_all", tmp_path / "own", command=f"start,event={event},interval=1ms",
                     file=tmp_path / f"r.{suffix}")
    assert done.returncode == 0, done.stdout + done.stderr
    for i in range(60):
        assert (tmp_path / "own" / str(i)).read_text() == f"mine {i}"
    if suffix == "json":
        assert done.stderr == ""
        if event.startswith("cpu") and "wall" not in event:
            assert in_function(tmp_path / "r.json")[0] > 340
    else:
        assert "the program has closed the recording's file; nothing more is written" in done.stderr


@pytest.mark.parametrize("suffix", ["json", "jfr"])
@pytest.mark.parametrize("fails", [False, True], ids=["made", "not-made"])
def test_a_jvm_comes_later(jdk, scenes, tmp_path, suffix, fails, say):
    """The session goes on in it, with Java frames; what was sampled before is still there."""
    library = glob.glob(f"{jdk.home}/lib/server/libjvm.so") + glob.glob(f"{jdk.home}/lib/*/server/libjvm.so")
    file = tmp_path / f"r.{suffix}"
    done = preloaded(scenes, "makes_jvm", ("!" if fails else "") + library[0], file=file,
                     JVM_OPTION="-Djava.class.path=" + os.path.dirname(scenes))
    assert done.returncode == 0 and done.stderr == "", done.stderr
    assert f"create {'-3' if fails else '0'} options 1" in done.stdout, done.stdout
    if suffix == "jfr":
        converted = tmp_path / "c.json"
        assert jstrobe("convert", file, converted).returncode == 0
        file = converted
    native, _ = in_function(file)  # Burn.burn is one of them, too
    java, _ = in_function(file, "Burn.burn")
    say(f"{jdk}, {suffix}, {'no ' if fails else ''}JVM: {native - java:.0f} ms in native code, {java:.0f} in Java")
    assert abs(native - java - 400) < 40
    assert java == 0 if fails else abs(java - 300) < 40


def test_it_is_asked_while_a_jvm_comes(jdk, scenes):
    """By the C API, of another thread: no one attaches to a JVM that is not there yet."""
    library = glob.glob(f"{jdk.home}/lib/server/libjvm.so") + glob.glob(f"{jdk.home}/lib/*/server/libjvm.so")
    for _ in range(5):
        done = subprocess.run([scenes, "makes_jvm_and_asks", library[0]], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True, timeout=60,
                              env={**os.environ, "JVM_OPTION": "-Djava.class.path=" + os.path.dirname(scenes)})
        assert done.returncode == 0 and "create 0" in done.stdout and "asked 1" in done.stdout, \
            (done.returncode, done.stdout, done.stderr)


def test_the_java_launcher(jdk, scenes, tmp_path):
    """All of the JVM's life is there, as with -agentpath; JVMs have events of Java."""
    java = os.path.join(jdk.home, "bin", "java")
    for event in ("cpu", "alloc,alloc=0"):
        file = tmp_path / f"{event[:3]}.json"
        done = preloaded(java, "-cp", os.path.dirname(scenes), "Burn", command=f"start,event={event}", file=file)
        assert (done.returncode, done.stdout, done.stderr) == (0, "burnt 300\n", ""), done.stderr
        assert json.loads(file.read_text())["samples"]["stored"] > 0
    assert abs(in_function(tmp_path / "cpu.json", "Burn.burn")[0] - 300) < 60  # 10 ms each


def test_events_of_java_wait_for_a_jvm(jdk, scenes, tmp_path):
    library = glob.glob(f"{jdk.home}/lib/server/libjvm.so") + glob.glob(f"{jdk.home}/lib/*/server/libjvm.so")
    file = tmp_path / "r.json"
    done = preloaded(scenes, "makes_jvm", library[0], command="start,event=alloc,alloc=0", file=file,
                     JVM_OPTION="-Djava.class.path=" + os.path.dirname(scenes))
    assert done.returncode == 0
    assert done.stderr == ("jstrobe: alloc: there is no JVM in this process (yet); cpu, wall, nativemem, nativelock "
                           "and io need none; the session begins once the program makes one\n")
    assert json.loads(file.read_text())["samples"]["stored"] > 100


@pytest.mark.parametrize("command, said", [
    ("start,event=cpu", "it must be a start that names a file"),
    ("stop,file=x.txt", "it must be a start that names a file"),
    ("start,event=nothing_here,file=x.txt", "nothing_here: no event has this name"),
    ("start,event=cpu,file=/nothing/here/x.txt", "/nothing/here"),
    ("start,instrument=a.B,file=x.txt", "there is no JVM in this process (yet)"),
])
def test_mistakes(scenes, command, said):
    """One line on stderr, and the program runs."""
    done = preloaded(scenes, "plain", command=command)
    assert (done.returncode, done.stdout) == (7, "burnt 300\n")
    assert done.stderr.count("\n") == 1 and said in done.stderr, done.stderr


def test_children(tmp_path):
    """Without %p in the file's name the first process has it; with it each program has a file of its own."""
    script = "/bin/true; /bin/sh -c 'exec /bin/true'; echo done; exit 3"
    done = preloaded("/bin/sh", "-c", script, file=tmp_path / "one.txt")
    assert (done.returncode, done.stdout, done.stderr) == (3, "done\n", "")
    assert os.listdir(tmp_path) == ["one.txt"]
    done = preloaded("/bin/sh", "-c", script, file=tmp_path / "%p.txt")
    assert (done.returncode, done.stdout, done.stderr) == (3, "done\n", "")
    assert len(os.listdir(tmp_path)) == 4


BUSY = "import hashlib\nfor i in range(300): hashlib.sha256(b'x' * 20000).digest()\nprint('hashed')"
OF_OTHERS = {
    "bash": ["bash", "-c", "for i in $(seq 200); do :; done; echo $i; exit 4"], "sh": ["sh", "-c", "echo a; exit 2"],
    "python3": [sys.executable, "-c", BUSY],
    "python3 threads": [sys.executable, "-c", "import threading as t\na = [t.Thread(target=sum, args=(range(99999),)) "
                        "for i in range(8)]\n[x.start() for x in a]\n[x.join() for x in a]\nprint(len(a))"],
    "python3 children": [sys.executable, "-c", "import subprocess as s\n"
                         "print(s.run(['echo', 'x'], stdout=s.PIPE).stdout)"],
    "python3 fork server": [sys.executable, "-c", "import multiprocessing as m\n"
                            "with m.Pool(2) as p: print(p.map(abs, range(-9, 9)))"],
    "ls": ["ls", "/etc"], "git": ["git", "--version"], "gcc": ["gcc", "-dumpmachine"], "make": ["make", "--version"],
    "perl": ["perl", "-e", "$s += $_ for 1..200000; print $s"],
    "awk": ["awk", "BEGIN { for (; i < 99999;) i++; print i }"],
    "sort": ["sort", "/etc/passwd"], "find": ["find", "/etc/apt"], "tar": ["tar", "cf", "-", "/etc/hostname"],
    "grep": ["grep", "-c", "root", "/etc/passwd"], "sed": ["sed", "-n", "1p", "/etc/passwd"],
    "false": ["/bin/false"], "env": ["env", "-i", "/bin/echo", "x"], "nice": ["nice", "-n", "1", "echo", "x"],
    "xargs": ["sh", "-c", "echo 1 2 3 | xargs -n1 echo"], "gzip": ["gzip", "-c", "/etc/passwd"],
    "sqlite3": ["sqlite3", ":memory:", "select count(*) from sqlite_master"], "curl": ["curl", "--version"],
    "ldconfig (static)": ["/sbin/ldconfig", "--version"], "openssl": ["openssl", "version"],
}


@pytest.mark.parametrize("name", sorted(OF_OTHERS))
@pytest.mark.parametrize("event", ["cpu", "ctimer,nativemem,nativelock,io"])
def test_programs_of_others(tmp_path, name, event, say):
    """Exit status and output are as without us; a result is there, unless the program is static."""
    program = OF_OTHERS[name]
    if not shutil.which(program[0]):
        say(f"{name}: not here")
        pytest.skip(f"{program[0]} is not here")
    alone = subprocess.run(program, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)
    env = dict(os.environ, LD_PRELOAD=jvm.LIBRARY,
               JSTROBE_COMMAND=f"start,event={event},interval=1ms,file={tmp_path}/%p.json")
    done = subprocess.run(program, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60, env=env)
    assert (done.returncode, done.stdout, done.stderr) == (alone.returncode, alone.stdout, alone.stderr)
    written = os.listdir(tmp_path)
    assert all(profiles(tmp_path / name)[0]["duration_ns"] > 0 for name in written)
    assert bool(written) == ("static" not in name), written


def test_c_api(scenes, tmp_path):
    file = tmp_path / "api.json"
    done = subprocess.run([scenes, "calls", str(file)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 0 and done.stderr == "", done.stderr
    for line in ("Profiler is not active\nstatus: done", "(null): no command; say start",
                 ": nothing to do; say start",
                 "start,event=alloc: alloc: there is no JVM in this process (yet)",
                 "start,event=nothing_here: nothing_here: no event has this name",
                 "start,event=cpu,interval=1ms: done", "start,event=cpu: Profiler already started",
                 "Profiling is running for ", f"stop,file={file}: done"):
        assert line in done.stdout, (line, done.stdout)
    assert re.search(r"stop: Profiler is not active", done.stdout)
    stacks = re.findall(r"^(\S+) (\d+)$", done.stdout, re.M)
    burning = sum(int(count) for stack, count in stacks if ";burn" in stack)
    assert 270 <= burning <= 330, burning
    assert abs(in_function(file)[0] - 300) < 15
    assert os.path.exists(f"{file}.end.txt")
    said = [name.read_text() for name in tmp_path.glob("api.json.[0-9]*.txt")]
    assert len(said) == 1 and said[0].startswith("Profiling is running for "), (said, os.listdir(tmp_path))


def test_a_result_at_the_exit(scenes, tmp_path):
    """A handler of exit() that was there before the profiler runs after the profiler's own."""
    file = tmp_path / "r.json"
    done = subprocess.run([scenes, "dumps_at_exit", str(file)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 0 and f"stop,file={file}: done" in done.stdout, done.stdout + done.stderr
    assert abs(in_function(file)[0] - 300) < 15


def test_events_of_the_program(scenes, tmp_path):
    """By the functions of asprof.h: what it tells while a recording is made is in it, to the byte, and no more."""
    file = tmp_path / "r.jfr"
    done = subprocess.run([scenes, "marks_events", str(file)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 0 and done.stderr == "", done.stdout + done.stderr
    for line in ("same 1, none -1, empty -1", "before: done", "all: done", "longest: done", "empty: done", "after: done",
                 "too long: an event has up to 2048 bytes, and this one has 2049\n", "no data: the event's 1 bytes are said to be at NULL",
                 "no type: no type of events has the key -1", "unknown type: no type of events has the key 1"):
        assert line in done.stdout, (line, done.stdout)
    events = Recording(file).events["profiler.UserEvent"]
    mine = [e["data"] for e in events if e["type"] == "caf\u00e9"]
    every = "".join(map(chr, range(256)))
    assert mine == [every, every * 8, ""], mine
    other = [e for e in events if e["type"] == "by thread"]
    assert len(events) == 103 and len(other) == 100 and {e["data"] for e in other} == {"other"}
    assert len({e["eventThread"]["osThreadId"] for e in events}) == 2
    times = [e["startTime"] for e in other]
    assert times == sorted(times)


def test_c_api_starts_at_once(scenes):
    done = subprocess.run([scenes, "starts_at_once"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert (done.returncode, done.stdout) == (0, "began 1\n"), done.stderr


def test_a_thread_counts_its_samples(scenes, tmp_path):
    """The word that a thread can read: of each session as many as the result has of that thread, and no other's."""
    file = tmp_path / "r"
    done = subprocess.run([scenes, "counts_samples", str(file)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 0, (done.stdout, done.stderr)
    lines = done.stdout.splitlines()
    assert lines.count("others 0 0") == 2, lines
    before, first, second, after = (int(n) for n in lines[-1].split()[1:])
    assert before == 0 and after == second, lines
    taken = [json.loads(pathlib.Path(f"{file}.{n}.json").read_text())["samples"]["taken"] for n in (1, 2)]
    # two others have burnt 50 of 400 ms each
    for counted, of in zip((first, second - first), taken):
        assert 0.6 * of < counted <= of, (lines, taken)


def test_names_of_async_profiler(scenes, tmp_path):
    """Its environment variable and its words; text says whose profile it is."""
    file = tmp_path / "r.txt"
    done = preloaded(scenes, "plain", command="start,event=cpu,interval=1ms,framebuf=1,allkernel,", file=file,
                     name="ASPROF_COMMAND")
    assert done.returncode == 7
    assert re.search(r"Process +: \d+ without_jvm\n", file.read_text())
    done = preloaded(scenes, "plain", command="start,event=cpu,collapsed", name="ASPROF_COMMAND")
    assert done.stderr.startswith("jstrobe: ASPROF_COMMAND: it must be a start that names a file"), done.stderr
