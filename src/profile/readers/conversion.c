/*
 * conversion.c - which reader reads a file, by what it begins with, and what cannot be asked of each format.
 */
#include "profile/readers/conversion.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "profile/model/human.h"
#include "profile/readers/others/others.h"
#include "profile/readers/range.h"

#define SIZE_FOR_THREADS LIMIT_BYTES(8u << 20) /* bytes */
#define THREADS_MAX 4               /* each holds the constants of a chunk */

int conversion_no_memory(const struct conversion *c, struct error *err)
{
	bool recording = c->in.bytes && chunk_is_recording(&c->in);

	if (c->aggregate.too_much)
		return error_set(err, E2BIG, "%s: it has %s, more than a file of its size can mean: damaged, or made "
				 "to exhaust who reads it%s", c->in.name, c->aggregate.too_much,
				 recording ? "; parts of it may be read with --event, or --from and --to" : "");
	return error_set(err, ENOMEM, "out of memory%s",
			 recording ? "; fewer events or a part of the time (--from, --to) need less" : "");
}

bool conversion_is_part(const struct conversion *c)
{
	return c->selection.in_range || c->selection.left || *c->selection.states || *c->selection.threads ||
	       c->selection.spans || c->options->grain || context_filter_is_set(&c->selection.context_filter);
}

/* SPAN: when the file begins and ends. */
static int find_range(struct conversion *c, const struct options *o,
		      int (*span)(const struct input *in, int64_t *start, int64_t *end), struct error *err)
{
	struct selection *s = &c->selection;
	int64_t start, end;
	int rc;

	rc = span(&c->in, &start, &end);
	if (rc == -ENOMEM)
		return conversion_no_memory(c, err);
	if (rc)
		return error_set(err, -rc, "%s: no chunk of this recording can be read", c->in.name);
	if (o->from[0])
		rc = range_moment(o->from, start, end, "--from", &s->from, err);
	if (rc == 0 && o->to[0])
		rc = range_moment(o->to, start, end, "--to", &s->to, err);
	if (rc == 0 && s->from >= s->to)
		rc = error_set(err, EINVAL, "--from %s is not before --to %s", o->from, o->to);
	s->start = start;
	s->blocks_from = s->moments_from = MAX(s->from, start);
	s->blocks_to = MIN(s->to, end);
	c->aggregate.marks.from = s->moments_from;
	c->aggregate.marks.to = s->blocks_to;
	s->by_block = c->aggregate.by_block = o->by_block && s->blocks_from < s->blocks_to;
	return rc;
}

static int read_stacks(struct conversion *c, struct error *err)
{
	if (c->selection.spans)
		return error_set(err, EINVAL, "%s: collapsed stacks have no spans; leave out --latency and --tag",
				 c->in.name);
	if (c->selection.left)
		return error_set(err, EINVAL, "%s: collapsed stacks do not say what was freed; leave out --leak",
				 c->in.name);
	if (conversion_is_part(c) || *c->selection.families)
		return error_set(err, EINVAL, "%s: collapsed stacks do not say when, in which state and of what event "
				 "they are; leave out --event, --filter, --state, --from, --to, "
				 "--trace-id, --span and --label", c->in.name);
	return collapsed_read(&c->in, &c->aggregate, &c->notes, err);
}

/* Whether IN is one object a line, as a stream or an export has them. */
static bool is_lines(const struct input *in)
{
	const uint8_t *newline = memchr(in->bytes, '\n', in->size), *end = in->bytes + in->size;

	return newline && newline > in->bytes && newline[-1] == '}' && newline + 1 < end && newline[1] == '{';
}

/* What is asked for can be told of a file. */
static int check_threads(const struct conversion *c, struct error *err)
{
	const char *list = c->selection.threads;

	if (strncmp(list, "group:", 6) == 0 || strstr(list, ";group:") || strstr(list, ",group:"))
		return error_set(err, EINVAL, "%s: it does not say of which groups its threads are; take "
				 "--filter name:PATTERN, or ids", c->in.name);
	return 0;
}

