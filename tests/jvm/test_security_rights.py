"""With which rights the command, as root, works on a JVM of another user: what strace sees, and which capabilities it takes."""
import os
import re
import subprocess

import container
import jvm
import pytest
from container import Container
from jvm import Program
from test_security_perf import why_not

pytestmark = [pytest.mark.together, pytest.mark.skipif(bool(why_not()), reason=why_not())]

USER = 65534
AS_USER = ["setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups"]
NEEDED = ["setuid", "setgid", "sys_ptrace"]  # as docs/inside/security.md says
CALLS = "openat,openat2,open,unlinkat,mkdirat,renameat,renameat2,linkat,symlinkat,fchmodat,fchownat,readlinkat,faccessat," \
        "faccessat2,utimensat,mknodat,connect,bind,setresuid,setreuid,setuid,setfsuid,dup,dup2,dup3,fcntl,close"


def other_users_jvm(jdk, where):
    if where == "container":
        if not container.permitted("--pid"):
            pytest.skip("needs namespaces")
        return Container(jdk, "KnownShares", (), namespaces=["--pid"], user=USER)
    return Program(jdk, "KnownShares", wrap=AS_USER)


class Trace:
    """What strace wrote: calls in order, with the effective user of the thread that made each."""

    def __init__(self, path, pid):
        self.pid, self.euid, self.inside, self.calls = pid, {}, {}, []
        half = {}
        with open(path, errors="replace") as file:
            for line in file:
                tid, rest = line.split(None, 1)
                if rest.rstrip().endswith("<unfinished ...>"):
                    half[tid] = rest.rstrip()[:-len("<unfinished ...>")]
                    continue
                resumed = re.match(r"<\.\.\. \w+ resumed>", rest)
                if resumed:
                    rest = half.pop(tid, "") + rest[resumed.end():]
                found = re.match(r"(\w+)\((.*)\)\s+= (-?\d+)", rest)
                if found:
                    self.take(tid, found[1], found[2], int(found[3]))

    def take(self, tid, call, args, result):
        first = args.split(",")[0].split("<")[0].strip()
        if call in ("setresuid", "setreuid", "setfsuid", "setuid") and result >= 0:
            words = [word.strip() for word in args.split(",")]
            new = words[1] if call in ("setresuid", "setreuid") else words[0]
            if new != "-1":
                self.euid[tid] = int(new)
        elif call == "close":
            self.inside.pop(first, None)
        elif call in ("dup", "dup2", "dup3", "fcntl"):
            if first in self.inside and result > 2 and (call != "fcntl" or "F_DUPFD" in args):
                self.inside[str(result)] = self.inside[first]
        else:
            self.file(tid, call, args, first, result)

    def file(self, tid, call, args, first, result):
        """A file by name. What is reached from /proc/PID/root is the target's, and so is what is reached from that."""
        names = re.findall(r'"((?:[^"\\]|\\.)*)"', args)
        name = names[0] if names else ""
        own = f"/proc/{self.pid}/"
        if name == own + "root":
            self.inside[str(result)] = "/"
            return
        theirs = first in self.inside or (name.startswith((own + "root/", own + "cwd", "/tmp/", "/var/tmp/")) and
                                          not name.startswith((jvm.ROOT, jvm.WORK)))
        if theirs:
            self.calls.append((self.euid.get(tid, 0), call, args, result))
        if theirs and call.startswith("open") and result >= 0:
            self.inside[str(result)] = name


@pytest.mark.parametrize("where", ["beside", "container"])
def test_no_file_of_the_targets_with_roots_rights(jdk, where, say):
    if subprocess.run(["which", "strace"], stdout=subprocess.DEVNULL).returncode or subprocess.run(
            ["strace", "-f", "-o", "/dev/null", "true"], capture_output=True).returncode:
        pytest.skip("strace is not there, or may not trace")
    with other_users_jvm(jdk, where) as program:
        for words in (["record", "-d", "0.2", "-f", jvm.result_file(".html")], ["status"], ["clean"], ["doctor"]):
            log = jvm.result_file(".strace")
            done = subprocess.run(["strace", "-f", "-qq", "-s", "300", "-o", log, "-e", "trace=" + CALLS, jvm.COMMAND, *jvm.replacing(words),
                                   str(program.pid)], capture_output=True, text=True, timeout=120)
            trace = Trace(log, program.pid)
            assert done.returncode == 0 or words[0] in ("doctor", "clean"), (words, done.stderr)
            wrong = [call for call in trace.calls if call[0] != USER]
            assert not wrong, (words, wrong)
            if words[0] == "record":
                assert len(trace.calls) >= 5, trace.calls  # the trace does see them
                say(f"record as root, {where}: {len(trace.calls)} calls in the target's file system, all as its user")
                os.remove(words[-1])
            os.remove(log)
        assert program.stop() == 0


def record_with(rights, program):
    return subprocess.run([*container.with_rights(rights), jvm.COMMAND, "record", "-d", "0.1", "-e", "ctimer",
                           "-o", "collapsed", str(program.pid)], capture_output=True, text=True, timeout=120)


@pytest.mark.parametrize("where", ["beside", "container"])
def test_the_capabilities_that_it_takes(jdk, where):
    """Root with these and no others; without one of them it says which one."""
    with other_users_jvm(jdk, where) as program:
        for missing in NEEDED:
            done = record_with([right for right in NEEDED if right != missing], program)
            assert done.returncode == 3 and f"CAP_{missing.upper()}" in done.stderr, (missing, done.stderr)
        done = record_with(NEEDED, program)
        assert done.returncode == 0, done.stderr
        assert program.stop() == 0


def test_the_document_lists_them():
    with open(os.path.join(jvm.ROOT, "docs", "inside", "security.md")) as file:
        section = file.read().split("## Rights of the command")[1].split("\n## ")[0]
    assert set(re.findall(r"^\| (CAP_\w+) \|", section, re.M)) == {f"CAP_{right.upper()}" for right in NEEDED} | {"CAP_PERFMON"}
