"""Java programs of known truth, jstrobe runs against them, and what came out.

    with Program(jdk, "KnownShares") as program:
        profile = record(program, "-i", "1ms", "-d", "5")
        profile.share("truth.KnownShares.alpha")

Everything a test starts is ended by its pid, also when the test fails.
"""
import contextlib
import fcntl
import functools
import glob
import inspect
import json
import os
import queue
import subprocess
import threading
import time
from datetime import datetime, timezone

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
OUT = os.path.abspath(os.path.join(ROOT, os.environ.get("O", "build")))
COMMAND = os.path.join(OUT, "bin", "jstrobe")
LIBRARY = os.path.join(OUT, "lib", "libjstrobe.so")
CONTEXT_JAR = os.path.join(OUT, "lib", "jstrobe-context.jar")
WORK = os.path.join(OUT, "tests")
# What a test makes under a fixed name: others run beside it in processes of their own, and JVMs have files mapped.
OWN = os.path.join(WORK, "own", os.environ.get("PYTEST_XDIST_WORKER", "alone"))
CLASSES = os.path.join(WORK, "classes")
NATIVE = os.path.join(WORK, "libtruth.so")
SOAK = bool(os.environ.get("JSTROBE_SOAK"))
CORES = os.cpu_count() or 1
CHAINS = 16 * CORES  # classes made for NativeBurn


SHARE = float(os.environ.get("JSTROBE_SHARE", 1))  # of the full counts


def counted(short, full):
    """A count or duration: SHORT in `make check`, FULL or a share of it in `make soak`; its type is theirs."""
    if not SOAK:
        return short
    if SHARE == 1 or not isinstance(full, (int, float, str)):
        return full
    share = max(float(short), SHARE * float(full))
    return f"{share:g}" if isinstance(full, str) else share if isinstance(short, float) else type(full)(share)


@contextlib.contextmanager
def knobs():
    """jstrobe and its library with the knobs for tests meanwhile (src/common/base/knob.h); what users get has none."""
    global COMMAND, LIBRARY
    released = COMMAND, LIBRARY
    folder = os.path.join(WORK, "knobs")
    COMMAND, LIBRARY = os.path.join(folder, "bin", "jstrobe"), os.path.join(folder, "lib", "libjstrobe.so")
    assert os.path.exists(COMMAND) and os.path.exists(LIBRARY), "run: make knobs"
    try:
        yield
    finally:
        COMMAND, LIBRARY = released


def wait_until(what, seconds=30):
    """Until WHAT() is true; what the agent does a moment after its answer, or a busy machine lets it do late."""
    end = time.time() + seconds
    while not what():
        assert time.time() < end, f"not so in {seconds} s: {inspect.getsource(what).strip()}"
        time.sleep(0.02)


# ---- JDKs and compiled programs ----------------------------------------------------

class Jdk:
    def __init__(self, home, version):
        self.home, self.version = home, version
        self.java = os.path.join(home, "bin", "java")

    def __repr__(self):
        return f"jdk{self.version}"


@functools.lru_cache(maxsize=None)
def collectors_of(java):
    """Flags of the garbage collectors that a JVM has."""
    flags = [f"-XX:+Use{name}GC" for name in ("Serial", "Parallel", "G1", "Z", "Shenandoah")]
    return [flag for flag in flags if subprocess.run([java, flag, "-version"], stdout=subprocess.DEVNULL,
                                                     stderr=subprocess.DEVNULL).returncode == 0]


def collectors(jdk):
    return collectors_of(jdk.java)


def run_script(name, *args):
    done = subprocess.run([os.path.join(ROOT, "scripts", name), *args], cwd=ROOT, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          env=dict(os.environ, O=OUT))
    return done.stdout.strip() if done.returncode == 0 else ""


def find_jdk(version):
    """The JDK of that feature release, or None."""
    script = "jdk25.sh" if version == 25 else "find-jdk.sh"
    lines = run_script(script, *([] if version == 25 else [str(version)])).splitlines()
    return Jdk(lines[-1], version) if lines else None


