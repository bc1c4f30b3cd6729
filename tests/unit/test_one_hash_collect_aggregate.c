/* test_collect_aggregate.c where all frames of a view have one hash. */
#include <sys/prctl.h>

#include "one_hash.h"
#include "../../src/agent/collect/aggregate_view.c"
#undef hash_mix
#undef hash_seeded
#undef hash_list
#define ONE_HASH
#include "test_collect_aggregate.c"

/* The tests know their thread by its name. */
static void __attribute__((constructor)) rename_thread(void)
{
	prctl(PR_SET_NAME, "test_collect_ag");
}
