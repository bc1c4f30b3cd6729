/*
 * A session that pretends: it samples nothing, but starts, stops and dumps as
 * the real one does, so that the command and the conversation can be tried
 * without an engine. Linked in place of src/agent/session.c and jvm.c.
 */
#include "agent/session.h"

#include <errno.h>
#include <jvmti.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "agent/entry.h"
#include "agent/jvm.h"
#include "format/format.h"

static struct {
	bool running, has_data;
	uint64_t since, ran;
	struct options options;
} fake;

static uint64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * NS_PER_S + (uint64_t)ts.tv_nsec;
}

int session_start(const struct options *options, struct buffer *notes, struct error *err)
{
	if (fake.running)
		return error_set(err, EBUSY, "a session runs already in this JVM; stop it first");
	if (options->engine_fail[0])
		return error_set(err, EACCES, "engine %s failed as asked", options->engine_fail);
	fake.running = true;
	fake.since = now();
	fake.ran = 0;
	fake.options = *options;
	buffer_puts(notes, "fake session: nothing is sampled\n");
	return 0;
}

int session_resume(const struct options *options, struct buffer *notes, struct error *err)
{
	uint64_t ran = fake.ran;
	int rc = session_start(options, notes, err);

	fake.ran = ran;
	return rc;
}

int session_stop(struct error *err)
{
	if (!fake.running)
		return error_set(err, ENOENT, "no session runs in this JVM");
	fake.running = false;
	fake.has_data = true;
	fake.ran += now() - fake.since;
	return 0;
}

static uint64_t duration(void)
{
	return fake.ran + (fake.running ? now() - fake.since : 0);
}

int session_dump(const struct options *options, struct buffer *out, struct error *err)
{
	static const struct profile_frame frames[] = {
		{"java/lang/Thread", "run", "()V", NULL, 0, 1}, {"Busy", "spin", "()V", NULL, 0, 1},
	};
	static const uint32_t both[] = {0, 1};
	const struct format *format = format_by_name(options->format);
	struct format_options how = {.total = options->total, .flat = options->flat};
	struct profile p = {.event = fake.options.event, .engine = "fake", .main_class = "Busy",
			    .jdk = "17", .pid = getpid(), .interval = 10 * NS_PER_MS};
	struct profile_thread thread = {1, "main", 0, 0};
	struct profile_stack stack = {both, 2, 0, 0, 0};

	if (!fake.running && !fake.has_data)
		return error_set(err, ENOENT, "there is no profile");
	if (!format)
		return error_set(err, EINVAL, "unknown format %s", options->format);
	p.duration = p.cpu_time = duration();
	if (strcmp(fake.options.title, "empty") != 0)
		stack.samples = thread.samples = p.taken = p.stored = p.complete =
			p.duration / p.interval;
	stack.weight = thread.weight = p.weight_stored = p.taken * p.interval;
	p.frames = frames;
	p.frame_count = 2;
	p.stacks = &stack;
	p.threads = &thread;
	p.stack_count = p.thread_count = p.taken > 0;
	format->write(&p, &how, out);
	return 0;
}

void session_get_status(struct session_status *s)
{
	memset(s, 0, sizeof(*s));
	s->running = fake.running;
	s->has_data = fake.has_data;
	s->event = fake.options.event;
	s->engine = "fake";
	s->interval = 10 * NS_PER_MS;
	s->running_for = duration();
	s->taken = s->stored = s->running_for / s->interval;
}

void session_forget(void)
{
	fake.has_data = fake.running && fake.has_data;
}

void session_own_thread(bool own)
{
}

void session_list_events(struct buffer *out)
{
	buffer_puts(out, "cpu  fake\n");
}

const struct options *session_options(void)
{
	return fake.running || fake.has_data ? &fake.options : NULL;
}

static void JNICALL vm_death(jvmtiEnv *jvmti, JNIEnv *env)
{
	entry_vm_death();
}

int jvm_init(JavaVM *vm, bool at_load, struct error *err)
{
	jvmtiEventCallbacks callbacks = {.VMDeath = vm_death};
	static jvmtiEnv *jvmti;

	if (jvmti)
		return 0;
	if ((*vm)->GetEnv(vm, (void **)&jvmti, JVMTI_VERSION_1_2) != JNI_OK)
		return error_set(err, EIO, "no JVMTI");
	(*jvmti)->SetEventCallbacks(jvmti, &callbacks, sizeof(callbacks));
	(*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, JVMTI_EVENT_VM_DEATH, NULL);
	return 0;
}
