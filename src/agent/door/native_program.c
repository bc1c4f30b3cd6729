/*
 * native_program.c - the door of programs without a JVM, or without one yet:
 *
 *      LD_PRELOAD=/path/libjstrobe.so JSTROBE_COMMAND=start,event=cpu,file=%p.html ./program
 *
 * The session begins with main(), which waits for that for 2 ms at most: some of what the kernel does takes ten times
 * as long where other processes are busy (a grace period of RCU each). Before main() the loader is at work, and a
 * thread that asks it for a library crashes the program (glibc 2.36). The result is written when the process ends, by
 * whatever call, or becomes another program.
 *
 * A program that makes a JVM later has the session go on in it, with Java frames from there on; the java launcher,
 * which does little else, has it begin there. A mistake in the command is one line on stderr, and the program runs
 * unprofiled. Children inherit the environment, but not the session of a process: one that is forked is left alone, one
 * that runs another program may have a session of its own (is_child_of_profiled).
 */
#include "agent/door/native_program.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/command/control_thread.h"
#include "agent/command/lent.h"
#include "agent/command/pending_output.h"
#include "agent/door/entry.h"
#include "agent/door/text_command.h"
#include "agent/hooks/process_calls.h"
#include "agent/hooks/timer_signals.h"
#include "agent/jvm/jvm.h"
#include "agent/jvm/log.h"
#include "agent/session/session.h"
#include "agent/threads/own_thread.h"
#include "agent/threads/records.h"
#include "common/base/ascii.h"
#include "common/os/os.h"

#define FIRST_PROCESS "JSTROBE_PROCESS"
#define LAST_LOOK (100 * NS_PER_MS) /* between two looks for the program's threads, once its first one has ended */
#define FIRST_LOOK NS_PER_S /* whether the first thread is there */
#define END_LIMIT (11 * NS_PER_S)   /* another thread is at it for 10 s at most */
#define STALLED (5 * NS_PER_S)     /* nothing of ours moves: something holds it up for good */
#define START_PATIENCE (2 * NS_PER_MS)
#define START_LIMIT (10 * NS_PER_S)

static struct {
	pid_t process;               /* whose end is watched; 0: none */
	char *command;               /* the start, as given; NULL: there was none */
	const char *variable;        /* of the environment, that had it */
	char library[PATH_MAX];
	char file[OPTIONS_FILE_MAX]; /* the result's, as it was called at first */
	bool began;                  /* a session, before there was a JVM */
	bool main_told;              /* main() is told before it begins */
	bool paused;                 /* by us, and to go on */
	atomic_bool starts;          /* a thread of ours is at it */
	_Atomic pid_t ending;        /* the thread that ends it all */
	atomic_bool ended, main_gone;
	_Atomic uint32_t end_wanted; /* the thread that waits for it shall end it all */
	_Atomic pid_t waits;         /* that thread, 0: there is none */
	unsigned alone;              /* looks in a row that found no thread of the program's */
	_Atomic uint64_t next_look;  /* for threads, once the first one is gone */
} program;

/* ---- commands ---- */

/* Have TEXT carried out; OURS: it was made of one that was looked at before. */
static int obey(const char *text, bool ours, struct error *err)
{
	struct options *o = lent_options(err);
	struct buffer answer = BUFFER_INIT;
	const struct text_command c = {.text = text, .options = o};
	int rc = o ? options_parse_agent(o, text, ',', err) : -ENOMEM;

	if (rc == 0 && !ours) {
		log_as(o);
		text_command_say_left_out(o);
		if (o->action != ACTION_START || !o->file[0])
			rc = error_set(err, EINVAL, "%s: it must be a start that names a file for the result, as in "
				       "start,event=cpu,file=%%p.html", program.variable);
	}
	if (rc == 0)
		rc = text_command(&c, &answer, err);
	buffer_free(&answer);
	lent_back(o);
	return rc;
}

/* Its result's place is owed no more once it is written: what goes on needs it again. */
static void note_file(void)
{
	if (pending_name()[0])
		snprintf(program.file, sizeof(program.file), "%s", pending_name());
}

