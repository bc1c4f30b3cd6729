#!/usr/bin/python3
"""Print docs/reference/counters.md, made from src/common/words/{counters,frame_kinds}.def and src/profile/writers/metrics.c."""
import os
import re

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
STRING = r'"((?:\\.|[^"\\])*)"'


def table(name, pattern):
    with open(os.path.join(ROOT, "src", "common", "words", name)) as file:
        text = re.sub(r"/\*.*?\*/|^#.*?$", "", file.read(), flags=re.S | re.M)
    return re.findall(pattern, text)


print("""# Counters

<!-- Made by scripts/counters-doc.py (`make docs`) from src/common/words/counters.def, frame_kinds.def and
     src/profile/writers/metrics.c; change the tables, not this page. -->

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
print("""
## Metrics

`jstrobe metrics PID` prints these for Prometheus (text format 0.0.4). Counters are of the session that runs, or of the
last one, unless their help says otherwise.

| name | labels | kind | help |
|---|---|---|---|""")
with open(os.path.join(ROOT, "src", "profile", "writers", "metrics.c")) as file:
    writer = file.read()
for name, meaning, kind in re.findall(r'"(jstrobe_\w+)",\s*' + STRING + r",\s*(COUNTER|GAUGE)", writer):
    labels = {"jstrobe_info": "version, jdk", "jstrobe_samples_lost_total": "event, reason", "jstrobe_held_bytes": "structure",
              "jstrobe_value_total": "event, unit"}.get(name, "event" if name.startswith("jstrobe_samples_") else "")
    print(f"| `{name}` | {labels} | {kind.lower()} | {meaning} |")
