#include "profile/readers/unpack.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/words/events.h"
#include "profile/model/packed.h"
#include "profile/model/time/read_times.h"

#define OUTER_MOST 8 /* frames that may stand outside a stack's thread; an agent makes two */

/* Where one packed profile lies, and what its places count from. */
struct parts {
	char *at, *end; /* what is not taken yet */
	struct profile *p;
	uint32_t *frames;
	char *texts;
	struct packed_head head;
	uint64_t listed; /* frames of all lists so far */
};

/* The next SIZE bytes of a part; NULL: they are not there. */
static void *take(struct parts *s, uint64_t size)
{
	char *taken = s->at;

	/* the sum cannot pass 2^64 where SIZE fits */
	if (size > (uint64_t)(s->end - s->at) || packed_padded(size) > (uint64_t)(s->end - s->at))
		return NULL;
	s->at += packed_padded(size);
	return taken;
}

/* ---- pointers ---- */

static bool point_texts(struct parts *s, char *object, const uint16_t *offsets, unsigned n, unsigned must)
{
	unsigned i;

	for (i = 0; i < n && offsets[i] != PACKED_NONE; i++) {
		uintptr_t place;
		const char *text;

		memcpy(&place, object + offsets[i], sizeof(place));
		if (place > s->head.texts || (!place && i < must))
			return false;
		text = place ? s->texts + place - 1 : NULL;
		memcpy(object + offsets[i], &text, sizeof(text));
	}
	return true;
}

static bool point_frames(struct parts *s, char *item, const struct packed_list *list)
{
	const uint32_t *frames;
	uintptr_t place;
	uint32_t depth;

	if (list->frames == PACKED_NONE)
		return true;
	memcpy(&place, item + list->frames, sizeof(place));
	memcpy(&depth, item + list->depth, sizeof(depth));
	if (!place || place - 1 > s->head.frames || depth > s->head.frames - (place - 1))
		return false;
	/* each list is there once: many that are one would be walked for ever */
	s->listed += depth;
	if (s->listed > s->head.frames)
		return false;
	frames = s->frames + place - 1;
	memcpy(item + list->frames, &frames, sizeof(frames));
	return true;
}

/* The arrays, one behind the other; their items still hold places. */
static bool take_lists(struct parts *s)
{
	unsigned l;

	for (l = 0; l < packed_list_count; l++) {
		const struct packed_list *list = &packed_lists[l];
		void *items = take(s, (uint64_t)packed_count(s->p, list) * list->size);
		/* an empty one, too, ends where the next begins */
		bool there = packed_pointer(s->p, list->items) != NULL;

		if (!items || (!there && !list->whole && *(const uint32_t *)((const char *)s->p + list->count)))
			return false;
		items = there ? items : NULL;
		memcpy((char *)s->p + list->items, &items, sizeof(items));
	}
	return true;
}

static bool point_lists(struct parts *s)
{
	unsigned l;
	uint32_t i;

	for (l = 0; l < packed_list_count; l++) {
		const struct packed_list *list = &packed_lists[l];
		char *item = (char *)(uintptr_t)packed_pointer(s->p, list->items);

		for (i = 0; i < packed_count(s->p, list); i++, item += list->size)
			if (!point_texts(s, item, list->texts, PACKED_TEXTS, list->must) ||
			    !point_frames(s, item, list))
				return false;
	}
	return true;
}

/* ---- what is in range ---- */

static void make_bool(bool *b)
{
	uint8_t byte;

	memcpy(&byte, b, sizeof(byte));
	*b = byte != 0;
}

static void make_bools(struct profile *p)
{
	bool *all[] = {&p->kinds_unknown, &p->recorded, &p->survivors, &p->young, &p->unfreed, &p->filter_none,
		       &p->partial,
		       &p->ends_unknown, &p->virtual_as_one, &p->per_thread, &p->per_trace_context, &p->filtered,
		       &p->window.watched, &p->window.open};
	unsigned i;

	for (i = 0; i < ARRAY_LEN(all); i++)
		make_bool(all[i]);
	for (i = 0; i < p->trace_context_count; i++)
		make_bool((bool *)(uintptr_t)&p->trace_contexts[i].others);
}

static bool stacks_are_in_range(const struct profile *p)
{
	uint32_t i;

	for (i = 0; i < p->stack_count; i++) {
		const struct profile_stack *s = &p->stacks[i];

		if ((s->thread != PROFILE_NO_THREAD && s->thread >= p->thread_count) || s->state >= THREAD_STATES ||
		    s->trace_context > p->trace_context_count || s->depth < p->outer)
			return false;
	}
	return true;
}

