#include "agent/hooks/process_calls.h"

#include <dlfcn.h>
#include <errno.h>
#include <jni.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/hooks/copies.h"
#include "agent/hooks/got.h"
#include "agent/hooks/hooked_calls.h"
#include "agent/hooks/signal_action.h"
#include "common/os/os.h"

#define LIMIT_MS 1000 /* another copy is at it */
#define MAKES_JVM "JNI_CreateJavaVM"

static const struct process_events *events;
static pid_t process; /* that we were preloaded into */

static bool is_ours(void)
{
	return getpid() == process;
}

typedef int main_fn(int argc, char **argv, char **environment);
typedef int start_fn(main_fn *main, int argc, char **argv, void (*init)(void), void (*fini)(void),
		     void (*loader_fini)(void), void *stack_end);

/* ---- the begin and the end ---- */

typedef sighandler_t signal_fn(int signo, sighandler_t handler);

static struct {
	main_fn *main;
	start_fn *start;
	void (*exit_now)(int);
	void (*exit_now_c)(int);
	void (*exit_quick)(int);
	void (*exit_thread)(void *);
	void (*exit_c_thread)(int);
	int (*daemon)(int, int);
	int (*sigaction)(int, const struct sigaction *, struct sigaction *);
	signal_fn *signal, *signal_once, *signal_sysv, *signal_bsd;
	int (*execve)(const char *, char *const *, char *const *);
	int (*execvp)(const char *, char *const *);
	int (*execvpe)(const char *, char *const *, char *const *);
	int (*fexecve)(int, char *const *, char *const *);
	void *(*dlsym)(void *, const char *);
	jint (*create)(JavaVM **, void **, void *);
} theirs;

static int begin_main(int argc, char **argv, char **environment)
{
	events->begins();
	return theirs.main(argc, argv, environment);
}

static int start_program(main_fn *main, int argc, char **argv, void (*init)(void), void (*fini)(void),
			 void (*loader_fini)(void), void *stack_end)
{
	theirs.main = main;
	return theirs.start(begin_main, argc, argv, init, fini, loader_fini, stack_end);
}

static void ends(void)
{
	if (is_ours())
		events->ends();
}

static void exit_now(int code)
{
	ends();
	theirs.exit_now(code);
}

static void exit_now_c(int code)
{
	ends();
	theirs.exit_now_c(code);
}

static void exit_quick(int code)
{
	ends();
	theirs.exit_quick(code);
}

static void exit_thread(void *value)
{
	if (is_ours() && os_gettid() == process)
		events->main_ends();
	theirs.exit_thread(value);
}

static void exit_c_thread(int value)
{
	if (is_ours() && os_gettid() == process)
		events->main_ends();
	theirs.exit_c_thread(value);
}

/* It forks and ends within libc: the child is left alone, and this is the parent's end. */
static int become_daemon(int stays, int keeps)
{
	ends();
	return theirs.daemon(stays, keeps);
}

/* ---- the signal that samples come by ---- */

/* Programs that give all signals an action, as daemons do, would die of the next sample. */
static int set_action(int signo, const struct sigaction *action, struct sigaction *old)
{
	return is_ours() && signals_keep(signo, action, old) ? 0 : theirs.sigaction(signo, action, old);
}

static sighandler_t keep_handler(int signo, sighandler_t handler, int flags, signal_fn *set)
{
	struct sigaction action, old;

	memset(&action, 0, sizeof(action));
	action.sa_handler = handler;
	action.sa_flags = flags;
	if (is_ours() && handler != SIG_ERR && signals_keep(signo, &action, &old))
		return old.sa_handler;
	return set(signo, handler);
}

static sighandler_t set_handler(int signo, sighandler_t handler)
{
	return keep_handler(signo, handler, SA_RESTART, theirs.signal);
}

/* What signal() is with -std=c99 and the like. */
static sighandler_t set_handler_once(int signo, sighandler_t handler)
{
	return keep_handler(signo, handler, (int)(SA_RESETHAND | SA_NODEFER), theirs.signal_once);
}

static sighandler_t set_handler_sysv(int signo, sighandler_t handler)
{
	return keep_handler(signo, handler, (int)(SA_RESETHAND | SA_NODEFER), theirs.signal_sysv);
}

static sighandler_t set_handler_bsd(int signo, sighandler_t handler)
{
	return keep_handler(signo, handler, SA_RESTART, theirs.signal_bsd);
}

/* ---- another program ---- */

/* Whether it was told: then told_stays() is due. */
static bool becomes(void)
{
	bool told = is_ours();

	if (told)
		events->becomes();
	return told;
}

static int stays(bool told, int rc)
{
	int error = errno;

	if (told)
		events->stays();
	errno = error;
	return rc;
}

static int run_path(const char *path, char *const *argv, char *const *environment)
{
	bool told = becomes();

	return stays(told, theirs.execve(path, argv, environment));
}

static int run_here(const char *path, char *const *argv)
{
	return run_path(path, argv, environ);
}

static int run_found(const char *file, char *const *argv)
{
	bool told = becomes();

	return stays(told, theirs.execvp(file, argv));
}

static int run_found_with(const char *file, char *const *argv, char *const *environment)
{
	bool told = becomes();

	return stays(told, theirs.execvpe(file, argv, environment));
}

static int run_open(int fd, char *const *argv, char *const *environment)
{
	bool told = becomes();

	return stays(told, theirs.fexecve(fd, argv, environment));
}

/* Of a list that begins with FIRST; its end counts, too. */
static size_t count_arguments(const char *first, va_list *list)
{
	size_t n = 1;

	for (; first; first = va_arg(*list, char *))
		n++;
	return n;
}

