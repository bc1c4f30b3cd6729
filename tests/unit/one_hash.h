/*
 * one_hash.h - include it before a file of the tree: all that this file hashes has one hash. What only shares a hash
 * stays apart if the file compares what it has found.
 */
#ifndef JSTROBE_TESTS_ONE_HASH_H
#define JSTROBE_TESTS_ONE_HASH_H

#include "common/base/map.h"

#define map_hash(x) ((uint64_t)(x) & 0)

#endif
