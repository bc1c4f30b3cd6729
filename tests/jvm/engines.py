"""JVMs in containers of real engines: bubblewrap, runc, crun.

    with EngineContainer(jdk17, "runc", user=1000, users=True) as program: ...

The root is read-only and holds the system's folders and the JDK, but not jstrobe; process numbers, mounts, network, IPC
and host name are its own, all capabilities are gone but those asked for, and system calls are filtered as Docker does.
"""
import functools
import json
import os
import re
import shutil
import struct
import subprocess
import tempfile
import uuid

import jvm
from jvm import Program

# Docker's default profile allows what is on its list. This is what it denies of x86-64's calls to a container without
# capabilities of its own: those that its document names, and those that the profile ties to a capability. (The files
# security/seccomp.md and profiles/seccomp/default.json of github.com/moby/moby; calls that only one of the two
# denies, as ptrace since Linux 4.8, are denied here.)
DENIED = """
acct add_key adjtimex bpf clock_adjtime clock_settime create_module delete_module fanotify_init finit_module fsconfig
fsmount fsopen fspick get_kernel_syms get_mempolicy init_module ioperm iopl kcmp kexec_file_load kexec_load keyctl
lookup_dcookie mbind modify_ldt mount mount_setattr move_mount move_pages name_to_handle_at nfsservctl
open_by_handle_at open_tree perf_event_open pidfd_getfd pivot_root process_madvise process_vm_readv process_vm_writev
ptrace query_module quotactl quotactl_fd reboot request_key set_mempolicy set_mempolicy_home_node setdomainname
sethostname setns settimeofday swapoff swapon sysfs _sysctl syslog umount2 unshare userfaultfd uselib ustat vhangup
""".split()
NAMESPACE_BITS = [1 << bit for bit in (17, 25, 26, 27, 28, 29, 30)]  # of clone; clone3 does not exist for a container
EPERM, ENOSYS = 1, 38

SYSTEM = ["/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc"]
MASKED = ["/proc/acpi", "/proc/kcore", "/proc/keys", "/proc/latency_stats", "/proc/timer_list", "/proc/timer_stats",
          "/proc/sched_debug", "/proc/scsi", "/sys/firmware"]
SHOWN = ["/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger"]


@functools.lru_cache(maxsize=None)
def numbers():
    """{name: number} of the system calls of this machine."""
    text = subprocess.run([os.environ.get("CC", "gcc"), "-dM", "-E", "-include", "sys/syscall.h", "-x", "c", "/dev/null"],
                          capture_output=True, text=True, check=True).stdout
    return {name: int(number) for name, number in re.findall(r"^#define __NR_(\w+) (\d+)$", text, re.M)}


def filter_program():
    """The same as a program for the kernel, which bubblewrap wants: seccomp(2)."""
    load, equal, has, give = 0x20, 0x15, 0x45, 0x06
    number, first = 0, 16  # where struct seccomp_data has the call and the low half of its first argument
    error = 0x00050000
    denied = [numbers()[name] for name in DENIED if name in numbers()]
    lines = [(load, 0, 0, number)]
    for call in denied:
        lines += [(equal, 0, 1, call), (give, 0, 0, error | EPERM)]
    lines += [(equal, 0, 1, numbers()["clone3"]), (give, 0, 0, error | ENOSYS),
              (equal, 0, 3, numbers()["clone"]), (load, 0, 0, first), (has, 0, 1, sum(NAMESPACE_BITS)),
              (give, 0, 0, error | EPERM), (give, 0, 0, 0x7fff0000)]
    return b"".join(struct.pack("HBBI", *line) for line in lines)


def filter_list():
    """The same as runc and crun want it: the OCI's runtime specification."""
    errno = {"action": "SCMP_ACT_ERRNO"}
    return {"defaultAction": "SCMP_ACT_ALLOW", "syscalls":
            [dict(errno, names=DENIED, errnoRet=EPERM), dict(errno, names=["clone3"], errnoRet=ENOSYS)] +
            [dict(errno, names=["clone"], errnoRet=EPERM, args=[
                {"index": 0, "value": bit, "valueTwo": bit, "op": "SCMP_CMP_MASKED_EQ"}]) for bit in NAMESPACE_BITS]}


