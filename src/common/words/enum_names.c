#include "common/words/enum_names.h"

#include <string.h>

const struct frame_kind_name frame_kind_names[FRAME_KINDS] = {
#define X(name, word, suffix, colour) {word, suffix, colour},
#include "common/words/frame_kinds.def"
#undef X
};

const struct thread_state_name thread_state_names[THREAD_STATES] = {
#define STATE(name, word, meaning) {word, meaning},
#include "common/words/thread_states.def"
};

const struct lock_kind_name lock_kind_names[LOCK_KINDS] = {
#define LOCK(name, word, meaning) {word, meaning},
#include "common/words/lock_kinds.def"
};

const char *const io_operation_names[IO_OPERATIONS] = {
#define IO_OPERATION(id, word) word,
#include "common/words/io_words.def"
};

const struct io_kind_name io_kind_names[IO_KINDS] = {
#define IO_KIND(id, word, others) {word, others},
#include "common/words/io_words.def"
};

const struct counter_name loss_names[LOSS_REASONS] = {
#define LOSS(name, meaning) {#name, NULL, meaning},
#include "common/words/counters.def"
};

const struct counter_name walk_end_names[WALK_ENDS] = {
#define END(name, frame, meaning) {#name, frame, meaning},
#include "common/words/counters.def"
};

enum frame_kind frame_kind_by_word(const char *word)
{
	unsigned k = 0;

	while (k < FRAME_KINDS && strcmp(frame_kind_names[k].word, word) != 0)
		k++;
	return k < FRAME_KINDS ? k : FRAME_OTHER;
}

enum thread_state thread_state_by_word(const char *word)
{
	unsigned k = 0;

	while (k < THREAD_STATES && strcmp(thread_state_names[k].word, word) != 0)
		k++;
	return k < THREAD_STATES ? k : THREAD_NONE;
}

enum lock_kind lock_kind_by_word(const char *word)
{
	unsigned k = 0;

	while (k < LOCK_KINDS && strcmp(lock_kind_names[k].word, word) != 0)
		k++;
	return k < LOCK_KINDS ? k : 0;
}

enum loss_reason loss_by_name(const char *name)
{
	static const struct {
		const char *was;
		enum loss_reason reason;
	} earlier[] = {
#define LOSS_WAS(old, name) {#old, LOSS_##name},
#include "common/words/counters.def"
	};
	unsigned i;

	for (i = 0; i < ARRAY_LEN(earlier); i++)
		if (strcmp(earlier[i].was, name) == 0)
			return earlier[i].reason;
	for (i = 0; i < LOSS_REASONS && strcmp(loss_names[i].name, name) != 0; i++)
		;
	return (enum loss_reason)i;
}
