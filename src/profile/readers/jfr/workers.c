/*
 * workers.c - chunks are independent of one another, so that several threads read a large recording,
 * each into an aggregate and info of its own; in the end all become one.
 */
#include "profile/readers/jfr/recording_info.h"

#include <stdlib.h>
#include <string.h>

#include "profile/readers/read_contexts.h"

static uint32_t copy_string(struct read_aggregate *to, const struct read_aggregate *from, uint32_t number)
{
	const char *text = strings_get(&from->strings, number);

	return number ? strings_add(&to->strings, text, strlen(text)) : 0;
}

static void copy_frames(struct read_aggregate *to, const struct read_aggregate *from, uint32_t *places)
{
	uint32_t i, n, words[READ_FRAME_WORDS];

	for (i = 0; i < from->frames.places.count; i++) {
		memcpy(words, lists_get(&from->frames, i, &n), sizeof(words));
		words[READ_FRAME_CLASS] = copy_string(to, from, words[READ_FRAME_CLASS]);
		words[READ_FRAME_NAME] = copy_string(to, from, words[READ_FRAME_NAME]);
		words[READ_FRAME_SIGNATURE] = copy_string(to, from, words[READ_FRAME_SIGNATURE]);
		words[READ_FRAME_LIBRARY] = copy_string(to, from, words[READ_FRAME_LIBRARY]);
		places[i] = read_aggregate_frame(to, words);
	}
}

static void copy_threads(struct read_aggregate *to, const struct read_aggregate *from, uint32_t *places)
{
	uint32_t i, n, words[READ_THREAD_WORDS];

	for (i = 0; i < from->threads.places.count; i++) {
		memcpy(words, lists_get(&from->threads, i, &n), sizeof(words));
		words[READ_THREAD_NAME] = copy_string(to, from, words[READ_THREAD_NAME]);
		places[i] = lists_add(&to->threads, words, READ_THREAD_WORDS);
		to->no_memory |= places[i] == LISTS_FAILED;
	}
}

/* Stacks are written over with the numbers that their frames have in TO. */
static void copy_stacks(struct read_aggregate *to, const struct read_aggregate *from, const uint32_t *frames,
			uint32_t *places)
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

/* THREADS leads to the numbers of threads in TO, APART to those of what stacks are apart by. */
static void copy_family(struct read_aggregate *to, const struct read_aggregate *source,
			const struct read_aggregate_family *from, const uint32_t *stacks, const uint32_t *threads,
			const uint32_t *apart)
{
	uint32_t number = read_aggregate_family(to, from->name, from->weight_kind, from->unit);
	struct read_aggregate_family *family;
	uint32_t *counts = calloc(from->stack_counts.count + 1, sizeof(*counts));
	size_t i;

	to->no_memory |= !counts;
	if (number == UINT32_MAX || !counts) {
		free(counts);
		return;
	}
	for (i = 0; i < from->stack_counts.count; i++) {
		const struct read_aggregate_count *t = &from->stack_counts.items[i];
		uint32_t thread = t->thread == READ_NO_THREAD || to->by_block ? t->thread : apart[t->thread];

		if (from->sums)
			read_aggregate_raise(to, number, stacks[t->stack], t->samples, t->weight);
		else
			counts[i] = read_aggregate_add(to, number, stacks[t->stack],
				 thread, t->state, t->samples, t->weight);
		read_aggregate_add_objects(to, number, stacks[t->stack], thread, t->state, t->parts, t->outside);
		if (i < from->growth.count)
			read_aggregate_add_growth(to, number, stacks[t->stack], thread, t->state,
						  &from->growth.items[i]);
	}
	for (i = 0; i < from->threads.count; i++)
		read_aggregate_add_thread(to, number, threads[from->threads.items[i].thread],
				from->threads.items[i].samples, from->threads.items[i].weight);
	family = &to->families.items[number];
	moments_join(&family->moments, &from->moments, counts, threads);
	to->no_memory |= family->moments.failed;
	free(counts);
	for (i = 0; i < from->calls.items.count; i++) {
		const struct io_line *line = &from->calls.items.items[i];

		to->no_memory |= !io_lines_join(&family->calls, &from->calls, line,
						copy_string(to, source, line->target));
	}
	family->sums |= from->sums;
	family->truncated += from->truncated;
	family->no_stack += from->no_stack;
	family->failed += from->failed;
	if (from->is_live)
		read_aggregate_live(to, number, &from->live);
	family->lives_twice |= from->lives_twice;
}

