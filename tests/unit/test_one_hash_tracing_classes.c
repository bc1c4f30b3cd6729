/* test_tracing_classes.c where all methods and classes have one hash. */
#include "one_hash.h"
#include "../../src/agent/tracing/trace_classes.c"
#undef hash_mix
#undef hash_seeded
#undef hash_list
#include "test_tracing_classes.c"
