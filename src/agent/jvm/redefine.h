/*
 * redefine.h - hearing of every redefinition and retransformation of classes in this JVM.
 */
#ifndef JSTROBE_JVM_REDEFINE_H
#define JSTROBE_JVM_REDEFINE_H

#include <jvmti.h>

/*
 * Stand before RedefineClasses and RetransformClasses in the function table that all JVMTI environments of a JVM share:
 * TELL_OF gets the name of each class, with slashes, and zone.epochs.redefinitions grows before and after each call.
 * And step aside again, unless another agent stands before us by then (our functions then go on passing calls through).
 * Attached thread; one session at a time.
 */
void redefine_watch(jvmtiEnv *ti, void (*tell_of)(const char *class_name));
void redefine_unwatch(void);

#endif
