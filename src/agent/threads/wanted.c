/*
 * wanted.c - the list of the option `filter`: ids of threads, name:PATTERN and group:PATTERN.
 *
 * A native thread has the name that the kernel knows. A Java thread is judged once more when the JVM tells its
 * whole name and its group.
 */
#include "agent/threads/wanted.h"

#include <stdatomic.h>
#include <string.h>

#include "common/os/os.h"
#include "profile/model/filter.h"

static char list[sizeof(((struct options *)0)->filter)];
static bool by_name;
static _Atomic bool met; /* a thread has been let in */

void wanted_set(const struct options *o)
{
	strcpy(list, o->filter);
	atomic_store(&met, false);
	by_name = strstr(list, "name:") || strstr(list, "group:");
}

bool wanted_by_name(void)
{
	return by_name;
}

/* Whether an item of the list that begins with KIND has a pattern for TEXT. */
static bool matches(const char *kind, const char *text)
{
	size_t n, prefix = strlen(kind);
	const char *item;

	for (item = list; *item; item += n + (item[n] != '\0')) {
		n = strcspn(item, ",;");
		if (n > prefix && strncmp(item, kind, prefix) == 0 &&
		    filter_match(item + prefix, n - prefix, text))
			return true;
	}
	return false;
}

static bool answer(bool wanted)
{
	if (wanted && !atomic_load(&met))
		atomic_store(&met, true);
	return wanted;
}

bool wanted_tid(pid_t tid)
{
	char name[32];

	if (options_thread_listed(list, (uint32_t)tid))
		return answer(true);
	if (by_name)
		os_thread_name(tid, name, sizeof(name));
	return answer(by_name && matches("name:", name));
}

bool wanted_java(pid_t tid, const char *name, const char *group)
{
	return answer(options_thread_listed(list, (uint32_t)tid) || matches("name:", name) ||
		      (group && matches("group:", group)));
}

bool wanted_none(void)
{
	return list[0] && !atomic_load(&met);
}
