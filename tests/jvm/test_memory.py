"""jstrobe memory: the lines add up to the kernel's Rss, and known amounts are in the right line."""
import json
import os
import re
import signal
import struct
import subprocess
import sys
import time

import container
import jvm
import pytest
from container import Container
from jvm import Program, jstrobe, wait_until

pytestmark = pytest.mark.together

MB = 1 << 20
AMOUNTS = {"java_heap": 200, "direct": 200, "large": 100, "small": 64, "mapped": 64}
ARGS = (200, 200, 100, 64, 64, 50)


def memory(pid):
    done = jstrobe("memory", "--json", pid)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["schema"] == 1 and found["kind"] == "memory" and found["pid"] == pid
    assert sum(found["resident"].values()) == found["rss"], found
    return found


def rss(pid):
    with open(f"/proc/{pid}/smaps") as file:
        return sum(int(line.split()[1]) for line in file if line.startswith("Rss:")) * 1024


def check_amounts(found, tolerance=0.06):
    lines = found["resident"]
    large = (AMOUNTS["direct"] + AMOUNTS["large"]) * MB
    assert lines["java_heap"] >= AMOUNTS["java_heap"] * MB * 0.97, lines
    assert large * 0.99 <= lines["malloc_large"] <= large * (1 + tolerance), lines
    half = AMOUNTS["small"] * MB / 2
    assert found["malloc"]["free_known"], found["malloc"]
    # what compilers gave back is in it, 0 to 8 MB
    assert half * 0.9 <= lines["malloc_free"] <= half * 1.2 + 8 * MB, lines
    assert half * 0.95 <= lines["malloc_used"] <= half * 1.6, lines
    assert AMOUNTS["mapped"] * MB <= lines["mapped"] <= AMOUNTS["mapped"] * MB + 24 * MB, lines
    # 4,000 frames of 16 bytes at the least, 1 MB at the most
    assert 50 * 64_000 <= lines["stacks_java"] <= 90 * MB and found["threads"]["java"] >= 50, found
    assert found["threads"]["gc"] >= 1 or lines["stacks_gc"] == 0
    assert lines["unnamed"] <= found["rss"] * 0.03, found


@pytest.mark.parametrize("collector", ["G1", "Serial", "Parallel", "Z", "Shenandoah"])
def test_known_amounts(jdk, collector, say):
    with Program(jdk, "Resident", *ARGS, jvm=[f"-XX:+Use{collector}GC", "-Xmx768m"]) as program:
        found = memory(program.pid)
        check_amounts(found)
        assert found["jvm"]["heap_max"] == 768 * MB, found["jvm"]
        assert found["jvm_tables"] and found["main"] == "truth.Resident" and found["jdk"].startswith(str(jdk.version))
        assert abs(found["rss"] - rss(program.pid)) <= 0.02 * found["rss"], "another reading, a moment later"
        say(f"{jdk} {collector}: not named {100 * found['resident']['unnamed'] / found['rss']:.2f} %")
        assert program.alive() and program.mark() is not None
        assert "libjstrobe" not in open(f"/proc/{program.pid}/maps").read(), "nothing is loaded"


