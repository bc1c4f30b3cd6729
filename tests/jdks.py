#!/usr/bin/python3
"""Every JVM in every mode: are its stacks whole and true, and does it live on?

    O=build tests/jdks.py [--jdk 8,25-graal] [--mode zgc,int] [--seconds 3]

The JVMs are those that scripts/fetch-jdks.sh has listed in $O/jdks/list. Each runs truth.Mixture,
programs whose every stack is known, and is profiled as a user would do it: jstrobe record PID.
Prints one line a run and at the end what came short; exit status 1 if anything did. The table goes
to $O/jdks/table.md.

    complete  samples whose stack reaches the thread's root without an error frame, of all taken
    frozen    samples in virtual threads with the outer part of their stack in the heap, as marked
    wrong     samples with a call that the program does not have
"""
import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "jvm"))
import jvm  # noqa: E402

GOAL = 0.99
UNLOCK = "-XX:+UnlockExperimentalVMOptions"
MODES = {  # options; the first set that the JVM takes
    "g1": [["-XX:+UseG1GC"]],
    "parallel": [["-XX:+UseParallelGC"]],
    "serial": [["-XX:+UseSerialGC"]],
    "zgc": [["-XX:+UseZGC"], [UNLOCK, "-XX:+UseZGC"]],
    "zgc-gen": [["-XX:+UseZGC", "-XX:+ZGenerational"]],  # a choice in 21 to 23
    "shenandoah": [["-XX:+UseShenandoahGC"], [UNLOCK, "-XX:+UseShenandoahGC"]],
    "int": [["-Xint"]],
    "c1": [["-XX:TieredStopAtLevel=1"]],
    "c2": [["-XX:-TieredCompilation"]],
    "share-off": [["-Xshare:off"]],
    "share-auto": [["-Xshare:auto"]],
    "headers": [["-XX:+UseCompactObjectHeaders"], [UNLOCK, "-XX:+UseCompactObjectHeaders"]],
    "no-perfdata": [["-XX:-UsePerfData"]],
    "framepointer": [["-XX:+PreserveFramePointer"]],
    "wide-oops": [["-XX:-UseCompressedOops"]],
    "one-heap": [["-XX:-SegmentedCodeCache"]],
}
# With value classes (JEP 401), from 28 on: truth.Values, which the JVM's own compiler has to make.
PREVIEW = ["--enable-preview", "-XX:+UnlockDiagnosticVMOptions", "-XX:CompileCommand=quiet"]
VALUE_MODES = {
    "values": [],
    "values-inlined": [],
    "values-c1": ["-XX:TieredStopAtLevel=1"],
    "values-c2": ["-XX:-TieredCompilation"],
    "values-int": ["-Xint"],
    "values-zgc": ["-XX:+UseZGC"],
    "values-framepointer": ["-XX:+PreserveFramePointer"],
}

