"""jstrobe trace --latency: each slow call is told once, of a method that is there, however it waited."""
import os

import jfr
import pytest
from jvm import Program, counted, jstrobe, result_file
from test_trace import read, wait

pytestmark = pytest.mark.together

# of truth.SlowCalls: calls of each in a round, every one of them slow
CALLS = {"sleeps": 1, "waits": 1, "parks": 4, "blocks": 1, "locks": 1, "reads": 1, "works": 1, "round": 1}


@pytest.mark.parametrize("timing", ["exact", "adaptive"])
def test_slow_calls_below_the_tick(jdk, timing):
    """
    With a threshold below the period of ticks every call and every wait ends on the probes' short way: the calls alone
    are events, as JSON and as a recording, as many as the program has made.
    """
    rounds, names = counted(20, 1000), {form: result_file("." + form) for form in ("json", "jfr")}
    with Program(jdk, "SlowCalls", rounds) as program:
        wait(program, "ready")
        done = jstrobe("start", "--timing", timing, "--latency", "1ms", "--period", "500ms", "--instrument",
                       "truth.SlowCalls", "--exclude", "truth.SlowCalls.lambda$*", program.pid)
        assert done.returncode == 0, done.stderr
        program.say("end")
        wait(program, "done")
        done = jstrobe("dump", "-f", names["jfr"], program.pid)
        assert done.returncode == 0, (done.stderr, program.output[-20:])
        assert jstrobe("stop", "-f", names["json"], program.pid).returncode == 0
        assert program.stop() == 0
    result = read(names["json"])
    methods, found = result["methods"], {}
    assert result["events_lost"] == 0
    for event in result["events"]:
        name = methods[event["method"]]["name"]
        assert event["duration"] >= 1e6 and event["thread"] in ("slow", "helper"), event
        assert event["stack"][0].split(":")[0] == "truth.SlowCalls." + name, event
        found[name] = found.get(name, 0) + 1
    assert {name: found[name] for name in CALLS} == {name: CALLS[name] * rounds for name in CALLS}
    recorded = [e["method"]["name"] for e in jfr.Recording(names["jfr"]).events["jdk.MethodTrace"]]
    assert {name: recorded.count(name) for name in CALLS} == {name: CALLS[name] * rounds for name in CALLS}
    os.remove(names["jfr"])
