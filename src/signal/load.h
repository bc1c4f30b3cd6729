/*
 * load.h - fault-safe loads: the only way in which the signal zone reads
 * memory that is not its own.
 *
 * Each returns true and stores the value, or returns false when the address
 * cannot be read. Any context once fault_install() has run. No system call; a
 * good load costs one instruction.
 */
#ifndef JSTROBE_SIGNAL_LOAD_H
#define JSTROBE_SIGNAL_LOAD_H

#include "base/base.h"
#include "load_arch.h"

static inline bool load_u64(uintptr_t address, uint64_t *out)
{
	uint64_t value;

	LOAD64(value, address, fault);
	*out = value;
	return true;
fault:
	return false;
}

static inline bool load_u32(uintptr_t address, uint32_t *out)
{
	uint32_t value;

	LOAD32(value, address, fault);
	*out = value;
	return true;
fault:
	return false;
}

static inline bool load_u16(uintptr_t address, uint32_t *out)
{
	uint32_t value;

	LOAD16(value, address, fault);
	*out = value;
	return true;
fault:
	return false;
}

static inline bool load_u8(uintptr_t address, uint32_t *out)
{
	uint32_t value;

	LOAD8(value, address, fault);
	*out = value;
	return true;
fault:
	return false;
}

static inline bool load_word(uintptr_t address, uintptr_t *out)
{
	uint64_t value;

	if (!load_u64(address, &value))
		return false;
	*out = value;
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

#endif
