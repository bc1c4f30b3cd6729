/*
 * tricks.c - the native methods of truth.Tricks: what native libraries do to signals, stacks, threads
 * and images. Each plays its trick once and returns 0, or the number of what went wrong.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <jni.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define TRICK(name) JNIEXPORT jint JNICALL Java_truth_Tricks_##name(JNIEnv *env, jclass type)
#define WITH_TEXT(name) \
	JNIEXPORT jint JNICALL Java_truth_Tricks_##name(JNIEnv *env, jclass type, jstring text)

static volatile unsigned long sink;

/* Use CPU time. Exported: dlopen'ed copies of this library are called by this name. */
__attribute__((noinline, visibility("default"))) void tricks_work(int rounds)
{
	int i;

	for (i = 0; i < rounds; i++)
		sink = sink * 31 + (unsigned long)i;
}

/* ---- SIGSEGV of one's own, as managed runtimes and probing libraries have it ---- */

static char *page;
static struct sigaction segv_before;
static atomic_int segv_mine;

static void on_segv(int signo, siginfo_t *info, void *context)
{
	if (info->si_addr >= (void *)page && info->si_addr < (void *)(page + 4096)) {
		mprotect(page, 4096, PROT_READ | PROT_WRITE);
		atomic_fetch_add(&segv_mine, 1);
		return;
	}
	if (segv_before.sa_flags & SA_SIGINFO)
		segv_before.sa_sigaction(signo, info, context);
	else if (segv_before.sa_handler == SIG_DFL)
		signal(signo, SIG_DFL);
}

/* A handler above whatever is there, 20 faults, and away again. */
TRICK(segv)
{
	struct sigaction mine;
	int i, before = atomic_load(&segv_mine);

	if (!page)
		page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	memset(&mine, 0, sizeof(mine));
	mine.sa_sigaction = on_segv;
	mine.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
	if (sigaction(SIGSEGV, &mine, &segv_before))
		return 1;
	for (i = 0; i < 20; i++) {
		tricks_work(20000);
		mprotect(page, 4096, PROT_NONE);
		*(volatile char *)page = 1;
	}
	if (sigaction(SIGSEGV, &segv_before, NULL))
		return 2;
	return atomic_load(&segv_mine) - before == 20 ? 0 : 3;
}

/* ---- code whose caller lies where nothing can be read: each sample of it is a load that faults ---- */

#ifdef __x86_64__
void tricks_nowhere(long rounds);
asm(".text\n"
    ".type tricks_nowhere, @function\n"
    "tricks_nowhere:\n"
    "	.cfi_startproc\n"
    "	push %rbp\n"
    "	.cfi_def_cfa_offset 16\n"
    "	.cfi_offset %rbp, -16\n"
    "	mov $0x7ffffffff000, %rbp\n" /* the page above all that can be mapped */
    "	.cfi_def_cfa_register %rbp\n"
    "1:	dec %rdi\n"
    "	jnz 1b\n"
    "	pop %rbp\n"
    "	.cfi_def_cfa %rsp, 8\n"
    "	ret\n"
    "	.cfi_endproc\n"
    ".size tricks_nowhere, . - tricks_nowhere\n");
#else
static void tricks_nowhere(long rounds)
{
	tricks_work((int)rounds);
}
#endif

TRICK(nowhere)
{
	tricks_nowhere(3000000);
	return 0;
}

/* A handler of SIGSEGV that takes its time, in such code: meanwhile the thread has SIGSEGV blocked. */
static void on_handled(int signo, siginfo_t *info, void *context)
{
	if (info->si_addr >= (void *)page && info->si_addr < (void *)(page + 4096))
		tricks_nowhere(3000000);
	on_segv(signo, info, context);
}

TRICK(handled)
{
	struct sigaction mine;
	int before = atomic_load(&segv_mine);

	if (!page)
		page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	memset(&mine, 0, sizeof(mine));
	mine.sa_sigaction = on_handled;
	mine.sa_flags = SA_SIGINFO | SA_ONSTACK;
	if (sigaction(SIGSEGV, &mine, &segv_before))
		return 1;
	mprotect(page, 4096, PROT_NONE);
	*(volatile char *)page = 1;
	if (sigaction(SIGSEGV, &segv_before, NULL))
		return 2;
	return atomic_load(&segv_mine) - before == 1 ? 0 : 3;
}

