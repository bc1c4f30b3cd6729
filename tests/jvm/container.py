"""JVMs in file systems and namespaces of their own, made by unshare: what attaching to containers meets.

    with Container(jdk17, namespaces=["--pid", "--net"], tmp="noexec") as program: ...

The root is a tmpfs that holds the system's folders and the JDK, but not jstrobe.
"""
import contextlib
import os
import shlex
import signal
import subprocess

import jvm
from jvm import Program

SYSTEM = ["/usr", "/bin", "/lib", "/lib64", "/etc"]
TMP = {
    "plain": "mount -t tmpfs -o mode=1777 none tmp",
    "noexec": "mount -t tmpfs -o mode=1777,noexec none tmp",
    "full": "mount -t tmpfs -o mode=1777,size=4k none tmp; head -c 4096 /dev/zero > tmp/filler",
    "read-only": "mount -t tmpfs -o mode=1777,ro none tmp",
    "none": "rmdir tmp",
}


def permitted(*options):
    """Whether these namespaces can be made here."""
    return subprocess.run(["unshare", "--mount", *options, "true"], capture_output=True).returncode == 0


# What Kubernetes and Docker leave to a container that asks for nothing.
DEFAULT_RIGHTS = ("chown,dac_override,fowner,fsetid,kill,setgid,setuid,setpcap,net_bind_service,net_raw,sys_chroot,mknod,"
                  "audit_write,setfcap").split(",")


def with_rights(rights):
    """Words before a command that leave it these capabilities."""
    return ["setpriv", "--bounding-set", ",".join(["-all", *("+" + r for r in rights)]), "--inh-caps", "-all"]


def script(jdk, root, tmp, extra, chroot, user, rights):
    """Commands that build the root, enter it, and run what they are given."""
    lines = ["set -e", f"mkdir -p {root}", f"mount -t tmpfs none {root}", f"cd {root}",
             "mkdir proc tmp dev old run var var/tmp jdk classes; chmod 1777 tmp var/tmp",
             f"mount --bind {jdk.home} jdk; mount --bind {jvm.CLASSES} classes"]
    for folder in SYSTEM:
        if os.path.islink(folder):
            lines.append(f"ln -s {os.readlink(folder)} .{folder}")
        elif os.path.isdir(folder):
            lines.append(f"mkdir -p .{folder}; mount --rbind {folder} .{folder}")
    lines += ["mount --rbind /dev dev", "mount -t proc none proc || mount --rbind /proc proc", TMP[tmp], *extra]
    if chroot:
        enter = f"exec chroot {root} "
    else:
        lines += ["pivot_root . old", "cd /", "umount -l old", "mount -o remount,ro / 2>/dev/null || true"
                  if tmp == "read-only" else "true"]
        enter = "exec "
    if rights is not None:
        enter += shlex.join(with_rights(rights)) + " "
    if user:
        enter += f"setpriv --reuid={user} --regid={user} --clear-groups "
    return "; ".join(lines) + "; " + enter + '"$@"'


class Container(Program):
    """A Program in there; `pid` is the JVM's number outside."""

    def __init__(self, jdk, name="Sleepers", args=(1, "idle"), namespaces=(), tmp="plain", extra=(), chroot=False,
                 user=0, options=(), rights=None):
        root = os.path.join(jvm.WORK, f"root-{os.getpid()}")
        wrap = ["unshare", "--mount", "--propagation", "private", *namespaces, "--kill-child", "--fork",
                "sh", "-c", script(jdk, shlex.quote(root), tmp, extra, chroot, user, rights), "sh"]
        super().__init__(jvm.Jdk("/jdk", jdk.version), name, *args, jvm=options, wrap=wrap, classpath="/classes")
        self.pid = self.java()
        self.itself = os.pidfd_open(self.pid)

    def __exit__(self, *error):
        # --kill-child does not reach one that has changed its user: the kernel forgets the signal then
        with contextlib.suppress(OSError):
            signal.pidfd_send_signal(self.itself, signal.SIGKILL)
        os.close(self.itself)
        return super().__exit__(*error)

    def java(self):
        """The process below unshare: sh has become java."""
        with open(f"/proc/{self.process.pid}/task/{self.process.pid}/children") as file:
            return int(file.read().split()[0])

    def inside(self, path):
        return f"/proc/{self.pid}/root{path}"
