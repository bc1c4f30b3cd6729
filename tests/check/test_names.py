"""Names that leave a file say where they live: a word of their room, of their file, or of a type."""
import os
import re
import subprocess

import tree

OBJECTS = os.path.join(tree.OUT, "obj")
# What the JVM, Java and the C library call by name; of the command its own begin.
CALLED_BY_OTHERS = re.compile(r"Agent_On\w+|JNI_On\w+|Java_\w+|asprof_\w+|main|__\w+")
LEAST = 0.95  # what is left: libc's own names, and words that the field uses as they are


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
            if CALLED_BY_OTHERS.fullmatch(name):  # not ours to choose
                continue
            count += 1
            if not says_where(path, name, known):
                silent.append(f"{path}: {name}")
    assert count > 1000, f"{count} names in {OBJECTS}: build first"
    assert 1 - len(silent) / count >= LEAST, f"{1 - len(silent) / count:.1%}; not these:\n" + "\n".join(silent)


def symbols(folder, kind):
    """[object, name] of all objects below FOLDER; one whose source has gone is left from an earlier build."""
    objects = [os.path.join(folder, name) for folder, _, names in os.walk(os.path.join(OBJECTS, folder)) for name in names
               if name.endswith(".o") and
               os.path.exists(os.path.join(tree.ROOT, os.path.relpath(folder, OBJECTS), name[:-len(".o")]))]
    told = subprocess.run(["nm", "-gA", kind, *objects], stdout=subprocess.PIPE, text=True, check=True).stdout
    return [[os.path.relpath(line.split(":")[0], OBJECTS), line.split()[-1]] for line in told.splitlines()]


def test_names_leave_their_file_for_another_one():
    """A function that its file alone uses is static; one that no file uses goes. Those for tests are used by tests."""
    used = {name for folder in ("src", "tests") for _, name in symbols(folder, "--undefined-only")}
    alone = [f"{path}: {name}" for path, name in symbols("src", "--defined-only")
             if name not in used and not CALLED_BY_OTHERS.fullmatch(name)]
    assert len(used) > 1000, "build first"
    assert not alone, "used by no other file:\n" + "\n".join(sorted(alone))
