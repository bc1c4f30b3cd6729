"""`make release` twice, into two folders: the same bytes, and they work where they are unpacked."""
import filecmp
import os
import subprocess
import tarfile

import jvm
import pytest
from jvm import Program

pytestmark = pytest.mark.skipif(not jvm.SOAK, reason="runs only with full counts (make soak)")


def test_release_twice(jdk17, tmp_path):
    folders = []
    for number in (1, 2):
        out = tmp_path / f"build{number}"
        subprocess.run(["make", "-s", "-C", jvm.ROOT, f"O={out}", "release"], check=True, capture_output=True)
        folders.append(out / "release")
    names = sorted(f for f in os.listdir(folders[0]) if f != "build")
    assert [n for n in names if n.endswith("-x64.tar.gz")] and [n for n in names if n.endswith("-debug.tar.gz")]
    same, different, missing = filecmp.cmpfiles(*folders, names, shallow=False)
    assert not different and not missing, (different, missing)
    archive = next(n for n in names if n.endswith("-x64.tar.gz"))
    with tarfile.open(folders[0] / archive) as tar:
        assert {m.uid for m in tar} == {0} and not any(m.mode & 0o022 for m in tar if not m.issym())
        tar.extractall(tmp_path)
    top = tmp_path / archive.removesuffix(".tar.gz")
    with Program(jdk17, "KnownShares") as program:
        done = subprocess.run([top / "bin" / "jstrobe", "record", "-d", "0.5", str(program.pid)],
                              capture_output=True, text=True)
        assert done.returncode == 0 and "truth.KnownShares" in done.stdout, done.stderr
