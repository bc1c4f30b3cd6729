"""No wait in the target is without a limit, and each is in the table of docs/architecture.md."""
import re

import tree

ROOMS = ("src/engine/", "src/agent/", "src/os/")
ENDLESS = (r"\bpthread_join\(", r"\bpthread_cond_wait\(", r"\bsem_wait\(", r"\bpoll\([^;]*, -1\)",
           r"\bos_wait_while\([^;]*UINT64_MAX\)", r"\bFUTEX_WAIT[^;]*, NULL, NULL")
WAITS = (r"\bown_thread_join\(", r"\bos_wait_while\(", r"\bpthread_cond_timedwait\(", r"\bos_sleep\(")
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


def test_each_wait_is_in_the_table():
    page = tree.read("docs/architecture.md")
    table = page[page.index("## Waits and their limits"):]
    missing = [path for path, text in files() if not path.startswith("src/os/") and f"`{path}`" not in table
               and any(re.search(pattern, text) for pattern in WAITS)]
    assert not missing, missing
