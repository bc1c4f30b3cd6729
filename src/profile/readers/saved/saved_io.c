/*
 * saved_io.c - what a result in JSON says of calls that read, write and the like beside its stacks: by what they were
 * about, and all of them by operation.
 */
#include <string.h>

#include "profile/readers/saved/saved_reader.h"

/* The place of WORD among the COUNT words that WORD_OF gives; COUNT: it is of a newer version. */
static unsigned place_of(const char *word, const char *(*word_of)(unsigned i), unsigned count)
{
	unsigned i = 0;

	while (i < count && strcmp(word_of(i), word) != 0)
		i++;
	return i;
}

static const char *operation_word(unsigned i)
{
	return io_operation_names[i];
}

static const char *kind_word(unsigned i)
{
	return io_kind_names[i].word;
}

static unsigned read_operation(struct saved *s)
{
	return place_of(json_string(&s->j, NULL), operation_word, IO_OPERATIONS);
}

static void read_line(struct saved *s)
{
	unsigned operation = IO_OPERATIONS, kind = IO_KIND_OTHER;
	struct read_io line = {.target = 0}, *kept;
	struct profile_io *io = &line.is;
	const char *key;
	size_t length;

	if (!json_open(&s->j, '{'))
		return;
	while ((key = json_key(&s->j))) {
		if (strcmp(key, "target") == 0) {
			const char *target = json_string(&s->j, &length);

			line.target = strings_add(&s->aggregate->strings, target, length);
		} else if (strcmp(key, "operation") == 0) {
			operation = read_operation(s);
		} else if (strcmp(key, "kind") == 0) {
			kind = place_of(json_string(&s->j, NULL), kind_word, IO_KINDS);
		} else if (!json_take_numbers(&s->j, key, {"calls", &io->calls}, {"bytes", &io->bytes},
					      {"time_ns", &io->time}, {"idle_ns", &io->idle},
					      {"longest_ns", &io->longest}, {"calls_error", &io->calls_error},
					      {"bytes_error", &io->bytes_error}, {"time_error_ns", &io->time_error},
					      {"idle_error_ns", &io->idle_error})) {
			json_skip(&s->j);
		}
	}
	if (operation == IO_OPERATIONS)
		return;
	io->operation = (uint8_t)operation;
	io->kind = (uint8_t)MIN(kind, (unsigned)IO_KIND_OTHER);
	kept = VECTOR_PUSH(&s->io.lines);
	s->no_memory |= !kept;
	if (kept)
		*kept = line;
}

static void read_counted(struct saved *s)
{
	struct profile_io_counted counted = {.calls = 0};
	unsigned operation = IO_OPERATIONS;
	const char *key;

	if (!json_open(&s->j, '{'))
		return;
	while ((key = json_key(&s->j)))
		if (strcmp(key, "operation") == 0)
			operation = read_operation(s);
		else if (!json_take_numbers(&s->j, key, {"calls", &counted.calls}, {"bytes", &counted.bytes},
					    {"time_ns", &counted.time}))
			json_skip(&s->j);
	if (operation < IO_OPERATIONS)
		s->io.counted[operation] = counted;
}

bool saved_io_of(struct saved *s, const char *key)
{
	bool counted = strcmp(key, "io_counted") == 0;

	if (!counted && strcmp(key, "io") != 0)
		return false;
	if (!counted)
		s->io.lines.count = 0;
	if (!json_open(&s->j, '['))
		return true;
	while (json_item(&s->j) && !s->no_memory) {
		if (counted)
			read_counted(s);
		else
			read_line(s);
	}
	return true;
}

void saved_keep_io(struct saved *s)
{
	struct read_aggregate_family *family = &s->aggregate->families.items[s->family];

	read_ios_free(&family->io);
	/* those of several results would be those of one of them, and they are not of a part of its stacks */
	if (family->samples || family->weight_kind != WEIGHT_IO || s->part ||
	    context_filter_is_set(s->context_filter))
		return;
	family->io = s->io;
	memset(&s->io, 0, sizeof(s->io));
}
