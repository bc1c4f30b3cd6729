/* limits.c - the native method of truth.Limits: timers of the program's own. */
#include <errno.h>
#include <jni.h>
#include <signal.h>
#include <time.h>

#define TIMERS 8

/* Make 8 timers, let each expire, delete them; returns how many could not be had or did not expire. */
JNIEXPORT jint JNICALL Java_truth_Limits_timers(JNIEnv *env, jclass type)
{
	struct itimerspec soon = {.it_value = {0, 1000000}};
	struct sigevent event = {.sigev_notify = SIGEV_NONE};
	struct timespec wait = {0, 5000000};
	timer_t timers[TIMERS];
	int made = 0, failed = 0, i;

	(void)env;
	(void)type;
	while (made < TIMERS && timer_create(CLOCK_MONOTONIC, &event, &timers[made]) == 0)
		failed += timer_settime(timers[made++], 0, &soon, NULL) != 0;
	while (nanosleep(&wait, &wait) && errno == EINTR)
		;
	for (i = 0; i < made; i++) {
		struct itimerspec left;

		failed += timer_gettime(timers[i], &left) != 0 || left.it_value.tv_nsec != 0;
		timer_delete(timers[i]);
	}
	return failed + TIMERS - made;
}
