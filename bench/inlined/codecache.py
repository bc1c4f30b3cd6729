"""Read HotSpot's code cache of another process through vmStructs."""

import os, re, struct


def dynsyms(path):
    d = open(path, "rb").read()
    (shoff,) = struct.unpack_from("<Q", d, 0x28)
    shent, shnum, _ = struct.unpack_from("<HHH", d, 0x3A)
    secs = [struct.unpack_from("<IIQQQQIIQQ", d, shoff + i * shent) for i in range(shnum)]
    out = {}
    for s in secs:
        if s[1] == 11:
            stroff = secs[s[6]][4]
            for o in range(s[4], s[4] + s[5], 24):
                n, info, oth, shn, v, sz = struct.unpack_from("<IBBHQQ", d, o)
                e = d.index(b"\0", stroff + n)
                out[d[stroff + n : e].decode()] = v
    return out


class VM:
    def __init__(self, pid):
        self.pid = pid
        self.mem = os.open(f"/proc/{pid}/mem", os.O_RDONLY)
        for line in open(f"/proc/{pid}/maps"):
            if line.rstrip().endswith("/libjvm.so"):
                base = int(line.split("-")[0], 16)
                path = line.split()[-1]
                break
        sy = dynsyms(path)

        def v(n):
            return self.u64(base + sy[n])

        tab = v("gHotSpotVMStructs")
        o = {
            k: v("gHotSpotVMStructEntry" + k)
            for k in (
                "TypeNameOffset",
                "FieldNameOffset",
                "IsStaticOffset",
                "OffsetOffset",
                "AddressOffset",
                "ArrayStride",
            )
        }
        self.f, self.s = {}, {}
        while True:
            t = self.u64(tab + o["TypeNameOffset"])
            if not t:
                break
            key = (self.cstr(t), self.cstr(self.u64(tab + o["FieldNameOffset"])))
            if self.u32(tab + o["IsStaticOffset"]):
                self.s[key] = self.u64(tab + o["AddressOffset"])
            else:
                self.f[key] = self.u64(tab + o["OffsetOffset"])
            tab += o["ArrayStride"]
        tab = v("gHotSpotVMTypes")
        tn, ts, st = (
            v("gHotSpotVMTypeEntryTypeNameOffset"),
            v("gHotSpotVMTypeEntrySizeOffset"),
            v("gHotSpotVMTypeEntryArrayStride"),
        )
        self.size = {}
        while self.u64(tab + tn):
            self.size[self.cstr(self.u64(tab + tn))] = self.u64(tab + ts)
            tab += st
        f = self.f
        self.young = ("nmethod", "_immutable_data") in f
        self.heaps = []
        arr = self.u64(self.s["CodeCache", "_heaps"])
        n = self.u32(arr + self.any("_len", "GrowableArrayBase", "GenericGrowableArray"))
        data = self.u64(arr + f["GrowableArray<int>", "_data"])
        for i in range(n):
            h = self.u64(data + 8 * i)
            low = self.u64(h + f["CodeHeap", "_memory"] + f["VirtualSpace", "_low"])
            high = self.u64(h + f["CodeHeap", "_memory"] + f["VirtualSpace", "_high_boundary"])
            seg = h + f["CodeHeap", "_segmap"] + f["VirtualSpace", "_low"]
            self.heaps.append((low, high, self.u64(seg), self.u32(h + f["CodeHeap", "_log2_segment_size"])))
        self.names = {}

    def any(self, field, *types):
        for t in types:
            if (t, field) in self.f:
                return self.f[t, field]
        raise KeyError(field)

    def rd(self, a, n):
        return os.pread(self.mem, n, a)

    def u64(self, a):
        return struct.unpack("<Q", self.rd(a, 8))[0]

    def u32(self, a):
        return struct.unpack("<I", self.rd(a, 4))[0]

    def i32(self, a):
        return struct.unpack("<i", self.rd(a, 4))[0]

    def u16(self, a):
        return struct.unpack("<H", self.rd(a, 2))[0]

    def u8(self, a):
        return self.rd(a, 1)[0]

    def cstr(self, a):
        return self.rd(a, 200).split(b"\0")[0].decode("latin1")

    def in_cache(self, pc):
        return any(l <= pc < h for l, h, _, _ in self.heaps)

    def blob_at(self, pc):
        for low, high, segmap, log2 in self.heaps:
            if low <= pc < high:
                i = (pc - low) >> log2
                if self.u8(segmap + i) == 0xFF:
                    return 0
                while True:
                    b = self.u8(segmap + i)
                    if not b:
                        break
                    i -= b
                blk = low + (i << log2)
                return blk + self.size["HeapBlock"]
        return 0

    def blob_name(self, b):
        return self.cstr(self.u64(b + self.f["CodeBlob", "_name"]))

    def code(self, b):
        if ("CodeBlob", "_code_offset") in self.f:
            return b + self.u32(b + self.f["CodeBlob", "_code_offset"])
        return self.u64(b + self.f["CodeBlob", "_code_begin"])

    def sym(self, s):
        return self.rd(s + self.f["Symbol", "_body"], self.u16(s + self.f["Symbol", "_length"])).decode(
            "utf8", "replace"
        )

    def method(self, m):
        if m not in self.names:
            f = self.f
            c = self.u64(m + f["Method", "_constMethod"])
            p = self.u64(c + f["ConstMethod", "_constants"])
            slot = p + self.size["ConstantPool"]
            name = self.sym(self.u64(slot + 8 * self.u16(c + f["ConstMethod", "_name_index"])))
            sig = self.sym(self.u64(slot + 8 * self.u16(c + f["ConstMethod", "_signature_index"])))
            k = self.u64(p + f["ConstantPool", "_pool_holder"])
            self.names[m] = self.sym(self.u64(k + f["Klass", "_name"])) + "." + name + sig
        return self.names[m]

    def nmethod(self, b):
        f = self.f
        u32 = self.u32
        nm = {
            "addr": b,
            "code": self.code(b),
            "size": u32(b + f["CodeBlob", "_size"]),
            "frame_complete": (
                struct.unpack("<h", self.rd(b + f["CodeBlob", "_frame_complete_offset"], 2))[0]
                if self.young
                else self.i32(b + f["CodeBlob", "_frame_complete_offset"])
            ),
            "frame_bytes": 8 * u32(b + f["CodeBlob", "_frame_size"]),
            "id": u32(b + f["nmethod", "_compile_id"]),
        }
        nm["level"] = self.u8(b + f["nmethod", "_comp_level"])
        if ("nmethod", "_verified_entry_offset") in f:
            nm["entry"] = nm["code"] + self.u16(b + f["nmethod", "_verified_entry_offset"])
        else:
            nm["entry"] = self.u64(b + f["nmethod", "_verified_entry_point"])
        method = self.u64(b + self.any("_method", "nmethod", "CompiledMethod"))
        nm["method"] = self.method(method)
        if self.young:
            im = self.u64(b + f["nmethod", "_immutable_data"])
            pcs = im + u32(b + f["nmethod", "_scopes_pcs_offset"])
            scopes = im + u32(b + f["nmethod", "_scopes_data_offset"])
            pend = scopes
            md = self.u64(b + f["CodeBlob", "_mutable_data"]) + u32(b + f["CodeBlob", "_relocation_size"])
            nul = (
                im + self.u16(b + f["nmethod", "_nul_chk_table_offset"])
                if ("nmethod", "_nul_chk_table_offset") in f
                else None
            )
            nulend = pcs
            end = b + u32(b + f["CodeBlob", "_data_offset"]) if ("CodeBlob", "_data_offset") in f else b + nm["size"]
        else:
            pcs = b + u32(b + f["nmethod", "_scopes_pcs_offset"])
            pend = b + u32(b + f["nmethod", "_dependencies_offset"])
            scopes = self.u64(b + f["CompiledMethod", "_scopes_data_begin"])
            md = b + u32(b + f["nmethod", "_metadata_offset"])
            nul = (
                b + u32(b + f["nmethod", "_nul_chk_table_offset"])
                if ("nmethod", "_nul_chk_table_offset") in f
                else None
            )
            nulend = (
                b + u32(b + f["nmethod", "_nmethod_end_offset"]) if ("nmethod", "_nmethod_end_offset") in f else None
            )
            end = b + u32(b + f["nmethod", "_oops_offset"])
        nm["bytes"] = self.rd(nm["code"], end - nm["code"])
        raw = self.rd(pcs, pend - pcs)
        sz = self.size["PcDesc"]
        nm["pcs"] = [struct.unpack_from("<iiii", raw, o) for o in range(0, len(raw) - sz + 1, sz)]
        nm["nul"] = []
        if nul and nulend and nulend > nul:
            n = u32(nul)
            if n < 100000 and 4 * (2 * n + 1) <= nulend - nul + 16:
                r = struct.unpack("<%dI" % (2 * n), self.rd(nul + 4, 8 * n))
                nm["nul"] = list(zip(r[::2], r[1::2]))
        om = self.u64(b + f["CodeBlob", "_oop_maps"])
        nm["maps"] = set()
        if om:
            cnt = u32(om + f["ImmutableOopMapSet", "_count"])
            base = om + self.size["ImmutableOopMapSet"]
            r = struct.unpack("<%di" % (2 * cnt), self.rd(base, 8 * cnt))
            nm["maps"] = set(r[::2])
        bias = 1 if self.young or ("nmethod", "_verified_entry_offset") in f else 0
        nm["chain"] = {}
        for _, sc, _, _ in nm["pcs"]:
            if sc in nm["chain"] or sc <= 0:
                continue
            chain, s = [], sc
            while s and len(chain) < 100:
                q = self.rd(scopes + s, 16)
                v = []
                o = 0
                for _ in range(3):
                    t = 0
                    for i in range(5):
                        by = q[o]
                        o += 1
                        t += (by - bias) << (6 * i)
                        if by < 192:
                            break
                    v.append(t & 0xFFFFFFFF)
                m = self.u64(md + 8 * (v[1] - 1)) if v[1] else 0
                chain.append((self.method(m) if m else "?", (v[2] - 1) & 0xFFFF))
                s = v[0]
            nm["chain"][sc] = chain
        return nm