static int read_saved(struct conversion *c, struct error *err)
{
	struct selection *s = &c->selection;
	int rc;

	if (s->left)
		return error_set(err, EINVAL, "%s: this JSON has sums, and does not say what was freed; leave out "
				 "--leak", c->in.name);
	if (s->spans)
		return error_set(err, EINVAL, "%s: JSON does not have all spans; leave out --latency and --tag, or "
				 "take a recording (.jfr)", c->in.name);
	rc = check_threads(c, err);
	if (rc == 0 && s->in_range)
		rc = find_range(c, c->options, saved_span, err);
	s->by_block = c->aggregate.by_block = false;
	if (rc)
		return rc;
	rc = saved_read(&c->in, s, &c->aggregate, &c->info, &c->notes, err);
	if (rc == -EINVAL && is_lines(&c->in))
		error_set(err, EINVAL, "%s: JSON with a line for each sample or stack (ndjson, a stream), which is "
			  "written, but not read; convert the recording or JSON that it was made of", c->in.name);
	return rc;
}

/* A file of another profiler, by READ. KIND: what it is called. */
static int read_foreign(struct conversion *c, const char *kind,
			int (*read)(struct conversion *c, struct error *err), struct error *err)
{
	if (conversion_is_part(c))
		return error_set(err, EINVAL, "%s: %s is read as a whole; leave out --filter, --state, --from, --to, "
				 "--latency, --tag, --leak, --trace-id, --span and --label", c->in.name, kind);
	return read(c, err);
}

/* JSON: ours, unless a key says that it is another's. */
static int read_json(struct conversion *c, struct error *err)
{
	switch (foreign_json_kind(&c->in)) {
	case FOREIGN_SPEEDSCOPE:
		return read_foreign(c, "a file of speedscope", speedscope_read, err);
	case FOREIGN_FIREFOX:
		return read_foreign(c, "a file of the Firefox Profiler", firefox_read, err);
	case FOREIGN_OTLP:
		return read_foreign(c, "JSON of OTLP", otlp_json_read, err);
	default:
		return read_saved(c, err);
	}
}

/* Small files are read by one. */
static unsigned threads_for(uint64_t size)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	return size < SIZE_FOR_THREADS || cpus < 1 ? 1 : (unsigned)MIN(cpus, THREADS_MAX);
}

/* No span is as --latency and --tag want it: which there are. */
static int no_span(const struct conversion *c, struct error *err)
{
	const struct spans *s = &c->spans;
	struct buffer names = BUFFER_INIT;
	char took[80] = "", called[300] = "";
	int rc;

	if (!s->all)
		return error_set(err, ENODATA, "%s: it has no spans (profiler.Span, jdk.MethodTrace), which --latency "
				 "and --tag choose by", c->in.name);
	if (*s->tag)
		snprintf(called, sizeof(called), " is called '%.200s'", s->tag);
	if (s->least)
		snprintf(took, sizeof(took), " took %s%s", human_time(s->least).text, *s->tag ? " or more" : "");
	spans_put_names(s, &names);
	rc = error_set(err, ENODATA, "%s: none of its %s span%s%s%s%s (the longest took %s); they are called %s",
		       c->in.name, human_count(s->all).text, human_plural(s->all), called,
		       *called && *took ? " and" : "", took, human_time(s->longest).text,
		       names.failed || !names.length ? "nothing" : names.data);
	buffer_free(&names);
	return rc;
}

static int read_recording(struct conversion *c, const struct options *o, struct error *err)
{
	int rc = check_threads(c, err);

	if (rc == 0)
		rc = find_range(c, o, recording_span, err);
	if (rc)
		return rc;
	rc = recording_read(&c->in, &c->selection, &c->aggregate, &c->info, o->lines, threads_for(c->in.size));
	if (rc == -ENOMEM)
		return conversion_no_memory(c, err);
	if (rc)
		return error_set(err, -rc, "%s: no chunk of this recording can be read", c->in.name);
	if (c->selection.spans && !c->spans.items.count)
		return no_span(c, err);
	recording_info_notes(&c->info, c->in.name, &c->notes);
	return 0;
}

int conversion_read(struct conversion *c, struct error *err)
{
	if (chunk_is_recording(&c->in))
		return read_recording(c, c->options, err);
	if (saved_is(&c->in))
		return read_json(c, err);
	if (pprof_is(&c->in))
		return read_foreign(c, "a file of pprof", pprof_read, err);
	if (otlp_is(&c->in))
		return read_foreign(c, "a file of OTLP", otlp_read, err);
	if (perf_script_is(&c->in))
		return read_foreign(c, "output of perf script", perf_script_read, err);
	return read_stacks(c, err);
}
