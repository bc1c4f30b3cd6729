/*
 * callgrind.c - the format of valgrind's callgrind, version 1, for KCachegrind, QCachegrind and callgrind_annotate:
 * what each method cost itself, line by line, and who called whom.
 *
 * The file has no stacks, so a method that stands several times in one must not be counted several times: a stack's
 * cost is on the call that leads to a method first, seen from the root; the calls of its recursion cost nothing. What
 * a method's callers spent in it is then its inclusive cost, exactly. [root] calls what stands at the root of a stack,
 * which may be called elsewhere. Calls are samples that had them: a profile does not know how often it was.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/clean.h"
#include "common/base/utf8.h"
#include "profile/exports/dictionary.h"
#include "profile/exports/export.h"
#include "profile/exports/value_types.h"

#define ROOT "[root]"
#define NO_NAME "[no name]"

/* What a row of costs is of: method, line, and whom it called; 0: its own cost. */
enum { ROW_METHOD, ROW_LINE, ROW_CALLED, ROW_WORDS };

struct callgrind {
	struct buffer *out;
	struct dictionary words;
	struct lists rows;
	VECTOR(uint64_t) costs;    /* of each row: how many calls, then all numbers of the file */
	uint64_t *totals;
	unsigned types;
	uint32_t root;             /* a function's number, as all of them */
	bool *named;               /* functions whose name was written */
};

/* The costs of a row, to be added to; NULL: out of memory. */
static uint64_t *costs_of(struct callgrind *w, uint32_t method, uint32_t line, uint32_t called)
{
	const uint32_t words[ROW_WORDS] = {method, line, called};
	uint32_t row = lists_add(&w->rows, words, ROW_WORDS);
	size_t i, size = 1 + (size_t)w->types;

	w->words.failed |= row == LISTS_FAILED;
	for (i = w->costs.count; !w->words.failed && i < ((size_t)row + 1) * size; i++) {
		const uint64_t *added = VECTOR_PUSH(&w->costs);

		w->words.failed |= !added;
	}
	return w->words.failed ? NULL : w->costs.items + row * size;
}

/* The numbers of a profile, where they stand among those of the file, and its functions. */
struct source {
	const struct profile *p;
	struct value_type types[VALUE_TYPES_MOST];
	unsigned first, count;
	uint32_t *functions;
	uint32_t *seen; /* by function: the last stack that it was met in, + 1 */
};

/* Add stack S to a row; COST: it is all there is of it, else a call that is counted elsewhere. */
static void add(struct callgrind *w, const struct source *from, const struct profile_stack *s, uint64_t *costs,
		bool cost)
{
	unsigned i;

	if (!costs)
		return;
	costs[0] += s->samples;
	for (i = 0; cost && i < from->count; i++)
		costs[1 + from->first + i] += value_of(s, &from->types[i]);
}

static uint32_t line_of(const struct profile *p, uint32_t frame)
{
	return p->frames[frame].line > 0 ? (uint32_t)p->frames[frame].line : 0;
}

static void add_stack(struct callgrind *w, const struct source *from, uint32_t number)
{
	const struct profile *p = from->p;
	const struct profile_stack *s = &p->stacks[number];
	uint32_t caller = w->root, line = 0, i, frame, function;
	unsigned k;

	for (i = 0; i < s->depth || i == 0; i++) {
		frame = s->depth ? s->frames[i] : p->frame_count;
		function = from->functions[frame];
		add(w, from, s, costs_of(w, caller, line, function), from->seen[function] != number + 1);
		from->seen[function] = number + 1;
		caller = function;
		line = s->depth ? line_of(p, frame) : 0;
	}
	add(w, from, s, costs_of(w, caller, line, 0), true);
	for (k = 0; k < from->count; k++)
		w->totals[from->first + k] += value_of(s, &from->types[k]);
}

static void add_profile(struct callgrind *w, const struct profile *p, const struct format_options *options,
			unsigned first)
{
	struct source from = {.p = p, .first = first};
	uint32_t i;

	from.count = value_types_of(p, from.types);
	from.functions = dictionary_functions(&w->words, p, options);
	from.seen = calloc(w->words.functions.places.count + 1, sizeof(*from.seen));
	w->words.failed |= !from.seen;
	for (i = 0; i < p->stack_count && !w->words.failed; i++)
		add_stack(w, &from, i);
	free(from.functions);
	free(from.seen);
}

/* TEXT on this line: what would end it becomes a blank, and what would not be seen is written out. */
static void put_text(struct callgrind *w, const char *text)
{
	struct buffer valid = BUFFER_INIT;
	size_t i;

	utf8_put(&valid, text);
	for (i = 0; i < valid.length; i++)
		if ((unsigned char)valid.data[i] < ' ' || valid.data[i] == 0x7f)
			valid.data[i] = ' ';
	clean_put(w->out, valid.length ? valid.data : "", valid.length, CLEAN_LINE);
	if (valid.failed)
		w->out->failed = w->out->failed ? w->out->failed : valid.failed;
	buffer_free(&valid);
}

static void put_line(struct callgrind *w, const char *key, const char *text)
{
	if (!*text)
		return;
	buffer_printf(w->out, "%s: ", key);
	put_text(w, text);
	buffer_putc(w->out, '\n');
}

