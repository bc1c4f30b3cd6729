#include "agent/jvm/half_attached.h"

#include <stdlib.h>

#include "common/os/os.h"

#define HAS_RUN (200 * NS_PER_US) /* to get into the list takes less */
#define THREADS_LIMIT 1000000
/* The JVM's static locks lie no further from its list; locks in the heap, as on JDK 21, are not seen. */
#define IMAGE (4ul << 20)

bool half_attached_open(struct half_attached *h)
{
	struct error ignored;

	*h = (struct half_attached){0};
	if (layout_read(&h->layout, &ignored) || !h->layout.threads || h->layout.threads_length < 0 ||
	    h->layout.threads_array < 0 || h->layout.thread_object < 0)
		return false;
	memory_open(&h->memory);
	return true;
}

void half_attached_close(struct half_attached *h)
{
	memory_close(&h->memory);
	free(h->threads.items);
	free(h->listed.items);
	free(h->ready.items);
}

static bool read_word(const struct half_attached *h, uint64_t address, uintptr_t *out)
{
	return memory_read(&h->memory, out, (uintptr_t)address, sizeof(*out)) == sizeof(*out);
}

static bool read_u32(const struct half_attached *h, uint64_t address, uint32_t *out)
{
	return memory_read(&h->memory, out, (uintptr_t)address, sizeof(*out)) == sizeof(*out);
}

/* The threads' addresses; *LIST: where they were read. False: not to be read just now. */
static bool read_list(struct half_attached *h, uintptr_t *list)
{
	const struct layout *l = &h->layout;
	uintptr_t array, thread;
	uint32_t length, i;
	uint64_t *to;

	h->threads.count = 0;
	if (!read_word(h, l->threads, list) || !*list ||
	    !read_u32(h, *list + (uintptr_t)l->threads_length, &length) || length > THREADS_LIMIT ||
	    !read_word(h, *list + (uintptr_t)l->threads_array, &array))
		return false;
	for (i = 0; i < length; i++) {
		to = read_word(h, array + i * sizeof(uintptr_t), &thread) ? VECTOR_PUSH(&h->threads) : NULL;
		if (!to)
			return false;
		*to = thread;
	}
	return true;
}

static int by_number(const void *a, const void *b)
{
	return *(const pid_t *)a < *(const pid_t *)b ? -1 : *(const pid_t *)a > *(const pid_t *)b;
}

/* Whose the list is. A thread that is missing here costs time only: it has to have run. */
static void note_listed(struct half_attached *h)
{
	const struct layout *l = &h->layout;
	uintptr_t list, os;
	uint32_t tid;
	pid_t *to;
	size_t i;

	h->listed.count = 0;
	if (l->thread_osthread < 0 || l->osthread_tid < 0 || !read_list(h, &list))
		return;
	for (i = 0; i < h->threads.count; i++)
		if (read_word(h, h->threads.items[i] + (uintptr_t)l->thread_osthread, &os) && os &&
		    read_u32(h, os + (uintptr_t)l->osthread_tid, &tid) && (to = VECTOR_PUSH(&h->listed)))
			*to = (pid_t)tid;
	if (h->listed.count)
		qsort(h->listed.items, h->listed.count, sizeof(h->listed.items[0]), by_number);
}

/* Whether TID has not run since it was first seen ready to. A look that does not see it so forgets it. */
static bool has_to_run(struct half_attached *h, pid_t tid)
{
	uint64_t now = os_thread_cpu(tid);
	struct ready_thread *r = NULL;
	size_t i;

	for (i = 0; i < h->ready.count && !r; i++)
		if (h->ready.items[i].tid == tid)
			r = &h->ready.items[i];
	if (!r) {
		r = VECTOR_PUSH(&h->ready);
		if (r)
			*r = (struct ready_thread){.tid = tid, .cpu = now, .look = h->looks};
		return true;
	}
	if (r->look + 1 < h->looks)
		r->cpu = now;
	r->look = h->looks;
	return now < r->cpu + HAS_RUN;
}

static void note_outside(pid_t tid, uint64_t mark, void *arg)
{
	struct half_attached *h = arg;
	uintptr_t word;

	(void)mark;
	if (tid == os_gettid() ||
	    (h->listed.count &&
	     bsearch(&tid, h->listed.items, h->listed.count, sizeof(tid), by_number)))
		return;
	if (os_thread_runs(tid)) {
		h->perhaps |= has_to_run(h, tid);
		return;
	}
	word = os_thread_lock(tid);
	h->perhaps |= word && word - h->layout.threads + IMAGE < 2 * IMAGE;
}

/* A thread of the list without its object; 0: all have theirs. */
static uint64_t find_half(const struct half_attached *h)
{
	uintptr_t handle, object;
	size_t i;

	for (i = 0; i < h->threads.count; i++)
		if (!read_word(h, h->threads.items[i] + (uintptr_t)h->layout.thread_object, &handle) || !handle ||
		    !read_word(h, handle, &object) || !object)
			return h->threads.items[i];
	return 0;
}

/*
 * First those outside, then the list: who came in between the two is seen there. Where the list became another
 * meanwhile, its memory may be another's by now: what it says is believed when the next look says it again.
 */
enum half_attached_seen half_attached_look(struct half_attached *h)
{
	uint64_t half, before = h->half;
	uintptr_t list, again;

	h->looks++;
	h->perhaps = false;
	note_listed(h);
	if (os_each_thread(note_outside, h))
		h->perhaps = false; /* no /proc: only the list can be seen */
	h->half = 0;
	if (!read_list(h, &list))
		return HALF_ATTACHED_PERHAPS;
	half = h->half = find_half(h);
	if (!read_word(h, h->layout.threads, &again) || again != list)
		return half && half == before ? HALF_ATTACHED_HALF : HALF_ATTACHED_PERHAPS;
	return half ? HALF_ATTACHED_HALF : h->perhaps ? HALF_ATTACHED_PERHAPS : HALF_ATTACHED_NONE;
}
