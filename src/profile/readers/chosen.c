#include "profile/readers/chosen.h"

#include <string.h>

#include "common/base/ascii.h"
#include "common/options/options.h"
#include "profile/model/filter.h"

/* "STATE_RUNNABLE" is what the user calls runnable, or r. */
bool chosen_state(const char *list, const char *state)
{
	size_t n;

	if (strncmp(state, "STATE_", 6) == 0)
		state += 6;
	for (; *list; list += n + (list[n] != '\0')) {
		n = strcspn(list, ",");
		if (n > 6 && ascii_begins(list, "STATE_", 6)) {
			list += 6;
			n -= 6;
		}
		if (n && ascii_begins(list, state, n))
			return true;
	}
	return false;
}

/* Whether an item "name:PATTERN" of LIST is of NAME. */
static bool is_called(const char *list, const char *name)
{
	size_t n;

	for (; *list; list += n + (list[n] != '\0')) {
		n = strcspn(list, ",;");
		if (n > 5 && strncmp(list, "name:", 5) == 0 && filter_match(list + 5, n - 5, name))
			return true;
	}
	return false;
}

bool chosen_thread(const char *list, uint32_t tid, const char *name)
{
	return options_thread_listed(list, tid) || is_called(list, name);
}