# ---- the truth ---------------------------------------------------------------------------------
# Who may call whom, of the methods of the programs; None: none of them.
CALLERS = {
    "OneChain.run": {None}, "OneChain.one": {"OneChain.run"}, "OneChain.two": {"OneChain.one"},
    "OneChain.three": {"OneChain.two"}, "OneChain.four": {"OneChain.three"},
    "OneChain.five": {"OneChain.four"},
    "Recursion.loop": {None}, "Recursion.down": {"Recursion.loop", "Recursion.down"},
    "Recursion.bottom": {"Recursion.down"},
    "Words.forever": {None}, "Words.build": {"Words.forever"}, "Words.match": {"Words.forever"},
    "Words.stream": {"Words.forever"},
    "CloneCopy.storm": {None}, "Deflate.loop": {None}, "Deflate.compress": {"Deflate.loop"},
    "ClassInit.initialise": {None},
    "ClassInit$Fresh.<init>": {"ClassInit.initialise"},
    # by the JVM too, for the superclass and for what the class refers to
    "ClassInit$Fresh.loadClass": {"ClassInit.initialise", "ClassInit$Fresh.loadClass",
                                  "ClassInit$Burner.burn"},
    "ClassInit$Burner.<clinit>": {"ClassInit.initialise"},
    "ClassInit$Burner.burn": {"ClassInit$Burner.<clinit>"},
    "Exceptions.storm": {None}, "Exceptions.dive": {"Exceptions.storm", "Exceptions.dive"},
    "VirtualThreads.outer": {None}, "VirtualThreads.inner": {"VirtualThreads.outer"},
    "VirtualThreads.burn": {"VirtualThreads.inner"},
    "Program.work": {"Recursion.bottom", "ClassInit$Burner.burn", "VirtualThreads.burn"},
    "Program.set": {"Recursion.loop", "CloneCopy.storm", "Deflate.loop", "Exceptions.storm"},
    "Program.cpu": {"Recursion.loop", "CloneCopy.storm", "Deflate.loop", "Exceptions.storm"},
    "Program.count": {"Recursion.loop", "Words.forever", None},
    "Program.<clinit>": {"Recursion.loop", None},
    "Program.sleep": {"VirtualThreads.outer"},
}
VALUE_CALLERS = {
    "Values.loop": {None}, **{f"Values${who}.all": {"Values.loop"} for who in ("Compiled", "Quick", "Interpreted")},
}
_ALL = {name for name in VALUE_CALLERS if name.endswith(".all")}
VALUE_CALLERS.update({
    "Values.few": {*_ALL, "Values$Round.area"}, "Values.many": {*_ALL, "Values.many"}, "Values.making": _ALL,
    "Values.catching": _ALL, "Values.failing": {"Values.catching", "Values.failing"},
    "Values$Pair.turned": _ALL, "Values$Near.area": _ALL, "Values$Far.area": _ALL, "Values$Round.area": _ALL,
    "Values.work": {"Values.many", "Values$Pair.turned", "Values$Near.area"}, "Program.work": {"Values.work"},
    "Program.count": {"Values.loop"},
    # objects are made where their classes say so, or nowhere
    "Values$Pair.<init>": _ALL, "Values$Quad.<init>": _ALL,
    "Values$Compiled.<init>": {None}, "Values$Quick.<init>": {None}, "Values$Interpreted.<init>": {None},
    "Values.<clinit>": {None}, "Values$Near.<init>": {"Values.<clinit>"}, "Values$Far.<init>": {"Values.<clinit>"},
    "Values$Round.<init>": {"Values.<clinit>"},
})
CALLERS.update({name: CALLERS.get(name, set()) | callers for name, callers in VALUE_CALLERS.items()})
DEPTH = {"Recursion.bottom": ("Recursion.down", 200),
         "java.lang.IllegalStateException.<init>": ("Exceptions.dive", 201)}
MOST = {"Values.many": 21, "Values.failing": 21}  # times that a method stands in a stack, at most
FROZEN = {"[virtual_thread_frozen]", "[virtual_thread_switching]", "[virtual_thread_moving]"}
UNLOADED = "[unloaded]"


def own_frames(stack):
    """The frames that belong to the programs, outermost first, lambdas left out."""
    return [f[len("truth."):] for f in stack["frames"]
            if f.startswith("truth.") and "ambda$" not in f and "$$Lambda" not in f]


def wrong(stack, whole):
    """What is not true of a stack, or None. WHOLE: it has its root."""
    frames = own_frames(stack)
    caller = None
    if UNLOADED in stack["frames"]:
        return None  # a frame that is not known: it may have been anything
    for number, frame in enumerate(frames):
        callers = CALLERS.get(frame)
        if callers is None:
            return "no such method: " + frame
        if (number or whole) and caller not in callers:
            return f"{frame} called by {caller}"
        caller = frame
    leaf = stack["frames"][-1] if stack["kinds"][-1] == "inlined" else None
    for bottom, (method, depth) in DEPTH.items():
        # An innermost inlined frame is as exact as debug information is: the code around has none.
        if whole and leaf != "truth." + bottom and bottom in [*frames, *stack["frames"]] and \
                frames.count(method) != depth and not any(f in frames for f in MOST):
            return f"{method} stands {frames.count(method)} times"
    inner = [kind for frame, kind in zip(stack["frames"], stack["kinds"]) if frame.startswith("truth.")][-1:]
    outer = frames[:-1] if inner == ["inlined"] else frames
    for method, most in MOST.items():
        if outer.count(method) > most:
            return f"{method} stands {frames.count(method)} times"
    return None


