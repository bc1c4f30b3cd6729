"""
Never a wrong name: classes come, go, are redefined, and say twice who they are.

truth.Churn: every class has its number in its name, in the name of its method, and in a constant
that it spells in frames of a class that stays. Where the names disagree, one of them is a lie.
"""
import contextlib
import os
import re
import zipfile

import jvm
import pytest
from jvm import Program, counted, record

pytestmark = pytest.mark.together

NAMED = re.compile(r"\b[CHR](\d{6})[^.]*\.(run|r(\d{6})|<init>|f\d)$")
DIGIT = re.compile(r"truth\.Churn\.d(\d)$")


def agent_jar():
    """truth.ChurnAgent as a Java agent that may redefine and retransform."""
    path = os.path.join(jvm.OWN, "churn-agent.jar")
    with zipfile.ZipFile(path, "w") as jar:
        jar.writestr("META-INF/MANIFEST.MF", "Manifest-Version: 1.0\nPremain-Class: truth.ChurnAgent\n"
                     "Can-Redefine-Classes: true\nCan-Retransform-Classes: true\n")
    return path


def is_part(spelt, number):
    """Whether SPELT is NUMBER with digits left out: a frame is missing, but no frame has a wrong name."""
    rest = iter(number)
    return all(digit in rest for digit in spelt)


def read_stack(frames):
    """(what is wrong or None, has a name, has an [unloaded], spells a number) of one stack."""
    named = [m for m in map(NAMED.search, frames) if m]
    spelt = "".join(m.group(1) for m in map(DIGIT.match, frames) if m and "truth.Churn.burn" in frames)
    numbers = {m.group(1) for m in named} | {m.group(3) for m in named if m.group(3)}
    wrong = None
    if len(numbers) > 1:
        wrong = f"{numbers} in one stack"
    elif numbers and not is_part(spelt, next(iter(numbers))):
        wrong = f"{numbers} burns by {spelt}"
    elif spelt and not numbers and not any(frame.startswith("[") for frame in frames):
        wrong = f"{spelt} burns, and no method is named"
    return wrong, bool(numbers), "[unloaded]" in frames, bool(spelt)


KINDS = {
    "loaders": ("loaders+lambdas", ["-XX:+UseSerialGC"], ()),
    "loaders-held": ("loaders+lambdas", ["-XX:+UseSerialGC"], ("--collector-hold", 200)),
    "hidden-zgc": ("hidden+loaders", ["-XX:+UseZGC"], ()),
    "no-perf-data": ("loaders+hidden", ["-XX:-UsePerfData"], ()),
    "redefine": ("redefine", [], ()),
    "redefine-held": ("redefine+lambdas", [], ("--collector-hold", 200)),
    "redefine-zgc": ("redefine+loaders", ["-XX:+UseZGC", "-XX:-UsePerfData"], ("--collector-hold", 200)),
}
IN_CHECK = {(17, "loaders"), (17, "redefine-held"), (17, "no-perf-data"), (25, "hidden-zgc"), (25, "redefine")}


@pytest.mark.parametrize("kind", KINDS)
def test_never_a_wrong_name(jdk, kind, say):
    churn, flags, options = KINDS[kind]
    if (jdk.version, kind) not in IN_CHECK and not jvm.SOAK:
        pytest.skip(f"{kind} on {jdk}: only with full counts (make soak)")
    # Not inlined, so that each frame of the truth is one, exact where it is innermost too.
    truth = "-XX:CompileCommand=quiet", "-XX:CompileCommand=dontinline,truth.Churn::*"
    agent = [f"-javaagent:{agent_jar()}"] if "redefine" in churn else []
    flags = [*flags, *truth, "-Xmx128m", *agent]
    with Program(jdk, "Churn", churn, 25, jvm=flags) as program:
        with jvm.knobs() if options else contextlib.nullcontext():
            profile = record(program, "-i", "100us", "-d", counted(3, 60), *options)
        counters = program.mark()
        assert program.stop() == 0, program.output[-5:]
    print(counters)
    wrong, named, unloaded, spelling, frames, gone = {}, 0, 0, 0, 0, 0
    for stack in profile.stacks:
        error, has_name, has_gap, spells = read_stack(stack["frames"])
        named += stack["samples"] * has_name
        unloaded += stack["samples"] * has_gap
        spelling += stack["samples"] * spells
        frames += len(stack["frames"]) * stack["samples"]
        gone += stack["frames"].count("[unloaded]") * stack["samples"]
        if error:
            wrong[error] = wrong.get(error, 0) + stack["samples"]
            worst = stack
    say(f"never a wrong name, {kind} {jdk}: {sum(wrong.values())} wrong of {profile.samples['stored']} samples "
        f"({named} name a class that comes and goes, {spelling} spell a number), "
        f"{unloaded / profile.samples['stored']:.2%} of them with an [unloaded] frame, {gone / max(1, frames):.3%} of frames; {counters}")
    print(f"{kind} {jdk} {profile.samples['stored']} named {named} unloaded {unloaded} {frames} {gone}")
    assert not wrong, f"{sum(wrong.values())} samples: {list(wrong.items())[:5]}, {worst}"
    # With the collector held up, there may be no provable name at all (36 redefinitions in 2 s leave no drain
    # without one).
    assert counters["classes"] > 10
    assert (spelling > 20 and named > 10) or "held" in kind
