#include "profile/model/packed.h"

struct profile_byte {
	uint8_t byte;
};
struct profile_number {
	uint32_t number;
};

#define P(field) offsetof(struct profile, field)
#define LIST(pointer, number, type, ...) \
	{.items = P(pointer), .count = P(number), .size = sizeof(struct type), __VA_ARGS__}
#define NO_TEXT {PACKED_NONE}
#define NO_FRAMES .frames = PACKED_NONE, .depth = PACKED_NONE
#define FRAMES(type) .frames = offsetof(struct type, frames), .depth = offsetof(struct type, depth)

const uint16_t packed_texts[] = {P(event), P(engine), P(main_class), P(jdk), P(title), P(unit), P(told),
				 P(window.begin), P(window.end), P(chains_told)};
const unsigned packed_text_count = ARRAY_LEN(packed_texts);

#define F(field) offsetof(struct profile_frame, field)
#define C(field) offsetof(struct profile_chain, field)
#define WAITS(pointer, number) \
	LIST(pointer, number, profile_waits, .texts = {offsetof(struct profile_waits, name), PACKED_NONE}, .must = 1, \
	     FRAMES(profile_waits))

const struct packed_list packed_lists[] = {
	LIST(frames, frame_count, profile_frame, .texts = {F(name), F(class_name), F(signature), F(library)}, .must = 1,
	     NO_FRAMES),
	LIST(stacks, stack_count, profile_stack, .texts = NO_TEXT, FRAMES(profile_stack)),
	LIST(times, time_bytes, profile_byte, .texts = NO_TEXT, NO_FRAMES),
	LIST(time_stacks, time_stack_count, profile_number, .texts = NO_TEXT, NO_FRAMES),
	LIST(time_threads, time_thread_count, profile_number, .texts = NO_TEXT, NO_FRAMES),
	LIST(growth, stack_count, profile_growth, .texts = NO_TEXT, NO_FRAMES, .whole = true),
	LIST(chains, chain_count, profile_chain, .texts = {C(class), C(place), C(caller), C(text)}, .must = 3,
	     NO_FRAMES),
	WAITS(locks, lock_count),
	WAITS(owners, owner_count),
	WAITS(holders, holder_count),
	LIST(io, io_count, profile_io, .texts = {offsetof(struct profile_io, target), PACKED_NONE}, .must = 1,
	     NO_FRAMES),
	LIST(threads, thread_count, profile_thread, .texts = {offsetof(struct profile_thread, name), PACKED_NONE},
	     .must = 1, NO_FRAMES),
	LIST(trace_contexts, trace_context_count, profile_trace_context,
	     .texts = {offsetof(struct profile_trace_context, labels), PACKED_NONE}, .must = 1, NO_FRAMES),
};
const unsigned packed_list_count = ARRAY_LEN(packed_lists);

uint32_t packed_layout(void)
{
	uint64_t sum = sizeof(struct profile) * 64 + sizeof(void *);
	unsigned i;

	for (i = 0; i < packed_list_count; i++)
		sum = sum * 1000003 + packed_lists[i].items * 4096u + packed_lists[i].size;
	for (i = 0; i < packed_text_count; i++)
		sum = sum * 1000003 + packed_texts[i];
	sum = sum * 1000003 + LOSS_REASONS * 256 + WALK_ENDS * 16 + FRAME_KINDS;
	return (uint32_t)(sum ^ sum >> 32);
}
