#!/usr/bin/python3
"""Print docs/reference/counters.md, made from src/common/words/counters.def and src/common/words/frame_kinds.def."""
import os
import re

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
STRING = r'"((?:\\.|[^"\\])*)"'


def table(name, pattern):
    with open(os.path.join(ROOT, "src", "common", "words", name)) as file:
        text = re.sub(r"/\*.*?\*/|^#.*?$", "", file.read(), flags=re.S | re.M)
    return re.findall(pattern, text)


print("""# Counters

<!-- Made by scripts/counters-doc.py (`make docs`) from src/common/words/counters.def and frame_kinds.def;
     change the tables, not this page. -->

A sample that was taken is stored, or it is lost for exactly one reason:
`taken = stored + sum of lost`. Every output says so, in JSON under `samples`.

## Why a sample was lost

| reason | meaning |
|---|---|""")
for name, meaning in table("counters.def", r"LOSS\((\w+),\s*" + STRING + r"\)"):
    print(f"| `{name}` | {meaning} |")
print("""
`weight.lost_by_reason` has the CPU time of lost samples. `weight.unsampled` is the CPU time of the
process that is in no sample, stored or lost.

## Why a walk ended before the root

The sample is stored. The frame in the second column is the root of its stack, and
`walk_ended_early` counts it.

| reason | frame | meaning |
|---|---|---|""")
for name, frame, meaning in table("counters.def", r"END\((\w+),\s*" + STRING + r",\s*" + STRING + r"\)"):
    print(f"| `{name}` | `{frame}` | {meaning} |")
print("""
## Kinds of frames

| word in JSON | suffix where annotations are asked for |
|---|---|""")
for word, suffix in table("frame_kinds.def", r"X\(\w+,\s*" + STRING + r",\s*" + STRING):
    print(f"| `{word}` | {f'`{suffix}`' if suffix else ''} |")
