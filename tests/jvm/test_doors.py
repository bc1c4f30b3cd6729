"""
The words by which other programs drive async-profiler, letter for letter (JMH, IntelliJ IDEA, arthas, Gradle's profiler,
Spark's plugin, Pyroscope, Spring, Quarkus), given to its library and to ours: the same exit status of the program, the same
files, of the same kind, and the same types of events in recordings, but for what is said here.
"""
import os
import re
import subprocess
import time

import jvm
import pytest
from jvm import LIBRARY, Program

pytestmark = pytest.mark.together

PEER = os.path.join(jvm.OUT, "peers", "ap46", "lib", "libasyncProfiler.so")

# Types that both write: what a reader of recordings looks for.
SAMPLES = {"jdk.ExecutionSample", "profiler.WallClockSample", "jdk.ObjectAllocationInNewTLAB", "jdk.ObjectAllocationOutsideTLAB",
           "profiler.LiveObject", "jdk.JavaMonitorEnter", "jdk.ThreadPark", "profiler.Malloc", "profiler.Free", "jdk.MethodTrace"}

# who sends it, for -agentpath: {} is the folder of the results
AT_START = {
    "IntelliJ IDEA": "version,jfr,event=wall,interval=10ms,cstack=no,file={}/X.jfr,dbghelppath=/x/dbghelp.dll,log={}/log.txt,logLevel=DEBUG",
    "Gradle, older": "start,event=cpu,interval=10000000,jstackdepth=2048,buffer=10000000,file={}/out.collapsed,collapsed=total,ann",
    "Pyroscope": "start,event=itimer,alloc=512k,lock=10ms,interval=10ms,file={}/pyroscope.jfr",
    "Pyroscope with cpu": "start,event=cpu,alloc=524288,live,interval=10ms,file={}/live.jfr",
    "Spring": "start,event=wall,alloc,loop=1h,interval=10ms,file={}/spring.jfr",
    "Quarkus": "start,event=cpu,file={}/F.html,interval=1000000,simple",
    "Spark": "start,event=wall,interval=10ms,alloc=2m,lock=10ms,chunktime=300s,file={}/profile-exec-1.jfr",
    "tracing": "start,event=cpu,trace=truth.KnownShares.alpha:1ms,file={}/trace.jfr",
    "a method": "start,event=truth.KnownShares.alpha,file={}/method.collapsed,collapsed",
    "everything": "start,all,file={}/all.jfr",
    "ttsp": "start,event=cpu,ttsp,file={}/ttsp.jfr",
    "a list": "start,event=cpu,wall,alloc=1m,lock,file={}/list.jfr",
    "old words": "start,event=cpu,interval=1us,framebuf=1000000,allkernel,width=1200,height=16,file={}/old.txt,traces=10,flat=10",
}


def run(jdk, library, text, folder):
    os.makedirs(folder)
    with Program(jdk, "KnownShares", jvm=[f"-agentpath:{library}={text.format(folder, folder)}"]) as program:
        time.sleep(1.5)
        assert program.stop() == 0, program.output[-5:]
    return {name: kind(os.path.join(folder, name)) for name in sorted(os.listdir(folder))}


def kind(path):
    """What a file is, by what it begins with; of a recording the types of samples that are in it."""
    with open(path, "rb") as file:
        content = file.read()
    if content.startswith(b"FLR\0"):
        tool = os.path.join(jvm.find_jdk(25).home, "bin", "jfr")
        told = subprocess.run([tool, "summary", path], stdout=subprocess.PIPE, text=True, check=True).stdout
        counts = re.findall(r"^ (\S+) +(\d+) +\d+ *$", told, re.M)
        return {name for name, count in counts if int(count) and name in SAMPLES}
    if b"<html" in content[:1000].lower() or b"<!doctype" in content[:200].lower():
        return "page"
    if re.match(rb"--- Execution profile ---", content):
        return "text"
    if re.fullmatch(rb"\d+\.\d[\d.]*\n?", content):
        return "version"
    lines = content.decode().splitlines()
    if lines and all(re.fullmatch(r".+ \d+", line) for line in lines):
        return "collapsed"
    return "log" if path.endswith("log.txt") else content[:60]


