#!/usr/bin/python3
"""Run the tests and say at the end what came of them.

    run.py --out DIR unit PROGRAM...     the unit tests only
    run.py --out DIR check PROGRAM...    everything, shortened counts
    run.py --out DIR soak PROGRAM...     unit tests and everything in the JVM, full counts

A runner is a set of C programs (cmocka) or a folder of pytest files. Each ends in one line
"NAME: N passed, N failed, N skipped"; these lines and their sum close the run. The exit status is
not 0 when a test failed or when none ran. Logs and results lie under DIR.
"""
import argparse
import concurrent.futures
import os
import re
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as xml

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# Seconds a unit test program may take.
UNIT_TIMEOUT = 3600 if os.environ.get("JSTROBE_SOAK") else 120
UNITS_TOGETHER = 2  # of them run at a time


class Result:
    """What one runner found; `notes` are lines worth repeating at the end, `failures` say which and why.

    `cases` are the tests that failed, as (address for pytest, may be repeated)."""

    def __init__(self, name):
        self.name, self.passed, self.failed, self.skipped = name, 0, 0, 0
        self.notes, self.failures, self.cases = [], [], []

    def add(self, passed, failed, skipped):
        self.passed, self.failed, self.skipped = (
            self.passed + passed, self.failed + failed, self.skipped + skipped)

    def line(self):
        return f"{self.name}: {self.passed} passed, {self.failed} failed, {self.skipped} skipped"


def run_program(program, log):
    """Run a cmocka program; returns (passed, failed, [names of skipped], text of a failure or '')."""
    name = os.path.basename(program)
    env = dict(os.environ, CMOCKA_MESSAGE_OUTPUT="TAP", UBSAN_OPTIONS="print_stacktrace=1",
               ASAN_OPTIONS="detect_leaks=1:allow_user_segv_handler=1:detect_stack_use_after_return=0")
    try:
        done = subprocess.run([program], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=env,
                              timeout=UNIT_TIMEOUT, cwd=ROOT, errors="replace")
        text, status = done.stdout, done.returncode
    except subprocess.TimeoutExpired as hung:
        text, status = (hung.stdout or b"").decode(errors="replace"), f"no end in {UNIT_TIMEOUT} s"
    log.write(f"==== {name}: exit {status}\n{text}\n")
    if isinstance(status, int) and status < 0:
        status = signal.Signals(-status).name
    lines = re.findall(r"^(not ok|ok) \d+(.*)$", text, re.M)
    # cmocka says "not ok 7 # SKIP name" for a test that skipped itself.
    skipped = [rest.split()[-1] for _, rest in lines if re.search(r"#\s*SKIP", rest, re.I)]
    failed = sum(1 for word, rest in lines
                 if word == "not ok" and not re.search(r"#\s*SKIP", rest, re.I))
    planned = sum(int(n) for n in re.findall(r"^1\.\.(\d+)", text, re.M))
    passed = len(lines) - failed - len(skipped)
    if not lines or planned > len(lines) or (status != 0 and not failed):
        failed += max(1, planned - len(lines))  # it crashed, hung or ran nothing
    why = f"---- {name} (exit {status})\n{text[-6000:]}" if failed else ""
    return passed, failed, skipped, why


def run_programs(name, programs, out):
    result = Result(name)
    with open(os.path.join(out, name + ".log"), "w") as log, \
            concurrent.futures.ThreadPoolExecutor(UNITS_TOGETHER) as pool:
        for program, (passed, failed, skipped, why) in zip(
                programs, pool.map(lambda program: run_program(program, log), programs)):
            result.add(passed, failed, len(skipped))
            result.notes += [f"skipped {name}: {os.path.basename(program)} {test} (it says why in {name}.log)"
                             for test in skipped]
            if why:
                print(why)
                result.failures.append(f"failed {name}: {os.path.basename(program)}, see above")
    return result


# How many tests run beside each other, by their mark (tests/jvm/conftest.py). Those without are alone.
BESIDE = {"together": 4, "in_pairs": 2}


