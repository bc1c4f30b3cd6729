"""Each lock of the agent has its row in docs/inside/architecture.md, whether or not a test takes it (tests/jvm/test_locks.py)."""
import re

import tree

PAGE = "docs/inside/architecture.md"
TAKEN = re.compile(r"pthread_(?:mutex|rwlock)_(?:lock|rdlock|wrlock)\(&?(\w+(?:\.\w+|\(\w+\))?)\)|os_lock_within\(&(\w+(?:\.\w+)?),")

# Never waited for, but held while others are.
TRIED = re.compile(r"pthread_(?:mutex|rwlock)_try(?:lock|rdlock|wrlock)\(&?(\w+(?:\.\w+)?)\)")


def name_of(path, lock):
    """As tests/locks/lock_check.c names it. One behind a pointer has the name of the file that takes it first: not seen here."""
    place = path[len("src/"):]
    return f"{place.rpartition('/')[0] if '.' in lock else place}: {lock}"


def code():
    for folder in ("src/agent", "src/common"):
        for path in tree.code_files(folder, (".c", ".h")):
            yield path, tree.strip_comments(tree.read(path))


def test_each_lock_has_its_place_in_the_order():
    rows = set(re.findall(r"^\| `([^`]+)` \|", tree.read(PAGE), re.M))
    taken = {name_of(path, lock or within) for path, text in code() for lock, within in TAKEN.findall(text)
             if (lock or within) != "mutex"}
    tried = {name_of(path, lock) for path, text in code() for lock in TRIED.findall(text)}
    assert len(taken) > 20, taken
    assert not taken - rows, f"not in the table of {PAGE}: {sorted(taken - rows)}"
    gone = {row for row in rows if ": " in row and "->" not in row} - taken - tried
    assert not gone, f"in the table of {PAGE}, and taken nowhere: {sorted(gone)}"
