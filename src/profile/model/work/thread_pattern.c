/*
 * thread_pattern.c - names without the numbers that tell threads of one kind apart.
 *
 * A name's shape is its text with NUMBER for each number. All names of one shape are compared with its first one: that
 * says which numbers differ. A third pass over the shapes that are still in pieces, so that it is linear in all.
 */
#include "profile/model/work/thread_pattern.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/ascii.h"
#include "common/base/buffer.h"
#include "common/base/vector.h"

#define NUMBER '\1'
#define NUMBERS 8  /* of a name; further ones always differ */
#define HEX_LEAST 6 /* letters and digits that may be a number in base 16: "7f8c3a", not "ad1" */
#define NO_NAME "(no name)"
#define ENDED " (ended)" /* threads that have ended share an entry, whose name has # for each number */

struct number {
	const char *text;
	uint32_t length;
};

struct shape {
	struct number first[NUMBERS]; /* those of its first name */
	uint8_t differ;               /* a bit for each number that is not the same in all names */
	bool in_pieces;               /* all that differ become '*', not the last alone */
	uint32_t names, patterns;
};

struct patterns {
	struct buffer text; /* the shape, or the pattern, that is being spelled */
	struct number numbers[NUMBERS];
	uint32_t count;     /* of numbers, also those that have no room */
	struct map by_shape; /* number of its text → shape + 1 */
	VECTOR(struct shape) shapes;
	struct map seen;    /* pattern, whose shape has counted it */
};

/* Threads that get a name for each task: what stands behind this is of the task, and one thread has many of them. */
static const char *const renamed[] = {"Executor task launch worker for task "};

/* ---- numbers ---- */

static bool is_word(char c)
{
	return ascii_is_letter(c) || ascii_is_digit(c);
}

/* Whether WORD[0..N) is one number in base 16. */
static bool is_hex(const char *word, size_t n)
{
	bool said = n > 2 && word[0] == '0' && word[1] == 'x', digit = said;
	size_t i;

	for (i = said ? 2 : 0; i < n; i++) {
		char c = (char)(word[i] | 0x20);

		if (!ascii_is_digit(word[i]) && (c < 'a' || c > 'f'))
			return false;
		digit |= ascii_is_digit(word[i]);
	}
	return digit && (said || n >= HEX_LEAST);
}

/* "C2", "G1": a name that has more behind it. */
static bool is_short_name(const char *word, size_t n, const char *end)
{
	return n == 2 && word[0] >= 'A' && word[0] <= 'Z' && word + n < end;
}

static void put_number(struct patterns *s, const char *text, size_t length)
{
	if (s->count < NUMBERS)
		s->numbers[s->count] = (struct number){text, (uint32_t)length};
	s->count++;
	buffer_putc(&s->text, NUMBER);
}

static void take_word(struct patterns *s, const char *word, size_t n, const char *end)
{
	size_t i, digits;

	if (is_hex(word, n)) {
		put_number(s, word, n);
		return;
	}
	if (is_short_name(word, n, end)) {
		buffer_append(&s->text, word, n);
		return;
	}
	for (i = 0; i < n; i += digits) {
		for (digits = 0; i + digits < n && ascii_is_digit(word[i + digits]); digits++)
			;
		if (digits)
			put_number(s, word + i, digits);
		else
			buffer_putc(&s->text, word[i]);
		digits += !digits;
	}
}

/* The shape of NAME to s->text, its numbers to s->numbers. */
static void take_name(struct patterns *s, const char *name)
{
	size_t length = strlen(name), n;
	bool ended = length > strlen(ENDED) && strcmp(name + length - strlen(ENDED), ENDED) == 0;
	const char *end = name + length - (ended ? strlen(ENDED) : 0);

	s->text.length = 0;
	s->count = 0;
	for (n = 0; n < ARRAY_LEN(renamed); n++) {
		size_t same = strlen(renamed[n]);

		if (strncmp(name, renamed[n], same) != 0)
			continue;
		buffer_append(&s->text, name, same);
		put_number(s, NULL, 0);
		name = end;
	}
	for (; name < end; name += n) {
		for (n = 0; name + n < end && is_word(name[n]); n++)
			;
		if (n) {
			take_word(s, name, n, end);
			continue;
		}
		n = 1;
		if (ended && *name == '#')
			put_number(s, NULL, 0);
		else
			buffer_putc(&s->text, *name == NUMBER ? ' ' : *name);
	}
	buffer_putc(&s->text, '\0');
}

/* ---- shapes ---- */

static bool is_same(const struct number *a, const struct number *b)
{
	return a->text && b->text && a->length == b->length && memcmp(a->text, b->text, a->length) == 0;
}

/* The shape of the name that was taken, which counts it; NULL: no memory. */
static struct shape *shape_of(struct patterns *s, struct strings *texts)
{
	uint32_t number = strings_add(texts, s->text.data, s->text.length - 1), *slot, i;
	struct shape *shape;
	bool fresh;