/* ---- an alternate stack as small as libraries make them, and work on it ---- */

static void on_alternate(int signo)
{
	(void)signo;
	tricks_work(300000);
}

static void *alternate_thread(void *arg)
{
	/* SIGSTKSZ of old, with a page below that must not be touched. */
	char *memory = mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	stack_t stack = {.ss_sp = memory + 4096, .ss_size = 8192};
	int i;

	mprotect(memory, 4096, PROT_NONE);
	if (sigaltstack(&stack, NULL))
		return (void *)1;
	for (i = 0; i < 10; i++) {
		pthread_kill(pthread_self(), *(int *)arg);
		tricks_work(300000);
	}
	stack.ss_flags = SS_DISABLE;
	sigaltstack(&stack, NULL);
	munmap(memory, 3 * 4096);
	return NULL;
}

TRICK(alternate)
{
	int signo = SIGRTMIN + 7;
	struct sigaction mine = {.sa_handler = on_alternate, .sa_flags = SA_ONSTACK};
	pthread_t thread;
	void *failed;

	if (sigaction(signo, &mine, NULL) || pthread_create(&thread, NULL, alternate_thread, &signo))
		return 1;
	pthread_join(thread, &failed);
	return failed ? 2 : 0;
}

/* ---- a thread that no library knows of: it even has the thread pointer of its maker ---- */

static int raw_thread(void *arg)
{
	atomic_int *left = arg;
	int i;

	for (i = 0; i < 300 && atomic_load(left); i++)
		tricks_work(1000000);
	atomic_store(left, 0);
	syscall(SYS_exit, 0);
	return 0;
}

TRICK(raw)
{
	static atomic_int running, alive; /* the kernel clears the latter when the thread has left its stack */
	const size_t size = 256 * 1024;
	char *stack = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (stack == MAP_FAILED)
		return 1;
	atomic_store(&running, 1);
	atomic_store(&alive, 1);
	if (clone(raw_thread, stack + size, CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD |
		  CLONE_SYSVSEM | CLONE_CHILD_CLEARTID, &running, NULL, NULL, &alive) < 0)
		return 2;
	while (atomic_load(&alive))
		usleep(1000);
	munmap(stack, size);
	return 0;
}

/* ---- children ---- */

static int child_failed(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return 1;
	return !WIFEXITED(status) || WEXITSTATUS(status);
}

TRICK(vforked)
{
	char *const arguments[] = {"true", NULL}, *const environment[] = {NULL};
	pid_t pid = vfork();

	if (pid == 0) {
		execve("/bin/true", arguments, environment);
		_exit(127);
	}
	tricks_work(100000);
	return pid < 0 || child_failed(pid);
}

/* A child that goes on without exec, and uses CPU time: no signal of a profiler may reach it. */
TRICK(forked)
{
	pid_t pid = fork();

	if (pid == 0) {
		tricks_work(30000000);
		_exit(0);
	}
	return pid < 0 || child_failed(pid);
}

/* ---- images that come and go ---- */

WITH_TEXT(loaded)
{
	const char *path = (*env)->GetStringUTFChars(env, text, NULL);
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	void (*work)(int) = library ? (void (*)(int))dlsym(library, "tricks_work") : NULL;

	(*env)->ReleaseStringUTFChars(env, text, path);
	if (!work)
		return 1;
	work(3000000);
	return dlclose(library) ? 2 : 0;
}

/* ---- threads with all signals blocked ---- */

TRICK(blocked)
{
	sigset_t all, before;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	tricks_work(3000000);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return 0;
}

/* ---- one native thread, attached and detached again and again ---- */

static void *attach_thread(void *arg)
{
	JavaVM *vm = arg;
	JNIEnv *env;
	int i;

	for (i = 0; i < 100; i++) {
		if ((*vm)->AttachCurrentThread(vm, (void **)&env, NULL) != JNI_OK)
			return (void *)1;
		if (!(*env)->FindClass(env, "java/lang/String"))
			return (void *)2;
		tricks_work(10000);
		if ((*vm)->DetachCurrentThread(vm) != JNI_OK)
			return (void *)3;
		tricks_work(10000);
	}
	return NULL;
}

