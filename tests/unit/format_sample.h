/*
 * format_sample.h - a small profile made by hand for the tests of the writers: every kind of
 * frame, recursion, threads, losses, a cut stack, and names that try to break out.
 */
#ifndef FORMAT_SAMPLE_H
#define FORMAT_SAMPLE_H

#include <stdlib.h>
#include <string.h>

#include "common/base/buffer.h"
#include "profile/writers/format.h"

enum sample_frame {
	S_START, S_RUN, S_RUN_JIT, S_PUT, S_PUT_INLINED, S_LAMBDA, S_RECURSE, S_NATIVE_METHOD, S_WRITE,
	S_KERNEL, S_GC, S_TRUNCATED, S_EVIL, S_GENERIC,
};

static const struct profile_frame sample_frames[] = {
	[S_START] = {NULL, "start_thread", NULL, "libc.so.6", 0, FRAME_NATIVE},
	[S_RUN] = {"demo/OrderService", "run", "()V", NULL, 12, FRAME_INTERPRETED},
	[S_RUN_JIT] = {"demo/OrderService", "run", "()V", NULL, 14, FRAME_C1},
	[S_PUT] = {"java/util/HashMap", "put", "(Ljava/lang/Object;Ljava/lang/Object;)Ljava/lang/Object;",
		   NULL, 610, FRAME_C2},
	[S_PUT_INLINED] = {"java/util/HashMap", "put",
			   "(Ljava/lang/Object;Ljava/lang/Object;)Ljava/lang/Object;", NULL, 610,
			   FRAME_INLINED},
	[S_LAMBDA] = {"demo/OrderService$$Lambda$14+0x0000000800c03000", "apply",
		      "(Ljava/lang/Object;)Ljava/lang/Object;", NULL, 0, FRAME_C2},
	[S_RECURSE] = {"demo/Tree", "walk", "(I)I", NULL, 7, FRAME_C2},
	[S_NATIVE_METHOD] = {"java/io/FileOutputStream", "writeBytes", "([BIIZ)V", NULL, 0,
			     FRAME_WRAPPER},
	[S_WRITE] = {NULL, "write", NULL, "libc.so.6", 0, FRAME_NATIVE},
	[S_KERNEL] = {NULL, "do_syscall_64", NULL, NULL, 0, FRAME_KERNEL},
	[S_GC] = {NULL, "G1ParScanThreadState::copy_to_survivor_space(G1HeapRegionAttr, oopDesc*)", NULL,
		  "libjvm.so", 0, FRAME_NATIVE},
	[S_TRUNCATED] = {NULL, "[truncated]", NULL, NULL, 0, FRAME_OTHER},
	[S_EVIL] = {"evil/\"</script><script>alert(1)</script>", "a;b\\\n<!--", "()V", NULL, 0, FRAME_C2},
	[S_GENERIC] = {"demo/Größe", "<init>", "()V", NULL, 3, FRAME_INTERPRETED},
};

static const uint32_t sample_put[] = {S_START, S_RUN, S_PUT};
static const uint32_t sample_put_inlined[] = {S_START, S_RUN_JIT, S_PUT_INLINED};
static const uint32_t sample_lambda[] = {S_START, S_RUN_JIT, S_LAMBDA, S_PUT_INLINED};
static const uint32_t sample_recursion[] = {S_START, S_RUN, S_RECURSE, S_RECURSE, S_RECURSE};
static const uint32_t sample_write[] = {S_START, S_RUN, S_NATIVE_METHOD, S_WRITE, S_KERNEL};
static const uint32_t sample_gc[] = {S_START, S_GC};
static const uint32_t sample_truncated[] = {S_TRUNCATED, S_RECURSE, S_RECURSE};
static const uint32_t sample_evil[] = {S_START, S_EVIL};
static const uint32_t sample_generic[] = {S_START, S_RUN, S_GENERIC};

#define STACK(frames, thread, samples, weight) {frames, ARRAY_LEN(frames), thread, samples, weight, THREAD_NONE, 0, 0, 0}
static const struct profile_stack sample_stacks[] = {
	STACK(sample_put, 0, 30, 300000000),
	STACK(sample_put_inlined, 0, 20, 200000000),
	STACK(sample_put_inlined, 1, 5, 50000000),
	STACK(sample_lambda, 1, 10, 100000000),
	STACK(sample_recursion, 0, 8, 80000000),
	STACK(sample_write, 1, 7, 90000000),
	STACK(sample_gc, 2, 6, 60000000),
	STACK(sample_truncated, 0, 2, 20000000),
	STACK(sample_evil, 3, 1, 10000000),
	STACK(sample_generic, 0, 1, 10000000),
};

static const struct profile_thread sample_threads[] = {
	{101, "main", 61, 610000000},
	{102, "worker;1", 22, 240000000},
	{103, "GC Thread#0", 6, 60000000},
	{104, "\033[31m<b>\"evil\"</b>", 1, 10000000},
};

/* 93 samples taken, 90 stored, 88 of them complete. PER_THREAD as with -t. */
static inline struct profile sample_profile(bool per_thread)
{
	static struct profile_stack unthreaded[ARRAY_LEN(sample_stacks)];
	struct profile p = {
		.event = "cpu", .engine = "perf", .main_class = "demo.OrderService",
		.jdk = "17.0.15+6-Debian", .pid = 4711, .started_at = 1790000000123456789,
		.duration = 1002000000, .interval = 10000000, .effective_interval = 10222222,
		.taken = 93, .stored = 90, .weight_stored = 920000000, .unsampled = 30000000,
		.cpu_time = 980000000, .own_cpu = 1500000, .complete = 88,
		.queues = {.bytes = 61440, .increments = 1, .max_capacity = 40, .max_fill = 21},
		.handler = {93, 1200, 3400, 5600, 12000}, .drain = {100, 45000, 120000, 200000, 210000},
		.threads_perf = 12, .threads_timer = 1,
		.frames = sample_frames, .frame_count = ARRAY_LEN(sample_frames),
		.stacks = sample_stacks, .stack_count = ARRAY_LEN(sample_stacks),
		.threads = sample_threads, .thread_count = ARRAY_LEN(sample_threads),
		.per_thread = per_thread,
	};
	unsigned i;

	p.lost[LOSS_queue_full] = 2;
	p.lost_weight[LOSS_queue_full] = 20000000;
	p.lost[LOSS_recursion] = 1;
	p.lost_weight[LOSS_recursion] = 10000000;
	p.ended_early[END_truncated] = 2;
	if (!per_thread) {
		memcpy(unthreaded, sample_stacks, sizeof(sample_stacks));
		for (i = 0; i < ARRAY_LEN(unthreaded); i++)
			unthreaded[i].thread = PROFILE_NO_THREAD;
		p.stacks = unthreaded;
	}
	return p;
}

/* A session without a single sample. */
static inline struct profile sample_empty(void)
{
	return (struct profile){
		.event = "cpu", .engine = "ctimer", .main_class = "", .jdk = "", .pid = 4711,
		.started_at = 1790000000000000000, .duration = NS_PER_S, .interval = 10000000,
		.cpu_time = 3200000, .unsampled = 3200000,
	};
}

/* PROFILE in FORMAT as a NUL-terminated text; the caller frees it. */
static inline char *sample_write_text(const struct profile *p, const char *format,
				      const struct format_options *options)
{
	struct buffer out = BUFFER_INIT;
	const struct format *f = format_by_name(format);

	if (!f)
		abort();
	format_write(f, &p, 1, options, &out, NULL);
	buffer_putc(&out, '\0');
	if (buffer_flush(&out))
		abort();
	return out.data;
}

#endif
