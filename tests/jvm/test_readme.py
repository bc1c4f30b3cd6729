"""The commands of README.md, each against the program that `make demo` profiles, for a short time whatever they say."""
import os
import re
import subprocess

import jvm
import pytest
from jvm import wait_until

pytestmark = pytest.mark.in_pairs

PAGE = os.path.join(jvm.ROOT, "README.md")
SECONDS = 120


def commands():
    with open(PAGE) as file:
        blocks = re.findall(r"^```sh\n(.*?)^```$", file.read(), re.M | re.S)
    return [line.split(" #")[0].strip() for block in blocks for line in block.splitlines() if "jstrobe " in line]


@pytest.fixture
def place(jdk17, tmp_path):
    """A folder with the compiled demo and a first result to compare with, and the demo, which runs."""
    place = tmp_path
    sources = os.path.join(jvm.ROOT, "demo", "src", "demo")
    subprocess.run([os.path.join(jdk17.home, "bin", "javac"), "--release", "8", "-Xlint:-options", "-nowarn", "-d", str(place),
                    *(os.path.join(sources, name) for name in os.listdir(sources))], check=True)
    with open(place / "output", "w") as output, \
            subprocess.Popen([jdk17.java, "-Xmx256m", "-cp", str(place), "demo.OrderService", str(SECONDS)], stdout=output) as program:
        try:
            wait_until(lambda: "started" in (place / "output").read_text())
            run("build/bin/jstrobe record -d 1 -f before.json 1234", place, program.pid)
            yield place, program
        finally:
            program.kill()


def run(line, place, pid):
    # what stays is found by collections of the program's: such a line needs some
    line = re.sub(r"-d \d+\b", "-d 5" if "live" in line else "-d 1", line)
    line = line.replace("build/bin/jstrobe", jvm.COMMAND).replace("1234", str(pid))
    line = line.replace("com.acme", "demo").replace("50ms", "1us")
    return subprocess.run(["sh", "-e", "-c", line], cwd=place, capture_output=True, text=True, timeout=60)


def test_there_are_some():
    assert len(commands()) >= 7


def test_commands(place):
    place, program = place
    for line in commands():
        done = run(line, place, program.pid)
        assert done.returncode == 0, f"{line}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"
        for name in re.findall(r"\b[a-z]+\.(?:html|json)\b", line):
            assert os.path.getsize(place / name) > 1000, (line, name)
        if not re.search(r"\.(?:html|json)\b", line):
            assert "OrderService" in done.stdout or "ReentrantLock" in done.stdout or "Ledger" in done.stdout, (line, done.stdout)
    assert program.poll() is None


def test_the_command_is_named(place):
    """`jstrobe doctor` and `jstrobe ps`, which the text names."""
    place, program = place
    assert f" {program.pid} " in run("build/bin/jstrobe ps", place, program.pid).stdout
    assert run("build/bin/jstrobe doctor 1234", place, program.pid).returncode == 0
