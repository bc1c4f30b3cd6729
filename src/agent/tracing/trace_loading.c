#include "agent/tracing/trace_loading.h"

#include <stdlib.h>
#include <string.h>

#include "common/os/os.h"

#define KEPT 4096u /* classes whose loading has failed stay here until their thread loads another */

static void remove_at(struct trace_loading *l, size_t i)
{
	memmove(&l->list.items[i], &l->list.items[i + 1], (l->list.count - i - 1) * sizeof(l->list.items[0]));
	l->list.count--;
}

static size_t find(const struct trace_loading *l, pid_t tid, uint64_t name)
{
	size_t i = l->list.count;

	while (i-- > 0)
		if (l->list.items[i].tid == tid && l->list.items[i].name == name)
			return i;
	return SIZE_MAX;
}

bool trace_loading_hooked(struct trace_loading *l, const struct trace_hooked *h)
{
	size_t before = find(l, h->tid, h->name);
	struct trace_hooked *one;

	/* it tries again what has failed */
	if (before != SIZE_MAX)
		remove_at(l, before);
	if (l->list.count == KEPT)
		remove_at(l, 0);
	one = VECTOR_PUSH(&l->list);
	if (one)
		*one = *h;
	return one;
}

bool trace_loading_defined(struct trace_loading *l, pid_t tid, uint64_t name, struct trace_hooked *h)
{
	size_t at = find(l, tid, name), i;

	if (at == SIZE_MAX)
		return false;
	*h = l->list.items[at];
	/* what the thread began to load meanwhile has failed, or it would have been there before */
	for (i = l->list.count; i-- > at;)
		if (l->list.items[i].tid == tid)
			remove_at(l, i);
	return true;
}

void trace_loading_forget_dead(struct trace_loading *l)
{
	size_t i;

	for (i = l->list.count; i-- > 0;)
		if (!os_thread_exists(l->list.items[i].tid))
			remove_at(l, i);
}

uint32_t trace_loading_count(const struct trace_loading *l, uint64_t since)
{
	uint32_t count = 0;
	size_t i;

	for (i = 0; i < l->list.count; i++)
		count += l->list.items[i].changed && l->list.items[i].at > since;
	return count;
}

void trace_loading_free(struct trace_loading *l)
{
	free(l->list.items);
	memset(l, 0, sizeof(*l));
}
