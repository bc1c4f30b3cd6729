"""`make release` twice, into two folders: the same bytes, jstrobe.jar with other CPUs' libraries, and they work where they are unpacked."""
import filecmp
import os
import subprocess
import tarfile
import zipfile

import jvm
import pytest
from jvm import Program

pytestmark = pytest.mark.skipif(not jvm.SOAK, reason="runs only with full counts (make soak)")


def test_release_twice(jdk17, tmp_path):
    folders = []
    others = tmp_path / "others"
    (others / "linux-arm64").mkdir(parents=True)
    (others / "linux-arm64" / "libjstrobe.so").write_bytes(b"another CPU's")
    for number in (1, 2):
        out = tmp_path / f"build{number}"
        subprocess.run(["make", "-s", "-C", jvm.ROOT, f"O={out}", f"JAR_LIBRARIES={others}", "release"],
                       check=True, capture_output=True)
        folders.append(out / "release")
    names = sorted(f for f in os.listdir(folders[0]) if f not in ("build", "libraries"))
    assert [n for n in names if n.endswith("-x64.tar.gz")] and [n for n in names if n.endswith("-debug.tar.gz")]
    same, different, missing = filecmp.cmpfiles(*folders, names, shallow=False)
    assert not different and not missing, (different, missing)
    archive = next(n for n in names if n.endswith("-x64.tar.gz"))
    with tarfile.open(folders[0] / archive) as tar:
        assert {m.uid for m in tar} == {0} and not any(m.mode & 0o022 for m in tar if not m.issym())
        tar.extractall(tmp_path)
    top = tmp_path / archive.removesuffix(".tar.gz")
    jar = next(n for n in names if n.endswith(".jar"))
    assert (top / "lib" / "jstrobe.jar").read_bytes() == (folders[0] / jar).read_bytes()
    library = folders[0] / "libraries" / "linux-x64" / "libjstrobe.so"
    with zipfile.ZipFile(folders[0] / jar) as inside:
        assert inside.read("jstrobe/linux-arm64/libjstrobe.so") == b"another CPU's"
        assert inside.read("jstrobe/linux-x64/libjstrobe.so") == library.read_bytes()
    assert jar in (folders[0] / "SHA256SUMS").read_text()
    with Program(jdk17, "KnownShares") as program:
        done = subprocess.run([top / "bin" / "jstrobe", "record", "-d", "0.5", str(program.pid)],
                              capture_output=True, text=True)
        assert done.returncode == 0 and "truth.KnownShares" in done.stdout, done.stderr


SUITES = [("bullseye", "openjdk-17-jre-headless"), ("bookworm", "openjdk-17-jre-headless"),
          ("trixie", "openjdk-21-jre-headless"), ("sid", "openjdk-25-jre-headless")]


@pytest.fixture(scope="module")
def archive():
    out = os.path.join(jvm.OUT, "released")
    subprocess.run(["make", "-s", "-C", jvm.ROOT, f"O={out}", "release"], check=True, capture_output=True)
    folder = os.path.join(out, "release")
    return next(os.path.join(folder, n) for n in os.listdir(folder) if n.endswith("-x64.tar.gz"))


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root for chroot")
@pytest.mark.parametrize("suite, package", SUITES)
def test_in_other_systems(archive, suite, package, say):
    """The archive unpacked in a Debian of another age, beside the JVM of that one, profiles it from inside."""
    root = os.path.join(jvm.OUT, "roots", suite)
    script = os.path.join(jvm.ROOT, "scripts", "debian-root.sh")
    if not os.path.exists(root + "/usr/lib/jvm") and subprocess.run([script, suite, "amd64", root, package]).returncode:
        pytest.skip(f"Debian {suite} cannot be had here: {root}.apt/log says why")
    for folder in ("tmp", "proc", "dev", "classes", "jstrobe"):
        os.makedirs(os.path.join(root, folder), exist_ok=True)
    os.chmod(os.path.join(root, "tmp"), 0o1777)
    with tarfile.open(archive) as tar:
        tar.extractall(os.path.join(root, "jstrobe"))
    inside = "/jstrobe/" + os.listdir(os.path.join(root, "jstrobe"))[0]
    homes = os.listdir(os.path.join(root, "usr/lib/jvm"))
    home = next(h for h in homes if os.path.exists(os.path.join(root, "usr/lib/jvm", h, "bin/java")))
    mounts = "; ".join([f"mount -t proc none '{root}/proc'", f"mount --rbind /dev '{root}/dev'",
                        f"mount --bind '{jvm.CLASSES}' '{root}/classes'"])
    with Program(jvm.Jdk("/usr/lib/jvm/" + home, 0), "KnownShares", classpath="/classes",
                 wrap=["unshare", "--mount", "--propagation", "private", "sh", "-c",
                       f'{mounts}; exec chroot "{root}" "$@"', "sh"]) as program:
        enter = ["nsenter", "-t", str(program.pid), "-m", "-r", "-w/"]
        for words in (["record", "-d", "1", "-i", "1ms", "-o", "collapsed"], ["doctor"]):
            done = subprocess.run([*enter, inside + "/bin/jstrobe", *words, str(program.pid)], capture_output=True,
                                  text=True, timeout=120)
            assert done.returncode == 0, done.stderr
            if words[0] == "record":
                assert done.stdout.count("truth/KnownShares.") > 5, done.stdout[:2000]
        assert program.stop() == 0
    say(f"archive in {suite} beside {package}: attached and profiled")
