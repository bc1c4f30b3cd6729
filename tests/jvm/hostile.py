"""An allocator that makes use after free a crash, put before libc's in a JVM: preload/hostile.c."""
import mmap
import os
import struct
import subprocess

import jvm


class Hostile:
    """What the preloaded library obeys (preload/hostile.c): nothing that was given back can be touched again."""

    def __init__(self):
        self.library = os.path.join(jvm.OWN, "libhostile.so")
        source = os.path.join(jvm.ROOT, "tests", "jvm", "preload", "hostile.c")
        subprocess.run([os.environ.get("CC", "gcc"), "-O2", "-g", "-Wall", "-Wextra", "-fno-builtin", "-fPIC",
                        "-shared", "-o", self.library, source], check=True)
        self.path = jvm.result_file(".hostile")
        with open(self.path, "wb") as file:
            file.write(bytes(24))
        self.file = open(self.path, "r+b")
        self.map = mmap.mmap(self.file.fileno(), 24)

    def wrap(self):
        return ["env", f"LD_PRELOAD={self.library}", f"JSTROBE_TEST_HOSTILE={self.path}"]

    def begin(self, program):
        """From now on it is hostile; our library must be loaded."""
        with open(f"/proc/{program.pid}/maps") as maps:
            places = [line.split()[0].split("-") for line in maps if "libjstrobe.so" in line]
        struct.pack_into("QQ", self.map, 0, int(places[0][0], 16), int(places[-1][1], 16))

    def given_back(self):
        return struct.unpack_from("Q", self.map, 16)[0]

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.map.close()
        self.file.close()
        os.remove(self.path)
