/*
 * trace_model.c - what `jstrobe trace --live` knows: a tree of calls, and how it grew since the last look.
 *
 * Each look is a result in JSON (docs/reference/json.md). Numbers of methods and nodes change from one to the next,
 * so a node is the same if the names on the way to it are.
 */
#include "cli/live/trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile/readers/input/json_pull.h"

/* A target is not trusted: all this, and the bytes that it is read from, take less than 32 MB. */
#define MOST_NODES 40960u
#define MOST_METHODS 65536u
#define MOST_NAMES (6u << 20)       /* bytes, of all looks */
#define LONGEST_NAME (256u << 10)   /* the JVM's are up to 64 KB, before they are escaped */

/* One more than COUNT of at most MOST would be too many, or names are too many bytes. */
static bool is_full(struct trace_model *m, struct json *j, size_t count, size_t most)
{
	m->too_large |= count >= most || strings_bytes(&m->strings) > MOST_NAMES;
	if (m->too_large && !j->error)
		j->error = "a smaller tree";
	return m->too_large;
}

static uint32_t text(struct trace_model *m, struct json *j)
{
	size_t n;
	const char *s = json_string(j, &n);

	return strings_add(&m->strings, s, n);
}

static uint32_t keep(struct trace_model *m, const struct buffer *b)
{
	return strings_add(&m->strings, b->length ? b->data : "", b->length);
}

static void read_methods(struct trace_model *m, struct json *j)
{
	struct buffer name = BUFFER_INIT, signature = BUFFER_INIT;
	struct trace_method *method;
	const char *key;

	for (json_open(j, '['); json_item(j);) {
		name.length = signature.length = 0;
		for (json_open(j, '{'); (key = json_key(j));) {
			if (name.length > LONGEST_NAME || signature.length > LONGEST_NAME)
				json_skip(j);
			else if (strcmp(key, "class") == 0)
				buffer_printf(&name, "%s.", json_string(j, NULL));
			else if (strcmp(key, "name") == 0)
				buffer_printf(&name, "%s", json_string(j, NULL));
			else if (strcmp(key, "signature") == 0)
				buffer_printf(&signature, "%s", json_string(j, NULL));
			else
				json_skip(j);
		}
		method = is_full(m, j, m->methods.count, MOST_METHODS) ? NULL : VECTOR_PUSH(&m->methods);
		if (method) {
			method->name = keep(m, &name);
			method->signature = keep(m, &signature);
		}
	}
	buffer_free(&name);
	buffer_free(&signature);
}

/* ---- the tree ---- */

static uint32_t name_of_thread(struct trace_model *m, uint64_t thread)
{
	char name[40];

	/* their names stand behind the tree */
	return strings_add(&m->strings, name, (size_t)snprintf(name, sizeof(name), "[thread %llu]",
							     (unsigned long long)thread + 1));
}

/* Where the place is kept of node N below the node that had PLACE in the last look; NULL without memory. */
static uint32_t *way_slot(struct trace_model *m, uint32_t place, const struct trace_node *n)
{
	uint32_t *pair = map_put(&m->pairs, (uint64_t)n->signature << 32 | n->name, NULL);

	if (pair && !*pair)
		*pair = m->pairs.count;
	return pair ? map_put(&m->by_way, (uint64_t)place << 32 | *pair, NULL) : NULL;
}

/* N as the next node, with what it has grown by. */
static void add(struct trace_model *m, const struct trace_node *n)
{
	const struct trace_node *parent = &m->nodes.items[n->parent];
	uint32_t depth = parent->depth + 1, *slot = parent->before ? way_slot(m, parent->before - 1, n) : NULL;
	const uint32_t *former = slot && *slot ? slot : NULL;
	struct trace_sums before = former ? m->former.items[*former - 1] : (struct trace_sums){0};
	struct trace_node *to = VECTOR_PUSH(&m->nodes);

	if (!to)
		return;
	*to = *n;
	to->before = former ? *former + 1 : 0;
	to->depth = depth;
	to->grown = (struct trace_sums){
		n->sums.calls - MIN(before.calls, n->sums.calls), n->sums.total - MIN(before.total, n->sums.total),
		n->sums.self - MIN(before.self, n->sums.self),
	};
}

