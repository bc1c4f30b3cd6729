#!/usr/bin/python3
"""judge.py FILE...: how far rules are from what DebugNonSafepoints says of the same samples (see README.md).

Printed for each rule: the sum of absolute differences of self and of total shares of all methods, in points, and the
greatest difference of a method over 1 %.
"""
import bisect
import collections
import pickle
import sys

import capstone

DECODER = capstone.Cs(capstone.CS_ARCH_X86, capstone.CS_MODE_64)
AHEAD, BEHIND, OUT_OF_LINE, JUMPS = 32, 16, 24, 2  # as src/agent/walk/arch/x86/guards.c has them
ENDS = "rh"  # kinds of instructions that nothing goes on behind


def methods(chain):
    return tuple(method for method, _ in chain)


def is_slow_path(name):
    return name == "UncommonTrapBlob" or name.endswith(" Runtime1 stub") or name.startswith(("C1 Runtime ", "C2 Runtime ", "_"))


class Code:
    """An nmethod as sample.py has read it: instructions (offset, bytes, kind, target, name, operands)."""

    def __init__(self, read):
        self.read, self.size = read, len(read["bytes"])
        self.root = [(read["method"], 0xffff)]
        self.instructions, self.index = [], {}
        position = 0
        while position < self.size:
            for address, length, name, operands in DECODER.disasm_lite(read["bytes"][position:], read["code"] + position):
                self._add(address - read["code"], length, name, operands)
                position = address - read["code"] + length
            position += 1
        self.dense = [(p[0], read["chain"].get(p[1])) for p in read["pcs"] if 0 <= p[0] <= self.size]
        self.sparse = [(p, chain) for p, chain in self.dense if p in read["maps"]]
        self.exact = dict(self.sparse)
        self.nulls = dict(read["nul"])
        self.places = self._places()
        self.stale = self._stale()

    def _add(self, offset, length, name, operands):
        kind, target = "o", None
        if name.startswith("j") or name == "call":
            kind = "c" if name == "call" else "j" if name == "jmp" else "b"
            if operands.startswith("0x"):
                target = int(operands, 16) - self.read["code"]
            elif kind == "j":
                kind = "r"
        elif name in ("ret", "hlt", "int3", "ud2"):
            kind = "r" if name == "ret" else "h"
        self.index[offset] = len(self.instructions)
        self.instructions.append((offset, length, kind, target, name, operands))

    def trap(self, target):
        """The chain of the trap or slow path that TARGET leads to, or None."""
        at, jumps = self.index.get(target), 0
        for _ in range(OUT_OF_LINE):
            if at is None or at >= len(self.instructions):
                return None
            offset, length, kind, to, _, _ = self.instructions[at]
            if kind == "c" and offset + length in self.exact:
                name = self.read["calls"].get((to or 0) + self.read["code"], "")
                return self.exact[offset + length] if is_slow_path(name) else None
            if kind == "j":
                jumps += 1
                if jumps > JUMPS:
                    return None
                at = self.index.get(to)
                continue
            if kind in "brh":
                return None
            at += 1
        return None

    def _places(self):
        found, after_call = {}, False
        for i, (offset, length, kind, target, _, _) in enumerate(self.instructions):
            chain = None
            if kind == "c":
                chain = self.exact.get(offset + length)
            elif offset in self.exact and not after_call:
                chain = self.exact[offset]
            elif kind == "b" and target is not None:
                chain = self.trap(target)
            if offset in self.nulls:
                chain = self.trap(self.nulls[offset]) or chain
            if chain:
                found[i] = chain
            after_call = kind == "c"
        return found

    def _stale(self):
        """Chains of the flag's descriptions that checks contradict more often than they agree."""
        good, bad = collections.Counter(), collections.Counter()
        for i, chain in self.places.items():
            offset, _, kind = self.instructions[i][:3]
            if kind == "b" or offset in self.nulls:
                told = self.truth(offset)
                (good if methods(told) == methods(chain) else bad)[tuple(told)] += 1
        return {chain for chain in bad if bad[chain] > good[chain]}

    @staticmethod
    def next_of(described, offset):
        at = bisect.bisect_left([p for p, _ in described], offset)
        return described[at] if at < len(described) else None

    def in_entry(self, pc):
        return pc <= self.read["entry"] - self.read["code"] or 0 < pc < self.read["frame_complete"]

    def takes_frame_down(self, i):
        name, operands = self.instructions[i][4:]
        return (name == "add" and operands.startswith("rsp")) or (name == "pop" and operands == "rbp")

    def in_exit(self, i):
        if self.takes_frame_down(i):
            return True
        for _, _, kind, _, name, operands in self.instructions[i:i + 6]:
            if name == "ret":
                return True
            if not (name in ("cmp", "test", "pop", "vzeroupper") or kind == "b" or (name == "mov" and "r15" in operands)):
                return False
        return False

    def truth(self, pc):
        """As all descriptions say: the next one straight on."""
        at, start = self.index.get(pc), pc
        if at is None or self.in_entry(pc):
            return self.root
        jumps = 0
        while at is not None and at < len(self.instructions):
            offset, length, kind, target, _, _ = self.instructions[at]
            found = self.next_of(self.dense, start + 1)
            if found and found[0] <= offset + length:
                return found[1] or self.root
            if kind in ENDS:
                return self.root
            at += 1
            if kind == "j":
                jumps += 1
                at, start = (self.index.get(target), target) if jumps <= 4 else (None, 0)
        return self.root

    # ---- rules ----

    def next_place(self, pc):
        """async-profiler's: the next description at or behind pc."""
        found = self.next_of(self.sparse, pc)
        return (found[1] if found else None) or self.root

    def guards(self, pc):
        """src/agent/walk/guards.h"""
        i = self.index.get(pc)
        if i is None or self.in_entry(pc) or self.in_exit(i):
            return self.root
        ahead, steps, branch = self._ahead(i)
        behind = self._behind(i)
        if ahead is None and behind is None:
            return self.next_place(pc + 1)
        if ahead is None or behind is None:
            return self.places[ahead if behind is None else behind]
        near = branch and steps > 0 and (i - behind) < 0.4 * (i - behind + steps)
        return self.places[behind if near else ahead]

    def _ahead(self, at):
        branch, jumps = False, 0
        for steps in range(AHEAD):
            if at is None or at >= len(self.instructions):
                break
            if at in self.places:
                return at, steps, branch
            _, _, kind, target, _, _ = self.instructions[at]
            if kind in ENDS or self.takes_frame_down(at):
                break
            branch |= kind == "b"
            at += 1
            if kind == "j":
                jumps += 1
                at = self.index.get(target) if jumps <= JUMPS else None
        return None, 0, branch

    def _behind(self, at):
        for i in range(at - 1, max(-1, at - 1 - BEHIND), -1):
            if self.instructions[i][2] in "rjh":
                return None
            if i in self.places:
                return i
        return None


