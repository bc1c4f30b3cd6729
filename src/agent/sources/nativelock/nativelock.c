/*
 * nativelock.c - native locks: who waits in libc's functions for a lock that another thread holds, and for whom.
 *
 *   pthread_mutex_lock … in the images' GOT (lock_calls.c) ─▶ it is held: a wait (native_waits.c) ─▶ the table of waits
 *   (lock_waits.c), from which results have what goes on ─▶ a sample when it is over
 *
 * The functions are replaced while a session has the event. A thread that waits then returns into ours later, which
 * stay in memory; what it tells of a session that is over is not noted.
 */
#include <errno.h>

#include "agent/sample/handler.h"
#include "agent/sources/active.h"
#include "agent/sources/nativelock/lock_calls.h"
#include "agent/sources/nativelock/native_waits.h"

static int start(struct engine_event *event, uint32_t e, struct buffer *notes, struct error *err)
{
	int rc = waits_start(WAITS_OF_NATIVE, e, event->name, err);

	if (rc)
		return rc;
	native_waits_open();
	if (!native_rwlocks_can_be_tried())
		buffer_puts(notes, "nativelock: read-write locks are not watched: the functions of this C library that "
			    "try for one can make other threads hang (glibc before 2.30, its bug 23844)\n");
	return 0;
}

static int listen(struct buffer *notes, struct error *err)
{
	if (!waits_are_wanted(WAITS_OF_NATIVE))
		return 0;
	if (!lock_calls_install(active_options()->nativewait))
		return error_set(err, EBUSY, "nativelock: another copy of libjstrobe.so in this process is just "
				 "starting or ending a session; try again");
	waits_open(WAITS_OF_NATIVE);
	return 0;
}

static void halt(void)
{
	if (!waits_are_wanted(WAITS_OF_NATIVE))
		return;
	waits_halt(WAITS_OF_NATIVE);
	lock_calls_remove();
}

static void listen_no_more(bool goes_on)
{
	if (waits_are_wanted(WAITS_OF_NATIVE))
		waits_keep_open(goes_on);
	halt();
}

const struct engine_ops engine_nativelock = {
	.name = "nativelock", .handler = handler_thread, .start = start, .arm = waits_arm, .silence = waits_silence,
	.disarm = waits_disarm, .halt = halt, .listen = listen, .listen_no_more = listen_no_more,
	.images_changed = lock_calls_refresh,
};