def fetched(otherwise, *paths):
    """The files of other projects at PATHS are there, or the test is skipped with what OTHERWISE says was not tried."""
    import pytest  # which the benches that use this module do without

    if not all(map(os.path.exists, paths)):
        run_script("fetch-peers.sh")
    if not all(map(os.path.exists, paths)):
        pytest.skip(otherwise)


def compiler():
    """Folder of a JDK that has javac and jni.h."""
    home = run_script("find-jdk.sh")
    assert home, "no JDK with javac found"
    return home


def build_agent(name, folder):
    """A JVMTI agent of preload/ as a library in FOLDER; its path."""
    library, include = os.path.join(str(folder), name + ".so"), os.path.join(compiler(), "include")
    subprocess.run([os.environ.get("CC", "gcc"), "-O2", "-Wall", "-Wextra", "-fPIC", "-shared", "-o", library,
                    "-I" + include, "-I" + os.path.join(include, "linux"),
                    os.path.join(ROOT, "tests", "jvm", "preload", name + ".c")], check=True)
    return library


def chain_source(number):
    """Java source of chains.Chain<number>: m1 calls m2 … m100, which stays in native code."""
    methods = "\n".join(f"    public static long m{i}(long ns) {{ return m{i + 1}(ns) + {i}; }}"
                        for i in range(1, 100))
    return (f"package chains;\npublic final class Chain{number} {{\n"
            f"    public static final class Body implements Runnable {{\n"
            f"        private final long ns;\n"
            f"        public Body(long ns) {{ this.ns = ns; }}\n"
            f"        @Override public void run() {{ while (!truth.Program.stopping) m1(ns); }}\n"
            f"    }}\n{methods}\n"
            f"    public static long m100(long ns) {{ truth.NativeBurn.burn(ns); return 100; }}\n}}\n")


def newest(paths):
    return max((os.path.getmtime(p) for p in paths), default=0)


