/*
 * beside_samples.h - of make_page.c: what a shop allocates, and rows of what its JVM reported of itself.
 */
#ifndef BESIDE_SAMPLES_H
#define BESIDE_SAMPLES_H

#include "profile/model/profile_marks.h"

/* What a shop allocates: classes on top of stacks; NATIVE: blocks that were not freed. */
static inline struct profile of_memory(bool kept, bool native)
{
	enum { RUN, ORDER, LAMBDA, COPY, BUILD, BYTES, STRING, ITEM, UNSAFE, MALLOC, INFLATE, FRAMES };
	static const struct profile_frame frames[FRAMES] = {
		[RUN] = JAVA("java/lang/Thread", "run"), [ORDER] = JAVA("shop/Orders", "order"),
		[LAMBDA] = JAVA("shop/Stock$$Lambda", "run"), [COPY] = JAVA("java/util/Arrays", "copyOf"),
		[BUILD] = JAVA("shop/Text", "build"), [BYTES] = {.class_name = "byte[]", .name = "", .kind = FRAME_OTHER},
		[STRING] = {.class_name = "java/lang/String", .name = "", .kind = FRAME_OTHER},
		[ITEM] = {.class_name = "shop/Item<b>", .name = "", .kind = FRAME_OTHER},
		[UNSAFE] = JAVA("jdk/internal/misc/Unsafe", "allocateMemory0"),
		[MALLOC] = {.name = "os::malloc", .library = "libjvm.so", .kind = FRAME_NATIVE},
		[INFLATE] = {.name = "inflateInit2_", .library = "libz.so.1", .kind = FRAME_NATIVE},
	};
	static const uint32_t lists[][5] = {
		{RUN, ORDER, BUILD, COPY, BYTES}, {RUN, ORDER, COPY, BYTES}, {RUN, LAMBDA, COPY, BYTES},
		{RUN, ORDER, BUILD, STRING}, {RUN, COPY, STRING}, {RUN, ORDER, ITEM}, {RUN, ORDER, UNSAFE, MALLOC},
		{RUN, ORDER, BUILD, INFLATE}, {RUN, INFLATE}};
	static const uint32_t depths[] = {5, 4, 4, 4, 3, 3, 4, 4, 2};
	static struct profile_stack stacks[ARRAY_LEN(depths)];
	static struct profile_growth growth[ARRAY_LEN(depths)];
	static const struct profile_thread threads[] = {{1, "order-1", 0, 0}};
	struct profile p = {.event = native ? "nativemem" : kept ? "live" : "alloc", .engine = "alloc",
			    .main_class = "shop.Orders", .jdk = "17", .pid = 1, .weight_kind = WEIGHT_BYTES,
			    .duration = 60 * NS_PER_S, .interval = 512 << 10, .frames = frames, .frame_count = FRAMES,
			    .threads = threads, .thread_count = 1, .stacks = stacks, .survivors = kept,
			    .unfreed = native, .counted = kept ? 40 << 20 : 0, .heap_most = kept ? 512 << 20 : 0};
	uint32_t i, from = native ? 6 : 0, end = native ? ARRAY_LEN(depths) : 6;

	for (i = from; i < end; i++) {
		struct profile_stack *s = &stacks[p.stack_count];

		*s = (struct profile_stack){.frames = lists[i], .depth = depths[i], .thread = PROFILE_NO_THREAD,
					    .samples = i + 1, .weight = (uint64_t)(i + 1) << 20,
					    .objects = native ? 0 : (i + 1) * 100};
		/* of three stacks one stays, one is made anew, and one grows */
		growth[p.stack_count++] = (struct profile_growth){.variance = {1e6, 1e6}, .halves = {
			i % 3 == 1 ? 0 : s->weight / 4, i % 3 == 0 ? 0 : s->weight / 2}};
		p.objects += s->objects;
		p.stored += s->samples;
		p.weight_stored += s->weight;
	}
	p.taken = p.complete = p.stored;
	if (kept || native) {
		p.growth = growth;
		p.growth_of = stacks;
		p.growth_span = 50 * NS_PER_S;
	}
	return p;
}

/* VALUE of ROW in part AT of M's time. */
static inline void put_row(struct profile_marks *m, enum mark_row row, uint32_t at, uint64_t value)
{
	static struct profile_mark_part all[MARK_ROWS][PROFILE_MARK_PARTS];
	struct profile_mark_part *part = &all[row][at];

	m->rows[row] = all[row];
	part->min = part->count ? MIN(part->min, value) : value;
	part->max = MAX(part->max, value);
	part->sum += value;
	part->last = value;
	part->last_at = (2 * at + 1) * m->duration / (2 * PROFILE_MARK_PARTS);
	part->count++;
}

/*
 * Each second the load of two CPUs, at 3 s also a peak; collections at 2, 4 and 6 s that leave 10, 12 and 14 MB of 50;
 * two deoptimisations at 1 s and one at 9 s; ten classes more at 5 s.
 */
static inline void put_rows(struct profile_marks *m)
{
	uint32_t s;

	put_row(m, MARK_ROW_CORES, 0, 2);
	for (s = 0; s < 10; s++) {
		put_row(m, MARK_ROW_CPU, s * 102, 250000 + s * 10000);
		put_row(m, MARK_ROW_MACHINE, s * 102, 500000);
	}
	put_row(m, MARK_ROW_CPU, 3 * 102, 900000);
	for (s = 2; s <= 6; s += 2) {
		put_row(m, MARK_ROW_HEAP_FULL, s * 102, 50ull << 20);
		put_row(m, MARK_ROW_HEAP, s * 102 + s / 4, (8ull + s) << 20);
	}
	put_row(m, MARK_ROW_DEOPTS, 102, 1);
	put_row(m, MARK_ROW_DEOPTS, 102, 1);
	put_row(m, MARK_ROW_DEOPTS, 9 * 102, 1);
	put_row(m, MARK_ROW_CLASSES, 50, 1000);
	put_row(m, MARK_ROW_CLASSES, 5 * 102, 1010);
}

#endif
