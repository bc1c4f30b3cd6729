/*
 * guessed_frame.c - what a frame is, by its spelling: as async-profiler, ourselves and others spell them.
 */
#include "profile/readers/guessed_frame.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/ascii.h"
#include "profile/model/lasting_names.h"

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

/* Whether TEXT has the name of a library: ".so" at its end, or before what is no letter. */
static bool has_library(const char *text, size_t length)
{
	const char *so = text, *end = text + length;

	while ((so = memmem(so, (size_t)(end - so), ".so", 3))) {
		so += 3;
		if (so == end || !(ascii_is_letter(*so) || ascii_is_digit(*so)))
			return true;
	}
	return false;
}

/*
 * Where the class of a Java frame ends: at the last dot before any arguments. A frame is Java's if its
 * ending says so, or if it looks like package/Class.method; C++ has "::", and files of libraries have ".so".
 */
static size_t class_length(const char *text, size_t length, enum frame_kind kind)
{
	const char *lambda = memmem(text, length, LAMBDA_BETWEEN, strlen(LAMBDA_BETWEEN));
	const char *arguments = memchr(text, '(', length);
	size_t n = lambda ? (size_t)(lambda - text) + strlen("$$Lambda") :
		   arguments ? (size_t)(arguments - text) : length;

	if (kind == FRAME_KERNEL || !n || text[0] == '[' || memmem(text, n, "::", 2) || text[0] == '/')
		return 0;
	if (lambda)
		return n;
	while (n > 0 && text[n - 1] != '.')
		n--;
	/* no method begins with a digit, as the end of an address does */
	if (n < 2 || n == length || ascii_is_digit(text[n]) || has_library(text, length))
		return 0;
	n--;
	return kind != FRAME_KINDS || memchr(text, '/', n) || memchr(text, '.', n) ||
	       (text[0] >= 'A' && text[0] <= 'Z') ? n : 0;
}

/* TEXT[0..N), which may have a NUL; NULL: out of memory. */
static char *copy_of(const char *text, size_t n)
{
	char *copy = malloc(n + 1);

	if (copy) {
		memcpy(copy, text, n);
		copy[n] = '\0';
	}
	return copy;
}

void guessed_frame_words(struct read_aggregate *f, const char *text, size_t length, enum frame_kind said,
			 uint32_t words[READ_FRAME_WORDS])
{
	enum frame_kind kind = ending(text, &length);
	size_t n, i;
	bool dotted;
	char *class_name;

	memset(words, 0, READ_FRAME_WORDS * sizeof(*words));
	if (kind == FRAME_KINDS)
		kind = said;
	n = kind == FRAME_NATIVE ? 0 : class_length(text, length, kind);
	dotted = n && !memchr(text, '/', n);
	words[READ_FRAME_KIND] = kind;
	if (n) {
		class_name = copy_of(text, n);
		for (i = 0; class_name && dotted && i < n; i++)
			if (class_name[i] == '.') /* of hidden classes the JVM's own spelling */
				class_name[i] = strncmp(class_name + i, ".0x", 3) == 0 ? '+' : '/';
		words[READ_FRAME_CLASS] = class_name ? strings_add(&f->strings, class_name, n) : 0;
		f->no_memory |= !class_name;
		free(class_name);
		text += n + 1;
		length -= n + 1;
	}
	f->kinds_unknown |= n && (kind == FRAME_KINDS || kind == said);
	if (kind == FRAME_KINDS)
		words[READ_FRAME_KIND] = n ? FRAME_C2 : length && text[0] == '[' ? FRAME_OTHER : FRAME_NATIVE;
	words[READ_FRAME_NAME] = strings_add(&f->strings, text, length);
}

uint32_t guessed_frame(struct read_aggregate *f, const char *text, size_t length)
{
	uint32_t words[READ_FRAME_WORDS];

	guessed_frame_words(f, text, length, FRAME_KINDS, words);
	return read_aggregate_frame(f, words);
}
