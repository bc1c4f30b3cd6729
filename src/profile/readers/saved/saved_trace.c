/*
 * saved_trace.c - the tree of a trace as stacks: each node is one, with its invocations and its own time, and below
 * it one for each thing that it waited for.
 */
#include <stdio.h>
#include <string.h>

#include "profile/readers/saved/saved_reader.h"

#define EVENT "calls"
/* A node is a stack of its own, as long as it is deep: chains of them cost the square of what the file has. */
#define MOST_FRAMES 8192
#define ANYWAY_WORDS LIMIT_BYTES(1u << 24)  /* of all stacks: 64 MB, chains of 5,700 */
#define WORDS_A_BYTE 8           /* of the file besides: a node has 100 bytes and more */

/* "class", "name" and "signature" of a method; overloads are one here, as in collapsed stacks. */
static void read_method(struct saved *s)
{
	struct buffer name = BUFFER_INIT;
	const char *key;
	uint32_t frame;

	if (!json_open(&s->j, '{'))
		return;
	while ((key = json_key(&s->j))) {
		if (strcmp(key, "class") == 0)
			buffer_printf(&name, "%s.", json_string(&s->j, NULL));
		else if (strcmp(key, "name") == 0)
			buffer_printf(&name, "%s", json_string(&s->j, NULL));
		else
			json_skip(&s->j);
	}
	frame = name.failed ? LISTS_FAILED : saved_frame(s, name.data ? name.data : "", name.length, FRAME_C2);
	saved_keep(s, &s->methods, frame);
	buffer_free(&name);
}

void saved_methods(struct saved *s)
{
	if (!json_open(&s->j, '['))
		return;
	while (json_item(&s->j) && !s->no_memory)
		read_method(s);
}

struct node {
	uint64_t parent, method, thread, count, wall;
	bool of_thread;
	struct wait {
		char word[16];
		uint64_t ns;
	} waits[8];
	unsigned wait_count;
};

static void read_waits(struct saved *s, struct node *n)
{
	const char *key;

	if (!json_open(&s->j, '{'))
		return;
	while ((key = json_key(&s->j))) {
		struct wait *w = n->wait_count < ARRAY_LEN(n->waits) ? &n->waits[n->wait_count++] : NULL;

		if (w) {
			snprintf(w->word, sizeof(w->word), "[%.12s]", key);
			w->ns = json_number(&s->j);
		} else {
			json_skip(&s->j);
		}
	}
}

static void read_node(struct saved *s, struct node *n)
{
	const char *key;

	if (!json_open(&s->j, '{'))
		return;
	while ((key = json_key(&s->j))) {
		if (json_take_numbers(&s->j, key, {"parent", &n->parent}, {"method", &n->method},
				      {"invocations", &n->count}, {"self_wall", &n->wall}))
			continue;
		if (strcmp(key, "waits") == 0)
			read_waits(s, n);
		else if (strcmp(key, "thread") == 0) {
			n->of_thread = true;
			n->thread = json_number(&s->j);
		} else
			json_skip(&s->j);
	}
}

/* Whether a frame on top of STACK keeps the limits; the failure is said if not. */
static bool has_room(struct saved *s, uint32_t stack)
{
	uint64_t most = ANYWAY_WORDS + WORDS_A_BYTE * (uint64_t)(s->j.end - s->j.begin);
	uint32_t depth;

	lists_get(&s->aggregate->stacks, stack, &depth);
	if (depth < MOST_FRAMES && s->aggregate->stacks.words.count + depth < most)
		return true;
	if (!s->j.error)
		s->j.error = depth < MOST_FRAMES ? "a tree with fewer deep branches" : "a tree of at most 8,192 levels";
	return false;
}

/* STACK with FRAME on top, and what was spent there. */
static uint32_t add(struct saved *s, uint32_t stack, uint32_t frame, uint64_t count, uint64_t wall)
{
	if (stack != LISTS_FAILED && !has_room(s, stack))
		return stack;
	stack = stack == LISTS_FAILED || frame == LISTS_FAILED ? LISTS_FAILED : read_aggregate_leaf(s->aggregate,
												    stack, frame);
	if (stack == LISTS_FAILED)
		s->no_memory = true;
	else if (count || wall)
		read_aggregate_add(s->aggregate, s->family, stack, READ_NO_THREAD, THREAD_NONE, count, wall);
	return stack;
}

/* Threads are named behind the tree, so they go by their numbers here. */
static uint32_t frame_of(struct saved *s, const struct node *n)
{
	char text[40];

	if (!n->of_thread)
		return s->methods.items[n->method];
	snprintf(text, sizeof(text), "[thread %llu]", (unsigned long long)n->thread);
	return saved_frame(s, text, strlen(text), FRAME_OTHER);
}

static void add_node(struct saved *s, const struct node *n)
{
	uint32_t stack;
	unsigned i;

	/* nodes[0] is the root */
	if (n->parent >= s->nodes.count || (!n->of_thread && n->method >= s->methods.count)) {
		if (!s->j.error)
			s->j.error = "a node behind its parent and its method";
		return;
	}
	stack = add(s, s->nodes.items[n->parent], frame_of(s, n), n->count, n->wall);
	saved_keep(s, &s->nodes, stack);
	for (i = 0; i < n->wait_count && !s->no_memory; i++)
		if (n->waits[i].ns)
			add(s, stack, saved_frame(s, n->waits[i].word, strlen(n->waits[i].word), FRAME_OTHER), 0,
			    n->waits[i].ns);
}

void saved_tree(struct saved *s)
{
	s->has_stacks = true;
	if (!saved_family(s, EVENT, WEIGHT_WALL)) {
		json_skip(&s->j);
		return;
	}
	saved_keep(s, &s->nodes, lists_add(&s->aggregate->stacks, NULL, 0));
	if (!json_open(&s->j, '['))
		return;
	while (json_item(&s->j) && !s->no_memory && !s->j.error) {
		struct node n = {.of_thread = false};

		read_node(s, &n);
		if (!s->j.error)
			add_node(s, &n);
	}
}
