"""Mappings, against a program that knows its bytes and what is left of them."""
import json
import time

import jvm
import pytest
from jfr import Recording
from jvm import Profile, Program, counted, jstrobe, profile_of, result_file

from test_hard_copies import copy_to

pytestmark = pytest.mark.in_pairs

MB = 1 << 20
ALL = ("keep", "parts", "reserve", "resize", "failing", "crossed", "other")
ASKED = {"maps_keep": 64 * MB // 4 + 2 * MB, "maps_churn": 400 * (MB // 4 + 4096), "maps_partial": 16 * MB,
         "maps_under": 12 * MB, "maps_commit": 4 * MB, "maps_small": 7 * MB, "maps_resized": 6 * MB,
         "maps_moved": 2 * MB, "maps_crossed": 12_000 * 65536, "maps_failing": 0, "maps_reserve": 0, "maps_file": 3 * MB}
LEFT = {"maps_keep": 64 * MB // 4 + MB, "maps_churn": 0, "maps_partial": 12 * MB, "maps_commit": 2 * MB, "maps_small": 0,
        "maps_resized": 6 * MB, "maps_moved": 2 * MB, "maps_crossed": 64 * 65536, "maps_failing": 0, "maps_reserve": 0,
        "maps_file": 3 * MB}


def maps(jdk, names=ALL, **more):
    return Program(jdk, "NativeMaps", jvm.NATIVE, *names, **more)


def start(program, *options):
    done = jstrobe("start", "-t", "--nativemap", *options, program.pid)
    assert done.returncode == 0, done.stderr


def played(program, names=ALL):
    truth = program.play()
    assert "failed" not in truth and all(truth[n] == 1 for n in names), truth


def of(profile, function):
    return sum(s["weight"] for s in profile.stacks if function in s["frames"])


@pytest.mark.parametrize("live", [False, True])
def test_each_mapping(jdk, live, say):
    with maps(jdk) as program:
        start(program, *(["--nativemem-live"] if live else []))
        played(program)
        profile = profile_of("stop", program, "-t")
        assert program.stop() == 0, program.output[-5:]
    lost = profile.weight["lost"]
    say(f"nativemap, live {live}, {jdk}: {profile.samples}, {lost} bytes lost")
    assert lost <= 64 * MB and profile.samples["lost"]["queue_full"] < 0.02 * profile.samples["taken"], profile.samples
    for function, bytes_ in (LEFT if live else ASKED).items():
        told = of(profile, function)
        assert bytes_ - lost <= told <= bytes_, (function, told, bytes_, profile.samples)
    # over parts of others: by where the kernel puts them, the same sum
    if live:
        under, over = of(profile, "maps_under"), of(profile, "maps_over")
        assert 12 * MB - lost <= under + over <= 12 * MB, (under, over)
        assert profile.weight["reserved"] >= 1022 * MB, profile.weight
        assert "mappings not unmapped" in profile.done.stderr and "reserved besides" in profile.done.stderr


def test_exact(jdk):
    """All is known to the byte; where the collector gets no CPU for long, but for what is counted as lost."""
    names = ("keep", "parts", "reserve", "resize", "failing")
    with maps(jdk, names) as program:
        start(program, "--nativemem-live")
        played(program, names)
        profile = profile_of("stop", program, "-t")
    wanted = {f: b for f, b in LEFT.items() if f not in ("maps_crossed", "maps_file")}
    told = {f: of(profile, f) for f in wanted}
    if profile.lost() == 0:
        assert told == wanted, profile.samples
    assert all(0 <= b - told[f] <= profile.weight["lost"] for f, b in wanted.items()), (told, profile.weight)


def test_handlers_and_children(jdk, say):
    """Mappings in signal handlers that come between those of a thread that does nothing else; in children of fork."""
    with maps(jdk, ("handlers", "keep")) as program:
        start(program, "--nativemem-live")
        played(program, ("handlers", "keep"))
        profile = profile_of("stop", program, "-t")
        assert program.stop() == 0, program.output[-5:]
    lost = {k: v for k, v in profile.samples["lost"].items() if v}
    say(f"a mapping a microsecond, {jdk}: {profile.samples['taken']} taken, lost {lost}")
    assert of(profile, "maps_in_handler") == 0
    assert 0 <= LEFT["maps_keep"] - MB - of(profile, "maps_keep") <= profile.weight["lost"], profile.weight


def test_java_maps_a_file(jdk, tmp_path):
    """Direct mappings of the JDK have the Java frames that asked for them; both kinds of native memory in one session."""
    with Program(jdk, "MappedBuffers", tmp_path / "mapped") as program:
        done = jstrobe("start", "--nativemem", "0", "--nativemap", "--nativemem-live", program.pid)
        assert done.returncode == 0, done.stderr
        program.play()
        path = result_file()
        assert jstrobe("stop", "-f", path, program.pid).returncode == 0
    with open(path) as file:
        found = {p["event"]: p["stacks"] for p in json.load(file, object_pairs_hook=jvm.unique)["profiles"]}
    # the JVM maps and allocates for itself in these methods, too
    mapped = sum(s["weight"] for s in found["nativemap"] if "truth.MappedBuffers.map" in s["frames"]
                 and any(f.endswith(".map0") for f in s["frames"]))
    direct = sum(s["weight"] for s in found["nativemem"] if "truth.MappedBuffers.direct" in s["frames"])
    assert mapped == 24 * MB and 8 * MB <= direct < 9 * MB, (mapped, direct)


