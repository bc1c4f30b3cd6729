/* test_instrument_rewrite.c where all constants have one hash. */
#include "one_hash.h"
#include "../../src/base/strings.c"
#include "../../src/instrument/pool.c"
#undef map_hash
#include "test_instrument_rewrite.c"