def compile_programs():
    """Compile the Java programs and the native library, unless they are up to date; once, however many processes ask."""
    os.makedirs(WORK, exist_ok=True)
    with open(os.path.join(WORK, "programs.lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        compile_if_old()


def compile_if_old():
    sources = sorted(glob.glob(os.path.join(ROOT, "tests", "jvm", "java", "truth", "*.java")))
    native = sorted(glob.glob(os.path.join(ROOT, "tests", "jvm", "native", "*.c")))
    stamp = os.path.join(WORK, "programs.stamp")
    if os.path.exists(stamp) and os.path.getmtime(stamp) > newest(sources + native + [__file__]):
        return
    made = os.path.join(WORK, "made", "chains")
    os.makedirs(made, exist_ok=True)
    os.makedirs(CLASSES, exist_ok=True)
    for number in range(CHAINS):
        path = os.path.join(made, f"Chain{number}.java")
        with open(path, "w") as file:
            file.write(chain_source(number))
        sources.append(path)
    home = compiler()
    subprocess.run([os.path.join(home, "bin", "javac"), "--release", "8", "-encoding", "UTF-8", "-Xlint:-options",
                    "-nowarn", "-cp", CONTEXT_JAR, "-d", CLASSES] + sources, check=True)
    subprocess.run([os.environ.get("CC", "gcc"), "-O2", "-g", "-Wall", "-fPIC", "-shared",
                    "-pthread", "-I", f"{home}/include", "-I", f"{home}/include/linux",
                    "-o", NATIVE] + native, check=True)
    with open(stamp, "w"):
        pass


# ---- a running program ---------------------------------------------------------------

class CpuClock(threading.Thread):
    """Notes a CPU clock against real time, so that its value at any moment is known."""

    def __init__(self, read):
        super().__init__(daemon=True)
        self.read, self.points, self.read_by, self.ended = read, [], [], threading.Event()
        self.start()

    def run(self):
        while not self.ended.is_set():
            try:
                before = time.time_ns()
                value = self.read()
                self.points.append((before, value))
                self.read_by.append(time.time_ns())
            except OSError:
                return
            self.ended.wait(0.01)

    def stop(self):
        self.ended.set()
        self.join()

    def at(self, moment):
        """CPU ns used until MOMENT (ns of real time), between the two notes around it."""
        before, after = self.points[0], self.points[-1]
        for one, two in zip(self.points, self.points[1:]):
            if one[0] <= moment <= two[0]:
                before, after = one, two
                break
        span = after[0] - before[0]
        return before[1] + (after[1] - before[1]) * (moment - before[0]) // span if span else before[1]

    def doubt(self, moment):
        """How much at() may be wrong there: this thread waits for a CPU as others do, also while it reads."""
        least = [value for (_, value), by in zip(self.points, self.read_by) if by <= moment]
        most = [value for begun, value in self.points if begun >= moment]
        return min(most, default=self.points[-1][1]) - max(least, default=self.points[0][1])


class Program:
    """One run of truth.NAME (or of MAIN on CLASSPATH); a context manager. WRAP: words before java's, or what makes of
    java's words those to run."""

    def __init__(self, jdk, name, *args, jvm=(), ready=True, wrap=(), main=None, classpath=CLASSES):
        self.jdk, self.name, self.lines = jdk, name, queue.Queue()
        self.output = []
        java = [jdk.java, "-Xmx1g", *jvm, "-cp", classpath, main or "truth." + name, *map(str, args)]
        command = wrap(java) if callable(wrap) else [*wrap, *java]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT, text=True, cwd=WORK)
        self.pid = self.process.pid
        # left behind by a JVM of that number which was killed: this one makes its own when it is attached to
        with contextlib.suppress(OSError):
            os.remove(f"/tmp/.java_pid{self.pid}")
        threading.Thread(target=self._read, daemon=True).start()
        if ready:
            try:
                self.wait_for("READY")
            except BaseException:
                self.__exit__()  # no `with` does so yet
                raise

    def _read(self):
        for line in self.process.stdout:
            self.output.append(line.rstrip("\n"))
            self.lines.put(line.rstrip("\n"))
        self.lines.put(None)

    def wait_for(self, word, timeout=60):
        """The rest of the next line that begins with WORD."""
        end = time.time() + timeout
        while True:
            try:
                line = self.lines.get(timeout=max(0.1, end - time.time()))
            except queue.Empty:
                raise AssertionError(f"{self.name}: no line {word} in {timeout} s: {self.output[-20:]}")
            if line is None:
                raise AssertionError(f"{self.name} ended with {self.process.wait()}: {self.said()}")
            if word == "READY" and line.endswith(word):
                return ""  # behind a warning of the JVM's, without a line's end yet
            if line.startswith(word):
                return line[len(word):].strip()

    def said(self):
        """What it printed: the begin, where a JVM that dies says why, and the end."""
        lines = [line for line in self.output if line]
        return lines if len(lines) <= 60 else [*lines[:30], f"... {len(lines) - 60} lines", *lines[-30:]]

    def say(self, word):
        self.process.stdin.write(word + "\n")
        self.process.stdin.flush()

    def ask(self, word):
        self.say(word)
        return {k: int(v) for k, v in (p.split("=") for p in self.wait_for("MARK").split())}

    def mark(self):
        """The program's counters now."""
        return self.ask("mark")

    def reset(self):
        self.ask("reset")

    def alive(self):
        return self.process.poll() is None

    def threads(self):
        """{tid: name as the kernel knows it} of the live threads."""
        found = {}
        for tid in os.listdir(f"/proc/{self.pid}/task"):
            try:
                with open(f"/proc/{self.pid}/task/{tid}/comm") as file:
                    found[int(tid)] = file.read().strip()
            except OSError:
                pass
        return found

    def cpu(self):
        """CPU ns of the process; (~pid << 3) | 2 is the kernel's name for that clock."""
        return time.clock_gettime_ns((~self.pid << 3) | 2)

    def tid(self, name):
        """Id of the thread with that name (the kernel keeps 15 characters of it)."""
        for _ in range(50):
            for tid, comm in self.threads().items():
                if comm == name[:15]:
                    return tid
            time.sleep(0.1)  # a new thread takes its name a moment after its start
        raise AssertionError(f"no thread {name}: {self.threads()}")

    def work(self, seconds, timeout=60):
        """Wait until the process has used that much CPU time: samples come of that, not of the time that passes."""
        begin, end = self.cpu(), time.time() + timeout
        while self.cpu() < begin + seconds * 1e9:
            assert time.time() < end, f"{self.name}: {(self.cpu() - begin) / 1e9} s of CPU time in {timeout} s"
            time.sleep(0.02)

    def thread_cpu(self, tid):
        """CPU ns of a thread, by the scheduler's own count."""
        with open(f"/proc/{self.pid}/task/{tid}/schedstat") as file:
            return int(file.read().split()[0])

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.pid}/fd"))

    def memory(self):
        """Resident bytes."""
        with open(f"/proc/{self.pid}/smaps_rollup") as file:
            return next(int(line.split()[1]) for line in file if line.startswith("Rss:")) * 1024

    def slots(self):
        """Where its images are mapped writable: what we make writable must not stay so."""
        with open(f"/proc/{self.pid}/maps") as maps:
            return {line.split()[0] for line in maps if ".so" in line and " rw" in line and "jstrobe" not in line}

    def play(self):
        """Let it do what it does on "begin", to the end; its counters then."""
        self.say("begin")
        wait_until(lambda: "done" in self.mark(), 300)
        return self.mark()

    def stop(self):
        """End it the normal way; returns its exit status."""
        try:
            self.say("stop")
        except OSError:
            pass
        return self.process.wait(timeout=30)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        if self.alive():
            self.process.kill()
        with contextlib.suppress(OSError):
            self.process.stdin.close()  # what runs below it ends then, too
        self.process.wait()
        return False


