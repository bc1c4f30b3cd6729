/*
 * fault.c - the handler that turns a faulting load of ours into `false`.
 *
 * The table of loads is the section js_faults (see load_arch.h). Anything else
 * goes to the action that was installed before us, with the mask and the flags
 * that action had asked for, so the JVM sees its own signals as ever.
 */
#include "signal/fault.h"

#include <ucontext.h>

#include "context.h"

struct fault_entry {
	int32_t load;    /* relative to this field */
	int32_t way_out; /* relative to this field */
};
extern const struct fault_entry __start_js_faults[] __attribute__((visibility("hidden")));
extern const struct fault_entry __stop_js_faults[] __attribute__((visibility("hidden")));

struct sigaction fault_former[2];

static uintptr_t way_out_of(uintptr_t pc)
{
	const struct fault_entry *e;

	for (e = __start_js_faults; e < __stop_js_faults; e++)
		if ((uintptr_t)&e->load + (uintptr_t)(intptr_t)e->load == pc)
			return (uintptr_t)&e->way_out + (uintptr_t)(intptr_t)e->way_out;
	return 0;
}

/* Hand SIGNO to the action that was there before us. */
static void pass_on(const struct sigaction *old, int signo, siginfo_t *info, void *context)
{
	if (old->sa_flags & SA_SIGINFO) {
		old->sa_sigaction(signo, info, context);
	} else if (old->sa_handler == SIG_DFL || old->sa_handler == SIG_IGN) {
		/* A synchronous fault that nobody handles: let it happen again without us. */
		sigaction(signo, old, NULL);
	} else {
		old->sa_handler(signo);
	}
}

void fault_handler(int signo, siginfo_t *info, void *context)
{
	uintptr_t out = way_out_of(context_pc(context));

	if (out)
		context_set_pc(context, out);
	else
		pass_on(&fault_former[signo == SIGBUS], signo, info, context);
}