# ---- the engines -------------------------------------------------------------------------

class Place:
    """What a container is made of. BINDS: {folder inside: outside}, TMPFS: {folder inside: options}."""

    def __init__(self, user, users, rights, tmpfs, binds):
        self.user, self.users, self.rights, self.tmpfs, self.binds = user, users, rights, tmpfs, binds
        self.folder = tempfile.mkdtemp(prefix="jstrobe-test-engine-")
        os.chmod(self.folder, 0o755)
        self.number = "jstrobe-test-" + uuid.uuid4().hex[:12]

    def remove(self):
        shutil.rmtree(self.folder)


def mount_points(place):
    return [*place.binds, *place.tmpfs, "/proc", "/dev", "/sys"]


def system():
    """({folder: itself} to bind, {link: where it leads})."""
    return ({f: f for f in SYSTEM if os.path.isdir(f) and not os.path.islink(f)},
            {f: os.readlink(f) for f in SYSTEM if os.path.islink(f)})


def oci_mounts(place):
    def mount(where, kind, *options, source=None):
        return {"destination": where, "type": kind, "source": source or kind, "options": list(options)}
    return [mount("/proc", "proc"), mount("/dev", "tmpfs", "nosuid", "strictatime", "mode=755", "size=65536k"),
            mount("/sys", "sysfs", "nosuid", "noexec", "nodev", "ro"),
            *(mount(inside, "bind", "rbind", "ro", source=outside) for inside, outside in place.binds.items()),
            *(mount(inside, "tmpfs", "nosuid", "nodev", *options.split(",")) for inside, options in place.tmpfs.items())]


def oci_config(place, words):
    capabilities = ["CAP_" + right.upper() for right in place.rights]
    sets = ("bounding", "effective", "permitted") if not place.user else ("bounding",)
    linux = {"namespaces": [{"type": kind} for kind in ("pid", "network", "ipc", "uts", "mount", *(["user"] if place.users else []))],
             "maskedPaths": MASKED, "readonlyPaths": SHOWN, "seccomp": filter_list()}
    if place.users:
        linux["uidMappings"] = linux["gidMappings"] = [{"containerID": 0, "hostID": 100000, "size": 65536}]
    return {"ociVersion": "1.0.2", "root": {"path": "root", "readonly": True}, "mounts": oci_mounts(place), "linux": linux,
            "process": {"terminal": False, "user": {"uid": place.user, "gid": place.user}, "args": words, "cwd": "/",
                        "env": ["PATH=/usr/bin:/bin"], "noNewPrivileges": True,
                        "capabilities": {name: capabilities for name in sets}}}


def oci_make(place):
    root = os.path.join(place.folder, "root")
    binds, links = system()
    place.binds.update(binds)
    for folder in mount_points(place):
        if not folder.startswith("/dev/"):
            os.makedirs(root + folder, exist_ok=True)
            os.chmod(root + folder, 0o1777 if folder in place.tmpfs else 0o755)  # runc makes the tmpfs like it
    for link, to in links.items():
        os.symlink(to, root + link)


# crun takes no host whose control groups are of both kinds; with mounts of its own it sees one kind.
ONE_KIND = ["unshare", "--mount", "--propagation", "private", "sh", "-c",
            "umount -R /sys/fs/cgroup && mount -t cgroup2 none /sys/fs/cgroup && exec \"$@\"", "sh"]


def is_hybrid():
    return os.path.isdir("/sys/fs/cgroup/unified")


def oci(engine):
    words = [engine, "--root"]
    return [*ONE_KIND, engine, "--cgroup-manager=disabled", "--root"] if engine == "crun" and is_hybrid() else words


def oci_start(engine, place, words):
    with open(os.path.join(place.folder, "config.json"), "w") as file:
        json.dump(oci_config(place, words), file)
    return [*oci(engine), place.folder + "/state", "run", "--bundle", place.folder,
            "--pid-file", place.folder + "/pid", place.number]


def oci_pid(place, process):
    with open(place.folder + "/pid") as file:
        return int(file.read())


