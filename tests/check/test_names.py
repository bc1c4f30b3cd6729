"""Names that leave a file say where they live: a word of their room, of their file, or of a type."""
import os
import re
import subprocess

import tree

OBJECTS = os.path.join(tree.OUT, "obj")
LEAST = 0.95  # what is left: libc's and the JVM's own names, and words that the field uses as they are


def words(name):
    """Without the ending of a plural."""
    return [w[:-1] if w.endswith("s") and len(w) > 3 else w for w in name.split("_") if w]


def types():
    found = set()
    for path in tree.code_files():
        if path.endswith(".h"):
            found |= set(re.findall(r"\b(?:struct|enum|union)\s+([a-z_0-9]+)\s*\{", tree.read(path)))
    return found


def says_where(path, name, known):
    parts = os.path.splitext(path)[0].split("/")[1:]
    place = {w for part in parts for w in words(part)}
    return bool(place & set(words(name))) or any(name == t or name.startswith(t + "_") for t in known)


def test_names_say_where_they_live():
    known, count, silent = types(), 0, []
    for path in tree.code_files():
        built = os.path.join(OBJECTS, path + ".o")
        if not path.endswith(".c") or not os.path.exists(built):
            continue
        told = subprocess.run(["nm", "--defined-only", "-g", built], stdout=subprocess.PIPE, text=True, check=True).stdout
        for name in (line.split()[2] for line in told.splitlines() if len(line.split()) == 3):
            count += 1
            if not says_where(path, name, known):
                silent.append(f"{path}: {name}")
    assert count > 1000, f"{count} names in {OBJECTS}: build first"
    assert 1 - len(silent) / count >= LEAST, f"{1 - len(silent) / count:.1%}; not these:\n" + "\n".join(silent)
