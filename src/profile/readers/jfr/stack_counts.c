#include "profile/readers/jfr/stack_counts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "profile/model/leaks.h"

/* COUNT zeroed items of SIZE bytes at *ITEMS, which has room for *ROOM. */
static bool zeroed(void *items, uint32_t *room, uint32_t count, size_t size)
{
	void **place = items;

	if (*place && count <= *room) {
		memset(*place, 0, count * size);
		return true;
	}
	free(*place);
	*place = calloc(count, size);
	*room = *place ? count : 0;
	return *place;
}

void stack_counts_empty(struct stack_counts *t)
{
	t->items.count = t->with.count = t->growth.count = 0;
	t->samples = t->weight = 0;
	t->over = false;
}

int stack_counts_begin(struct stack_counts *t, uint32_t stack_count, uint32_t thread_count)
{
	t->stack_count = stack_count;
	t->thread_count = thread_count;
	stack_counts_empty(t);
	map_clear(&t->others);
	map_clear(&t->with_index);
	map_clear(&t->with_states);
	t->no_memory = !zeroed(&t->direct, &t->stack_room, stack_count + 1, sizeof(*t->direct)) ||
		       !zeroed(&t->threads, &t->thread_room, thread_count + 1, sizeof(*t->threads));
	return t->no_memory ? -ENOMEM : 0;
}

void stack_counts_end(struct stack_counts *t)
{
	free(t->items.items);
	free(t->direct);
	free(t->with.items);
	free(t->growth.items);
	free(t->threads);
	map_free(&t->others);
	map_free(&t->with_index);
	map_free(&t->with_states);
	memset(t, 0, sizeof(*t));
}

/* The number of APART, OBJECT and STATE together, 0 for none of them. */
static uint32_t with_number(struct stack_counts *t, uint32_t apart, uint32_t object, uint8_t state)
{
	struct stack_count_with *with;
	uint32_t *pair, *slot = NULL;

	if (apart == STACK_COUNT_NONE && object == STACK_COUNT_NONE && !state)
		return 0;
	pair = map_put(&t->with_index, (uint64_t)apart << 32 | object, NULL);
	if (pair && !*pair)
		*pair = t->with_index.count;
	if (pair)
		slot = map_put(&t->with_states, (uint64_t)*pair << 8 | state, NULL);
	if (slot && !*slot && (with = VECTOR_PUSH(&t->with))) {
		*with = (struct stack_count_with){apart, object, state};
		*slot = (uint32_t)t->with.count;
	}
	t->no_memory |= !slot || !*slot;
	return slot ? *slot : 0;
}

struct stack_count *stack_count_of(struct stack_counts *t, uint32_t stack, uint32_t apart, uint32_t object,
				   uint8_t state)
{
	uint32_t with = with_number(t, apart, object, state), *slot;
	struct stack_count *item;

	slot = with ? map_put(&t->others, (uint64_t)with << 32 | stack, NULL) : &t->direct[stack + 1];
	if (slot && !t->no_memory && *slot)
		return &t->items.items[*slot - 1];
	item = slot && !t->no_memory ? VECTOR_PUSH(&t->items) : NULL;
	if (!item) {
		t->no_memory = true;
		return NULL;
	}
	item->stack = stack;
	item->with = with;
	*slot = (uint32_t)t->items.count;
	return item;
}

void stack_counts_grow(struct stack_counts *t, uint32_t item, uint64_t weight, bool half)
{
	while (t->growth.count <= item && !t->no_memory) {
		struct profile_growth *more = VECTOR_PUSH(&t->growth);

		if (more)
			memset(more, 0, sizeof(*more));
		t->no_memory |= !more;
	}
	if (!t->no_memory)
		leaks_grow(&t->growth.items[item], weight, half);
}
