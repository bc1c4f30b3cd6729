"""jstrobe explain: what is said of real programs, in at most 4096 bytes, whatever file it comes from."""
import json
import os
import re

import pytest

import jvm
from jvm import Program, jstrobe

pytestmark = pytest.mark.together

MOST = 4096
# program, arguments, events, and what the text has to hold
PROGRAMS = {
    "shares": ("KnownShares", (), "cpu", [r"- truth\.Program\.work uses \d+ %", r"% +.*truth\.KnownShares\.alpha"]),
    "orders": ("Orders", ("monitor", "sleep", "20"), "wall", [
        r"waited .* to enter a monitor in truth\.Orders\$Stock\.reserve", r"idle waits are left out: \d+\.\d+ %",
        r"-e lock -d 30"]),
    "garbage": ("Planted", ("garbage",), "alloc", [r"^Memory \(alloc\)", r"^- +\d+\.\d%.* in truth\.Planted\."]),
    "several": ("Planted", ("hot",), "cpu,wall,alloc,lock,io", [
        r"^- cpu \(engine", r"^- wall", r"truth\.Planted\.checksum", r"^Hot paths of cpu", r"^Waits \(wall\)"]),
}


def explain(*args, code=0):
    done = jstrobe("explain", *args)
    assert done.returncode == code, done.stderr
    assert len(done.stdout.encode()) <= MOST
    return done.stdout if code == 0 else done.stderr


def check_sums(result):
    """What is shown and what is left out is all there is."""
    for paths in result["hot_paths"]:
        nodes = paths["nodes"]
        rest = paths["left_out"] + paths["below"]
        assert abs(sum(node["self"] for node in nodes) + rest - 100) <= 0.06 * (len(nodes) + 2), paths
        depths = [node["depth"] for node in nodes]
        assert not depths or depths[0] == 0
        assert all(after <= before + 1 for before, after in zip(depths, depths[1:]))


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(jdk, name, record_property):
    program_name, arguments, events, wanted = PROGRAMS[name]
    for suffix in (".json", ".jfr"):
        path = jvm.result_file(suffix)
        with Program(jdk, program_name, *arguments) as program:
            done = jstrobe("record", "-e", events, "-d", "3", "-f", path, program.pid)
            assert done.returncode == 0, done.stderr
            text = explain(path)
            record_property(f"bytes{suffix}", len(text.encode()))
            for pattern in wanted:
                assert re.search(pattern, text, re.M), f"{suffix}: {pattern}: {text}"
            assert f"pid {program.pid}, JDK {jdk.version}" in text
            result = json.loads(explain("-o", "json", path))
            if suffix == ".json":  # what the recording said first, by the same surroundings
                with open(path) as file:
                    said = [one["id"] for one in json.load(file)["findings"]]
                assert [one["id"] for one in result["findings"]] == (said or ["none"])[:len(result["findings"])], result
        assert [one["sentence"] for one in result["findings"]], result
        assert all(line in text for line in result["next"])
        check_sums(result)
        os.remove(path)


def test_collapsed_and_a_part(jdk):
    path = jvm.result_file(".collapsed")
    with open(path, "w") as file:
        file.write("a/Main.run;a/Main.one;a/Hot.burn 70\na/Main.run;a/Main.two;a/Hot.burn 20\na/Main.run;a/Cold.wait 10\n")
    text = explain(path)
    assert re.search(r"^100\.0% +0\.0% a\.Main\.run$", text, re.M), text
    assert re.search(r"^ 70\.0% +70\.0%   a\.Main\.one → a\.Hot\.burn$", text, re.M), text
    part = explain("--include", "*Main.two", path)
    assert re.search(r"^100\.0% +100\.0% a\.Main\.run → a\.Main\.two → a\.Hot\.burn$", part, re.M), part
    assert "Cold" not in part
    os.remove(path)


def test_mistakes():
    assert "which file?" in explain(code=2)
    assert "which file?" in explain("a.jfr", "b.jfr", code=2)
    assert "No such file" in explain("there-is-none.jfr", code=1)
    assert "jstrobe record -f x.json 4711" in explain("4711", code=1)
    assert "jstrobe convert" in explain("-o", "html", "a.jfr", code=2)
