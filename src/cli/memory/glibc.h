/*
 * glibc.h - glibc's malloc as it lies in memory (2.27 to 2.42 and on, as far as it stays like that; what is found is
 * checked before it is believed). Inner header of the folder.
 *
 *      heap of an arena   64 MiB, aligned to that: arena (8), heap before (8), size (8), size that can be used (8), …
 *      arena              lock, flags, fast bins, top (96), rest (104), 127 bins of two words (112), …, next (2160),
 *                         …, bytes of the system (2184); behind the header of its first heap, the main one in libc.so
 *      block              size of the one before if that is free (8), own size and 3 flags (8), …
 *                         free: next and former of its bin
 */
#ifndef JSTROBE_CLI_MEMORY_GLIBC_H
#define JSTROBE_CLI_MEMORY_GLIBC_H

#include "cli/memory/resident.h"

#define ARENA_HEAP (64ull << 20)
#define ARENA_TOP 96
#define ARENA_BINS 112
#define ARENA_BIN_COUNT 127
#define ARENA_NEXT 2160
#define ARENA_SYSTEM 2184
#define ARENA_BYTES 2200
#define BLOCK_FLAGS 7ull
#define BLOCK_MAPPED 2ull

#endif
