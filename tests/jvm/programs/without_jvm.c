/*
 * without_jvm.c - a program without a JVM, or without one yet, that ends, forks and becomes others as it is told:
 *
 *      without_jvm SCENE [ARGUMENT]
 *
 * Each scene burns CPU time in burn(), by its own clock, and says on stdout how much: "burnt MS".
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <jni.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include "jstrobe.h"

static long thread_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

__attribute__((noinline)) void burn(long ms)
{
	long until = thread_ms() + ms;
	volatile double x = 0;
	int i;

	while (thread_ms() < until)
		for (i = 0; i < 10000; i++)
			x += i;
}

static void said(long ms)
{
	printf("burnt %ld\n", ms);
	fflush(stdout);
}

static void *burning(void *ms)
{
	burn((long)ms);
	return NULL;
}

/* ---- scenes ---- */

static int plain(const char *unused)
{
	burn(300);
	said(300);
	return 7;
}

static int threads(const char *unused)
{
	pthread_t t[4];
	int i;

	for (i = 0; i < 4; i++)
		pthread_create(&t[i], NULL, burning, (void *)100L);
	for (i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
	said(400);
	return 0;
}

static int at_once(const char *unused)
{
	burn(300);
	said(300);
	_exit(5);
}

static int quickly(const char *unused)
{
	burn(300);
	said(300);
	quick_exit(6);
}

static void ends_here(int signo)
{
	exit(9);
}

static int in_handler(const char *unused)
{
	signal(SIGALRM, ends_here);
	burn(300);
	said(300);
	raise(SIGALRM);
	return 1;
}

static int first_thread_ends(const char *unused)
{
	pthread_t t;

	pthread_create(&t, NULL, burning, (void *)300L);
	said(300);
	pthread_exit(NULL);
}

static pthread_t first;

static void *cancels_the_first(void *unused)
{
	usleep(50000);
	pthread_cancel(first);
	burn(300);
	said(300);
	return NULL;
}

static int first_thread_is_cancelled(const char *unused)
{
	pthread_t t;

	first = pthread_self();
	pthread_create(&t, NULL, cancels_the_first, NULL);
	for (;;)
		pause();
}

static int forks(const char *unused)
{
	int status;
	pid_t child = fork();

	if (child == 0) {
		burn(200); /* none of the parent's */
		exit(3);
	}
	burn(300);
	waitpid(child, &status, 0);
	printf("child %d\n", WEXITSTATUS(status));
	said(300);
	return 0;
}

static int vforks(const char *unused)
{
	int status;
	pid_t child = vfork();

	if (child == 0) {
		execl("/nothing/here", "here", (char *)NULL);
		execlp("true", "true", (char *)NULL);
		_exit(4);
	}
	waitpid(child, &status, 0);
	burn(300);
	printf("child %d\n", WEXITSTATUS(status));
	said(300);
	return 0;
}

/* Its own result is whole before it becomes another program. */
static int becomes(const char *path)
{
	burn(300);
	said(300);
	execl(path, path, "plain", (char *)NULL);
	return 1;
}

static int becomes_nothing(const char *unused)
{
	char *const argv[] = {"here", "there", NULL};
	int i;

	burn(200);
	for (i = 0; i < 3; i++) {
		errno = 0;
		if (execv("/nothing/here", argv) != -1 || errno != ENOENT)
			return 1;
		errno = 0;
		if (execle("/nothing/here", "here", "there", (char *)NULL, environ) != -1 || errno != ENOENT)
			return 1;
	}
	burn(200);
	said(400);
	return 0;
}

#define FILES 60

static void handled(int signo)
{
}

extern sighandler_t __sysv_signal(int signo, sighandler_t handler); /* what signal() is with -std=c99 */

/* As daemons do: all signals get the action that they had at the start, and most of them one of the program's. */
static int resets_signals(const char *unused)
{
	struct sigaction action, old;
	int i;

	burn(50);
	for (i = 1; i < 32; i++)
		if (i != SIGSEGV && i != SIGBUS)
			signal(i, SIG_DFL);
	burn(50);
	for (i = 1; i < 32; i++)
		if (i != SIGSEGV && i != SIGBUS)
			__sysv_signal(i, SIG_DFL);
	burn(50);
	memset(&action, 0, sizeof(action));
	action.sa_handler = handled;
	for (i = 1; i < 32; i++)
		if (i != SIGKILL && i != SIGSTOP && i != SIGSEGV && i != SIGBUS && sigaction(i, &action, NULL))
			return 1;
	burn(100);
	for (i = 1; i < 32; i++)
		if (i != SIGKILL && i != SIGSTOP && i != SIGSEGV && i != SIGBUS &&
		    (sigaction(i, NULL, &old) || old.sa_handler != handled))
			return 2;
	burn(50);
	said(300);
	return 0;
}

static int sends_fault(const char *unused)
{
	burn(100);
	kill(getpid(), SIGSEGV);
	burn(100);
	return 1;
}

static void ends_at_once(int signo)
{
	_exit(8);
}

static void *allocating(void *unused)
{
	for (;;)
		free(malloc(2000 + (size_t)rand() % 200000));
	return NULL;
}

/* The handler breaks into malloc, most of the time. */
static int ends_within_malloc(const char *unused)
{
	pthread_t t;

	signal(SIGALRM, ends_at_once);
	pthread_create(&t, NULL, allocating, NULL);
	ualarm(50000, 0);
	allocating(NULL);
	return 1;
}

static int first_thread_ends_in_c(const char *unused)
{
	pthread_t t;

	pthread_create(&t, NULL, burning, (void *)300L);
	said(300);
	thrd_exit(0);
}

static void *slow(void *unused)
{
	struct rlimit none = {3, 3};

	usleep(100000);
	setrlimit(RLIMIT_NOFILE, &none);
	usleep(600000);
	burn(300);
	said(300);
	return NULL;
}

/* No descriptor is left to look for threads with. */
static int first_thread_ends_without_files(const char *unused)
{
	pthread_t t;

	pthread_create(&t, NULL, slow, NULL);
	pthread_exit(NULL);
}

/* As daemons do, too. */
static int goes_elsewhere(const char *unused)
{
	burn(300);
	said(300);
	return chdir("/");
}

static int bad_addresses(const char *unused)
{
	void *volatile bad = (void *)8;
	int fds[2];

	if (pipe(fds))
		return 1;
	if (open(bad, O_RDONLY) != -1 || errno != EFAULT)
		return 2;
	if (readv(fds[0], bad, 1) != -1 || errno != EFAULT)
		return 3;
	if (sendmsg(socket(AF_INET, SOCK_DGRAM, 0), bad, 0) != -1 || errno != EFAULT)
		return 4;
	if (connect(socket(AF_INET, SOCK_DGRAM, 0), bad, 16) != -1 || errno != EFAULT)
		return 5;
	said(0);
	return 0;
}

/* All descriptors are closed, and their numbers are the program's then. */
static int closes_all(const char *folder)
{
	char path[400], text[32], found[32];
	int fds[FILES], i;
	pthread_t t[3];

	for (i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, burning, (void *)100L);
	burn(50);
	for (i = 3; i < 2000; i++)
		close(i);
	for (i = 0; i < FILES; i++) {
		snprintf(path, sizeof(path), "%s/%d", folder, i);
		snprintf(text, sizeof(text), "mine %d", i);
		fds[i] = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
		if (write(fds[i], text, strlen(text)) < 0)
			return 1;
	}
	for (i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	burn(50);
	usleep(1200000);
	for (i = 0; i < FILES; i++) {
		ssize_t n = pread(fds[i], found, sizeof(found) - 1, 0);

		found[n < 0 ? 0 : n] = '\0';
		snprintf(text, sizeof(text), "mine %d", i);
		if (strcmp(found, text) != 0) {
			printf("file %d: %s\n", i, found);
			return 1;
		}
	}
	said(400);
	return 0;
}

static atomic_int made;

static void *asks(void *unused)
{
	long asked = 0;

	for (; !atomic_load(&made); asked++)
		asprof_execute("status", NULL);
	return (void *)asked;
}

static int makes_jvm(const char *path);

/* Another thread has the profiler asked all the time, while the JVM is made and behind. */
static int makes_jvm_and_asks(const char *path)
{
	pthread_t t;
	void *asked;
	int rc;

	asprof_execute("start,event=ctimer,interval=1ms", NULL);
	pthread_create(&t, NULL, asks, NULL);
	rc = makes_jvm(path);
	atomic_store(&made, 1);
	pthread_join(t, &asked);
	printf("asked %d\n", (long)asked > 100);
	return rc;
}

/* ARGUMENT is a libjvm.so; with "!" before it the JVM cannot be made. */
static int makes_jvm(const char *path)
{
	JavaVMOption option = {.optionString = getenv("JVM_OPTION")};
	JavaVMInitArgs args = {.version = path[0] == '!' ? 77 : JNI_VERSION_1_8, .nOptions = 1, .options = &option,
			       .ignoreUnrecognized = 1};
	jint (*create)(JavaVM **, void **, void *);
	void *library;
	JavaVM *vm;
	JNIEnv *env;
	jint rc;

	burn(300);
	library = dlopen(path + (path[0] == '!'), RTLD_NOW);
	if (!library) {
		puts(dlerror());
		return 1;
	}
	create = (jint (*)(JavaVM **, void **, void *))dlsym(library, "JNI_CreateJavaVM");
	rc = create(&vm, (void **)&env, &args);
	printf("create %d options %d\n", (int)rc, (int)args.nOptions);
	if (rc == 0) {
		jclass class = (*env)->FindClass(env, "Burn");
		jmethodID burns = (*env)->GetStaticMethodID(env, class, "burn", "(J)V");

		(*env)->CallStaticVoidMethod(env, class, burns, (jlong)300);
	}
	burn(100);
	if (rc == 0)
		(*vm)->DestroyJavaVM(vm);
	said(400);
	return 0;
}

/* ---- include/jstrobe.h ---- */

static void answer(const char *text, size_t size)
{
	fwrite(text, 1, size, stdout);
}

static void carry_out(const char *command)
{
	asprof_error_t error = asprof_execute(command, answer);

	printf("%s: %s\n", command ? command : "(null)", error ? asprof_error_str(error) : "done");
}

static int calls(const char *path)
{
	char stop[400];

	asprof_init();
	carry_out("status");
	carry_out("stop");
	carry_out(NULL);
	carry_out("");
	carry_out("start,event=alloc");
	carry_out("start,event=nothing_here");
	carry_out("start,event=cpu,interval=1ms");
	carry_out("start,event=cpu");
	burn(300);
	carry_out("status");
	snprintf(stop, sizeof(stop), "status,file=%s.%%p.txt", path);
	carry_out(stop);
	carry_out("dump,collapsed");
	snprintf(stop, sizeof(stop), "stop,file=%s", path);
	carry_out(stop);
	snprintf(stop, sizeof(stop), "start,event=ctimer,interval=1ms,file=%s.end.txt", path);
	carry_out(stop); /* written when the process ends */
	burn(300);
	said(300);
	return 0;
}

static int calls_in_child(const char *path)
{
	char stop[400];
	int status;
	pid_t child;

	carry_out("start,event=cpu");
	burn(100);
	fflush(stdout);
	child = fork();
	if (child == 0) {
		snprintf(stop, sizeof(stop), "stop,file=%s", path);
		carry_out("start,event=cpu");
		carry_out(stop);
		exit(0);
	}
	waitpid(child, &status, 0);
	carry_out("stop");
	return WEXITSTATUS(status);
}

/* Events of the program itself: from two threads, of all bytes, of the longest; and what is refused. */
static void *marks(void *data)
{
	int i, type = asprof_register_jfr_event("by thread");

	for (i = 0; i < 100; i++)
		if (asprof_emit_jfr_event(type, data, 5))
			return "refused";
	return NULL;
}

static int tell(const char *what, asprof_error_t error)
{
	printf("%s: %s\n", what, error ? asprof_error_str(error) : "done");
	return error != NULL;
}

static int marks_events(const char *path)
{
	uint8_t all[ASPROF_MAX_JFR_EVENT_LENGTH + 1];
	int type = asprof_register_jfr_event("caf\u00e9"), i;
	char command[400];
	pthread_t other;
	void *refused;

	for (i = 0; i <= ASPROF_MAX_JFR_EVENT_LENGTH; i++)
		all[i] = (uint8_t)i;
	printf("same %d, none %d, empty %d\n", type == asprof_register_jfr_event("caf\u00e9"),
	       asprof_register_jfr_event(NULL), asprof_register_jfr_event(""));
	tell("before", asprof_emit_jfr_event(type, all, 3)); /* in no recording */
	snprintf(command, sizeof(command), "start,event=ctimer,file=%s", path);
	carry_out(command);
	pthread_create(&other, NULL, marks, (void *)(uintptr_t)"other");
	tell("all", asprof_emit_jfr_event(type, all, 256));
	tell("longest", asprof_emit_jfr_event(type, all, ASPROF_MAX_JFR_EVENT_LENGTH));
	tell("empty", asprof_emit_jfr_event(type, NULL, 0));
	tell("too long", asprof_emit_jfr_event(type, all, ASPROF_MAX_JFR_EVENT_LENGTH + 1));
	tell("no data", asprof_emit_jfr_event(type, NULL, 1));
	tell("no type", asprof_emit_jfr_event(-1, all, 1));
	tell("unknown type", asprof_emit_jfr_event(type + 100, all, 1));
	pthread_join(other, &refused);
	snprintf(command, sizeof(command), "stop,file=%s", path);
	carry_out(command);
	tell("after", asprof_emit_jfr_event(type, all, 3));
	return refused != NULL;
}

static struct asprof_thread_local_data *places[2000];

static void *counts_own(void *number)
{
	struct asprof_thread_local_data *mine = asprof_get_thread_local_data();

	places[(uintptr_t)number] = mine;
	if (!mine || mine->sample_counter || mine != asprof_get_thread_local_data())
		return (void *)1;
	burn(50);
	return (void *)(uintptr_t)(mine->sample_counter ? 0 : 2);
}

static void *counts_nothing(void *number)
{
	places[(uintptr_t)number] = asprof_get_thread_local_data();
	return NULL;
}

/* A thread reads its own number of samples, through several sessions; an ended thread's place is another's, from 0 on. */
static int counts_samples(const char *path)
{
	struct asprof_thread_local_data *mine = asprof_get_thread_local_data();
	unsigned long counts[4], i;
	char command[400];
	pthread_t other[2];
	void *wrong[2];

	burn(50);
	counts[0] = mine->sample_counter; /* no session */
	for (i = 1; i < 3; i++) {
		carry_out("start,event=ctimer,interval=1ms");
		burn(300);
		pthread_create(&other[0], NULL, counts_own, (void *)0);
		pthread_create(&other[1], NULL, counts_own, (void *)1);
		pthread_join(other[0], &wrong[0]);
		pthread_join(other[1], &wrong[1]);
		snprintf(command, sizeof(command), "stop,file=%s.%lu.json", path, i);
		carry_out(command);
		counts[i] = mine->sample_counter;
		printf("others %d %d\n", (int)(uintptr_t)wrong[0], (int)(uintptr_t)wrong[1]);
	}
	burn(50);
	counts[3] = mine->sample_counter;
	for (i = 0; i < 2000; i++) { /* places are given back */
		pthread_create(&other[0], NULL, counts_nothing, (void *)i);
		pthread_join(other[0], NULL);
		if (!places[i])
			return 1;
	}
	printf("counts %lu %lu %lu %lu\n", counts[0], counts[1], counts[2], counts[3]);
	return mine != asprof_get_thread_local_data();
}

static const char *at_exit;

static void dumps(void)
{
	char stop[400];

	snprintf(stop, sizeof(stop), "stop,file=%s", at_exit);
	carry_out(stop);
}

/* It wants its result in a handler of exit() that it registered before the profiler began. */
static int dumps_at_exit(const char *path)
{
	at_exit = path;
	atexit(dumps);
	carry_out("start,event=cpu,interval=1ms");
	burn(300);
	return 0;
}

static void *starts(void *unused)
{
	asprof_error_t error = asprof_execute("start,event=ctimer", NULL);

	return (void *)(uintptr_t)(error == NULL);
}

static int starts_at_once(const char *unused)
{
	pthread_t t[8];
	void *began;
	int i, count = 0;

	for (i = 0; i < 8; i++)
		pthread_create(&t[i], NULL, starts, NULL);
	for (i = 0; i < 8; i++) {
		pthread_join(t[i], &began);
		count += began != NULL;
	}
	printf("began %d\n", count);
	return asprof_execute("stop", NULL) != NULL;
}

static const struct {
	const char *name;
	int (*run)(const char *argument);
} scenes[] = {
	{"plain", plain}, {"threads", threads}, {"at_once", at_once}, {"quickly", quickly}, {"in_handler", in_handler},
	{"first_thread_is_cancelled", first_thread_is_cancelled},
	{"first_thread_ends", first_thread_ends}, {"forks", forks}, {"vforks", vforks}, {"becomes", becomes},
	{"becomes_nothing", becomes_nothing}, {"closes_all", closes_all}, {"makes_jvm", makes_jvm}, {"makes_jvm_and_asks", makes_jvm_and_asks}, {"calls", calls},
	{"marks_events", marks_events}, {"dumps_at_exit", dumps_at_exit}, {"counts_samples", counts_samples},
	{"starts_at_once", starts_at_once}, {"resets_signals", resets_signals}, {"sends_fault", sends_fault},
	{"ends_within_malloc", ends_within_malloc}, {"first_thread_ends_in_c", first_thread_ends_in_c},
	{"first_thread_ends_without_files", first_thread_ends_without_files}, {"goes_elsewhere", goes_elsewhere},
	{"bad_addresses", bad_addresses}, {"calls_in_child", calls_in_child},
};

int main(int argc, char **argv)
{
	size_t i;

	for (i = 0; argc > 1 && i < sizeof(scenes) / sizeof(*scenes); i++)
		if (strcmp(scenes[i].name, argv[1]) == 0)
			return scenes[i].run(argc > 2 ? argv[2] : "");
	return 99;
}
