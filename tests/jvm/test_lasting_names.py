"""
Names of classes that are made while the program runs are the same in each run and in each output: two JVMs that give them
other numbers and addresses, and every way to a result. async-profiler's names for the command keep its spelling.
"""
import json
import os
import re
import subprocess

import jvm
import pytest
from jvm import LIBRARY, Program, jstrobe, result_file

pytestmark = pytest.mark.together

ADDRESS = re.compile(r"[+./]0x[0-9a-f]{6}|\$\$Lambda\$\d|\$Proxy\d|Accessor\d|\$\$Lambda/")
BODY, REFERENCE = "truth.MadeClasses$$Lambda → main", "truth.MadeClasses$$Lambda → spinOther"
WANTED = {17: {BODY, REFERENCE, "truth.$Proxy.run", "jdk.internal.reflect.GeneratedMethodAccessor.invoke"},
          25: {BODY, REFERENCE, "truth.$Proxy.run"}}


def made(names):
    """Those of NAMES that are of classes made at run time, in dots."""
    names = {n.replace("/", ".") for n in names}
    return {n for n in names if re.search(r"\$\$Lambda|\$Proxy|GeneratedMethodAccessor|LambdaForm\$", n)}


def of_collapsed(text):
    return {f for line in text.splitlines() for f in line.rpartition(" ")[0].split(";")}


def of_json(path):
    with open(path) as file:
        return {f for s in json.load(file)["stacks"] for f in s["frames"]}


@pytest.fixture(scope="module", params=[17, 25])
def runs(request, programs):
    """(version, [files of a run of its own]): a JSON, collapsed stacks, a page, text, a recording and a stream."""
    jdk = jvm.find_jdk(request.param)
    if not jdk:
        pytest.skip(f"no JDK {request.param}")
    files = []
    for others in (0, 7):
        mine = {kind: result_file(end) for kind, end in (("json", ".json"), ("collapsed", ".collapsed"), ("page", ".html"),
                                                         ("text", ".txt"), ("raw", ".collapsed"), ("door", ".collapsed"),
                                                         ("short", ".collapsed"), ("jfr", ".jfr"), ("stream", ".ndjson"))}
        with Program(jdk, "MadeClasses", others) as program:
            program.work(2)  # accessors are made after some calls
            assert jstrobe("start", "-i", "1ms", program.pid).returncode == 0
            program.work(1.5)
            for kind in ("json", "collapsed", "page", "text"):
                assert jstrobe("dump", "-f", mine[kind], program.pid).returncode == 0
            assert jstrobe("dump", "--no-norm", "-f", mine["raw"], program.pid).returncode == 0
            door = os.path.join(jvm.OUT, "bin", "asprof")
            for kind, words in (("door", []), ("short", ["--norm"])):
                subprocess.run([door, "dump", *words, "-o", "collapsed", "-f", mine[kind], str(program.pid)], check=True,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            assert jstrobe("stop", "-f", "/dev/null", "-o", "text", "--force", program.pid).returncode == 0
            assert jstrobe("record", "-i", "1ms", "-d", 2, "-f", mine["jfr"], program.pid).returncode == 0
            with open(mine["stream"], "w") as out:
                subprocess.run([jvm.COMMAND, "stream", "-i", "1ms", "-d", "2", str(program.pid)], stdout=out,
                               stderr=subprocess.DEVNULL, check=False)
        files.append(mine)
    return request.param, files


def every_way(mine):
    """{output: names}"""
    with open(mine["collapsed"]) as file:
        ways = {"collapsed": of_collapsed(file.read())}
    ways["json"] = of_json(mine["json"])
    with open(mine["text"]) as file:
        ways["text"] = {line.strip() for line in file if "truth" in line or "Accessor" in line}
    with open(mine["page"]) as file:
        page = file.read()
    ways["page"] = set(re.findall(r'"([^"]*(?:\$\$Lambda|\$Proxy|Accessor)[^"]*)"', page))
    ways["recording"] = of_collapsed(jstrobe("convert", "-o", "collapsed", mine["jfr"]).stdout)
    ways["JSON again"] = of_collapsed(jstrobe("convert", "-o", "collapsed", mine["json"]).stdout)
    ways["stacks again"] = of_collapsed(jstrobe("convert", "-o", "collapsed", mine["collapsed"]).stdout)
    return ways


def test_all_outputs_have_them(runs):
    version, files = runs
    for mine in files:
        for way, names in every_way(mine).items():
            assert not [n for n in names if ADDRESS.search(n)], (way, [n for n in names if ADDRESS.search(n)])
            if way != "text":
                assert WANTED[version] <= made(names), (way, WANTED[version] - made(names), made(names))


def test_runs_agree(runs):
    """Nothing of one run is new in the other; that is what a difference is of."""
    version, files = runs
    a, b = (made(of_json(mine["json"])) for mine in files)
    wanted = WANTED[version]
    assert wanted <= a & b
    text = jstrobe("diff", files[0]["jfr"], files[1]["jfr"], "-o", "json").stdout
    rows = {m["name"]: m for m in json.loads(text)["methods"]}
    for name in wanted:
        assert rows[name]["total_before"] and rows[name]["total_after"], rows[name]


def test_as_the_jvm_has_them(runs):
    """--no-norm, and async-profiler's names for the command; --norm there takes the address alone."""
    _, files = runs
    for mine in files:
        texts = {}
        for kind in ("raw", "door", "short"):
            with open(mine[kind]) as file:
                texts[kind] = of_collapsed(file.read())
        for kind in ("raw", "door"):
            assert any(re.search(r"truth/MadeClasses\$\$Lambda(\$\d+)?\.0x[0-9a-f]{16}\.run", n) for n in texts[kind]), kind
            assert any(re.search(r"\$Proxy\d+\.run", n) for n in texts[kind]), kind
        assert not any(re.search(r"[+./]0x", n) or "→" in n for n in texts["short"])
        assert any(re.search(r"\$Proxy\d+\.run", n) for n in texts["short"])
        converted = jstrobe("convert", "--no-norm", "-o", "collapsed", mine["jfr"]).stdout
        assert ADDRESS.search(converted) and "→" not in converted
        by_jfrconv = subprocess.run([os.path.join(jvm.OUT, "bin", "jfrconv"), "-o", "collapsed", mine["jfr"], "/dev/stdout"],
                                    stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False).stdout
        assert not by_jfrconv or "→" not in by_jfrconv


def test_streams(runs):
    """A stack of a stream knows what its own lambdas call, if that is on it."""
    version, files = runs
    for mine in files:
        with open(mine["stream"]) as file:
            stacks = [json.loads(line) for line in file if '"frames"' in line]
        names = {f for s in stacks for f in s["frames"]}
        assert {BODY, REFERENCE} <= names, made(names)
        assert not [n for n in names if ADDRESS.search(n)]


def test_files_of_the_agent(programs):
    jdk, path = jvm.find_jdk(17), result_file(".collapsed")
    for words, lasting in (("", True), (",nonorm", False)):
        agent = f"-agentpath:{LIBRARY}=start,event=cpu,interval=1ms,collapsed,file={path}{words}"
        with Program(jdk, "MadeClasses", jvm=[agent]) as program:
            program.work(2)
            assert program.stop() == 0
        with open(path) as file:
            names = of_collapsed(file.read())
        assert (BODY in made(names)) == lasting and bool([n for n in names if ADDRESS.search(n)]) != lasting, made(names)