/* Texts of one aggregate become those of another. */
struct strings_of {
	struct read_aggregate *to;
	const struct read_aggregate *from;
};

static uint32_t string_of(void *arg, uint32_t number)
{
	const struct strings_of *both = arg;

	return copy_string(both->to, both->from, number);
}

void workers_join_aggregate(struct read_aggregate *to, const struct read_aggregate *from)
{
	uint32_t *frames = calloc(from->frames.places.count + 1, sizeof(*frames));
	uint32_t *stacks = calloc(from->stacks.places.count + 1, sizeof(*stacks));
	uint32_t *threads = calloc(from->threads.places.count + 1, sizeof(*threads));
	uint32_t *pairs = calloc(from->pairs.places.count + 1, sizeof(*pairs));
	size_t i;

	if (from->too_much)
		read_aggregate_refuse(to, from->too_much);
	to->no_memory |= !frames || !stacks || !threads || !pairs || from->no_memory;
	if (!to->no_memory) {
		copy_frames(to, from, frames);
		copy_threads(to, from, threads);
		read_contexts_join(to, from, threads, pairs);
	}
	if (!to->no_memory)
		copy_stacks(to, from, frames, stacks);
	for (i = 0; i < from->families.count && !to->no_memory; i++)
		copy_family(to, from, &from->families.items[i], stacks, threads, to->by_context ? pairs : threads);
	if (!to->no_memory)
		kept_marks_join(&to->marks, &from->marks, string_of, &(struct strings_of){to, from}, threads);
	to->no_memory |= to->strings.failed || to->marks.failed;
	free(frames);
	free(stacks);
	free(threads);
	free(pairs);
}

/* Sums of lost samples; of the rest what was said last. */
static void join_counts(struct recording_info_counts *to, struct read_aggregate *to_aggregate,
			const struct recording_info_counts *from, const struct read_aggregate *from_aggregate)
{
	struct recording_info_counts sums = *to;
	unsigned i;

	if (from->said_at >= to->said_at) {
		*to = *from;
		to->event = sums.event;
		to->interval = to->interval ? to->interval : sums.interval;
		to->engine = copy_string(to_aggregate, from_aggregate, from->engine);
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

void workers_join_info(struct recording_info *to, struct read_aggregate *to_aggregate,
		       const struct recording_info *from, const struct read_aggregate *from_aggregate)
{
	size_t i;

	if (from->start_ns && (!to->start_ns || from->start_ns < to->start_ns))
		to->start_ns = from->start_ns;
	to->end_ns = MAX(to->end_ns, from->end_ns);
	to->interval = to->interval ? to->interval : from->interval;
	to->wall_interval = to->wall_interval ? to->wall_interval : from->wall_interval;
	to->period = to->period ? to->period : from->period;
	to->pid = to->pid ? to->pid : from->pid;
	to->jdk = to->jdk ? to->jdk : copy_string(to_aggregate, from_aggregate, from->jdk);
	to->main_class = to->main_class ? to->main_class : copy_string(to_aggregate, from_aggregate, from->main_class);
	to->jdk_lost += from->jdk_lost;
	to->cut += from->cut;
	to->cuts += from->cuts;
	to->chunks += from->chunks;
	to->open_chunks += from->open_chunks;
	to->lost_chunks += from->lost_chunks;
	to->lost_bytes += from->lost_bytes;
	to->constants_damaged |= from->constants_damaged;
	to->around_twice |= from->around_twice || (to->around.known & from->around.known);
	if (from->around.known)
		to->around = from->around;
	for (i = 0; i < from->counts.count; i++) {
		const struct recording_info_counts *c = &from->counts.items[i];
		uint32_t event = copy_string(to_aggregate, from_aggregate, c->event);
		struct recording_info_counts *mine = recording_info_counts_of(to, event);

		if (mine)
			join_counts(mine, to_aggregate, c, from_aggregate);
		if (!mine && to->counts.count >= RECORDING_INFO_COUNTS_MAX)
			read_aggregate_refuse(to_aggregate, RECORDING_INFO_TOO_MANY);
		to_aggregate->no_memory |= !mine;
	}
}
