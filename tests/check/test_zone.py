"""The signal zone calls nothing that may not run in a signal handler, and needs little stack.

(a) All objects of the rooms of zone `handler` (src/ROOMS) linked into one: its undefined symbols are those of
    src/agent/sample/ALLOWED, where each line is "symbol  reason".
(b) No thread-local variable of any model, no variable-length array, no alloca.
(c) The deepest chain of calls, each at its full frame, stays within 4 KB. Frame sizes and calls
    come from the compiler (-fcallgraph-info). A call by pointer goes to a function listed in
    src/agent/sample/ALLOWED as "*caller callee callee ...  reason" - calls that are not listed fail.
"""
import os
import re
import subprocess

import pytest
import tree

STACK_LIMIT = 4096
LIBC_FRAME = 128  # what a call that leaves the zone may need itself: memcpy, clock_gettime, syscall
NEVER = {"__tls_get_addr", "malloc", "free", "calloc", "realloc", "__stack_chk_fail", "printf",
         "pthread_mutex_lock", "dlsym", "abort", "exit"}

pytestmark = pytest.mark.skipif(not tree.zone_sources(), reason="no room has sources that handlers run")


def allowed():
    """src/agent/sample/ALLOWED: ({symbol: reason}, {caller: [callees by pointer]})."""
    symbols, pointers = {}, {}
    for line in tree.read("src/agent/sample/ALLOWED").split("\n"):
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        words, _, reason = re.sub(r"\s{2,}|\t+", "\0", line, count=1).partition("\0")
        assert reason.strip(), f"ALLOWED: no reason (after two spaces) in: {line}"
        if words.startswith("*"):
            caller, *callees = words[1:].split()
            pointers[caller] = callees
        else:
            symbols[words] = reason
    return symbols, pointers


@pytest.fixture(scope="module")
def linked(tmp_path_factory):
    objects = tree.zone_objects()
    absent = [o for o in objects if not os.path.exists(o)]
    assert not absent, f"not built: {absent}"
    path = str(tmp_path_factory.mktemp("zone") / "zone.o")
    subprocess.run(["ld", "-r", "-o", path] + objects, check=True)
    return path


def test_undefined_symbols_are_allowed(linked):
    undefined = {line.split()[-1] for line in tree.run("nm", "-u", linked).splitlines() if line}
    undefined.discard("_GLOBAL_OFFSET_TABLE_")  # the linker's own
    symbols, _ = allowed()
    assert not undefined & NEVER, f"never in a handler: {undefined & NEVER}"
    assert not NEVER & set(symbols), f"ALLOWED may not allow {NEVER & set(symbols)}"
    assert undefined <= set(symbols), f"not in src/agent/sample/ALLOWED: {sorted(undefined - set(symbols))}"


def test_no_thread_local_variables(linked):
    sections = tree.run("readelf", "-SW", linked)
    assert not re.search(r"\.t(bss|data)", sections), "the zone has thread-local variables"
    relocations = tree.run("readelf", "-rW", linked)
    found = re.findall(r"R_\S*(?:TLS|TPOFF|DTPMOD|DTPOFF)\S*", relocations)
    assert not found, f"the zone uses thread-local variables: {set(found)}"


def test_the_check_would_see_a_forbidden_call(tmp_path):
    """The check itself: a file that calls malloc and has a TLS variable is caught."""
    source, made = tmp_path / "bad.c", tmp_path / "bad.o"
    source.write_text("#include <stdlib.h>\nextern __thread int t;\n"
                      "void *bad(void);\nvoid *bad(void) { return malloc(t); }\n")
    subprocess.run([tree.CC, "-O2", "-fPIC", "-c", "-o", str(made), str(source)], check=True)
    undefined = tree.run("nm", "-u", str(made))
    assert "malloc" in undefined and "__tls_get_addr" in undefined


# ---- stack use -----------------------------------------------------------------

def flags():
    """The build's own flags, as the Makefile recorded them."""
    with open(os.path.join(tree.OUT, "flags")) as file:
        return file.read().split()


@pytest.fixture(scope="module")
def graph(tmp_path_factory):
    """({function: frame bytes}, {function: set of callees}, [dynamic functions])."""
    if subprocess.run(["gcc", "--version"], stdout=subprocess.DEVNULL).returncode != 0:
        pytest.skip("gcc is needed for -fcallgraph-info")
    out = tmp_path_factory.mktemp("stack")
    # A compiler cache that stands before gcc keeps objects, not what is told beside them.
    uncached = {**os.environ, "CCACHE_DISABLE": "1"}
    frames, calls, dynamic = {}, {}, []
    options = [f for f in flags()[1:] if not f.startswith("-fsanitize")]
    for source in tree.zone_sources():
        if not source.endswith(".c"):
            continue
        made = out / (source.replace("/", "_") + ".o")
        subprocess.run(["gcc"] + options + ["-O2", "-fno-stack-protector", "-fcallgraph-info=su,da",
                        "-c", "-o", str(made), source], check=True, cwd=tree.ROOT, env=uncached)
        text = made.with_suffix(".ci").read_text()
        for title, label in re.findall(r'node: \{ title: "([^"]+)" label: "([^"]*)"', text):
            size = re.search(r"(\d+) bytes \(([\w,]+)", label)
            if size:
                frames[title] = int(size.group(1))
                # "dynamic,bounded" (arguments pushed for a call) is counted at its most.
                if size.group(2) == "dynamic":
                    dynamic.append(title)
        for caller, callee in re.findall(
                r'edge: \{ sourcename: "([^"]+)" targetname: "([^"]+)"', text):
            calls.setdefault(caller, set()).add(callee)
    assert frames, "the compiler told no frame sizes"
    return frames, calls, dynamic


def bare(title):
    """`src/agent/walk/walk.c:step` is the static function step; public ones have no file."""
    return re.sub(r"\.(constprop|part|isra|cold)\.?\d*", "", title.split(":")[-1])


def test_frames_have_fixed_size(graph):
    assert not graph[2], f"variable-length arrays or alloca in {graph[2]}"


def deepest(graph, pointers):
    """(bytes, chain) of the deepest chain; raises on recursion and on unknown calls by pointer."""
    frames, calls, _ = graph
    by_name = {}
    for title in frames:
        by_name.setdefault(bare(title), []).append(title)
    known = {}

    def depth(title, path):
        if title in known:
            return known[title]
        assert title not in path, f"recursion in the zone: {' -> '.join(path + [title])}"
        if title not in frames:
            return LIBC_FRAME, [bare(title)]
        best = (0, [])
        for callee in sorted(calls.get(title, ())):
            targets = [callee]
            if callee == "__indirect_call":
                names = pointers.get(bare(title))
                assert names is not None, \
                    f"{title} calls by pointer: list its callees in src/agent/sample/ALLOWED"
                targets = [t for name in names for t in by_name.get(name, [name])]
            for target in targets:
                best = max(best, depth(target, path + [title]))
        # 8 bytes: the return address a call pushes is not part of the compiler's frame.
        known[title] = (frames[title] + 8 + best[0], [bare(title)] + best[1])
        return known[title]

    return max(depth(title, []) for title in frames)


def test_deepest_chain_fits(graph, record_testsuite_property):
    size, chain = deepest(graph, allowed()[1])
    note = f"signal zone: deepest chain of calls needs {size} of {STACK_LIMIT} bytes of stack"
    record_testsuite_property("note", note)
    assert size <= STACK_LIMIT, f"{size} bytes: {' -> '.join(chain)}"
