"""What libjstrobe.so shows to the JVM it is loaded into, and what it needs from it."""
import os
import platform
import re
import shutil
import subprocess

import pytest
import tree

LIBRARY = os.path.join(tree.OUT, "lib", "libjstrobe.so")
EXPORTS = {"Agent_OnLoad", "Agent_OnAttach", "Agent_OnUnload", "JNI_OnLoad",
           *(f"asprof_{name}" for name in ("init", "execute", "error_str", "register_jfr_event", "emit_jfr_event",
                                             "get_thread_local_data")),  # include/jstrobe.h
           "jstrobe_copy",  # by which copies of the library find each other
           "jstrobe_memory",  # what it has mapped, for `jstrobe memory`
           # native methods of the Java API, which the JVM looks for in its agents' libraries
           *(f"Java_one_profiler_Recording_{name}" for name in ("state0", "emit0")),
           *(f"Java_jstrobe_context_SampleContext_{name}" for name in ("memory", "claim", "define")),
           *(f"Java_{owner}_{name}" for owner in ("one_profiler_AsyncProfiler", "jstrobe_Profiler")
             for name in ("start0", "stop0", "execute0", "execute1", "getSamples", "filterThread0"))}
# The newest glibc whose symbols the library may use: it runs on that one and all since.
GLIBC = (2, 17)
SIZE = 1_200_000


def test_exports_are_the_entry_points():
    symbols = {line.split()[-1].split("@")[0]
               for line in tree.run("nm", "-D", "--defined-only", LIBRARY).splitlines()}
    assert symbols <= EXPORTS, f"names that leave the library: {sorted(symbols - EXPORTS)}"
    if tree.code_files("src/agent", (".c",)):
        assert symbols == EXPORTS, f"missing entry points: {sorted(EXPORTS - symbols)}"


def test_needs_nothing_but_libc():
    needed = set(re.findall(r"\(NEEDED\).*\[(.*)\]", tree.run("readelf", "-dW", LIBRARY)))
    # all three are glibc's, and names that musl takes for its own
    assert needed <= {"libc.so.6", "libpthread.so.0", "libdl.so.2"}, needed


def test_uses_no_newer_libc_than_declared():
    versions = {tuple(int(n) for n in v.split("."))
                for v in re.findall(r"GLIBC_([0-9.]+)", tree.run("readelf", "-VW", LIBRARY))}
    assert versions and max(versions) <= GLIBC, max(versions)


def test_calls_what_it_hooks_by_pointer_only():
    """A slot of ours could be replaced by another copy, and the two would call each other for ever."""
    assert "pthread_create" not in tree.run("nm", "-D", LIBRARY)
    assert "NODELETE" in tree.run("readelf", "-dW", LIBRARY), "hooks that stay need their code"


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


def test_size():
    if platform.machine() != "x86_64" or "__asan_init" in tree.run("nm", "-D", LIBRARY):
        pytest.skip("the goal is for x86_64 without a sanitizer")
    assert os.path.getsize(LIBRARY) <= SIZE, "docs/benchmarks.md says where it goes"


def test_has_no_thread_local_storage():
    """musl refuses initial-exec TLS in a library that is loaded later; other models call out."""
    assert " TLS " not in tree.run("readelf", "-lW", LIBRARY)


KNOBS = "engine-fail", "collector-hold"


@pytest.mark.parametrize("built", ["lib/libjstrobe.so", "bin/jstrobe"])
def test_has_no_knobs_for_tests(built):
    """Faults can be asked for in what tests are run with, in nothing that users get: no word of them."""
    for folder, knobs in (tree.OUT, False), (os.path.join(tree.OUT, "tests", "knobs"), True):
        with open(os.path.join(folder, built), "rb") as file:
            content = file.read()
        assert all(knobs == (knob.encode() in content) for knob in KNOBS), f"{folder}: make knobs"
    if built == "bin/jstrobe":
        command = os.path.join(tree.OUT, built)
        for knob in KNOBS:
            done = subprocess.run([command, "start", f"--{knob}=1", "1"], stderr=subprocess.PIPE, text=True)
            assert done.returncode == 2 and "unknown option" in done.stderr, done.stderr
        assert not re.search("|".join(KNOBS), tree.run(command, "help", "--markdown"))


MUSL_HOST = r"""
#include <dlfcn.h>
#include <stdio.h>
int main(int count, char **arguments)
{
	void *library = dlopen(arguments[1], RTLD_NOW);
	if (!library || !dlsym(library, "Agent_OnAttach"))
		return puts(dlerror()), 1;
	return puts("loaded"), 0;
}
"""


@pytest.mark.skipif(not shutil.which("musl-gcc"), reason="no musl-gcc here (package musl-tools)")
def test_loads_in_a_program_for_musl(tmp_path):
    """musl binds all symbols at once: what it has not would be said here."""
    (tmp_path / "host.c").write_text(MUSL_HOST)
    host = str(tmp_path / "host")
    subprocess.run(["musl-gcc", "-o", host, str(tmp_path / "host.c")], check=True)
    said = subprocess.run([host, LIBRARY], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert said.returncode == 0 and said.stdout == "loaded\n", said.stdout
