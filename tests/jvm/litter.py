"""Files that attaching makes in /tmp and must take away again."""
import os


def litter():
    """Those that lie there now; others than ours may be at work as well."""
    return {f for f in os.listdir("/tmp") if f.startswith((".jstrobe-", ".attach_pid"))}
