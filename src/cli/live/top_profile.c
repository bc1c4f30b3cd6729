/*
 * Frames are spelled as results have them: classes with slashes, and the class of a lock or an object is the innermost
 * frame. Only frames that are in use are taken apart.
 */
#include "cli/live/top_profile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "profile/readers/frame_text.h"

/* The parts of the profile while it is made: how much there is, then where the next one goes. */
struct making {
	const struct top_model *m;
	const struct top_window *w;
	unsigned event;
	struct top_profile *to;
	uint32_t *of_frame;    /* the model's frame → the profile's + 1 */
	struct map of_class;   /* text → the profile's frame + 1 */
	size_t frame_count, list_length, text_length;
};

static size_t length_of(const struct making *k, uint32_t text)
{
	return strlen(strings_get(&k->m->strings, text));
}

/* ---- how much ---- */

static void count_stack(struct making *k, uint32_t stack)
{
	const struct top_stack *s = stack < k->m->stacks.count ? &k->m->stacks.items[stack] : NULL;
	uint32_t i;

	for (i = 0; s && i < s->count; i++) {
		uint32_t *known = &k->of_frame[s->frames[i]];

		if (*known)
			continue;
		*known = (uint32_t)++k->frame_count;
		k->text_length += length_of(k, k->m->frames.items[s->frames[i]].text) + 3;
	}
	k->list_length += s ? s->count : 0;
}

/* False: no memory. */
static bool count_class(struct making *k, uint32_t class_name)
{
	uint32_t *known = class_name ? map_put(&k->of_class, class_name, NULL) : NULL;

	if (known && !*known) {
		*known = (uint32_t)++k->frame_count;
		k->text_length += length_of(k, class_name) + 3;
	}
	k->list_length += class_name != 0;
	return !class_name || known;
}

static bool count(struct making *k)
{
	bool whole = true;
	size_t i;

	for (i = 0; i < k->w->cells.count && whole; i++) {
		const struct top_cell *c = &k->w->cells.items[i];

		if (c->event != k->event)
			continue;
		count_stack(k, c->stack);
		whole = count_class(k, c->class);
	}
	for (i = 0; i < k->w->holders.count && whole; i++)
		if (k->w->locks.items[k->w->holders.items[i].lock].event == k->event)
			count_stack(k, k->w->holders.items[i].stack);
	for (i = 0; i < k->w->locks.count && whole; i++)
		if (k->w->locks.items[i].event == k->event)
			whole = count_class(k, k->w->locks.items[i].class);
	return whole;
}

/* ---- frames ---- */

static const char *put_text(struct making *k, const char *text, size_t length)
{
	char *at = k->to->texts + k->text_length;

	memcpy(at, text, length);
	at[length] = '\0';
	k->text_length += length + 1;
	return at;
}

static void put_frame(struct making *k, const char *text, enum frame_kind kind, struct profile_frame *to)
{
	struct frame_text parts = frame_text_split(text, strlen(text), kind);
	char *class_name = k->to->texts + k->text_length;

	to->kind = (uint8_t)kind;
	to->line = (int32_t)parts.line;
	if (parts.class_length) {
		frame_text_class(&parts, class_name);
		k->text_length += parts.class_length + 1;
		to->class_name = class_name;
	}
	to->name = put_text(k, parts.name, parts.name_length);
}

/* The class of a lock or an object, as a frame without a name. */
static void put_class(struct making *k, const char *text, struct profile_frame *to)
{
	struct frame_text parts = {.class_name = text, .class_length = strlen(text)};
	char *class_name = k->to->texts + k->text_length;

	frame_text_class(&parts, class_name);
	k->text_length += parts.class_length + 1;
	*to = (struct profile_frame){.class_name = class_name, .name = "", .kind = FRAME_OTHER};
}

static void put_frames(struct making *k)
{
	size_t i;

	k->text_length = 0;
	for (i = 0; i < k->m->frames.count; i++) {
		const struct top_frame *f = &k->m->frames.items[i];

		if (k->of_frame[i])
			put_frame(k, strings_get(&k->m->strings, f->text), f->kind, &k->to->frames[k->of_frame[i] - 1]);
	}
	for (i = 0; i < k->of_class.capacity; i++) {
		const struct map_slot *slot = &k->of_class.slots[i];

		if (slot->used)
			put_class(k, strings_get(&k->m->strings, (uint32_t)slot->key), &k->to->frames[slot->value - 1]);
	}
}

static const char *class_of(const struct making *k, uint32_t class_name)
{
	const uint32_t *frame = class_name ? map_get(&k->of_class, class_name) : NULL;

	return frame ? k->to->frames[*frame - 1].class_name : "";
}

/* ---- stacks ---- */

/* Where its frames begin, with CLASS as the innermost; *DEPTH so many. */
static const uint32_t *put_list(struct making *k, uint32_t stack, uint32_t class_name, uint32_t *depth)
{
	uint32_t *list = k->to->lists + k->list_length, i;
	const struct top_stack *s = stack < k->m->stacks.count ? &k->m->stacks.items[stack] : NULL;

	for (i = 0; s && i < s->count; i++)
		list[i] = k->of_frame[s->frames[i]] - 1;
	if (class_name)
		list[i++] = *map_get(&k->of_class, class_name) - 1;
	*depth = i;
	k->list_length += i;
	return list;
}

