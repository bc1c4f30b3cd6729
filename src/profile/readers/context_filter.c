#include "profile/readers/context_filter.h"

#include <string.h>

#include "common/base/ascii.h"

bool context_filter_is_set(const struct context_filter *w)
{
	return *w->trace || *w->span || *w->label;
}

/* Ids are numbers: 00ff is ff and FF. */
static bool is_id(const char *wanted, const char *id)
{
	if (!*id)
		return false;
	return ascii_equals(wanted + strspn(wanted, "0"), id + strspn(id, "0"));
}

bool context_filter_wants_label(const struct context_filter *w, const char *labels)
{
	const char *wanted = w->label, *next;
	size_t n = strlen(wanted);

	if (!n)
		return true;

	for (; labels; labels = next ? next + strlen(", ") : NULL) {
		next = strstr(labels, ", ");
		if (strncmp(labels, wanted, n) == 0 && (labels + n == next || !labels[n] || labels[n] == '='))
			return true;
	}
	return false;
}

bool context_filter_wants_ids(const struct context_filter *w, const char *trace, const char *span)
{
	return (!*w->trace || is_id(w->trace, trace)) && (!*w->span || is_id(w->span, span));
}

bool context_filter_wants(const struct context_filter *w, const char *trace, const char *span, const char *labels)
{
	return context_filter_wants_ids(w, trace, span) && context_filter_wants_label(w, labels);
}
