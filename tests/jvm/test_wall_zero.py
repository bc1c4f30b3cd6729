"""The Zero VM, whose threads can tell their stacks only themselves: who waits is woken once, and known to wait."""
import collections
import datetime
import os
import re
import subprocess
import time

import jvm
import pytest
from jvm import Profile, jstrobe

pytestmark = pytest.mark.together


@pytest.fixture(scope="module")
def zero(programs):
    """Words before a main class that run it on Debian's Zero VM, in a tree of its own."""
    reason = "no Zero VM could be fetched from Debian (scripts/fetch-jdks.sh 17-zero)"
    if os.geteuid() != 0 or subprocess.run(["unshare", "--mount", "true"], capture_output=True).returncode:
        pytest.skip("needs root and mount namespaces, for the Zero VM in a tree of its own")
    listed = os.path.join(jvm.OUT, "jdks", "list")
    if not os.path.exists(listed) and jvm.SOAK:
        jvm.run_script("fetch-jdks.sh", "17-zero")
    if not os.path.exists(listed):
        pytest.skip(reason)
    with open(listed) as file:
        rows = {row[0]: row for row in (line.rstrip("\n").split("\t") for line in file)}
    if "17-zero" not in rows:
        pytest.skip(reason)
    _, root, java, options = rows["17-zero"]
    mounts = f"mkdir -p {root}/classes && mount --rbind /proc {root}/proc && mount --rbind /dev {root}/dev && " \
             f"mount --bind {jvm.CLASSES} {root}/classes"
    return ["unshare", "--mount", "--propagation", "private", "sh", "-c", f"{mounts} && exec chroot {root} \"$@\"", "sh",
            java, *options.split(), "-Xmx200m", "-cp", "/classes"]


class Zero(jvm.Program):
    def __init__(self, zero, name, *args):
        super().__init__(jvm.find_jdk(17), name, *args, wrap=lambda java: [*zero, "truth." + name, *map(str, args)])


def switches(pid, names):
    """Times that threads with such names have gone to wait."""
    found = 0
    for tid in os.listdir(f"/proc/{pid}/task"):
        try:
            with open(f"/proc/{pid}/task/{tid}/comm") as comm, open(f"/proc/{pid}/task/{tid}/status") as status:
                if re.match(names, comm.read()):
                    found += int(re.search(r"\nvoluntary_ctxt_switches:\s+(\d+)", status.read()).group(1))
        except OSError:
            pass
    return found


@pytest.mark.parametrize("mode", [(), ("--wallmode", "slots")], ids=["marker", "slots"])
@pytest.mark.parametrize("each", [1, 20])
def test_who_waits_is_left_alone_and_known(zero, each, mode, say):
    path = jvm.result_file()
    with Zero(zero, "Sleepers", each) as program:
        running = subprocess.Popen([jvm.COMMAND, "record", "-q", "-t", "-e", "wall", "-i", "10ms", *mode, "-d", "6",
                                    "-o", "json", "-f", path, str(program.pid)], stderr=subprocess.PIPE, text=True)
        jvm.wait_until(lambda: "is running" in jstrobe("status", program.pid).stdout)
        time.sleep(2)  # each has told its stack
        before = switches(program.pid, "idle-")
        time.sleep(2)
        woken = switches(program.pid, "idle-") - before
        assert running.wait(timeout=60) == 0, running.stderr.read()
        assert program.stop() == 0
    profile = Profile(path)
    profile.check()
    states = collections.defaultdict(collections.Counter)
    for stack in profile.stacks:
        states[profile.threads[stack["tid"]]["name"].rsplit("-", 1)[0]][stack["state"]] += stack["samples"]
    # each turn woke each of them: 200 times in 2 s
    assert woken <= 3 * each * 10, woken
    for name, state in ("idle-sleep", "sleeping"), ("idle-wait", "waiting"), ("idle-park", "parked"):
        seen = states[name]
        assert sum(seen.values()) > 100 * each and seen[state] > 0.8 * sum(seen.values()), (name, seen)
        assert not seen["running"] and not seen["runnable"], (name, seen)
    assert states["worker"]["running"] + states["worker"]["runnable"] > 0.9 * sum(states["worker"].values()), states["worker"]
    say(f"Zero, {3 * each} threads that wait, {mode or 'marker'}: woken {woken} times in 2 s at 10 ms")
    os.remove(path)


@pytest.mark.parametrize("ms", [15, 40, 120])
def test_waits_at_the_same_depth_are_told_apart(zero, ms, say):
    """What a thread told where it waited under a() is never taken for its wait under b(): the same place in the C++ of the VM."""
    path = jvm.result_file()
    with Zero(zero, "Phases", "alternate", ms) as program:
        done = jstrobe("record", "-q", "-t", "-e", "wall", "-i", "10ms", "-d", "6", "-o", "json", "-f", path, program.pid)
        assert done.returncode == 0, done.stderr
        program.stop()
    truth, seen, profile = collections.Counter(), collections.Counter(), Profile(path)
    since = datetime.datetime.fromisoformat(profile.json["started_at"].replace("Z", "+00:00")).timestamp() * 1e9
    for line in program.output:
        if line.startswith("PHASE"):
            _, name, begin, end = line.split()
            truth[name] += max(0, min(int(end), since + profile.json["duration_ns"]) - max(int(begin), since))
    for stack in profile.stacks:
        for name in "a", "b":
            if f"truth.Phases.{name}" in stack["frames"]:
                seen[name] += stack["weight"]
    share = lambda sums: sums["a"] / (sums["a"] + sums["b"])
    say(f"Zero, a() and b() wait {ms} ms in turn: a() {100 * share(truth):.1f} % true, {100 * share(seen):.1f} % seen")
    assert abs(share(seen) - share(truth)) < 0.06, (truth, seen)
    os.remove(path)
