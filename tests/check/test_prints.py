"""Nothing prints past what makes foreign text safe (src/common/base/clean.h).

The command prints names, options, answers and failures of processes and files that may be hostile. All of it passes
console.c, screen.c or shown.c, which write out what a terminal would obey. So no other file may be able to print: an
object that needs a function of libc that writes must be listed here, with the reason; and none may name stdout or stderr.
"""
import os
import re
import subprocess

import pytest
import tree

# Whatever can send bytes to a descriptor or a stream, however the compiler has turned the call.
WRITES = re.compile(r"_?_?(v?f?d?w?printf|v?dprintf|fputw?[cs]|putw?[cs]|putw?char|puts|fwrite|perror|psignal|psiginfo|"
                    r"p?writev?(64)?(v2)?|pwrite64|sendfile(64)?|splice|tee|vmsplice|copy_file_range|v?warnx?|v?errx?|"
                    r"error|error_at_line|syslog|_IO_putc|obstack_printf)(_chk)?(_unlocked)?")
STREAMS = re.compile(r"\b(stdout|stderr|STDOUT_FILENO|STDERR_FILENO)\b|\b(buffer_init|fdopen|dup2?)\s*\([^;()]*(?<![-\w])[12]\b[^;()]*\)")
# Rooms that the command is made of; what they print is of their files here.
ROOMS = ["common/base", "common/os", "common/options", "common/control", "profile", "cli"]
MAY_WRITE = {
    "src/common/base/buffer.c": "to the descriptor that its user has given; which those are is what STREAMS finds",
    "src/cli/console.c": "every line passes clean_put, every answer console_write",
    "src/cli/live/screen.c": "our own sequences, and lines that screen_line has made",
    "src/common/os/output_copy.c": "results and streams go to their place as they are; for people they passed shown_put, make_safe",
    "src/cli/reading.c": "a sentence of our own, in a signal handler",
    "src/cli/watch.c": "one sentence that clean_name has made, when the command has to end",
    "src/cli/talk/picked_up.c": "what the program writes to its own stderr, as it comes, but for one line",
    "src/cli/talk/launch.c": "a byte, or a number, to a pipe of ours",
    "src/cli/selftest/program.c": "our own words to our own program",
    "src/profile/writers/jfr/jfr_chunk.c": "a recording's head into its file",
}
MAY_NAME = {
    "src/common/os/output_find.c": "what -f - means; it writes nothing",
    "src/cli/console.c": "it is where lines are printed",
    "src/cli/live/screen.c": "a terminal's size and modes; see above",
    "src/cli/result.c": "where results go; see above",
    "src/cli/reading.c": "a sentence of our own",
    "src/cli/watch.c": "see above",
    "src/cli/talk/picked_up.c": "see above",
    "src/cli/talk/launch.c": "the stderr of the program that is started",
    "src/cli/commands/cmd_mcp.c": "messages of the protocol go there, which json_writer has made; all else goes to stderr",
    "src/cli/commands/cmd_top.c": "whether stdout is a terminal",
}


def prints_of(made):
    """The functions that write, of those that object file MADE needs."""
    return tree.needs(made, WRITES)


def names_of(text):
    return {match.group(0) for match in STREAMS.finditer(tree.strip_comments(text))}


def sources():
    return [f for room in ROOMS for f in tree.code_files("src/" + room, (".c",)) if "/arch/" not in f]


def test_no_other_file_can_print():
    found, made = {}, 0
    for source in sources():
        path = os.path.join(tree.OUT, "obj", source + ".o")
        if not os.path.exists(path):
            continue
        made += 1
        calls = prints_of(path)
        if calls and source not in MAY_WRITE:
            found[source] = sorted(calls)
    assert made > 150, "the command is not built"
    assert not found, f"print by console_out, console_note or the like (see this file's begin): {found}"


