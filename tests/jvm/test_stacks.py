"""Stacks are complete and true: roots, depths, chains, kinds, virtual threads."""
import jvm
import pytest
from jvm import Program, counted, record

pytestmark = pytest.mark.each_jdk

COMPLETE = 0.995
SECONDS = counted("2", "20")

WORKLOADS = {
    "recursion": ("Recursion", (1000,)),
    "words": ("Words", ()),
    "deflate": ("Deflate", ()),
    "class-init": ("ClassInit", ()),
}


@pytest.mark.parametrize("workload", WORKLOADS)
def test_stacks_are_complete(jdk, workload, say):
    name, args = WORKLOADS[workload]
    with Program(jdk, name, *args) as program:
        profile = record(program, "-i", "1ms", "-d", SECONDS)
    bad, total, worst = jvm.incomplete(profile)
    taken = profile.samples["taken"]
    if name == "Recursion":
        for stack in profile.of_thread("recursion"):
            if "truth.Recursion.bottom" in stack["frames"]:
                if stack["frames"].count("truth.Recursion.down") != 1000:
                    bad += stack["samples"]
    share = (total - bad) / taken
    say(f"stacks complete: {workload} {jdk}: {share:.2%} of {taken}; {worst}")
    assert taken > 200
    assert share >= COMPLETE, worst


@pytest.mark.parametrize("depth", [10, 100, 1000])
def test_recursion_depth_is_exact(jdk17, depth):
    with Program(jdk17, "Recursion", depth) as program:
        profile = record(program, "-i", "1ms", "-d", counted("1", "10"))
    stacks = [s for s in profile.of_thread("recursion") if "truth.Recursion.bottom" in s["frames"]]
    samples = sum(s["samples"] for s in stacks)
    right = sum(s["samples"] for s in stacks if s["frames"].count("truth.Recursion.down") == depth)
    assert samples > 100 and right >= COMPLETE * samples, f"{right} of {samples}"


@pytest.mark.parametrize("mode", ["mixed", "interpreted"])
def test_one_chain(jdk, mode):
    """Every sample of the thread is a part of the one chain there is."""
    chain = ["truth.OneChain." + name for name in ("run", "one", "two", "three", "four", "five")]
    with Program(jdk, "OneChain", jvm=["-Xint"] if mode == "interpreted" else []) as program:
        profile = record(program, "-i", "1ms", "-d", SECONDS)
    stacks = profile.of_thread("chain")
    assert sum(s["samples"] for s in stacks) > 200
    for stack in stacks:
        java = [f for f in jvm.java_frames(stack) if not f.startswith("java.lang.Thread.run")]
        assert java == chain[:len(java)], stack
        kinds = {k for f, k in zip(stack["frames"], stack["kinds"]) if f in chain}
        assert mode != "interpreted" or kinds <= {"interpreted"}, stack
    if mode == "mixed":
        assert any("inlined" in s["kinds"] for s in stacks), "no inlined frame was seen"


def test_depth_limit_is_marked(jdk17):
    with Program(jdk17, "Recursion", 1000) as program:
        profile = record(program, "-i", "1ms", "-d", "1", "-j", "100")
    deep = [s for s in profile.of_thread("recursion") if "truth.Recursion.bottom" in s["frames"]]
    assert deep
    for stack in deep:
        assert stack["frames"][0] == "[truncated]" and len(stack["frames"]) <= 101, stack["frames"][:3]
    assert profile.json["walk_ended_early"]["truncated"] >= sum(s["samples"] for s in deep)


def test_native_frames_reach_the_java_caller(jdk):
    """Samples inside zlib stand under Deflater's Java methods, with native frames above them."""
    with Program(jdk, "Deflate") as program:
        profile = record(program, "-i", "1ms", "-d", SECONDS)
    stacks = profile.of_thread("deflate")
    native = [s for s in stacks if s["kinds"][-1] == "native"]
    samples = sum(s["samples"] for s in native)
    assert samples > 0.8 * sum(s["samples"] for s in stacks)
    below = sum(s["samples"] for s in native if "truth.Deflate.compress" in s["frames"])
    assert below >= COMPLETE * samples, f"{below} of {samples}"


def test_class_initialisers_are_named(jdk):
    with Program(jdk, "ClassInit") as program:
        profile = record(program, "-i", "1ms", "-d", SECONDS)
    stacks = profile.of_thread("class-init")
    burning = "truth.ClassInit$Burner.burn"
    assert profile.share(burning, stacks) + profile.share("[unloaded]", stacks) > 0.5
    for stack in stacks:
        if burning in stack["frames"]:
            assert stack["frames"][stack["frames"].index(burning) - 1] == \
                "truth.ClassInit$Burner.<clinit>", stack


def test_virtual_threads(jdk25):
    """The thread's own stack under a marked root; no carrier frames below it."""
    with Program(jdk25, "VirtualThreads", 8) as program:
        profile = record(program, "-i", "1ms", "-d", SECONDS)
    burn = "truth.VirtualThreads.burn"
    stacks = [s for s in profile.stacks if burn in s["frames"]]
    samples = sum(s["samples"] for s in stacks)
    assert samples > 200
    whole = sum(s["samples"] for s in stacks if [f for f in s["frames"] if f.startswith("truth.VirtualThreads.")][:3]
                == ["truth.VirtualThreads." + n for n in ("outer", "inner", "burn")])
    # A thread that was parked has the outer part of its stack in the heap: see test_frozen.py.
    assert whole >= COMPLETE * samples, f"{whole} of {samples}"
    carried = [s for s in stacks if any("ForkJoin" in f for f in s["frames"])]
    assert not carried, carried[:1]
    assert sum(s["samples"] for s in stacks if "virtual" in s["frames"][0].lower()) \
        >= COMPLETE * samples, stacks[0]["frames"][:3]


def test_threads_have_their_names(jdk):
    with Program(jdk, "Words") as program:
        profile = record(program, "-i", "1ms", "-d", "1")
        kernel = program.threads()
    names = {t["name"] for t in profile.threads.values()}
    assert {"words-build", "words-match", "words-stream"} <= names, names
    for tid, thread in profile.threads.items():
        if tid in kernel:
            assert thread["name"][:15] == kernel[tid][:15], (tid, thread["name"], kernel[tid])
