"""The include graph obeys src/ROOMS."""
import os
import re

import tree

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+(["<])([^">]+)[">]', re.M)
JVM_HEADERS = {"jni.h", "jvmti.h", "jni_md.h", "jvmticmlr.h"}
# Rooms of the agent, below which nothing knows of a JVM's functions.
JVM_ROOMS = {"agent/hooks", "agent/jvm", "agent/threads", "agent/context", "agent/sources", "agent/tracing", "agent/door"}
NOT_IN_A_HANDLER = {"stdio.h", "stdlib.h", "pthread.h", "malloc.h", "dlfcn.h", "semaphore.h"}


def includes():
    for path in tree.code_files():
        for mark, target in INCLUDE.findall(tree.read(path)):
            yield path, mark == "<", target


def edges():
    """(including file, its room, header, its room) of all includes from one room into another."""
    for path, system, target in includes():
        if not system and "/" in target and target.split("/")[0] in HOUSES:
            room, other = tree.room_of(path), tree.room_of("src/" + target)
            if room != other:
                yield path, room, target, other


HOUSES = {room.split("/")[0] for room in tree.rooms()}


def test_every_room_is_listed():
    folders = {tree.room_of(path) for path in tree.code_files()}
    assert folders <= set(tree.rooms()), "rooms that src/ROOMS does not name"


def test_rooms_only_stand_on_earlier_ones():
    names = list(tree.rooms())
    for name, (_, may) in tree.rooms().items():
        assert may <= set(names), f"{name} may include rooms that do not exist"
        later = may & set(names[names.index(name):])
        assert not later, f"{name} may include {later}, which stand on it"


def test_includes_obey_rooms():
    rooms = tree.rooms()
    wrong = [f"{path} includes {target}: {room} may not look into {other}" for path, room, target, other in edges()
             if other not in rooms[room][1]]
    assert not wrong, "\n".join(wrong)


def test_the_list_is_not_longer_than_needed():
    pairs = {(room, other) for _, room, _, other in edges()}
    unused = [f"{room} may include {other}, and does not" for room, (_, may) in tree.rooms().items()
              for other in may if (room, other) not in pairs]
    assert not unused, "\n".join(unused)


def circles(graph):
    """Sets of nodes that all reach each other, of more than one (Tarjan)."""
    index, low, stack, found = {}, {}, [], []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in graph[node]:
            if other not in index:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], index[other])
        if low[node] == index[node]:
            at = stack.index(node)
            found.append(set(stack[at:]))
            del stack[at:]

    for node in graph:
        if node not in index:
            visit(node)
    return [circle for circle in found if len(circle) > 1]


def test_circles_of_files_are_small():
    """A file and its header are one; calls are not seen, only what a file includes."""
    def unit(path):
        return re.sub(r"[.][chS]$", "", path)

    graph = {unit(path): set() for path in tree.code_files()}
    for path, system, target in includes():
        if not system and "/" in target and unit("src/" + target) in graph and unit("src/" + target) != unit(path):
            graph[unit(path)].add(unit("src/" + target))
    large = [", ".join(sorted(circle)) for circle in circles(graph) if len(circle) > 3]
    assert not large, "files that include each other all around:\n" + "\n".join(large)


def test_no_two_files_have_one_name():
    """Names of files say what is in them wherever they are met; CPUs' folders have the same ones."""
    places = {}
    for path in tree.code_files():
        if "/arch/" not in path:
            places.setdefault(os.path.splitext(os.path.basename(path))[0], set()).add(os.path.dirname(path))
    twice = {name: sorted(found) for name, found in places.items() if len(found) > 1}
    assert not twice, twice


ARCH = "src/agent/walk/arch"


def test_bare_names_are_the_cpu_headers_of_the_zone():
    """#include "x.h" without a folder: cpu.h, the zone's CPU headers in the zone, or generated files."""
    folder = os.path.join(tree.ROOT, ARCH)
    arches = [os.path.join(folder, a) for a in os.listdir(folder)]
    own = [os.path.join(folder, a) for a in (os.uname().machine, tree.shared_arch(os.uname().machine)) if a]
    zone, generated = tree.zone_rooms(), tree.read("scripts/generated.mk")
    wrong = []
    for path, system, target in includes():
        if system or "/" in target:
            continue
        if target == "jstrobe.h":  # what is installed for others
            continue
        if target == "cpu.h" or "/arch/" in path and os.path.exists(
                os.path.join(tree.ROOT, os.path.dirname(path), target)):
            continue
        # What CPUs share includes the headers of each.
        if ARCH in path and any(os.path.exists(os.path.join(a, target)) for a in arches):
            continue
        in_arch = tree.room_of(path) in zone and any(os.path.exists(os.path.join(a, target)) for a in own)
        if not in_arch and f"/gen/{target}" not in generated:
            wrong.append(f"{path} includes \"{target}\": write house/room/file.h")
    assert not wrong, "\n".join(wrong)


def test_included_files_exist():
    wrong = [f"{path}: {target}" for path, system, target in includes()
             if not system and "/" in target
             and not os.path.exists(os.path.join(tree.ROOT, "src", target))
             and not os.path.exists(os.path.join(tree.OUT, "gen", target))]
    assert not wrong, wrong


def test_jvm_headers_stay_in_their_rooms():
    wrong = [f"{path}: <{target}>" for path, _, target in includes()
             if target in JVM_HEADERS and tree.room_of(path) not in JVM_ROOMS]
    assert not wrong, wrong


def test_the_zone_includes_no_header_it_could_not_use():
    zone = tree.zone_rooms()
    wrong = [f"{path}: <{target}>" for path, _, target in includes()
             if tree.room_of(path) in zone and target in NOT_IN_A_HANDLER]
    assert not wrong, wrong


def test_only_one_file_patches_foreign_memory():
    """Writing over other people's code or tables: agent/hooks/got.c alone."""
    wrong = [path for path in tree.code_files("src/agent")
             if path != "src/agent/hooks/got.c" and re.search(r"\bmprotect\s*\(", tree.read(path))]
    assert not wrong, wrong


def test_every_cpu_has_the_same_headers():
    """A new CPU is a new folder with the same file names; those of its walker are there whole or not at all."""
    base = "src/common/base/arch"
    cpus = os.listdir(os.path.join(tree.ROOT, base))
    for where, names in ((base, {"cpu.h"}), (ARCH, {"context.h"})):
        folder = os.path.join(tree.ROOT, where)
        for cpu in os.listdir(folder):
            missing = names - set(os.listdir(os.path.join(folder, cpu)))
            assert cpu not in cpus or not missing, f"{where}/{cpu} has no {missing}"
    walkers = {"prologue.c", "code_unwind.c", "walk_stub.c", "interpreted_prologue.c"}
    for cpu in cpus:
        folders = [os.path.join(tree.ROOT, ARCH, a) for a in (cpu, tree.shared_arch(cpu)) if a]
        has = [name for folder in folders for name in os.listdir(folder) if name in walkers]
        walked = "#define CPU_WALKED 0" not in tree.read(f"{base}/{cpu}/cpu.h")
        assert sorted(has) == (sorted(walkers) if walked else []), f"{cpu}: {has}"


def test_wide_numbers_are_those_of_base():
    """32-bit CPUs have no 128-bit numbers: wide.h has what takes their place."""
    wrong = [path for path in tree.code_files("src")
             if path != "src/common/base/wide.h" and "__int128" in tree.read(path)]
    assert not wrong, wrong
