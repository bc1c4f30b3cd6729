#include "profile/model/libraries.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/hash.h"
#include "common/base/map.h"

bool libraries_matter(const struct profile *p)
{
	return strcmp(p->event, "nativemem") == 0 || strcmp(p->event, "nativemap") == 0;
}

/* Whether S is of the JVM asking for the memory of a direct buffer of Java's. */
static bool is_direct(const struct profile *p, const struct profile_stack *s)
{
	static const char of[] = "java/nio/DirectByteBuffer";
	uint32_t i;

	for (i = s->depth; i-- > 0;) {
		const struct profile_frame *f = &p->frames[s->frames[i]];

		if (f->class_name && strncmp(f->class_name, of, sizeof(of) - 1) == 0)
			return true;
	}
	return false;
}

static const char *name_of(const struct profile *p, const struct profile_stack *s)
{
	const struct profile_frame *f = &p->frames[s->frames[s->depth - 1]];

	if (!f->library)
		return f->class_name ? "Java" : "[other]";
	return strcmp(f->library, "libjvm.so") == 0 && is_direct(p, s) ? LIBRARIES_DIRECT : f->library;
}

static bool is_of(uint32_t number, const void *wanted)
{
	const struct libraries *l = ((const void *const *)wanted)[0];
	const char *name = ((const void *const *)wanted)[1];

	return strcmp(l->rows[number - 1].name, name) == 0;
}

static struct library_sum *row_of(struct libraries *l, struct map *seen, const char *name)
{
	uint32_t *slot = map_intern(seen, hash_seeded(name, strlen(name)), is_of, (const void *const[]){l, name});

	if (!slot)
		return NULL;
	if (!*slot) {
		l->rows[l->count].name = name;
		*slot = ++l->count;
	}
	return &l->rows[*slot - 1];
}

static int by_weight(const void *a, const void *b)
{
	const struct library_sum *x = a, *y = b;

	if (x->weight != y->weight)
		return x->weight > y->weight ? -1 : 1;
	return strcmp(x->name, y->name);
}

int libraries_find(struct libraries *l, const struct profile *p)
{
	struct map seen = {0};
	int rc = 0;
	uint32_t i;

	/* no more than there are frames */
	*l = (struct libraries){calloc((size_t)p->frame_count + 1, sizeof(*l->rows)), 0};
	for (i = 0; l->rows && rc == 0 && i < p->stack_count; i++) {
		const struct profile_stack *s = &p->stacks[i];
		struct library_sum *row = s->depth ? row_of(l, &seen, name_of(p, s)) : NULL;

		if (s->depth && !row) {
			rc = -ENOMEM;
		} else if (row) {
			row->samples += s->samples;
			row->weight += s->weight;
		}
	}
	map_free(&seen);
	if (l->count)
		qsort(l->rows, l->count, sizeof(*l->rows), by_weight);
	return l->rows ? rc : -ENOMEM;
}

void libraries_free(struct libraries *l)
{
	free(l->rows);
	l->rows = NULL;
}