RULES = {"next described": Code.next_place, "guards": Code.guards}


def difference(codes, samples, other, rule):
    own, total, true_own, true_total = (collections.Counter() for _ in range(4))
    count, left_out = other, 0
    for (key, pc), n in samples.items():
        code = codes[key]
        offset = pc - code.read["code"]
        truth = code.truth(offset)
        if tuple(truth) in code.stale:
            left_out += n
            continue
        count += n
        told = rule(code, offset)
        true_own[truth[0][0]] += n
        own[told[0][0]] += n
        true_total.update(dict.fromkeys(methods(truth), n))
        total.update(dict.fromkeys(methods(told), n))
    points = 100 / max(1, count)

    def gaps(a, b):
        return {m: abs(a[m] - b[m]) * points for m in set(a) | set(b)}
    worst = max([gap for a, b in ((own, true_own), (total, true_total)) for m, gap in gaps(a, b).items() if b[m] * points > 1],
                default=0)
    return sum(gaps(own, true_own).values()), sum(gaps(total, true_total).values()), worst, left_out / max(1, count + left_out)


def main():
    for name in sys.argv[1:]:
        with open(name, "rb") as file:
            read = pickle.load(file)
        codes = {key: Code(nmethod) for key, nmethod in read["nms"].items() if nmethod}
        for rule, function in RULES.items():
            own, total, worst, left_out = difference(codes, read["seen"], read["other"], function)
            print(f"{name}, {rule}: self {own:.1f}, total {total:.1f}, worst {worst:.1f} points; {left_out:.0%} left out")


if __name__ == "__main__":
    main()
