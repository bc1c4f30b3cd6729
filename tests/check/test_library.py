"""What libjstrobe.so shows to the JVM it is loaded into, and what it needs from it."""
import os
import re

import tree

LIBRARY = os.path.join(tree.OUT, "lib", "libjstrobe.so")
EXPORTS = {"Agent_OnLoad", "Agent_OnAttach", "Agent_OnUnload"}
# Oldest glibc whose symbols the library may use: that of Debian 12, where it is built.
GLIBC = (2, 36)


def test_exports_are_the_three_entry_points():
    symbols = {line.split()[-1].split("@")[0]
               for line in tree.run("nm", "-D", "--defined-only", LIBRARY).splitlines()}
    assert symbols <= EXPORTS, f"names that leave the library: {sorted(symbols - EXPORTS)}"
    if tree.code_files("src/agent", (".c",)):
        assert symbols == EXPORTS, f"missing entry points: {sorted(EXPORTS - symbols)}"


def test_needs_nothing_but_libc():
    needed = set(re.findall(r"\(NEEDED\).*\[(.*)\]", tree.run("readelf", "-dW", LIBRARY)))
    assert needed <= {"libc.so.6", "ld-linux-x86-64.so.2"}, needed


def test_uses_no_newer_libc_than_declared():
    versions = {tuple(int(n) for n in v.split("."))
                for v in re.findall(r"GLIBC_([0-9.]+)", tree.run("readelf", "-VW", LIBRARY))}
    assert versions and max(versions) <= GLIBC, max(versions)


def test_binds_at_load_and_to_itself():
    dynamic = tree.run("readelf", "-dW", LIBRARY)
    assert "NOW" in dynamic, "lazy binding would run the dynamic linker inside a handler"
    assert "SYMBOLIC" in dynamic
    assert "TEXTREL" not in dynamic


def test_has_no_executable_stack_and_no_rpath():
    assert re.search(r"GNU_STACK.* RW ", tree.run("readelf", "-lW", LIBRARY))
    assert not re.search(r"R(UN)?PATH", tree.run("readelf", "-dW", LIBRARY))


def test_is_stripped_with_debug_info_beside():
    sections = tree.run("readelf", "-SW", LIBRARY)
    assert ".debug_info" not in sections and ".gnu_debuglink" in sections
    assert ".debug_info" in tree.run("readelf", "-SW", LIBRARY + ".debug")


def test_has_no_thread_local_storage():
    """musl refuses initial-exec TLS in a library that is loaded later; other models call out."""
    assert " TLS " not in tree.run("readelf", "-lW", LIBRARY)
