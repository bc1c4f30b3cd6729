"""Habits of the house that a machine can see."""
import os
import re

import tree

# The aim is 100 columns; a table row or a message may go over it, up to this.
COLUMNS, FILE_LINES, FUNCTION_LINES = 120, 600, 90
TEXT = (".c", ".h", ".S", ".def", ".py", ".sh", ".java", ".md", ".js", ".css", ".html", ".map")


def test_functions_are_short():
    long = []
    for path in tree.code_files("src", (".c", ".h")):
        start, name = None, ""
        lines = tree.strip_comments(tree.read(path)).split("\n")
        for number, line in enumerate(lines, 1):
            if line == "{":
                start, name = number, lines[number - 2].strip()
            elif line == "}" and start:
                if number - start > FUNCTION_LINES:
                    long.append(f"{path}:{start}: {number - start} lines: {name}")
                start = None
    assert not long, "\n".join(long)


def test_files_are_short_and_open_with_a_comment():
    wrong = []
    for path in tree.code_files("src", (".c", ".h")):
        text = tree.read(path)
        if text.count("\n") > FILE_LINES:
            wrong.append(f"{path}: {text.count(chr(10))} lines")
        header = os.path.join(tree.ROOT, path[:-2] + ".h")  # speaks for a .c file beside it
        if not text.startswith("/*") and not (path.endswith(".c") and os.path.exists(header)):
            wrong.append(f"{path}: does not open with a comment that says what it is for")
    assert not wrong, "\n".join(wrong)


def test_lines_fit():
    wrong = []
    for path in tree.code_files("src", (".c", ".h")):
        for number, line in enumerate(tree.read(path).split("\n"), 1):
            if len(line.expandtabs(8)) > COLUMNS:
                wrong.append(f"{path}:{number}: {len(line.expandtabs(8))} columns")
            if line != line.rstrip():
                wrong.append(f"{path}:{number}: blanks at the end")
    assert not wrong, "\n".join(wrong)


def unreachable(text):
    """Numbers of lines behind a return, break, continue or goto of their own block; gcc does not warn of them."""
    lines = tree.strip_comments(text).split("\n")
    for number, line in enumerate(lines):
        leaves = re.match(r"(\t+)(return|break|continue|goto)\b", line)
        last = next((i for i in range(number, len(lines)) if lines[i].rstrip().endswith(";")), None)
        if not leaves or last is None:
            continue
        after = next((i for i in range(last + 1, len(lines)) if lines[i].strip()), None)
        if after is not None and re.match(leaves[1] + r"(?!case\b|default:|\w+:$)[^\t}#]", lines[after]):
            yield after + 1


def test_no_statement_stands_behind_a_return():
    assert list(unreachable("{\n\tif (x)\n\t\treturn a ?\n\t\t\tb : c;\n\treturn 1;\n\tmissed();\n}\n")) == [6]
    wrong = [f"{path}:{number}" for folder in ("src", "tests", "bench") for path in tree.code_files(folder, (".c", ".h"))
             for number in unreachable(tree.read(path))]
    assert not wrong, "cannot be reached:\n" + "\n".join(wrong)


def test_no_struct_hides_behind_a_typedef():
    wrong = [path for path in tree.code_files("src", (".c", ".h"))
             if re.search(r"\btypedef\s+(struct|enum|union)\b", tree.strip_comments(tree.read(path)))]
    assert not wrong, wrong


def test_the_target_is_never_stopped_or_talked_to():
    """Code in the agent's rooms does not exit, abort or write to the program's streams."""
    forbidden = re.compile(r"\b(exit|_exit|abort|assert|printf|puts|perror)\s*\(")
    wrong = []
    for room in tree.rooms():
        if room == "cli":
            continue
        for path in tree.code_files("src/" + room, (".c", ".h")):
            for number, line in enumerate(tree.strip_comments(tree.read(path)).split("\n"), 1):
                # the program's last thread has ended: libc would end the process, were it not for ours
                if (path, line.strip()) == ("src/agent/door/native_program.c", "exit(0);"):
                    continue
                if forbidden.search(line):
                    wrong.append(f"{path}:{number}: {line.strip()}")
    assert not wrong, "\n".join(wrong)


def test_nothing_names_the_machine_it_was_written_on():
    """No path of this checkout or home folder, and only well-known addresses."""
    here = [tree.ROOT, os.path.expanduser("~") + "/"]
    known = re.compile(r"https?://(www\.apache\.org/licenses|www\.speedscope\.app/file-format-schema\.json|www\.w3\.org/|localhost|127\.0\.0\.1)")
    wrong = []
    for path in tree.tracked_files():
        if not path.endswith(TEXT) and os.path.basename(path) not in ("Makefile", "ROOMS", "run"):
            continue
        for number, line in enumerate(tree.read(path).split("\n"), 1):
            # /proc/PID/root/ is no home folder
            if any(re.search(r"(?<![\w%>])" + re.escape(place), line) for place in here):
                wrong.append(f"{path}:{number}: {line.strip()}")
            for address in re.findall(r"https?://[^\s\"')>]+", line):
                if not known.match(address):
                    wrong.append(f"{path}:{number}: {address}")
    assert not wrong, "\n".join(wrong)


def test_no_unit_test_runs_twice():
    wrong = []
    for path in tree.code_files("tests/unit", (".c",)):
        entries = re.findall(r"\bcmocka_unit_test(?:_\w+)?\([^()]*\)", tree.read(path))
        wrong += [f"{path}: {entry.strip()}" for entry in sorted(set(entries)) if entries.count(entry) > 1]
    assert not wrong, "\n".join(wrong)
