#include "profile/readers/jfr/workers.h"

#include <stdlib.h>
#include <string.h>

static uint32_t copy_string(struct fold *to, const struct fold *from, uint32_t number)
{
	const char *text = strings_get(&from->strings, number);

	return number ? strings_add(&to->strings, text, strlen(text)) : 0;
}

static void copy_frames(struct fold *to, const struct fold *from, uint32_t *places)
{
	uint32_t i, n, words[FOLD_FRAME_WORDS];

	for (i = 0; i < from->frames.places.count; i++) {
		memcpy(words, lists_get(&from->frames, i, &n), sizeof(words));
		words[FOLD_CLASS] = copy_string(to, from, words[FOLD_CLASS]);
		words[FOLD_NAME] = copy_string(to, from, words[FOLD_NAME]);
		words[FOLD_SIGNATURE] = copy_string(to, from, words[FOLD_SIGNATURE]);
		words[FOLD_LIBRARY] = copy_string(to, from, words[FOLD_LIBRARY]);
		places[i] = fold_frame(to, words);
	}
}

static void copy_threads(struct fold *to, const struct fold *from, uint32_t *places)
{
	uint32_t i, n, words[FOLD_THREAD_WORDS];

	for (i = 0; i < from->threads.places.count; i++) {
		memcpy(words, lists_get(&from->threads, i, &n), sizeof(words));
		words[FOLD_THREAD_NAME] = copy_string(to, from, words[FOLD_THREAD_NAME]);
		places[i] = lists_add(&to->threads, words, FOLD_THREAD_WORDS);
		to->no_memory |= places[i] == LISTS_FAILED;
	}
}

/* Stacks are written over with the numbers that their frames have in TO. */
static void copy_stacks(struct fold *to, const struct fold *from, const uint32_t *frames, uint32_t *places)
{
	uint32_t i, k, depth, room = 0, *list = NULL;

	for (i = 0; i < from->stacks.places.count && !to->no_memory; i++) {
		const uint32_t *words = lists_get(&from->stacks, i, &depth);

		if (depth > room) {
			room = depth * 2;
			free(list);
			list = malloc(room * sizeof(*list));
			if (!list) {
				to->no_memory = true;
				break;
			}
		}
		for (k = 0; k < depth; k++)
			list[k] = frames[words[k]];
		places[i] = lists_add(&to->stacks, list, depth);
		to->no_memory |= places[i] == LISTS_FAILED;
	}
	free(list);
}

static void copy_family(struct fold *to, const struct fold_family *from, const uint32_t *stacks,
			const uint32_t *threads)
{
	uint32_t number = fold_family(to, from->name, from->in_events, from->unit);
	struct fold_family *family;
	size_t i;

	if (number == UINT32_MAX)
		return;
	for (i = 0; i < from->tallies.count; i++) {
		const struct fold_tally *t = &from->tallies.items[i];

		if (from->sums)
			fold_raise(to, number, stacks[t->stack], t->samples, t->weight);
		else
			fold_add(to, number, stacks[t->stack],
				 t->thread == FOLD_NO_THREAD ? FOLD_NO_THREAD : threads[t->thread], t->state,
				 t->samples, t->weight);
	}
	for (i = 0; i < from->threads.count; i++)
		fold_add_thread(to, number, threads[from->threads.items[i].thread],
				from->threads.items[i].samples, from->threads.items[i].weight);
	family = &to->families.items[number];
	family->sums |= from->sums;
	family->truncated += from->truncated;
	family->no_stack += from->no_stack;
	family->failed += from->failed;
}

void workers_join_fold(struct fold *to, const struct fold *from)
{
	uint32_t *frames = calloc(from->frames.places.count + 1, sizeof(*frames));
	uint32_t *stacks = calloc(from->stacks.places.count + 1, sizeof(*stacks));
	uint32_t *threads = calloc(from->threads.places.count + 1, sizeof(*threads));
	size_t i;

	if (from->too_much)
		fold_refuse(to, from->too_much);
	to->no_memory |= !frames || !stacks || !threads || from->no_memory;
	if (!to->no_memory) {
		copy_frames(to, from, frames);
		copy_threads(to, from, threads);
	}
	if (!to->no_memory)
		copy_stacks(to, from, frames, stacks);
	for (i = 0; i < from->families.count && !to->no_memory; i++)
		copy_family(to, &from->families.items[i], stacks, threads);
	to->no_memory |= to->strings.failed;
	free(frames);
	free(stacks);
	free(threads);
}

/* Sums of lost samples; of the rest what was said last. */
static void join_counts(struct facts_counts *to, struct fold *to_fold, const struct facts_counts *from,
			const struct fold *from_fold)
{
	struct facts_counts sums = *to;
	unsigned i;

	if (from->said_at >= to->said_at) {
		*to = *from;
		to->event = sums.event;
		to->engine = copy_string(to_fold, from_fold, from->engine);
		for (i = 0; i < LOSS_REASONS; i++) {
			to->lost[i] = sums.lost[i];
			to->lost_weight[i] = sums.lost_weight[i];
		}
		to->lost_otherwise = sums.lost_otherwise;
	}
	for (i = 0; i < LOSS_REASONS; i++) {
		to->lost[i] += from->lost[i];
		to->lost_weight[i] += from->lost_weight[i];
	}
	to->lost_otherwise += from->lost_otherwise;
}

void workers_join_facts(struct facts *to, struct fold *to_fold, const struct facts *from,
			const struct fold *from_fold)
{
	size_t i;

	if (from->start_ns && (!to->start_ns || from->start_ns < to->start_ns))
		to->start_ns = from->start_ns;
	to->end_ns = MAX(to->end_ns, from->end_ns);
	to->interval = to->interval ? to->interval : from->interval;
	to->wall_interval = to->wall_interval ? to->wall_interval : from->wall_interval;
	to->period = to->period ? to->period : from->period;
	to->pid = to->pid ? to->pid : from->pid;
	to->jdk = to->jdk ? to->jdk : copy_string(to_fold, from_fold, from->jdk);
	to->main_class = to->main_class ? to->main_class : copy_string(to_fold, from_fold, from->main_class);
	to->jdk_lost += from->jdk_lost;
	to->chunks += from->chunks;
	to->open_chunks += from->open_chunks;
	to->lost_chunks += from->lost_chunks;
	to->lost_bytes += from->lost_bytes;
	to->constants_damaged |= from->constants_damaged;
	for (i = 0; i < from->counts.count; i++) {
		const struct facts_counts *c = &from->counts.items[i];
		struct facts_counts *mine = facts_of(to, copy_string(to_fold, from_fold, c->event));

		if (mine)
			join_counts(mine, to_fold, c, from_fold);
		if (!mine && to->counts.count >= FACTS_COUNTS_MAX)
			fold_refuse(to_fold, FACTS_TOO_MANY);
		to_fold->no_memory |= !mine;
	}
}