# ---- jstrobe ---------------------------------------------------------------------------

def replacing(args, cwd=None):
    """ARGS, words of a command, with --overwrite where one of them is a file that is there and may be its result."""
    words = list(map(str, args))
    own = words[:words.index("--")] if "--" in words else words
    there = "-f" in own[:-1] and os.path.isfile(os.path.join(cwd or WORK, own[own.index("-f") + 1]))
    read = {"convert": 2, "diff": 3}.get(own[0] if own else None)
    there |= bool(read) and len(own) > read and any(os.path.isfile(os.path.join(cwd or WORK, word)) for word in own[read:])
    first = 1 if own and own[0][0] != "-" else 0  # options come behind the command's name, if there is one
    return [*words[:first], "--overwrite", *words[first:]] if there and "--overwrite" not in words else words


def jstrobe(*args, timeout=120, overwrite=True, **more):
    """
    Run the command; returns the finished process with text in stdout and stderr. OVERWRITE: a result may replace what
    another test, or another round, has left.
    """
    words = replacing(args, more.get("cwd")) if overwrite else list(map(str, args))
    return subprocess.run([COMMAND, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, timeout=timeout, cwd=more.pop("cwd", WORK), **more)


_number = [0]


def perf_helpers(pid):
    """Processes that open events for process PID: the commands that left them had that as their last word."""
    found = []
    for helper in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{helper}/comm") as comm, open(f"/proc/{helper}/cmdline") as words:
                if comm.read() == "jstrobe perf\n" and f"\0{pid}\0" in words.read():
                    found.append(int(helper))
        except OSError:
            pass
    return found


def result_file(suffix=".json"):
    """A name that is free: an earlier process of this number may have left one."""
    _number[0] += 1
    path = os.path.join(WORK, f"result-{os.getpid()}-{_number[0]}{suffix}")
    if os.path.exists(path):
        os.remove(path)
    return path


def stolen():
    """CPU time that the machine's host has given to others, ns: clocks of threads leave it out, perf events do not."""
    with open("/proc/stat") as file:
        fields = file.readline().split()
    return int(fields[8]) * 1_000_000_000 // os.sysconf("SC_CLK_TCK")


def record(program, *options, watch=None):
    """
    Profile a running program; the profile with what is always true of one already checked.
    WATCH: name of a thread whose CPU clock is watched meanwhile (Profile.thread_clock).
    """
    path = result_file()
    clocks = [CpuClock(program.cpu)]
    if watch:
        tid = program.tid(watch)
        clocks.append(CpuClock(lambda: program.thread_cpu(tid)))
    length = float(options[options.index("-d") + 1]) if "-d" in options else 60
    before = stolen()
    done = jstrobe("record", "-t", "-o", "json", "-f", path, *options, program.pid, timeout=length + 100)
    for clock in clocks:
        clock.stop()
    assert done.returncode == 0, f"record: exit {done.returncode}: {done.stderr}{done.stdout}"
    profile = Profile(path, clocks, done)
    profile.stolen = stolen() - before
    os.remove(path)
    profile.check()
    return profile


def recorded(pid, *options):
    """The result of `record` as it is: what it says first, and what went on around the samples."""
    path = result_file(".json")
    done = jstrobe("record", "-f", path, *options, pid)
    assert done.returncode == 0, done.stderr
    with open(path) as file:
        result = json.load(file)
    os.remove(path)
    return result


def unique(pairs):
    """A JSON object whose keys must all be different."""
    keys = [key for key, _ in pairs]
    assert len(keys) == len(set(keys)), f"a key stands twice: {sorted(keys)}"
    return dict(pairs)


class Profile:
    """A result in JSON and the questions that tests ask of it."""

    def __init__(self, path, clocks=(), done=None):
        with open(path) as file:
            self.json = json.load(file, object_pairs_hook=unique)
        self.clocks, self.done = clocks, done
        self.samples, self.weight = self.json["samples"], self.json["weight"]
        self.stacks = self.json["stacks"]
        self.threads = {t["tid"]: t for t in self.json["threads"]}
        self.methods = {m["name"]: m for m in self.json["methods"]}

    def check(self):
        """Invariants of every result."""
        samples, stacks = self.samples, self.stacks
        assert self.json["schema"] == 1
        gone = samples.get("gone", 0)  # objects that are not there any more
        assert samples["taken"] == samples["stored"] + gone + sum(samples["lost"].values()), samples
        assert sum(s["samples"] for s in stacks) == samples["stored"], "a stored sample has no stack"
        assert sum(s["weight"] for s in stacks) == self.weight["total"], "weights of stacks"
        assert sum(t["samples"] for t in self.json["threads"]) == samples["stored"]
        assert all(len(s["frames"]) == len(s["kinds"]) and s["frames"] for s in stacks)

    def lost(self):
        return sum(self.samples["lost"].values())

    def lost_share(self):
        return self.lost() / max(1, self.samples["taken"])

    def _moments(self):
        """Begin and end of the session, ns of real time."""
        text = self.json["started_at"].rstrip("Z")
        began = datetime.fromisoformat(text).replace(tzinfo=timezone.utc)
        start = round(began.timestamp() * 1000) * 1_000_000
        return start, start + self.json["duration_ns"]

    def _during(self, clock):
        """What CLOCK counted during the session."""
        start, end = self._moments()
        return clock.at(end) - clock.at(start)

    def cpu_clock(self):
        """CPU ns of the target during the session by its own clock, read from outside."""
        return self._during(self.clocks[0])

    def target_cpu(self):
        """The same without our own threads."""
        return self.cpu_clock() - self.json.get("own_cpu_ns", 0)

    def accounts(self, within):
        """
        Whether sampled, lost and unsampled time together are the target's, but for WITHIN (a share of it), what the
        machine's host took away, which the kernel counts for perf events and not for CPU clocks, and what is not known
        of the target's clock at begin and end.
        """
        cpu = self.target_cpu()
        told = self.weight["total"] + self.weight["lost"] + self.weight["unsampled"]
        unknown = self.stolen + sum(self.clocks[0].doubt(moment) for moment in self._moments())
        return abs(told - cpu) <= within * cpu + unknown

    def thread_clock(self):
        """The same for the thread that record() was told to watch."""
        return self._during(self.clocks[1])

    def of_thread(self, name):
        """Stacks of all threads whose name begins with NAME."""
        tids = {tid for tid, t in self.threads.items() if t["name"].startswith(name)}
        return [s for s in self.stacks if s.get("tid") in tids]

    def total(self, method, stacks=None, key="weight"):
        """Weight (or samples) of stacks that have METHOD somewhere."""
        return sum(s[key] for s in (self.stacks if stacks is None else stacks)
                   if method in s["frames"])

    def share(self, method, stacks=None, key="weight"):
        stacks = self.stacks if stacks is None else stacks
        return self.total(method, stacks, key) / max(1, sum(s[key] for s in stacks))


JAVA_KINDS = {"interpreted", "c1", "jit", "inlined", "java_native"}
# Where a stack may begin. libc's and the JVM's first functions of a thread:
ROOTS = {"clone", "clone3", "__clone", "__clone3", "__clone_internal", "__GI___clone", "__GI___clone3",
         "start_thread", "thread_start", "_start", "__libc_start_main", "__libc_start_call_main", "main",
         # the same where libc and the launcher have no symbols but exported ones;
         "[libc.so.6]", "[java]",
         # what the JVM calls at a thread's start, and overrides of it in the JDK;
         "java.lang.Thread.run", "java.util.concurrent.ForkJoinWorkerThread.run",
         "java.lang.ref.Reference$ReferenceHandler.run", "java.lang.ref.Finalizer$FinalizerThread.run",
         "jdk.internal.misc.InnocuousThread.run", "java.util.TimerThread.run",
         "java.util.concurrent.DelayScheduler.run", "jdk.vm.ci.hotspot.HotSpotJVMCIRuntime.compileMethod",
         # what it calls at its own start and end;
         "java.lang.System.initPhase1", "java.lang.System.initPhase2", "java.lang.System.initPhase3",
         "sun.launcher.LauncherHelper.checkAndLoadMain", "java.lang.ClassLoader.loadClass",
         "java.lang.Shutdown.shutdown",
         "java.lang.Thread.exit", "java.lang.Thread.<init>", "java.lang.ThreadGroup.<init>",
         # the marked root of a virtual thread.
         "[virtual_thread]"}
ROOT_ENDS = (".main", ".<clinit>")  # Java methods that native code calls
KERNEL_ROOTS = ("ret_from_fork", "entry_SYSCALL_64")


def profile_of(command, program, *options):
    """What COMMAND (stop, dump) brings, with what is always true of a profile already checked."""
    path = result_file()
    done = jstrobe(command, "-o", "json", "-f", path, *options, program.pid)
    assert done.returncode == 0, done.stderr
    profile = Profile(path, done=done)
    profile.check()
    return profile


def is_root(frame):
    return frame in ROOTS or frame.endswith(ROOT_ENDS) or frame.startswith(KERNEL_ROOTS)


def is_error(frame, kind):
    """[break_…], [unknown…], [truncated] … - anything that stands for a frame we do not know."""
    return kind == "vm" and frame.startswith("[") and frame not in ROOTS


def java_frames(stack):
    return [f for f, k in zip(stack["frames"], stack["kinds"]) if k in JAVA_KINDS]


def incomplete(profile, stacks=None):
    """(samples in incomplete stacks, samples, the worst offenders) for a set of stacks."""
    bad, total = {}, 0
    for stack in profile.stacks if stacks is None else stacks:
        total += stack["samples"]
        frames, kinds = stack["frames"], stack["kinds"]
        root = frames[0]
        wrong = [f for f, k in zip(frames, kinds) if is_error(f, k)]
        if not wrong and not is_root(root):
            wrong = ["root " + root]
        for why in wrong[:1]:
            bad[why] = bad.get(why, 0) + stack["samples"]
    worst = sorted(bad.items(), key=lambda item: -item[1])[:6]
    return sum(bad.values()), total, worst
