"""VisualVM's profiling engine (Debian's package visualvm), driven without its window by bench/java/JFluid.java."""
import glob
import os
import socket
import subprocess

import jvm
from jvm import Program

HOME = "/usr/share/visualvm/visualvm"
LIBRARY = "/usr/lib/jni/libprofilerinterface-jdk16.so"
SERVER = os.path.join(HOME, "lib")
ENGINE = os.path.join(HOME, "modules", "org-graalvm-visualvm-lib-jfluid.jar")
COMMON = os.path.join(HOME, "modules", "org-graalvm-visualvm-lib-common.jar")
# for what its calibration finds of a JVM, once
DATA = os.path.join(jvm.WORK, "visualvm-home")


def there():
    return all(map(os.path.exists, (LIBRARY, ENGINE, os.path.join(SERVER, "jfluid-server.jar"))))


def prepare(jdk):
    """Compile the driver, calibrate the engine."""
    classes = os.path.join(jvm.WORK, "jfluid")
    os.makedirs(classes, exist_ok=True)
    os.makedirs(DATA, exist_ok=True)
    subprocess.run([os.path.join(jvm.compiler(), "bin", "javac"), "-nowarn", "-cp", ENGINE, "-d", classes,
                    os.path.join(jvm.ROOT, "bench", "java", "JFluid.java")], check=True)
    if not glob.glob(os.path.join(DATA, ".nbprofiler", "machinedata.*")):
        subprocess.run([jdk.java, "-Duser.home=" + DATA, "-agentpath:" + LIBRARY, "-cp",
                        ":".join(os.path.join(SERVER, name) for name in ("jfluid-server.jar", "jfluid-server-15.jar")),
                        "org.graalvm.visualvm.lib.jfluid.server.ProfilerCalibrator"],
                       check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=120)
    return classes


class Profiled:
    """truth.NAME while the engine profiles it: a context manager with the program."""

    def __init__(self, jdk, mode, name, roots, *args):
        classes = prepare(jdk)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.program = Program(jdk, name, *args, ready=False,
                               jvm=["-Duser.home=" + DATA, f"-agentpath:{LIBRARY}={SERVER},{port}"])
        self.driver = subprocess.Popen([jdk.java, "-Duser.home=" + DATA, "-cp", ":".join((classes, ENGINE, COMMON)), "JFluid",
                                        SERVER, str(port), mode, "truth." + name, *roots],
                                       stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def __enter__(self):
        try:
            for line in self.driver.stdout:
                if line.startswith("profiling"):
                    break
            else:
                raise RuntimeError(f"VisualVM's engine ended with {self.driver.wait()}: {self.program.output[-5:]}")
            self.program.wait_for("READY")
        except BaseException:
            self.__exit__()
            raise
        return self.program

    def __exit__(self, *error):
        for process in (self.driver, self.program.process):
            if process.poll() is None:
                process.kill()
            process.wait()
        return False
