/*
 * libcopy.so: the library with sessions that need no JVM. Files of it under several names are several copies, as two
 * builds are.
 */
#include "agent/threads/records.h"
#include "common/base/error.h"
#include "copy.h"

#include <string.h>

#include "../harness.h"
#include "common/os/os.h"

#define EXPORT __attribute__((visibility("default")))

EXPORT int copy_start(const char *events, char *reason, size_t size)
{
	struct error err;
	int rc = harness_start_events(events, 5 * NS_PER_MS, 0, NULL, &err);

	strncpy(reason, rc ? err.text : "", size - 1);
	reason[size - 1] = '\0';
	return rc;
}

EXPORT void copy_stop(void)
{
	harness_try_stop();
	harness_end();
}

EXPORT bool copy_knows(void)
{
	return records_by_tid(os_gettid()) != NULL;
}
