"""The include graph obeys src/ROOMS."""
import os
import re

import tree

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+(["<])([^">]+)[">]', re.M)
JVM_HEADERS = {"jni.h", "jvmti.h", "jni_md.h", "jvmticmlr.h"}
JVM_ROOMS = {"hotspot", "engine", "agent"}
NOT_IN_A_HANDLER = {"stdio.h", "stdlib.h", "pthread.h", "malloc.h", "dlfcn.h", "semaphore.h"}


def room_of(path):
    return path.split("/")[1]


def includes():
    for path in tree.code_files():
        for mark, target in INCLUDE.findall(tree.read(path)):
            yield path, mark == "<", target


def test_every_room_is_listed():
    folders = {room_of(path) for path in tree.code_files()}
    assert folders <= set(tree.rooms()), "rooms that src/ROOMS does not name"


def test_rooms_only_stand_on_earlier_ones():
    names = list(tree.rooms())
    for name, (_, may) in tree.rooms().items():
        assert may <= set(names), f"{name} may include rooms that do not exist"
        later = may & set(names[names.index(name):])
        assert not later, f"{name} may include {later}, which stand on it"


def test_includes_obey_rooms():
    rooms, wrong = tree.rooms(), []
    for path, system, target in includes():
        room = room_of(path)
        if system or "/" not in target:
            continue
        other = target.split("/")[0]
        if other != room and other not in rooms[room][1]:
            wrong.append(f"{path} includes {target}: {room} may not look into {other}")
    assert not wrong, "\n".join(wrong)


def test_bare_names_are_the_cpu_headers_of_the_zone():
    """#include "x.h" without a folder: cpu.h, the zone's CPU headers in the zone, or generated files."""
    arch = f"src/signal/arch/{os.uname().machine}"
    folder = os.path.join(tree.ROOT, "src/signal/arch")
    arches = [os.path.join(folder, a) for a in os.listdir(folder)]
    generated = tree.read("scripts/generated.mk")
    wrong = []
    for path, system, target in includes():
        if system or "/" in target:
            continue
        in_arch = os.path.exists(os.path.join(tree.ROOT, arch, target))
        if target == "cpu.h" or "/arch/" in path and os.path.exists(
                os.path.join(tree.ROOT, os.path.dirname(path), target)):
            continue
        # What CPUs share includes the headers of each.
        if "src/signal/arch/" in path and any(os.path.exists(os.path.join(a, target)) for a in arches):
            continue
        if not (room_of(path) == "signal" and in_arch) and f"/gen/{target}" not in generated:
            wrong.append(f"{path} includes \"{target}\": write room/file.h")
    assert not wrong, "\n".join(wrong)


def test_included_files_exist():
    wrong = [f"{path}: {target}" for path, system, target in includes()
             if not system and "/" in target
             and not os.path.exists(os.path.join(tree.ROOT, "src", target))
             and not os.path.exists(os.path.join(tree.OUT, "gen", target))]
    assert not wrong, wrong


def test_jvm_headers_stay_in_their_rooms():
    wrong = [f"{path}: <{target}>" for path, _, target in includes()
             if target in JVM_HEADERS and room_of(path) not in JVM_ROOMS]
    assert not wrong, wrong


def test_the_zone_includes_no_header_it_could_not_use():
    wrong = [f"{path}: <{target}>" for path, _, target in includes()
             if room_of(path) == "signal" and target in NOT_IN_A_HANDLER]
    assert not wrong, wrong


def test_only_two_files_patch_foreign_memory():
    """Writing over other people's code or tables: engine/got.c and engine/trap.c alone."""
    allowed = {"src/engine/got.c", "src/engine/trap.c"}
    wrong = [path for path in tree.code_files("src/engine")
             if path not in allowed and re.search(r"\bmprotect\s*\(", tree.read(path))]
    assert not wrong, wrong


def test_every_cpu_has_the_same_headers():
    """A new CPU is a new folder with the same file names; those of its walker are there whole or not at all."""
    cpus = os.listdir(os.path.join(tree.ROOT, "src/base/arch"))
    for room, names in (("base", {"cpu.h"}), ("signal", {"context.h", "load_arch.h"})):
        folder = os.path.join(tree.ROOT, "src", room, "arch")
        for cpu in os.listdir(folder):
            missing = names - set(os.listdir(os.path.join(folder, cpu)))
            assert cpu not in cpus or not missing, f"{room}/arch/{cpu} has no {missing}"
    walkers = {"frame_edge.c", "way_out.c", "walk_stub.c", "interpreted_edge.c"}
    for cpu in os.listdir(os.path.join(tree.ROOT, "src/base/arch")):
        folders = [os.path.join(tree.ROOT, "src/signal/arch", a) for a in (cpu, tree.shared_arch(cpu)) if a]
        has = [name for folder in folders for name in os.listdir(folder) if name in walkers]
        walked = "#define CPU_WALKED 0" not in tree.read(f"src/base/arch/{cpu}/cpu.h")
        assert sorted(has) == (sorted(walkers) if walked else []), f"{cpu}: {has}"


def test_wide_numbers_are_those_of_base():
    """32-bit CPUs have no 128-bit numbers: base/wide.h has what takes their place."""
    wrong = [path for path in tree.code_files("src") if path != "src/base/wide.h" and "__int128" in tree.read(path)]
    assert not wrong, wrong
