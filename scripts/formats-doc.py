#!/usr/bin/python3
"""Print docs/reference/formats.md, made from src/profile/writers/formats.def."""
import os
import re

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
STRING = r'"((?:\\.|[^"\\])*)"'

print("""# Formats

<!-- Made by scripts/formats-doc.py (`make docs`) from src/profile/writers/formats.def; change the table, not this page. -->

`-f FILE` chooses the format by the suffix, `-o WORD` by its word. `jstrobe help formats` prints the same list.

| word | suffix | what it is |
|---|---|---|""")
with open(os.path.join(ROOT, "src", "profile", "writers", "formats.def")) as file:
    text = re.sub(r"/\*.*?\*/", "", file.read(), flags=re.S)
for word, suffixes, what in re.findall(r"(?:FORMAT|EXPORT)\((\w+),\s*" + STRING + r",(?:\s*\w+,)?\s*" + STRING + r"\)", text):
    if not what:
        continue  # between the agent and the command
    what = re.sub(r"docs/reference/([\w-]+\.md)", r"[\1](\1)", what)
    print(f"| `{word}` | {' '.join(f'`.{s}`' for s in suffixes.split())} | {what} |")
print("""
Files for other viewers are written by the command, from live sessions, recordings and JSON; an agent that was started
with options alone writes JSON or a recording, which `jstrobe convert` turns into them. They are by thread, without `-t`, and hold
all events of a session. What they cannot hold:

| word | |
|---|---|""")
with open(os.path.join(ROOT, "src", "profile", "exports", "exports.def")) as file:
    text = re.sub(r"/\*.*?\*/", "", file.read(), flags=re.S)
    for word, lack in re.findall(r"WRITER\((\w+),\s*" + STRING + r"\)", text):
        print(f"| `{word}` | {lack} |")
print("""
Beside these, `jstrobe stream` writes each sample at once: [stream.md](stream.md).

## What a format can say

| | collapsed | text | page | JSON | recording, stream |
|---|---|---|---|---|---|
| time of each sample | – | – | yes | yes, in steps of 1 ms or more | yes |
| threads | with `-t` | with `-t` | yes, where it has times; as root frames with `-t` | yes, where it has times; of stacks with `-t` | yes |
| states of the wall clock | – | – | as what threads did | yes | yes |
| trace id, span id, labels | – | – | – | with `--context` | yes |
| samples and weights | one of them (`--total`) | both | both | both | both |
| losses and their reasons | – (a note on the terminal) | yes | yes | yes | yes |

## How names are spelled

As async-profiler spells them.

| where | spelling |
|---|---|
| Java methods in collapsed stacks and the page | `java/util/HashMap.put` |
| Java methods in text and JSON | `java.util.HashMap.put` |
| kernel symbols in collapsed stacks and text | suffix `_[k]` |
| a thread's root frame | `[name tid=123]` |
| lines, with `--lines` | `:123` |

In text, control characters in names become blanks, so a thread's name cannot control a terminal. In collapsed stacks `;` becomes
`,`. Text and collapsed stacks escape what a terminal would obey, and bytes that are not UTF-8: `\\x1b`, `\\u009b`, `\\xc3`. JSON and
the page have names unchanged.

How a format is added: [writers.md](../inside/writers.md).""")
