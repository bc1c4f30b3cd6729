#include "common/bytecode/pattern.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/java_type.h"
#include "common/bytecode/classfile.h"

#define APART "; \t\n"
#define STARS_MAX 4    /* in a pattern: each multiplies the ways to look at a name */
#define NAME_SIZE 2048 /* of class and method together; longer ones match no pattern */

/* ---- reading ------------------------------------------------------------------------ */

static unsigned count_stars(const char *text)
{
	unsigned count = 0;

	for (; *text; text++)
		if (text[0] == '*' && text[1] != '*')
			count++;
	return count;
}

/* How much of TEXT is one pattern: blanks and ; do not end it within "(Ljava/lang/String;I)Ljava/util/List;". */
static size_t pattern_length(const char *text)
{
	size_t length = strcspn(text, APART);
	const char *open = memchr(text, '(', length), *close = open ? strchr(open, ')') : NULL, *type, *end;

	if (!close)
		return length;
	type = close + 1 + strspn(close + 1, "[");
	end = type + strcspn(type, APART);
	return (size_t)(end - text) + (*type == 'L' && *end == ';');
}

/* A name that is *, or begins with *. : any class, in whatever package. */
static bool is_any_class(const char *name)
{
	return name[0] == '*' && (!name[1] || name[1] == '.');
}

/* Take TEXT[0..LENGTH) apart. */
static int parse(struct pattern *p, const char *text, size_t length, struct error *err)
{
	const char *open = memchr(text, '(', length);
	char *colons, *c;

	p->annotation = text[0] == '@';
	if (p->annotation) {
		text++;
		length--;
	}
	if (open && text[length - 1] != ')' && !memchr(open, ')', length - (size_t)(open - text)))
		return error_set(err, EINVAL, "the pattern '%.*s' has no closing parenthesis", (int)length, text);
	p->signature = open ? strndup(open, length - (size_t)(open - text)) : NULL;
	p->name = malloc(length + 2);
	if (!p->name || (open && !p->signature))
		return error_set(err, ENOMEM, "out of memory for the patterns");
	snprintf(p->name, length + 2, "%.*s", (int)(open ? (size_t)(open - text) : length), text);
	for (c = p->name; *c; c++)
		*c = *c == '/' ? '.' : *c;
	colons = strstr(p->name, "::");
	if (colons) {
		p->method = true;
		*colons = '.';
		memmove(colons + 1, colons + 2, strlen(colons + 2) + 1);
	}
	if (!p->annotation && is_any_class(p->name))
		memmove(p->name + 1, p->name, strlen(p->name) + 1);
	if (!p->name[0] || p->name[0] == '.' || p->name[strlen(p->name) - 1] == '.' || strstr(p->name, "..") ||
	    (p->annotation && (p->signature || p->method)))
		return error_set(err, EINVAL, "the pattern '%.*s' is none: say Class, Class.method, "
				 "Class::method(int), package.*, package.** or @Annotation", (int)length, text);
	if (count_stars(p->name) > STARS_MAX)
		return error_set(err, EINVAL, "the pattern '%.*s' has more than %d stars", (int)length, text,
				 STARS_MAX);
	return 0;
}

int patterns_add(struct patterns *p, const char *text, bool exclude, struct error *err)
{
	for (text += strspn(text, APART); *text; text += strspn(text, APART)) {
		size_t length = pattern_length(text);
		struct pattern *one = VECTOR_PUSH(&p->list);
		int rc;

		if (!one)
			return error_set(err, ENOMEM, "out of memory for the patterns");
		one->exclude = exclude;
		rc = parse(one, text, length, err);
		if (rc)
			return rc;
		p->annotations = p->annotations || (one->annotation && !exclude);
		text += length;
	}
	return 0;
}

void patterns_free(struct patterns *p)
{
	size_t i;

	for (i = 0; i < p->list.count; i++) {
		free(p->list.items[i].name);
		free(p->list.items[i].signature);
	}
	free(p->list.items);
	memset(p, 0, sizeof(*p));
}

/* ---- globs -------------------------------------------------------------------------- */

