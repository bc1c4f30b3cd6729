"""Files that attaching makes in /tmp and must take away again."""
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


def left_since(before):
    """Those that came after BEFORE was taken, and stay."""
    left = litter() - before
    end = time.time() + OTHERS_TAKE
    while left and time.time() < end:
        time.sleep(0.1)
        left &= litter()
    return left - in_use()
