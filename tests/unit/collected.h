/*
 * collected.h - a collector over methods in plain memory, and one thread whose samples a test makes. One to a program.
 */
#ifndef JSTROBE_TESTS_COLLECTED_H
#define JSTROBE_TESTS_COLLECTED_H

#include <string.h>

#include "agent/collect/aggregate.h"
#include "agent/collect/collector.h"
#include "agent/collect/drain.h"
#include "agent/collect/generation.h"
#include "agent/sources/engine.h"
#include "agent/threads/records.h"
#include "agent/zone/zone.h"
#include "common/base/error.h"
#include "common/elf/elf.h"
#include "common/os/os.h"
#include "fake_jvm.h"

static struct fake_jvm jvm;
static struct collector *c;
static struct thread_record *record;
static struct stack_chunk chunk;
static uintptr_t a, b; /* pkg.A.alpha, of 100 bytes, and pkg.B.beta, of 50 */
static uint64_t unloaded, loaded; /* the JVM's counts of classes */

static inline int collected_open(const struct collector_options *o)
{
	struct error err;

	fake_open(&jvm, FAKE_YOUNG);
	zone.layout = jvm.zone.layout;
	zone.has_jvm = true;
	if (records_open(&engine_records, &err) || stack_store_open(&zone.store, 16u << 20, &err))
		return -1;
	atomic_store(&zone.images, image_set_read(NULL, &err));
	memset(&chunk, 0, sizeof(chunk));
	record = records_found(os_gettid(), 0);
	unloaded = loaded = 0;
	atomic_store(&zone.epochs.unloaded[0], &unloaded);
	atomic_store(&zone.epochs.loaded[0], &loaded);
	atomic_store(&zone.epochs.redefinitions, 0);
	atomic_store(&zone.epochs.replacing, false);
	atomic_store(&zone.epochs.moves, 0);
	atomic_store(&zone.epochs.safepoints[0], NULL);
	c = collector_new(&engine_of_collector, o);
	aggregate_open(c);
	a = fake_method(&jvm, "pkg/A", "alpha", "()V", 100);
	b = fake_method(&jvm, "pkg/B", "beta", "(I)I", 50);
	return 0;
}

static inline int collected_close(void)
{
	collector_free(c);
	records_release();
	stack_store_close(&zone.store);
	image_set_free((struct image_set *)atomic_exchange(&zone.images, NULL), NULL);
	zone.has_jvm = false;
	fake_close(&jvm);
	return 0;
}

#endif
