/*
 * What the JVM calls: the agent's load, its attach, and its end.
 *
 * The option string either names a waiting command (connect=…), which then
 * says over its socket what to do, or says it itself, as in
 *
 *      -agentpath:libjstrobe.so=start,event=cpu,interval=1ms,file=out.html
 *      jcmd PID JVMTI.agent_load libjstrobe.so '"stop,file=out.html"'
 *
 * A mistake in the string never stops the JVM: one line on stderr, and the
 * program runs unprofiled. Only `strict` makes the load fail.
 */
#include "agent/door/entry.h"

#include <errno.h>
#include <jvmti.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "agent/door/java_api.h"
#include "agent/door/talk.h"
#include "agent/door/text_command.h"
#include "agent/hooks/timer_signals.h"
#include "agent/jvm/jvm.h"
#include "agent/jvm/log.h"
#include "agent/command/command.h"
#include "agent/command/control_thread.h"
#include "agent/command/lent.h"
#include "agent/command/pending_output.h"
#include "agent/session/session.h"
#include "agent/session/streams.h"
#include "agent/session/told.h"
#include "agent/command/trigger.h"
#include "agent/command/vm_life.h"
#include "agent/threads/java_threads.h"
#include "common/control/control.h"
#include "common/os/os.h"

/* ---- option strings without a waiting command -------------------------------- */

static int obey(const char *text, struct options *o, struct error *err)
{
	struct buffer answer = BUFFER_INIT;
	const struct text_command c = {.text = text, .options = o};
	int rc = text_command(&c, &answer, err);

	buffer_free(&answer);
	return rc;
}

/* ---- the end ---- */

static void end(void *arg)
{
	talk_vm_death();
}

/*
 * The JVM ends: the control thread stops the session, writes the result it owes, tells the command that owns it. This
 * waits for that while it gets on, 10 s at most. Called once, while the JVM is still whole.
 */
static void vm_death(void)
{
	static const struct patience_limits limits = {.stalled = 200 * NS_PER_MS, .total = 10 * NS_PER_S};
	static const struct control_job job = {.name = "the end of the JVM", .attached = true, .run = end};
	bool idle = !control_thread_id() && command_is_idle(), done;
	enum pending_end how;

	session_vm_dies();
	log_at_end();
	done = control_last(idle ? NULL : &job, &limits);
	streams_death();
	how = done ? PENDING_WRITTEN : pending_abandon();
	if (how != PENDING_WRITTEN)
		log_error("the %s ends, and the session's result is %snot written: the profiler was held up too long",
			  jvm_is_known() ? "JVM" : "program", how == PENDING_LOST ? "" : "perhaps ");
}

/* ---- what the JVM tells ---- */

static void jvm_ends(void)
{
	timer_signals_hold();
	vm_death();
	timer_signals_go_on();
}

static const struct jvm_events events = {
	.vm_init = session_vm_init,
	.vm_death = jvm_ends,
	.thread_start = java_threads_start,
	.thread_end = java_threads_end,
	.exhausted = trigger_exhausted,
	.named = told_name,
	.redefined = told_redefined,
};

void entry_without_jvm(void)
{
	jvm_may_come(&events);
}

void entry_process_ends(void)
{
	if (!control_is_last())
		vm_death();
}

void entry_last_job(void)
{
	talk_vm_death();
}

/* ---- doors for the JVM -------------------------------------------------------- */

#define BEGIN_LIMIT (10 * NS_PER_S)

int entry_begin(JavaVM *vm, bool at_load, struct error *err)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static atomic_bool begun;
	uint64_t until = os_monotonic() + BEGIN_LIMIT;
	int rc;

	if (atomic_load(&begun))
		return 0;
	/* a debugger may suspend the one who has it, within the JVM */
	while (pthread_mutex_trylock(&lock)) {
		if (os_monotonic() > until)
			return error_set(err, EBUSY, "another thread loads the profiler and does not get on; try again "
					 "in a moment");
		os_sleep(NS_PER_MS);
	}
	rc = jvm_init(vm, at_load, &events, err);
	if (rc == 0) {
		java_api_show();
		atomic_store(&begun, true);
	}
	pthread_mutex_unlock(&lock);
	return rc;
}