def oci_end(engine, place):
    """What is left of it where the test has not ended it."""
    subprocess.run([*oci(engine), place.folder + "/state", "delete", "--force", place.number], capture_output=True)


def bwrap_start(place, words):
    binds, links = system()
    with open(place.folder + "/filter", "wb") as file:
        file.write(filter_program())
    made = ["bwrap", "--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL", "--clearenv",
            "--seccomp", "9", "--proc", "/proc", "--dev", "/dev"]
    if os.geteuid() == 0 and not place.users:
        made += ["--uid", str(place.user), "--gid", str(place.user)]
    for inside, outside in {**binds, **place.binds}.items():
        made += ["--ro-bind", outside, inside]
    for inside, options in place.tmpfs.items():
        size = re.search(r"size=(\d+)k", options)
        made += [*(["--size", str(int(size[1]) << 10)] if size else []), "--tmpfs", inside]
    for link, to in links.items():
        made += ["--symlink", to, link]
    # USERS: an ordinary user calls it, as it is meant to be
    caller = ["setpriv", f"--reuid={place.user}", f"--regid={place.user}", "--clear-groups"] if place.users else []
    return ["sh", "-c", 'exec 9<"$0" && exec "$@"', place.folder + "/filter", *caller, *made, "--remount-ro", "/", *words]


def bwrap_pid(place, process):
    """The last one down from bwrap: its child waits for the children in there."""
    pid, children = process.pid, [process.pid]
    while children:
        pid = children[0]
        with open(f"/proc/{pid}/task/{pid}/children") as file:
            children = [int(child) for child in file.read().split()]
    return pid


ENGINES = {
    "bwrap": (lambda place: None, bwrap_start, bwrap_pid, lambda place: None),
    "runc": (oci_make, functools.partial(oci_start, "runc"), oci_pid, functools.partial(oci_end, "runc")),
    "crun": (oci_make, functools.partial(oci_start, "crun"), oci_pid, functools.partial(oci_end, "crun")),
}
TMP = {"/tmp": "mode=1777,size=4096k", "/dev/shm": "mode=1777,noexec,size=4096k"}


def run(engine, words, user=1000, users=False, rights=(), tmpfs=None):
    """What WORDS say in a container of ENGINE."""
    make, start, _, end = ENGINES[engine]
    os.makedirs(jvm.CLASSES, exist_ok=True)  # who makes the container has to get there
    place = Place(user, users, rights, dict(TMP if tmpfs is None else tmpfs), {"/classes": jvm.CLASSES})
    try:
        make(place)
        return subprocess.run(start(place, words), capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL)
    finally:
        end(place)
        place.remove()


@functools.lru_cache(maxsize=None)
def why_not(engine, users=False):
    """Why there is no container of ENGINE to be had here; "" if there is one."""
    if not shutil.which(engine):
        return f"{engine} is not installed (scripts/deps.sh test)"
    if os.geteuid() != 0:
        return f"{engine}: the tests need root"
    done = run(engine, ["true"], users=users)
    return f"{engine} cannot make containers here: {done.stderr.strip()[-300:]}" if done.returncode else ""


class EngineContainer(Program):
    """A Program in there; `pid` is the JVM's number outside. USERS: in a user namespace that root has not made for itself."""

    def __init__(self, jdk, engine, name, *args, user=1000, users=False, rights=(), tmpfs=None, options=()):
        make, start, find, self.end = ENGINES[engine]
        self.place = Place(user, users, rights, dict(TMP if tmpfs is None else tmpfs),
                           {"/jdk": os.path.realpath(jdk.home), "/classes": jvm.CLASSES})
        try:
            make(self.place)
            super().__init__(jvm.Jdk("/jdk", jdk.version), name, *args, jvm=["-Xmx256m", *options], classpath="/classes",
                             wrap=functools.partial(start, self.place))
            self.pid = find(self.place, self.process)
        except BaseException:
            self.__exit__()
            raise

    def inside(self, path):
        return f"/proc/{self.pid}/root{path}"

    def __exit__(self, *error):
        if hasattr(self, "process"):
            super().__exit__(*error)
        self.end(self.place)
        self.place.remove()
        return False
