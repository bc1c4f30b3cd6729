/*
 * io_tables.c - tables of a profile of calls that read, write and the like: by file, by peer, by other things, by the
 * place in the program that they come from, and by operation, as all calls were counted.
 *
 * Of calls shorter than the event's interval some are samples and stand for the others: what is an estimate for that
 * reason is marked as one.
 */
#include "profile/writers/text.h"

#include <errno.h>
#include <string.h>

#include "common/base/ascii.h"
#include "common/base/clean.h"
#include "common/base/decimal.h"
#include "profile/model/frame_name.h"
#include "profile/model/human.h"
#include "profile/model/work/parked_unseen.h"
#include "profile/writers/io_places.h"

#define LINES 10

static bool is_shown(const struct profile_io *io, unsigned kinds)
{
	return kinds >> io->kind & 1;
}

static bool is_estimate(const struct profile_io *io)
{
	return io->calls_error || io->bytes_error || io->time_error || io->idle_error;
}

/* PART of WHOLE, "22.31%"; of an estimate with a standard error of ERROR fewer digits. */
static void put_share(struct buffer *out, uint64_t part, uint64_t error, uint64_t whole)
{
	double percent = percent_of(part, whole);

	buffer_printf(out, " %6s%%", decimal(percent, error * 30 > part ? percent < 10 : 2).text);
}

static void put_line(struct buffer *out, const struct profile *p, const struct profile_io *io)
{
	uint64_t time = io->time ? io->time : io->idle, error = io->time ? io->time_error : io->idle_error;

	human_right(out, human_time_about(time, error).text, 8);
	if (io->time)
		put_share(out, io->time, error, p->weight_stored);
	else
		buffer_puts(out, "    idle");
	buffer_putc(out, ' ');
	human_right(out, human_count_about(io->calls, io->calls_error).text, 9);
	buffer_putc(out, ' ');
	human_right(out, human_bytes_about(io->bytes, io->bytes_error).text, 9);
	buffer_putc(out, ' ');
	human_right(out, human_time(io->longest).text, 9);
	buffer_printf(out, "  %s ", io_operation_names[io->operation]);
	clean_name(out, io->target);
	if (io->time && io->idle)
		buffer_printf(out, ", and %s idle", human_time_about(io->idle, io->idle_error).text);
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

static void put_places(struct buffer *out, const struct profile *p, const struct io_places *places, uint32_t limit)
{
	uint32_t i;

	buffer_puts(out, "    time      %   samples  asked for by\n");
	for (i = 0; i < MIN(places->count, limit); i++) {
		const struct io_place *l = &places->items[i];

		human_right(out, human_time_about(l->weight, l->error).text, 8);
		put_share(out, l->weight, l->error, p->weight_stored);
		buffer_printf(out, " %9s  %s\n", human_count(l->samples).text, name_text(&places->names, l->name));
	}
	if (places->count > limit)
		buffer_printf(out, "         and %s more places\n", human_count(places->count - limit).text);
	buffer_putc(out, '\n');
}

/* ---- all calls ---- */

/* What samples say of the time of an operation, with idle time. */
static uint64_t time_of(const struct profile *p, unsigned operation)
{
	uint64_t time = 0;
	uint32_t i;

	for (i = 0; i < p->io_count; i++)
		if (p->io[i].operation == operation)
			time += p->io[i].time + p->io[i].idle;
	return time;
}

static void put_counted(struct buffer *out, const struct profile *p)
{
	unsigned i, count = 0;

	for (i = 0; i < IO_OPERATIONS; i++) {
		const struct profile_io_counted *n = &p->io_counted[i];

		if (!n->calls && !n->time)
			continue;
		if (!count++)
			buffer_puts(out, "    time in samples    calls     bytes  all calls, each counted\n");
		human_right(out, human_time(n->time).text, 8);
		/* what samples stand for may be more than there was, by chance */
		buffer_printf(out, " %9s%% ", time_of(p, i) > n->time ? "~100" :
						decimal(percent_of(time_of(p, i), n->time), 2).text);
		human_right(out, human_count(n->calls).text, 9);
		buffer_putc(out, ' ');
		human_right(out, human_bytes(n->bytes).text, 9);
		buffer_printf(out, "  %s\n", io_operation_names[i]);
	}
	if (count)
		buffer_putc(out, '\n');
}

static void put_what_marks_say(struct buffer *out, const struct profile *p)
{
	uint32_t i;

	for (i = 0; i < p->io_count && !is_estimate(&p->io[i]); i++)
		;
	if (i < p->io_count)
		buffer_printf(out, "~ estimated: of calls shorter than %s some are samples and stand for the others; "
			      "< less than, estimated from few\n\n", human_time(p->interval).text);
}

/* Whether S is of a call that its thread makes between two waits in poll: JDK 13 has such methods, and newer ones. */
static bool waits_in_poll(const struct profile *p, const struct profile_stack *s)
{
	bool found = false;
	uint32_t i;

	for (i = 0; i < s->depth; i++) {
		const struct profile_frame *f = &p->frames[s->frames[i]];

		if (!frame_is_method(f))
			continue;
		if (strcmp(f->class_name, "java/lang/VirtualThread") == 0)
			return false; /* is parked instead */
		found |= text_begins(f->class_name, "sun/nio/ch/") &&
			 (strcmp(f->name, "timedRead") == 0 || strcmp(f->name, "timedAccept") == 0);
	}
	return found;
}

/* Who waits for a peer is in no call meanwhile: a virtual thread is parked, and who waits with a timeout is in poll. */
static void put_what_is_not_seen(struct buffer *out, const struct profile *p)
{
	uint32_t i;

	for (i = 0; i < p->stack_count && !waits_in_poll(p, &p->stacks[i]); i++)
		;
	if (i < p->stack_count)
		buffer_puts(out, "who reads with a timeout waits in poll, which no call here shows; -e wall does\n\n");
	if (virtual_threads_ran(p))
		buffer_puts(out, "virtual threads are parked while they wait for a peer, which no call here shows; "
				 "-e wall --vthreads does\n\n");
}

void io_tables(struct buffer *out, const struct profile *p, const struct format_options *options)
{
	uint32_t limit = options->flat ? options->flat : LINES;
	struct io_places places;

	put_table(out, p, 1u << IO_KIND_FILE, "file", limit);
	put_table(out, p, 1u << IO_KIND_SOCKET, "peer", limit);
	put_table(out, p, 1u << IO_KIND_PIPE | 1u << IO_KIND_DEVICE | 1u << IO_KIND_OTHER, "other", limit);
	if (io_places_find(&places, p, format_style(STYLE_TEXT, options)) == 0)
		put_places(out, p, &places, limit);
	else
		out->failed = out->failed ? out->failed : ENOMEM;
	io_places_free(&places);
	put_counted(out, p);
	put_what_marks_say(out, p);
	put_what_is_not_seen(out, p);
}
