"""The decoder of x86 instructions against the library Zydis: all code of libjvm.so, and of a running JVM's code cache."""
import os
import platform
import re
import subprocess
import time

import jvm
import pytest
from jvm import Program

pytestmark = pytest.mark.together

TOOL = os.path.join(jvm.WORK, "insn_against_zydis")


@pytest.fixture(autouse=True)
def needs_zydis():
    if platform.machine() != "x86_64":
        pytest.skip("the decoder is that of x86")
    if not os.path.exists(TOOL):
        pytest.skip("libzydis-dev was not there when the tests were built")


def compared(path, start, size):
    """(instructions that both know, only Zydis does, of which ours says something else), and what the tool said."""
    done = subprocess.run([TOOL, path, str(start), str(size)], stdout=subprocess.PIPE, text=True)
    counts = re.search(r"^known (\d+) unknown (\d+) wrong (\d+)$", done.stdout, re.M)
    assert done.returncode in (0, 1) and counts, done
    return tuple(map(int, counts.groups())), done.stdout


def text_of(library):
    """(offset, size) of its code in the file."""
    sections = subprocess.run(["readelf", "-SW", library], stdout=subprocess.PIPE, text=True, check=True).stdout
    found = re.search(r" \.text +PROGBITS +[0-9a-f]+ ([0-9a-f]+) ([0-9a-f]+)", sections)
    return int(found.group(1), 16), int(found.group(2), 16)


def test_the_code_of_the_jvm(jdk, say):
    library = os.path.join(jdk.home, "lib", "server", "libjvm.so")
    (known, unknown, wrong), said = compared(library, *text_of(library))
    say(f"instructions of libjvm.so, {jdk}: {known}, not known {unknown}, other than Zydis has them {wrong}")
    assert known > 1_000_000 and unknown == 0 and wrong == 0, said


def code_cache(jdk, program, path):
    """The code that the JVM's own list has, one after the other with nops between them; how many bytes."""
    said = subprocess.run([os.path.join(jdk.home, "bin", "jcmd"), str(program.pid), "Compiler.perfmap"], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)
    listed, size = f"/tmp/perf-{program.pid}.map", 0
    assert os.path.exists(listed), said.stdout
    with open(listed) as ranges, open(f"/proc/{program.pid}/mem", "rb") as memory, open(path, "wb") as out:
        for line in ranges:
            start, length = (int(x, 16) for x in line.split()[:2])
            memory.seek(start)
            size += out.write(memory.read(length) + b"\x90" * 16)
    os.remove(listed)
    return size


def test_a_running_code_cache(jdk, say):
    """
    Code of the interpreter, of stubs, of C1 and C2. In it lie tables and addresses, too, which read as instructions that no
    compiler makes: of them few may be wrong.
    """
    path = jvm.result_file(".code")
    with Program(jdk, "Words") as program:
        time.sleep(6)
        size = code_cache(jdk, program, path)
        assert program.stop() == 0
    (known, unknown, wrong), said = compared(path, 0, size)
    os.remove(path)
    say(f"instructions in the code cache, {jdk}: {known}, not known {unknown}, other than Zydis has them {wrong}")
    assert known > 100_000 and unknown + wrong < 0.0002 * known, said
