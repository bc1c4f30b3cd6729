/*
 * perfetto_marks.c - what a recording has beside its samples, as slices: pauses of the JVM on tracks of the process,
 * spans and events of the program on tracks of their threads.
 *
 * Slices of a track stand in one another or apart. Marks that overlap otherwise are on tracks of the same name, which
 * Perfetto shows as one.
 */
#include <stdlib.h>

#include "profile/exports/perfetto_writer.h"
#include "profile/model/human.h"

static const struct {
	const char *track, *name; /* name: of a mark that has none */
} kinds[MARK_KINDS] = {
	[MARK_KIND_PAUSE] = {"GC pauses", "GC pause"},
	[MARK_KIND_GC] = {"Collections", "collection"},
	[MARK_KIND_SAFEPOINT] = {"Safepoints", "safepoint"},
	[MARK_KIND_OPERATION] = {"Operations of the JVM", "operation"},
	[MARK_KIND_SPAN] = {"Spans", "span"},
	[MARK_KIND_EVENT] = {"Events", "event"},
};

/* A track. */
struct lane {
	uint64_t uuid;
	VECTOR(uint64_t) ends; /* of the slices that are open, the innermost last */
};

struct lanes {
	struct perfetto *w;
	const struct profile *p;
	struct lists keys;     /* kind, task in two halves, number */
	VECTOR(struct lane) items;
};

/* Number NUMBER of those for marks of KIND on TASK; NULL: no memory. */
static struct lane *lane_of(struct lanes *l, uint8_t kind, const struct perfetto_task *task, uint32_t number)
{
	const uint32_t key[] = {kind, (uint32_t)task->uuid, (uint32_t)(task->uuid >> 32), number};
	uint32_t i = lists_add(&l->keys, key, ARRAY_LEN(key));
	struct lane *lane;

	if (i == LISTS_FAILED)
		return NULL;
	if (i < l->items.count)
		return &l->items.items[i];
	lane = VECTOR_PUSH(&l->items);
	if (lane)
		lane->uuid = perfetto_track(l->w, task->uuid, kinds[kind].track);
	return lane;
}

/* End what ends at TIME or before. */
static void end_until(struct lanes *l, struct lane *lane, uint64_t time)
{
	while (lane->ends.count && lane->ends.items[lane->ends.count - 1] <= time)
		perfetto_end_slice(l->w, lane->uuid, wide_add(l->p->started_at, lane->ends.items[--lane->ends.count]));
}

/* The first one in which a slice from FROM to TO stands in another one, or apart. */
static struct lane *free_lane(struct lanes *l, uint8_t kind, const struct perfetto_task *task, uint64_t from,
			      uint64_t to)
{
	struct lane *lane;
	uint32_t i;

	for (i = 0;; i++) {
		lane = lane_of(l, kind, task, i);
		if (!lane)
			return NULL;
		end_until(l, lane, from);
		if (!lane->ends.count || lane->ends.items[lane->ends.count - 1] >= to)
			return lane;
	}
}

static void put_mark(struct lanes *l, const struct profile_marks *m, const struct profile_mark *mark)
{
	const struct profile_mark_thread *thread = mark->thread < m->thread_count ? &m->threads[mark->thread] : NULL;
	uint8_t kind = m->names[mark->name].kind;
	const char *name = *m->names[mark->name].name ? m->names[mark->name].name : kinds[kind].name;
	uint64_t end = wide_add(mark->at, mark->duration), at = wide_add(l->p->started_at, mark->at), *open = NULL;
	struct perfetto_task task = thread ? perfetto_thread_called(l->w, l->p, thread->tid, thread->name) :
					     perfetto_thread(l->w, l->p, PROFILE_NO_THREAD);
	struct lane *lane = free_lane(l, kind, &task, mark->at, end);

	if (lane && mark->duration)
		open = VECTOR_PUSH(&lane->ends);
	if (!lane || (mark->duration && !open)) {
		l->w->failed = true;
		return;
	}
	if (mark->gc) {
		perfetto_annotate(l->w, "gc", m->gcs[mark->gc - 1].name);
		perfetto_annotate(l->w, "cause", m->gcs[mark->gc - 1].cause);
	}
	if (!open) {
		perfetto_put_moment(l->w, lane->uuid, at, kinds[kind].track, name);
		return;
	}
	*open = end;
	perfetto_begin_slice(l->w, lane->uuid, at, kinds[kind].track, name);
}

void perfetto_say_left_out(struct buffer *line, const struct profile_marks *marks)
{
	uint64_t counts[MARK_KINDS] = {0}, kept[MARK_KINDS] = {0};
	bool some = false;
	uint32_t i;

	for (i = 0; i < marks->name_count; i++) {
		counts[marks->names[i].kind] = wide_add(counts[marks->names[i].kind], marks->names[i].count);
		kept[marks->names[i].kind] += marks->names[i].kept;
	}
	for (i = 0; i < MARK_KINDS; i++) {
		if (kept[i] >= counts[i])
			continue;
		buffer_printf(line, "%s: %s of %s; ", kinds[i].track, human_count(kept[i]).text,
			      human_count(counts[i]).text);
		some = true;
	}
	if (some)
		buffer_puts(line, "they are too many: of each name the longest are in this file, of equally long ones "
				  "all or none");
}

void perfetto_put_marks(struct perfetto *w, const struct profile *p)
{
	const struct profile_marks *m = p->marks;
	struct lanes l = {.w = w, .p = p};
	size_t i;

	for (i = 0; m && i < m->item_count && !w->failed && !w->out->failed; i++)
		put_mark(&l, m, &m->items[i]);
	for (i = 0; i < l.items.count; i++) {
		end_until(&l, &l.items.items[i], UINT64_MAX);
		free(l.items.items[i].ends.items);
	}
	lists_free(&l.keys);
	free(l.items.items);
}
