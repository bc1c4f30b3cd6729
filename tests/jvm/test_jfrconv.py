"""jfrconv, our command by that name, beside async-profiler's converter: sixteen recordings, each with the options that
matter to it. Stacks, kinds of code and sums are the same; where they are not, compare() says how, and the page
docs/use/from-async-profiler.md why."""
import collections
import os
import re
import subprocess
import time

import jvm
import pytest
import viewers
from jvm import Program, jstrobe

pytestmark = pytest.mark.together

PEERS = os.path.join(jvm.OUT, "peers")
CONVERTER = os.path.join(PEERS, "jfr-converter-4.5.jar")
LIBRARY = os.path.join(PEERS, "ap45", "lib", "libasyncProfiler.so")
OURS = os.path.join(jvm.OUT, "bin", "jfrconv")
MARKER, NO_FRAMES = "[below minwidth]", "[no_frames]"
VIRTUAL_KEYS = 1 << 22  # keys of our recordings from here on are of threads without a system id

# ---- the recordings ---------------------------------------------------------------------------

NAMES = ["--lines", "--bci", "--dot", "--simple", "--norm", "--norm --simple --lines --bci --dot", "-t",
         "-t --norm --lines"]
SHAPES = ["--classify", "--classify -t", "--skip 2", "-t --skip 1", "--skip 1 -r", "-r", "-r -t", "--minwidth 5",
          "--grain 3"]
CHOICES = ["-I .*Words.*", r"-X .*Words\.\w+|truth/Deflate.*", r"-I (?:java/lang/)?.*String\$?.* -X .*_(?:\d|a)+",
           r"-t -I \[words-build.*", "-X .*", "--from 500", "--to 700", "--from -500", "--from 300 --to 900"]
ALL = [""] + NAMES + SHAPES + CHOICES + ["--total"]
FEW = ["", "-t", "--total", "--norm --dot", "--classify"]


def cpu(*options):
    return [f"--cpu {o}".strip() for o in options]


def wall(*options):
    return [f"--wall {o}".strip() for o in options]


def of(*families, options=("", "--total", "-t --norm")):
    return [f"--{f} {o}".strip() for f in families for o in options]


# name: (who, JDK, program, its arguments, options of the profiler, how it is converted)
RECORDINGS = {
    "ours, cpu": ("ours", 17, "Mixture", (), "-e cpu -i 1ms", cpu(*ALL)),
    "ours, cpu and wall": ("ours", 25, "Mixture", (), "-e cpu,wall -i 1ms",
                           cpu(*FEW) + wall("", "-t", "-s runnable", "--lines")),
    "ours, objects": ("ours", 17, "Garbage", (), "-e alloc@64k,live@64k", of("alloc", "live") + ["--alloc --simple"]),
    "ours, locks": ("ours", 25, "Contended", ("lock", 4, 1), "--lock 0 -e lock", of("lock")),
    "ours, monitors": ("ours", 17, "Contended", ("monitor", 4, 1), "--lock 0 -e lock", of("lock")),
    "ours, native memory": ("ours", 17, "NativeBlocks", ("64,1000,20000", 1 << 30, "always"), "-e nativemem@64k",
                            of("nativemem") + ["--nativemem --lines -I .*malloc.*"]),
    "ours, trace": ("ours", 17, "SlowCalls", (20,), "--trace truth.SlowCalls.*:1ms",
                    of("trace") + ["--trace --latency 10"]),
    "theirs, cpu": ("theirs", 17, "Mixture", (), "event=cpu,interval=1ms", cpu(*ALL)),
    "theirs, cpu and wall": ("theirs", 25, "Mixture", (), "event=cpu,wall=10ms,interval=1ms",
                             cpu(*FEW) + wall("", "-t", "-s runnable", "-s SLEEP", "-s s", "-s r,s", "--total")),
    "theirs, several chunks": ("theirs", 25, "Mixture", (),
                               "event=cpu,interval=1ms,alloc=64k,lock=0,wall=20ms,chunksize=100k",
                               cpu(*NAMES, *SHAPES[:2], *CHOICES) + wall("", "-s s") +
                               of("alloc", "lock")),
    "theirs, objects": ("theirs", 17, "Garbage", (), "event=cpu,interval=1ms,alloc=64k,live",
                        cpu("") + of("alloc", "live")),
    "theirs, monitors": ("theirs", 17, "Contended", ("monitor", 4, 1), "event=lock,lock=0", of("lock")),
    "theirs, native memory": ("theirs", 17, "NativeBlocks", ("64,1000,20000", 1 << 30, "always"),
                              "nativemem=64k,nativelock=0",
                              of("nativemem", "nativelock") +
                              ["--nativemem --leak", "--nativemem --leak --tail 20% --total"]),
    "theirs, trace and wall": ("theirs", 17, "SlowCalls", (40,),
                               "event=wall,interval=2ms,trace=truth.SlowCalls.*:1ms",
                               of("trace") + ["--trace --latency 10", "--trace --latency 40ms"] +
                               wall("", "--latency 5", "-t --latency 0", "--latency 4000us --lines")),
    "the JDK's, 17": ("jdk", 17, "Mixture", (), "", ["--alloc", "--alloc --norm --total", "--cpu"]),
    "the JDK's, 25": ("jdk", 25, "Mixture", (), "jdk.CPUTimeSample#enabled=true,jdk.CPUTimeSample#throttle=5ms,",
                      ["--cpu-time", "--cpu-time -t --lines", "--alloc --total", "--lock"]),
}


