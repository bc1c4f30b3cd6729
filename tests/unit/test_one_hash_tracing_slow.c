/* test_trace_slow.c where all slow calls have one hash. */
#include "one_hash.h"
#include "../../src/agent/trace_slow.c"
#undef map_hash
#include "test_trace_slow.c"
