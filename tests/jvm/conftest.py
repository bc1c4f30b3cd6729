"""Fixtures of the JVM tests: which JDKs there are, and the compiled programs."""
import os
import signal
import sys

# What runs in the background or under nohup has these ignored, and so would all it starts.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import jvm  # noqa: E402
import pytest  # noqa: E402

_jdks = {}


def _jdk(version):
    if version not in _jdks:
        _jdks[version] = jvm.find_jdk(version)
    return _jdks[version]


@pytest.fixture(scope="session")
def programs():
    jvm.compile_programs()


@pytest.fixture(params=[17, 25], ids=["jdk17", "jdk25"])
def jdk(request, programs, record_property):
    """Each JDK the tests run on: 17 always, 25 where there is one or one can be fetched."""
    found = _jdk(request.param)
    if not found and request.param == 25:
        record_property("note", "JDK 25: not tested")
        pytest.skip("JDK 25: not tested (none installed, none could be fetched)")
    assert found, f"no JDK {request.param} found"
    return found


@pytest.fixture
def jdk17(programs):
    return _jdk(17)


@pytest.fixture
def jdk25(programs, record_property):
    if not _jdk(25):
        record_property("note", "JDK 25: not tested")
        pytest.skip("JDK 25: not tested (none installed, none could be fetched)")
    return _jdk(25)


@pytest.fixture
def say(record_property):
    """Put a figure into the closing lines of the run."""
    return lambda text: record_property("note", text)


def pytest_configure(config):
    config.addinivalue_line("markers", "together: measures nothing, may run beside other tests (see tests/run.py)")
    os.makedirs(jvm.OWN, exist_ok=True)
