/*
 * event_words.c - the list of events: which words belong to it, and what they are spelled like.
 * What they stand for is known to the agent alone (agent/sources/event_resolve.c): it depends on the machine.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/base/ascii.h"
#include "common/options/option_table.h"

/* The length of the event's name in TEXT without "@INTERVAL". */
static size_t plain_length(const char *text)
{
	const char *at = strrchr(text, '@');

	return at && ascii_is_digit(at[1]) ? (size_t)(at - text) : strlen(text);
}

static const struct event_row *known(const char *name)
{
	return event_row_of(name, plain_length(name));
}

/*
 * A Java method: "pkg.Class.method", "pkg/Class.method", "Class.method(Ljava/lang/String;[I)V". Events of the kernel's
 * that have a dot have a colon before it, or a slash at their end: "uncore_imc.0/event=1/".
 */
bool option_is_method(const char *item)
{
	size_t n = strcspn(item, "("), length = strlen(item);

	return memchr(item, '.', n) && !memchr(item, ':', n) && !memchr(item, '=', n) && !strchr(item, '@') &&
	       item[length - 1] != '/';
}

/* Spelled out: a tracepoint, a probe, a source's event or a raw counter. */
static bool is_spelled(const char *name)
{
	if (option_is_method(name))
		return false;
	return (strchr(name, ':') && !strstr(name, "::")) || strchr(name, '/') || strncmp(name, "mem:", 4) == 0 ||
	       (name[0] == 'r' && ascii_is_digit(name[1]));
}

/*
 * "cpu/event=0x3c" without its closing slash: no event, and in a list the next one's slash would
 * seem to close it.
 */
static bool is_open_source(const char *name)
{
	const char *slash = strpbrk(name, "/:");

	return slash && *slash == '/' && !strchr(slash + 1, '/') && !option_is_method(name);
}

bool option_is_event(const char *item)
{
	return known(item) || is_spelled(item);
}

static const char *nearest(const char *name)
{
	const char *names[64];
	const struct event_row *e;
	size_t n = 0;

	/* who misspells has the first letter right: "malloc" is a function, no "alloc" */
	for (e = event_rows; e->name && n + 1 < ARRAY_LEN(names); e++)
		if (e->available && e->name[0] == name[0])
			names[n++] = e->name;
	names[n] = NULL;
	return options_nearest(name, names);
}

