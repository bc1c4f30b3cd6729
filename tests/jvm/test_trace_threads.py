"""jstrobe trace: masses of threads that come and go are counted to the last call, and what is kept does not grow."""
import pytest
from jvm import Program, counted, jstrobe
from test_trace import stop, wait

pytestmark = pytest.mark.together

LONG, AT_ONCE, CALLS = 40, 200, 100  # of truth.ThreadMasses
KEPT = 256       # ended threads that keep trees of their own
ONE_TREE = 2048  # bytes of a small one, at most


def trace_masses(jdk, kind, short):
    """The result of tracing truth.ThreadMasses: LONG threads inside of a method meanwhile, SHORT that come and go."""
    with Program(jdk, "ThreadMasses", kind, LONG, short) as program:
        wait(program, "ready")
        done = jstrobe("start", "--instrument", "truth.ThreadMasses", "--exclude", "truth.ThreadMasses.lambda$*", program.pid)
        assert done.returncode == 0, done.stderr
        program.say("end")
        for _ in range(4):
            try:
                wait(program, "done")
                break
            except AssertionError:
                assert program.alive(), program.output[-20:]
        result = stop(program)
        assert program.stop() == 0
    return result


def check_masses(result, short):
    found = {m["name"]: m["invocations"] for m in result["methods"]}
    assert result["uncounted"] == 0
    assert found["brief"] == short and found["outer"] == LONG and found["inner"] == LONG * (1 + CALLS), found
    # a thread that stayed inside is where it was, with the others gone by
    tree = {n["node"]: n for n in result["tree"]}
    parents = {m["name"]: [] for m in result["methods"]}
    for node in result["tree"]:
        if "method" in node and node["invocations"]:
            above = tree.get(node["parent"], {}).get("method")
            name = result["methods"][node["method"]]["name"]
            parents[name].append((result["methods"][above]["name"] if above is not None else None, node["invocations"]))
    assert parents["inner"] == [("outer", LONG * (1 + CALLS))], parents
    assert result["tree_bytes"] < (LONG + AT_ONCE + KEPT + 2) * ONE_TREE, result["tree_bytes"]


def test_masses_of_virtual_threads(jdk25):
    if not jdk25:
        pytest.skip("no JDK 25")
    short = counted(300000, 1000000)
    check_masses(trace_masses(jdk25, "virtual", short), short)


def test_masses_of_platform_threads(jdk):
    short = counted(3000, 200000)
    check_masses(trace_masses(jdk, "platform", short), short)


def address_space(program):
    with open(f"/proc/{program.pid}/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmSize:")) * 1024


def test_sessions_take_little_address_space(jdk):
    """Session after session in one JVM: the address space of trees is a few pages each, not their limit."""
    sizes = []
    with Program(jdk, "Waits", wrap=("env", "MALLOC_ARENA_MAX=1")) as program:
        for _ in range(counted(6, 25)):
            done = jstrobe("start", "--instrument", "truth.Waits", program.pid)
            assert done.returncode == 0, done.stderr
            stop(program)
            sizes.append(address_space(program))
        assert program.stop() == 0
    # the JVM itself takes some for its compilers
    assert sizes[-1] < sizes[1] + 300e6, sizes
