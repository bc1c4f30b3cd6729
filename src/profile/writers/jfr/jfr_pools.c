#include "profile/writers/jfr/jfr_pools.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/hash.h"
#include "profile/writers/jfr/jfr_emit.h"
#include "profile/writers/jfr/jfr_types.h"

/* With the numbers that async-profiler gives them: its converter goes by those, and knows no others. */
static const char *const frame_types[] = {
	"Interpreted", "JIT compiled", "Inlined", "Native", "C++", "Kernel", "C1 compiled",
};
static const uint8_t type_of_kind[FRAME_KINDS] = {
	[FRAME_INTERPRETED] = 0, [FRAME_C1] = 6,     [FRAME_C2] = 1,     [FRAME_INLINED] = 2,
	[FRAME_WRAPPER] = 1,     [FRAME_NATIVE] = 3, [FRAME_KERNEL] = 5, [FRAME_OTHER] = 3,
};
static const char *const states[] = {
#define JFR_STATE(name, text) text,
#include "profile/writers/jfr/jfr_states.def"
};
static const char *const gc_whens[] = {"Before GC", "After GC"};

static const uint8_t type_of_pool[JFR_POOLS] = {
	[POOL_THREAD] = JFR_THREAD, [POOL_SYMBOL] = JFR_SYMBOL, [POOL_PACKAGE] = JFR_PACKAGE,
	[POOL_CLASS] = JFR_CLASS,   [POOL_METHOD] = JFR_METHOD, [POOL_STACK] = JFR_STACK_TRACE,
	[POOL_STRING] = JFR_STRING,
};

#define MODIFIER_NATIVE 0x100
#define THREADS_KNOWN (1u << 16) /* ids of a file that are remembered; threads beyond them have other keys */

/* Begin a new constant: its KEY. */
static uint32_t begin_as(struct jfr_pools *p, enum jfr_pool pool, uint32_t key)
{
	p->fresh_count[pool]++;
	jfr_put_number(&p->fresh[pool], key);
	return key;
}

static uint32_t begin(struct jfr_pools *p, enum jfr_pool pool)
{
	return begin_as(p, pool, ++p->last_key[pool]);
}

static uint32_t no_memory(struct jfr_pools *p)
{
	p->failed = ENOMEM;
	return 0;
}

/* The number of TEXT in S; never 0, not even of "". */
static uint32_t number_in(struct jfr_pools *p, struct strings *s, const char *text)
{
	uint32_t n;

	s->failed = false;
	n = strings_add(s, text, strlen(text));
	return s->failed ? no_memory(p) : n + 1;
}

static uint32_t text_number(struct jfr_pools *p, const char *text)
{
	return number_in(p, &p->texts, text);
}

/* Where the key of text N in POOL stands, NULL when out of memory. */
static uint32_t *place(struct jfr_pools *p, enum jfr_pool pool, uint32_t n)
{
	uint32_t *slot = n ? map_put(&p->by_text[pool], n, NULL) : NULL;

	if (!slot)
		no_memory(p);
	return slot;
}

uint32_t jfr_pool_symbol(struct jfr_pools *p, const char *text)
{
	uint32_t *slot = place(p, POOL_SYMBOL, text_number(p, text));

	if (slot && !*slot) {
		*slot = begin(p, POOL_SYMBOL);
		jfr_put_symbol(&p->fresh[POOL_SYMBOL], text);
	}
	return slot ? *slot : 0;
}

uint32_t jfr_pool_string(struct jfr_pools *p, const char *text)
{
	uint32_t *slot;

	if (p->tags.index.count >= JFR_TAGS || p->tags.length >= JFR_TAG_BYTES) {
		strings_free(&p->tags);
		map_clear(&p->by_text[POOL_STRING]);
	}
	slot = place(p, POOL_STRING, number_in(p, &p->tags, text));
	if (slot && !*slot) {
		*slot = begin(p, POOL_STRING);
		jfr_put_string(&p->fresh[POOL_STRING], text);
	}
	return slot ? *slot : 0;
}

