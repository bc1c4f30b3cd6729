/*
 * io_tables.c - tables of a profile of calls that read, write and the like: by file, by peer, by other things, and by
 * the place in the program that they come from.
 */
#include "profile/writers/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/clean.h"
#include "common/base/decimal.h"
#include "profile/model/human.h"

#define LINES 10

static bool is_shown(const struct profile_io *io, unsigned kinds)
{
	return kinds >> io->kind & 1;
}

static void put_line(struct buffer *out, const struct profile *p, const struct profile_io *io)
{
	uint64_t time = io->time ? io->time : io->idle;

	buffer_printf(out, "%8s ", human_time(time).text);
	if (io->time)
		buffer_printf(out, "%6s%%", decimal(percent_of(io->time, p->weight_stored), 2).text);
	else
		buffer_puts(out, "   idle");
	buffer_printf(out, " %9s %9s %9s  %s ", human_count(io->calls).text, human_bytes(io->bytes).text,
		      human_time(io->longest).text, io_operation_names[io->operation]);
	clean_name(out, io->target);
	if (io->time && io->idle)
		buffer_printf(out, ", and %s idle", human_time(io->idle).text);
	buffer_putc(out, '\n');
}

/* Lines of what is of KINDS, bits by enum io_kind; nothing where there is none. */
static void put_table(struct buffer *out, const struct profile *p, unsigned kinds, const char *what, uint32_t limit)
{
	uint32_t i, count = 0;

	for (i = 0; i < p->io_count; i++) {
		if (!is_shown(&p->io[i], kinds))
			continue;
		if (!count++)
			buffer_printf(out, "    time      %%     calls     bytes   longest  %s\n", what);
		if (count <= limit)
			put_line(out, p, &p->io[i]);
	}
	if (count > limit)
		buffer_printf(out, "         and %s more\n", human_count(count - limit).text);
	if (count)
		buffer_putc(out, '\n');
}

/* ---- by place ---- */

struct place {
	uint32_t name;
	uint64_t weight, samples;
};

static bool is_of_jdk(const struct profile_frame *f)
{
	static const char *const packages[] = {"java/", "javax/", "jdk/", "sun/", "com/sun/"};
	size_t i;

	for (i = 0; f->class_name && i < ARRAY_LEN(packages); i++)
		if (strncmp(f->class_name, packages[i], strlen(packages[i])) == 0)
			return true;
	return !f->class_name;
}

/* The innermost frame that is the program's own; else the innermost one. S's last frame says what it was about. */
static uint32_t place_of(const struct profile *p, const struct profile_stack *s)
{
	uint32_t i;

	for (i = s->depth > 1 ? s->depth - 1 : 0; i > 0; i--)
		if (!is_of_jdk(&p->frames[s->frames[i - 1]]))
			return s->frames[i - 1];
	return s->frames[s->depth > 1 ? s->depth - 2 : 0];
}

static int heaviest_first(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	return x->weight < y->weight ? 1 : x->weight > y->weight ? -1 : 0;
}

static void put_places(struct buffer *out, const struct profile *p, const struct name_table *names,
		       struct place *places, uint32_t limit)
{
	uint32_t i, count = 0;

	for (i = 0; i < p->stack_count; i++) {
		const struct profile_stack *s = &p->stacks[i];
		uint32_t name = s->depth ? names->of_frame[place_of(p, s)] : names->no_frames;

		places[name].name = name;
		places[name].weight += s->weight;
		places[name].samples += s->samples;
	}
	qsort(places, names->count, sizeof(*places), heaviest_first);
	buffer_puts(out, "    time      %   samples  asked for by\n");
	for (i = 0; i < names->count && places[i].weight; i++) {
		if (count++ >= limit)
			continue;
		buffer_printf(out, "%8s %6s%% %9s  ", human_time(places[i].weight).text,
			      decimal(percent_of(places[i].weight, p->weight_stored), 2).text,
			      human_count(places[i].samples).text);
		buffer_printf(out, "%s\n", name_text(names, places[i].name));
	}
	if (count > limit)
		buffer_printf(out, "         and %s more places\n", human_count(count - limit).text);
	buffer_putc(out, '\n');
}

void io_tables(struct buffer *out, const struct profile *p, const struct format_options *options)
{
	uint32_t limit = options->flat ? options->flat : LINES;
	struct name_table names;
	struct place *places = NULL;

	put_table(out, p, 1u << IO_KIND_FILE, "file", limit);
	put_table(out, p, 1u << IO_KIND_SOCKET, "peer", limit);
	put_table(out, p, 1u << IO_KIND_PIPE | 1u << IO_KIND_DEVICE | 1u << IO_KIND_OTHER, "other", limit);
	if (name_table_build(&names, p, format_style(STYLE_TEXT, options)) == 0)
		places = calloc((size_t)names.count + 1, sizeof(*places));
	if (places)
		put_places(out, p, &names, places, limit);
	else
		out->failed = out->failed ? out->failed : ENOMEM;
	free(places);
	name_table_free(&names);
}
