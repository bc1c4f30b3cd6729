#include "agent/jvm/mounts.h"

#include <stdbool.h>
#include <string.h>

#include "agent/jvm/jvm.h"

/* jvmtiCapabilities.can_support_virtual_threads, which headers before JDK 21 do not have: its 45th bit. */
#define CAPABILITY_BYTE 5
#define CAPABILITY_BIT 0x10

static bool listen_to(jvmtiEnv *ti, const jvmtiExtensionEventInfo *e, jvmtiExtensionEvent callback)
{
	return !(*ti)->SetExtensionEventCallback(ti, e->extension_event_index, callback) &&
	       !(*ti)->SetEventNotificationMode(ti, JVMTI_ENABLE, (jvmtiEvent)e->extension_event_index, NULL);
}

static void release(jvmtiEnv *ti, jvmtiExtensionEventInfo *e)
{
	jint i;

	for (i = 0; i < e->param_count; i++)
		(*ti)->Deallocate(ti, (unsigned char *)e->params[i].name);
	(*ti)->Deallocate(ti, (unsigned char *)e->params);
	(*ti)->Deallocate(ti, (unsigned char *)e->id);
	(*ti)->Deallocate(ti, (unsigned char *)e->short_description);
}

static bool listen(jvmtiEnv *ti, jvmtiExtensionEvent unmount, jvmtiExtensionEvent mount)
{
	jvmtiExtensionEventInfo *events;
	int found = 0;
	jint i, count;

	if ((*ti)->GetExtensionEvents(ti, &count, &events))
		return false;
	for (i = 0; i < count; i++) {
		if (strcmp(events[i].id, "com.sun.hotspot.events.VirtualThreadUnmount") == 0)
			found += listen_to(ti, &events[i], unmount);
		else if (strcmp(events[i].id, "com.sun.hotspot.events.VirtualThreadMount") == 0)
			found += listen_to(ti, &events[i], mount);
		release(ti, &events[i]);
	}
	(*ti)->Deallocate(ti, (unsigned char *)events);
	return found == 2;
}

jvmtiEnv *mounts_listen(jvmtiExtensionEvent unmount, jvmtiExtensionEvent mount)
{
	jvmtiEnv *ti = jvm_environment();
	jvmtiCapabilities c;

	memset(&c, 0, sizeof(c));
	((unsigned char *)&c)[CAPABILITY_BYTE] = CAPABILITY_BIT;
	if (ti && ((*ti)->AddCapabilities(ti, &c) || !listen(ti, unmount, mount))) {
		(*ti)->DisposeEnvironment(ti);
		ti = NULL;
	}
	return ti;
}