static struct trace_method method_at(const struct trace_model *m, uint64_t number)
{
	return number < m->methods.count ? m->methods.items[number] : (struct trace_method){0};
}

static void read_node(struct trace_model *m, struct json *j)
{
	struct trace_node n = {.parent = UINT32_MAX};
	struct trace_method method = {0};
	const char *key;

	for (json_open(j, '{'); (key = json_key(j));) {
		if (strcmp(key, "parent") == 0)
			n.parent = (uint32_t)json_number(j);
		else if (strcmp(key, "invocations") == 0)
			n.sums.calls = json_number(j);
		else if (strcmp(key, "total_wall") == 0)
			n.sums.total = json_number(j);
		else if (strcmp(key, "self_wall") == 0)
			n.sums.self = json_number(j);
		else if (strcmp(key, "thread") == 0)
			method.name = name_of_thread(m, json_number(j));
		else if (strcmp(key, "method") == 0)
			method = method_at(m, json_number(j));
		else
			json_skip(j);
	}
	n.name = method.name;
	n.signature = method.signature;
	if (is_full(m, j, m->nodes.count, MOST_NODES))
		return;
	if (n.parent < m->nodes.count)
		add(m, &n);
	else if (!j->error)
		j->error = "a node behind its parent";
}

static void read_tree(struct trace_model *m, struct json *j)
{
	for (json_open(j, '['); json_item(j);)
		read_node(m, j);
}

/* ---- all ---- */

/* The tree of the last look is what this one is held against. */
static bool begin(struct trace_model *m)
{
	uint32_t i, *slot;
	struct trace_node *root;

	map_clear(&m->pairs);
	map_clear(&m->by_way);
	m->former.count = m->methods.count = 0;
	for (i = 1; i < m->nodes.count; i++) {
		struct trace_sums *sums = VECTOR_PUSH(&m->former);

		slot = way_slot(m, m->nodes.items[i].parent, &m->nodes.items[i]);
		if (!sums || !slot)
			return false;
		*sums = m->nodes.items[i].sums;
		*slot = (uint32_t)m->former.count;
	}
	m->nodes.count = 0;
	root = VECTOR_PUSH(&m->nodes);
	if (root)
		*root = (struct trace_node){.before = 1};
	return root;
}

static void read_all(struct trace_model *m, struct json *j)
{
	const char *key;

	for (json_open(j, '{'); (key = json_key(j));) {
		if (json_take_numbers(j, key, {"duration_ns", &m->duration}, {"invocations", &m->calls}))
			continue;
		if (strcmp(key, "pid") == 0)
			m->pid = (uint32_t)json_number(j);
		else if (strcmp(key, "main") == 0)
			m->main_class = text(m, j);
		else if (strcmp(key, "timing") == 0)
			m->timing = text(m, j);
		else if (strcmp(key, "methods") == 0)
			read_methods(m, j);
		else if (strcmp(key, "tree") == 0)
			read_tree(m, j);
		else
			json_skip(j);
	}
}

bool trace_model_take(struct trace_model *m, const void *bytes, size_t size)
{
	uint64_t duration = m->duration, calls = m->calls;
	struct json j;
	bool good;

	if (!begin(m))
		return false;
	m->too_large = false;
	json_init(&j, bytes, size);
	j.longest = LONGEST_NAME;
	read_all(m, &j);
	good = !j.error && !m->strings.failed;
	json_free(&j);
	m->span = m->duration - MIN(duration, m->duration);
	m->called = m->calls - MIN(calls, m->calls);
	return good;
}

void trace_model_free(struct trace_model *m)
{
	strings_free(&m->strings);
	free(m->nodes.items);
	free(m->former.items);
	free(m->methods.items);
	map_free(&m->pairs);
	map_free(&m->by_way);
}