static int serve(JavaVM *vm, const struct options *o, bool at_load, struct error *err)
{
	struct talk *talk;
	int rc = talk_open(vm, o, &talk, err);

	if (rc)
		return rc;
	if (o->protocol != CONTROL_PROTOCOL)
		rc = error_set(err, EPROTO, "the command speaks protocol %u, the agent library %s "
			       "protocol %d; use a command and a library of one version",
			       o->protocol,
			       JSTROBE_VERSION, CONTROL_PROTOCOL);
	if (rc == 0)
		rc = entry_begin(vm, at_load, err);
	if (rc)
		talk_refuse(talk, err);
	if (rc == 0 && at_load)
		rc = talk_first_command(talk, err);
	if (rc == 0)
		rc = talk_run(talk, at_load, err);
	if (rc)
		talk_end(talk);
	return rc;
}

/* True if `strict` is among the options, even when another one of them is wrong. */
static bool asks_strict(const char *text)
{
	size_t n;

	for (; *text; text += n + (text[n] == ',')) {
		n = strcspn(text, ",");
		if (n == strlen("strict") && strncmp(text, "strict", n) == 0)
			return true;
	}
	return false;
}

/* Options that only the start of the JVM can have. */
static int forbid(const struct options *o, bool at_load, struct error *err)
{
	const char *name = o->disable_all ? "disableall" : o->disable_sampling ? "disable_async_sampling" : NULL;

	if (!name)
		return 0;
	if (!at_load)
		return error_set(err, EINVAL, "%s: only possible at the start of the JVM, as in "
				 "-agentpath:libjstrobe.so=%s", name, name);
	session_forbid(name, o->disable_all);
	return 0;
}

/* What TEXT says, with O to read it into. */
static int follow(JavaVM *vm, const char *text, bool at_load, struct options *o, struct error *err)
{
	const struct options *said = session_options();
	int rc;

	if (said)
		strcpy(o->log, said->log);
	rc = options_parse_agent(o, text, ',', err);
	log_as(o);
	if (rc == 0)
		text_command_say_left_out(o);
	if (rc == 0)
		rc = forbid(o, at_load, err);
	if (rc)
		o->connect[0] = '\0'; /* a command that waits there would not understand us */
	if (rc || o->connect[0])
		return rc ? rc : serve(vm, o, at_load, err);
	rc = entry_begin(vm, at_load, err);
	if (rc == 0 && (o->action != ACTION_NONE || !(o->disable_all || o->disable_sampling)))
		rc = obey(text, o, err);
	return rc;
}

/* The whole of a load; the reason of a failure goes to stderr, unless a command hears it. */
static int load(JavaVM *vm, const char *text, bool at_load)
{
	const struct options *said;
	struct error err;
	struct options *o = lent_options(&err);
	int rc = o ? follow(vm, text, at_load, o, &err) : -ENOMEM;

	if (rc && (at_load || !o || !o->connect[0]))
		log_error("%s%s", err.text,
			  at_load && !asks_strict(text) ? "; the program runs unprofiled" : "");
	lent_back(o);
	said = session_options();
	if (said)
		log_as(said);
	return rc;
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved)
{
	const char *text = options ? options : "";

	if (!*text)
		return JNI_OK;
	return load(vm, text, true) && asks_strict(text) ? JNI_ERR : JNI_OK;
}

JNIEXPORT jint JNICALL Agent_OnAttach(JavaVM *vm, char *options, void *reserved)
{
	return load(vm, options ? options : "", false) ? JNI_ERR : JNI_OK;
}

JNIEXPORT void JNICALL Agent_OnUnload(JavaVM *vm)
{
	/* all is done in VMDeath; the library is never unmapped */
}
