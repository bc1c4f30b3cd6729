/*
 * read_collapsed.c - collapsed stacks, "root;caller;leaf 12" a line, back into a profile: our own, and those
 * that async-profiler, perf scripts and others write.
 */
#include "profile/readers/read_formats.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "profile/readers/guessed_frame.h"
#include "profile/readers/input/input.h"
#include "profile/readers/input/progress.h"

/*
 * No line is longer: 4,096 frames of 4 KB each. What is in a file that is something else, which can be sparse and of
 * terabytes, is not searched for a line's end.
 */
#define LINE_MAX_BYTES LIMIT_BYTES(16u << 20)

#define MOST_ODD 1000 /* lines that are no stack, beyond those that are: then the rest is not looked at */
#define BYTE_ORDER_MARK "\xef\xbb\xbf" /* in front of a text, by some editors: no part of a name */

static bool add_stack(struct read_aggregate *aggregate, struct numbers *frames, uint32_t family, const char *line,
		      size_t length, uint64_t samples)
{
	uint32_t stack;
	size_t n;

	frames->count = 0;
	for (; length; line += MIN(n + 1, length), length -= MIN(n + 1, length)) {
		const char *end = memchr(line, ';', length);

		n = end ? (size_t)(end - line) : length;
		if (n) {
			uint32_t *frame = VECTOR_PUSH(frames);

			if (!frame)
				return false;
			*frame = guessed_frame(aggregate, line, n);
		}
	}
	stack = aggregate->no_memory ? LISTS_FAILED :
				       lists_add(&aggregate->stacks, frames->items, (uint32_t)frames->count);
	if (stack != LISTS_FAILED)
		read_aggregate_add(aggregate, family, stack, READ_NO_THREAD, THREAD_NONE, samples, samples);
	return stack != LISTS_FAILED && !aggregate->no_memory && !aggregate->strings.failed;
}

/* "frames 12": the number at the end; false if there is none. */
static bool split(const char *line, size_t *length, uint64_t *samples)
{
	size_t n = *length, digits = 0;
	uint64_t place = 1;

	for (*samples = 0; n && line[n - 1] >= '0' && line[n - 1] <= '9' && digits < 19; n--, digits++) {
		*samples += place * (uint64_t)(line[n - 1] - '0');
		place *= 10;
	}
	if (!digits || n < 2 || line[n - 1] != ' ')
		return false;
	*length = n - 1;
	return true;
}

/* Where the line at LINE ends; NULL: it is no line. */
static const char *line_end(const char *line, const char *end)
{
	size_t within = MIN((size_t)(end - line), (size_t)LINE_MAX_BYTES);
	const char *newline = memchr(line, '\n', within);

	return newline ? newline : line + within == end ? end : NULL;
}

/* Lines that are no stack. */
struct odd {
	uint64_t lines, first; /* number of the first */
};

static int no_stacks(const struct input *in, uint64_t line, struct error *err)
{
	return error_set(err, EINVAL, "%s: neither a JFR recording nor collapsed stacks, nor another file that jstrobe "
			 "reads: line %llu is no 'frame;frame;frame count'", in->name, (unsigned long long)line);
}

/*
 * What else begins so, some lines of which end in a number behind a blank as those of stacks do. They would be read as
 * methods that never were.
 */
static int is_other(const struct input *in, struct error *err)
{
	static const struct {
		const char *what, *bytes;
		unsigned at;
	} others[] = {
		{"a file of callgrind", "# callgrind format", 0}, {"a file of callgrind", "version: 1\n", 0},
		{"a file of callgrind", "creator: ", 0},
		{"a trace of Perfetto", "\xda\x03", 2}, /* a short packet whose first field is what we write first */
	};
	size_t i;

	for (i = 0; i < ARRAY_LEN(others); i++)
		if (in->size > others[i].at + strlen(others[i].bytes) &&
		    memcmp(in->bytes + others[i].at, others[i].bytes, strlen(others[i].bytes)) == 0)
			return error_set(err, EINVAL, "%s: %s, which is written, but not read; convert the recording "
					 "or JSON that it was made of", in->name, others[i].what);
	return 0;
}

/* Odd lines are left out and said, unless most are: then it is another kind of file. */
static int judge(const struct input *in, const struct odd *odd, uint64_t good, struct buffer *notes, struct error *err)
{
	if (odd->lines && odd->lines >= MAX(good, (uint64_t)1))
		return no_stacks(in, odd->first, err);
	if (odd->lines)
		buffer_printf(notes, "%s: %llu of %llu lines are no 'frame;frame;frame count' and left out, the first "
			      "is line %llu\n", in->name, (unsigned long long)odd->lines,
			      (unsigned long long)(odd->lines + good), (unsigned long long)odd->first);
	return 0;
}

int collapsed_read(const struct input *in, struct read_aggregate *aggregate, struct buffer *notes, struct error *err)
{
	const char *line = (const char *)in->bytes, *end = line + in->size, *told = line;
	struct numbers frames = {0};
	uint64_t samples, number = 0, good = 0;
	struct odd odd = {0};
	uint32_t family;
	int rc = is_other(in, err);

	if (rc)
		return rc;
	/* samples, or with --total ns, events, bytes: the file does not say */
	family = read_aggregate_family(aggregate, FORMAT_UNKNOWN_UNIT, WEIGHT_COUNT, FORMAT_UNKNOWN_UNIT);
	if (in->size > strlen(BYTE_ORDER_MARK) && memcmp(line, BYTE_ORDER_MARK, strlen(BYTE_ORDER_MARK)) == 0)
		line += strlen(BYTE_ORDER_MARK);
	while (rc == 0 && line < end && family != UINT32_MAX) {
		const char *newline = line_end(line, end), *next = newline && newline < end ? newline + 1 : end;
		size_t length = newline ? (size_t)(newline - line) : 0;

		number++;
		if ((uint64_t)(line - told) > PROGRESS_EVERY) {
			told = line;
			if (!progress_goes_on((uint64_t)(line - (const char *)in->bytes), in->size))
				break;
		}
		if (length && line[length - 1] == '\r')
			length--;
		if (!newline || memchr(line, '\0', length) || odd.lines > MOST_ODD + good)
			rc = no_stacks(in, odd.lines ? odd.first : number, err);
		else if (length && !split(line, &length, &samples))
			odd = (struct odd){odd.lines + 1, odd.lines ? odd.first : number};
		else if (length && !add_stack(aggregate, &frames, family, line, length, samples))
			rc = error_set(err, ENOMEM, "%s: out of memory", in->name);
		else
			good += length > 0;
		line = next;
	}
	free(frames.items);
	if (rc == 0)
		rc = judge(in, &odd, good, notes, err);
	return rc == 0 && family == UINT32_MAX ? error_set(err, ENOMEM, "%s: out of memory", in->name) : rc;
}