static int check(const char *name, struct error *err)
{
	const struct event_row *e = known(name);
	const char *near;

	if (e && e->available)
		return 0;
	if (e)
		return error_set(err, EINVAL, "not available yet: %s; `jstrobe list` shows the events there are", name);
	if (is_open_source(name))
		return error_set(err, EINVAL, "unknown event: %s; an event of a source is written SOURCE/WHAT/, with a "
				 "slash at its end", name);
	if (is_spelled(name))
		return 0;
	if (option_is_method(name)) /* option_finish_events sees to it */
		return 0;
	near = nearest(name);
	if (near)
		return error_set(err, EINVAL, "unknown event: %s (did you mean %s?)", name, near);
	/* the name of a native function, perhaps; C++ names are qualified */
	if ((ascii_is_letter(name[0]) || name[0] == '_') && strspn(name, "abcdefghijklmnopqrstuvwxyz"
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_:@~") == strlen(name))
		return 0;
	return error_set(err, EINVAL, "unknown event: %s; `jstrobe list` shows the events there are", name);
}

/* A comma between slashes belongs to the event: "cpu/event=0x3c,umask=1/". So do slashes of a signature. */
static size_t item_length(const char *list)
{
	size_t n = strcspn(list, "/:,(");
	const char *end = list[n] == '/' ? strchr(list + n + 1, '/') : list[n] == '(' ? strchr(list + n, ')') : NULL;

	n = end ? (size_t)(end - list) : 0;
	return n + strcspn(list + n, ",");
}

int option_add_event(const char *name, struct options *o, struct error *err)
{
	size_t length = strlen(o->event), i;
	int rc;

	if (strchr(name, '\n'))
		return error_set(err, EINVAL, "event: the name has a line break");
	rc = check(name, err);
	if (rc)
		return rc;
	if (length + strlen(name) + 2 > sizeof(o->event))
		return error_set(err, EINVAL, "event: the list is too long");
	if (length)
		o->event[length++] = ',';
	for (i = 0; i <= strlen(name); i++)
		o->event[length + i] = name[i] == ',' ? ':' : name[i];
	return 0;
}

/* Whether NAME is one of several events of LIST. */
static bool is_one_of(const char *list, const char *name)
{
	size_t n;

	if (!strchr(list, ','))
		return false;
	for (; *list; list += n + (list[n] != '\0')) {
		char item[512];

		n = strcspn(list, ",");
		snprintf(item, sizeof(item), "%.*s", (int)n, list);
		if (option_is(name, item, plain_length(item)))
			return true;
	}
	return false;
}

static bool is_option(const char *item)
{
	const struct option *p;
	size_t n = strcspn(item, "=");

	for (p = option_table; p->kind; p++)
		if (option_is_called(p->agent, item, n) && p->kind != OPTION_EVENT_WORD)
			return true;
	return false;
}

/* "cpu,alloc" and "cpu,interval=1ms" work in async-profiler because commas part options, too. */
int option_events_apply(const char *value, struct options *o, struct error *err)
{
	char before[sizeof(o->event)], item[sizeof(o->event)];
	bool first = true;
	int rc = 0;
	size_t n;

	o->event_said = true;
	if (is_one_of(o->event, value)) {
		snprintf(o->show, sizeof(o->show), "%s", value);
		return 0;
	}
	if (strlen(value) >= sizeof(item))
		return error_set(err, EINVAL, "event: the list is too long");
	strcpy(before, o->event);
	o->event[0] = '\0';
	for (; rc == 0 && *value; value += n + (value[n] != '\0')) {
		n = item_length(value);
		snprintf(item, sizeof(item), "%.*s", (int)n, value);
		rc = !first && is_option(item) ? options_parse_agent(o, item, '\n', err)
					       : option_add_event(item, o, err);
		first = false;
	}
	if (rc == 0 && !o->event[0])
		rc = error_set(err, EINVAL, "event: the list is empty");
	if (rc)
		strcpy(o->event, before);
	return rc;
}

/* The interval of EVENT, of BYTES or not, read as what it is of. */
static int read_interval(struct options *o, const char *event, bool bytes, struct error *err)
{
	if (bytes ? o->interval_bytes != OPTIONS_ALL : !o->interval_is_size) {
		o->interval = bytes ? o->interval_bytes : o->interval;
		return 0;
	}
	if (o->lenient && bytes && options_event_interval(o, event)) {
		option_note(o, "interval: that of %s is bytes, and this is a time; it is left out, for %s has its own",
			    event, event);
		o->interval = 0;
		return 0;
	}
	o->interval = 0;
	return bytes ? error_set(err, EINVAL, "interval: that of %s is bytes, and this is a time; write it like 512k "
				 "or 1m", event) :
		       error_set(err, EINVAL, "interval: that of %s is no size; write it like 10ms, 100us or 1000",
				 event);
}

int option_check_interval(struct options *o, struct error *err)
{
	const struct event_row *e;
	char first[sizeof(o->event)], given[32], least[32];

	snprintf(first, sizeof(first), "%.*s", (int)strcspn(o->event, ","), o->event);
	e = known(first);
	if (o->interval && read_interval(o, first, e && e->weight == WEIGHT_BYTES, err))
		return -EINVAL;
	if (!o->interval || !e || !weight_is_time(e->weight) ||
	    (o->interval >= e->least && o->interval <= EVENT_LONGEST))
		return 0;
	option_time_text(o->interval, given, sizeof(given));
	option_time_text(e->least, least, sizeof(least));
	/* a bare number that is much too small was hardly meant as nanoseconds */
	if (o->interval < e->least && (o->interval_bytes == OPTIONS_ALL || o->interval >= NS_PER_US)) {
		option_note(o, "interval: %s is too short for %s; it is %s, the shortest there is", given, first,
			    least);
		o->interval = e->least;
		return 0;
	}
	error_set(err, EINVAL, "interval: %s is out of range for %s; use a time from %s to 100s (a bare number is in "
		  "nanoseconds)", given, first, least);
	o->interval = 0;
	return -EINVAL;
}