/* Whether PATTERN is all of TEXT; with PARTLY: of TEXT and something that could follow it. */
static bool glob(const char *pattern, const char *text, bool partly)
{
	bool dots;

	for (; *pattern != '*'; pattern++, text++) {
		if (!*pattern || !*text)
			return !*text && (partly || !*pattern);
		if (*pattern != *text)
			return false;
	}
	dots = pattern[1] == '*';
	pattern += dots ? 2 : 1;
	for (;; text++) {
		if (glob(pattern, text, partly))
			return true;
		if (!*text || (!dots && *text == '.'))
			return false;
	}
}

/* ---- matching ----------------------------------------------------------------------- */

/* NAME with dots, cut off at the end of OUT; its length, or NAME_SIZE if it does not fit. */
static size_t dotted(char out[NAME_SIZE], size_t at, const struct text *name)
{
	size_t i;

	if (at + name->length + 1 >= NAME_SIZE)
		return NAME_SIZE;
	for (i = 0; i < name->length; i++)
		out[at + i] = name->at[i] == '/' ? '.' : name->at[i];
	out[at + i] = '\0';
	return at + i;
}

/* Whether WORD[0..LENGTH) is the Java name of TYPE; classes may be named without their package. */
static bool type_is(const char *word, size_t length, struct text type)
{
	const char *name;
	size_t n, i;

	while (type.at[0] == '[' && length > 2 && memcmp(word + length - 2, "[]", 2) == 0) {
		type.at++;
		type.length--;
		length -= 2;
	}
	name = java_primitive(type.at[0]);
	if (name)
		return strlen(name) == length && memcmp(word, name, length) == 0;
	if (type.at[0] != 'L')
		return false;
	n = type.length - 2u;
	if (length > n)
		return false;
	name = type.at + 1 + n - length;
	for (i = 0; i < length; i++)
		if (word[i] != name[i] && !(word[i] == '.' && (name[i] == '/' || name[i] == '$')))
			return false;
	return length == n || name[-1] == '/' || name[-1] == '$';
}

/* Whether a signature as people write it, "(II)J", "(II)" or "(int, String)", is that of TYPE. */
static bool signature_is(const char *written, const struct text *type)
{
	size_t length = strlen(written);
	struct text rest = {type->at + 1, (uint16_t)(type->length - 1)}, one;

	if (length <= type->length && memcmp(written, type->at, length) == 0 &&
	    (length == type->length || written[length - 1] == ')'))
		return true;
	written++;
	while (descriptor_next(&rest, &one)) {
		written += strspn(written, ", ");
		length = strcspn(written, ", )");
		if (!type_is(written, length, one))
			return false;
		written += length;
	}
	return written[strspn(written, " ")] == ')';
}

/* Whether P asks for the annotation NAME ("com.acme.Outer$Timed"): all of it, what follows its package, or its end. */
static bool asks_for(const struct pattern *p, const char *name)
{
	const char *in_package = strrchr(name, '.'), *last = strrchr(name, '$');

	if (glob(p->name, name, false))
		return true;
	if (strchr(p->name, '.'))
		return false;
	return (in_package && glob(p->name, in_package + 1, false)) || (last && glob(p->name, last + 1, false));
}

/* Whether the annotations of an attribute list have the name that P asks for. */
static bool has_annotation(const struct class_file *c, struct cursor at, unsigned count, const struct pattern *p)
{
	char name[NAME_SIZE];
	struct attribute a;
	struct text type;
	unsigned i, k;

	for (i = 0; i < count && attribute_next(c, &at, &a); i++) {
		if (!text_is(&a.name, "RuntimeVisibleAnnotations") && !text_is(&a.name, "RuntimeInvisibleAnnotations"))
			continue;
		for (k = cursor_be16(&a.body); k > 0 && annotation_next(c, &a.body, &type); k--) {
			if (type.length < 3)
				continue;
			type = (struct text){type.at + 1, (uint16_t)(type.length - 2)};
			if (dotted(name, 0, &type) != NAME_SIZE && asks_for(p, name))
				return true;
		}
	}
	return false;
}

