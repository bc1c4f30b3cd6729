"""
What is due to a thread is sampled, however large the kernel's pages are.
"""
import jvm
import pytest
from jvm import Program, record


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
