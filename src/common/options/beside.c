/*
 * beside.c - options that have an effect with some event only: without it they would be ignored, so they are refused.
 * Asked when a session is about to begin; options for the result alone may come later, with stop or dump.
 */
#include <errno.h>

#include "common/options/option_table.h"

enum with {
	WITH_LOCK, WITH_NATIVE_LOCK, WITH_WAITS, WITH_WALL, WITH_PERIODIC, WITH_LIVE, WITH_NATIVEMEM, WITH_CALLS
};

/* One of them is enough. */
static const char *const events[][2] = {
	[WITH_LOCK] = {"lock"}, [WITH_NATIVE_LOCK] = {"nativelock"}, [WITH_WAITS] = {"lock", "nativelock"},
	[WITH_WALL] = {"wall"}, [WITH_PERIODIC] = {"periodic"}, [WITH_LIVE] = {"live"},
	[WITH_NATIVEMEM] = {"nativemem", "nativemap"},
};
static const char *const remedies[] = {
	[WITH_LOCK] = "is of waits for locks; add them (--lock, event=lock), or remove it",
	[WITH_NATIVE_LOCK] = "is of waits for native locks; add them (--nativelock), or remove it",
	[WITH_WAITS] = "is of waits for locks; add them (--lock, event=lock), or remove it",
	[WITH_WALL] = "is of wall-clock sampling; add it (--wall, event=wall), or remove it",
	[WITH_PERIODIC] = "is of the event periodic; choose that (event=periodic), or remove it",
	[WITH_LIVE] = "is of objects that are still there; add them (event=live), or remove it",
	[WITH_NATIVEMEM] = "is of native memory; add it (--nativemem, --nativemap), or remove it",
	[WITH_CALLS] = "is of calls that are counted; say of which methods (--instrument, jstrobe trace), or remove it",
};

#define ROW(field, with) {offsetof(struct options, field), sizeof(((struct options *)0)->field), with}
static const struct {
	size_t offset, size;
	enum with with;
} rows[] = {
	ROW(sleep, WITH_LOCK), ROW(nopark, WITH_LOCK), ROW(owners, WITH_WAITS), ROW(nativewait, WITH_NATIVE_LOCK),
	ROW(nobatch, WITH_WALL), ROW(vthreads, WITH_WALL), ROW(time, WITH_PERIODIC), ROW(collect_first, WITH_LIVE),
	ROW(roots, WITH_LIVE), ROW(roots_pause, WITH_LIVE),
	ROW(nativemem_live, WITH_NATIVEMEM), ROW(nativemem_peak, WITH_NATIVEMEM), ROW(tail, WITH_NATIVEMEM),
	ROW(root, WITH_CALLS), ROW(timing, WITH_CALLS),
	ROW(latency, WITH_CALLS), ROW(budget, WITH_CALLS), ROW(period, WITH_CALLS), ROW(cpu_clock, WITH_CALLS),
	ROW(all_classes, WITH_CALLS), ROW(trace_depth, WITH_CALLS),
};
#undef ROW

/* What the user calls it. */
static const char *name_of(size_t offset)
{
	const struct option *p;

	for (p = option_table; p->kind; p++)
		if (p->offset == offset && p->size && p->name)
			return p->name;
	return "";
}

static bool is_said(const struct options *o, size_t offset, size_t size)
{
	const char *field = (const char *)o + offset;
	size_t i;

	for (i = 0; i < size && !field[i]; i++)
		;
	return i < size;
}

static bool holds(const char *said, const char *const names[2])
{
	return option_holds(said, names[0]) || (names[1] && option_holds(said, names[1]));
}

int options_check_beside(const struct options *o, struct error *err)
{
	size_t i;

	for (i = 0; i < ARRAY_LEN(rows); i++) {
		bool calls = rows[i].with == WITH_CALLS, there = calls && (o->instrument[0] || o->traced[0]);

		if (!calls && !o->instrument[0])
			there = holds(o->event, events[rows[i].with]);
		if (!there && is_said(o, rows[i].offset, rows[i].size))
			return error_set(err, EINVAL, "%s %s", name_of(rows[i].offset), remedies[rows[i].with]);
	}
	return 0;
}
