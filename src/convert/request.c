#include "convert/request.h"

#include <string.h>

#include "base/ascii.h"

bool request_asked(const struct request_wanted *w)
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

static bool has_label(const char *wanted, const char *labels)
{
	size_t n = strlen(wanted);
	const char *next;

	for (; labels; labels = next ? next + strlen(", ") : NULL) {
		next = strstr(labels, ", ");
		if (strncmp(labels, wanted, n) == 0 && (labels + n == next || !labels[n] || labels[n] == '='))
			return true;
	}
	return false;
}

bool request_wanted(const struct request_wanted *w, const char *trace, const char *span, const char *labels)
{
	return (!*w->trace || is_id(w->trace, trace)) && (!*w->span || is_id(w->span, span)) &&
	       (!*w->label || has_label(w->label, labels));
}