def run_pytest(name, folder, out, more=()):
    """Run the pytest files of a folder; counts are read from its junit file."""
    result = Result(name)
    junit = os.path.join(out, name + ".xml")
    if os.path.exists(junit):
        os.remove(junit)
    command = [sys.executable, "-m", "pytest", "-q", "-rfEs", "--tb=short", "-p", "no:cacheprovider",
               "--durations=5", "-o", "junit_family=xunit1",  # which keeps the notes of single tests
               "--junitxml", junit, *more, folder]
    status = subprocess.run(command, cwd=ROOT).returncode
    try:
        suite = next(xml.parse(junit).getroot().iter("testsuite"))
    except (OSError, xml.ParseError, StopIteration):
        result.add(0, 1, 0)
        result.notes.append(f"{name}: pytest ended with {status} and left no result")
        return result
    count = {key: int(suite.get(key, 0)) for key in ("tests", "failures", "errors", "skipped")}
    failed = count["failures"] + count["errors"]
    result.add(count["tests"] - failed - count["skipped"], failed, count["skipped"])
    if status not in (0, 1, 5) and not failed:
        result.add(0, 1, 0)
    for prop in suite.iter("property"):
        if prop.get("name") == "note" and prop.get("value") not in result.notes:
            result.notes.append(prop.get("value"))
    full_counts = 0
    for case in suite.iter("testcase"):
        for skip in case.iter("skipped"):
            if "only with full counts" in skip.get("message", ""):
                full_counts += 1
            else:
                result.notes.append(f"skipped {case.get('name')}: {skip.get('message')}")
        for bad in [*case.iter("failure"), *case.iter("error")]:
            text = (bad.get("message") or "").splitlines() or [""]
            result.failures.append(f"failed {case.get('classname')} {case.get('name')}: {text[0][:500]}")
            result.cases.append((f"{case.get('file')}::{case.get('name')}",
                                 not DEADLY.search(f"{bad.get('message')} {bad.text}")))
    if full_counts:
        result.notes.append(f"skipped in {name}: {full_counts} cases that run only with full counts (make soak)")
    return result


# A program that died is never tried again: a rare death is what these tests are there to find.
DEADLY = re.compile(r"SIG(SEGV|BUS|ABRT|ILL|FPE|TRAP|SYS)|hs_err|core dumped|AddressSanitizer|runtime error:|"
                    r"returncode(=| == )-\d|ended with -\d")
REPEATED = 4  # more failures than these are no noise of the machine


def repeat_alone(result, out):
    """Tests that failed, once more and by themselves. One that passes twice in a row then is called unsteady: it is
    named in the closing lines, where it should not stay, but it does not fail the run."""
    if not 0 < len(result.cases) <= REPEATED or len(result.cases) != result.failed:
        return
    steady = []
    for (test, may), failure in zip(result.cases, result.failures):
        print(f"---- again, by itself: {test}", flush=True)
        again = [run_pytest(result.name + "-again", test, out) for _ in range(2)] if may else []
        if again and all(r.passed == 1 and not r.failed for r in again):
            result.notes.append("unsteady: " + failure.replace("failed ", "", 1) + " (then passed twice by itself)")
            result.add(1, -1, 0)
        else:
            steady.append(failure)
    result.failures = steady


def pytest_folders():
    """The folders under tests/ that hold pytest files, tests/check first."""
    folders = []
    for entry in sorted(os.scandir(os.path.join(ROOT, "tests")), key=lambda e: e.name):
        if entry.is_dir() and any(re.match(r"test_.*\.py$", f) for f in os.listdir(entry.path)):
            folders.append(entry.name)
    return sorted(folders, key=lambda name: (name != "check", name == "jvm", name))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", required=True)
    parser.add_argument("mode", choices=["unit", "check", "soak"])
    parser.add_argument("programs", nargs="*")
    args = parser.parse_args()
    out = os.path.abspath(args.out)
    os.makedirs(out, exist_ok=True)
    programs = [os.path.abspath(p) for p in args.programs]
    os.environ["O"] = os.path.abspath(os.environ.get("O", os.path.dirname(out)))

    began, results = time.time(), []
    if programs:
        results.append(run_programs("unit", programs, out))
    if args.mode == "check" and programs:
        # The same programs under AddressSanitizer and UBSan, built into O/san.
        san = os.path.join(os.environ["O"], "san", "tests")
        results.append(run_programs("unit-san", [os.path.join(san, os.path.basename(p))
                                                 for p in programs], out))
    if args.mode != "unit":
        for folder in pytest_folders():
            path = os.path.join("tests", folder)
            if folder == "jvm":
                one_jdk = ("--one-jdk",) if args.mode == "check" else ()
                groups = [("jvm", ("-m", " and ".join(f"not {mark}" for mark in BESIDE)))]
                groups += [(f"jvm-{mark.replace('_', '-')}", ("-m", mark, "-n", str(count), "--dist", "loadfile"))
                           for mark, count in BESIDE.items()]
                for name, more in groups:
                    results.append(run_pytest(name, path, out, (*more, *one_jdk)))
                    if args.mode == "check":
                        repeat_alone(results[-1], out)
            elif args.mode == "check":
                results.append(run_pytest(folder, path, out))

    total = Result("all")
    print()
    for result in results:
        for note in result.notes:
            print(note)
    for result in results:
        for failure in result.failures:
            print(failure)
    print(f"---- closing lines of the runners ({time.time() - began:.0f} s)")
    for result in results:
        print(result.line())
        total.add(result.passed, result.failed, result.skipped)
    print(f"{total.passed} passed, {total.failed} failed, {total.skipped} skipped", flush=True)
    sys.exit(1 if total.failed or not total.passed else 0)


if __name__ == "__main__":
    main()
