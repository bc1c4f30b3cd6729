/* interrupted.c - the native method of truth.Interrupted: blocking reads, failures counted. */
#include <errno.h>
#include <jni.h>
#include <pthread.h>
#include <unistd.h>

#define READS 100

static volatile unsigned long worked;

static void work(int rounds)
{
	int i;

	for (i = 0; i < rounds; i++)
		worked = worked * 31 + i;
}

static void *fill(void *pipe_end)
{
	int i;

	for (i = 0; i < READS; i++) {
		work(200000);
		if (write(*(int *)pipe_end, "x", 1) != 1)
			break;
	}
	return NULL;
}

JNIEXPORT jint JNICALL Java_truth_Interrupted_reads(JNIEnv *env, jclass type)
{
	int ends[2], done = 0, failed = 0;
	pthread_t thread;
	char c;

	(void)env;
	(void)type;
	if (pipe(ends) || pthread_create(&thread, NULL, fill, &ends[1]))
		return READS;
	while (done < READS) {
		if (read(ends[0], &c, 1) == 1)
			done++;
		else if (errno == EINTR)
			failed++;
		else
			break;
		work(20000);
	}
	pthread_join(thread, NULL);
	close(ends[0]);
	close(ends[1]);
	return failed + READS - done;
}