/* The name of FUNCTION after KEY, from the second time on by number alone. */
static void put_function(struct callgrind *w, const char *key, uint32_t function)
{
	uint32_t text = dictionary_only(&w->words.functions, function - 1);
	const char *name = text ? dictionary_get_text(&w->words, text) : "";

	buffer_printf(w->out, "%s=(%u)", key, function);
	if (!w->named[function]) {
		buffer_putc(w->out, ' ');
		put_text(w, name[strspn(name, " ")] ? name : NO_NAME);
	}
	w->named[function] = true;
	buffer_putc(w->out, '\n');
}

static void put_costs(struct callgrind *w, const uint64_t *costs)
{
	unsigned i;

	for (i = 0; i < w->types; i++)
		buffer_printf(w->out, " %llu", (unsigned long long)costs[i]);
	buffer_putc(w->out, '\n');
}

struct order {
	uint32_t words[ROW_WORDS], row;
};

static int by_method(const void *a, const void *b)
{
	static const unsigned char order[ROW_WORDS] = {ROW_METHOD, ROW_CALLED, ROW_LINE};
	const struct order *x = a, *y = b;
	size_t i;

	for (i = 0; i < ROW_WORDS; i++)
		if (x->words[order[i]] != y->words[order[i]])
			return x->words[order[i]] < y->words[order[i]] ? -1 : 1;
	return 0;
}

static void put_row(struct callgrind *w, const struct order *o)
{
	const uint64_t *costs = w->costs.items + (size_t)o->row * (1 + (size_t)w->types);

	if (o->words[ROW_CALLED]) {
		put_function(w, "cfn", o->words[ROW_CALLED]);
		/* readers take a call that was never for a cost of the method itself */
		buffer_printf(w->out, "calls=%llu 0\n", (unsigned long long)MAX(costs[0], 1U));
	}
	buffer_printf(w->out, "%u", o->words[ROW_LINE]);
	put_costs(w, costs + 1);
}

static void put_rows(struct callgrind *w)
{
	uint32_t count = (uint32_t)w->rows.places.count, i, n;
	struct order *order = calloc((size_t)count + 1, sizeof(*order));

	w->named = calloc(w->words.functions.places.count + 1, sizeof(*w->named));
	w->words.failed |= !order || !w->named;
	for (i = 0; !w->words.failed && i < count; i++) {
		memcpy(order[i].words, lists_get(&w->rows, i, &n), sizeof(order[i].words));
		order[i].row = i;
	}
	if (!w->words.failed)
		qsort(order, count, sizeof(*order), by_method);
	buffer_puts(w->out, "\nfl=(1) ???\n");
	for (i = 0; !w->words.failed && i < count; i++) {
		if (!i || order[i].words[ROW_METHOD] != order[i - 1].words[ROW_METHOD])
			put_function(w, "fn", order[i].words[ROW_METHOD]);
		put_row(w, &order[i]);
	}
	free(order);
	free(w->named);
}

/* A word: blanks stand between them. */
static void put_event(struct callgrind *w, const char *name)
{
	buffer_putc(w->out, ' ');
	for (; *name; name++)
		buffer_putc(w->out, (unsigned char)*name <= ' ' || *name == 0x7f ? '_' : *name);
}

static void put_head(struct callgrind *w, const struct profile *const *profiles, uint32_t count)
{
	struct value_type types[VALUE_TYPES_MOST];
	unsigned n, k;
	uint32_t i;

	buffer_puts(w->out, "# callgrind format\nversion: 1\ncreator: jstrobe " JSTROBE_VERSION "\n");
	if (profiles[0]->pid)
		buffer_printf(w->out, "pid: %d\n", profiles[0]->pid);
	put_line(w, "cmd", profiles[0]->main_class);
	buffer_puts(w->out, "positions: line\nevents:");
	for (i = 0; i < count; i++) {
		n = value_types_of(profiles[i], types);
		for (k = 0; k < n; k++)
			put_event(w, types[k].name);
	}
	buffer_puts(w->out, "\nsummary:");
	put_costs(w, w->totals);
}

/* The number of [root]; its name is one of the functions'. */
static uint32_t root_of(struct callgrind *w)
{
	uint32_t name = dictionary_text(&w->words, ROOT);
	uint32_t number = w->words.failed ? LISTS_FAILED : lists_add(&w->words.functions, &name, 1);

	w->words.failed |= number == LISTS_FAILED;
	return number + 1;
}

void export_callgrind(const struct profile *const *profiles, uint32_t count, const struct format_options *options,
		      struct buffer *out)
{
	struct callgrind w = {.out = out};
	struct value_type types[VALUE_TYPES_MOST];
	unsigned first = 0;
	uint32_t i;

	for (i = 0; i < count; i++)
		w.types += value_types_of(profiles[i], types);
	w.totals = calloc((size_t)w.types + 1, sizeof(*w.totals));
	w.words.failed = !w.totals;
	w.root = w.words.failed ? 0 : root_of(&w);
	for (i = 0; i < count && !w.words.failed; i++) {
		add_profile(&w, profiles[i], options, first);
		first += value_types_of(profiles[i], types);
	}
	if (!w.words.failed) {
		put_head(&w, profiles, count);
		put_rows(&w);
	}
	if (w.words.failed && !out->failed)
		out->failed = ENOMEM;
	dictionary_free(&w.words);
	lists_free(&w.rows);
	free(w.costs.items);
	free(w.totals);
}