/* ARGV gets them. LIST stands behind its end then. */
static void take_arguments(char **argv, const char *first, va_list *list)
{
	*argv = (char *)(uintptr_t)first;
	while (*argv)
		*++argv = va_arg(*list, char *);
}

/* On the stack, as the caller may be a child of vfork(). */
#define ARGUMENTS(argv, list, first)                                            \
	do {                                                                    \
		va_start(list, first);                                          \
		argv = __builtin_alloca(count_arguments(first, &(list)) * sizeof(*(argv))); \
		va_end(list);                                                   \
		va_start(list, first);                                          \
		take_arguments(argv, first, &(list));                           \
	} while (0)

static int run_list(const char *path, const char *first, ...)
{
	char **argv;
	va_list list;

	ARGUMENTS(argv, list, first);
	va_end(list);
	return run_path(path, argv, environ);
}

static int run_list_found(const char *file, const char *first, ...)
{
	char **argv;
	va_list list;

	ARGUMENTS(argv, list, first);
	va_end(list);
	return run_found(file, argv);
}

static int run_list_with(const char *path, const char *first, ...)
{
	char *const *environment;
	char **argv;
	va_list list;

	ARGUMENTS(argv, list, first);
	environment = va_arg(list, char *const *);
	va_end(list);
	return run_path(path, argv, environment);
}

/* ---- a JVM ---- */

static jint create_with(JavaVM **vm, void **env, const JavaVMInitArgs *given, char *option)
{
	size_t count = (size_t)given->nOptions;
	JavaVMOption *options = calloc(count + 1, sizeof(*options));
	JavaVMInitArgs args = *given;
	jint rc;

	if (!options)
		return theirs.create(vm, env, (void *)(uintptr_t)given);
	if (count)
		memcpy(options, given->options, count * sizeof(*options));
	options[count].optionString = option;
	args.options = options;
	args.nOptions = (jint)(count + 1);
	rc = theirs.create(vm, env, &args);
	free(options);
	return rc;
}

static atomic_int making;

bool process_calls_make_jvm(void)
{
	return atomic_load(&making) > 0;
}

static jint create(JavaVM **vm, void **env, void *args)
{
	char *option = is_ours() && args ? events->jvm_begins() : NULL;
	jint rc;

	atomic_fetch_add(&making, 1);
	rc = option ? create_with(vm, env, args, option) : theirs.create(vm, env, args);
	atomic_fetch_sub(&making, 1);
	if (option && rc != JNI_OK)
		events->jvm_fails();
	free(option);
	return rc;
}

/*
 * The launcher finds it by name in a library that it loads itself. For RTLD_NEXT and RTLD_DEFAULT the answer depends on
 * the image of the caller: theirs is jumped to, so that this stays the program's.
 */
__attribute__((optimize("optimize-sibling-calls"))) static void *find_symbol(void *handle, const char *name)
{
	if (name && handle != RTLD_NEXT && handle != RTLD_DEFAULT && strcmp(name, MAKES_JVM) == 0) {
		void *found = theirs.dlsym(handle, name);

		if (!found || !is_ours())
			return found;
		theirs.create = (jint (*)(JavaVM **, void **, void *))found;
		return (void *)create;
	}
	return theirs.dlsym(handle, name);
}

/* ---- in the images ---- */

/* What theirs would have been of those that ours make from others: never called. */
static void *unused[4];

static const struct hooked_call calls[] = {
	{"_exit", (void *)exit_now, (void **)&theirs.exit_now},
	{"_Exit", (void *)exit_now_c, (void **)&theirs.exit_now_c},
	{"quick_exit", (void *)exit_quick, (void **)&theirs.exit_quick},
	{"pthread_exit", (void *)exit_thread, (void **)&theirs.exit_thread},
	{"thrd_exit", (void *)exit_c_thread, (void **)&theirs.exit_c_thread},
	{"daemon", (void *)become_daemon, (void **)&theirs.daemon},
	{"sigaction", (void *)set_action, (void **)&theirs.sigaction},
	{"signal", (void *)set_handler, (void **)&theirs.signal},
	{"__sysv_signal", (void *)set_handler_once, (void **)&theirs.signal_once},
	{"sysv_signal", (void *)set_handler_sysv, (void **)&theirs.signal_sysv},
	{"bsd_signal", (void *)set_handler_bsd, (void **)&theirs.signal_bsd},
	{"execve", (void *)run_path, (void **)&theirs.execve},
	{"execvp", (void *)run_found, (void **)&theirs.execvp},
	{"execvpe", (void *)run_found_with, (void **)&theirs.execvpe},
	{"fexecve", (void *)run_open, (void **)&theirs.fexecve},
	{"dlsym", (void *)find_symbol, (void **)&theirs.dlsym},
	{MAKES_JVM, (void *)create, (void **)&theirs.create},
	{"execv", (void *)run_here, &unused[0]},
	{"execl", (void *)run_list, &unused[1]},
	{"execlp", (void *)run_list_found, &unused[2]},
	{"execle", (void *)run_list_with, &unused[3]},
};

static struct hooked_calls hooks = {.calls = calls, .count = ARRAY_LEN(calls)};

/* Where the program has been linked to have its constructors run, and then main(). */
static bool watch_main(void)
{
	struct got_function f = {"__libc_start_main", (void **)&theirs.start, 1, (void *)start_program};
	bool found = false;

	theirs.start = (start_fn *)dlsym(RTLD_DEFAULT, f.symbol);
	if (theirs.start && copies_lock(LIMIT_MS)) {
		found = got_replace(&f) != 0;
		copies_unlock();
	}
	return found;
}

bool process_calls_install(const struct process_events *told, bool main)
{
	events = told;
	process = getpid();
	hooked_calls_install(&hooks);
	return main && watch_main();
}

void process_calls_refresh(void)
{
	hooked_calls_refresh(&hooks);
}
