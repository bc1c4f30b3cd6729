#include "profile/readers/read_contexts.h"

#include <stdlib.h>
#include <string.h>

#define HEX "0123456789abcdefABCDEF"
#define DIGITS 16 /* of 64 bits */

enum context_word { TRACE, SPAN = TRACE + 4, LABELS = SPAN + 2, OTHERS, CONTEXT_WORDS };
enum pair_word { PAIR_THREAD, PAIR_CONTEXT, PAIR_WORDS };

/* ---- texts ---- */

static uint64_t number_of(const char *digits, size_t n)
{
	char text[DIGITS + 1];

	memcpy(text, digits, n);
	text[n] = '\0';
	return strtoull(text, NULL, 16);
}

void read_context_ids(struct profile_trace_context *c, const char *trace, const char *span)
{
	size_t n = strlen(trace), high = n > DIGITS ? n - DIGITS : 0;

	if (high <= DIGITS && strspn(trace, HEX) == n) {
		c->trace_high = number_of(trace, high);
		c->trace_low = number_of(trace + high, n - high);
	}
	n = strlen(span);
	if (n <= DIGITS && strspn(span, HEX) == n)
		c->span = number_of(span, n);
}

/* Line ends are what ends a key and a value. */
static void put_part(struct buffer *labels, const char *text, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		buffer_putc(labels, text[i] == '\n' ? ' ' : text[i]);
	buffer_putc(labels, '\n');
}

void read_context_label(struct buffer *labels, const char *key, size_t key_length, const char *value, size_t length)
{
	put_part(labels, key, key_length);
	put_part(labels, value, length);
}

/* The next ", " in TEXT; NULL. */
static const char *comma_in(const char *text)
{
	do
		text = strchr(text, ',');
	while (text && *++text != ' ');
	return text ? text - 1 : NULL;
}

/* Where the label at TEXT ends: at the last comma in front of the next key, which ends in a "=". */
static size_t label_length(const char *text)
{
	const char *comma = comma_in(text), *equals = comma ? strchr(comma, '=') : NULL, *next;

	if (!equals)
		return strlen(text);
	for (; (next = comma_in(comma + 1)) && next < equals; comma = next)
		;
	return (size_t)(comma - text);
}

void read_context_labels(struct buffer *labels, const char *text)
{
	size_t n, key;

	for (; *text; text += n, text += *text ? strlen(", ") : 0) {
		n = label_length(text);
		key = strcspn(text, "=");
		if (key < n)
			read_context_label(labels, text, key, text + key + 1, n - key - 1);
		else
			read_context_label(labels, text, n, "", 0);
	}
}

/* ---- numbers ---- */

static void put_wide(uint32_t words[2], uint64_t number)
{
	words[0] = (uint32_t)(number >> 32);
	words[1] = (uint32_t)number;
}

static uint64_t wide(const uint32_t words[2])
{
	return (uint64_t)words[0] << 32 | words[1];
}

/* LIST in TABLE of F. */
static uint32_t kept(struct read_aggregate *f, struct lists *table, const uint32_t *list, uint32_t count)
{
	uint32_t number = lists_add(table, list, count);

	f->no_memory |= number == LISTS_FAILED || f->strings.failed;
	return number;
}

uint32_t read_context_of_labels(struct read_aggregate *f, const struct profile_trace_context *c, uint32_t labels)
{
	uint32_t words[CONTEXT_WORDS] = {[LABELS] = labels, [OTHERS] = c->others};

	if (!(c->trace_high | c->trace_low | c->span) && !labels && !c->others)
		return 0;
	put_wide(words + TRACE, c->trace_high);
	put_wide(words + TRACE + 2, c->trace_low);
	put_wide(words + SPAN, c->span);
	return kept(f, &f->contexts, words, CONTEXT_WORDS) + 1;
}

uint32_t read_context_number(struct read_aggregate *f, const struct profile_trace_context *c)
{
	return read_context_of_labels(f, c, *c->labels ? strings_add(&f->strings, c->labels, strlen(c->labels)) : 0);
}

uint32_t read_context_pair(struct read_aggregate *f, uint32_t thread, uint32_t context)
{
	const uint32_t words[PAIR_WORDS] = {[PAIR_THREAD] = thread, [PAIR_CONTEXT] = context};

	return kept(f, &f->pairs, words, PAIR_WORDS);
}

uint32_t read_context_thread(const struct read_aggregate *f, uint32_t pair)
{
	uint32_t n;

	return lists_get(&f->pairs, pair, &n)[PAIR_THREAD];
}

uint32_t read_context_of(const struct read_aggregate *f, uint32_t pair)
{
	uint32_t n;

	return lists_get(&f->pairs, pair, &n)[PAIR_CONTEXT];
}

static struct profile_trace_context context_at(const struct read_aggregate *f, uint32_t i)
{
	uint32_t n;
	const uint32_t *words = lists_get(&f->contexts, i, &n);

	return (struct profile_trace_context){
		.trace_high = wide(words + TRACE), .trace_low = wide(words + TRACE + 2), .span = wide(words + SPAN),
		.labels = words[LABELS] ? strings_get(&f->strings, words[LABELS]) : "", .others = words[OTHERS]};
}

bool read_contexts_copy(const struct read_aggregate *f, struct profile *p)
{
	struct profile_trace_context *contexts = calloc(f->contexts.places.count + 1, sizeof(*contexts));
	uint32_t i;

	for (i = 0; contexts && i < f->contexts.places.count; i++)
		contexts[i] = context_at(f, i);
	p->trace_contexts = contexts;
	p->trace_context_count = contexts ? i : 0;
	p->per_trace_context = p->trace_context_count != 0;
	return contexts;
}

/* What TO calls context I of FROM. LABELS: what it calls the texts of those before. */
static uint32_t joined(struct read_aggregate *to, const struct read_aggregate *from, uint32_t i, struct map *labels)
{
	const struct profile_trace_context c = context_at(from, i);
	uint32_t n, text = lists_get(&from->contexts, i, &n)[LABELS], *known = map_put(labels, text, NULL);

	if (known && text && !*known)
		*known = strings_add(&to->strings, c.labels, strlen(c.labels));
	to->no_memory |= !known;
	return known ? read_context_of_labels(to, &c, *known) : 0;
}

void read_contexts_join(struct read_aggregate *to, const struct read_aggregate *from, const uint32_t *threads,
			uint32_t *pairs)
{
	uint32_t *contexts = calloc(from->contexts.places.count + 2, sizeof(*contexts)), i, thread, context;
	struct map labels = {0};

	to->no_memory |= !contexts;
	for (i = 0; i < from->pairs.places.count && !to->no_memory; i++) {
		thread = read_context_thread(from, i);
		context = read_context_of(from, i);
		if (context && !contexts[context])
			contexts[context] = joined(to, from, context - 1, &labels);
		context = contexts[context];
		pairs[i] = read_context_pair(to, thread == READ_NO_THREAD ? thread : threads[thread], context);
	}
	map_free(&labels);
	free(contexts);
}
