/*
 * jfr_pools.h - the constants of a recording: what events point to by keys. Inner header.
 *
 * Within a chunk each constant is written once, before the end of the flush with the first event that
 * needs it; each chunk has all it needs. Keys are counted on through the whole file and never used
 * again: the JDK's reader keeps what it has resolved under a key in the chunk before (ConstantLookup),
 * so the same key with another value would show the old one.
 *
 * A thread's key is its system id, for async-profiler's converter shows keys as ids. Where that is taken in this file
 * by another thread, or by this one under another name, and for virtual threads, the key is one that no thread can
 * have.
 */
#ifndef JSTROBE_WRITERS_JFR_JFR_POOLS_H
#define JSTROBE_WRITERS_JFR_JFR_POOLS_H

#include "common/base/buffer.h"
#include "common/base/strings.h"
#include "common/base/vector.h"
#include "profile/writers/jfr/jfr.h"

#define JFR_THREAD_KEYS (1u << 22) /* PID_MAX_LIMIT of Linux: ids are below it, other keys of threads above */

enum jfr_pool { POOL_THREAD, POOL_SYMBOL, POOL_PACKAGE, POOL_CLASS, POOL_METHOD, POOL_STACK, POOL_STRING, JFR_POOLS };

struct jfr_stack_id {
	uint64_t second_hash;
	uint32_t key;
};

/* Zeroed is not enough: jfr_pools_free makes one ready. */
struct jfr_pools {
	uint32_t last_key[JFR_POOLS];
	bool resumed;                    /* the file has a begin of which it is not known what its keys stand for */
	struct map thread_keys;          /* of the whole file: system id → hash of what has it as its key */
	/* of the present chunk */
	struct map threads;              /* system ids that are keys in it */
	struct strings texts;
	struct strings tags;             /* the latest texts of POOL_STRING: see jfr_pool_string */
	struct map by_text[JFR_POOLS];   /* number of a text → key: symbols, packages, classes; of a tag: strings */
	struct map pairs;                /* class and name → a number */
	struct map methods;              /* that number and descriptor → key */
	struct map stacks;               /* hash → 1 + index of stack_ids */
	VECTOR(struct jfr_stack_id) stack_ids;
	struct buffer fresh[JFR_POOLS];  /* not written yet */
	uint32_t fresh_count[JFR_POOLS];
	bool fixed_written;              /* frame types, thread states */
	int failed;                      /* ENOMEM */
};

/* Keys; 0 when out of memory, which `failed` says, too. */
uint32_t jfr_pool_symbol(struct jfr_pools *p, const char *text);
/*
 * A program may have a tag of its own for each event, so texts are kept up to JFR_TAGS or JFR_TAG_BYTES only. Then all
 * of them are forgotten: those that come again are written once more, under another key.
 */
#define JFR_TAGS 4096
#define JFR_TAG_BYTES (256u << 10)
uint32_t jfr_pool_string(struct jfr_pools *p, const char *text);
uint32_t jfr_pool_class(struct jfr_pools *p, const char *name);
uint32_t jfr_pool_method(struct jfr_pools *p, const char *class_name, const char *name,
			 const char *descriptor, bool native);
uint32_t jfr_pool_stack(struct jfr_pools *p, const struct jfr_frame *frames, uint32_t count,
			bool truncated);
uint32_t jfr_pool_thread(struct jfr_pools *p, const struct jfr_thread *t);

/* Append all that is not written yet to OUT; the number of pools. Nothing is forgotten before: */
unsigned jfr_pools_take(struct jfr_pools *p, struct buffer *out);
void jfr_pools_taken(struct jfr_pools *p);
/* A new chunk begins: everything must be written again, under new keys. */
void jfr_pools_reset(struct jfr_pools *p);
void jfr_pools_free(struct jfr_pools *p);
/* Keys are above FIRST, which the begin of the file has used (0: there is none); and the last one used by now. */
void jfr_pools_begin(struct jfr_pools *p, uint32_t first);
uint32_t jfr_pools_last_key(const struct jfr_pools *p);
/* Bytes of memory by which constants of the chunk are found again. */
size_t jfr_pools_bytes(const struct jfr_pools *p);
#endif