/* The package of CLASS_NAME, 0 = none. */
static uint32_t package_of(struct jfr_pools *p, const char *class_name)
{
	const char *end = strrchr(class_name, '/');
	uint32_t *slot, symbol;
	char *name;

	/* of a library's file name it is none */
	if (!end || end == class_name)
		return 0;
	name = strndup(class_name, (size_t)(end - class_name));
	if (!name)
		return no_memory(p);
	slot = place(p, POOL_PACKAGE, text_number(p, name));
	if (slot && !*slot) {
		symbol = jfr_pool_symbol(p, name);
		*slot = begin(p, POOL_PACKAGE);
		jfr_put_number(&p->fresh[POOL_PACKAGE], symbol);
	}
	free(name);
	return slot ? *slot : 0;
}

/* The JVM names hidden classes Name+0x…: where that part begins, or NULL. */
static const char *hidden_part(const char *class_name)
{
	return strstr(class_name, "+0x");
}

/* The symbol of CLASS_NAME: hidden ones as agents see them and async-profiler writes them, Name.0x…. */
static uint32_t class_symbol(struct jfr_pools *p, const char *class_name)
{
	const char *hidden = hidden_part(class_name);
	uint32_t symbol;
	char *name;

	if (!hidden)
		return jfr_pool_symbol(p, class_name);
	name = strdup(class_name);
	if (!name)
		return no_memory(p);
	name[hidden - class_name] = '.';
	symbol = jfr_pool_symbol(p, name);
	free(name);
	return symbol;
}

static uint32_t class_key(struct jfr_pools *p, const char *name, uint32_t number)
{
	uint32_t *slot = place(p, POOL_CLASS, number), symbol, package;
	struct buffer *b = &p->fresh[POOL_CLASS];

	if (!slot || *slot)
		return slot ? *slot : 0;
	symbol = class_symbol(p, name);
	package = package_of(p, name);
	*slot = begin(p, POOL_CLASS);
	jfr_put_number(b, 0); /* class loader: not known */
	jfr_put_number(b, symbol);
	jfr_put_number(b, package);
	jfr_put_number(b, 0); /* modifiers: not known */
	buffer_putc(b, hidden_part(name) != NULL);
	return *slot;
}

uint32_t jfr_pool_class(struct jfr_pools *p, const char *name)
{
	uint32_t number = text_number(p, name);

	return number ? class_key(p, name, number) : 0;
}

uint32_t jfr_pool_method(struct jfr_pools *p, const char *class_name, const char *name,
			 const char *descriptor, bool native)
{
	uint32_t c = text_number(p, class_name), n = text_number(p, name), d = text_number(p, descriptor);
	uint32_t *pair, *slot, class, name_symbol, descriptor_symbol;
	struct buffer *b = &p->fresh[POOL_METHOD];

	if (!c || !n || !d)
		return 0;
	pair = map_put(&p->pairs, (uint64_t)c << 32 | n, NULL);
	if (!pair)
		return no_memory(p);
	if (!*pair)
		*pair = p->pairs.count;
	slot = map_put(&p->methods, (uint64_t)*pair << 33 | (uint64_t)d << 1 | native, NULL);
	if (!slot)
		return no_memory(p);
	if (*slot)
		return *slot;
	class = class_key(p, class_name, c);
	name_symbol = jfr_pool_symbol(p, name);
	descriptor_symbol = jfr_pool_symbol(p, descriptor);
	*slot = begin(p, POOL_METHOD);
	jfr_put_number(b, class);
	jfr_put_number(b, name_symbol);
	jfr_put_number(b, descriptor_symbol);
	jfr_put_number(b, native ? MODIFIER_NATIVE : 0); /* the others are not known */
	buffer_putc(b, 0);
	return *slot;
}

