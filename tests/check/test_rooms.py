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
    """#include "x.h" without a folder: only CPU headers, only in the zone, or generated files."""
    arch = f"src/signal/arch/{os.uname().machine}"
    generated = tree.read("scripts/generated.mk")
    wrong = []
    for path, system, target in includes():
        if system or "/" in target:
            continue
        in_arch = os.path.exists(os.path.join(tree.ROOT, arch, target))
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
