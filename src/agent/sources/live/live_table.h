/*
 * live_table.h - the sampled objects that may still be there: a weak reference each, in a table of fixed size.
 *
 * When the table is full a random half of the objects goes, and each that stays stands for twice as much: whether one
 * stays depends on a random number of its own alone, so sums stay unbiased however often that happens (adaptive
 * threshold sampling; Ting, 2022). When a look finds the table nearly empty, twice as many of the new ones are kept
 * again. Those that have been through more stand for what they did: whether one is there depends on the highest level
 * of its time, and on its own random number.
 */
#ifndef JSTROBE_LIVE_LIVE_TABLE_H
#define JSTROBE_LIVE_LIVE_TABLE_H

#include <jni.h>
#include <stdbool.h>
#include <stdint.h>

#include "agent/collect/sources.h"

#define LIVE_SLOTS SOURCE_OBJECTS
#define LIVE_PASSED 0           /* live_table_add: the object is not one of those that are kept */
#define LIVE_REFUSED UINT64_MAX /* no weak reference could be made, or no place found */

/* Before a session: room for the table, empty. -ENOMEM. */
int live_table_open(void);
/*
 * OBJECT, sampled just now: the number it has here, or one of the above, and how many samples it *STANDS_FOR. On the
 * thread that allocates it, which may wait for a safepoint, but for no other thread.
 */
uint64_t live_table_add(JNIEnv *env, jobject object, uint64_t *stands_for);
/* Look at all objects: which are there now, and how many collections each has survived. Attached. */
void live_table_look(JNIEnv *env);
/*
 * As of the last look: for how many times as much object ID stands as at first, 0 = it is gone; *AGE: collections
 * that it has survived. Any thread.
 */
uint64_t live_table_stands_for(uint64_t id, uint32_t *age);
/* Object ID, a local reference; NULL: it is gone, or another thread is about its place. Attached. */
jobject live_table_object(JNIEnv *env, uint64_t id);
/* The references are given back; what the last look has seen stays. ENV NULL: the JVM ends, and takes them along. */
void live_table_let_go(JNIEnv *env);
/* The memory, too. */
void live_table_release(void);

#endif