/* Whether TYPE ("Lcom/acme/Timed;") is an annotation that any of P ask for. */
static bool is_asked_for(const struct patterns *p, const struct text *type)
{
	struct text inner = {type->at + 1, (uint16_t)(type->length - 2)};
	char name[NAME_SIZE];
	size_t i;

	if (type->length < 3 || type->at[0] != 'L' || type->at[type->length - 1] != ';' ||
	    dotted(name, 0, &inner) == NAME_SIZE)
		return false;
	for (i = 0; i < p->list.count; i++)
		if (p->list.items[i].annotation && !p->list.items[i].exclude && asks_for(&p->list.items[i], name))
			return true;
	return false;
}

bool patterns_in_pool(const struct patterns *p, const uint8_t *pool, size_t size, unsigned count)
{
	/* bytes after the tag; a text has its length in them */
	static const uint8_t sizes[CONSTANT_PACKAGE + 1] = {0, 2, 0, 4, 4, 8, 8, 2, 2, 4, 4,
							    4, 4, 0, 0, 3, 2, 4, 4, 2, 2};
	struct cursor at = cursor_at(&(struct span){.bytes = pool, .size = size}, 0);
	struct text text;
	unsigned i;

	for (i = 1; i < count; i++) {
		uint8_t tag = cursor_u8(&at);

		if (at.failed || tag > CONSTANT_PACKAGE || !sizes[tag])
			return true;
		if (tag == CONSTANT_UTF8) {
			text.length = cursor_be16(&at);
			text.at = (const char *)at.at;
			cursor_skip(&at, text.length);
			if (!at.failed && is_asked_for(p, &text))
				return true;
		} else {
			cursor_skip(&at, sizes[tag]);
		}
		i += tag == CONSTANT_LONG || tag == CONSTANT_DOUBLE;
	}
	return at.failed;
}

static bool is_annotated(const struct class_file *c, const struct member *m, const struct pattern *p)
{
	struct cursor at = cursor_at(&c->file, c->attributes);
	unsigned count = cursor_be16(&at);

	return has_annotation(c, m->attributes, m->attribute_count, p) || has_annotation(c, at, count, p);
}

bool patterns_touch(const struct patterns *p, const struct text *class_name, bool annotations)
{
	char name[NAME_SIZE + 1];
	size_t i, n = dotted(name, 0, class_name);

	if (n == NAME_SIZE)
		return false;
	name[n + 1] = '\0';
	for (i = 0; i < p->list.count; i++) {
		const struct pattern *one = &p->list.items[i];

		if (one->exclude)
			continue;
		name[n] = '\0';
		if (one->annotation ? annotations : !one->method && glob(one->name, name, false))
			return true;
		if (one->annotation)
			continue;
		name[n] = '.';
		if (glob(one->name, name, true))
			return true;
	}
	return false;
}

/* Whether ONE matches M of C; NAME is "pkg.Class.method", its class ends at N. */
static bool matches(const struct pattern *one, const struct class_file *c, const struct member *m, char *name, size_t n)
{
	bool hit;

	name[n] = '\0';
	hit = one->annotation ? is_annotated(c, m, one)
			      : !one->method && !one->signature && glob(one->name, name, false);
	name[n] = '.';
	hit = hit || (!one->annotation && glob(one->name, name, false));
	return hit && (!one->signature || signature_is(one->signature, &m->type));
}

bool patterns_match(struct patterns *p, const struct class_file *c, const struct member *m)
{
	struct text class_text;
	char name[NAME_SIZE];
	bool matched = false;
	size_t i, n;

	if (!classfile_name(c, c->this_class, &class_text))
		return false;
	n = dotted(name, 0, &class_text);
	if (n + 2 > NAME_SIZE || dotted(name, n + 1, &m->name) == NAME_SIZE)
		return false;
	for (i = 0; i < p->list.count; i++)
		if (p->list.items[i].exclude && matches(&p->list.items[i], c, m, name, n))
			return false;
	/* all that match: none of them is one that means nothing */
	for (i = 0; i < p->list.count; i++) {
		if (p->list.items[i].exclude || !matches(&p->list.items[i], c, m, name, n))
			continue;
		p->list.items[i].hits++;
		matched = true;
	}
	return matched;
}