/* What B has, to be freed; NULL: out of memory. */
static char *text_of(struct buffer *b)
{
	if (b->failed)
		buffer_free(b);
	return b->data;
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* What the program said last, to be freed; NULL: nothing, or no memory. A thread of its own may start a session now. */
static char *last_command(void)
{
	char *text;

	pthread_mutex_lock(&lock);
	text = program.command ? strdup(program.command) : NULL;
	pthread_mutex_unlock(&lock);
	return text;
}

/* The command with its start turned into a resume that goes on in the same file, whatever its pattern says now. */
static char *resuming(void)
{
	struct buffer text = BUFFER_INIT;
	char *command = last_command();
	const char *at = command ? command : "";
	size_t n;

	buffer_puts(&text, "resume");
	for (; *at; at += n + (at[n] == ',')) {
		n = strcspn(at, ",");
		if (n && !(n == 5 && ascii_begins(at, "start", n)) && !(n > 5 && ascii_begins(at, "file=", 5)))
			buffer_printf(&text, ",%.*s", (int)n, at);
	}
	if (program.file[0])
		buffer_printf(&text, ",file=%s", program.file);
	free(command);
	return text_of(&text);
}

static void resume(void)
{
	char *text = resuming();
	struct error err;

	if (!text || obey(text, true, &err))
		log_error("the session could not go on: %s", text ? err.text : "out of memory");
	free(text);
}

/* Let the start come to its end, for NS at most. */
static void settle(uint64_t ns)
{
	uint64_t until = os_monotonic() + ns;

	while (atomic_load(&program.starts) && os_monotonic() < until)
		os_sleep(100 * NS_PER_US);
}

/* ---- the end of the process ---- */

static bool main_is_gone(void);
static void main_ends(void);

/* False: it has been, or this thread is at it. Another one's is waited for: it may be writing the result. */
static bool begin_end(void)
{
	uint64_t until = os_monotonic() + END_LIMIT;
	pid_t none = 0;

	if (atomic_compare_exchange_strong(&program.ending, &none, os_gettid()))
		return true;
	while (none != os_gettid() && !atomic_load(&program.ended) && os_monotonic() < until)
		os_sleep(NS_PER_MS);
	return false;
}

/*
 * The one thread that is there from the start, so that nothing need be made at the end. It also sees a first thread
 * that has gone without a call of pthread_exit(): cancelled, or by the system call.
 */
static void wait_for_end(void)
{
	atomic_store(&program.waits, os_gettid());
	while (!atomic_load(&program.end_wanted)) {
		os_wait_while(&program.end_wanted, 0, FIRST_LOOK);
		if (!main_is_gone() && os_thread_state(program.process) == 'Z')
			main_ends();
	}
	entry_process_ends();
	atomic_store(&program.ended, true);
}

/*
 * Have it done on that thread. This one may be in a handler that broke into malloc, whose lock is not to be had then:
 * it waits for as long as one of ours gets on.
 */
static void have_it_ended(void)
{
	uint64_t now = os_monotonic(), until = now + END_LIMIT, moved = now, before = 0;

	atomic_store(&program.end_wanted, 1);
	os_wake(&program.end_wanted);
	for (; !atomic_load(&program.ended) && now < until && now - moved < STALLED; now = os_monotonic()) {
		uint64_t cpu = os_thread_cpu(atomic_load(&program.waits)) + os_thread_cpu(control_thread_id());

		if (cpu != before)
			moved = now;
		before = cpu;
		os_sleep(NS_PER_MS);
	}
}

static void ends(void)
{
	if (!program.process || !begin_end())
		return;
	if (program.began)
		timer_signals_hold(); /* before another thread of ours gets to run */
	settle(START_LIMIT);
	if (program.began && atomic_load(&program.waits))
		have_it_ended();
	else if (program.began)
		entry_process_ends();
	timer_signals_go_on();
	atomic_store(&program.ended, true);
}

/*
 * A handler of exit(), and no destructor of the library: while those run the loader takes a library for a new one, and
 * runs its constructors once more, when a thread of ours asks for it (glibc's _dl_fini, a handler itself that is
 * registered just before main()).
 */
static void end_by_exit(void)
{
	/* without a result that is owed the program may want one yet, in a handler that it registered before */
	if (getpid() == program.process && (!program.began || pending_name()[0]))
		ends();
}

static bool runs(void)
{
	struct session_status s;

	session_get_status(&s); /* the last one that was known, if the session is busy */
	return s.running;
}

static void becomes(void)
{
	struct error ignored;

	settle(START_LIMIT);
	note_file();
	program.paused = program.began && !jvm_is_known() && !atomic_load(&program.ending) && runs();
	if (program.paused)
		obey("stop", true, &ignored);
}

static void stays(void)
{
	if (program.paused && !atomic_load(&program.ending))
		resume();
}

/* ---- its first thread ends before the others ---- */

/*
 * Whether no thread is there but ours and the first one, which has ended. By their number, for which no descriptor is
 * needed: a thread of ours is in the list for as long as it lives, but for its first and last moments.
 */
static bool is_alone(void)
{
	pid_t own[RECORDS_OWN];
	uint32_t count = os_thread_count();

	return count && count <= records_own_list(own) + 1;
}

static bool main_is_gone(void)
{
	return atomic_load(&program.main_gone);
}

static uint64_t until_look(void)
{
	uint64_t now = os_monotonic(), at = atomic_load(&program.next_look);

	return atomic_load(&program.main_gone) ? at - MIN(now, at) : UINT64_MAX;
}

/* Without us the process would have ended with its last thread: with status 0. */
static void look(void *unused)
{
	atomic_store(&program.next_look, os_monotonic() + LAST_LOOK);
	program.alone = is_alone() ? program.alone + 1 : 0;
	if (program.alone < 2 || !begin_end())
		return;
	entry_last_job();
	atomic_store(&program.ended, true);
	exit(0);
}

static void main_ends(void)
{
	static const struct control_alarm alarm = {.name = "the program's last thread", .is_set = main_is_gone,
						   .left = until_look, .run = look};
	struct error ignored;

	settle(START_LIMIT);
	atomic_store(&program.main_gone, true);
	if (program.began)
		control_wake(&alarm, &ignored);
}

/* ---- a JVM comes ---- */

/* The session stands still while the JVM is made, and goes on in it once that loads us as an agent. */
static char *jvm_begins(void)
{
	struct error err;
	char *text = NULL, *option = NULL;

	settle(START_LIMIT);
	if (jvm_is_known() || atomic_load(&program.ending))
		return NULL;
	/* such an option would end the program */
	if (strchr(program.library, '=') || access(program.library, R_OK)) {
		log_error("the session does not see the program's JVM: %s %s", program.library,
			  strchr(program.library, '=') ? "has a '=' in its path" : "is not there any more");
		return NULL;
	}
	if (program.began && !runs())
		return NULL;
	if (program.began && control_begin_job("the JVM's start")) {
		note_file();
		if (session_stop(&err))
			log_error("the session does not see the program's JVM: %s", err.text);
		else
			text = resuming();
		program.paused = text != NULL;
		control_end_job();
	} else if (!program.began && program.command) {
		text = strdup(program.command);
	}
	if (text && asprintf(&option, "-agentpath:%s=%s", program.library, text) < 0)
		option = NULL;
	free(text);
	return option;
}

static void jvm_fails(void)
{
	if (program.paused && !jvm_is_known())
		resume();
}

/* ---- the begin ---- */

enum seen { SEEN_JVM = 1, SEEN_LAUNCHER = 2 };

static int look_at_image(struct dl_phdr_info *image, size_t size, void *arg)
{
	const char *slash = strrchr(image->dlpi_name, '/'), *name = slash ? slash + 1 : image->dlpi_name;
	int *seen = arg;

	*seen |= strcmp(name, "libjvm.so") == 0 ? SEEN_JVM : strcmp(name, "libjli.so") == 0 ? SEEN_LAUNCHER : 0;
	return 0;
}

/*
 * All children of a shell or of a build would write to one file, each over the others' results: only the process that
 * came first has a session, and what it becomes, unless the name of the file has the process's number.
 */
static bool is_child_of_profiled(void)
{
	const char *first = getenv(FIRST_PROCESS);

	return first && atoi(first) != (int)getpid();
}

static void say_first(const char *command)
{
	char own[16];

	snprintf(own, sizeof(own), "%d", (int)getpid());
	if (!strstr(command, "%p"))
		setenv(FIRST_PROCESS, own, 1);
}

/* LD_PRELOAD has it: this is the process's begin. */
static bool is_preloaded(void)
{
	const char *list = secure_getenv("LD_PRELOAD"), *slash = strrchr(program.library, '/');

	return list && strstr(list, slash + 1);
}

static bool is_relative(const char *word, size_t n, const char *key)
{
	size_t begin = strlen(key);

	return n > begin && ascii_begins(word, key, begin) && word[begin] != '/' && word[begin] != '-' &&
	       !ascii_begins(word + begin, "std", 3);
}

/* TEXT, its files named from the root on: a program that becomes a daemon goes to another folder. NULL: no memory. */
static char *with_whole_paths(const char *text)
{
	struct buffer b = BUFFER_INIT;
	char here[PATH_MAX];
	size_t n;

	if (!getcwd(here, sizeof(here)) || strchr(here, ','))
		return strdup(text);
	for (; *text; text += n + (text[n] == ',')) {
		n = strcspn(text, ",");
		if (is_relative(text, n, "file=") || is_relative(text, n, "log=")) {
			size_t key = strcspn(text, "=") + 1;

			buffer_printf(&b, "%.*s%s/%.*s,", (int)key, text, here, (int)(n - key), text + key);
		} else {
			buffer_printf(&b, "%.*s,", (int)n, text);
		}
	}
	return text_of(&b);
}

static bool find_library(void)
{
	Dl_info info;

	return dladdr(&program, &info) && realpath(info.dli_fname, program.library);
}

static void start(void)
{
	struct error err;
	int rc = obey(program.command, false, &err);

	if (rc)
		log_error("%s; %s", err.text, rc == -ENXIO ? "the session begins once the program makes one"
							   : "the program runs unprofiled");
	if (rc && rc != -ENXIO) {
		free(program.command);
		program.command = NULL;
	}
	program.began = rc == 0;
}

/* Our thread: it starts the session, unless that is done otherwise, and is there for the end. */
static void *run(void *unused)
{
	records_own(os_gettid(), true);
	if (atomic_load(&program.starts))
		start();
	atomic_store(&program.starts, false);
	if (program.began)
		wait_for_end();
	records_own(os_gettid(), false);
	return NULL;
}

static void begins(void)
{
	struct error err;

	atexit(end_by_exit);
	atomic_store(&program.starts, true);
	if (thread_start("jstrobe end", run, NULL, &err)) {
		atomic_store(&program.starts, false);
		log_error("%s; the program runs unprofiled", err.text);
	}
	settle(START_PATIENCE);
}

static const struct process_events events = {
	.begins = begins,
	.ends = ends,
	.becomes = becomes,
	.stays = stays,
	.main_ends = main_ends,
	.jvm_begins = jvm_begins,
	.jvm_fails = jvm_fails,
};

static void watch_end(bool with_main)
{
	program.process = getpid();
	program.main_told = process_calls_install(&events, with_main);
	if (!program.main_told)
		atexit(end_by_exit);
}

void native_program_watch(void)
{
	struct error ignored;

	pthread_mutex_lock(&lock);
	if (!program.process && find_library()) {
		entry_without_jvm();
		program.began = true;
		watch_end(false);
		thread_start("jstrobe end", run, NULL, &ignored);
	}
	pthread_mutex_unlock(&lock);
}

void native_program_started(const char *command)
{
	char *kept = strdup(command), *before;

	settle(START_LIMIT);
	pthread_mutex_lock(&lock);
	before = program.command;
	program.command = kept ? kept : before;
	pthread_mutex_unlock(&lock);
	if (kept)
		free(before);
}

__attribute__((constructor)) static void begin(void)
{
	const char *text = secure_getenv("JSTROBE_COMMAND");
	int seen = 0;

	program.variable = text ? "JSTROBE_COMMAND" : "ASPROF_COMMAND";
	text = text ? text : secure_getenv(program.variable);
	if (program.process || !text || !*text || is_child_of_profiled())
		return;
	dl_iterate_phdr(look_at_image, &seen);
	/* with a JVM there are other doors, and this may be the load of an agent; a program may be linked with one */
	if (!find_library() || (seen & SEEN_JVM && !is_preloaded()))
		return;
	program.command = with_whole_paths(text);
	if (!program.command)
		return;
	say_first(text);
	os_barrier_open(); /* costs nothing as long as there is one thread */
	entry_without_jvm();
	watch_end(!(seen & SEEN_LAUNCHER));
	if (!program.main_told && !(seen & SEEN_LAUNCHER))
		start();
}
