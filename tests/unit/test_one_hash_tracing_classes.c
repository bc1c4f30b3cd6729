/* test_tracing_classes.c where all methods and classes have one hash. */
#include "one_hash.h"
#include "../../src/agent/tracing/trace_classes.c"
#undef map_hash
#include "test_tracing_classes.c"
