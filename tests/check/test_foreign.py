"""What is read of other processes is read by one function with limits (src/cli/attach/foreign.h).

A file of a target can be a pipe, a device, endless, or shrink while it is mapped. So no file that looks at processes may
open, read or map one by itself: what it needs of libc for that is listed here, with the reason.
"""
import os
import re
import subprocess

import pytest
import tree

LOOKERS = ["src/cli/attach", "src/cli/doctor", "src/cli/memory", "src/cli/talk/transfer.c", "src/cli/talk/signs.c", "src/cli/talk/apart.c"]
READS = re.compile(r"_?_?(f?open(at)?(64)?(_2)?|freopen|fdopen|opendir|fdopendir|scandir(at)?|mmap(64)?|fgets|getline|getdelim|"
                   r"fread|f?scanf|__isoc(99|23)_fscanf|read|readv|pread(64)?|creat|glob|ftw|nftw)(_chk)?(_unlocked)?")
MAY = {
    "src/cli/attach/foreign.c": "it is that function",
    "src/cli/attach/root.c": "/proc/PID/root, and paths below it: O_PATH, then only regular files",
    "src/cli/attach/process.c": "the folder /proc/PID/task",
    "src/cli/attach/perfdata.c": "the folder /tmp, with a limit of entries",
    "src/cli/attach/survey.c": "the folder /proc, and /dev/null",
    "src/cli/attach/identity.c": "the folder /proc/PID",
    "src/cli/attach/user.c": "/etc/passwd of ours",
    "src/cli/attach/copy.c": "our own library; folders and the copy that we made",
    "src/cli/attach/clean_copies.c": "folders that are called as ours, with limits",
    "src/cli/attach/hotspot.c": "the invitation that it makes, and the socket, by O_PATH",
    "src/cli/doctor/system_checks.c": "the folder /proc/PID/fd, with a limit of entries",
    "src/cli/memory/peek.c": "/proc/PID/pagemap, at the places of some pages",
    "src/cli/memory/saved_memory.c": "a reading that was saved, with a limit",
    "src/cli/talk/transfer.c": "/proc/kallsyms, which goes on unread, namespaces, /dev/null",
}


def reads_of(made):
    return tree.needs(made, READS)


def sources():
    return [f for place in LOOKERS for f in (
        [place] if place.endswith(".c") and os.path.exists(os.path.join(tree.ROOT, place)) else tree.code_files(place, (".c",)))]


def made_of(source):
    return os.path.join(tree.OUT, "obj", source + ".o")


def test_one_function_reads():
    looked = [s for s in sources() if os.path.exists(made_of(s))]
    assert len(looked) >= 15, "the command is not built"
    found = {s: sorted(calls) for s in looked if s not in MAY and (calls := reads_of(made_of(s)))}
    assert not found, f"read by root_read, foreign_open, foreign_read or foreign_line (see this file's begin): {found}"


def test_the_list_is_not_longer_than_needed():
    assert [s for s in MAY if os.path.exists(made_of(s)) and not reads_of(made_of(s))] == []


NEW = {
    "fopen": 'FILE *f = fopen(path, "re"); return f != NULL;',
    "fgets": "char line[9]; return fgets(line, 9, (FILE *)path) != NULL;",
    "open": "return open(path, O_RDONLY);",
    "openat": "return openat(3, path, O_RDONLY);",
    "read": "return (int)read(3, (char *)path, 5);",
    "mmap": "return mmap(NULL, 5, PROT_READ, MAP_PRIVATE, 3, 0) != MAP_FAILED;",
}


@pytest.mark.parametrize("way", NEW)
def test_a_new_way_of_reading_is_found(way, tmp_path):
    """The check itself: a file that opens a target's file by itself is caught."""
    source, made = tmp_path / "new.c", tmp_path / "new.o"
    source.write_text("#include <fcntl.h>\n#include <stdio.h>\n#include <sys/mman.h>\n#include <unistd.h>\n"
                      "int look(const char *path);\nint look(const char *path)\n{\n\t" + NEW[way] + "\n}\n")
    subprocess.run([tree.CC, "-O2", "-D_GNU_SOURCE", "-c", "-o", str(made), str(source)], check=True)
    assert reads_of(str(made)), way
