/*
 * mounts.h - virtual threads that leave their carriers and come back.
 *
 * JVMTI's extension events com.sun.hotspot.events.VirtualThreadUnmount and VirtualThreadMount (JDK 21+), on the
 * carrier's thread. No class is changed for them, and what they cost ends with their environment.
 */
#ifndef JSTROBE_JVM_MOUNTS_H
#define JSTROBE_JVM_MOUNTS_H

#include <jvmti.h>
#include <stdarg.h>

/* Let both be called (after TI: JNIEnv *, jthread) from now on; NULL: this JVM does not tell. Attached threads. */
jvmtiEnv *mounts_listen(jvmtiExtensionEvent unmount, jvmtiExtensionEvent mount);

/* What the callbacks get. */
struct mount {
	JNIEnv *env;
	jthread thread;
};
static inline struct mount mount_of(va_list args)
{
	JNIEnv *env = va_arg(args, JNIEnv *);

	return (struct mount){env, va_arg(args, jthread)};
}
/* What a callback of one was called with behind TI, its last named parameter. */
#define MOUNT_OF(ti)                                     \
	({                                               \
		struct mount mount_called;               \
		va_list mount_arguments;                 \
							 \
		va_start(mount_arguments, ti);           \
		mount_called = mount_of(mount_arguments); \
		va_end(mount_arguments);                 \
		mount_called;                            \
	})

#endif