def test_no_other_file_names_the_streams():
    found = {source: names for source in sources() if source not in MAY_NAME and (names := names_of(tree.read(source)))}
    assert not found, f"print by console_out, console_note or the like (see this file's begin): {found}"


def test_the_lists_are_not_longer_than_needed():
    for source in MAY_WRITE:
        path = os.path.join(tree.OUT, "obj", source + ".o")
        assert prints_of(path), f"{source} writes nothing any more; take it out of the list"
    for source in MAY_NAME:
        assert names_of(tree.read(source)), f"{source} names no stream any more; take it out of the list"


def test_every_name_of_a_result_is_tried():
    """tests/unit/test_writers_clean.c writes results in which every text is hostile; a new one has to be there, too."""
    tried = tree.read("tests/unit/test_writers_clean.c")
    fields = [f for path in ("src/profile/model/profile.h", "src/profile/model/calls.h")
              for line in re.findall(r"^\tconst char \*([^;()]*);", tree.strip_comments(tree.read(path)), re.M)
              for f in re.findall(r"\w+", line)]
    assert len(fields) > 20
    assert not [f for f in fields if not re.search(rf"\.{f} = EVIL\b", tried)]


# A new print of a foreign name, in the ways in which one may come.
NEW = {
    "printf": 'printf("%s\\n", jvm->main);',
    "printf of one character": 'printf("%c", jvm->main[0]);',
    "puts": "puts(jvm->main);",
    "fputs": "fputs(jvm->main, f);",
    "fprintf": 'fprintf(f, "main %s", jvm->main);',
    "fprintf of a string alone": 'fprintf(f, "%s", jvm->main);',
    "putc": "putc(jvm->main[0], f);",
    "fwrite": "fwrite(jvm->main, 1, 5, f);",
    "write": "return (int)write(1, jvm->main, 5);",
    "dprintf": 'dprintf(2, "%s", jvm->main);',
    "perror": "perror(jvm->main);",
    "warn": 'warnx("%s", jvm->main);',
    "a pointer to it": "return apply(puts, jvm->main);",
}


@pytest.mark.parametrize("way, optimized", [(way, "-O2") for way in NEW] + [
    ("printf", "-O0"), ("printf", "-O2 -D_FORTIFY_SOURCE=2"), ("fprintf", "-O2 -D_FORTIFY_SOURCE=2"),
    ("dprintf", "-O2 -D_FORTIFY_SOURCE=2")])
def test_a_new_print_is_found(way, optimized, tmp_path):
    """The check itself: a file of the command that prints a name is caught."""
    source, made = tmp_path / "new.c", tmp_path / "new.o"
    source.write_text('#include <err.h>\n#include <stdio.h>\n#include <unistd.h>\n#include "cli/attach/attach.h"\n'
                      "int show(const struct attach_jvm *jvm, FILE *f);\nint apply(int (*f)(const char *), const char *s);\n"
                      "int show(const struct attach_jvm *jvm, FILE *f)\n{\n\t" + NEW[way] + "\n\treturn 0;\n}\n")
    subprocess.run([tree.CC, *optimized.split(), "-D_GNU_SOURCE", "-Wno-unused-result", "-I", os.path.join(tree.ROOT, "src"),
                    "-c", "-o", str(made), str(source)], check=True)
    assert prints_of(str(made)), way


@pytest.mark.parametrize("line", ["buffer_init(&b, STDOUT_FILENO);", "buffer_init(&out, 1);", "f = fdopen(1, \"w\");",
                                  "out = dup(2);", "return stdout;"])
def test_a_new_way_to_a_stream_is_found(line):
    assert names_of("int f(void)\n{\n\t" + line + "\n}\n")


def test_what_only_builds_texts_is_no_print():
    assert not [n for n in ("snprintf", "vsnprintf", "__snprintf_chk", "asprintf", "buffer_printf", "console_out", "read")
                if WRITES.fullmatch(n)]
    assert not names_of('buffer_init(&b, -1); // stdout\nconsole_note("to stdout");')
