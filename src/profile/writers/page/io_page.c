/*
 * io_page.c - tables of the event io for web/io.js: what calls were about, where they come from, and all calls by
 * operation. Rows are arrays, with standard errors of what is an estimate behind their numbers.
 */
#include "profile/writers/io_places.h"
#include "profile/writers/page/page_put.h"
#include "profile/writers/writers.h"

#define ROWS 1000 /* of a table: there may be some thousands more */

static void put_numbers(struct json_writer *w, const uint64_t *numbers, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		json_put_number(w, NULL, numbers[i]);
}

/* [what, operation, kind, calls, bytes, ns, ns idle, longest, and errors of the four before that] */
static void put_line(struct json_writer *w, const struct profile_io *io)
{
	const uint64_t numbers[] = {io->calls, io->bytes, io->time, io->idle, io->longest, io->calls_error,
				    io->bytes_error, io->time_error, io->idle_error};

	json_array(w, NULL);
	json_put_text(w, NULL, io->target);
	json_put_text(w, NULL, io_operation_names[io->operation]);
	json_put_text(w, NULL, io_kind_names[io->kind].word);
	put_numbers(w, numbers, ARRAY_LEN(numbers));
	json_end(w);
}

static int put_places(struct json_writer *w, const struct profile *p, const struct format_options *options)
{
	struct io_places places;
	int result = io_places_find(&places, p, format_style(STYLE_PAGE, options) & ~STYLE_ANNOTATE);
	uint32_t i;

	json_array(w, "ioPlaces");
	for (i = 0; !result && i < MIN(places.count, ROWS); i++) {
		const struct io_place *l = &places.items[i];
		const uint64_t numbers[] = {l->samples, l->weight, l->error};

		json_array(w, NULL);
		json_put_text(w, NULL, name_text(&places.names, l->name));
		put_numbers(w, numbers, ARRAY_LEN(numbers));
		json_end(w);
	}
	json_end(w);
	io_places_free(&places);
	return result;
}

static void put_counted(struct json_writer *w, const struct profile *p)
{
	unsigned i;

	json_array(w, "ioCounted");
	for (i = 0; i < IO_OPERATIONS; i++) {
		const struct profile_io_counted *n = &p->io_counted[i];
		const uint64_t numbers[] = {n->calls, n->bytes, n->time};

		if (!n->calls && !n->time)
			continue;
		json_array(w, NULL);
		json_put_text(w, NULL, io_operation_names[i]);
		put_numbers(w, numbers, ARRAY_LEN(numbers));
		json_end(w);
	}
	json_end(w);
}

int io_page_put(struct json_writer *w, const struct profile *p, const struct format_options *options)
{
	uint32_t i;

	json_array(w, "io");
	for (i = 0; i < MIN(p->io_count, ROWS); i++)
		put_line(w, &p->io[i]);
	json_end(w);
	json_put_number(w, "ioMore", p->io_count - MIN(p->io_count, ROWS));
	put_counted(w, p);
	return put_places(w, p, options);
}
