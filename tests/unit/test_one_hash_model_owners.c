/* test_model_owners.c where all owners have one hash. */
#include "one_hash.h"
#include "../../src/common/base/strings.c"
#include "../../src/profile/model/owners.c"
#undef hash_mix
#undef hash_seeded
#undef hash_list
#include "test_model_owners.c"
