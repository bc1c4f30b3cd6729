/*
 * libcopy.so: the library with sessions that need no JVM. Files of it under several names are several copies, as two
 * builds are.
 */
#include "agent/context/marks.h"
#include "agent/threads/records.h"
#include "common/base/error.h"
#include "copy.h"

#include <stdio.h>
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

EXPORT void copy_listen(bool on)
{
	if (on)
		marks_join();
	else
		marks_leave();
}

EXPORT bool copy_mark(const char *type, const char *text)
{
	return marks_are_heard() &&
	       marks_put(&(struct mark){.time = 1, .tid = os_gettid(), .length = (uint32_t)strlen(text), .data = text,
					.type = type ? (uint32_t)marks_type(type) : MARK_SPAN});
}

struct read {
	char *out;
	size_t size;
};

static void put_mark(const struct mark *m, void *arg)
{
	struct read *r = arg;
	size_t length = strlen(r->out);

	snprintf(r->out + length, r->size - length, "%s=%.*s ", m->type ? marks_type_name(m->type) : "span",
		 (int)m->length, m->data);
}

EXPORT unsigned long copy_read(char *out, size_t size)
{
	out[0] = '\0';
	return (unsigned long)marks_each(put_mark, &(struct read){out, size});
}
