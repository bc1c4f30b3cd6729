/*
 * c_api.c - the functions of include/jstrobe.h, which are those of async-profiler's asprof.h.
 */
#include "jstrobe.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#include "agent/command/lent.h"
#include "agent/context/marks.h"
#include "agent/door/entry.h"
#include "agent/door/native_program.h"
#include "agent/door/text_command.h"
#include "agent/hooks/child.h"
#include "agent/hooks/process_calls.h"
#include "agent/jvm/jvm.h"
#include "agent/threads/thread_counter.h"
#include "common/os/os.h"

#define EXPORTED __attribute__((visibility("default")))

#define SAID 64 /* texts of errors that stay */

/* No storage of a thread's own: it would be made in the midst of the program's. */
static const char *keep(const struct error *err)
{
	static char said[SAID][sizeof(err->text)];
	static atomic_uint next;
	char *text = said[atomic_fetch_add(&next, 1) % SAID];

	memcpy(text, err->text, sizeof(err->text));
	return text;
}

/* The JVM asks which thread this is, and takes a JavaThread for granted. */
static int begin_in(JavaVM *vm, struct error *err)
{
	JavaVMAttachArgs args = {.version = JNI_VERSION_1_6, .name = (char *)(uintptr_t)"jstrobe call"};
	bool attached;
	JNIEnv *env;
	int rc;

	attached = (*vm)->GetEnv(vm, (void **)&env, JNI_VERSION_1_6) == JNI_OK;
	if (!attached && (*vm)->AttachCurrentThreadAsDaemon(vm, (void **)&env, &args) != JNI_OK)
		return error_set(err, EAGAIN, "the JVM lets no thread in: it is starting, or at its end");
	rc = entry_begin(vm, false, err);
	if (!attached)
		(*vm)->DetachCurrentThread(vm);
	return rc;
}

static int begin(struct error *err)
{
	JavaVM *vm = jvm_created();

	/* who is in it need not ask; JDKs without 8308341 tell of a JVM that is being made: that kills who comes */
	if (vm && (jvm_is_known() || process_calls_make_jvm()))
		return 0;
	if (vm)
		return begin_in(vm, err);
	native_program_watch();
	return 0;
}

static int execute(const char *text, struct options *o, struct buffer *answer, struct error *err)
{
	struct text_command c = {.text = text, .options = o, .asks = true};
	int rc = options_parse_agent(o, text, ',', err);

	if (rc == 0)
		rc = text_command_is_of_load(o, err);
	if (rc == 0)
		rc = begin(err);
	if (rc == 0) {
		text_command_say_left_out(o);
		rc = text_command(&c, answer, err);
		if (rc == 0 && o->action == ACTION_START)
			native_program_started(text);
	}
	return rc;
}

EXPORTED void asprof_init(void)
{
}

EXPORTED const char *asprof_error_str(asprof_error_t error)
{
	return error;
}

EXPORTED asprof_error_t asprof_execute(const char *command, asprof_writer_t writer)
{
	struct buffer answer = BUFFER_INIT;
	struct error err = {.code = 0};
	struct options *o = command ? lent_options(&err) : NULL;
	int rc = o ? 0 : -ENOMEM;

	if (child_is_here())
		rc = error_set(&err, EPERM, "this process was forked from one that was profiled, and is left alone; "
			       "start the first session in the child, or let it run a program");
	else if (!command)
		rc = error_set(&err, EINVAL, "no command; say start, stop, dump or status, as in "
			       "start,event=cpu,file=out.html");
	if (rc == 0)
		rc = execute(command, o, &answer, &err);
	if (rc == 0 && writer && answer.length)
		writer(answer.data, answer.length);
	buffer_free(&answer);
	lent_back(o);
	return rc == 0 ? NULL : keep(&err);
}

/* ---- events of the program ---- */

EXPORTED asprof_jfr_event_key asprof_register_jfr_event(const char *name)
{
	int type = child_is_here() ? -1 : marks_type(name);

	return type < 0 ? -1 : type;
}

static int check_event(asprof_jfr_event_key type, const uint8_t *data, size_t length, struct error *err)
{
	if (type < 0 || !marks_type_name((uint32_t)type))
		return error_set(err, EINVAL, "no type of events has the key %d; asprof_register_jfr_event() gives one",
				 type);
	if (length > ASPROF_MAX_JFR_EVENT_LENGTH)
		return error_set(err, EINVAL, "an event has up to %d bytes, and this one has %zu",
				 ASPROF_MAX_JFR_EVENT_LENGTH, length);
	if (length && !data)
		return error_set(err, EINVAL, "the event's %zu bytes are said to be at NULL", length);
	return 0;
}

EXPORTED asprof_error_t asprof_emit_jfr_event(asprof_jfr_event_key type, const uint8_t *data, size_t length)
{
	struct error err;

	if (check_event(type, data, length, &err))
		return keep(&err);
	if (marks_are_heard() && !child_is_here())
		marks_put(&(struct mark){.time = os_monotonic(), .tid = os_gettid(), .type = (uint32_t)type,
					 .length = (uint32_t)length, .data = (const char *)data});
	return NULL;
}

_Static_assert(sizeof(struct asprof_thread_local_data) == sizeof(uint64_t), "the counter alone");

EXPORTED struct asprof_thread_local_data *asprof_get_thread_local_data(void)
{
	return (struct asprof_thread_local_data *)thread_counter();
}
