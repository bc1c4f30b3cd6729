/*
 * note_events.c - what is noted of all events before samples are read: native memory that came or went, and what
 * threads allocated.
 */
#include <string.h>

#include "profile/readers/jfr/event_handlers.h"

void handler_note_left(struct chunk_handlers *w, const struct event_handler *handler, uint64_t position)
{
	bool mapping = handler->left == LEFT_MAPPING || strcmp(handler->event, "jstrobe.NativeUnmap") == 0;

	if (handler->kind != HANDLE_FREED && handler->left == LEFT_NONE)
		return;
	if (mapping && (int64_t)handler->slots[SLOT_WEIGHT] <= 0)
		return;
	left_blocks_note(w->selection->left, &(struct left_event){
		chunk_time(w->chunk, handler->slots[SLOT_TIME]), handler->slots[SLOT_A],
		mapping ? handler->slots[SLOT_WEIGHT] : 0, position, 0, handler->kind != HANDLE_FREED});
}

void handler_note_allocated(struct chunk_handlers *w, const struct event_handler *handler, uint64_t position,
			    uint64_t thread)
{
	const uint64_t *slots = handler->slots;
	uint64_t bytes = (int64_t)slots[SLOT_WEIGHT] < 0 ? 0 : slots[SLOT_WEIGHT];
	int64_t time = chunk_time(w->chunk, slots[SLOT_TIME]);

	if (!(uint32_t)thread) /* a virtual one, for which its carrier allocates */
		return;
	if (handler->of_thread)
		first_allocs_sample(w->selection->allocs, thread, time, bytes, position);
	else if (handler->has_size)
		first_allocs_sum(w->selection->allocs, thread, time, bytes);
	else
		first_allocs_born(w->selection->allocs, thread);
}