static uint64_t hash_frames(const struct jfr_frame *f, uint32_t count, uint64_t h)
{
	uint32_t i;

	for (i = 0; i < count; i++) {
		h = hash_mix(h ^ ((uint64_t)f[i].method << 32 | (uint32_t)f[i].line));
		h = hash_mix(h ^ ((uint64_t)f[i].bci << 8 | f[i].kind));
	}
	return h;
}

static void put_stack(struct buffer *b, const struct jfr_frame *f, uint32_t count, bool truncated)
{
	uint32_t i;

	buffer_putc(b, truncated);
	jfr_put_number(b, count);
	for (i = 0; i < count; i++) {
		jfr_put_number(b, f[i].method);
		jfr_put_number(b, (uint32_t)f[i].line);
		jfr_put_number(b, f[i].bci == JFR_NO_BCI ? 0 : f[i].bci);
		jfr_put_number(b, type_of_kind[f[i].kind]);
	}
}

struct wanted_stack {
	const struct jfr_pools *pools;
	uint64_t second_hash;
};

static bool is_stack(uint32_t number, const void *wanted)
{
	const struct wanted_stack *w = wanted;

	return w->pools->stack_ids.items[number - 1].second_hash == w->second_hash;
}

/* Stacks are told apart by 128 bits of hash. */
uint32_t jfr_pool_stack(struct jfr_pools *p, const struct jfr_frame *f, uint32_t count, bool truncated)
{
	uint64_t first = hash_frames(f, count, (uint64_t)count << 1 | truncated);
	uint64_t second = hash_frames(f, count, first ^ 0x9e3779b97f4a7c15ull);
	uint32_t *slot = map_intern(&p->stacks, first, is_stack, &(struct wanted_stack){p, second});
	struct jfr_stack_id *id;

	if (!slot)
		return no_memory(p);
	if (*slot)
		return p->stack_ids.items[*slot - 1].key;
	id = VECTOR_PUSH(&p->stack_ids);
	if (!id)
		return no_memory(p);
	*slot = (uint32_t)p->stack_ids.count;
	id->second_hash = second;
	id->key = begin(p, POOL_STACK);
	put_stack(&p->fresh[POOL_STACK], f, count, truncated);
	return id->key;
}

/* 32 bits of what a constant of T says; never 0. */
static uint32_t hash_thread(const struct jfr_thread *t)
{
	return (uint32_t)hash_mix(hash_mix(t->java_id << 1 | t->is_java) ^ hash_seeded(t->name, strlen(t->name))) | 1;
}

/* Whether T's system id may be its key: nothing else has it in the file, and nothing at all in the chunk. */
static bool may_have_id(struct jfr_pools *p, const struct jfr_thread *t)
{
	uint32_t hash = hash_thread(t), *known, *used;

	if (p->resumed || !t->tid || t->tid >= JFR_THREAD_KEYS || t->is_virtual)
		return false;
	known = p->thread_keys.count < THREADS_KNOWN ? map_put(&p->thread_keys, t->tid, NULL) :
						       map_get(&p->thread_keys, t->tid);
	if (!known || (*known && *known != hash))
		return false;
	*known = hash;
	used = map_put(&p->threads, t->tid, NULL);
	if (!used || *used)
		return false;
	*used = 1;
	return true;
}

uint32_t jfr_pool_thread(struct jfr_pools *p, const struct jfr_thread *t)
{
	uint32_t key = may_have_id(p, t) ? begin_as(p, POOL_THREAD, t->tid) : begin(p, POOL_THREAD);
	struct buffer *b = &p->fresh[POOL_THREAD];

	jfr_put_string(b, t->name);
	jfr_put_number(b, t->tid);
	jfr_put_string(b, t->is_java ? t->name : NULL);
	jfr_put_number(b, t->java_id);
	buffer_putc(b, t->is_virtual);
	return key;
}

