"""Programs whose process has a locale with commas in numbers, or letters of their own: results are as everywhere."""
import json
import os
import re
import shutil
import struct
import subprocess

import jvm
import pytest
from jvm import Program, jstrobe, result_file

pytestmark = pytest.mark.together

LOCALES = {"de_DE.UTF-8": ("de_DE", "UTF-8"), "tr_TR.ISO-8859-9": ("tr_TR", "ISO-8859-9")}
COMMA = ord(",")
SECRET = "hush-hush-14"


@pytest.fixture(params=LOCALES)
def locale(request, record_property):
    """Its name and the folder that has it."""
    folder = os.path.join(jvm.OWN, "locales")
    if not shutil.which("localedef"):
        record_property("note", f"{request.param}: not tested, there is no localedef")
        pytest.skip("no localedef")
    if not os.path.isdir(os.path.join(folder, request.param)):
        os.makedirs(folder, exist_ok=True)
        source, charset = LOCALES[request.param]
        made = subprocess.run(["localedef", "-i", source, "-f", charset, os.path.join(folder, request.param)],
                              capture_output=True, text=True)
        if not os.path.isdir(os.path.join(folder, request.param)):
            record_property("note", f"{request.param}: not tested, localedef cannot make it")
            pytest.skip("localedef: " + made.stderr[-200:])
    return request.param, folder


def test_results_are_as_everywhere(jdk, locale):
    name, folder = locale
    mine = dict(os.environ, LOCPATH=folder, LC_ALL=name)
    files = {form: result_file("." + form) for form in ("json", "txt", "jfr")}
    with Program(jdk, "Locales", jvm.NATIVE, name, ready=False, wrap=("env", "LOCPATH=" + folder),
                 jvm=("-DSITE_CREDENTIAL=" + SECRET,)) as program:
        assert program.wait_for("LOCALE") == f"true {COMMA}"
        program.wait_for("READY")
        # units, words and names in any case
        done = jstrobe("start", "--instrument", "truth.Locales", "--timing", "adaptive", program.pid, env=mine)
        assert done.returncode == 0, done.stderr
        steps = program.mark()["steps"]
        while program.mark()["steps"] < steps + 100:
            pass
        done = jstrobe("stop", "-f", files["json"], program.pid, env=mine)
        assert done.returncode == 0, done.stderr
        done = jstrobe("record", "-d", "1", "-f", files["txt"], program.pid, env=mine)
        assert done.returncode == 0, done.stderr
        done = jstrobe("record", "-d", "1", "-f", files["jfr"], program.pid, env=mine)
        assert done.returncode == 0, done.stderr
        assert program.stop() == 0
    with open(files["json"]) as file:
        result = json.load(file)
    assert isinstance(result["probe_ns"], float) and isinstance(result["stamped_ns"], float)
    with open(files["txt"]) as file:
        text = file.read()
    assert re.search(r"\d\.\d\d ?%", text) and not re.search(r"\d,\d\d? ?%|\d,\d\d? [mµ]?s\b", text), text[:2000]
    shown = jstrobe("convert", "-o", "hot", files["jfr"], env=mine)
    assert shown.returncode == 0 and re.search(r"\d\.\d\d%", shown.stdout), (shown.stdout, shown.stderr)
    with open(files["jfr"], "rb") as file:
        recorded = file.read()
    assert b"SITE_CREDENTIAL" in recorded and SECRET.encode() not in recorded


def catalog(folder, language, texts):
    """Texts of libc in another language, as gettext reads them."""
    path = os.path.join(folder, language, "LC_MESSAGES", "libc.mo")
    os.makedirs(os.path.dirname(path), exist_ok=True)
    pairs = sorted({"": "Content-Type: text/plain; charset=UTF-8\n", **texts}.items())
    at, places, strings = 28 + 16 * len(pairs), b"", b""
    for column in 0, 1:
        for pair in pairs:
            text = pair[column].encode()
            places += struct.pack("<II", len(text), at + len(strings))
            strings += text + b"\0"
    with open(path, "wb") as file:
        file.write(struct.pack("<IIIIIII", 0x950412de, 0, len(pairs), 28, 28 + 8 * len(pairs), 0, 0) + places + strings)


def test_errors_are_in_english(jdk, locale):
    """What a user searches for; strerror speaks the language of the program's process."""
    name, folder = locale
    messages = os.path.join(jvm.OWN, "messages")
    for language in "de", "tr":
        catalog(messages, language, {"No such file or directory": "Datei nicht gefunden",
                                     "Invalid argument": "Falsche Angabe"})
    with Program(jdk, "Locales", jvm.NATIVE, name, messages, ready=False,
                 wrap=("env", "-u", "LANGUAGE", "LOCPATH=" + folder)) as program:
        assert program.wait_for("LOCALE") == f"true {COMMA}"
        assert program.wait_for("ERRORS") == "Datei nicht gefunden", "the program's own errors are not in English"
        program.wait_for("READY")
        # SIGKILL, which cannot be caught: the agent hears it of the system
        done = jstrobe("start", "-f", result_file(), "--on-signal", "9", program.pid)
        assert done.returncode == 1, done.stderr
        assert "Invalid argument" in done.stderr and "Falsche" not in done.stderr, done.stderr
