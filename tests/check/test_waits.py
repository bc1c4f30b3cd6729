"""No wait in the target is without a limit; the limits are in docs/inside/waits.md."""
import re

import tree

ROOMS = ("src/agent/", "src/common/os/")
ENDLESS = (r"\bpthread_join\(", r"\bpthread_cond_wait\(", r"\bsem_wait\(", r"\bpoll\([^;]*, -1\)",
           r"\bos_wait_while\([^;]*UINT64_MAX\)", r"\bFUTEX_WAIT[^;]*, NULL, NULL")
# Work is waited for there, and its sender cannot fail to post it.
ALLOWED = {"src/agent/command/trigger.c"}
# In the whole of the target: what may write to a descriptor that can block, or to the program's stdout and stderr.
TARGET = ("src/agent/", "src/common/", "src/profile/model/", "src/profile/writers/")
WRITES = (r"(?<!->)\b(?:write|writev|pwritev2?|dprintf|vdprintf|fwrite|fputs|fputc|putchar|perror|puts|printf|psignal)\(",
          r"\bv?fprintf\(", r"\bSYS_write")
WRITERS = {
    "src/common/base/buffer.c": "a result's own file, and memory",
    "src/agent/sinks/stream/stream.c": "an eventfd",
    "src/agent/sinks/stream/stream_out.c": "opened anew with O_NONBLOCK; a regular file",
    "src/common/elf/memory.c": "a pipe of its own, emptied after each piece",
    "src/common/os/output_copy.c": "opened anew with O_NONBLOCK, or behind poll",
}


def files():
    for path in tree.code_files("src", (".c",)):
        if path.startswith(ROOMS):
            yield path, re.sub(r"/\*.*?\*/", "", tree.read(path), flags=re.S)


def test_no_wait_is_endless():
    found = [f"{path}: {pattern}" for path, text in files() if path not in ALLOWED
             for pattern in ENDLESS if re.search(pattern, text)]
    assert not found, found


def test_no_write_can_block():
    """A full pipe at stderr holds up no start and no end of a JVM: who writes, asks poll first (output_line)."""
    found = set()
    for path in tree.code_files("src", (".c",)):
        text = re.sub(r"/\*.*?\*/", "", tree.read(path), flags=re.S)
        if path.startswith(TARGET) and any(re.search(pattern, text) for pattern in WRITES):
            found.add(path)
    assert found == set(WRITERS)