static void put_fixed(struct buffer *out, unsigned type, const char *const *texts, unsigned count)
{
	unsigned i;

	jfr_put_number(out, JFR_CONSTANT_ID(type));
	jfr_put_number(out, count);
	for (i = 0; i < count; i++) {
		jfr_put_number(out, i);
		jfr_put_string(out, texts[i]);
	}
}

unsigned jfr_pools_take(struct jfr_pools *p, struct buffer *out)
{
	unsigned pool, count = 0;

	if (!p->fixed_written) {
		put_fixed(out, JFR_FRAME_TYPE, frame_types, ARRAY_LEN(frame_types));
		put_fixed(out, JFR_THREAD_STATE, states, ARRAY_LEN(states));
		put_fixed(out, JFR_GC_WHEN, gc_whens, ARRAY_LEN(gc_whens));
		count = 3;
	}
	for (pool = 0; pool < JFR_POOLS; pool++) {
		if (!p->fresh_count[pool])
			continue;
		jfr_put_number(out, JFR_CONSTANT_ID(type_of_pool[pool]));
		jfr_put_number(out, p->fresh_count[pool]);
		buffer_append(out, p->fresh[pool].data, p->fresh[pool].length);
		if (p->fresh[pool].failed)
			out->failed = p->fresh[pool].failed;
		count++;
	}
	return count;
}

void jfr_pools_taken(struct jfr_pools *p)
{
	unsigned pool;

	p->fixed_written = true;
	for (pool = 0; pool < JFR_POOLS; pool++) {
		p->fresh_count[pool] = 0;
		p->fresh[pool].length = 0;
	}
}

void jfr_pools_reset(struct jfr_pools *p)
{
	struct map threads = p->thread_keys;
	bool resumed = p->resumed;
	uint32_t keys[JFR_POOLS];

	memcpy(keys, p->last_key, sizeof(keys));
	memset(&p->thread_keys, 0, sizeof(p->thread_keys));
	jfr_pools_free(p);
	memcpy(p->last_key, keys, sizeof(keys));
	p->thread_keys = threads;
	p->resumed = resumed;
}

void jfr_pools_begin(struct jfr_pools *p, uint32_t first)
{
	int pool;

	jfr_pools_free(p);
	for (pool = 0; pool < JFR_POOLS; pool++)
		p->last_key[pool] = first;
	p->last_key[POOL_THREAD] += JFR_THREAD_KEYS;
	p->resumed = first != 0;
}

uint32_t jfr_pools_last_key(const struct jfr_pools *p)
{
	uint32_t last = p->last_key[POOL_THREAD] - JFR_THREAD_KEYS;
	int pool;

	for (pool = 0; pool < JFR_POOLS; pool++)
		if (pool != POOL_THREAD)
			last = MAX(last, p->last_key[pool]);
	return last;
}

void jfr_pools_free(struct jfr_pools *p)
{
	unsigned pool;

	strings_free(&p->texts);
	strings_free(&p->tags);
	map_free(&p->pairs);
	map_free(&p->methods);
	map_free(&p->stacks);
	map_free(&p->threads);
	map_free(&p->thread_keys);
	free(p->stack_ids.items);
	for (pool = 0; pool < JFR_POOLS; pool++) {
		map_free(&p->by_text[pool]);
		buffer_free(&p->fresh[pool]);
	}
	memset(p, 0, sizeof(*p));
	for (pool = 0; pool < JFR_POOLS; pool++)
		buffer_init(&p->fresh[pool], -1);
}

size_t jfr_pools_bytes(const struct jfr_pools *p)
{
	size_t bytes = strings_bytes(&p->texts) + strings_bytes(&p->tags) + map_bytes(&p->pairs) +
		       map_bytes(&p->methods) + map_bytes(&p->stacks) + map_bytes(&p->threads) +
		       p->stack_ids.capacity * sizeof(*p->stack_ids.items);
	unsigned i;

	for (i = 0; i < JFR_POOLS; i++)
		bytes += map_bytes(&p->by_text[i]);
	return bytes;
}
