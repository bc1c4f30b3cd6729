/*
 * hash.h - a hash of bytes: FNV-1a of 64 bits (Fowler, Noll, Vo). Who chooses the bytes can choose what it comes to;
 * where that matters there is common/base/strings.h.
 *
 * Pure functions, any context.
 */
#ifndef JSTROBE_BASE_HASH_H
#define JSTROBE_BASE_HASH_H

#include "common/base/base.h"

#define HASH_BEGIN 0xcbf29ce484222325ull

/* H, which is HASH_BEGIN or what came before, and BYTES[0..SIZE). */
static inline uint64_t hash_bytes(uint64_t h, const void *bytes, size_t size)
{
	const uint8_t *p = bytes;

	while (size--)
		h = (h ^ *p++) * 0x100000001b3ull;
	return h;
}

#endif
