"""The books of a session that runs: what was taken is stored, lost, or of runs that go on."""
import json
import time

import pytest
from jvm import Program, jstrobe, result_file
from test_names import read_metrics

WAYS = {"marker": ("-e", "wall", "-i", "10ms"), "slots": ("-e", "wall", "-i", "10ms", "--wallmode", "slots"),
        "signals": ("-e", "wall", "-i", "20ms", "--nobatch"), "cpu": ("-e", "cpu", "-i", "1ms"),
        "both": ("-e", "cpu", "-i", "1ms", "--wall", "10ms")}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("threads", [3, 60])
def test_they_balance(jdk, way, threads, say):
    with Program(jdk, "Sleepers", threads) as program:
        assert jstrobe("start", *WAYS[way], program.pid).returncode == 0
        queues, worst, most = [], 0, 0
        for _ in range(10):
            time.sleep(0.1)
            values = read_metrics(jstrobe("metrics", program.pid).stdout)
            queues.append(values["jstrobe_queue_bytes"])
            for event in ("cpu", "wall"):
                taken = values.get(f'jstrobe_samples_taken_total{{event="{event}"}}')
                if taken is None:
                    continue
                lost = sum(v for k, v in values.items() if k.startswith(f'jstrobe_samples_lost_total{{event="{event}"'))
                open_ = values[f'jstrobe_samples_open{{event="{event}"}}']
                stored = values[f'jstrobe_samples_stored_total{{event="{event}"}}']
                worst = max(worst, abs(taken - stored - lost - open_))
                most = max(most, open_)
        done = jstrobe("status", program.pid)
        assert done.returncode == 0 and "of runs that go on" in done.stdout, done.stdout
        assert jstrobe("stop", "-f", "/dev/null", program.pid).returncode == 0
        values = read_metrics(jstrobe("metrics", program.pid).stdout)
        assert not [k for k, v in values.items() if k.startswith("jstrobe_samples_open") and v]
        assert program.stop() == 0
    say(f"books, {way}, {jdk}: off by {worst:.0f} at most, {most:.0f} open; queues {min(queues):.0f} to {max(queues):.0f} bytes")
    # one turn of all threads may just be under way
    assert worst <= 3 * threads + 40, worst
    assert most > 0 or way in ("cpu", "signals")
    assert max(queues) <= 2 * min(queues), queues


@pytest.mark.parametrize("last", [(), ("--last", "1m")], ids=["session", "ring"])
def test_all_events_of_a_dump_end_at_one_moment(jdk, last):
    """However long the first one's names take: what clocks show is the same for all events."""
    with Program(jdk, "Mixture") as program:
        done = jstrobe("start", "-e", "cpu,wall,page-faults", "-i", "1ms", *last, program.pid)
        assert done.returncode == 0, done.stderr
        for _ in range(3):
            program.work(0.3)
            path = result_file()
            done = jstrobe("dump", "-f", path, program.pid)
            assert done.returncode == 0, done.stderr
            with open(path) as file:
                events = json.load(file)["profiles"]
            for key in ("started_at", "duration_ns", "cpu_time_ns", "own_cpu_ns"):
                assert len(events) == 3 and len({one[key] for one in events}) == 1, [one[key] for one in events]