static void put_stacks(struct making *k)
{
	struct profile *p = &k->to->profile;
	size_t i;

	k->list_length = 0;
	for (i = 0; i < k->w->cells.count; i++) {
		const struct top_cell *c = &k->w->cells.items[i];
		struct profile_stack *s = &k->to->stacks[p->stack_count];

		if (c->event != k->event)
			continue;
		p->stack_count++;
		s->frames = put_list(k, c->stack, c->class, &s->depth);
		s->thread = c->thread == TOP_NO_THREAD ? PROFILE_NO_THREAD : c->thread;
		s->samples = c->samples;
		s->weight = c->weight;
		s->state = c->state;
		p->stored += c->samples;
		p->weight_stored += c->weight;
		if (s->thread != PROFILE_NO_THREAD) {
			k->to->threads[s->thread].samples += c->samples;
			k->to->threads[s->thread].weight += c->weight;
		}
	}
	p->taken = p->complete = p->stored;
}

static void put_threads(struct making *k)
{
	size_t i;

	for (i = 0; i < k->w->threads.count; i++) {
		const struct top_thread *t = &k->w->threads.items[i];

		k->to->threads[i].tid = (uint32_t)t->tid;
		k->to->threads[i].name = strings_get(&k->m->strings, t->name);
	}
	k->to->profile.thread_count = (uint32_t)k->w->threads.count;
}

static void put_waits(struct making *k)
{
	struct profile *p = &k->to->profile;
	uint32_t *places = calloc(k->w->locks.count + 1, sizeof(*places));
	size_t i;

	for (i = 0; places && i < k->w->locks.count; i++) {
		const struct top_lock *l = &k->w->locks.items[i];

		if (l->event != k->event)
			continue;
		k->to->locks[p->lock_count++] = (struct profile_waits){
			.name = class_of(k, l->class), .identity = l->id, .kind = l->kind, .waits = l->waits,
			.time = l->time, .longest = l->longest, .open = l->open,
		};
		places[i] = p->lock_count;
	}
	for (i = 0; places && i < k->w->holders.count; i++) {
		const struct top_holder *h = &k->w->holders.items[i];
		struct profile_waits *to = &k->to->holders[p->holder_count];

		if (!places[h->lock] || !h->stack)
			continue;
		p->holder_count++;
		*to = (struct profile_waits){.name = strings_get(&k->m->strings, h->owner), .waits = h->waits,
					     .time = h->time, .lock = places[h->lock]};
		to->frames = put_list(k, h->stack, 0, &to->depth);
	}
	free(places);
}

static int make(struct making *k)
{
	struct top_profile *to = k->to;
	const struct top_window *w = k->w;
	struct profile *p = &to->profile;

	k->of_frame = calloc(k->m->frames.count + 1, sizeof(*k->of_frame));
	if (!k->of_frame || !count(k))
		return -ENOMEM;
	to->frames = calloc(k->frame_count + 1, sizeof(*to->frames));
	to->stacks = calloc(w->cells.count + 1, sizeof(*to->stacks));
	to->threads = calloc(w->threads.count + 1, sizeof(*to->threads));
	to->locks = calloc(w->locks.count + 1, sizeof(*to->locks));
	to->holders = calloc(w->holders.count + 1, sizeof(*to->holders));
	to->lists = calloc(k->list_length + 1, sizeof(*to->lists));
	to->texts = malloc(k->text_length + 1);
	if (!to->frames || !to->stacks || !to->threads || !to->locks || !to->holders || !to->lists || !to->texts)
		return -ENOMEM;
	put_frames(k);
	put_threads(k);
	put_stacks(k);
	put_waits(k);
	p->frames = to->frames;
	p->frame_count = (uint32_t)k->frame_count;
	p->stacks = to->stacks;
	p->threads = to->threads;
	p->locks = to->locks;
	p->holders = to->holders;
	return 0;
}

int top_profile_make(struct top_profile *t, const struct top_model *m, unsigned event)
{
	struct making k = {.m = m, .w = &m->shown, .event = event, .to = t};
	int rc;

	memset(t, 0, sizeof(*t));
	t->profile = (struct profile){
		.event = strings_get(&m->strings, m->events[event].name), .engine = "",
		.main_class = strings_get(&m->strings, m->main_class), .jdk = strings_get(&m->strings, m->jdk),
		.pid = (int)m->pid, .duration = m->shown.span, .weight_kind = m->events[event].kind,
		.interval = m->events[event].interval, .per_thread = true,
	};
	rc = make(&k);
	free(k.of_frame);
	map_free(&k.of_class);
	return rc;
}

void top_profile_free(struct top_profile *t)
{
	free(t->frames);
	free(t->stacks);
	free(t->threads);
	free(t->locks);
	free(t->holders);
	free(t->lists);
	free(t->texts);
}