TRICK(attached)
{
	pthread_t thread;
	JavaVM *vm;
	void *failed;

	if ((*env)->GetJavaVM(env, &vm) || pthread_create(&thread, NULL, attach_thread, vm))
		return 9;
	pthread_join(thread, &failed);
	return (int)(intptr_t)failed;
}

/* ---- crowds of threads that attach themselves, as fast as they can ---- */

#define CROWD 12

static void *crowd_thread(void *arg)
{
	JavaVM *vm = arg;
	JNIEnv *env;
	int i;

	for (i = 0; i < 300; i++)
		if ((*vm)->AttachCurrentThread(vm, (void **)&env, NULL) != JNI_OK ||
		    (*vm)->DetachCurrentThread(vm) != JNI_OK)
			return (void *)1;
	return NULL;
}

TRICK(crowded)
{
	pthread_t threads[CROWD];
	void *failed, *any = NULL;
	JavaVM *vm;
	int i, n = 0;

	if ((*env)->GetJavaVM(env, &vm))
		return 9;
	while (n < CROWD && !pthread_create(&threads[n], NULL, crowd_thread, vm))
		n++;
	for (i = 0; i < n; i++) {
		pthread_join(threads[i], &failed);
		any = failed ? failed : any;
	}
	return any || n < CROWD;
}

/* ---- the end ---- */

static volatile uintptr_t nowhere = 0x10;

__attribute__((noinline)) static void tricks_crash(void)
{
	*(volatile int *)nowhere = 1;
}

TRICK(crash)
{
	tricks_crash();
	return 0;
}

TRICK(aborted)
{
	abort();
}

/* ---- a thread that is half attached, as far as the JVM can tell, while the file HALF_UNTIL exists ---- */

static intptr_t offset_of(const char *wanted_type, const char *wanted_field)
{
	void *jvm = dlopen("libjvm.so", RTLD_LAZY | RTLD_NOLOAD);
	const char **table = dlsym(jvm, "gHotSpotVMStructs"), *entry = *table, *type, *field;
	const uint64_t *stride = dlsym(jvm, "gHotSpotVMStructEntryArrayStride");
	const uint64_t *type_at = dlsym(jvm, "gHotSpotVMStructEntryTypeNameOffset");
	const uint64_t *field_at = dlsym(jvm, "gHotSpotVMStructEntryFieldNameOffset");
	const uint64_t *offset_at = dlsym(jvm, "gHotSpotVMStructEntryOffsetOffset");

	for (;; entry += *stride) {
		type = *(const char *const *)(entry + *type_at);
		field = *(const char *const *)(entry + *field_at);
		if (!type)
			return -1;
		if (!strcmp(type, wanted_type) && !strcmp(field, wanted_field))
			return (intptr_t)*(const uint64_t *)(entry + *offset_at);
	}
}

static atomic_int is_half;

static void *half_thread(void *arg)
{
	intptr_t offset = offset_of("JavaThread", "_threadObj");
	void *volatile *handle, *object;
	jobject self;
	JNIEnv *env;
	jclass class;

	if (offset < 0 || (*(JavaVM *)arg)->AttachCurrentThread(arg, (void **)&env, NULL) != JNI_OK)
		return (void *)1;
	class = (*env)->FindClass(env, "java/lang/Thread");
	self = (*env)->CallStaticObjectMethod(
		env, class, (*env)->GetStaticMethodID(env, class, "currentThread", "()Ljava/lang/Thread;"));
	handle = (void *volatile *)((intptr_t)(*env)->GetLongField(env, self, (*env)->GetFieldID(env, class, "eetop", "J")) +
				    offset);
	object = *handle;
	*handle = NULL;
	atomic_store(&is_half, 1);
	while (access(getenv("HALF_UNTIL"), F_OK) == 0)
		usleep(1000);
	*handle = object;
	return (*(JavaVM *)arg)->DetachCurrentThread(arg) == JNI_OK ? NULL : (void *)2;
}

TRICK(half)
{
	static int begun;
	pthread_t thread;
	JavaVM *vm;

	if (!begun++ && ((*env)->GetJavaVM(env, &vm) || pthread_create(&thread, NULL, half_thread, vm)))
		return 9;
	while (!atomic_load(&is_half))
		usleep(1000);
	usleep(1000);
	return 0;
}
