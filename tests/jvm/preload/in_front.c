/*
 * in_front.c - an agent whose handler of SIGSEGV and SIGBUS goes before those that are there, and passes all on to them,
 * as async-profiler's does.
 */
#include <jvmti.h>
#include <signal.h>

static struct sigaction former[2];

static void on_signal(int signo, siginfo_t *info, void *context)
{
	const struct sigaction *to = &former[signo == SIGBUS];

	if (to->sa_flags & SA_SIGINFO)
		to->sa_sigaction(signo, info, context);
}

JNIEXPORT jint JNICALL Agent_OnAttach(JavaVM *vm, char *options, void *reserved)
{
	struct sigaction ours = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK};

	(void)vm;
	(void)options;
	(void)reserved;
	return sigaction(SIGSEGV, &ours, &former[0]) || sigaction(SIGBUS, &ours, &former[1]) ? JNI_ERR : JNI_OK;
}
