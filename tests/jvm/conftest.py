"""Fixtures of the JVM tests: which JDKs there are, and the compiled programs."""
import os
import re
import signal
import sys
import zlib

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


def pytest_addoption(parser):
    parser.addoption("--one-jdk", action="store_true",
                     help="each test on one JDK only, half of them on either, but for those marked each_jdk (make check)")


def pytest_configure(config):
    config.addinivalue_line("markers", "together: measures nothing, may run beside other tests (see tests/run.py)")
    config.addinivalue_line("markers", "in_pairs: measures, but what another program beside it does not change")
    config.addinivalue_line("markers", "each_jdk: what it tests is another thing on each JDK: on both also in `make check`")
    os.makedirs(jvm.OWN, exist_ok=True)


# ---- --one-jdk: the second JDK only where the test had nothing to do on the first ----

JDK_IN_NAME = re.compile(r"jdk(17|25)")
_ran = set()  # names without JDK of what ran on one of them


def _without_jdk(item):
    return JDK_IN_NAME.sub("jdk", item.nodeid)


def pytest_collection_modifyitems(config, items):
    """The JDK that a test runs on comes first; its name says which, the same in each run."""
    if not config.getoption("--one-jdk"):
        return
    places = {}
    for place, item in enumerate(items):
        if JDK_IN_NAME.search(item.name) and not item.get_closest_marker("each_jdk"):
            places.setdefault(_without_jdk(item), []).append(place)
    for name, pair in places.items():
        if len(pair) == 2 and zlib.crc32(name.encode()) % 2:
            items[pair[0]], items[pair[1]] = items[pair[1]], items[pair[0]]
    for pair in places.values():
        for place in pair:
            items[place].one_jdk = True


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    if getattr(item, "one_jdk", False) and _without_jdk(item) in _ran:
        pytest.skip("only with full counts (make soak): on the other JDK, too")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    report = (yield).get_result()
    if call.when == "call" and not report.skipped:
        _ran.add(_without_jdk(item))
