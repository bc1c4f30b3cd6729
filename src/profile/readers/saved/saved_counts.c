/*
 * saved_counts.c - what a result in JSON says beside its stacks: what became of the samples, its threads, and what
 * went on around it.
 */
#include <stdio.h>
#include <string.h>

#include "profile/readers/saved/saved_reader.h"

/* {"reason": n, ...}; of a reason that this version does not know, the sum in OTHERS (NULL: it does not matter). */
static void read_losses(struct saved *s, uint64_t lost[LOSS_REASONS], uint64_t *others)
{
	const char *key;

	if (!json_open(&s->j, '{'))
		return;
	while ((key = json_key(&s->j))) {
		enum loss_reason reason = loss_by_name(key);
		uint64_t n = json_number(&s->j);

		if (reason < LOSS_REASONS)
			lost[reason] = n;
		else if (others)
			*others += n;
	}
}

void saved_samples(struct saved *s)
{
	struct recording_info_counts *c = &s->counts;
	const char *key;

	c->said_at = 1;
	if (!json_open(&s->j, '{'))
		return;
	while ((key = json_key(&s->j))) {
		if (strcmp(key, "taken") == 0)
			c->taken = json_number(&s->j);
		else if (strcmp(key, "stored") == 0)
			c->stored = json_number(&s->j);
		else if (strcmp(key, "complete") == 0)
			c->complete = json_number(&s->j);
		else if (strcmp(key, "ambiguous") == 0)
			c->ambiguous = json_number(&s->j);
		else if (strcmp(key, "left_out") == 0)
			c->left_out = json_number(&s->j);
		else if (strcmp(key, "lost") == 0)
			read_losses(s, c->lost, &c->lost_otherwise);
		else
			json_skip(&s->j);
	}
}

void saved_weight(struct saved *s)
{
	const char *key;

	if (!json_open(&s->j, '{'))
		return;
	while ((key = json_key(&s->j))) {
		if (strcmp(key, "unit") == 0)
			saved_unit(s, json_string(&s->j, NULL));
		else if (strcmp(key, "left_out") == 0)
			s->counts.weight_left_out = json_number(&s->j);
		else if (strcmp(key, "total") == 0)
			s->counts.weight_stored = json_number(&s->j);
		else if (strcmp(key, "lost_by_reason") == 0)
			read_losses(s, s->counts.lost_weight, NULL);
		else
			json_skip(&s->j);
	}
}

/* ---- threads ---- */

static void read_thread(struct saved *s)
{
	struct read_aggregate_thread_count *place = VECTOR_PUSH(&s->threads_said), count = {.samples = 0};
	uint32_t words[READ_THREAD_WORDS] = {0};
	const char *key;

	if (!json_open(&s->j, '{'))
		return;
	while ((key = json_key(&s->j))) {
		if (strcmp(key, "tid") == 0) {
			words[READ_THREAD_TID] = (uint32_t)json_number(&s->j);
		} else if (strcmp(key, "name") == 0) {
			size_t length;
			const char *name = json_string(&s->j, &length);

			words[READ_THREAD_NAME] = strings_add(&s->aggregate->strings, name, length);
		} else if (strcmp(key, "samples") == 0) {
			count.samples = json_number(&s->j);
		} else if (strcmp(key, "weight") == 0) {
			count.weight = json_number(&s->j);
		} else {
			json_skip(&s->j);
		}
	}
	/* two threads may share all of this: they are one then */
	count.thread = lists_add(&s->aggregate->threads, words, READ_THREAD_WORDS);
	if (place && count.thread != LISTS_FAILED)
		*place = count;
	else
		s->no_memory = true;
}

void saved_threads_of(struct saved *s)
{
	s->threads_said.count = 0;
	if (!json_open(&s->j, '['))
		return;
	while (json_item(&s->j) && !s->no_memory)
		read_thread(s);
}

void saved_begin_stacks(struct saved *s)
{
	size_t i;

	/* what is said of whole threads does not fit a part of their samples */
	for (i = 0; !context_filter_is_set(s->context_filter) && !s->part && i < s->threads_said.count; i++)
		read_aggregate_add_thread(s->aggregate, s->family, s->threads_said.items[i].thread,
					  s->threads_said.items[i].samples, s->threads_said.items[i].weight);
}

void saved_end_stacks(struct saved *s)
{
	uint32_t event = strings_add(&s->aggregate->strings, s->event, strlen(s->event));
	struct recording_info_counts *c;

	if (!s->counts.said_at || s->aggregate->strings.failed)
		return;
	c = recording_info_counts_of(s->info, event);
	if (!c) {
		s->no_memory = true;
		return;
	}
	*c = s->counts;
	c->event = event;
}

/* ---- surroundings ---- */

void saved_surroundings(struct saved *s)
{
	enum surrounding which;
	const char *key;

	/* they are of the whole time */
	if (s->selection->in_range) {
		json_skip(&s->j);
		return;
	}
	if (!json_open(&s->j, '{'))
		return;
	while ((key = json_key(&s->j))) {
		which = surrounding_by_name(key);
		if (which < SURROUNDINGS)
			around_set(&s->info->around, which, json_number(&s->j));
		else
			json_skip(&s->j);
	}
}