	slot = s->text.failed || texts->failed ? NULL : map_put(&s->by_shape, number, &fresh);
	if (!slot)
		return NULL;
	if (fresh) {
		shape = VECTOR_PUSH(&s->shapes);
		if (!shape)
			return NULL;
		memcpy(shape->first, s->numbers, sizeof(shape->first));
		*slot = (uint32_t)s->shapes.count;
	}
	shape = &s->shapes.items[*slot - 1];
	shape->names++;
	for (i = 0; i < MIN(s->count, NUMBERS); i++)
		if (!is_same(&shape->first[i], &s->numbers[i]))
			shape->differ |= (uint8_t)(1u << i);
	return shape;
}

/* Which numbers of SHAPE become '*'. */
static unsigned folded(const struct shape *shape)
{
	unsigned last = shape->differ;

	if (shape->in_pieces)
		return shape->differ;
	while (last & (last - 1))
		last &= last - 1;
	return last;
}

/* The pattern of the name that was taken, in TEXTS; 0 with texts->failed without memory. */
static uint32_t spell(struct patterns *s, const struct shape *shape, struct strings *texts)
{
	unsigned fold = folded(shape), at = 0;
	struct buffer pattern = BUFFER_INIT;
	const char *c;
	uint32_t number = 0;

	for (c = s->text.data; *c; c++) {
		const struct number *n = &s->numbers[MIN(at, NUMBERS - 1u)];

		if (*c != NUMBER) {
			buffer_putc(&pattern, *c);
			continue;
		}
		if (at >= NUMBERS || fold & 1u << at || !n->text)
			buffer_putc(&pattern, '*');
		else
			buffer_append(&pattern, n->text, n->length);
		at++;
	}
	if (pattern.failed)
		texts->failed = true;
	else
		number = pattern.length ? strings_add(texts, pattern.data, pattern.length)
					: strings_add(texts, NO_NAME, strlen(NO_NAME));
	buffer_free(&pattern);
	return number;
}

static bool each_name(struct patterns *s, const struct profile *p, struct strings *texts, uint32_t *of_thread,
		      bool (*fn)(struct patterns *s, struct shape *shape, struct strings *texts, uint32_t *of_thread))
{
	uint32_t i, *slot;

	for (i = 0; i < p->thread_count; i++) {
		if (of_thread[i])
			continue;
		take_name(s, p->threads[i].name);
		slot = map_get(&s->by_shape, strings_add(texts, s->text.data, s->text.length - 1));
		if (!slot || texts->failed || !fn(s, &s->shapes.items[*slot - 1], texts, &of_thread[i]))
			return false;
	}
	return true;
}

/* How many patterns SHAPE comes to with its last number folded. */
static bool count_pattern(struct patterns *s, struct shape *shape, struct strings *texts, uint32_t *of_thread)
{
	uint32_t number = spell(s, shape, texts);
	bool fresh;

	(void)of_thread;
	if (texts->failed || !map_put(&s->seen, number, &fresh))
		return false;
	shape->patterns += fresh;
	return true;
}

static bool give_pattern(struct patterns *s, struct shape *shape, struct strings *texts, uint32_t *of_thread)
{
	*of_thread = spell(s, shape, texts);
	return !texts->failed;
}

static int by_shape(struct patterns *s, const struct profile *p, struct strings *texts, uint32_t *of_thread)
{
	size_t at;
	uint32_t i;

	for (i = 0; i < p->thread_count; i++) {
		if (of_thread[i])
			continue;
		take_name(s, p->threads[i].name);
		if (!shape_of(s, texts))
			return -ENOMEM;
	}
	if (!each_name(s, p, texts, of_thread, count_pattern))
		return -ENOMEM;
	for (at = 0; at < s->shapes.count; at++) {
		struct shape *shape = &s->shapes.items[at];

		shape->in_pieces = shape->patterns > 2 && shape->names < 2 * shape->patterns;
	}
	return each_name(s, p, texts, of_thread, give_pattern) ? 0 : -ENOMEM;
}

/* ---- as the user says ---- */

static void by_namer(const struct profile *p, const struct thread_namer *namer, struct strings *texts,
		     uint32_t *of_thread)
{
	size_t length = 0;
	uint32_t i;

	for (i = 0; i < p->thread_count; i++) {
		const char *part = namer->part(namer, p->threads[i].name, &length);

		if (part && length)
			of_thread[i] = strings_add(texts, part, length);
	}
}

int thread_patterns(const struct profile *p, const struct thread_namer *namer, struct strings *texts,
		    uint32_t *of_thread)
{
	struct patterns s = {.text = BUFFER_INIT};
	int rc;

	memset(of_thread, 0, p->thread_count * sizeof(*of_thread));
	if (namer)
		by_namer(p, namer, texts, of_thread);
	rc = texts->failed ? -ENOMEM : by_shape(&s, p, texts, of_thread);
	buffer_free(&s.text);
	map_free(&s.by_shape);
	map_free(&s.seen);
	free(s.shapes.items);
	return rc;
}
