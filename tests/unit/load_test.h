/*
 * load_test.h - loads that a test can make fail, instead of cpu.h: included before the
 * sources of the signal zone that shall use them. Each asks may_load(), which the test defines,
 * whether WIDTH bytes at ADDRESS can be read.
 */
#ifndef LOAD_TEST_H
#define LOAD_TEST_H

#include <stdint.h>
#include <string.h>

#define JSTROBE_SIGNAL_LOAD_ARCH_H
static int may_load(uintptr_t address, unsigned width);
#define LOAD_TEST(type, out, address, label)                                \
	do {                                                                \
		type loaded_;                                               \
		if (!may_load((uintptr_t)(address), sizeof(loaded_)))       \
			goto label;                                         \
		memcpy(&loaded_, (const void *)(address), sizeof(loaded_)); \
		(out) = loaded_;                                            \
	} while (0)
#define LOAD64(out, address, label) LOAD_TEST(uint64_t, out, address, label)
#define LOAD32(out, address, label) LOAD_TEST(uint32_t, out, address, label)
#define LOAD16(out, address, label) LOAD_TEST(uint16_t, out, address, label)
#define LOAD8(out, address, label) LOAD_TEST(uint8_t, out, address, label)

#endif
