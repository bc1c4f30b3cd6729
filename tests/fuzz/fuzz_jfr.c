/*
 * Recordings, collapsed stacks and files of other profilers of any bytes: what is read has sums that hold, and what a
 * repair writes is finished and says the same.
 */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"
#include "profile/model/profile_marks.h"
#include "profile/readers/jfr/chunk.h"
#include "profile/readers/readers.h"
#include "profile/writers/format.h"

static void check(const struct profile *p)
{
	uint64_t samples = 0;
	uint32_t i, k;

	for (i = 0; i < p->stack_count; i++) {
		const struct profile_stack *s = &p->stacks[i];

		samples += s->samples;
		FUZZ_CHECK(s->thread == PROFILE_NO_THREAD || s->thread < p->thread_count);
		for (k = 0; k < s->depth; k++)
			FUZZ_CHECK(s->frames[k] < p->frame_count);
	}
	FUZZ_CHECK(samples == p->stored);
	for (i = 0; i < p->frame_count; i++)
		FUZZ_CHECK(p->frames[i].name && p->frames[i].kind < FRAME_KINDS);
}

static void check_marks(const struct profile_marks *m)
{
	uint32_t i;

	for (i = 0; i < m->item_count; i++) {
		FUZZ_CHECK(m->items[i].name < m->name_count && m->items[i].gc <= m->gc_count);
		FUZZ_CHECK(m->items[i].thread == PROFILE_NO_THREAD || m->items[i].thread < m->thread_count);
	}
	for (i = 0; i < m->name_count; i++)
		FUZZ_CHECK(m->names[i].name && m->names[i].kind < MARK_KINDS && m->names[i].kept <= m->names[i].count);
	for (i = 0; i < m->event_count; i++)
		FUZZ_CHECK(m->events[i].type && m->events[i].first <= m->events[i].last && m->events[i].count);
}

static void read_as(const char *path, const struct options *o)
{
	const struct profile *const *profiles;
	struct format_options options = {.threads = o->threads, .lines = o->lines};
	struct buffer out = BUFFER_INIT;
	struct conversion *c;
	struct error err = {0};
	uint32_t count, i;

	if (readers_read(path, o, false, &c, &err)) {
		FUZZ_CHECK(err.text[0]);
		return;
	}
	profiles = convert_profiles(c, &count);
	FUZZ_CHECK(count > 0);
	for (i = 0; i < count; i++)
		check(profiles[i]);
	if (profiles[0]->marks)
		check_marks(profiles[0]->marks);
	format_write(format_by_name("collapsed"), profiles, count, &options, &out, NULL);
	FUZZ_CHECK(!out.failed);
	buffer_free(&out);
	readers_free(c);
}

/* Every chunk of a repaired recording is a finished one, and nothing lies between them. */
static void repair(const char *path)
{
	int fd = memfd_create("repaired", MFD_CLOEXEC);
	struct buffer notes = BUFFER_INIT;
	struct error err = {0};
	struct input in;
	struct chunk c;
	char name[32];
	uint64_t at;

	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	if (readers_repair(path, fd, &notes, &err) == 0 && input_open(&in, name, &err) == 0) {
		for (at = 0; chunk_find(&c, &in, at) == 0; at = c.next, chunk_free(&c))
			FUZZ_CHECK(c.start == at && c.finished);
		chunk_free(&c);
		FUZZ_CHECK(at == in.size);
		input_close(&in);
	}
	buffer_free(&notes);
	close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct options plain, special, timed, exported;
	char path[32];

	fuzz_file(data, size, path);
	options_init(&plain);
	options_init(&special);
	options_init(&timed);
	options_init(&exported);
	special.threads = special.lines = exported.threads = exported.lines = true;
	strcpy(timed.format, "flamegraph");
	strcpy(exported.format, "pprof");
	strcpy(special.families, "all,test.Far");
	strcpy(special.from, "0");
	strcpy(special.states, "default,runnable,sleeping");
	strcpy(special.filter, "1-1000000");
	read_as(path, &plain);
	read_as(path, &special);
	read_as(path, &timed);
	read_as(path, &exported);
	repair(path);
	return 0;
}
