/*
 * text.c - header, stacks and methods as plain text, laid out as async-profiler
 * lays them out; what it does not know follows in the same header.
 */
#include "profile/writers/text.h"

#include <errno.h>
#include <stdlib.h>

#include "common/base/decimal.h"
#include "profile/model/frame_name.h"
#include "profile/model/human.h"
#include "profile/model/loss_line.h"
#include "profile/model/methods.h"
#include "profile/model/profile_unit.h"
#include "profile/model/sorted.h"

#define TEXT_TRACES 100
#define TEXT_FLAT 200

static void put_reason(struct buffer *out, const char *name, uint64_t count, uint64_t whole)
{
	if (count)
		buffer_printf(out, "%-20s: %llu (%s%%)\n", name, (unsigned long long)count,
			      decimal(percent_of(count, whole), 2).text);
}

void text_header(struct buffer *out, const struct profile *p, const struct format_options *options)
{
	unsigned i;

	buffer_puts(out, "--- Execution profile ---\n");
	buffer_printf(out, "Total %-14s: %llu\n", samples_word(p), (unsigned long long)p->stored);
	for (i = 0; i < LOSS_REASONS; i++)
		put_reason(out, loss_names[i].name, p->lost[i], p->taken);
	for (i = 0; i < WALK_ENDS; i++)
		put_reason(out, walk_end_names[i].name, p->ended_early[i], p->taken);
	loss_details(out, p, options);
	buffer_putc(out, '\n');
}

/* One distinct stack: a range of its full depth. By weight, as the first column says. */
struct stack_trace {
	struct sorted_range range;
};

static int compare_traces(const void *left, const void *right)
{
	const struct stack_trace *a = left, *b = right;

	if (a->range.self_weight != b->range.self_weight)
		return a->range.self_weight < b->range.self_weight ? 1 : -1;
	return a->range.from < b->range.from ? -1 : 1;
}

static void put_trace(struct buffer *out, const struct sorted *s, const struct sorted_range *r)
{
	unsigned long long samples = r->self_samples, weight = r->self_weight;
	uint32_t i;

	buffer_printf(out, "--- %llu %s (%s%%), %llu %s%s\n", weight, profile_unit_shown(s->profile),
		      decimal(percent_of(weight, s->profile->weight_stored), 2).text, samples,
		      profile_sample_word(s->profile), human_plural(samples));
	for (i = 0; i < r->depth; i++)
		buffer_printf(out, "  [%2u] %s\n", i, sorted_text(s, r->from, r->depth - 1 - i));
	buffer_putc(out, '\n');
}

/* The distinct stacks of S, hottest first; returns how many. TRACES has room for all items. */
static uint32_t collect(const struct sorted *s, struct stack_trace *traces)
{
	uint32_t i, count = 0;

	for (i = 0; i < s->count; i++) {
		struct sorted_range r;

		if (!sorted_is_new(s, i))
			continue;
		r = sorted_range(s, i, sorted_depth(s, i));
		if (r.self_samples || r.self_weight)
			traces[count++].range = r;
	}
	qsort(traces, count, sizeof(*traces), compare_traces);
	return count;
}

/* The LIMIT hottest stacks, leaf first. 0 or -ENOMEM. */
static int put_traces(struct buffer *out, const struct profile *p, const struct format_options *options,
		      unsigned limit)
{
	unsigned style = format_style(STYLE_TEXT, options);
	struct stack_trace *traces = NULL;
	uint32_t count, i;
	uint64_t rest = 0;
	struct sorted s;

	if (!sorted_build(&s, p, style, format_by_thread(p, options)))
		traces = calloc((size_t)s.count + 1, sizeof(*traces));
	if (!traces) {
		sorted_free(&s);
		return -ENOMEM;
	}
	count = collect(&s, traces);
	for (i = 0; i < count && i < limit; i++)
		put_trace(out, &s, &traces[i].range);
	for (; i < count; i++)
		rest += traces[i].range.self_samples;
	if (count > limit)
		buffer_printf(out, "(%s more stacks with %s %ss, %s, are not shown)\n\n",
			      human_count(count - limit).text, human_count(rest).text,
			      profile_sample_word(p), human_percent(rest, p->stored).text);
	free(traces);
	sorted_free(&s);
	return 0;
}

/* The LIMIT methods with most self samples. 0 or -ENOMEM. */
static int put_methods(struct buffer *out, const struct profile *p, const struct format_options *options,
		       unsigned limit)
{
	unsigned style = format_style(STYLE_TEXT, options);
	struct methods m;
	uint32_t i, count = 0;
	int result = 0;

	if (methods_build(&m, p, style, true)) {
		methods_free(&m);
		return -ENOMEM;
	}
	buffer_printf(out, "%12s  percent  %6ss  top\n"
			   "  ----------  -------  -------  ---\n",
		      profile_unit(p), profile_sample_word(p));
	for (i = 0; i < m.count && count < limit; i++) {
		const struct method *row = &m.rows[i];

		if (!row->self)
			continue;
		count++;
		buffer_printf(out, "%12llu  %6s%%  %7llu  %s\n",
			      (unsigned long long)row->self_weight,
			      decimal(percent_of(row->self_weight, p->weight_stored), 2).text,
			      (unsigned long long)row->self, name_text(&m.names, row->name));
	}
	if (format_by_thread(p, options)) {
		buffer_putc(out, '\n');
		result = thread_table(out, p, &m.names, true, limit);
	}
	methods_free(&m);
	return result;
}

/* Header, then TRACES stacks and FLAT methods; 0 leaves a part out. */
static void write_text(const struct profile *p, const struct format_options *options,
		       struct buffer *out, unsigned traces, unsigned flat)
{
	int result = 0;

	text_header(out, p, options);
	if (p->stored && profile_has_waits(p))
		waits_tables(out, p, NULL, options);
	if (p->stored && p->io_count)
		io_tables(out, p, options);
	if (p->stored && traces)
		result = put_traces(out, p, options, traces);
	if (p->stored && flat && !result)
		result = put_methods(out, p, options, flat);
	if (result && !out->failed)
		out->failed = -result;
}

void format_text(const struct profile *p, const struct format_options *options, struct buffer *out)
{
	write_text(p, options, out, options->traces ? options->traces : TEXT_TRACES,
		   options->flat ? options->flat : TEXT_FLAT);
}

void format_traces(const struct profile *p, const struct format_options *options,
		   struct buffer *out)
{
	write_text(p, options, out, options->traces ? options->traces : TEXT_ALL, options->flat);
}

void format_flat(const struct profile *p, const struct format_options *options, struct buffer *out)
{
	write_text(p, options, out, options->traces, options->flat ? options->flat : TEXT_ALL);
}
