#include "profile/readers/others/foreign_frame.h"

#include <stdlib.h>
#include <string.h>

#include "profile/readers/guessed_frame.h"

#define NO_NAME "[unknown]"
#define LONGEST_ENDING 64 /* of a source file, which may be told of many frames */

static bool ends_with(const struct foreign_text *t, const char *end)
{
	size_t n = strlen(end);

	return t->length > n && memcmp(t->bytes + t->length - n, end, n) == 0;
}

static bool begins_with(const struct foreign_text *t, const char *begin)
{
	size_t n = strlen(begin);

	return t->length >= n && memcmp(t->bytes, begin, n) == 0;
}

/* By the source file: compilers for the JVM have few endings, all others are of other languages. */
static enum foreign_code code_by_source(const struct foreign_text *source)
{
	static const char *const java[] = {".java", ".kt", ".scala", ".groovy", ".clj"};
	size_t end = MIN(source->length, (size_t)LONGEST_ENDING), i;
	const char *dot = end ? memrchr(source->bytes + source->length - end, '.', end) : NULL;

	for (i = 0; i < ARRAY_LEN(java); i++)
		if (ends_with(source, java[i]))
			return FOREIGN_JAVA;
	return dot && !memchr(dot, '/', source->length - (size_t)(dot - source->bytes)) ? FOREIGN_NATIVE :
										      FOREIGN_UNKNOWN;
}

static bool is_kernel(const struct foreign_text *library)
{
	return begins_with(library, "[kernel") || begins_with(library, "[guest.kernel") ||
	       ends_with(library, "/vmlinux") || (library->length == 7 && begins_with(library, "vmlinux")) ||
	       ends_with(library, ".ko");
}

/* What a JIT makes lies in memory without a file, or in one that perf finds names by. */
static bool is_jit(const struct foreign_text *library)
{
	return !library->length || begins_with(library, "[anon") || begins_with(library, "//anon") ||
	       begins_with(library, "anon_inode") || begins_with(library, "[heap]") ||
	       begins_with(library, "/memfd:") || ends_with(library, ".map");
}

static enum foreign_code code_of(const struct foreign_frame *f)
{
	enum foreign_code code = f->code;

	if (code == FOREIGN_UNKNOWN && is_kernel(&f->library))
		return FOREIGN_KERNEL;
	if (code == FOREIGN_UNKNOWN)
		code = code_by_source(&f->source);
	return code == FOREIGN_UNKNOWN && f->mapped && !is_jit(&f->library) ? FOREIGN_NATIVE : code;
}

bool foreign_frame_is_class(const struct foreign_text *name)
{
	const char *dot = memrchr(name->bytes, '.', name->length), *last = dot ? dot + 1 : name->bytes;

	return !dot || ends_with(name, "[]") || (*last >= 'A' && *last <= 'Z') || (*last >= '0' && *last <= '9');
}

uint32_t foreign_frame_library(struct read_aggregate *to, const struct foreign_text *path)
{
	const char *slash = path->length ? memrchr(path->bytes, '/', path->length) : NULL;
	const char *from = slash && slash + 1 < path->bytes + path->length ? slash + 1 : path->bytes;

	return strings_add(&to->strings, from, path->length - (size_t)(from - path->bytes));
}

/* The kind that the code is said to be of; FRAME_KINDS: nothing is. */
static enum frame_kind said_kind(const struct foreign_frame *f, enum foreign_code code)
{
	if (code == FOREIGN_OURS)
		return f->name.bytes[0] == '[' ? FRAME_OTHER :
		       ends_with(&f->name, "_[k]") ? FRAME_KERNEL : FRAME_NATIVE;
	if (code == FOREIGN_JAVA)
		return f->inlined ? FRAME_INLINED : FRAME_C2;
	return code == FOREIGN_KERNEL ? FRAME_KERNEL : code == FOREIGN_NATIVE ? FRAME_NATIVE : FRAME_KINDS;
}

uint32_t foreign_frame(struct read_aggregate *to, const struct foreign_frame *f)
{
	struct foreign_frame named = *f;
	uint32_t words[READ_FRAME_WORDS] = {0};
	enum foreign_code code = code_of(f);

	if (!named.name.length)
		named.name = (struct foreign_text){NO_NAME, strlen(NO_NAME)};
	if (!read_aggregate_text(to, named.name.length + named.library.length))
		return LISTS_FAILED;
	if (code == FOREIGN_OBJECT)
		words[READ_FRAME_NAME] = strings_add(&to->strings, named.name.bytes, named.name.length);
	else
		guessed_frame_words(to, named.name.bytes, named.name.length, said_kind(&named, code), words);
	if (code == FOREIGN_OBJECT)
		words[READ_FRAME_KIND] = FRAME_OTHER;
	if (words[READ_FRAME_KIND] == FRAME_NATIVE && !is_jit(&f->library))
		words[READ_FRAME_LIBRARY] = foreign_frame_library(to, &f->library);
	if (words[READ_FRAME_KIND] != FRAME_OTHER && f->line <= INT32_MAX)
		words[READ_FRAME_LINE] = (uint32_t)f->line;
	return read_aggregate_frame(to, words);
}
