#!/usr/bin/env python3
"""The table of lines in docs/reference/memory.md, from src/cli/memory/lines.def."""
import re
import sys

BEGIN, END = "<!-- lines -->\n", "<!-- end -->\n"
PAGE = "docs/reference/memory.md"


def rows(text):
    yield "| key | line | what it is |\n|---|---|---|\n"
    for key, title, about in re.findall(r'^LINE\((\w+), "([^"]*)", "([^"]*)"\)$', text, re.M):
        yield f"| `{key}` | {title} | {about} |\n"


def main():
    with open("src/cli/memory/lines.def", encoding="utf-8") as file:
        table = "".join(rows(file.read()))
    with open(PAGE, encoding="utf-8") as file:
        page = file.read()
    before, rest = page.split(BEGIN)
    sys.stdout.write(before + BEGIN + table + END + rest.split(END)[1])


if __name__ == "__main__":
    main()
