#include "agent/command/vm_life.h"

#include "agent/jvm/jvm.h"
#include "agent/command/control_thread.h"
#include "agent/session/jfrsync.h"
#include "agent/sources/engine.h"
#include "agent/threads/java_threads.h"
#include "agent/tracing/tracing.h"

void session_vm_init(void)
{
	/* a session that is stopped meanwhile must not begin afterwards */
	bool began = control_begin_job("the JVM's start");

	jvm_is_up();
	java_threads_vm_init();
	trace_vm_init();
	jfrsync_vm_init();
	engine_vm_init();
	if (began)
		control_end_job();
	control_ring(); /* what was due has waited for this */
}

void session_vm_dies(void)
{
	engine_vm_death();
	trace_vm_death();
}
