"""sample.py PID SECONDS OUT: pcs of the threads of a JVM by perf events, and the nmethods they lie in (see README.md)."""

import ctypes, mmap, os, pickle, struct, sys, time, glob

import capstone

import codecache as hs

libc = ctypes.CDLL(None, use_errno=True)
md = capstone.Cs(capstone.CS_ARCH_X86, capstone.CS_MODE_64)


def perf(tid, period):
    attr = bytearray(128)
    struct.pack_into(
        "<IIQQQQQ", attr, 0, 1, 128, 0, period, 1 | 2, 0, (1 << 0) | (1 << 5) | (1 << 6)
    )  # sw, size, cpu-clock, IP|TID, disabled|exclude_kernel|hv
    b = (ctypes.c_char * 128).from_buffer(attr)
    fd = libc.syscall(298, b, tid, -1, -1, 8)
    if fd < 0:
        raise OSError(ctypes.get_errno())
    return fd


class Ring:
    N = 64

    def __init__(self, tid):
        self.fd = perf(tid, 1000000)
        self.m = mmap.mmap(self.fd, (self.N + 1) * 4096)
        import fcntl

        fcntl.ioctl(self.fd, 0x2400, 0)

    def drain(self):
        head, tail = struct.unpack_from("<QQ", self.m, 1024)
        size = self.N * 4096
        out = []
        while tail < head:
            o = 4096 + tail % size
            t, misc, sz = struct.unpack("<IHH", self.m[o : o + 8])
            if t == 9:
                d = (
                    b"".join(self.m[4096 + (tail + 8 + i) % size : 4096 + (tail + 8 + i) % size + 1] for i in range(8))
                    if (tail % size) + sz > size
                    else self.m[o + 8 : o + 16]
                )
                out.append(struct.unpack("<Q", d)[0])
            tail += sz
        struct.pack_into("<Q", self.m, 1032, tail)
        return out


def main(pid, seconds, out):
    vm = hs.VM(pid)
    rings = {}
    end = time.time() + seconds
    seen = {}
    nms = {}
    blobs = {}
    other = 0
    targets = {}
    while time.time() < end:
        for t in os.listdir(f"/proc/{pid}/task"):
            if t not in rings:
                try:
                    rings[t] = Ring(int(t))
                except OSError:
                    rings[t] = None
        time.sleep(0.2)
        for r in rings.values():
            if not r:
                continue
            for pc in r.drain():
                if not vm.in_cache(pc):
                    other += 1
                    continue
                try:
                    b = vm.blob_at(pc)
                    name = vm.blob_name(b) if b else ""
                    if name not in ("nmethod", "native nmethod"):
                        other += 1
                        continue
                    key = (b, vm.u32(b + vm.f["nmethod", "_compile_id"]))
                    if key not in nms:
                        nms[key] = vm.nmethod(b) if name == "nmethod" else None
                    if nms[key] is None:
                        other += 1
                        continue
                    seen[key, pc] = seen.get((key, pc), 0) + 1
                except (OSError, struct.error, IndexError, KeyError, UnicodeDecodeError) as e:
                    other += 1
                    print("?", e, file=sys.stderr)
    for nm in nms.values():
        if not nm:
            continue
        nm["calls"] = {}
        for i in md.disasm_lite(nm["bytes"], nm["code"]):
            if i[2] in ("call", "jmp") and i[3].startswith("0x"):
                t = int(i[3], 16)
                if not (nm["code"] <= t < nm["code"] + len(nm["bytes"])) and t not in targets:
                    try:
                        b = vm.blob_at(t)
                        targets[t] = vm.blob_name(b) if b else ""
                    except Exception:
                        targets[t] = ""
                nm["calls"][t] = targets.get(t, "")
    pickle.dump({"nms": nms, "seen": seen, "other": other}, open(out, "wb"))
    tot = sum(seen.values())
    print(out, "compiled", tot, "other", other, "nmethods", len(nms), "pcs", len(seen))


main(int(sys.argv[1]), float(sys.argv[2]), sys.argv[3])
