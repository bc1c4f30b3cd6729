#!/usr/bin/python3
"""JVMs of other CPUs, under emulation (qemu-user) or, for i386, as they are: are their stacks whole and true?

    O=build tests/emulated.py [--cpu aarch64] [--mode default,int] [--event ctimer] [--seconds 40]

The libraries are those of scripts/check-cross.sh in $O/cross; the JVMs are Debian's, unpacked into $O/cross/jvm.
Each runs truth.Mixture and truth.Recursion, programs whose every stack is known, and the demo, with the agent loaded
at the start: the command cannot attach to the emulator, and that has no perf events. Prints one line a run; exit
status 1 if something came short. Without emulator threads are also run instruction by instruction (tests/jvm/step),
and each of their stacks is held against the return addresses that are alive.

    complete  samples whose stack reaches the thread's root without an error frame, of all taken
    wrong     samples with a call that the program does not have
    weight    of all samples, by the CPU time the process used
"""
import argparse
import os
import re
import shutil
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import jdks  # noqa: E402
jvm = jdks.jvm

# cpu: Debian's architecture, JVM package, suite, emulator (None: this machine runs it itself)
CPUS = {
    "aarch64": ("arm64", "openjdk-17-jre-headless", "bookworm", "qemu-aarch64-static"),
    "i386": ("i386", "openjdk-17-jre-headless", "bookworm", None),
    "arm": ("armhf", "openjdk-17-jre-headless", "bookworm", "qemu-arm-static"),
    "ppc64le": ("ppc64el", "openjdk-17-jre-headless", "bookworm", "qemu-ppc64le-static"),
    "s390x": ("s390x", "openjdk-17-jre-headless", "bookworm", "qemu-s390x-static"),
    "riscv64": ("riscv64", "openjdk-21-jre-headless", "trixie", "qemu-riscv64-static"),
}
MODES = {"default": [], "int": ["-Xint"], "c1": ["-XX:TieredStopAtLevel=1"], "c2": ["-XX:-TieredCompilation"]}
PROGRAMS = {"Mixture": ["truth.Mixture"], "Recursion": ["truth.Recursion", "200"], "demo": ["demo.OrderService"]}
HEAD = ["cpu", "program", "mode", "event", "samples", "complete", "wrong", "weight", ""]
WIDTH = [8, 9, 8, 7, 7, 8, 6, 7, 0]


def fetch(cpu):
    """The folder in which the JVM of CPU lies, None if it cannot be had."""
    arch, package, suite, emulator = CPUS[cpu]
    root = os.path.join(jvm.OUT, "cross", "jvm", arch)
    script = os.path.join(jvm.ROOT, "scripts", "debian-root.sh")
    if not os.path.exists(os.path.join(root, "usr/lib/jvm")) and \
            subprocess.run([script, suite, arch, root, package]).returncode:
        return None
    inside = os.path.join(root, "jstrobe")
    os.makedirs(inside, exist_ok=True)
    shutil.copy(os.path.join(jvm.OUT, "cross", cpu, "lib", "libjstrobe.so"), inside)
    if not emulator:
        shutil.copy(os.path.join(jvm.OUT, "cross", cpu, "tests", "libstep.so"), inside)
    tops = [os.path.join(jvm.ROOT, top) for top in ("demo/src", "tests/jvm/java")]
    subprocess.run(["javac", "-encoding", "UTF-8", "-nowarn", "-sourcepath", ":".join(tops),
                    "-d", os.path.join(inside, "classes"),
                    tops[0] + "/demo/OrderService.java", tops[1] + "/truth/Mixture.java",
                    *(f"{tops[1]}/truth/{name}.java" for name in ("Recursion", "Stepped"))], check=True)
    if emulator:
        shutil.copy(shutil.which(emulator), inside)
    return root


def command(cpu, root, mode, agent, *program):
    """Words that run PROGRAM with AGENT and ROOT as /; the mounts end with it."""
    emulator = CPUS[cpu][3]
    java = next(os.path.join("/usr/lib/jvm", name, "bin/java") for name in sorted(os.listdir(root + "/usr/lib/jvm"))
                if os.path.exists(f"{root}/usr/lib/jvm/{name}/bin/java"))
    mounts = " && ".join(f"mount --rbind {d} '{root}'{d}" for d in ("/proc", "/dev"))
    user = [] if os.geteuid() == 0 else ["--map-root-user"]
    return ["unshare", "--mount", *user, "--propagation", "private", "sh", "-c",
            f"{mounts} && exec chroot '{root}' \"$@\"", "sh", *(["/jstrobe/" + emulator] if emulator else []),
            java, "-Xmx512m", *MODES[mode], "-agentpath:/jstrobe/" + agent, "-cp", "/jstrobe/classes", *program]


