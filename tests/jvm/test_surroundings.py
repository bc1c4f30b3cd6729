"""What went on around the samples of a recording."""
import glob
import json
import os
import shutil
import time

import jvm
import pytest
from container import permitted
from jvm import Program, jstrobe, recorded

pytestmark = pytest.mark.in_pairs


def as_json(*paths, options=()):
    """The JSON of a recording, or of several behind one another."""
    path = jvm.result_file(".jfr")
    with open(path, "wb") as out:
        for one in paths:
            with open(one, "rb") as file:
                out.write(file.read())
    done = jstrobe("convert", *options, "-o", "json", path)
    assert done.returncode == 0, done.stderr
    os.remove(path)
    return json.loads(done.stdout)


def test_a_recording_keeps_what_went_on_around_it(jdk):
    """What only a look from outside knows is in the recording of `record`; of several, or of a part, it says nothing."""
    paths = [jvm.result_file(".jfr") for _ in range(2)]
    with Program(jdk, "Planted", "bytes") as program:
        for path in paths:
            done = jstrobe("record", "-i", "1ms", "-d", 2, "-f", path, program.pid)
            assert done.returncode == 0, done.stderr
        # an agent that was asked to write by itself knows of none
        assert jstrobe("start", "-f", paths[0] + ".jfr", program.pid).returncode == 0
        time.sleep(1)
        assert jstrobe("stop", program.pid).returncode == 0
    one = as_json(paths[0])
    around = one["surroundings"]
    assert 1.9e9 < around["span"] < 10e9 and around["cpu"] > 0 and around["read_calls"] > 1000, around
    assert "small_io" in {f["id"] for f in one["findings"]}, one["findings"]
    said = jstrobe("convert", paths[0]).stdout
    assert "bytes each on average" in said, said
    for other in (as_json(*paths), as_json(paths[0], options=("--from", "0", "--to", "1s")), as_json(paths[0] + ".jfr")):
        assert "surroundings" not in other and "small_io" not in {f["id"] for f in other["findings"]}
    for path in (*paths, paths[0] + ".jfr"):
        os.remove(path)


def interpreted(pid):
    result = recorded(pid, "-d", 1)
    return result["surroundings"].get("interpreted_only"), [f["id"] for f in result["findings"]]


@pytest.mark.parametrize("options, is_so", [(["-Xint"], 1), (["-Xint", "-Xmixed"], 0), (["-Xmixed", "-Xint"], 1), ([], 0)])
def test_the_last_mode_counts(jdk17, options, is_so):
    with Program(jdk17, "Planted", "hot", jvm=options) as program:
        known, found = interpreted(program.pid)
    assert known == is_so and ("interpreted_only" in found) == bool(is_so), found


@pytest.mark.skipif(not permitted("--pid", "--fork"), reason="needs root for namespaces")
@pytest.mark.parametrize("makes_its_own", (False, True))
def test_performance_data_of_another_process(jdk17, makes_its_own):
    """A container's first process was killed and started again: its number is the same, and what it left is there."""
    tmp = os.path.join(jvm.WORK, f"left-{os.getpid()}")
    left = os.path.join(tmp, f"hsperfdata_{os.environ.get('USER', 'root')}")
    os.makedirs(left)
    with Program(jdk17, "Sleepers", 1, "idle", jvm=["-Xint"]) as other:
        shutil.copy(glob.glob(f"/tmp/hsperfdata_*/{other.pid}")[0], os.path.join(left, "1"))
    time.sleep(4)  # times of files and processes have seconds
    wrap = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-c",
            f'mount --bind {tmp} /tmp && exec "$@"', "sh"]
    try:
        with Program(jdk17, "Planted", "hot", jvm=["-XX:+UsePerfData" if makes_its_own else "-XX:-UsePerfData"], wrap=wrap) as program:
            with open(f"/proc/{program.process.pid}/task/{program.process.pid}/children") as file:
                pid = int(file.read().split()[0])
            known, found = interpreted(pid)
            said = jstrobe("ps").stdout
    finally:
        shutil.rmtree(tmp)
    assert "interpreted_only" not in found and known == (0 if makes_its_own else None), (known, found)
    line = next(line for line in said.splitlines() if str(pid) in line.split())
    assert "Sleepers" not in line, line
