/*
 * recording_keys.c - from the aggregate's numbers of threads and stacks to a recording's keys.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/collect/carry.h"
#include "agent/collect/ended_threads.h"
#include "agent/collect/names/late_names.h"
#include "agent/sinks/recording/recording_state.h"
#include "agent/zone/frame_word.h"

/* ITEMS[I] of VECTOR *V of words, made if need be; NULL when out of memory. */
static uint32_t *word_at(void *vector, size_t i)
{
	VECTOR(uint32_t) *v = vector;

	while (v->count <= i) {
		uint32_t *fresh = VECTOR_PUSH(v);

		if (!fresh)
			return NULL;
	}
	return &v->items[i];
}

static const char *text(const struct recording *r, uint32_t number)
{
	return number ? strings_get(&r->collector->frames.strings, number) : "";
}

/* ---- stacks ---- */

/* What stands for the class of a frame that is not Java. Never empty: the JDK's tools fail at that. */
static const char *holder_of(const struct recording *r, const struct named_frame *f)
{
	if (f->kind == FRAME_KERNEL)
		return "kernel";
	if (f->kind == FRAME_OTHER)
		return "jstrobe";
	return f->library ? text(r, f->library) : "jvm";
}

static uint32_t method_of(struct recording *r, uint32_t frame)
{
	const struct named_frame *f = &r->collector->frames.named.items[frame];
	uint32_t *slot = word_at(&r->methods, frame);

	if (!slot || *slot)
		return slot ? *slot : 0;
	if (f->class_name)
		*slot = jfr_method(r->jfr, text(r, f->class_name), text(r, f->name), text(r, f->signature),
				   f->kind == FRAME_WRAPPER);
	else /* the descriptor: without parentheses the JDK's tools fail */
		*slot = jfr_method(r->jfr, holder_of(r, f), text(r, f->name), "()", false);
	return *slot;
}

bool recording_is_late(const struct recording *r, uint32_t node)
{
	if (node < r->stacks.count && r->stacks.items[node])
		return false;
	return late_waits(r->collector, node);
}

uint32_t recording_stack(struct recording *r, uint32_t node)
{
	const struct collector *c = r->collector;
	const struct node *n = &c->nodes.items[node];
	uint32_t *slot = word_at(&r->stacks, node), i;
	struct jfr_frame *frames;

	if (!slot || *slot)
		return slot ? *slot : 0;
	frames = malloc((n->depth + 1) * sizeof(*frames));
	for (i = 0; frames && i < n->depth; i++) {
		uint32_t number = c->frame_list.items[n->first + i];
		const struct named_frame *f = &c->frames.named.items[number];
		uint16_t bci = c->bcis.items[n->first + i];

		frames[i].method = method_of(r, number);
		if (!frames[i].method)
			break;
		frames[i].line = f->line;
		frames[i].bci = bci == FRAME_NO_BCI ? JFR_NO_BCI : bci;
		frames[i].kind = f->kind;
	}
	if (frames && i == n->depth)
		*slot = jfr_stack(r->jfr, frames, n->depth, n->end != 0);
	free(frames);
	return *slot;
}

/* ---- threads ---- */

static uint32_t virtual_thread(struct recording *r, uint64_t vthread)
{
	uint32_t *slot = map_put(&r->vthreads, vthread, NULL);
	char made[VIRTUAL_NAME];

	if (!slot || *slot)
		return slot ? *slot : 0;
	*slot = jfr_thread(r->jfr, &(struct jfr_thread){.java_id = vthread, .is_java = true,
							.is_virtual = true,
							.name = virtual_name(r->collector, vthread, made)});
	return *slot;
}

uint32_t recording_thread(struct recording *r, uint32_t thread, uint64_t vthread, uint32_t name)
{
	const struct thread_entry *e;
	struct thread_key *k;

	if (vthread)
		return virtual_thread(r, vthread);
	e = &r->collector->threads.items[thread];
	name = name ? name : e->name;
	while (r->threads.count <= thread) {
		k = VECTOR_PUSH(&r->threads);
		if (!k)
			return 0;
	}
	k = &r->threads.items[thread];
	/* a thread that was given another name, or turned out to be one of Java's, is another constant from then on */
	if (k->key && k->name == name && k->java == (e->java_id != 0))
		return k->key;
	k->name = name;
	k->java = e->java_id != 0;
	k->key = jfr_thread(r->jfr, &(struct jfr_thread){.tid = (uint32_t)e->tid, .java_id = e->java_id,
							 .is_java = e->java_id != 0, .name = text(r, name)});
	return k->key;
}

void recording_forget_keys(struct recording *r)
{
	r->stacks.count = r->methods.count = r->threads.count = 0;
	map_free(&r->vthreads);
}

/* Methods and stacks are found again by what they are; threads are not. */
void recording_carry_keys(struct recording *r, struct generation *g)
{
	typeof(r->threads) now = {0};
	size_t i;

	for (i = 0; i < r->threads.count; i++) {
		uint32_t thread = carry_lives(g, (uint32_t)i);
		const struct thread_key *fresh = &r->threads.items[i];

		while (fresh && now.count < thread)
			fresh = VECTOR_PUSH(&now);
		if (thread && thread <= now.count)
			now.items[thread - 1] = (struct thread_key){r->threads.items[i].key,
								    carry_text(g, r->threads.items[i].name),
								    r->threads.items[i].java};
	}
	free(r->threads.items);
	memcpy(&r->threads, &now, sizeof(now));
	r->stacks.count = r->methods.count = 0;
}
