/*
 * wait_methods.c - which methods of the JDK wait, so that time in them is not taken for work of their callers.
 * Constant; any thread.
 */
#include "agent/tracing/trace_classes.h"

#include "agent/tracing/tree.h"

static const struct {
	enum calls_wait kind;
	const char *class_name, *method;
} waits[] = {
#define WAIT(kind, class_name, method) {CALLS_##kind, class_name, method},
#include "agent/tracing/wait_methods.def"
};

bool waits_touch(const struct text *class_name)
{
	size_t i;

	for (i = 0; i < ARRAY_LEN(waits); i++)
		if (text_is(class_name, waits[i].class_name))
			return true;
	return false;
}

int waits_kind(const struct text *class_name, const struct text *method)
{
	size_t i;

	for (i = 0; i < ARRAY_LEN(waits); i++)
		if (text_is(class_name, waits[i].class_name) && text_is(method, waits[i].method))
			return (int)waits[i].kind;
	return -1;
}
