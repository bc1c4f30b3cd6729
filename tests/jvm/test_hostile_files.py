"""jstrobe convert on files that are made to exhaust it: each is read or refused with a reason, and costs what its size can mean.

The files are those of bench/hostile_files.py, smaller. What is asserted is CPU time and address space that the kernel
takes away, not how long anything took.
"""
import importlib.util
import os
import resource
import subprocess

import jvm
import pytest

pytestmark = pytest.mark.together

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
spec = importlib.util.spec_from_file_location("hostile_files", os.path.join(ROOT, "bench", "hostile_files.py"))
made = importlib.util.module_from_spec(spec)
spec.loader.exec_module(made)

SIZE = 1 << 20
CPU = 8             # seconds: the worst takes less than one
MEMORY = 700 << 20
RESULT = 350 << 20
LARGER = {"headers_in_vain": 4, "tiny_chunks_behind_a_large_one": 4, "long_text_told_again": 4,
          "long_number_told_again": 4, "long_class_of_objects": 4, "methods_read_again": 4, "counters_of_many_events": 4}

# How the command ends: "" = the file is read.
ENDS = {
    "array_past_event": "no samples", "fields_past_event": "no samples",
    "types_of_one_name": "over 256 kinds of samples", "names_of_events": "over 256 kinds of samples",
    "objects_on_a_deep_stack": "many classes of objects", "threads_on_a_deep_stack": "many threads or states",
    "threads_of_one_name": "many threads or states", "long_text_told_again": "", "long_number_told_again": "",
    "counters_of_many_events": "counts of over 1,000 events", "headers_in_vain": "",
    "tiny_chunks_behind_a_large_one": "", "types_in_one_another": "",
    "long_class_of_many_methods": "long names", "long_name_of_many_threads": "long names", "methods_read_again": "", "long_class_of_objects": "",
    "long_name_in_each_frame": "would have over", "results_of_many_events": "over 200 events",
    "deep_json": "less nesting", "deep_lines": "", "many_lines": "", "prefixes": "",
    "sums_over_64_bits": "sums 64 bits do not hold",
}


def bounds():
    resource.setrlimit(resource.RLIMIT_CPU, (CPU, CPU))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_FSIZE, (RESULT, RESULT))


@pytest.mark.parametrize("kind", made.KINDS, ids=lambda kind: kind.__name__)
def test_file(kind):
    data, options = kind(SIZE * LARGER.get(kind.__name__, 1))
    source, result = jvm.result_file(".in"), jvm.result_file(".html")
    try:
        with open(source, "wb") as f:
            f.write(data)
        done = subprocess.run([jvm.COMMAND, "convert", *options, source, result], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, preexec_fn=bounds, timeout=300)
        said = ENDS[kind.__name__]
        assert done.returncode in ((1, 2) if said else (0,)), (done.returncode, done.stdout[-500:])
        assert said in done.stdout
        assert bool(said) != os.path.exists(result)
    finally:
        for name in (source, result):
            if os.path.exists(name):
                os.remove(name)
