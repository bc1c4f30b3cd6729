#include "agent/session/told.h"

#include <pthread.h>
#include <stddef.h>

#include "agent/collect/collector.h"

/* A leaf but for the collector's own; nothing of the JVM's is called while it is held. */
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static struct collector *collector;

static void set_collector(struct collector *c)
{
	pthread_rwlock_wrlock(&lock);
	collector = c;
	pthread_rwlock_unlock(&lock);
}

void told_begin(struct collector *c)
{
	set_collector(c);
}

void told_end(void)
{
	set_collector(NULL);
}

void told_name(pid_t tid, uint64_t java_id, const char *name)
{
	pthread_rwlock_rdlock(&lock);
	if (collector)
		collector_name_thread(collector, tid, java_id, name);
	pthread_rwlock_unlock(&lock);
}

void told_redefined(const char *class_name)
{
	pthread_rwlock_rdlock(&lock);
	if (collector)
		collector_redefined(collector, class_name);
	pthread_rwlock_unlock(&lock);
}
