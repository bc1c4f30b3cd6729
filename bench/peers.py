"""jstrobe and the profilers it is measured beside, each with the same few verbs."""
import os
import re
import subprocess

import jvm

PEERS = os.path.join(jvm.OUT, "peers")


class Jstrobe:
    name = "jstrobe"
    library = jvm.LIBRARY

    def start(self, pid, event="cpu", interval="10ms", stats=False, more=()):
        self._run("start", "-e", event, "-i", interval, *(["-F", "stats"] if stats else []), *more, pid)

    def start_nativemem(self, pid, size):
        self._run("start", "--nativemem", size, pid)

    def start_io(self, pid, shortest):
        self._run("start", "--io", shortest, pid)

    def start_nativelock(self, pid, shortest):
        self._run("start", "--nativelock", shortest, pid)

    def stop(self, pid):
        """Stop; the JSON result."""
        path = jvm.result_file()
        self._run("stop", "-t", "-o", "json", "-f", path, pid)
        profile = jvm.Profile(path)
        os.remove(path)
        return profile

    def walk_ns(self, pid):
        """Stop; mean ns of one walk by its own stop-watch (start it with stats)."""
        return self.stop(pid).json["walk_ns"]["mean"]

    @staticmethod
    def _run(*args):
        done = jvm.jstrobe(*args)
        if done.returncode != 0:
            raise RuntimeError(f"jstrobe {args[0]}: {done.stderr.strip()}")
        return done.stdout


class AsyncProfiler:
    """The published library 4.6, driven by the launcher of 4.5 (4.6 is published without one)."""
    name = "async-profiler 4.6"
    library = os.path.join(PEERS, "ap46", "lib", "libasyncProfiler.so")
    launcher = os.path.join(PEERS, "ap45", "bin", "asprof")

    def there(self):
        return os.path.exists(self.library) and os.path.exists(self.launcher)

    def start(self, pid, event="cpu", interval="10ms", stats=False, more=()):
        self._run("start", "-t", "-e", event, "-i", interval, *(["-F", "stats"] if stats else []), *more, pid)

    def trace(self, pid, what, path):
        """Trace calls, "pkg.Class.method:10ms", into a recording."""
        self._run("start", "--trace", what, "-f", path, pid)

    def start_nativemem(self, pid, size):
        self._run("start", "--nativemem", size, pid)

    def start_nativelock(self, pid, shortest):
        self._run("start", "--nativelock", shortest, pid)

    def stop(self, pid):
        """Stop; collapsed stacks with threads as [(frames, samples)]."""
        path = jvm.result_file(".collapsed")
        self._run("stop", "-t", "-o", "collapsed", "-f", path, pid)
        with open(path) as file:
            lines = [line.rstrip("\n").rpartition(" ") for line in file if line.strip()]
        os.remove(path)
        return [(stack.split(";"), int(samples)) for stack, _, samples in lines]

    def walk_ns(self, pid):
        metrics = self._run("metrics", pid)
        self.stop(pid)
        return int(re.search(r"stackwalk_ns_avg (\d+)", metrics).group(1))

    def _run(self, verb, *args):
        done = subprocess.run([self.launcher, verb, "--libpath", self.library, *map(str, args)],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60)
        if done.returncode != 0:
            raise RuntimeError(f"asprof {verb}: {done.stderr.strip()} {done.stdout.strip()}")
        return done.stdout


class Jfr:
    """JDK 25's CPU-time sampler, switched on at the start of the program."""
    name = "JFR of JDK 25"

    def __init__(self, jdk):
        self.jdk = jdk
        self.tool = os.path.join(jdk.home, "bin", "jfr") if jdk else ""

    def there(self):
        return bool(self.jdk) and os.path.exists(self.tool)

    def option(self, path, period):
        """JVM option that records CPU samples only, each PERIOD of CPU time, into PATH."""
        settings = jvm.result_file(".jfc")
        with open(settings, "w") as file:
            file.write('<?xml version="1.0" encoding="UTF-8"?>\n<configuration version="2.0">'
                       '<event name="jdk.CPUTimeSample"><setting name="enabled">true</setting>'
                       f'<setting name="throttle">{period}</setting>'
                       '<setting name="stackTrace">true</setting></event>'
                       '<event name="jdk.CPUTimeSamplesLost"><setting name="enabled">true</setting>'
                       '</event></configuration>\n')
        return f"-XX:StartFlightRecording:settings={settings},filename={path}"

    def samples(self, path):
        """(samples with a stack, failed ones, lost ones) of a recording."""
        view = subprocess.run([self.tool, "view", "--verbose", "cpu-time-statistics", path],
                              stdout=subprocess.PIPE, text=True).stdout
        found = {k.lower(): int(v.replace(",", "")) for k, v in
                 re.findall(r"^(\w+) Samples:?\s+([\d,]+)", view, re.M)}
        return found.get("successful", 0), found.get("failed", 0), found.get("lost", 0)
