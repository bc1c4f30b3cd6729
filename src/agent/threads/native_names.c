#include "agent/threads/native_names.h"

#include <string.h>

#include "agent/zone/zone.h"
#include "common/os/os.h"

#define KEPT 15 /* characters, by the kernel */

/* Of HotSpot's threads whose begin JVMTI does not tell. */
static const char longer[][NATIVE_NAME] = {
	"C1 CompilerThread", "C2 CompilerThread", "JVMCI CompilerThread", "VM Periodic Task Thread",
	"Monitor Deflation Thread", "StringDedupThread", "ShenandoahControlThread", "ShenandoahUncommitThread",
	"Shenandoah GC Threads", "G1 Young RemSet Sampling", "Code Cache Sweeper Thread",
};

void native_name_whole(char name[NATIVE_NAME])
{
	size_t i;

	if (strlen(name) != KEPT)
		return;
	for (i = 0; i < ARRAY_LEN(longer); i++)
		if (strncmp(longer[i], name, KEPT) == 0)
			strcpy(name, longer[i]);
}

void native_name(pid_t tid, char name[NATIVE_NAME])
{
	os_thread_name(tid, name, NATIVE_NAME);
	if (zone.has_jvm)
		native_name_whole(name);
}