def resident(pid, ranges):
    """Resident bytes of address ranges, by pagemap."""
    found = 0
    with open(f"/proc/{pid}/pagemap", "rb", 0) as file:
        for start, end in ranges:
            file.seek(start // 4096 * 8)
            entries = file.read((end - start) // 4096 * 8)
            found += 4096 * sum(entry >> 63 for (entry,) in struct.iter_unpack("<Q", entries))
    return found


NMT = r"^\[0x([0-9a-f]+) - 0x([0-9a-f]+)\] reserved(?: and committed)? \d+KB for ([\w ]+?) from"


@pytest.mark.parametrize("collector", ["G1", "Serial", "Parallel", "Z", "Shenandoah"])
def test_against_nmt(jdk, collector):
    """What the JVM itself says of its mappings, with -XX:NativeMemoryTracking=detail, is what is found without it."""
    with Program(jdk, "ManyClasses", 8000, jvm=["-XX:NativeMemoryTracking=detail", f"-XX:+Use{collector}GC"]) as program:
        lines = memory(program.pid)["resident"]
        said = subprocess.run([os.path.join(jdk.home, "bin", "jcmd"), str(program.pid), "VM.native_memory", "detail"],
                              capture_output=True, text=True, timeout=60).stdout
        tags = {}
        for start, end, tag in re.findall(NMT, said, re.M):
            tags.setdefault(tag, []).append((int(start, 16), int(end, 16)))
        truth = {tag: resident(program.pid, ranges) for tag, ranges in tags.items()}
        assert truth["Metaspace"] > 12 * MB and truth["Class"] > 2 * MB
        stacks = sum(value for key, value in lines.items() if key.startswith("stacks"))
        # the JVM goes on meanwhile, and the code that answers jcmd is loaded
        for found, tag, slack in [(lines["metaspace"], "Metaspace", 0.03), (lines["class_space"], "Class", 0.03),
                                  (lines["code"], "Code", 0.1), (stacks, "Thread Stack", 0.15),
                                  (lines["gc"], "GC", 0.1)]:
            expected = truth.get(tag, 0)
            assert abs(found - expected) <= slack * expected + MB // 2, (tag, found, expected, lines, truth)


def test_text(jdk17):
    with Program(jdk17, "Resident", 100, 64, 0, 100, 16, 5) as program:
        text = jstrobe("memory", program.pid).stdout
        assert text.startswith(f"Process {program.pid}, truth.Resident, JDK 17.")
        assert re.search(r"^ +\d+ MB +[\d.]+%  Java heap ", text, re.M) and "Rss, as the kernel counts it" in text
        assert re.search(r"free memory that glibc keeps in \d+ arenas", text), text


def test_nmt_is_asked_for(jdk):
    """--nmt: the JVM's own accounts beside the table, whose lines stay what they are; a sentence where it keeps none."""
    with Program(jdk, "Resident", *ARGS, jvm=["-XX:NativeMemoryTracking=summary"]) as program:
        text = jstrobe("memory", "--nmt", program.pid)
        assert text.returncode == 0 and "as the JVM counts it" in text.stdout and "  Java Heap\n" in text.stdout, text
        found = json.loads(jstrobe("memory", "--nmt", "--json", program.pid).stdout)
        said = subprocess.run([os.path.join(jdk.home, "bin", "jcmd"), str(program.pid), "VM.native_memory", "summary"],
                              capture_output=True, text=True, timeout=60).stdout
        assert sum(found["resident"].values()) == found["rss"]
        heap = {line["name"]: line for line in found["nmt"]["lines"]}["Java Heap"]
        assert [heap["reserved"] >> 10, heap["committed"] >> 10] == \
            list(map(int, re.search(r"Java Heap \(reserved=(\d+)KB, committed=(\d+)KB", said).groups())), said
        assert abs(sum(line["committed"] for line in found["nmt"]["lines"]) / found["nmt"]["committed"] - 1) < 0.02
    with Program(jdk, "Sleepers", 1, "idle") as program:
        done = jstrobe("memory", "--nmt", program.pid)
        assert done.returncode == 0 and "NativeMemoryTracking=summary" in done.stderr, done
        assert "Rss, as the kernel counts it" in done.stdout and "nmt" not in memory(program.pid)


def test_own_memory(jdk, say):
    """What jstrobe's library maps has a line of its own, also of a copy under another name; its data are a library's."""
    with Program(jdk, "Leaks", 1 << 20, 100 << 20, jvm=["-Xmx256m"]) as program:
        before = memory(program.pid)["resident"]
        assert before["jstrobe"] == 0, before
        assert jstrobe("start", "-e", "cpu,live@4k", "-i", "1ms", program.pid).returncode == 0
        program.say("begin")
        time.sleep(3)
        during = memory(program.pid)["resident"]
        assert jstrobe("stop", "-f", "/dev/null", program.pid).returncode == 0
        after = memory(program.pid)["resident"]
    say(f"{jdk}: jstrobe's own {during['jstrobe'] >> 10} KB, then {after['jstrobe'] >> 10} KB; not named "
        f"{before['unnamed'] >> 10}, {during['unnamed'] >> 10} and {after['unnamed'] >> 10} KB")
    assert during["jstrobe"] > 2 * MB and 0 < after["jstrobe"] < during["jstrobe"], (during, after)
    for found in (during, after):
        assert found["unnamed"] - before["unnamed"] < MB // 4, (before, found)


def test_nmt_header(jdk):
    """NMT puts a header before each block of the JVM's."""
    with Program(jdk, "Resident", *ARGS, jvm=["-XX:NativeMemoryTracking=summary"]) as program:
        check_amounts(memory(program.pid))


def test_without_performance_data(jdk17):
    with Program(jdk17, "Resident", *ARGS, jvm=["-XX:-UsePerfData"]) as program:
        found = memory(program.pid)
        check_amounts(found)
        assert found["jvm"]["heap_committed"] == 0


def test_large_heap_of_which_little_is_used(jdk17):
    """What was touched by -XX:+AlwaysPreTouch is resident."""
    with Program(jdk17, "Resident", 10, 0, 0, 0, 1, 1, jvm=["-Xms512m", "-Xmx512m", "-XX:+AlwaysPreTouch"]) as program:
        lines = memory(program.pid)["resident"]
        assert 511 * MB <= lines["java_heap"] <= 513 * MB, lines
        assert lines["gc"] > MB, lines


PYTHON = "import mmap,time\nx=bytearray(100<<20)\ny=mmap.mmap(-1,30<<20)\ny[:]=bytes(30<<20)\nprint('ok',flush=True)\ntime.sleep(100)"


def test_watch(jdk):
    """The line that grows is told, and Ctrl-C is a good end; so is that of the process."""
    with Program(jdk, "Resident", *ARGS) as program:
        looking = subprocess.Popen([jvm.COMMAND, "memory", "--watch", "300ms", "--json", str(program.pid)],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        before = json.loads(looking.stdout.readline())
        program.say("begin")
        wait_until(lambda: program.mark().get("grown"))
        while True:
            after = json.loads(looking.stdout.readline())
            assert sum(after["resident"].values()) == after["rss"]
            if after["resident"]["malloc_large"] - before["resident"]["malloc_large"] >= 64 * MB:
                break
        looking.send_signal(signal.SIGINT)
        assert looking.wait(timeout=30) == 0
    with Program(jdk, "Resident", 10, 0, 0, 0, 1, 1) as program:
        looking = subprocess.Popen([jvm.COMMAND, "memory", "--watch", "200ms", str(program.pid)], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        while "change" not in looking.stdout.readline():
            pass
        program.process.kill()
        assert "Java heap" in looking.stdout.read() and looking.wait(timeout=30) == 0, looking.stderr.read()


def test_diff(jdk17, tmp_path):
    with Program(jdk17, "Resident", 50, 0, 0, 0, 1, 1) as program:
        (tmp_path / "a.json").write_text(jstrobe("memory", "--json", program.pid).stdout)
        program.say("begin")
        wait_until(lambda: program.mark().get("grown"))
        (tmp_path / "b.json").write_text(jstrobe("memory", "--json", program.pid).stdout)
    text = jstrobe("diff", tmp_path / "a.json", tmp_path / "b.json")
    assert text.returncode == 0 and re.search(r"\+64 MB  malloc, large blocks", text.stdout), text
    found = json.loads(jstrobe("diff", "-o", "json", tmp_path / "a.json", tmp_path / "b.json").stdout)
    assert found["kind"] == "memory_diff"
    for side in "before", "after":
        assert sum(found[side]["resident"].values()) == found[side]["rss"]
    (tmp_path / "c.json").write_text("{}")
    done = jstrobe("diff", tmp_path / "a.json", tmp_path / "c.json")
    assert done.returncode == 2 and "is none" in done.stderr, done


def test_no_jvm():
    """Any process has stacks, libraries, malloc and files."""
    process = subprocess.Popen([sys.executable, "-c", PYTHON], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout.readline() == "ok\n"
        found = memory(process.pid)
        assert 100 * MB <= found["resident"]["malloc_large"] <= 102 * MB
        assert found["resident"]["shared"] == 30 * MB, found
        assert found["main"] == "" and not found["jvm_tables"] and found["resident"]["libraries"] > MB
        text = jstrobe("memory", process.pid).stdout
        assert "not a JVM" in text.split("\n")[0]
    finally:
        process.kill()
        process.wait()


def test_errors(jdk17):
    for words, status, says in [(["4999999"], 3, "there is no process"), ([], 2, "which JVM"), (["a", "b"], 2, "one JVM"),
                                (["no-such-jvm"], 3, "no JVM is called"), (["0"], 3, "no process number")]:
        done = jstrobe("memory", *words)
        assert done.returncode == status and says in done.stderr and not done.stdout, (words, done)
    child = subprocess.Popen(["true"])
    wait_until(lambda: open(f"/proc/{child.pid}/stat").read().split(")")[1].split()[0] == "Z")
    done = jstrobe("memory", child.pid)
    assert done.returncode == 3 and "there is no process" in done.stderr
    child.wait()


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to become another user")
def test_no_permission(jdk17):
    with Program(jdk17, "Resident", 1, 0, 0, 0, 1, 1) as program:
        done = subprocess.run(["setpriv", "--reuid=65534", "--clear-groups", jvm.COMMAND, "memory", str(program.pid)],
                              capture_output=True, text=True)
        assert done.returncode == 3 and f"/proc/{program.pid}/smaps" in done.stderr and "as root" in done.stderr, done


BLIND = """
import ctypes, os, struct, sys
libc = ctypes.CDLL(None)
rules = b"".join(struct.pack("HBBI", *rule) for rule in [(0x20, 0, 0, 0), (0x15, 0, 1, 310), (6, 0, 0, 0x50001), (6, 0, 0, 0x7fff0000)])
kept = ctypes.create_string_buffer(rules)
program = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", 4, ctypes.addressof(kept)))
assert libc.prctl(38, 1, 0, 0, 0) == 0 and libc.prctl(22, 2, program, 0, 0) == 0
os.execv(sys.argv[1], sys.argv[1:])
"""


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="the filter has the number of a system call of x86_64")
@pytest.mark.parametrize("collector", ["G1", "Serial", "Parallel", "Z"])
def test_without_the_right_to_trace(jdk, collector):
    """Where memory may not be read (Yama; here a seccomp filter refuses it), names and forms of mappings are left."""
    with Program(jdk, "Resident", *ARGS, jvm=[f"-XX:+Use{collector}GC"]) as program:
        whole = memory(program.pid)
        done = subprocess.run([sys.executable, "-c", BLIND, jvm.COMMAND, "memory", "--json", str(program.pid)],
                              capture_output=True, text=True)
        found = json.loads(done.stdout)
        assert sum(found["resident"].values()) == found["rss"] and not found["jvm_tables"]
        # what lies behind a library's data without a name, up to 1 MB, is taken for its own (measured: 3.5 MB in all)
        for line, slack in ("java_heap", 0), ("libraries", 5 * MB), ("mapped", 0), ("code", 0):
            there = whole["resident"][line]
            assert abs(found["resident"][line] - there) <= 0.1 * there + slack, (line, found, whole)
        said = subprocess.run([sys.executable, "-c", BLIND, jvm.COMMAND, "memory", str(program.pid)], capture_output=True, text=True)
        assert "CAP_SYS_PTRACE" in said.stdout, said


def test_it_ends_meanwhile(jdk17):
    """A process that ends while it is looked at: a table, or that it has ended; never anything else."""
    ended = 0
    for wait in range(12):
        with Program(jdk17, "Resident", 1, 0, 0, 0, 1, 1) as program:
            looking = subprocess.Popen([jvm.COMMAND, "memory", "--json", str(program.pid)], stdout=subprocess.PIPE,
                                       stderr=subprocess.PIPE, text=True)
            time.sleep(wait * 0.002)
            program.process.send_signal(signal.SIGKILL)
            out, err = looking.communicate(timeout=60)
            assert looking.returncode in (0, 3), (looking.returncode, err)
            if looking.returncode == 3:
                ended += 1
                assert "has ended" in err or "there is no process" in err or "cannot be read" in err, err
            else:
                found = json.loads(out)
                assert sum(found["resident"].values()) == found["rss"]


def test_a_thread_of_the_kernel():
    with open("/proc/2/comm") as file:
        if file.read() != "kthreadd\n":
            pytest.skip("process 2 is no thread of the kernel here (a container)")
    done = jstrobe("memory", "2")
    assert done.returncode == 3 and "process 2 has no memory of its own" in done.stderr, done.stderr



@pytest.mark.skipif(os.geteuid() != 0 or not container.permitted("--pid", "--user"), reason="needs root and namespaces")
@pytest.mark.parametrize("how", [
    pytest.param(dict(namespaces=["--pid", "--net", "--ipc"]), id="pid"),
    pytest.param(dict(namespaces=["--user", "--map-root-user", "--pid"]), id="user"),
    pytest.param(dict(chroot=True, user=65534), id="chroot")])
def test_container(jdk, how):
    with Container(jdk, "Resident", ARGS, **how) as program:
        found = memory(program.pid)
        check_amounts(found)
        assert found["jvm"]["heap_committed"] > 0
