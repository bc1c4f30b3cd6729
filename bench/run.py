#!/usr/bin/python3
"""make bench: measure jstrobe beside the published async-profiler and JDK 25's JFR CPU sampler.

    bench/run.py [ROW...]            measure (all rows without names) and print the table
    bench/run.py --pairs 40 walk     more repetitions
    bench/run.py --write-docs        put the figures measured so far into docs/benchmarks.md

Times are compared in interleaved pairs: one run of ours, one of theirs, in turn, on programs that
are otherwise stopped. Given are medians with a 95 % interval (bootstrap), and the ratio of pairs.
Results are kept in $O/bench/results.json, so rows can be measured one by one.
"""
import argparse
import datetime
import json
import os
import re
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "tests", "jvm"))

import jvm    # noqa: E402
import rows   # noqa: E402

RESULTS = os.path.join(jvm.OUT, "bench", "results.json")
DOCS = os.path.join(jvm.ROOT, "docs", "benchmarks.md")


def load():
    try:
        with open(RESULTS) as file:
            return json.load(file)
    except (OSError, ValueError):
        return {}


def keep(results):
    os.makedirs(os.path.dirname(RESULTS), exist_ok=True)
    with open(RESULTS + ".new", "w") as file:
        json.dump(results, file, indent=1)
    os.replace(RESULTS + ".new", RESULTS)


def table_line(name, row, results):
    found = results.get(name)
    figure = "not measured yet"
    if found:
        figure = "<br>".join(found["figures"]) + ("" if found["reached"] else "<br>**not reached**")
        if name in rows.PAIRED and found.get("pairs", 20) < 20:
            figure += f"<br>(only {found['pairs']} pairs)"
    return f"| {row.what} | {row.goal} | {figure} | `make bench ONLY={name}` |"


def with_rows(text, results):
    """TEXT with both tables between their marks written anew. Other tables of the page may name the same commands."""
    marked = re.compile(r"(?<=<!-- rows -->\n).*?(?=<!-- end of rows -->)", re.S)
    # what was measured elsewhere stays
    there = {m.group(1): m.group(0) for m in re.finditer(r"^\|.*ONLY=(\w+)` \|$", marked.search(text)[0], re.M)}
    lines = [there[name] if name in there and name not in results else table_line(name, row, results)
             for name, row in rows.ROWS.items()]
    head = "| what | goal | measured | command |\n|---|---|---|---|\n"
    text = marked.sub(lambda m: head + "\n".join(lines) + "\n", text)
    head = "| what | goal | |\n|---|---|---|\n"
    return re.sub(r"(?<=<!-- goals -->\n).*?(?=<!-- end of goals -->)",
                  lambda m: head + "\n".join(map(goal_line, lines)) + "\n", text, flags=re.S)


def goal_line(line):
    """What the short table says of a LINE of the long one."""
    what, goal, figure, _ = line.strip("| ").split(" | ")
    said = [words for words in ("not measured yet", "**not reached**") if words in figure]
    return f"| {what} | {goal} | {said[0] if said else 'reached'} |"


def write_docs(results):
    """Replace the table's rows in docs/benchmarks.md."""
    with open(DOCS) as file:
        text = file.read()
    with open(DOCS, "w") as file:
        file.write(with_rows(text, results))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--pairs", type=int, default=20)
    parser.add_argument("--write-docs", action="store_true")
    parser.add_argument("rows", nargs="*")
    args = parser.parse_args()
    results = load()
    if args.write_docs:
        write_docs(results)
        return 0
    unknown = set(args.rows) - set(rows.ROWS)
    if unknown:
        print(f"no such row: {' '.join(sorted(unknown))}; there are: {' '.join(rows.ROWS)}")
        return 2
    jvm.compile_programs()
    bench = rows.Bench(args.pairs)
    status = 0
    for name, row in rows.ROWS.items():
        if args.rows and name not in args.rows:
            continue
        print(f"== {name}: {row.what}\n   goal: {row.goal}", flush=True)
        began = time.time()
        try:
            figures, good = row.measure(bench)
        except rows.Skip as why:
            print(f"   skipped: {why}", flush=True)
            continue
        except Exception as error:  # one row that fails must not hide the others
            print(f"   failed: {type(error).__name__}: {error}", flush=True)
            status = 1
            continue
        for line in figures:
            print(f"   {line}", flush=True)
        print(f"   {'reached' if good else 'NOT REACHED'} ({time.time() - began:.0f} s)", flush=True)
        results[name] = {"figures": figures, "reached": bool(good), "pairs": args.pairs,
                         "when": datetime.date.today().isoformat()}
        keep(results)
    return status


if __name__ == "__main__":
    sys.exit(main())
