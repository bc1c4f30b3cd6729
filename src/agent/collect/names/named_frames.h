/*
 * named_frames.h - frame words become frames with names.
 *
 * A `named frame` is what the outputs show: kind, class, name, signature, library, line. Many
 * words lead to one (all pcs of a function). Native and kernel words are named late, when a profile
 * is built or their image goes away: symbol tables are large and would hold up the drains.
 *
 * Collector thread or, with the collector's lock held, a thread that builds a profile.
 */
#ifndef JSTROBE_COLLECT_NAMES_NAMED_FRAMES_H
#define JSTROBE_COLLECT_NAMES_NAMED_FRAMES_H

#include <string.h>

#include "agent/collect/names/method_identity.h"
#include "agent/zone/zone.h"
#include "common/base/pages.h"
#include "common/base/vector.h"
#include "profile/model/profile.h"

struct named_frame {
	uint32_t class_name, name, signature, library; /* numbers in strings; 0 = none */
	int32_t line;          /* of the class of a lock alone: which lock */
	uint8_t kind;
	bool late;             /* its name is an address so far: frames_name_late has not looked it up yet */
};

/* A native or kernel address whose frame has no name yet. */
struct late_frame {
	uint64_t address;
	uint32_t frame;
	uint32_t image;        /* its id, 0 = the kernel */
	bool kernel;
};

/* PAGED, with a name. */
struct late_frames {
	struct late_frame *items;
	size_t count, room;
};

/* Addresses [FROM, TO) of IMAGE belong to the function that FRAME stands for. */
struct named_range {
	uint64_t from, to;
	uint32_t frame, image;
};

struct frames {
	struct strings strings;
	PAGED(struct named_frame) named;
	struct method_identities methods;
	struct late_frames late; /* frames that have no name yet */
	PAGED(struct named_range) ranges; /* of functions looked up so far, in order, none over another */
	struct map by_word;           /* frame word (bci dropped unless lines) → named frame + 1 */
	struct map by_identity;       /* hash of a named frame → itself + 1 */
	uint64_t drain;               /* number of the present drain */
	uint64_t images_read;         /* in which one the images were read anew last; 0 = not yet */
	bool lines;
	bool no_memory;               /* for the frame being named */
};

/* The named frame of WORD as it was in ERA; what has no name gets a marker. FRAMES_NO_MEMORY: nothing was kept. */
#define FRAMES_NO_MEMORY UINT32_MAX
uint32_t frames_name(struct frames *f, const struct zone *z, uint64_t word, uint64_t epoch);
/* Named frame NUMBER as writers take it; its texts are valid until the next one is named. */
struct profile_frame frames_spelled(const struct frames *f, uint32_t number);
/* The frame of the marker TEXT, "[no_Java_frame]" and the like. */
uint32_t frames_marker(struct frames *f, const char *text);
/* The frame of a class by its NAME, a number in strings, without a method. */
uint32_t frames_class(struct frames *f, uint32_t name);
/* The same of lock NUMBER of that class; 0: of any. */
uint32_t frames_lock(struct frames *f, uint32_t name, uint32_t number);
/* The frame of what a call was about, by its NAME, a number in strings. */
uint32_t frames_target(struct frames *f, uint32_t name);
/*
 * How often WORD's method has changed so far, or the image that its native code is of (0 for other
 * words): names given under another version do not hold any more. FRAMES_GONE: it is not proved
 * which method it was in ERA.
 */
#define FRAMES_GONE UINT32_MAX
uint32_t frames_version(struct frames *f, const struct zone *z, uint64_t word, uint64_t epoch);
/* Names that were looked up late, malloc'ed or NULL. */
struct late_name {
	char *name;
	char *full; /* with arguments, where NAME has none of those it could have */
	uint64_t from, to; /* where around the address the name is the same; 0, 0: not known */
};

/*
 * Naming late, in three steps, so that the slow one needs no access to F: take the list of
 * frames without names (NULL: none, or out of memory; free() it); look the names up (NAMES[i]
 * is filled in; one thread at a time, no image may be freed meanwhile); give them to F.
 */
struct late_frames frames_take_late(struct frames *f);
struct kernel_table;
/* KERNEL: where the kernel's table is kept for the next look-up; NULL: no symbols stay in memory. */
void frames_look_up(const struct zone *z, const struct late_frame *late, size_t count,
		    struct late_name *names, struct kernel_table **kernel);
/* Give back the symbols that were kept. */
void frames_forget_symbols(const struct zone *z, struct kernel_table **kernel);
void frames_give_names(struct frames *f, const struct late_frame *late, size_t count,
		       struct late_name *names);
/* All three at once. */
void frames_name_late(struct frames *f, const struct zone *z);
void frames_free(struct frames *f);

/* What named_frames.c and named_frames_late.c share. */

/* The number of TEXT in F's strings, 0 for NULL. */
static inline uint32_t frames_text(struct frames *f, const char *text)
{
	return text ? strings_add(&f->strings, text, strlen(text)) : 0;
}

/* The number of a frame equal to N, made if need be. FRAMES_NO_MEMORY. */
uint32_t frames_intern(struct frames *f, const struct named_frame *n);
/*
 * The frame of native or kernel code at ADDRESS in IMAGE (its id, 0 = the kernel): that of its function if it is
 * known, else one of its own until frames_name_late has the names.
 */
uint32_t frames_later(struct frames *f, uint64_t address, enum frame_kind kind, uint32_t library, uint32_t image);

#endif
