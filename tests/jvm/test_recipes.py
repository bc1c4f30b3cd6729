"""
docs/use/recipes.md, tried: each block of shell commands runs as it stands there, with the folders /opt/jstrobe and
/tmp/prof put in a place of the test's. Only with full counts (make soak): it needs Maven, Gradle, Ant and Tomcat.
"""
import glob
import json
import os
import re
import shutil
import subprocess
import tarfile
import time

import jvm
import pytest
from jvm import Program, jstrobe

pytestmark = pytest.mark.in_pairs

PAGE = os.path.join(jvm.ROOT, "docs", "use", "recipes.md")
PLACE = os.path.join(jvm.WORK, "recipes")
PREFIX, PROF, PROJECT, TOMCAT = (os.path.join(PLACE, d) for d in ("opt", "prof", "project", "tomcat"))
UNPRIVILEGED = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
ROOT = os.geteuid() == 0
COPIED = {
    "junit:junit:4.13.2": "lib/junit.jar",
    "org.hamcrest:hamcrest-core:1.3": "lib/hamcrest-core.jar",
    "org.junit.platform:junit-platform-console-standalone:1.10.2": "junit-platform-console-standalone.jar",
    "org.apache.tomcat:tomcat:10.1.30:tar.gz": "tomcat.tar.gz",
}

# What each block leaves in PROF: {pattern: (how many files at least, a name that each of them has)}.
BURN = r"app[/.]Work\.burn"
RECIPES = {
    "A short program": [{"short-[12].html": (2, BURN)}],
    "Maven": [{"surefire-*.html": (1, BURN)}, {"maven-*.html": (1, "apache/maven")}],
    "Gradle": [{"gradle-*.html": (1, BURN)}],
    "Ant": [{"ant-test-*.html": (1, BURN), "ant-[0-9]*.html": (1, "apache/tools/ant")}],
    "JUnit's console": [{"junit.html": (1, BURN)}],
    "A whole build, in CI": [{"ci-*-*.collapsed": (2, "java/")}],
    "Tomcat": [{"tomcat-start.html": (1, "apache/catalina")}, {"tomcat.html": (1, "CPU")}],
    "An ordinary user": [{"user.html": (1, BURN)}],
    "Kernel frames of an ordinary user's JVM": [{"transfer.html": (1, BURN)}],
    "A container, from the host": [{"container.html": (1, BURN)}],
    "Time to safepoint": [{"ttsp.txt": (1, r"Window +: begin=SafepointSynchronize::begin")}],
    "Recordings of the JDK, or of async-profiler": [{"jdk.html": (1, BURN), "jdk.collapsed": (1, BURN)}],
}
NEEDS = {"Maven": "mvn", "A whole build, in CI": "mvn", "Gradle": "gradle", "Ant": "ant"}

full = pytest.mark.skipif(not jvm.SOAK, reason="only with full counts")


def blocks():
    """{heading: [shell text]} of the page."""
    found, heading = {}, None
    with open(PAGE) as file:
        for part in re.split(r"^(## [^\n]*|```sh\n.*?^```)$", file.read(), flags=re.M | re.S):
            if part.startswith("## "):
                heading = part[3:]
            elif part.startswith("```sh"):
                found.setdefault(heading, []).append(part[6:-3])
    return found


@pytest.fixture(scope="module")
def place():
    """The project, what it needs, and jstrobe as `make install` puts it there."""
    shutil.rmtree(PLACE, ignore_errors=True)
    shutil.copytree(os.path.join(jvm.ROOT, "tests", "jvm", "recipes"), PROJECT)
    os.makedirs(PROF)
    os.chmod(PROF, 0o1777)
    subprocess.run(["make", "-s", f"O={jvm.OUT}", "install", f"PREFIX={PREFIX}"], cwd=jvm.ROOT, check=True,
                   stdout=subprocess.DEVNULL)
    if not shutil.which("mvn"):
        pytest.skip("Maven is not installed: nothing can be fetched")
    for artifact, name in COPIED.items():
        into = os.path.join(PROJECT, name)
        os.makedirs(os.path.dirname(into), exist_ok=True)
        got = subprocess.run(["mvn", "-q", "-B", "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy",
                              f"-Dartifact={artifact}", f"-DoutputDirectory={PLACE}/copied", "-Dmdep.useBaseVersion=true"],
                             cwd=PLACE, capture_output=True, text=True)
        if got.returncode != 0:
            pytest.skip(f"{artifact} cannot be fetched (no network?): {got.stdout.strip()[:300]}")
        group, base, version, *kind = artifact.split(":")
        shutil.copy(f"{PLACE}/copied/{base}-{version}.{kind[0] if kind else 'jar'}", into)
    with tarfile.open(os.path.join(PROJECT, "tomcat.tar.gz")) as tar:
        tar.extractall(PLACE)
    os.rename(glob.glob(os.path.join(PLACE, "apache-tomcat-*"))[0], TOMCAT)
    server = os.path.join(TOMCAT, "conf", "server.xml")
    with open(server) as file:
        text = file.read()
    with open(server, "w") as file:  # it must not be reached from outside
        file.write(text.replace('port="8080"', 'port="18080" address="127.0.0.1"').replace('"8005"', '"18005"'))
    sources = glob.glob(os.path.join(PROJECT, "src", "**", "*.java"), recursive=True)
    subprocess.run(["javac", "--release", "8", "-Xlint:-options", "-cp", f"{PROJECT}/lib/junit.jar", "-d",
                    f"{PROJECT}/classes", *sources], check=True)
    yield PLACE
    shutil.rmtree(PLACE, ignore_errors=True)


