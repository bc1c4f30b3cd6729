"""Shell completion and manual pages, as the command writes them and `make install` puts them."""
import os
import re
import shutil
import subprocess

import pytest
import tree

COMMAND = os.path.join(tree.OUT, "bin", "jstrobe")


def text(*words):
    done = subprocess.run([COMMAND, "help", *words], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def complete(*words):
    """What bash offers for a line of WORDS, the last of them begun."""
    script = text("--completion", "bash") + """
        jstrobe() { printf '  123 Main\\n  124 Other\\n'; }
        COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _jstrobe; printf '%s\\n' "${COMPREPLY[@]}"
    """
    done = subprocess.run(["bash", "--norc", "-c", script, "bash", "jstrobe", *words],
                          capture_output=True, text=True, cwd=os.path.join(tree.ROOT, "docs", "reference"))
    assert done.returncode == 0 and not done.stderr, done.stderr
    return done.stdout.split()


@pytest.mark.parametrize("words, some", [
    ([""], {"record", "start", "stop", "123", "124"}),
    (["sta"], {"start", "status"}),
    (["record", ""], {"123", "124"}),
    (["record", "--inc"], {"--include"}),
    (["--min"], {"--minwidth"}),
    (["-e", ""], {"cpu", "ctimer", "itimer"}),
    (["record", "--event", "=", "ct"], {"ctimer"}),
    (["record", "--event", "="], {"cpu", "ctimer", "itimer"}),
    (["-o", "coll"], {"collapsed"}),
    (["--cstack", ""], {"no", "vm", "fp", "dwarf"}),
    (["-L", "de"], {"debug"}),
    (["-f", "cou"], {"counters.md"}),
    (["stop", "-i", ""], set()),
])
def test_bash(words, some):
    offered = set(complete(*words))
    assert offered >= some
    if words[-1] not in ("", "="):
        assert offered == {w for w in offered if w.startswith(words[-1])}, offered
    if not some:
        assert not offered


def test_bash_leaves_the_program_alone():
    """After -- the program's own words follow."""
    assert "ls" in complete("record", "--", "l")
    assert complete("record", "--", "java", "--min") == []


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_read_it(shell, record_testsuite_property):
    script = text("--completion", shell)
    for option in ("include", "minwidth", "jstackdepth", "event"):
        assert option in script
    if not shutil.which(shell):
        record_testsuite_property("note", f"completion for {shell}: not run (no {shell} here)")
        pytest.skip(f"no {shell} here to read the script with")
    done = subprocess.run([shell, "-n"], input=script, capture_output=True, text=True)
    assert done.returncode == 0 and not done.stderr, done.stderr


def test_every_option_can_be_completed():
    """Behind each command the shells offer what help lists of it, no more and no less."""
    listed = {}
    for command in re.findall(r"^COMMAND\((\w+)", tree.read("src/cli/commands.def"), re.M):
        listed[command] = set(re.findall(r"^ +(?:-\S, )?--([a-z_-]+)", text(command, "--all"), re.M))
        assert listed[command] == set(o[2:] for o in complete(command, "--")), command
    assert listed["record"] == set(o[2:] for o in complete("--")), "as without a command"
    assert set.union(*listed.values()) == set(re.findall(r"^ +(?:-\S, )?--([a-z_-]+)", text("options"), re.M))
    assert "-i" in complete("record", "-") and "-i" in complete("convert", "-") and "-i" not in complete("stop", "-")


@pytest.mark.parametrize("page", ["jstrobe", "agent"])
def test_manual_pages(page):
    source = text("--man", page)
    names = re.findall(r"^\| `([a-z-]+)", tree.read("docs/reference/options.md"), re.M)
    if page == "agent":
        assert source.count(".TP\n\\fB") > 50 and "\\fBminwidth\\fR=" in source and "jstackdepth" in names
    if not shutil.which("groff"):
        pytest.skip("no groff here to format the page with")
    done = subprocess.run(["groff", "-man", "-ww", "-Tutf8", "-P-c"], input=source, capture_output=True, text=True)
    assert done.returncode == 0 and not done.stderr, done.stderr
    shown = re.sub(".\b", "", done.stdout)
    assert "OPTIONS" in shown and "minwidth" in shown


def test_install_and_uninstall(tmp_path):
    """All of it arrives, and nothing stays."""
    def make(target):
        # The folder by the name that the build knew it by: another one is other flags, and all would be compiled again.
        out = os.path.relpath(tree.OUT, tree.ROOT) if tree.OUT.startswith(tree.ROOT + os.sep) else tree.OUT
        subprocess.run(["make", "-s", "-C", tree.ROOT, "O=" + out, "PREFIX=" + str(tmp_path), target],
                       check=True, capture_output=True)
    make("install")
    found = {os.path.relpath(os.path.join(folder, f), tmp_path)
             for folder, _, files in os.walk(tmp_path) for f in files}
    assert found == {"bin/jstrobe", "bin/asprof", "bin/profiler.sh", "bin/jfrconv", "lib/libjstrobe.so",
                     "lib/jstrobe-context.jar",
                     "lib/jstrobe.jar", "include/jstrobe.h",
                     "share/bash-completion/completions/jstrobe", "share/bash-completion/completions/asprof",
                     "share/zsh/site-functions/_jstrobe", "share/fish/vendor_completions.d/jstrobe.fish",
                     "share/man/man1/jstrobe.1", "share/man/man7/jstrobe-agent.7"}
    assert os.readlink(tmp_path / "bin/profiler.sh") == "jstrobe"
    version = subprocess.run([tmp_path / "bin/profiler.sh", "--version"], capture_output=True, text=True)
    assert version.returncode == 0
    make("uninstall")
    assert not [f for _, _, files in os.walk(tmp_path) for f in files]
