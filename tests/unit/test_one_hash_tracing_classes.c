/* test_trace_classes.c where all methods and classes have one hash. */
#include "one_hash.h"
#include "../../src/agent/trace_classes.c"
#undef map_hash
#include "test_trace_classes.c"
