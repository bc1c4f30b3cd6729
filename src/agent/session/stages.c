#include "agent/session/stages.h"

#include <errno.h>
#include <string.h>

static int begin(const struct stage *stage, const char *fail, struct error *err)
{
	if (strcmp(stage->name, fail) == 0)
		return error_set(err, EIO, "%s: told to fail", stage->name);
	return stage->begin ? stage->begin(err) : 0;
}

int stages_begin(struct stages *s, const char *fail, struct error *err)
{
	struct error ignored;
	uint32_t i;
	int rc;

	for (i = 0; i < s->count; i++) {
		if (s->table[i].needed && !s->table[i].needed())
			continue;
		rc = begin(&s->table[i], fail, err);
		if (rc) {
			stages_end(s, NULL, &ignored);
			return rc;
		}
		s->begun |= 1ull << i;
	}
	return 0;
}

static int end(struct stages *s, uint32_t i, struct error *err)
{
	int rc = 0;

	if (!(s->begun >> i & 1))
		return 0;
	if (s->table[i].end)
		rc = s->table[i].end(err);
	if (rc == 0)
		s->begun &= ~(1ull << i);
	return rc;
}

int stages_end(struct stages *s, const char *down_to, struct error *err)
{
	uint32_t i = s->count;
	int rc;

	while (i-- > 0) {
		rc = end(s, i, err);
		if (rc || (down_to && strcmp(s->table[i].name, down_to) == 0))
			return rc;
	}
	return 0;
}
