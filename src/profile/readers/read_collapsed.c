/*
 * read_collapsed.c - collapsed stacks, "root;caller;leaf 12" a line, back into a profile: our own, and those
 * that async-profiler, perf scripts and others write.
 */
#include "profile/readers/read_formats.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "profile/readers/input.h"

/*
 * No line is longer: 4,096 frames of 4 KB each. What is in a file that is something else, which can be sparse and of
 * terabytes, is not searched for a line's end.
 */
#define LINE_MAX_BYTES LIMIT_BYTES(16u << 20)

/* A frame's text without its ending, and the kind that the ending says; FRAME_KINDS: none. */
static enum frame_kind ending(const char *text, size_t *length)
{
	unsigned k;

	for (k = 0; k < FRAME_KINDS; k++) {
		const char *suffix = frame_kind_names[k].suffix;
		size_t n = strlen(suffix);

		if (!n || k == FRAME_WRAPPER || *length <= n ||
		    memcmp(text + *length - n, suffix, n) != 0)
			continue;
		*length -= n;
		return k;
	}
	return FRAME_KINDS;
}

/*
 * Where the class of a Java frame ends: at the last dot before any arguments. A frame is Java's if its
 * ending says so, or if it looks like package/Class.method; C++ has "::", and files of libraries have ".so".
 */
static size_t class_length(const char *text, size_t length, enum frame_kind kind)
{
	const char *arguments = memchr(text, '(', length);
	size_t n = arguments ? (size_t)(arguments - text) : length;

	if (kind == FRAME_KERNEL || !n || text[0] == '[' || memmem(text, n, "::", 2) || text[0] == '/')
		return 0;
	while (n > 0 && text[n - 1] != '.')
		n--;
	if (n < 2 || n == length || memmem(text, length, ".so", 3))
		return 0;
	n--;
	return kind != FRAME_KINDS || memchr(text, '/', n) || memchr(text, '.', n) ||
	       (text[0] >= 'A' && text[0] <= 'Z') ? n : 0;
}

static uint32_t make_frame(struct read_aggregate *f, const char *text, size_t length)
{
	uint32_t words[READ_FRAME_WORDS] = {0};
	enum frame_kind kind = ending(text, &length);
	size_t n = class_length(text, length, kind), i;
	bool dotted = n && !memchr(text, '/', n);
	char *class_name;

	words[READ_FRAME_KIND] = kind;
	if (n) {
		class_name = strndup(text, n);
		for (i = 0; class_name && dotted && i < n; i++)
			if (class_name[i] == '.')
				class_name[i] = '/';
		words[READ_FRAME_CLASS] = class_name ? strings_add(&f->strings, class_name, n) : 0;
		f->no_memory |= !class_name;
		free(class_name);
		text += n + 1;
		length -= n + 1;
	}
	f->kinds_unknown |= kind == FRAME_KINDS && n;
	if (kind == FRAME_KINDS)
		words[READ_FRAME_KIND] = n ? FRAME_C2 : length && text[0] == '[' ? FRAME_OTHER : FRAME_NATIVE;
	words[READ_FRAME_NAME] = strings_add(&f->strings, text, length);
	return read_aggregate_frame(f, words);
}

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
			*frame = make_frame(aggregate, line, n);
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

int collapsed_read(const struct input *in, struct read_aggregate *aggregate, struct error *err)
{
	const char *line = (const char *)in->bytes, *end = line + in->size;
	struct numbers frames = {0};
	uint64_t samples, number = 0;
	uint32_t family;
	int rc = 0;

	/* samples, or with --total ns, events, bytes: the file does not say */
	family = read_aggregate_family(aggregate, FORMAT_UNKNOWN_UNIT, WEIGHT_COUNT, FORMAT_UNKNOWN_UNIT);
	while (rc == 0 && line < end && family != UINT32_MAX) {
		const char *newline = line_end(line, end), *next = newline && newline < end ? newline + 1 : end;
		size_t length = newline ? (size_t)(newline - line) : 0;

		number++;
		if (length && line[length - 1] == '\r')
			length--;
		if (!newline || memchr(line, '\0', length) || (length && !split(line, &length, &samples)))
			rc = error_set(err, EINVAL, "%s: neither a JFR recording nor collapsed stacks: line %llu is "
				       "no 'frame;frame;frame count'", in->name, (unsigned long long)number);
		else if (length && !add_stack(aggregate, &frames, family, line, length, samples))
			rc = error_set(err, ENOMEM, "%s: out of memory", in->name);
		line = next;
	}
	free(frames.items);
	return rc == 0 && family == UINT32_MAX ? error_set(err, ENOMEM, "%s: out of memory", in->name) : rc;
}
