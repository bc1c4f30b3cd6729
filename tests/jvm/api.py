"""A Java program that calls native methods of the library as a test tells it (java/api)."""
import base64
import fcntl
import glob
import os
import subprocess

import jvm

SOURCES = os.path.join(jvm.ROOT, "tests", "jvm", "java", "api")
CLASSES = os.path.join(jvm.WORK, "api")
# Classes for loaders of their own: they are not on the class path.
LOADED = os.path.join(jvm.WORK, "api-loaded")
JAR = os.path.join(jvm.OUT, "lib", "jstrobe.jar")
AWAY, JMH, OURS, NAMED = "shaded.far.Away", "jmh.Outer$JavaApi", "jstrobe.Profiler", "one.profiler.AsyncProfiler"


def compile_classes():
    os.makedirs(jvm.WORK, exist_ok=True)
    with open(os.path.join(jvm.WORK, "api.lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for folder, names in ((CLASSES, ["api"]), (LOADED, ["shaded/far", "jmh"])):
            sources = [path for name in names for path in glob.glob(os.path.join(SOURCES, name, "*.java"))]
            stamp = folder + ".stamp"
            if os.path.exists(stamp) and os.path.getmtime(stamp) > jvm.newest(sources + [__file__]):
                continue
            os.makedirs(folder, exist_ok=True)
            subprocess.run([os.path.join(jvm.compiler(), "bin", "javac"), "--release", "8", "-encoding", "UTF-8",
                            "-Xlint:-options", "-nowarn", "-d", folder, *sources], check=True)
            with open(stamp, "w"):
                pass


class Thrown(Exception):
    """What Java code threw: its class, and what it says."""

    def __init__(self, name, text):
        super().__init__(f"{name}: {text}")
        self.name, self.text = name.rsplit(".", 1)[-1], text


def word(argument):
    if argument is None:
        return "-"
    if isinstance(argument, bool):
        return str(argument).lower()
    if isinstance(argument, int):
        return str(argument)
    # halves of surrogate pairs pass, too
    return base64.b64encode(argument.encode("utf-16-le", "surrogatepass")).decode() or "+"


class Api(jvm.Program):
    """One run of api.Main; made() gives objects to call."""

    def __init__(self, jdk, classpath=(), **more):
        compile_classes()
        super().__init__(jdk, "Api", main="api.Main", classpath=":".join([CLASSES, *classpath]), **more)

    def tell(self, *words):
        """The answer as bytes, None for null."""
        self.say(" ".join(words))
        while True:
            line = self.lines.get(timeout=120)
            assert line is not None, self.said()
            kind, _, rest = line.partition(" ")
            if kind == "=":
                return None if rest == "-" else base64.b64decode(rest[1:])
            if kind == "!":
                name, _, text = rest.partition(" ")
                raise Thrown(name, "" if text == "-" else base64.b64decode(text[1:]).decode())

    def made(self, name, class_name=AWAY, library=None, folder=LOADED, method="load"):
        """An object of CLASS_NAME by a class loader of its own, which has loaded LIBRARY (None: nothing)."""
        self.tell(name, "new", class_name, folder)
        if library:
            self.tell(name, method, word(library))
        return Object(self, name)

    def got(self, name, class_name=OURS, jar=None):
        """What the class's own method gives; by a class loader of its own that has the jar alone."""
        self.tell(name, "new", class_name, jar or JAR, "get" if class_name == OURS else "getInstance")
        return Object(self, name)

    def run(self, seconds):
        self.tell("-", "run", str(int(seconds * 1000)))

    def close(self):
        """End it by the end of its input; its exit status."""
        self.process.stdin.close()
        return self.process.wait(timeout=60)


class Object:
    def __init__(self, program, name):
        self.program, self.name = program, name

    def call(self, method, *arguments):
        return self.program.tell(self.name, method, *map(word, arguments))

    def execute(self, command):
        return self.call("execute0", command).decode()

    def bytes(self, command):
        return self.call("execute1", command)

    def start(self, event, interval=0, reset=True):
        self.call("start0", event, interval, reset)

    def stop(self):
        self.call("stop0")

    def samples(self):
        return int(self.call("getSamples"))

    def let(self, thread, enable):
        """THREAD: one of the program's by its name, "-" for the one that calls."""
        self.program.tell(self.name, "filterThread0", thread, word(enable))

    def forget(self):
        self.program.tell(self.name, "forget")

    def gone(self):
        """Forget it; whether its class loader is collected."""
        return self.program.tell(self.name, "gone") == b"true"

    def span(self, tag, count=5):
        """Mark spans by the class one.profiler.Span of its class loader; ns of one."""
        return int(self.program.tell(self.name, "span", word(tag), str(count)))
