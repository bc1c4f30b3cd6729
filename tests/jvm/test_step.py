"""
Every instruction: walks of threads that run step by step, held against the return addresses that are alive.

libstep.so is libjstrobe.so with tests/jvm/step added; truth.Stepped is the work that is done meanwhile.
"""
import os
import re
import subprocess

import jvm
import pytest
from jvm import counted

pytestmark = [pytest.mark.together, pytest.mark.each_jdk]

LIBRARY = os.path.join(jvm.WORK, "libstep.so")
# Exceptions come to their stubs without a call: that is no truth to judge by, but must do no harm.
IN_CHECK = {17: ("calls+strings+collections", ["-XX:+UseParallelGC"]), 25: ("calls+arrays+collections", ["-XX:+UseZGC"])}
MODES = {"serial": ["-XX:+UseSerialGC"], "parallel": ["-XX:+UseParallelGC"], "g1": ["-XX:+UseG1GC"],
         "zgc": ["-XX:+UseZGC"], "shenandoah": ["-XX:+UseShenandoahGC"], "interpreted": ["-Xint"],
         "c1": ["-XX:TieredStopAtLevel=1"], "c2": ["-XX:-TieredCompilation"], "fp": ["-XX:+PreserveFramePointer"]}
BURST = 2000  # steps


def step(jdk, seconds, work, flags):
    """(steps, walks judged, wrong, short, what was said) of one run."""
    assert os.path.exists(LIBRARY), "libstep.so is not built: make step"
    agent = f"-agentpath:{LIBRARY}=start,event=ctimer,interval=1s,file=/dev/null"
    done = subprocess.run([jdk.java, "-Xmx300m", *flags, agent, "-cp", jvm.CLASSES, "truth.Stepped", LIBRARY,
                           str(seconds), str(BURST), work], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=seconds + 100, cwd=jvm.WORK)
    assert done.returncode == 0, done.stdout[-3000:]
    figures = re.search(r"STEPPED steps=(\d+) judged=(\d+) wrong=(\d+) short=(\d+)", done.stdout)
    assert figures, done.stdout[-3000:]
    return *map(int, figures.groups()), done.stdout


def hold(jdk, seconds, work, flags, say):
    steps, judged, wrong, short, said = step(jdk, seconds, work, flags)
    say(f"every instruction, {jdk} {' '.join(flags)}: {judged} walks in {steps} steps, {wrong} wrong, {short} short")
    print(said)
    assert judged > 1000
    assert wrong == 0, said[said.find("PLACE wrong"):][:2000]
    # A whole burst may stand in C2's code for String.replace, which is not followed (docs/inside/reliability.md).
    elsewhere = sum(int(n) for n, place in re.findall(r"PLACE short, (\d+) times, \S+ (\S+)", said) if place != "replace,")
    assert elsewhere <= 0.005 * judged and short <= max(0.005 * judged, BURST), said[said.find("PLACE short"):][:2000]


def test_every_instruction(jdk, say):
    work, flags = IN_CHECK[jdk.version]
    hold(jdk, counted(1, 60), work, flags, say)


@pytest.mark.parametrize("mode", MODES)
def test_every_instruction_in_all_modes(jdk, mode, say):
    if not jvm.SOAK:
        pytest.skip("only with full counts (make soak)")
    hold(jdk, 60, "all", MODES[mode], say)
