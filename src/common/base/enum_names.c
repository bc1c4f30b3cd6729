#include "common/base/enum_names.h"

const struct frame_kind_name frame_kind_names[FRAME_KINDS] = {
#define X(name, word, suffix, colour) {word, suffix, colour},
#include "common/base/frame_kinds.def"
#undef X
};

const struct thread_state_name thread_state_names[THREAD_STATES] = {
#define STATE(name, word, meaning) {word, meaning},
#include "common/base/thread_states.def"
};

const struct lock_kind_name lock_kind_names[LOCK_KINDS] = {
#define LOCK(name, word, meaning) {word, meaning},
#include "common/base/lock_kinds.def"
};

const struct counter_name loss_names[LOSS_REASONS] = {
#define LOSS(name, meaning) {#name, NULL, meaning},
#include "common/base/counters.def"
};

const struct counter_name walk_end_names[WALK_ENDS] = {
#define END(name, frame, meaning) {#name, frame, meaning},
#include "common/base/counters.def"
};
