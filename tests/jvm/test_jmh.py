"""JMH's own profiler `async` with our library: `-prof async:libPath=libjstrobe.so`."""
import os
import subprocess

import jvm
import pytest

pytestmark = pytest.mark.in_pairs

PEERS = os.path.join(jvm.OUT, "peers")
JARS = [os.path.join(PEERS, name + ".jar") for name in
        ("jmh-core-1.37", "jmh-generator-annprocess-1.37", "jopt-simple-5.0.4", "commons-math3-3.6.1")]
PEER = os.path.join(PEERS, "ap46", "lib", "libasyncProfiler.so")
SOURCE = os.path.join(jvm.ROOT, "tests", "jvm", "java", "bench", "bench", "Burn.java")
CLASSES = os.path.join(jvm.WORK, "bench")
RUNS = [f"bench.Burn.burn-Throughput-turns-{n}" for n in (10, 20)]


@pytest.fixture(scope="module")
def jmh(programs):
    jvm.fetched("JMH cannot be fetched: its profiler async was not tried with our library", *JARS)
    os.makedirs(CLASSES, exist_ok=True)
    subprocess.run([os.path.join(jvm.compiler(), "bin", "javac"), "--release", "8", "-Xlint:-options", "-nowarn", "-cp",
                    ":".join(JARS), "-d", CLASSES, SOURCE], check=True)
    return ":".join([*JARS, CLASSES])


def run(jdk, jmh, folder, library, options):
    """The files that are there afterwards, as {run: {name}}."""
    # others may measure on this machine, too
    done = subprocess.run([jdk.java, "-Djmh.ignoreLock=true", "-cp", jmh, "org.openjdk.jmh.Main", "-f", "1", "-wi", "1",
                           "-i", "2", "-w", "100ms", "-r", "300ms", "-prof", f"async:libPath={library};dir={folder};{options}"], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300, cwd=folder)
    assert done.returncode == 0 and "<failure>" not in done.stdout and "Exception:" not in done.stdout, done.stdout
    assert "Burn.burn:async" in done.stdout, done.stdout
    return {name: set(os.listdir(os.path.join(folder, name))) for name in os.listdir(folder)}


def content(folder, run_name, name):
    with open(os.path.join(folder, run_name, name), "rb") as file:
        return file.read()


@pytest.mark.parametrize("event", ["cpu", "ctimer", "wall"])
def test_every_output(jdk, jmh, tmp_path, event):
    """A folder for each benchmark and its parameter; each file of it has the benchmark inside."""
    found = run(jdk, jmh, str(tmp_path), jvm.LIBRARY, f"event={event};output=flamegraph,tree,jfr,collapsed,text")
    names = {f"tree-{event}.html", f"flame-{event}-forward.html", f"flame-{event}-reverse.html", f"jfr-{event}.jfr",
             f"collapsed-{event}.csv", f"summary-{event}.txt"}
    assert found == dict.fromkeys(RUNS, names)
    for run_name in RUNS:
        for name in names:
            assert b"burn" in content(str(tmp_path), run_name, name), (run_name, name)
        stacks = content(str(tmp_path), run_name, f"collapsed-{event}.csv").decode()
        assert "bench/Burn.burn" in stacks or "bench/jmh_generated/Burn_burn" in stacks, stacks


@pytest.mark.parametrize("options", [
    "event=itimer;interval=1000000;threads=true;framebuf=1000000;minwidth=1;allkernel=false;jstackdepth=256;"
    "direction=both;include=*;simple=true;output=flamegraph,collapsed,text",
    "event=ctimer;alloc=524288;lock=10000;output=jfr"])
def test_files_as_with_async_profiler(jdk17, jmh, tmp_path, options):
    """The same names, from the same words, of runs that say much more."""
    if not os.path.exists(PEER):
        pytest.skip("async-profiler cannot be fetched: names of files were not compared with its")
    files = []
    for name, library in (("ours", jvm.LIBRARY), ("theirs", PEER)):
        folder = tmp_path / name
        folder.mkdir()
        files.append(run(jdk17, jmh, str(folder), library, options))
    assert files[0] == files[1], files
