#include "profile/readers/frame_text.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/ascii.h"
#include "profile/model/lasting_names.h"

/* The number at the end of TEXT[0..LENGTH), which need not end with NUL. */
static uint32_t number(const char *text, const char *end)
{
	uint32_t n = 0;

	for (; text < end && ascii_is_digit(*text); text++)
		n = n * 10 + (uint32_t)(*text - '0');
	return n;
}

struct frame_text frame_text_split(const char *text, size_t length, enum frame_kind kind)
{
	struct frame_text t = {.name = text, .name_length = length};
	const char *colon, *end, *dot;

	if (kind > FRAME_WRAPPER)
		return t;
	colon = memrchr(text, ':', length);
	if (colon && colon + 1 < text + length && ascii_is_digit(colon[1])) {
		t.line = number(colon + 1, text + length);
		length = (size_t)(colon - text);
	}
	end = memchr(text, '(', length);
	dot = memmem(text, length, LAMBDA_BETWEEN, strlen(LAMBDA_BETWEEN));
	if (dot)
		dot += strlen("$$Lambda");
	else
		dot = memrchr(text, '.', end ? (size_t)(end - text) : length);
	if (dot) {
		t.class_name = text;
		t.class_length = (size_t)(dot - text);
		t.name = dot + 1;
	}
	t.name_length = (size_t)(text + length - t.name);
	return t;
}

void frame_text_class(const struct frame_text *t, char *out)
{
	char *p;

	memcpy(out, t->class_name, t->class_length);
	out[t->class_length] = '\0';
	for (p = out; *p; p++)
		*p = *p == '.' ? '/' : *p == '/' && p[1] == '0' ? '+' : *p;
}
