/*
 * wanted.c - the list of the option `filter`: ids of threads, name:PATTERN and group:PATTERN.
 *
 * A native thread has the name that the kernel knows. A Java thread is judged once more when the JVM tells its
 * whole name and its group. What the program says of a thread of its own counts for more than the list.
 */
#include "agent/threads/wanted.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/vector.h"
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

/* ---- what the program says of single threads ---- */

struct said {
	pid_t tid;
	bool wanted;
	uint64_t born; /* the tid may come to be another's */
};

static struct {
	pthread_mutex_t lock; /* a leaf */
	VECTOR(struct said) items;
	size_t sweep_at;
} said = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool is_over(const struct said *s)
{
	return os_thread_born(s->tid) != s->born;
}

/* Lock held. What was said of threads that have ended goes. */
static void sweep(void)
{
	size_t i, kept = 0;

	for (i = 0; i < said.items.count; i++)
		if (!is_over(&said.items.items[i]))
			said.items.items[kept++] = said.items.items[i];
	said.items.count = kept;
	said.sweep_at = 2 * kept + 64;
}

/* Lock held. What was said of TID; NULL: nothing. */
static struct said *said_of(pid_t tid)
{
	size_t i = 0;

	while (i < said.items.count && said.items.items[i].tid != tid)
		i++;
	return i < said.items.count ? &said.items.items[i] : NULL;
}

/* Whether something was said of TID, and what. */
static bool was_said(pid_t tid, bool *wanted)
{
	struct said *s;

	pthread_mutex_lock(&said.lock);
	s = said_of(tid);
	if (s && is_over(s))
		s = NULL;
	if (s)
		*wanted = s->wanted;
	pthread_mutex_unlock(&said.lock);
	return s != NULL;
}

/* ---- the list ---- */

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
	bool wanted;

	if (was_said(tid, &wanted))
		return answer(wanted);
	if (options_thread_listed(list, (uint32_t)tid))
		return answer(true);
	if (by_name)
		os_thread_name(tid, name, sizeof(name));
	return answer(by_name && matches("name:", name));
}

bool wanted_java(pid_t tid, const char *name, const char *group)
{
	bool wanted;

	if (was_said(tid, &wanted))
		return answer(wanted);
	return answer(options_thread_listed(list, (uint32_t)tid) || matches("name:", name) ||
		      (group && matches("group:", group)));
}

bool wanted_say(pid_t tid, bool wanted)
{
	struct said now = {tid, wanted, os_thread_born(tid)}, *s;

	if (!now.born)
		return false;
	pthread_mutex_lock(&said.lock);
	s = said_of(tid);
	if (!s) {
		if (said.items.count >= said.sweep_at)
			sweep();
		s = VECTOR_PUSH(&said.items);
	}
	if (s)
		*s = now;
	pthread_mutex_unlock(&said.lock);
	if (!s || !list[0])
		return false;
	answer(wanted);
	return true;
}

bool wanted_none(void)
{
	return list[0] && !atomic_load(&met);
}