def recorded(name, path):
    who, version, program, args, options, _ = RECORDINGS[name]
    jdk = jvm.find_jdk(version)
    if not jdk:
        pytest.skip(f"JDK {version}: not tested (none installed, none could be fetched)")
    agents = {"theirs": [f"-agentpath:{LIBRARY}=start,{options},file={path}"],
              "jdk": [f"-XX:StartFlightRecording:settings=profile,{options}filename={path}"], "ours": []}
    with Program(jdk, program, *args, jvm=agents[who]) as p:
        if who == "ours":
            assert jstrobe("start", *options.split(), "-f", path, p.pid).returncode == 0
        if program == "SlowCalls":
            p.say("end")
            jvm.wait_until(lambda: p.mark().get("done"), 60)
        else:
            time.sleep(2)
        if who == "ours":
            assert jstrobe("stop", p.pid).returncode == 0
        p.stop()


@pytest.fixture(scope="module", params=list(RECORDINGS), ids=lambda name: name.replace(", ", "-").replace(" ", "_"))
def recording(request, programs, tmp_path_factory):
    jvm.fetched("async-profiler 4.5 and its converter could not be fetched: not compared", LIBRARY, CONVERTER)
    path = str(tmp_path_factory.mktemp("recording") / "x.jfr")
    recorded(request.param, path)
    return request.param, path


# ---- both converters --------------------------------------------------------------------------

def stacks(path):
    found = collections.Counter()
    with open(path, errors="replace") as file:
        for line in file.read().splitlines():
            stack, _, n = line.rpartition(" ")
            found[stack] += int(n)
    return found


def converted(command, options, path, out):
    if os.path.exists(out):
        os.remove(out)
    done = subprocess.run([*command, "-o", "collapsed", *options.split(), path, str(out)], capture_output=True,
                          text=True, timeout=120)
    return (stacks(out) if os.path.exists(out) else None), done


def theirs(options, path, tmp_path):
    java = [jvm.find_jdk(17).java, "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-jar", CONVERTER]
    found, done = converted(java, options, path, tmp_path / "theirs.collapsed")
    assert found is not None, done.stderr[-2000:]
    return found


def ours(options, path, tmp_path):
    return converted([OURS], options, path, tmp_path / "ours.collapsed")


# ---- what is different on purpose -------------------------------------------------------------

def changed(found, *changes):
    sums = collections.Counter()
    for stack, n in found.items():
        for pattern, by in changes:
            stack = re.sub(pattern, by, stack)
        sums[stack] += n
    return sums


KINDS = (r"_\[[01ijk]\](?=;|$)", "")
NO_ID = (r"^\[(.*) tid=(41943\d\d|4194[4-9]\d\d|419[5-9]\d{3}|4[2-9]\d{5})\]", r"[\1]")
ANY_ID = (r"^\[(.*?) ?(tid=\d+)?\]", r"[\1]")  # they show the key of a thread in the JDK's recordings
OUTSIDE_TLAB = (r"_\[k\]$", "_[i]")
SHORT_ADDRESS = (r"/0x\w+(?=[;/]|$)", "")  # which they leave in with --norm, too
SLASHES = (r"\.", "/")
HIDDEN = (r"([\w.$/]+)[+/.]0x(\w+)(?:[/.]\d+)?(?=[.;]|$)",
          lambda m: f"{m.group(1).replace('.', '/')}.0x{m.group(2)}")


