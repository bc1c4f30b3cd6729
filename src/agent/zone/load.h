/*
 * load.h - fault-safe loads: the only way in which the signal zone reads
 * memory that is not its own.
 *
 * Each returns true and stores the value, or returns false when the address
 * cannot be read. Any context, at any time. A good load costs one instruction and
 * a look at a word; a system call where a fault might not reach us (fault.h).
 *
 * The address of a load and of its way out stand in the section js_faults;
 * when the load faults, fault.c moves the program counter to the way out.
 *
 *   js_faults:  { int32 load - here, int32 unwind - here } ...
 */
#ifndef JSTROBE_ZONE_LOAD_H
#define JSTROBE_ZONE_LOAD_H

#include <stdatomic.h>

#include "common/base/base.h"
#include "cpu.h"

/* INSN, and where it goes on if it faults. */
#define LOAD_ELSE(insn, label)            \
	"1: " insn "\n"                   \
	".pushsection js_faults,\"a\"\n" \
	".balign 4\n"                     \
	".long 1b - .\n"                  \
	".long %l[" #label "] - .\n"      \
	".popsection\n"

#ifdef LOAD64 /* tests that count loads have their own */
static inline bool load_asks(void)
{
	return false;
}
static inline bool load_asked(void *to, uintptr_t from, size_t n)
{
	return false;
}
#else
/* Not 0: a load must not fault now, so the kernel is asked. See fault.h. */
extern _Atomic uint32_t load_by_kernel;

static inline bool load_asks(void)
{
	return unlikely(atomic_load_explicit(&load_by_kernel, memory_order_relaxed) != 0);
}
/* N bytes by a system call; false as well where the process may not make it (seccomp). */
bool load_asked(void *to, uintptr_t from, size_t n);

#define LOAD_OR_GOTO(insn, out, address, label) \
	asm goto(LOAD_ELSE(insn, label) : [to] "=r"(out) : LOAD_FROM(address) : : label)

#ifdef LOAD_INSN_64
#define LOAD64(out, address, label) \
	LOAD_OR_GOTO(LOAD_INSN_64, out, (const volatile uint64_t *)(address), label)
#else
/* In two halves; the low one lies first. */
#define LOAD64(out, address, label)                           \
	do {                                                  \
		uint32_t low_half, high_half;                 \
							      \
		LOAD32(low_half, address, label);             \
		LOAD32(high_half, (address) + 4, label);      \
		(out) = (uint64_t)high_half << 32 | low_half; \
	} while (0)
#endif
#define LOAD32(out, address, label) \
	LOAD_OR_GOTO(LOAD_INSN_32, out, (const volatile uint32_t *)(address), label)
#define LOAD16(out, address, label) \
	LOAD_OR_GOTO(LOAD_INSN_16, out, (const volatile uint16_t *)(address), label)
#define LOAD8(out, address, label) \
	LOAD_OR_GOTO(LOAD_INSN_8, out, (const volatile uint8_t *)(address), label)
#endif

static inline bool load_u64(uintptr_t address, uint64_t *out)
{
	uint64_t value;

	if (load_asks())
		return load_asked(out, address, sizeof(*out));
	LOAD64(value, address, fault);
	*out = value;
	return true;
fault:
	return false;
}

static inline bool load_u32(uintptr_t address, uint32_t *out)
{
	uint32_t value;

	if (load_asks())
		return load_asked(out, address, sizeof(*out));
	LOAD32(value, address, fault);
	*out = value;
	return true;
fault:
	return false;
}

static inline bool load_u16(uintptr_t address, uint32_t *out)
{
	uint32_t value;
	uint16_t narrow;

	if (load_asks()) {
		if (!load_asked(&narrow, address, sizeof(narrow)))
			return false;
		*out = narrow;
		return true;
	}
	LOAD16(value, address, fault);
	*out = value;
	return true;
fault:
	return false;
}

static inline bool load_u8(uintptr_t address, uint32_t *out)
{
	uint32_t value;
	uint8_t narrow;

	if (load_asks()) {
		if (!load_asked(&narrow, address, sizeof(narrow)))
			return false;
		*out = narrow;
		return true;
	}
	LOAD8(value, address, fault);
	*out = value;
	return true;
fault:
	return false;
}

static inline bool load_word(uintptr_t address, uintptr_t *out)
{
	uint32_t narrow;
	uint64_t wide;

	if (sizeof(*out) == sizeof(wide)) {
		if (!load_u64(address, &wide))
			return false;
		*out = (uintptr_t)wide;
		return true;
	}
	if (!load_u32(address, &narrow))
		return false;
	*out = narrow;
	return true;
}

/* An unsigned field of WIDTH bytes (1, 2, 4 or 8): layouts differ from JDK to JDK. */
static inline bool load_field(uintptr_t address, unsigned width, uint64_t *out)
{
	uint32_t narrow;

	if (width == 8)
		return load_u64(address, out);
	if (!(width == 4   ? load_u32(address, &narrow)
	      : width == 2 ? load_u16(address, &narrow)
			   : load_u8(address, &narrow)))
		return false;
	*out = narrow;
	return true;
}

/* Copy N bytes; false as soon as one cannot be read (TO is then partly written). */
static inline bool load_bytes(void *to, uintptr_t from, size_t n)
{
	uint8_t *out = to;
	uint32_t byte;
	uint64_t word;

	if (load_asks() && n)
		return load_asked(to, from, n);
	while (n >= 8) {
		if (!load_u64(from, &word))
			return false;
		__builtin_memcpy(out, &word, 8);
		out += 8, from += 8, n -= 8;
	}
	while (n--) {
		if (!load_u8(from++, &byte))
			return false;
		*out++ = (uint8_t)byte;
	}
	return true;
}

/*
 * If OLD is at ADDRESS, a multiple of 8, put NEW there in the same moment. *FOUND: what was there. False: nothing can
 * be written there, a fault might not reach us now, or cpu.h has no instruction for it on this CPU. Any context,
 * as with loads.
 */
#ifndef REPLACE_INSN_64
static inline bool load_replace_u64(uintptr_t address, uint64_t old, uint64_t new, uint64_t *found)
{
	return false;
}
#else
static inline bool load_replace_u64(uintptr_t address, uint64_t old, uint64_t new, uint64_t *found)
{
	volatile uint64_t *at = (volatile uint64_t *)address;

	if (load_asks())
		return false;
	asm goto(LOAD_ELSE(REPLACE_INSN_64, fault)
		 : "+a"(old), [at] "+m"(*at)
		 : [new] "r"(new)
		 : "cc", "memory"
		 : fault);
	*found = old;
	return true;
fault:
	return false;
}
#endif

#endif
