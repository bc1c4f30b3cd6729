#include "profile/model/askers.h"

#include <errno.h>
#include <stdlib.h>

/* Functions and methods by which the JVM and the JDK ask for native memory: the place is who called them. */
static bool hands_on(const struct profile_frame *f)
{
	static const char *const functions[] = {
		"os::malloc", "os::realloc", "os::strdup", "os::reserve_memory", "os::commit_memory",
		"os::pd_reserve_memory", "os::pd_commit_memory", "AllocateHeap", "ReallocateHeap", "operator new",
		"operator new[]", "CHeapObjBase::operator new", "AnyObj::operator new", "ResourceObj::operator new",
		"Chunk::operator new", "ChunkPool::allocate", "ChunkPool::allocate_chunk", "Arena::grow",
		"Arena::Amalloc", "Arena::Arealloc", "Arena::internal_amalloc", "resource_allocate_bytes",
		"Unsafe_AllocateMemory", "Unsafe_AllocateMemory0", "Unsafe_ReallocateMemory0",
	};
	size_t i;

	if (f->class_name)
		return strncmp(f->class_name, "jdk/internal/misc/Unsafe", 24) == 0 ||
		       strncmp(f->class_name, "sun/misc/Unsafe", 15) == 0 ||
		       strncmp(f->class_name, "java/lang/invoke/", 17) == 0;
	for (i = 0; i < ARRAY_LEN(functions); i++)
		if (strcmp(f->name, functions[i]) == 0)
			return true;
	return false;
}

uint32_t asker_place(const struct profile *p, const struct profile_stack *s, uint32_t depth)
{
	for (; depth > 1 && hands_on(&p->frames[s->frames[depth - 1]]); depth--)
		;
	return s->frames[depth - 1];
}

uint32_t asker_caller(const struct profile *p, const struct profile_stack *s, uint32_t depth, uint32_t otherwise)
{
	uint32_t other = UINT32_MAX; /* a lambda, or a class alone */

	for (; depth > 0; depth--) {
		uint32_t frame = s->frames[depth - 1];

		if (frame_is_of_jdk(&p->frames[frame]))
			continue;
		if (frame_is_method(&p->frames[frame]) && !frame_is_lambda(&p->frames[frame]))
			return frame;
		if (other == UINT32_MAX)
			other = frame;
	}
	return other == UINT32_MAX ? otherwise : other;
}

static int by_names(const void *a, const void *b)
{
	const struct asker *x = a, *y = b;

	if (x->place != y->place)
		return x->place < y->place ? -1 : 1;
	return x->caller < y->caller ? -1 : x->caller > y->caller;
}

static int by_weight(const void *a, const void *b)
{
	const struct asker *x = a, *y = b;

	return x->weight < y->weight ? 1 : x->weight > y->weight ? -1 : by_names(a, b);
}

static struct asker asker_of(const struct profile *p, const struct name_table *names, const struct profile_stack *s)
{
	struct asker row = {names->no_frames, names->no_frames, s->samples, s->weight};
	uint32_t frame;

	if (!s->depth)
		return row;
	if (p->objects) {
		frame = s->frames[s->depth - 1];
		row.place = names->of_frame[frame];
		if (s->depth > 1)
			frame = asker_caller(p, s, s->depth - 1, s->frames[s->depth - 2]);
		row.caller = names->of_frame[frame];
		return row;
	}
	frame = asker_place(p, s, s->depth);
	row.place = names->of_frame[frame];
	row.caller = names->of_frame[asker_caller(p, s, s->depth, frame)];
	return row;
}

int askers_find(struct askers *a, const struct profile *p, unsigned style)
{
	uint32_t i;

	memset(a, 0, sizeof(*a));
	if (name_table_build(&a->names, p, style))
		return -ENOMEM;
	a->rows = calloc((size_t)p->stack_count + 1, sizeof(*a->rows));
	if (!a->rows)
		return -ENOMEM;
	for (i = 0; i < p->stack_count; i++)
		a->rows[i] = asker_of(p, &a->names, &p->stacks[i]);
	qsort(a->rows, p->stack_count, sizeof(*a->rows), by_names);
	for (i = 0; i < p->stack_count; i++) {
		if (!a->count || by_names(&a->rows[a->count - 1], &a->rows[i])) {
			a->rows[a->count++] = a->rows[i];
			continue;
		}
		a->rows[a->count - 1].samples += a->rows[i].samples;
		a->rows[a->count - 1].weight += a->rows[i].weight;
	}
	qsort(a->rows, a->count, sizeof(*a->rows), by_weight);
	return 0;
}

void askers_free(struct askers *a)
{
	name_table_free(&a->names);
	free(a->rows);
	a->rows = NULL;
}
