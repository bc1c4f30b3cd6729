"""
What is due to a thread is sampled, with the right stack: however long it stays in the kernel, whatever signal comes
first, and however large the kernel's pages are.
"""
import itertools

import jvm
import pytest
from jvm import Program, counted, record


CALLS = {"overfull": ("0.1ms", 8, 48), "some": ("0.5ms", 3, 48), "few": ("1ms", 4, 24)}


@pytest.mark.parametrize("kind", CALLS)
def test_long_system_calls(jdk, kind, say):
    """Calls in which tens and hundreds of samples are due: their time is theirs, not that of what runs next."""
    interval, ms, megabytes = CALLS[kind]
    with Program(jdk, "LongCalls", "memory", 2, ms, megabytes) as program:
        program.work(0.5)
        program.reset()
        profile = record(program, "-e", "cpu", "-i", interval, "-d", counted("2", "10"))
        truth = program.mark()
    stacks = profile.of_thread("caller-")
    call, compute = (profile.total("truth.LongCalls." + name, stacks) for name in ("call", "compute"))
    known, seen = truth["call"] / (truth["call"] + truth["compute"]), call / (call + compute)
    lost = profile.samples["lost"]
    say(f"system calls of {megabytes} MB at {interval}, {jdk}: {seen:.1%} of the time in them, {known:.1%} by the "
        f"threads' clocks; {profile.samples['taken']} taken, ring_full {lost['ring_full']}")
    assert abs(seen - known) <= 0.05
    assert profile.weight["lost"] <= 0.05 * profile.weight["total"], lost


READS = {"vfs_read", "read_zero", "read_iter_zero", "shmem_file_read_iter", "ksys_pread64", "__x64_sys_pread64"}


@pytest.mark.parametrize("events,interval", itertools.product(["cpu,wall", "cpu,lock,wall"], ["100us", "1ms"]))
def test_no_impossible_stacks(jdk, events, interval, say):
    """Kernel frames of a read stand over who reads, whatever else sends signals."""
    if not jvm.SOAK and (events, interval) == ("cpu,lock,wall", "100us"):
        pytest.skip("only with full counts (make soak): three events at one interval in the short ones")
    with Program(jdk, "LongCalls", "zero", 3, 2, 16) as program:
        program.work(0.5)
        profile = record(program, "-e", events, "-i", interval, "--wall", "2ms", "--show", "cpu",
                         "-d", counted("3", "20"))
    stacks = profile.of_thread("caller-")
    reads = [s for s in stacks if READS & set(s["frames"])]
    wrong = [s for s in reads if "truth.LongCalls.compute" in s["frames"]]
    say(f"{events} at {interval}, {jdk}: {sum(s['samples'] for s in wrong)} impossible stacks of "
        f"{sum(s['samples'] for s in stacks)}")
    assert reads
    assert not wrong, wrong[0]["frames"]


@pytest.mark.parametrize("page,least", [(16384, 0.9), (65536, 0.5)])
def test_large_pages(jdk, page, least, tmp_path, say):
    """
    A kernel whose pages are not of 4 KB: samples come. With 64 KB, what is asked for here has no room for data (only
    test_engine_due can say so to the agent alone), and samples come by counts.
    """
    library = jvm.build_agent("large_pages", tmp_path)
    with Program(jdk, "KnownShares", wrap=["env", "LD_PRELOAD=" + library, f"LARGE_PAGES={page}"]) as program:
        profile = record(program, "-e", "cpu", "-i", "1ms", "-d", "2")
    weight, cpu = profile.weight["total"], profile.target_cpu()
    say(f"pages of {page} bytes, {jdk}: {profile.samples['stored']} samples, {weight / cpu:.1%} of the CPU time")
    assert weight > least * cpu
