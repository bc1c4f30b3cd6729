"""Classes with probes in all methods satisfy the JVM's verifier and ASM's: the JDK's own modules, and jars."""
import glob
import json
import os
import re
import shutil
import subprocess
import zipfile

import pytest
from jvm import LIBRARY, OUT, OWN, ROOT, SOAK, compiler, counted

pytestmark = [pytest.mark.together, pytest.mark.each_jdk]

REWRITER = os.path.join(OUT, "tests", "rewrite_classes")
TOOLS = os.path.join(OWN, "rewrite")
# ASM as the JDK brings it along, up to JDK 23; none that is newer
ASM = ["--add-exports", "java.base/jdk.internal.org.objectweb.asm=ALL-UNNAMED",
       "--add-exports", "java.base/jdk.internal.org.objectweb.asm.util=ALL-UNNAMED"]


@pytest.fixture(scope="module")
def tools():
    sources = glob.glob(os.path.join(ROOT, "tests", "jvm", "java", "rewrite", "*.java"))
    subprocess.run([os.path.join(compiler(), "bin", "javac"), "--release", "8", "-Xlint:-options", "-nowarn",
                    "-d", TOOLS, *sources], check=True)


def run(jdk, *args, asm=False):
    """{word: number} of what the tool prints."""
    done = subprocess.run([jdk.java, "-Xverify:all", *(ASM if asm else []), *args], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=1800)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    found = {word: int(n) for word, n in re.findall(r"([A-Z]+)=(\d+)", done.stdout)}
    assert found.get("WRONG", 0) == 0, done.stdout
    return found


def modules(folder):
    return [f"--patch-module={name}={os.path.join(folder, name)}" for name in sorted(os.listdir(folder))]


def test_modules_of_the_jdk(jdk, tools, tmp_path, say):
    """The JVM links all their classes, from where the probes are; java.base, where it starts, goes by ASM alone."""
    names = [] if SOAK else ["java.logging", "java.sql", "java.compiler"]
    asm = jdk.version == 17
    wrote = run(jdk, f"-Dasm={'true' if asm else 'false'}", "-cp", TOOLS, "rewrite.Modules", REWRITER, str(tmp_path), *names,
                asm=asm)
    assert wrote["CLASSES"] > counted(100, 20000) and wrote["LEFT"] == 0 and wrote["SKIPPED"] < 0.001 * wrote["METHODS"]
    # Of the classes of all modules ASM objects to 4 % as the JDK has them.
    assert not asm or wrote["CHECKED"] + wrote["UNCLEAR"] == wrote["CLASSES"]
    assert not asm or wrote["CHECKED"] > (0.95 if SOAK else 0.99) * wrote["CLASSES"]
    shutil.rmtree(tmp_path / "java.base", ignore_errors=True)
    stub(tmp_path / "java.base")
    linked = run(jdk, *modules(tmp_path), "--add-modules", "ALL-SYSTEM", "-cp", TOOLS, "rewrite.Modules", "-", "-", *names)
    assert linked["LINKED"] > counted(100, 20000)
    say(f"rewritten classes of JDK {jdk.version}: {wrote['CLASSES']}, linked {linked['LINKED']}")


def stub(folder):
    """A probe class that does nothing, for a JVM without the agent."""
    source = folder / "JstrobeProbe.java"
    os.makedirs(folder)
    source.write_text("package java.lang; public class JstrobeProbe { public static long enter(int id) { return 1; } "
                      "public static void leave(long p) { } public static void again(long p, int id) { } }")
    subprocess.run([os.path.join(compiler(), "bin", "javac"), "--release", "8", "-Xlint:-options", "-nowarn", "-d",
                    str(folder), str(source)], check=True)
    source.unlink()


def far_source():
    """
    Methods whose `if` reaches to the end of 32 KB of returns, and no further once there are probes: forth, back, within a
    handler, in a constructor. far(X) of each is X + 1 for an X that stands in it, else -1.
    """
    returns = "".join(f"if (x == {k}) return {k + 1};\n" for k in range(200, 3150))
    stores = "".join(f"if (x == {k}) {{ v = {k + 1}; return; }}\n" for k in range(200, 2350))
    return f"""
        public class Far {{
            int v = -1;
            static int forth(int x) {{ if (x > 0) {{ {returns} }} return -1; }}
            static int back(int x) {{ do {{ {returns} }} while (x-- > 5000); return -1; }}
            static int guarded(int x) {{
                int y = x;
                try {{ if (x > 0) {{ {returns} }} y = 1 / (x - x); }} catch (ArithmeticException e) {{ return -1; }}
                return y;
            }}
            Far(int x) {{ if (x > 0) {{ {stores} }} }}
            public static void main(String[] args) {{
                int sum = 0;
                for (int x : new int[] {{0, 199, 200, 1000, 2349, 9000}})
                    for (int far : new int[] {{forth(x), back(x), guarded(x), new Far(x).v}}) {{
                        if (far != (x >= 200 && x < 2350 ? x + 1 : -1)) throw new AssertionError(x + ": " + far);
                        sum++;
                    }}
                System.out.println("FAR=" + sum);
            }}
        }}"""


@pytest.fixture(scope="module")
def far(tmp_path_factory):
    """A folder with that class, and in far.jar."""
    folder = tmp_path_factory.mktemp("far")
    (folder / "Far.java").write_text(far_source())
    subprocess.run([os.path.join(compiler(), "bin", "javac"), "--release", "11", "-g", "-d", str(folder), str(folder / "Far.java")],
                   check=True)
    with zipfile.ZipFile(folder / "far.jar", "w") as jar:
        jar.write(folder / "Far.class", "Far.class")
    return folder


def test_jumps_that_become_too_far(jdk, tools, far):
    asm = jdk.version == 17
    found = run(jdk, "-cp", TOOLS, "rewrite.Jars", REWRITER, *(["asm"] if asm else []), str(far / "far.jar"), asm=asm)
    assert found["METHODS"] == 5 and found["SKIPPED"] == 0 and found["LINKED"] == 1 and found["CHECKED"] == asm
    found = run(jdk, f"-agentpath:{LIBRARY}=start,instrument=Far,file={far / 'far.json'}", "-cp", str(far), "Far")
    assert found["FAR"] == 24
    result = json.loads((far / "far.json").read_text())
    assert {m["name"]: m["invocations"] for m in result["methods"]} == {"main": 1, "forth": 6, "back": 6, "guarded": 6, "<init>": 6}
    assert not result["skipped"]


@pytest.mark.skipif(not SOAK, reason="jars of the machine: in make soak")
def test_jars(jdk17, tools, say):
    jars = [jar for jar in sorted(glob.glob("/usr/share/java/*.jar")) if not os.path.islink(jar)]
    jars += glob.glob(os.path.join(OUT, "peers", "*.jar"))
    if not jars:
        pytest.skip("no jars in /usr/share/java")
    total = 0
    for jar in jars:
        total += run(jdk17, "-cp", TOOLS, "rewrite.Jars", REWRITER, "asm", jar, asm=True)["CLASSES"]
    say(f"rewritten classes of {len(jars)} jars: {total}")
