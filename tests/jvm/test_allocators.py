"""Native memory where another allocator was preloaded, or another profiler is at the same functions."""
import glob
import os
import time

import jvm
import pytest
from jvm import Program, counted, jstrobe, result_file

from test_hard_copies import copy_to
from test_hard_peers import load_agent
from test_nativemem import METHODS, asked, own, queue_full, result, start

pytestmark = pytest.mark.in_pairs

ALLOCATORS = {"jemalloc": "libjemalloc.so.2", "tcmalloc": "libtcmalloc_minimal.so.4"}


@pytest.fixture(params=sorted(ALLOCATORS))
def preloaded(request):
    """What to start a program with, so that this allocator stands before libc's."""
    found = glob.glob("/usr/lib/*/" + ALLOCATORS[request.param]) + glob.glob("/usr/lib*/" + ALLOCATORS[request.param])
    if not found:
        pytest.skip(f"{ALLOCATORS[request.param]} is not here: scripts/deps.sh test installs it where Debian's archive "
                    "can be reached")
    return ["env", "LD_PRELOAD=" + found[0]]


@pytest.mark.parametrize("live", [False, True])
def test_each_block(jdk, preloaded, live, say):
    """
    What the program knows of its blocks, to the byte, freed by other threads and changed by realloc. The allocator maps
    memory within its own functions, so mappings are told at the same time from within malloc.
    """
    with Program(jdk, "NativeBlocks", "1000,20000", 3_000_000, wrap=preloaded) as program:
        start(program, 0)
        result(program)
        before = program.slots()  # what the first session leaves, stays
        start(program, 0, "--nativemap", *(["--nativemem-live"] if live else []))
        truth = program.play()
        profile = result(program, "--show", "nativemem")
        assert program.alive() and program.slots() == before
        assert program.stop() == 0, program.output[-5:]
    say(f"nativemem=0 over {preloaded[1]}, live {live}, {jdk}: {profile.samples['stored']} samples, "
        f"queue_full {queue_full(profile)}")
    lost = profile.weight["lost"]
    for method in METHODS:
        true = asked(truth, method, "left_" if live else "")
        assert true - lost <= own(profile, method) <= true, (method, truth, profile.samples)
        assert lost or own(profile, method) == true
    assert own(profile, "buffers") == truth["direct"] or lost


def test_rounds_under_load(jdk, preloaded):
    """Hooks in and out of an allocator that all threads are in."""
    with Program(jdk, "NativeBlocks", "64,1000,20000,300000", 1 << 30, "always", wrap=preloaded) as program:
        start(program, 0)
        result(program)
        before = program.slots()  # what the first session leaves, stays
        for i in range(counted(15, 300)):
            done = jstrobe("start", "-e", "cpu", "--nativemap", "--nativemem", str((0, 4096, 524288)[i % 3]),
                           program.pid)
            assert done.returncode == 0, done.stderr
            time.sleep(0.05)
            assert jstrobe("stop", "-f", "/dev/null", program.pid).returncode == 0
        assert program.alive() and program.slots() == before
        assert program.stop() == 0, program.output[-5:]


def test_two_copies(jdk17, preloaded):
    """One copy has the event, then the other one has it, while the first samples CPU time."""
    ours, theirs = jvm.LIBRARY, copy_to("allocators")
    with Program(jdk17, "NativeBlocks", "1000,20000", 1 << 30, "always", wrap=preloaded) as program:
        for first, second in ((ours, theirs), (theirs, ours)):
            assert jstrobe("start", "--libpath", first, "--nativemem", "4096", program.pid).returncode == 0
            assert jstrobe("start", "--libpath", second, "-e", "cpu", program.pid).returncode == 0
            time.sleep(0.3)
            told = [jstrobe("stop", "-o", "collapsed", program.pid) for _ in range(2)]
            assert all(t.returncode == 0 for t in told), told
            assert any("allocateMemory0" in t.stdout for t in told), told
        assert program.alive() and program.stop() == 0, program.output[-5:]


@pytest.mark.parametrize("first", ["ours", "theirs"])
def test_beside_async_profilers(jdk17, first):
    """
    async-profiler's nativemem in the same process, before or after ours. It never puts its slots back: what it has
    taken first we do not see, and what it takes after us goes on through ours when we have stopped.
    """
    library = os.path.join(jvm.OUT, "peers", "ap46", "lib", "libasyncProfiler.so")
    if jvm.SOAK:
        jvm.run_script("fetch-peers.sh")
    if not os.path.exists(library):
        pytest.skip("async-profiler is not there: scripts/fetch-peers.sh fetches it (make soak does)")
    theirs = result_file(".jfr")
    with Program(jdk17, "NativeBlocks", "1000,20000", 1 << 30, "always") as program:
        for who in (("ours", "theirs") if first == "ours" else ("theirs", "ours")):
            if who == "ours":
                start(program, 4096, "--nativemem-live")
            else:
                load_agent(program, library, f"start,nativemem=4096,event=cpu,file={theirs}")
            time.sleep(0.5)
        profile = result(program)
        load_agent(program, library, f"stop,file={theirs}")
        start(program, 4096)
        time.sleep(0.3)
        again = result(program)
        assert program.alive() and program.stop() == 0, program.output[-5:]
    assert os.path.getsize(theirs) > 1000
    if first == "ours":
        assert profile.samples["taken"] > 20, profile.samples
    # either it is seen, or all slots are async-profiler's
    assert again.samples["taken"] >= 0