def run(cpu, root, program, mode, event, seconds):
    """A line of the table, and whether it is good."""
    result = os.path.join(root, "jstrobe", "out.json")
    if os.path.exists(result):
        os.remove(result)
    cells = [cpu, program, mode, event]
    agent = f"libjstrobe.so=start,event={event},interval=10ms,threads,file=/jstrobe/{os.path.basename(result)}"
    words = command(cpu, root, mode, agent, *PROGRAMS[program])
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True) as process:
        time.sleep(seconds)
        if program == "demo":
            process.terminate()
        try:
            said, _ = process.communicate("stop\n" if program != "demo" else None, timeout=300)
        except subprocess.TimeoutExpired:
            process.kill()
            return cells + ["", "", "", "", "did not end"], False
    if not os.path.exists(result):
        return cells + ["", "", "", "", f"exit {process.returncode}: {said[-300:]}"], False
    profile = jvm.Profile(result)
    profile.check()
    bad, _, untrue, reasons = jdks.judge(profile) if program != "demo" else (profile_bad(profile), 0, 0, {})
    taken = max(1, profile.samples["taken"])
    used = profile.json["cpu_time_ns"] - profile.json["own_cpu_ns"]
    complete, weight = 1 - bad / taken, profile.weight["total"] / used
    good = complete >= jdks.GOAL and not untrue and profile.samples["taken"] > 100 and \
        (event == "wall" or 0.95 <= weight <= 1.05)
    text = ", ".join(f"{n} {why}" for why, n in sorted(reasons.items(), key=lambda r: -r[1])[:4])
    return cells + [str(profile.samples["taken"]), f"{complete:.2%}", str(untrue),
                    "" if event == "wall" else f"{weight:.1%}",
                    " ".join(filter(None, [profile.json["engine"], text]))], good


def step(cpu, root, mode, seconds):
    """A line on walks at each instruction, and whether it is good."""
    words = command(cpu, root, mode, "libstep.so=start,event=ctimer,interval=1s,file=/dev/null", "truth.Stepped",
                    "/jstrobe/libstep.so", str(seconds), "2000", "all")
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=seconds + 300)
    found = re.search(r"STEPPED steps=(\d+) judged=(\d+) wrong=(\d+) short=(\d+)", done.stdout)
    if not found:
        return [cpu, "Stepped", mode, "", "", "", "", "", f"exit {done.returncode}: {done.stdout[-300:]}"], False
    _, walks, wrong, short = map(int, found.groups())
    return [cpu, "Stepped", mode, "", str(walks), f"{1 - (wrong + short) / max(1, walks):.2%}", str(wrong)], \
        not wrong and walks > 1000 and short <= 0.005 * walks


def profile_bad(profile):
    """Stored samples without their root; for `wall`, turns that were not answered in time are no stacks."""
    return profile.samples["stored"] - profile.samples["complete"]


def show(cells):
    print("  ".join(c.ljust(w) for c, w in zip(cells, WIDTH)).rstrip(), flush=True)


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--cpu", default="aarch64")
    options.add_argument("--mode", default=",".join(MODES))
    options.add_argument("--event", help="ctimer,itimer,wall; without emulator cpu before them")
    options.add_argument("--program", default=",".join([*PROGRAMS, "Stepped"]))
    options.add_argument("--seconds", type=float, default=40)
    chosen = options.parse_args()
    short = 0
    show(HEAD)
    for cpu in chosen.cpu.split(","):
        root = fetch(cpu)
        if not root:
            print(f"{cpu}: no JVM for it can be had from Debian; left out")
            continue
        events = (chosen.event or ("" if CPUS[cpu][3] else "cpu,") + "ctimer,itimer,wall").split(",")
        for event in events:
            for mode in chosen.mode.split(","):
                # Every mode with one event, every event with one mode.
                if event != events[0] and mode != chosen.mode.split(",")[0]:
                    continue
                for program in chosen.program.split(","):
                    if program == "Stepped" and (CPUS[cpu][3] or event != events[0]):
                        continue
                    cells, good = step(cpu, root, mode, int(chosen.seconds)) if program == "Stepped" else \
                        run(cpu, root, program, mode, event, chosen.seconds)
                    show(cells)
                    short += not good
    print(f"{short} came short" if short else "all good")
    return 1 if short else 0


if __name__ == "__main__":
    sys.exit(main())
