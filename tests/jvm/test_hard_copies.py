"""Several copies of the library in one JVM: a command finds the session, and none stands in another's way."""
import concurrent.futures
import os
import re
import shutil

import jvm
import pytest
from jvm import Program, jstrobe, record

from test_hard_peers import METHOD, async_profiler, load_agent

pytestmark = pytest.mark.together


def copy_to(*folders, old=False):
    """A copy of the library; OLD: as it was before copies knew each other."""
    path = os.path.join(jvm.OWN, *folders, "libjstrobe.so")
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(jvm.LIBRARY, "rb") as file:
        bytes = file.read()
    if old:
        assert b"\0jstrobe_copy\0" in bytes
        bytes = bytes.replace(b"\0jstrobe_copy\0", b"\0other_symbol\0")
    with open(path + ".new", "wb") as file:
        file.write(bytes)
    os.rename(path + ".new", path)
    return path


def mapped(program):
    """The copies of the library that the program has."""
    with open(f"/proc/{program.pid}/maps") as maps:
        return {line.split(None, 5)[5].strip() for line in maps if "libjstrobe" in line}


def test_commands_find_the_session_of_another_copy(jdk):
    theirs = copy_to("found")
    with Program(jdk, "KnownShares") as program:
        assert jstrobe("start", "--libpath", theirs, "-e", "cpu", "-i", "1ms", program.pid).returncode == 0
        status = jstrobe("status", program.pid)
        assert "Profiling is running" in status.stdout and theirs in status.stderr, status
        assert mapped(program) == {theirs}  # to ask it loaded no other one
        program.work(0.3)
        refused = jstrobe("start", "-e", "cpu", program.pid)
        assert refused.returncode == 1 and theirs in refused.stderr and "stop" in refused.stderr, refused
        again = jstrobe("record", "-e", "cpu", "-d", "0.2", program.pid)
        assert again.returncode == 1 and theirs in again.stderr, again
        beside = jstrobe("start", "-e", "wall", program.pid)
        assert beside.returncode == 0 and theirs in beside.stderr, beside
        # two sessions: ours is the first to be meant, and each is told of while it is there
        ours = jstrobe("stop", "-o", "collapsed", program.pid)
        assert ours.returncode == 0 and theirs in ours.stderr, ours
        dump = jstrobe("dump", "-o", "collapsed", program.pid)
        assert dump.returncode == 0 and METHOD in dump.stdout.replace("/", "."), dump
        last = jstrobe("stop", "-o", "collapsed", program.pid)
        assert last.returncode == 0 and METHOD in last.stdout.replace("/", "."), last
        assert "not active" in jstrobe("status", program.pid).stdout
        assert record(program, "-e", "cpu", "-i", "1ms", "-d", "0.5").samples["stored"] > 0
        assert program.stop() == 0, program.output[-5:]


@pytest.mark.parametrize("old", [False, True])
def test_a_copy_that_was_replaced_on_disk(jdk, old):
    theirs = copy_to("replaced", old=old)
    with Program(jdk, "KnownShares") as program:
        assert jstrobe("start", "--libpath", theirs, "-e", "cpu", "-i", "1ms", program.pid).returncode == 0
        os.remove(theirs)
        program.work(0.3)
        assert "Profiling is running" in jstrobe("status", program.pid).stdout
        beside = jstrobe("start", "-e", "wall" if old else "cpu", program.pid)
        assert "another copy" in beside.stderr and beside.returncode == (0 if old else 1), beside
        if old:
            assert jstrobe("stop", "-o", "collapsed", program.pid).returncode == 0
        last = jstrobe("stop", "-o", "collapsed", program.pid)
        assert last.returncode == 0 and METHOD in last.stdout.replace("/", "."), last
        assert "not active" in jstrobe("status", program.pid).stdout
        assert program.stop() == 0, program.output[-5:]


# ---- all at the same moment ------------------------------------------------------------

IMAGES = re.compile(r"/(libjvm|libjava|libjli|libnio|libnet|libzip|libtruth[^/]*)\.so$|/bin/java$")


