/* test_format_owners.c where all owners have one hash. */
#include "one_hash.h"
#include "../../src/base/strings.c"
#include "../../src/format/owners.c"
#undef map_hash
#include "test_format_owners.c"
