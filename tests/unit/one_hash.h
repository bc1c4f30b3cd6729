/*
 * one_hash.h - include it before a file of the tree: all that this file hashes has one hash. What only shares a hash
 * stays apart if the file compares what it has found.
 */
#ifndef JSTROBE_TESTS_ONE_HASH_H
#define JSTROBE_TESTS_ONE_HASH_H

#include "common/base/hash.h"

#define hash_mix(x) ((uint64_t)(x) & 0)
#define hash_seeded(bytes, size) ((void)(bytes), (uint64_t)(size) & 0)
#define hash_list(h, list, count) ((void)(list), (uint64_t)(h) & (count) & 0)

#endif