def ours_in_slots(program):
    """How many words of the JVM's libraries point into code of copies of jstrobe's."""
    code, data = [], []
    with open(f"/proc/{program.pid}/maps") as maps:
        for line in maps:
            fields = line.split(None, 5)
            start, end = (int(n, 16) for n in fields[0].split("-"))
            name = fields[5].strip() if len(fields) > 5 else ""
            if "libjstrobe" in name and "x" in fields[1]:
                code.append((start, end))
            elif IMAGES.search(name) and "x" not in fields[1] and "r" in fields[1]:
                data.append((start, end))
    count = 0
    with open(f"/proc/{program.pid}/mem", "rb", buffering=0) as memory:
        for start, end in data:
            memory.seek(start)
            words = memoryview(memory.read(end - start)).cast("Q")
            count += sum(1 for word in words if any(a <= word < b for a, b in code))
    return count


def may_refuse(done):
    """A start on a machine that is so busy that another copy, or the JVM, takes seconds for what takes milliseconds."""
    return re.search(r"try again|longer --attach-timeout", done.stderr)


def test_all_at_the_same_moment(jdk):
    """Three copies while threads begin and end, children are made and libraries come and go."""
    if jdk.version != 25 and not jvm.SOAK:
        pytest.skip("only with full counts (make soak)")
    copies = [copy_to(f"moment{n}") for n in range(3)]
    events = ["cpu", "wall", "ctimer"]
    other = jvm.result_file(".so")
    shutil.copyfile(jvm.NATIVE, other)

    def start(n, turn):
        return jstrobe("start", "--libpath", copies[n], "-e", events[(n + turn) % 3], "-i", "5ms", program.pid)

    def stop(n):
        return jstrobe("stop", "--libpath", copies[n], "-o", "collapsed", program.pid)

    with Program(jdk, "Tricks", jvm.NATIVE, other, "attached+loaded+forked+segv") as program, \
            concurrent.futures.ThreadPoolExecutor(3) as pool:
        for turn in range(jvm.counted(3, 500)):
            began = list(pool.map(start, range(3), [turn] * 3))
            running = [n for n in range(3) if began[n].returncode == 0]
            assert running and all(may_refuse(done) for done in began if done.returncode), began
            if turn == 0:
                assert ours_in_slots(program) > 0
            ended = list(pool.map(stop, running))
            assert all(done.returncode == 0 for done in ended), ended
        jvm.wait_until(lambda: program.mark()["failed"] == 0 and program.alive())
        assert ours_in_slots(program) == 0
        assert program.stop() == 0, program.output[-5:]
    os.remove(other)


def test_all_at_the_same_moment_with_async_profiler(jdk17):
    library = async_profiler()
    copies = [copy_to(f"beside{n}") for n in range(2)]
    result = jvm.result_file(".collapsed")

    def theirs(command):
        return load_agent(program, library, command)

    def ours(command, n, *more):
        return jstrobe(command, "--libpath", copies[n], *more, program.pid)

    with Program(jdk17, "KnownShares") as program, concurrent.futures.ThreadPoolExecutor(3) as pool:
        for turn in range(jvm.counted(2, 500)):
            began = [pool.submit(ours, "start", 0, "-e", "cpu"), pool.submit(ours, "start", 1, "-e", "wall"),
                     pool.submit(theirs, f"start,event={'cpu' if turn % 2 else 'wall'},interval=5ms,file={result}")]
            assert all(done.result().returncode == 0 for done in began[:2]), began
            began[2].result()
            ended = [pool.submit(ours, "stop", 0, "-o", "flat"), pool.submit(ours, "stop", 1, "-o", "flat"),
                     pool.submit(theirs, f"stop,collapsed,file={result}")]
            assert all(done.result().returncode == 0 for done in ended[:2]), ended
            ended[2].result()
        assert ours_in_slots(program) == 0
        assert record(program, "-e", "cpu", "-i", "1ms", "-d", "0.5").samples["stored"] > 0
        assert program.stop() == 0, program.output[-5:]
    os.remove(result)
