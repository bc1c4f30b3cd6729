/*
 * half_attached.h - which threads are on their way into the JVM's list, or stand there without a java.lang.Thread.
 *
 * A thread in AttachCurrentThread() is first in no list (it wants a CPU, or the lock of the list), then in the list
 * without its object, then whole. It is seen without the JVM's help, and before our own handlers of faults stand: the
 * kernel makes the loads, by calls that containers allow (common/elf/memory.h; they deny process_vm_readv).
 */
#ifndef JSTROBE_JVM_HALF_ATTACHED_H
#define JSTROBE_JVM_HALF_ATTACHED_H

#include <jni.h>
#include <sys/types.h>

#include "common/base/error.h"
#include "common/base/vector.h"
#include "common/elf/memory.h"
#include "common/hotspot/layout.h"

/* A thread that is not in the list, and how much CPU time (ns) it had used when it was first seen ready to run. */
struct ready_thread {
	pid_t tid;
	uint64_t cpu;
	uint32_t look; /* the last one that saw it so */
};

struct half_attached {
	struct layout layout;
	struct memory memory;
	VECTOR(uint64_t) threads; /* the list: addresses */
	VECTOR(pid_t) listed;     /* their numbers, in order */
	VECTOR(struct ready_thread) ready;
	uint64_t half; /* a thread of the list that had no object at the last look; 0: none */
	uint32_t looks;
	bool perhaps;
};

/*
 * HALF: a thread has no object, the first JVMTI environment would end the JVM. PERHAPS: a thread may be just before the
 * list, or the list cannot be read now. NONE: all are whole, and stay so while none begins to attach itself.
 */
enum half_attached_seen { HALF_ATTACHED_NONE, HALF_ATTACHED_PERHAPS, HALF_ATTACHED_HALF };

/* False: this JVM's list is not known, so nothing can be seen. Normal code. H is as large as a struct layout. */
bool half_attached_open(struct half_attached *h);
void half_attached_close(struct half_attached *h);
enum half_attached_seen half_attached_look(struct half_attached *h);

/* No native thread is half attached while the JVM makes its first JVMTI environment. */

/*
 * Threads that begin to attach themselves wait until attaching_go_on(), ten seconds at most. Those that are at it are
 * waited for, two seconds at most; where one is half attached even then, it is refused (EAGAIN). Nothing before JDK 21.
 * On a thread of the JVM, in native code; by one at a time. STAND_AT_SAFEPOINT returns when no safepoint is on.
 * attaching_go_on() in any case.
 */
int attaching_hold(JavaVM *vm, void (*stand_at_safepoint)(void), struct error *err);
void attaching_go_on(JavaVM *vm);

#endif
