#include "agent/session/neighbours.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "agent/hooks/copies.h"

#define LIMIT_MS 2000

/* "PATH (version V): cpu" */
static const char *describe(const struct copy_found *f, char *out, size_t size)
{
	if (f->copy)
		snprintf(out, size, "%s (version %s): %s", f->path, f->copy->version, f->copy->events);
	else
		snprintf(out, size, "%s (an older build): samples", f->path);
	return out;
}

static const char *events_of(const struct options *o)
{
	return o->instrument[0] ? "trace" : o->event;
}

/* The event of LIST that C samples as well, in NAME; false: none. */
static bool same_event(const struct copy *c, const char *list, char *name, size_t size)
{
	const char *at;
	size_t n;

	for (at = list; *at; at += n + (at[n] == ',')) {
		n = strcspn(at, ",");
		snprintf(name, size, "%.*s", (int)n, at);
		if (n && copies_samples(c, name))
			return true;
	}
	return false;
}

int neighbours_allow(const struct options *o, struct error *err)
{
	struct copy_found found[COPIES_MAX];
	uint32_t i, count = copies_find(found);
	char event[88];

	for (i = 0; i < count; i++)
		if (found[i].copy && same_event(found[i].copy, events_of(o), event, sizeof(event)))
			return error_set(err, EBUSY, "Profiler already started: another copy of jstrobe's agent, %s "
					 "(version %s), has a session of %s in this process; `jstrobe stop` it first",
					 found[i].path, found[i].copy->version, event);
	return 0;
}

static void note_others(struct buffer *notes)
{
	struct copy_found found[COPIES_MAX];
	uint32_t i, count = copies_find(found);
	char text[400];

	for (i = 0; i < count; i++)
		if (found[i].samples)
			buffer_printf(notes, "a session of another copy of jstrobe's agent runs beside this one and "
				      "costs time of its own: %s\n", describe(&found[i], text, sizeof(text)));
}

int neighbours_claim(const struct options *o, struct buffer *notes, struct error *err)
{
	bool locked = copies_lock(LIMIT_MS);
	int rc = neighbours_allow(o, err);

	if (rc == 0)
		copies_show(events_of(o));
	if (locked)
		copies_unlock();
	if (rc == 0)
		note_others(notes);
	return rc;
}

void neighbours_leave(void)
{
	copies_show(NULL);
}

void neighbours_put(struct buffer *b)
{
	struct copy_found found[COPIES_MAX];
	uint32_t i, said = 0, count = copies_find(found);
	char text[400];

	for (i = 0; i < count; i++)
		if (found[i].samples)
			buffer_printf(b, "%s%s", said++ ? "; " : "copies=", describe(&found[i], text, sizeof(text)));
	if (said)
		buffer_putc(b, '\n');
}
