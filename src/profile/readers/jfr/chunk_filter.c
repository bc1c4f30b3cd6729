/*
 * chunk_filter.c - of which thread states and threads of a chunk samples are wanted, by the places of their
 * constants, so that each sample need only look it up.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "profile/readers/chosen.h"
#include "profile/readers/jfr/event_handlers.h"

/* What our outputs call a state; we write RUNNABLE of threads on a CPU, others of those that could be. */
static enum thread_state state_of(const struct chunk_handlers *w, const char *name)
{
	static const struct {
		const char *name;
		enum thread_state state;
	} states[] = {
		{"STATE_READY", THREAD_RUNNABLE}, {"STATE_IN_NATIVE", THREAD_NATIVE},
		{"STATE_SLEEPING", THREAD_SLEEPING},
		{"STATE_PARKED", THREAD_PARKED}, {"STATE_IN_OBJECT_WAIT", THREAD_WAITING},
		{"STATE_BLOCKED_ON_MONITOR_ENTER", THREAD_BLOCKED}, {"STATE_HELD", THREAD_HELD},
	};
	size_t i;

	if (strcmp(name, "STATE_RUNNABLE") == 0)
		return w->ours ? THREAD_RUNNING : THREAD_RUNNABLE;
	for (i = 0; i < ARRAY_LEN(states); i++)
		if (strcmp(states[i].name, name) == 0)
			return states[i].state;
	return THREAD_NONE;
}

int event_handlers_mark_states(struct chunk_handlers *w)
{
	uint32_t i;

	free(w->states);
	w->knows_cpu_state = false;
	w->states = calloc((size_t)w->state_count + 1, 1);
	if (!w->states)
		return -ENOMEM;
	for (i = 0; i < w->state_count; i++) {
		uint32_t text = names_text(&w->names, w->names.state_type,
					   w->state_pool->constants.items[i].key);
		const char *name = strings_get(&w->aggregate->strings, text);

		if (strcmp(name, "STATE_DEFAULT") == 0) {
			w->states[i] |= STATE_CPU;
			w->knows_cpu_state = true;
		}
		w->states[i] |= (uint8_t)(state_of(w, name) << STATE_SHIFT);
		if (*w->selection->states && !chosen_state(w->selection->states, name))
			w->states[i] |= STATE_UNWANTED;
	}
	return 0;
}

/* Whether the thread at PLACE is one of those that are wanted. */
static bool thread_wanted(struct chunk_handlers *w, uint32_t at)
{
	const char *list = w->selection->threads;
	uint32_t thread = names_thread(&w->names, at), count;
	const uint32_t *words;

	if (thread == LISTS_FAILED)
		return false;
	words = lists_get(&w->aggregate->threads, thread, &count);
	return chosen_thread(list, words[READ_THREAD_TID],
			     strings_get(&w->aggregate->strings, words[READ_THREAD_NAME]));
}

int event_handlers_mark_threads(struct chunk_handlers *w)
{
	uint32_t i;

	if (!*w->selection->threads)
		return 0;
	free(w->threads);
	w->threads = calloc((size_t)w->thread_count + 1, 1);
	if (!w->threads)
		return -ENOMEM;
	for (i = 0; i < w->thread_count; i++)
		w->threads[i] = thread_wanted(w, i);
	return 0;
}