def judge(profile):
    """(samples without root, frozen ones, untrue ones, {reason: samples})."""
    bad = frozen = untrue = 0
    reasons = {}
    skip = {tid for tid, t in profile.threads.items() if t["name"] in ("main", "java")}
    for stack in profile.stacks:
        n = stack["samples"]
        missing, _, worst = jvm.incomplete(profile, [stack])
        if FROZEN & set(stack["frames"]):
            frozen, missing = frozen + n, 0
        elif missing:
            bad += n
            reasons[worst[0][0]] = reasons.get(worst[0][0], 0) + n
        untruth = None if stack.get("tid") in skip else \
            wrong(stack, not missing and not FROZEN & set(stack["frames"]))
        if untruth:
            untrue += n
            reasons[untruth] = reasons.get(untruth, 0) + n
    return bad, frozen, untrue, reasons


# ---- the JVMs ----------------------------------------------------------------------------------

class Jvm:
    """A line of $O/jdks/list."""

    def __init__(self, line):
        self.name, root, self.java, options = line.rstrip("\n").split("\t")
        self.root = None if root == "-" else root
        self.options = options.split()
        self.wrap = self._inroot() if self.root else []

    def _inroot(self):
        """Words before a command that is to run with self.root as /; mounts end with it."""
        mounts = " && ".join(f"mount --rbind {d} '{self.root}'{d}" for d in ("/proc", "/dev"))
        share = f"mkdir -p '{self.root}{jvm.OUT}' && mount --bind '{jvm.OUT}' '{self.root}{jvm.OUT}'"
        user = [] if os.geteuid() == 0 else ["--map-root-user"]
        return ["unshare", "--mount", *user, "--propagation", "private", "sh", "-c",
                f"{mounts} && {share} && exec chroot '{self.root}' \"$@\"", "sh"]

    def run(self, *arguments, timeout=300):
        return subprocess.run([*self.wrap, self.java, *self.options, *arguments], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=timeout,
                              stdin=subprocess.DEVNULL)

    def version(self):
        text = self.run("-version").stdout
        found = re.search(r"\(build ([^,)]+)", text)
        return found.group(1) if found else text.strip().splitlines()[-1]

    def values(self):
        """The folder of truth.Values as this JVM's compiler makes it, None if it cannot."""
        if not hasattr(self, "_values"):
            folder = os.path.join(jvm.OUT, "jdks", "values-" + self.name)
            os.makedirs(folder, exist_ok=True)
            source = shutil.copy(os.path.join(jvm.ROOT, "tests", "jvm", "java", "values", "Values.java"), folder)
            javac = os.path.join(os.path.dirname(self.java), "javac")
            there = os.path.exists((self.root or "") + javac)
            done = there and self.name.isdigit() and int(self.name) >= 28 and subprocess.run(
                [*self.wrap, javac, "--enable-preview", "--source", self.name, "-nowarn", "-cp", jvm.CLASSES,
                 "-d", folder, source], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            self._values = folder if done and done.returncode == 0 else None
        return self._values

    def value_mode(self, name):
        """The options of a mode with value classes, None if this JVM has none."""
        folder = self.values()
        if not folder:
            return None
        directives = [{"match": "truth/Values$Quick.all", "c2": {"Exclude": True}},
                      {"match": "truth/Values$Interpreted.all", "c1": {"Exclude": True}, "c2": {"Exclude": True}},
                      {"match": ["truth/Values.*", "truth/Values$*.*"]}]
        if name != "values-inlined":
            for directive in directives:
                directive["inline"] = ["-truth/Values.*", "-truth/Values$*.area", "-truth/Values$Pair.turned"]
        path = os.path.join(folder, name + ".directives")
        with open(path, "w") as file:
            json.dump(directives, file)
        return [*PREVIEW, f"-XX:CompilerDirectivesFile={path}", *VALUE_MODES[name]]

    def mode(self, name):
        """The options of a mode, None if this JVM has it not."""
        if name in VALUE_MODES:
            return self.value_mode(name)
        for options in MODES[name]:
            if self.run(*options, "-version").returncode == 0:
                return options
        return None


# ---- one run -----------------------------------------------------------------------------------

class Row:
    def __init__(self, name, mode):
        self.name, self.mode = name, mode
        self.samples = self.bad = self.frozen = self.untrue = 0
        self.fault, self.reasons = "", {}

    def complete(self):
        return 1 - self.bad / self.samples if self.samples else 0.0

    def good(self):
        return not self.fault and self.complete() >= GOAL and not self.untrue

    def cells(self):
        if self.fault:
            return [self.name, self.mode, "", "", "", "", self.fault]
        return [self.name, self.mode, str(self.samples), f"{self.complete():.2%}",
                f"{self.frozen / max(1, self.samples):.1%}", str(self.untrue), "no"]


def crash(program):
    """How a program ended that should not have."""
    status = program.process.wait()
    text = f"exit {status}" if status >= 0 else signal.Signals(-status).name
    said = [line for line in program.output if "Problematic frame" in line or "Error" in line]
    return f"ended: {text} {' '.join(said)}".strip()


def measure(java, mode, options, seconds):
    row = Row(java.name, mode)
    jdk = jvm.Jdk("", java.name)
    jdk.java = java.java
    name, path = ("Values", f"{jvm.CLASSES}:{java.values()}") if mode in VALUE_MODES else ("Mixture", jvm.CLASSES)
    with jvm.Program(jdk, name, jvm=[*java.options, *options], wrap=java.wrap, classpath=path) as program:
        try:
            time.sleep(seconds / 2)  # let compilation begin
            profile = jvm.record(program, "-i", "1ms", "-d", seconds)
            program.mark()
            status = program.stop()
            row.fault = f"exit status {status}" if status else ""
        except (AssertionError, OSError, subprocess.TimeoutExpired) as error:
            time.sleep(0.5)
            row.fault = str(error).strip().replace("\n", " ")[-300:] if program.alive() else crash(program)
            return row
    row.bad, row.frozen, row.untrue, row.reasons = judge(profile)
    row.samples = profile.samples["taken"]
    row.bad += profile.lost()
    row.reasons.update({f"lost: {why}": n for why, n in profile.samples["lost"].items() if n})
    return row


HEAD = ["JVM", "mode", "samples", "complete", "frozen", "wrong", "crash"]
WIDTH = [10, 13, 8, 9, 7, 6, 0]


def show(cells):
    print("  ".join(c.ljust(w) for c, w in zip(cells, WIDTH)).rstrip(), flush=True)


def write_table(path, versions, modes, rows):
    """One column a JVM, one line a mode: the share of complete stacks, or what went wrong."""
    cell = {(row.name, row.mode): row for row in rows}

    def text(name, mode):
        row = cell.get((name, mode))
        if not row:
            return "–"
        return "failed" if row.fault else f"{100 * row.complete():.2f}" + (" wrong" if row.untrue else "")

    def line(cells):
        return "| " + " | ".join(cells) + " |\n"

    def totals(title, of):
        return line([title] + [str(of([r for r in rows if r.name == name])) for name in versions])

    with open(path, "w") as file:
        file.write(line(["mode", *versions]) + "|---" * (len(versions) + 1) + "|\n")
        for mode in modes:
            file.write(line([mode] + [text(name, mode) for name in versions]))
        file.write(totals("samples", lambda some: sum(r.samples for r in some)))
        file.write(totals("wrong frames", lambda some: sum(r.untrue for r in some)))
        file.write(totals("crashes, failures", lambda some: sum(1 for r in some if r.fault)))
        file.write("\n" + "".join(f"- {name}: {version}\n" for name, version in versions.items()))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--jdk", default="")
    parser.add_argument("--mode", default="")
    parser.add_argument("--seconds", type=float, default=3)
    args = parser.parse_args()
    with open(os.path.join(jvm.OUT, "jdks", "list")) as file:
        jvms = [Jvm(line) for line in file]
    if args.jdk:
        jvms = [j for j in jvms if j.name in args.jdk.split(",")]
    modes = args.mode.split(",") if args.mode else [*MODES, *VALUE_MODES]
    jvm.compile_programs()
    rows, versions, absent = [], {}, []
    show(HEAD)
    for java in jvms:
        versions[java.name] = java.version()
        for mode in modes:
            options = java.mode(mode)
            if options is None:
                absent.append(f"{java.name} {mode}")
                continue
            row = measure(java, mode, options, args.seconds)
            rows.append(row)
            show(row.cells())
            for reason, samples in sorted(row.reasons.items(), key=lambda item: -item[1])[:4]:
                print(f"            {samples} {reason}", flush=True)
    print("modes that a JVM does not have: " + ", ".join(absent))
    table = os.path.join(jvm.OUT, "jdks", "table.md")
    write_table(table, versions, modes, rows)
    print(f"the table: {table}")
    short = [row for row in rows if not row.good()]
    print(f"{len(rows) - len(short)} of {len(rows)} runs have {GOAL:.0%} complete stacks, none wrong, no crash")
    for row in short:
        show(row.cells())
    sys.exit(1 if short or not rows else 0)


if __name__ == "__main__":
    main()
