"""
The protocol of handlers and of those who free, tried in all orders that a weakly ordered CPU may choose.

A handler enters its record, loads a pointer, reads what that points to, and leaves (agent/sample/handler.h); the freeing side
unpublishes the pointer, begins an epoch, lets CPUs pass a barrier, looks who is inside, and frees (agent/threads/deferred.c).
An operation may be carried out before an earlier one of its thread unless something orders the two; what is stored is
seen by all at once. That is at least as weak as ARMv8, POWER with its fences apart, and x86. The kernel's membarrier
interrupts the other thread between two instructions: all before them is done then, and nothing behind them.

The same is told without each of its parts, to show that a fault would be found.
"""
from collections import namedtuple

import pytest

# KIND load, store, fence, barrier, read (through the pointer), free. VALUE of a store: a number, or the register whose
# value it has. NEEDS: registers that the address, the value or a condition before a store comes from.
Op = namedtuple("Op", "kind place register value order needs", defaults=("", "", None, "", ()))
OLD, NEW, ROUNDS = 1, 2, 2


def handler(epoch="acquire", leave="release", fence=False):
    """ROUNDS signals, one after the other. The exchange that enters is a load with acquire and a store with release."""
    ops = []
    for n in range(ROUNDS):
        ops += [Op("load", "epoch", f"e{n}", order=epoch),
                Op("load", "inside", f"i{n}", order="acquire"),
                Op("store", "inside", value=f"e{n}", order="release", needs=(f"e{n}", f"i{n}"))]
        ops += [Op("fence")] if fence else []
        ops += [Op("load", "pointer", f"p{n}"),
                Op("read", needs=(f"p{n}",)),
                Op("store", "inside", value=0, order=leave)]
    return tuple(ops)


def freer(barrier="barrier", epoch_first=False):
    unpublish, begin = Op("store", "pointer", value=NEW), Op("store", "epoch", value=2, order="release")
    ops = [begin, unpublish] if epoch_first else [unpublish, begin]
    ops += [Op(barrier)] if barrier else []
    return tuple(ops + [Op("load", "inside", "seen", order="acquire"), Op("free", needs=("seen",))])


def ordered(a, b):
    """Whether A, earlier in its thread, is carried out before B on every CPU."""
    return ("fence" in (a.kind, b.kind) or "barrier" in (a.kind, b.kind) or a.order == "acquire" or
            b.order == "release" or (a.place != "" and a.place == b.place) or
            (a.register != "" and a.register in b.needs))


def may_run(thread, done):
    return [n for n, op in enumerate(thread) if not done >> n & 1 and
            all(done >> m & 1 or not ordered(thread[m], op) for m in range(n))]


def is_prefix(done):
    return done & (done + 1) == 0


def find_fault(*threads):
    """A list of operations that ends in a read of freed memory, or None: there is no such order."""
    start = ((0,) * len(threads), (("epoch", 1), ("inside", 0), ("pointer", OLD)), (), False)
    todo, known = [(start, ())], {start}
    while todo:
        (done, memory, registers, freed), path = todo.pop()
        for t, thread in enumerate(threads):
            for n in may_run(thread, done[t]):
                op, cells, values = thread[n], dict(memory), dict(registers)
                now = tuple(d | 1 << n if t == i else d for i, d in enumerate(done))
                gone = freed
                if op.kind == "barrier" and not all(is_prefix(d) for i, d in enumerate(done) if i != t):
                    continue
                if op.kind == "load":
                    values[op.register] = cells[op.place]
                elif op.kind == "store":
                    cells[op.place] = values.get(op.value, op.value)
                elif op.kind == "free":
                    gone = freed or values["seen"] == 0 or values["seen"] >= 2
                elif op.kind == "read" and values[op.needs[0]] == OLD and freed:
                    return [*path, op]
                state = now, tuple(sorted(cells.items())), tuple(sorted(values.items())), gone
                if state not in known:
                    known.add(state)
                    todo.append((state, (*path, op)))
    return None


SAFE = {
    "membarrier": (handler(), freer()),
    "fences on both sides, where the kernel has no membarrier": (handler(fence=True), freer("fence")),
}
FAULTY = {
    "no barrier": (handler(), freer("")),
    "a fence on the freeing side only": (handler(), freer("fence")),
    "a fence in the handler only": (handler(fence=True), freer("")),
    "the epoch is loaded without acquire": (handler(epoch=""), freer()),
    "the handler leaves without release": (handler(leave=""), freer()),
    "the epoch begins before the pointer is unpublished": (handler(), freer(epoch_first=True)),
}


@pytest.mark.parametrize("way", SAFE)
def test_nothing_is_read_that_was_freed(way):
    assert find_fault(*SAFE[way]) is None


@pytest.mark.parametrize("way", FAULTY)
def test_each_part_is_needed(way):
    assert find_fault(*FAULTY[way]), "the checker does not find what is known to be wrong"
