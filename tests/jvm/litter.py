"""Files that attaching makes in /tmp and must take away again."""
import contextlib
import os
import time

OTHERS_TAKE = 60  # seconds that another test's attaching may take, which goes on beside this one


def in_use():
    """Sockets at which a command waits now."""
    with open("/proc/net/unix") as file:
        return {os.path.basename(line.split()[-1]) for line in file}


def litter():
    """Those that lie there now; others than ours may be at work as well."""
    return {f for f in os.listdir("/tmp") if f.startswith((".jstrobe-", ".attach_pid"))}


def remove_dead():
    """A command that is killed cannot remove the socket at which it waited; a test that kills one does."""
    for name in litter() - in_use():
        if name.startswith(".jstrobe-"):
            with contextlib.suppress(OSError):
                os.remove(os.path.join("/tmp", name))


def left_since(before):
    """Those that came after BEFORE was taken, and stay."""
    left = litter() - before
    end = time.time() + OTHERS_TAKE
    while left and time.time() < end:
        time.sleep(0.1)
        left &= litter()
    return left - in_use()