def run_block(text, cwd=PROJECT, wrap=(), **environment):
    text = text.replace("/opt/jstrobe", PREFIX).replace("/tmp/prof", PROF)
    env = {k: v for k, v in os.environ.items() if k not in ("JAVA_TOOL_OPTIONS", "MAVEN_OPTS")}
    env.update(environment, PATH=f"{PREFIX}/bin:{env['PATH']}")
    done = subprocess.run([*wrap, "sh", "-e", "-c", text], cwd=cwd, env=env, capture_output=True, text=True, timeout=500)
    assert done.returncode == 0, f"{text}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    return done


def check_files(left):
    for pattern, (count, name) in left.items():
        files = glob.glob(os.path.join(PROF, pattern))
        assert len(files) >= count, (pattern, os.listdir(PROF))
        for path in files:
            with open(path) as file:
                text = file.read()
            # the page stores what names begin with only once
            wanted = re.split(r"[/.\]]|\\\\.", name)[-1] if path.endswith(".html") else name
            assert re.search(wanted, text), f"{path} has no {wanted}"
            os.remove(path)


def container():
    """A program in mount and PID namespaces of its own, with a /tmp of its own."""
    script = (f"mount -t tmpfs none /mnt && mkdir /mnt/o /mnt/p && mount --bind {PREFIX} /mnt/o && "
              f"mount --bind {PROJECT} /mnt/p && mount -t tmpfs none /tmp && mkdir -p {PREFIX} {PROJECT} && "
              f"mount --bind /mnt/o {PREFIX} && mount --bind /mnt/p {PROJECT} && "
              f"exec java -cp {PROJECT}/classes app.Work 30000")
    outer = subprocess.Popen(["unshare", "-m", "-p", "-f", "--kill-child", "--mount-proc", "sh", "-c", script])
    for _ in range(100):
        time.sleep(0.1)
        with open(f"/proc/{outer.pid}/task/{outer.pid}/children") as file:
            children = file.read().split()
        if children and b"app.Work" in open(f"/proc/{children[0]}/cmdline", "rb").read():
            time.sleep(1)
            return outer, int(children[0])
    outer.kill()
    outer.wait()
    raise AssertionError("no program in the namespaces")


def test_all_blocks_are_known():
    assert {h: len(b) for h, b in blocks().items()} == {h: len(r) for h, r in RECIPES.items()}


@full
@pytest.mark.parametrize("heading", RECIPES)
def test_recipe(place, heading):
    if heading in NEEDS and not shutil.which(NEEDS[heading]):
        pytest.skip(f"{NEEDS[heading]} is not installed")
    if heading in ("An ordinary user", "A container, from the host", "Kernel frames of an ordinary user's JVM") and not ROOT:
        pytest.skip("needs root to become another user, or for namespaces")
    for text, left in zip(blocks()[heading], RECIPES[heading]):
        if heading == "An ordinary user":
            said = run_block(text, wrap=UNPRIVILEGED, HOME=PROF).stderr
            with open("/proc/sys/kernel/perf_event_paranoid") as file:
                if int(file.read()) >= 2:
                    assert "CPU timers are used instead" in said, said
        elif heading == "Kernel frames of an ordinary user's JVM":
            with subprocess.Popen([*UNPRIVILEGED, "java", "-cp", "classes", "app.Work", "8000"], cwd=PROJECT) as program:
                time.sleep(1)
                assert "CPU timers" not in run_block(text, PID=str(program.pid)).stderr
        elif heading == "A container, from the host":
            outer, pid = container()
            try:
                run_block(text, PID=str(pid))
            finally:
                os.kill(pid, 9)
                outer.wait()
        elif heading == "Tomcat":
            run_block(text, cwd=TOMCAT, JAVA_OPTS="-Djava.net.preferIPv4Stack=true")
        else:
            run_block(text)
        check_files(left)


@full
@pytest.mark.skipif(not ROOT, reason="needs root for namespaces")
def test_from_inside_a_container(place):
    """What `kubectl exec` does: the command runs in the namespaces of the program, whose pid is 1 there."""
    outer, pid = container()
    try:
        done = subprocess.run(["nsenter", "-t", str(pid), "-m", "-p", f"{PREFIX}/bin/jstrobe", "record", "-d", "2",
                               "-o", "collapsed", "1"], capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        assert "app/Work.burn" in done.stdout
    finally:
        os.kill(pid, 9)
        outer.wait()


@full
@pytest.mark.parametrize("error, user", [(1, []), (13, []), (13, UNPRIVILEGED), (38, [])])
def test_without_perf(place, jdk17, error, user):
    """perf_event_open is refused as seccomp does (EPERM, ENOSYS), or as at perf_event_paranoid=3 (EACCES)."""
    noperf = os.path.join(PLACE, "noperf")
    if not os.path.exists(noperf):
        subprocess.run(["gcc", "-O2", "-o", noperf, os.path.join(jvm.ROOT, "tests", "jvm", "preload", "noperf.c")],
                       check=True)
    if user and not ROOT:
        pytest.skip("needs root to become another user")
    with Program(jdk17, "KnownShares", wrap=[*user, noperf, str(error)]) as program:
        path = jvm.result_file()
        done = jstrobe("record", "-d", "2", "-i", "1ms", "-f", path, program.pid)
        assert done.returncode == 0 and "CPU timers are used instead" in done.stderr, done.stderr
        with open(path) as file:
            profile = json.load(file)
        os.remove(path)
        assert profile["engine"] == "ctimer" and profile["samples"]["stored"] > 100
        for options in (["-e", "page-faults"], ["--begin", "malloc"], ["--ttsp"]):
            done = jstrobe("record", "-d", "1", *options, program.pid)
            assert done.returncode != 0 and re.search("no permission|refuses this event", done.stderr), done.stderr
