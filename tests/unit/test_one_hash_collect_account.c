/* test_collect_account.c where all views have one hash. */
#include "one_hash.h"
#include "../../src/collect/view.c"
#undef map_hash
#include "test_collect_account.c"
