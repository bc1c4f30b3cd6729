/*
 * read_contexts.h - what threads worked for, as an aggregate keeps stacks apart by it: contexts once each, and pairs of
 * a thread and a context, which take the place of threads.
 */
#ifndef JSTROBE_READERS_READ_CONTEXTS_H
#define JSTROBE_READERS_READ_CONTEXTS_H

#include "profile/readers/read_aggregate.h"

/* Set the ids of C, hexadecimal texts; what is none is 0. */
void read_context_ids(struct profile_trace_context *c, const char *trace, const char *span);
/* Append one label, as struct profile_trace_context has them. */
void read_context_label(struct buffer *labels, const char *key, size_t key_length, const char *value, size_t length);
/* Append the labels of TEXT, "key=value, key=value". A value may have commas, but none with a key behind it. */
void read_context_labels(struct buffer *labels, const char *text);

/* The number of C + 1, kept from now on; 0: it says nothing, or out of memory, which sets f->no_memory. */
uint32_t read_context_number(struct read_aggregate *f, const struct profile_trace_context *c);
/* The same of one whose labels are text LABELS of F; 0: it has none. */
uint32_t read_context_of_labels(struct read_aggregate *f, const struct profile_trace_context *c, uint32_t labels);
/* The number of THREAD (READ_NO_THREAD: none) with CONTEXT, as above. */
uint32_t read_context_pair(struct read_aggregate *f, uint32_t thread, uint32_t context);
/* Whose PAIR is, and in which context. */
uint32_t read_context_thread(const struct read_aggregate *f, uint32_t pair);
uint32_t read_context_of(const struct read_aggregate *f, uint32_t pair);
/* All contexts as those of P, whose array it allocates. */
bool read_contexts_copy(const struct read_aggregate *f, struct profile *p);
/* What FROM has, into TO. THREADS leads to numbers in TO, PAIRS shall. */
void read_contexts_join(struct read_aggregate *to, const struct read_aggregate *from, const uint32_t *threads,
			uint32_t *pairs);

#endif