def compare(ours, theirs, who):
    assert set(ours) == set(theirs), (who, ours, theirs)
    for name, wanted in theirs.items():
        found = ours[name]
        if isinstance(wanted, set):
            # what is rare may be missing in one of them in so short a time
            rare = {"jdk.ObjectAllocationOutsideTLAB", "jdk.ThreadPark", "jdk.JavaMonitorEnter", "profiler.LiveObject", "jdk.ObjectAllocationInNewTLAB",
                    "profiler.Malloc", "profiler.Free"}
            if who == "ttsp":  # safepoints are short: a sample in one is chance
                rare.add("jdk.ExecutionSample")
            assert isinstance(found, set) and wanted - rare == found - rare, (who, name, found, wanted)
        else:
            assert found == wanted, (who, name, found, wanted)


def both(run_one, jdk, told, tmp_path, who):
    """RUN_ONE with what WHO tells async-profiler's library, and ours."""
    jvm.fetched("async-profiler cannot be fetched: what others send it was not compared", PEER)
    theirs = run_one(jdk, PEER, told, str(tmp_path / "theirs"))
    compare(run_one(jdk, LIBRARY, told, str(tmp_path / "ours")), theirs, who)


@pytest.mark.parametrize("who", AT_START)
def test_at_start(jdk, who, tmp_path):
    both(run, jdk, AT_START[who], tmp_path, who)


# what a library is told that is loaded into a JVM which runs: by asprof, arthas, Spark's plugin
LOADED = {
    "asprof": ["start,quiet,file={}/flame.html,event=cpu,interval=10000000,", "stop,file={}/flame.html,event=cpu,"],
    "asprof, alloc": ["start,quiet,file={}/a.collapsed,collapsed,event=alloc,", "stop,file={}/a.collapsed,collapsed,"],
    "asprof, text": ["start,quiet,event=cpu,", "stop,file={}/flat.txt,flat,traces=5,"],
    "arthas": ["start,event=cpu,interval=10000000,", "stop,event=cpu,file={}/arthas.html,interval=10000000,"],
    "Gradle": ["start,event=cpu,interval=10000000,jstackdepth=2048,samples,ann,jfr,file={}/g.jfr", "stop,jfr,file={}/g.jfr,ann"],
    "Gradle, collapsed": ["start,event=cpu,interval=10000000,jstackdepth=2048,total,ann,collapsed,file={}/g.collapsed",
                          "stop,collapsed,file={}/g.collapsed,ann"],
    "Spark": ["start,event=wall,interval=10ms,alloc=2m,lock=10ms,file={}/e.jfr", "dump,file={}/e.jfr", "stop,file={}/e.jfr"],
    "other formats": ["start,event=wall,interval=10ms", "dump,collapsed,file={}/dump.collapsed", "stop,flamegraph,file={}/stop.html"],
    "resume": ["start,event=cpu,interval=1ms", "stop", "resume,event=cpu,interval=1ms", "stop,collapsed,file={}/r.collapsed"],
}


def load(jdk, library, lines, folder):
    os.makedirs(folder)
    with Program(jdk, "KnownShares") as program:
        for line in lines:
            subprocess.run([os.path.join(jdk.home, "bin", "jcmd"), str(program.pid), "JVMTI.agent_load", library,
                            f'"{line.format(folder)}"'], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(0.7)
        assert program.stop() == 0
    return {name: kind(os.path.join(folder, name)) for name in sorted(os.listdir(folder))}


@pytest.mark.parametrize("who", LOADED)
def test_loaded(jdk, who, tmp_path):
    both(load, jdk, LOADED[who], tmp_path, who)
