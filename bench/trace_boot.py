#!/usr/bin/env python3
"""
What `jstrobe trace` with a wide pattern costs a real program: bench/java/shop, a web shop of Spring Boot, Hibernate, H2 and
Jackson that asks itself without pause. Requests for a second of its CPU time before, in each second while it is traced,
and after (a busy machine counts less than with requests a second); the longest stop of the program; when the table was useful.

    bench/trace_boot.py [--jdk jdk17] [--runs 3] [--pattern '**'] [--program DIR] [--seconds 40] [-- options of start]

With --bare an agent that changes nothing retransforms one class of the program, and jstrobe has no part: the price of the JVM.

DIR has classes/ and lib/; without it Maven builds the program (Maven Central must be within reach).
"""
import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import threading
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "tests", "jvm"))
import jvm  # noqa: E402
from trace_change import agent  # noqa: E402

SOURCE = os.path.join(ROOT, "bench", "java", "shop")


def build():
    """The program's folder, built by Maven outside of the sources."""
    folder = os.path.join(jvm.WORK, "shop")
    done = os.path.join(folder, "target")
    if not os.path.exists(os.path.join(done, "lib")):
        shutil.copytree(SOURCE, folder, dirs_exist_ok=True)
        subprocess.run(["mvn", "-q", "-B", "package"], cwd=folder, check=True,
                       env={**os.environ, "JAVA_HOME": jvm.compiler()})
    return done


class Shop:
    """The running program and its lines: (time, requests for a CPU second, longest request ms, longest pause ms)."""

    def __init__(self, jdk, folder, threads):
        self.rates = []
        self.process = subprocess.Popen([jdk.java, "-Xmx700m", "-cp", f"{folder}/classes:{folder}/lib/*", "shop.Shop",
                                         str(threads)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.pid = self.process.pid
        threading.Thread(target=self._read, daemon=True).start()

    def _cpu(self):
        with open(f"/proc/{self.pid}/stat") as file:
            words = file.read().rsplit(")", 1)[1].split()
        return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")

    def _read(self):
        used = 0
        for line in self.process.stdout:
            if line.startswith("RATE"):
                requests, longest, pause = map(int, line.split()[1:4])
                used, before = self._cpu(), used
                self.rates.append((time.time(), requests / max(used - before, 0.02), longest, pause))

    def between(self, start, end):
        return [r for r in self.rates if start < r[0] <= end]

    def warm(self, seconds):
        """Let it run for SECONDS: (requests for a CPU second by then, the time)."""
        while not self.rates and self.process.poll() is None:
            time.sleep(1)
        time.sleep(seconds)
        began = time.time()
        return statistics.median(r[1] for r in self.between(began - 10, began)), began

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.process.kill()
        self.process.wait()


def table(pid):
    """(methods that were called, whether the program's own are among them) of a dump."""
    path = jvm.result_file()
    done = jvm.jstrobe("dump", "-o", "json", "-f", path, pid, timeout=300)
    if done.returncode or not os.path.exists(path):
        return 0, False, done.stderr.strip()
    with open(path) as file:
        methods = [m for m in json.load(file)["methods"] if m["invocations"]]
    os.remove(path)
    return len(methods), any(str(m).find("Desk") >= 0 for m in methods), ""


def bare(jdk, folder, args):
    jcmd, library, out = os.path.join(os.path.dirname(jdk.java), "jcmd"), agent("retransform.c"), jvm.result_file()
    with Shop(jdk, folder, args.threads) as shop:
        before, began = shop.warm(args.warm)
        subprocess.run([jcmd, str(shop.pid), "JVMTI.agent_load", library, f"Lshop/Line;,1,{out}"], check=True,
                       stdout=subprocess.DEVNULL)
        time.sleep(args.seconds)
        print(f"one class by a bare agent: before {before:.0f} requests a CPU second; each second, % of it (pause ms): "
              + " ".join(f"{100 * r[1] / before:.0f}({r[3]})" for r in shop.between(began, time.time())), flush=True)


def run(jdk, folder, args):
    with Shop(jdk, folder, args.threads) as shop:
        before, began = shop.warm(args.warm)
        done = jvm.jstrobe("start", "--instrument", args.pattern, *args.options, shop.pid, timeout=600)
        returned, useful, slowest = time.time() - began, None, 0
        print(f"start: {returned:.1f} s: {done.stdout.strip()} {done.stderr.strip()}".replace("\n", "\n    "))
        while time.time() < began + args.seconds:
            time.sleep(1)
            asked = time.time()
            status = jvm.jstrobe("status", shop.pid, timeout=300).stdout.split("\n")
            slowest = max(slowest, time.time() - asked)
            if useful is None and not args.quiet:
                count, own, _ = table(shop.pid)
                if count >= 100 and own:
                    useful = time.time() - began
                    print(f"useful: {useful:.1f} s, {count} methods")
        stopping = time.time()
        print("\n    ".join(status[:6]))
        final = table(shop.pid)
        done = jvm.jstrobe("stop", "-o", "hot", "-f", "/dev/null", shop.pid, timeout=600)
        stopped = time.time() - stopping
        print(f"stop: {stopped:.1f} s: {done.stdout.strip()} {done.stderr.strip()}".replace("\n", "\n    "))
        time.sleep(args.after)
        during, later = shop.between(began, stopping), shop.between(stopping + stopped, time.time())
        print(f"before {before:.0f} requests a CPU second; each second, % of it (pause ms): "
              + " ".join(f"{100 * r[1] / before:.0f}({r[3]})" for r in during))
        print("after stop: " + " ".join(f"{100 * r[1] / before:.0f}({r[3]})" for r in later))
        print(f"start {returned:.1f} s, useful {useful and round(useful, 1)} s, status at most {slowest:.1f} s, stop {stopped:.1f} s, "
              f"methods {final[0]}, worst second {100 * min(r[1] for r in during) / before:.0f} %, mean "
              f"{100 * statistics.mean(r[1] for r in during) / before:.0f} %, median of the last 10 s "
              f"{100 * statistics.median(r[1] for r in during[-10:]) / before:.0f} %, worst pause {max(r[3] for r in during)} ms, "
              f"worst pause after stop {max((r[3] for r in later), default=0)} ms, last second {100 * later[-1][1] / before:.0f} %",
              flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jdk", default="jdk17")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--pattern", default="**")
    parser.add_argument("--program")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--warm", type=float, default=40)
    parser.add_argument("--seconds", type=float, default=40)
    parser.add_argument("--after", type=float, default=20)
    parser.add_argument("--bare", action="store_true", help="one class, by an agent that changes nothing")
    parser.add_argument("--quiet", action="store_true", help="no dumps while it runs")
    parser.add_argument("options", nargs="*")
    args = parser.parse_args()
    jdk = jvm.find_jdk(int(args.jdk.removeprefix("jdk")))
    folder = args.program or build()
    for _ in range(args.runs):
        (bare if args.bare else run)(jdk, folder, args)


if __name__ == "__main__":
    main()
