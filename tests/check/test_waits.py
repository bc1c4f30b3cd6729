"""No wait in the target is without a limit; the limits are in docs/architecture.md."""
import re

import tree

ROOMS = ("src/engine/", "src/agent/", "src/os/", "src/collect/")
ENDLESS = (r"\bpthread_join\(", r"\bpthread_cond_wait\(", r"\bsem_wait\(", r"\bpoll\([^;]*, -1\)",
           r"\bos_wait_while\([^;]*UINT64_MAX\)", r"\bFUTEX_WAIT[^;]*, NULL, NULL")
# Work is waited for there, and whoever posts it cannot fail to.
ALLOWED = {"src/agent/trigger.c"}


def files():
    for path in tree.code_files("src", (".c",)):
        if path.startswith(ROOMS):
            yield path, re.sub(r"/\*.*?\*/", "", tree.read(path), flags=re.S)


def test_no_wait_is_endless():
    found = [f"{path}: {pattern}" for path, text in files() if path not in ALLOWED
             for pattern in ENDLESS if re.search(pattern, text)]
    assert not found, found
