/*
 * read_collapsed.h - collapsed stacks, "root;caller;leaf 12" a line, back into a profile: our own, and those
 * that async-profiler, perf scripts and others write.
 */
#ifndef JSTROBE_READERS_READ_COLLAPSED_H
#define JSTROBE_READERS_READ_COLLAPSED_H

#include "common/base/error.h"
#include "profile/readers/input.h"
#include "profile/readers/read_aggregate.h"

/*
 * Gather the lines of IN as the family "samples". What a frame is follows from its spelling. -EINVAL if a
 * line is no stack.
 */
int collapsed_read(const struct input *in, struct read_aggregate *aggregate, struct error *err);

#endif
