/* test_tracing_slow.c where all slow calls have one hash. */
#include "one_hash.h"
#include "../../src/agent/tracing/trace_slow.c"
#undef hash_mix
#undef hash_seeded
#undef hash_list
#include "test_tracing_slow.c"