def test_recording(jdk):
    path, made = result_file(".jfr"), result_file()
    names = ("keep", "parts", "reserve", "resize")
    with maps(jdk, names) as program:
        done = jstrobe("start", "--nativemap", "-f", path, program.pid)
        assert done.returncode == 0, done.stderr
        played(program, names)
        assert jstrobe("stop", program.pid).returncode == 0
    recording = Recording(path)
    mapped = recording.events["jstrobe.NativeMap"]
    assert sum(e["size"] for e in mapped) >= sum(ASKED[f] for f in ("maps_keep", "maps_churn", "maps_partial")) - 2 * MB
    # each part of a mapping is unmapped once at most, of those that were recorded
    pages = {}
    for name, event in recording.in_order("jstrobe.NativeMap", "jstrobe.NativeUnmap"):
        for page in range(event["address"], event["address"] + event["size"], 4096):
            if name == "jstrobe.NativeMap":
                assert page not in pages, event
                pages[page] = 1
            else:
                del pages[page]
    done = jstrobe("convert", "-o", "json", path, made)
    assert done.returncode == 0, done.stderr
    profile = Profile(made)
    assert profile.json["event"] == "nativemap" and profile.weight["total"] == sum(e["size"] for e in mapped)


def test_peak_and_rounds(jdk, say):
    """Hooks in and out while mappings change hands; slots are as they were, and both kinds have their highest point."""
    with maps(jdk) as program:
        start(program)
        profile_of("stop", program)
        before = program.slots()
        program.say("begin")
        for i in range(counted(20, 500)):
            done = jstrobe("start", "--nativemap", "--nativemem", "4096", "--nativemem-peak", "-e", "cpu", program.pid)
            assert done.returncode == 0, done.stderr
            time.sleep(0.05)
            assert jstrobe("stop", "-f", "/dev/null", program.pid).returncode == 0
        assert program.alive() and program.slots() == before
        assert "failed" not in program.mark(), program.mark()
        assert program.stop() == 0, program.output[-5:]


@pytest.mark.together
def test_two_copies(jdk):
    """Both copies have the event one after the other, the second while the first one samples CPU time."""
    ours, theirs = jvm.LIBRARY, copy_to("nativemap")
    with maps(jdk) as program:
        for first, second in ((ours, theirs), (theirs, ours)):
            assert jstrobe("start", "--libpath", first, "-e", "cpu", program.pid).returncode == 0
            done = jstrobe("start", "--libpath", second, "--nativemap", program.pid)
            assert done.returncode == 0, done.stderr
            if first == ours:
                program.play()
            for _ in range(2):
                assert jstrobe("stop", program.pid).returncode == 0
        assert program.alive() and program.stop() == 0, program.output[-5:]


@pytest.mark.parametrize("said,why", [(["-e", "nativemap@64k"], "each mapping is a sample"),
                                      (["--nativemap", "-i", "1ms"], "interval"), (["--nativemap=5"], "takes no value")])
def test_refused(jdk17, said, why):
    with Program(jdk17, "Sleepers", 1, "idle") as program:
        done = jstrobe("start", *said, program.pid)
        assert done.returncode and why in done.stderr, done


@pytest.mark.parametrize("tail", [[], ["--tail", "0"], ["--tail", "100%"]], ids=["", "none", "all"])
def test_leaks_of_a_recording(jdk17, tail):
    """convert --leak: what was not unmapped or freed in the recording, parts of mappings too, but for its youngest."""
    path, made = result_file(".jfr"), result_file()
    names = ("keep", "parts", "reserve", "resize")
    with maps(jdk17, names) as program:
        done = jstrobe("start", "--nativemap", "-f", path, program.pid)
        assert done.returncode == 0, done.stderr
        played(program, names)
        time.sleep(2)
        assert jstrobe("stop", program.pid).returncode == 0
    done = jstrobe("convert", "--leak", *tail, "-o", "json", path, made)
    if tail == ["--tail", "100%"]:
        assert done.returncode and "nothing of native memory is left" in done.stderr, done
        return
    assert done.returncode == 0, done.stderr
    profile = Profile(made)
    recorded = sum(e["size"] for e in Recording(path).events["jstrobe.NativeMap"])
    lost = sum(ASKED[f] for f in ASKED if f not in ("maps_crossed", "maps_file")) - 2 * MB - recorded
    for function, bytes_ in LEFT.items():
        if function not in ("maps_crossed", "maps_file"):
            bytes_ -= MB if function == "maps_keep" else 0
            assert bytes_ - max(lost, 0) <= of(profile, function) <= bytes_, (function, profile.stacks)