def compare(name, options, their, our):
    """Equal but for the differences that docs/use/from-async-profiler.md lists under jfrconv."""
    who = RECORDINGS[name][0]
    words = options.split()
    # a virtual thread, and one of a trace, has no system id: they show the recording's key
    their = changed(their, NO_ID)
    if "--alloc" in words:  # whether it was outside a TLAB is told of all objects of a stack, as a weight
        their, our = changed(their, OUTSIDE_TLAB), changed(our, OUTSIDE_TLAB)
    if "--skip" in words:  # stacks that have no frame left are missing there
        our.pop(NO_FRAMES, None)
    if "--minwidth" in words:  # what is too narrow is missing there
        assert sum(our.values()) > sum(their.values())
        our = collections.Counter({s: n for s, n in our.items() if MARKER not in s})
    if who == "jdk":  # hidden classes have one name, whatever wrote the file; and what has no stack is shown
        their = changed(their, KINDS, (r":65535(?=;|$)", ""), HIDDEN, ANY_ID)  # the line of a frame without one
        our = changed(our, KINDS, HIDDEN, ANY_ID)
        if "--norm" in words:
            their, our = changed(their, SLASHES, SHORT_ADDRESS), changed(our, SLASHES)
        our = collections.Counter({s: n for s, n in our.items() if ";" in s})
    if "--grain" in words:  # which of the rare stacks go is a matter of their order
        assert sum(our.values()) in (sum(their.values()), sum(their.values()) + 1) and len(our) < 500
        return
    sampled = "--total" in words and (words[0] in ("--cpu", "--wall") or "--cpu-time" in words)
    if sampled and who == "theirs":  # they count samples; here each is its interval
        each = {n // their[s] for s, n in our.items()}
        assert set(their) == set(our) and len(each) == 1 and each.pop() in (10 ** 6, 10 ** 7)
        return
    if who == "ours" and "--total" in words and words[0] in ("--cpu", "--wall", "--live", "--alloc"):
        # what samples stand for is in events that they do not know
        assert set(changed(their, KINDS)) == set(changed(our, KINDS)) and sum(our.values()) >= sum(their.values())
        return
    assert our == their, (options, list((their - our).items())[:3], list((our - their).items())[:3])


def test_the_same(recording, tmp_path, say):
    name, path = recording
    empty = 0
    for options in RECORDINGS[name][5]:
        their = theirs(options, path, tmp_path)
        our, done = ours(options, path, tmp_path)
        if name == "the JDK's, 17" and options == "--cpu":
            # it has no state of CPU time, without which they find nothing
            assert not their and our and done.returncode == 0
        elif not their:
            # an empty file there; here it is said, and no file is written
            assert our is None and done.returncode == 1 and done.stderr.startswith("jstrobe: "), (options, done.stderr)
            empty += 1
        else:
            assert done.returncode == 0, (options, done.stderr)
            compare(name, options, their, our)
    say(f"{name}: converted with {len(RECORDINGS[name][5])} sets of options as async-profiler's converter does it, "
        f"{empty} of them of nothing")


@pytest.mark.parametrize("who", ["theirs", "ours"])
def test_spans(programs, tmp_path, who):
    """--tag and --latency: samples within the spans that a program makes."""
    jar, library = {"theirs": (os.path.join(PEERS, "async-profiler-4.6.jar"),
                               os.path.join(PEERS, "ap46", "lib", "libasyncProfiler.so")),
                    "ours": (os.path.join(jvm.OUT, "lib", "jstrobe.jar"), jvm.LIBRARY)}[who]
    jvm.fetched("async-profiler 4.6 and the converter could not be fetched: spans not tried", jar, library, CONVERTER)
    path, source = str(tmp_path / "spans.jfr"), os.path.join(os.path.dirname(__file__), "readers", "MakeSpans.java")
    subprocess.run([jvm.find_jdk(17).java, "-cp", jar, source, library, path], check=True, timeout=60)
    for options in ("--cpu --tag odd", "--cpu --tag even -t", "--cpu --latency 20", "--wall --tag odd --lines",
                    "--wall --latency 10ms --tag even", "--cpu --tag odd --latency 25ms -r"):
        their = theirs(options, path, tmp_path)
        our, done = ours(options, path, tmp_path)
        assert their and our == their, (options, done.stderr)
        work = "MakeSpans.even" if "even" in options else "MakeSpans.odd"
        assert sum(n for stack, n in our.items() if work in stack) > 0.8 * sum(our.values()), (options, our)
        # a signal that comes late shows the stack of a moment after the span, and has its time
        between = sum(n for stack, n in our.items() if "MakeSpans.between" in stack)
        assert between <= 0.05 * sum(our.values()), (options, between)
    assert ours("--cpu --tag neither", path, tmp_path)[1].returncode == 1


def test_a_difference(programs, tmp_path):
    """--diff: stacks with two numbers, those that are there no more included; the page in a folder."""
    jvm.fetched("async-profiler 4.5 and its converter could not be fetched: not compared", LIBRARY, CONVERTER)
    files = [str(tmp_path / f"{n}.jfr") for n in ("a", "b")]
    recorded("theirs, cpu", files[0])
    recorded("theirs, objects", files[1])
    found = []
    for command, out in ((["java", "-jar", CONVERTER], "theirs.collapsed"), ([OURS], "ours.collapsed")):
        command[0] = jvm.find_jdk(17).java if command[0] == "java" else command[0]
        done = subprocess.run([*command, "--diff", "--cpu", *files, str(tmp_path / out)], capture_output=True,
                              text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        with open(tmp_path / out) as file:
            rows = [line.rsplit(" ", 2) for line in file.read().splitlines()]
        sums = collections.defaultdict(lambda: [0, 0])
        for stack, before, after in rows:
            row = sums[re.sub(KINDS[0], "", stack)]
            row[0] += int(before)
            row[1] += int(after)
        found.append(sums)
    # the same method may have been compiled differently: two stacks there
    after = [{s: n[1] for s, n in sums.items() if n[1]} for sums in found]
    assert after[0] == after[1] and all(sums[1] >= 0 for sums in found[1].values())
    assert sum(n[0] for n in found[1].values()) == sum(theirs("--cpu", files[0], tmp_path).values())
    into = tmp_path / "into"
    into.mkdir()
    done = subprocess.run([OURS, "--diff", "--cpu", *files, str(into)], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and os.listdir(into) == ["b.diff.html"], done.stderr


def test_what_it_takes(programs, tmp_path):
    """A page with what it is told; a folder of recordings; formats that are not written, and wrong words."""
    path = tmp_path / "in" / "x.jfr"
    path.parent.mkdir()
    recorded("ours, cpu", str(path))

    def run(*words):
        return subprocess.run([OURS, *map(str, words)], capture_output=True, text=True, timeout=60, cwd=tmp_path)

    done = run("--title", "A title", "--highlight", "Words.*", "-r", "-i", "--minwidth", "0.5", "--classify",
               "--skip", 1, path, "x.html")
    page = (tmp_path / "x.html").read_text()
    assert done.returncode == 0 and ">A title" in page or "A title" in page, done.stderr
    assert all(word in page for word in ('"highlight":"Words.*"', '"reverse":true', '"inverted":true')), page[:3000]
    done = run("-o", "collapsed", "--cpu", path.parent)
    assert done.returncode == 0 and stacks(tmp_path / "x.collapsed"), done.stderr
    done = run("-o", "pb.gz", "--cpu", path.parent)
    assert done.returncode == 0 and viewers.Pprof(tmp_path / "x.pb.gz").samples, done.stderr
    for words, says in ((["-o", "heatmap", path], "jfr-converter.jar -o heatmap"),
                        (["-I", "a(?=b)", path, "y.collapsed"], "only Java's expressions"),
                        (["-X", "[a", path, "y.collapsed"], "not understood"),
                        (["-I", "a**(", path, "y.collapsed"], "not understood"),
                        (["-I", r"a{2000}", path, "y.collapsed"], "not understood"),
                        (["-X", r"\p{Lu}.*", path, "y.collapsed"], "not understood"),
                        (["--skip", "-1", path], "--skip"),
                        (["--grain", "x", path], "--grain"), (["--nothing", path], "unknown option")):
        done = run(*words)
        assert done.returncode == 2 and says in done.stderr, (words, done.stderr)
        assert not (tmp_path / "y.collapsed").exists()
    for words in (["--latency", "10", path, "y.html"], ["--tag", "x", path, "y.html"],
                  ["-I", "nothing like it", "--cpu", path, "y.collapsed"]):
        done = run(*words)
        assert done.returncode == 1 and "jstrobe: " in done.stderr, (words, done.stderr)
        assert not (tmp_path / "y.html").exists()
    # options for the JVM that runs theirs; a name without a suffix is a page there
    done = run("-Xmx1g", "-XX:+UseSerialGC", "-Dx=y", "-J-Xss1m", path, "page")
    assert done.returncode == 0 and (tmp_path / "page").read_text().startswith("<!DOCTYPE html>"), done.stderr
    assert "filtered" not in done.stderr and run("-Xmx1g").returncode == 2
    done = run("-X", "nothing like it", path, "text.txt")
    assert done.returncode == 0 and "<html" not in (tmp_path / "text.txt").read_text(), done.stderr
    # what `convert` itself is told are names
    done = jstrobe("convert", "-I", ".*Words.*", path)
    assert done.returncode == 2 and "which jfrconv takes" in done.stderr