/* LOCKS: of the profile, of which a wait may name one. */
static bool waits_are_in_range(const struct profile_waits *w, uint32_t count, uint32_t locks)
{
	while (count-- > 0)
		if (w[count].kind >= LOCK_KINDS || w[count].lock > locks)
			return false;
	return true;
}

static bool is_in_range(const struct parts *s)
{
	const struct profile *p = s->p;
	uint64_t i;

	for (i = 0; i < s->head.frames; i++)
		if (s->frames[i] >= p->frame_count)
			return false;
	for (i = 0; i < p->frame_count; i++)
		if (p->frames[i].kind >= FRAME_KINDS || p->frames[i].lock > p->lock_count)
			return false;
	for (i = 0; i < p->io_count; i++)
		if (p->io[i].operation >= IO_OPERATIONS || p->io[i].kind >= IO_KINDS)
			return false;
	return (unsigned)p->weight_kind < WEIGHT_KINDS && p->outer <= OUTER_MOST && stacks_are_in_range(p) &&
	       waits_are_in_range(p->locks, p->lock_count, p->lock_count) &&
	       waits_are_in_range(p->owners, p->owner_count, p->lock_count) &&
	       waits_are_in_range(p->holders, p->holder_count, p->lock_count);
}

/* A window has both names or neither. */
static bool has_whole_window(const struct profile *p)
{
	return !p->window.begin == !p->window.end;
}

/* The profile that begins at *AT; NULL: it is no profile. */
static struct profile *unpack_one(char **at, char *end)
{
	struct parts s = {.at = *at, .end = end};
	const struct packed_head *head = take(&s, sizeof(*head));

	if (!head || head->magic != PACKED_MAGIC || head->layout != packed_layout())
		return NULL;
	s.head = *head;
	s.p = take(&s, sizeof(*s.p));
	if (!s.p || !take_lists(&s) || s.head.frames > UINT32_MAX || s.head.texts > (uint64_t)(end - *at))
		return NULL;
	s.frames = take(&s, s.head.frames * sizeof(uint32_t));
	s.texts = s.frames ? take(&s, s.head.texts) : NULL;
	if (!s.texts || !s.head.texts || s.texts[s.head.texts - 1])
		return NULL;
	if (!point_texts(&s, (char *)s.p, packed_texts, packed_text_count, PACKED_MUST) || !point_lists(&s))
		return NULL;
	s.p->calls = NULL;
	s.p->blocks = NULL;
	s.p->blocks_of = NULL;
	s.p->moments = NULL;
	s.p->moments_of = NULL;
	s.p->growth_of = s.p->growth ? s.p->stacks : NULL;
	make_bools(s.p);
	if (!is_in_range(&s) || !has_whole_window(s.p))
		return NULL;
	*at = s.at;
	return s.p;
}

static int read_all(char *to, int fd, uint64_t size, struct error *err)
{
	uint64_t done = 0;

	while (done < size) {
		ssize_t n = pread(fd, to + done, size - done, (off_t)done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return error_set(err, n ? errno : EPROTO, "the result cannot be read back: %s",
					 n ? error_text(errno) : "it has become shorter");
		done += (uint64_t)n;
	}
	return 0;
}

int unpack(struct unpacked *u, int fd, uint64_t size, struct error *err)
{
	char *at, *end;
	uint32_t i;
	int rc;

	*u = (struct unpacked){.count = 0};
	if (size > UNPACK_BYTES)
		return error_set(err, EFBIG, "the target's result has %llu MB, which no agent makes; it is not taken",
				 (unsigned long long)(size >> 20));
	u->bytes = malloc(size + 8);
	if (!u->bytes)
		return error_set(err, ENOMEM, "out of memory for a result of %llu MB",
				 (unsigned long long)(size >> 20));
	rc = read_all(u->bytes, fd, size, err);
	if (rc)
		return rc;
	at = u->bytes;
	end = at + size;
	while (at < end || !u->count) {
		struct profile *p = u->count < UNPACK_MOST ? unpack_one(&at, end) : NULL;

		if (!p)
			return error_set(err, EPROTO, "the agent's result is not one that this jstrobe can read; the "
						      "JVM has "
					 "another build of the agent: restart it, or use that build's jstrobe");
		u->profiles[u->count++] = p;
		if (read_times(p, 0, &u->moments[u->count - 1]) == -ENOMEM)
			return error_set(err, ENOMEM, "out of memory for the times of samples");
	}
	for (i = 0; i < u->count; i++) {
		u->profiles[i]->session = (const struct profile *const *)u->profiles;
		u->profiles[i]->session_count = u->count;
	}
	return 0;
}

void unpack_free(struct unpacked *u)
{
	while (u->count > 0)
		free(u->moments[--u->count]);
	free(u->bytes);
	*u = (struct unpacked){.count = 0};
}
