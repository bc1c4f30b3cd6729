/* test_bytecode_rewrite.c where all constants have one hash. */
#include "one_hash.h"
#include "../../src/common/base/strings.c"
#include "../../src/common/bytecode/pool.c"
#undef hash_mix
#undef hash_seeded
#undef hash_list
#include "test_bytecode_rewrite.c"
