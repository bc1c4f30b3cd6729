/*
 * frozen_fields.h - asks Java, once, where the frames of virtual threads lie in the heap (common/hotspot/frozen.h).
 */
#ifndef JSTROBE_JVM_FROZEN_FIELDS_H
#define JSTROBE_JVM_FROZEN_FIELDS_H

#include <jni.h>

/*
 * Before JDK 21 nothing happens, nor where the JVM has no virtual threads of its own. Classes are loaded, none is
 * initialised. An attached thread, after VMInit.
 */
void agent_frozen_learn(JNIEnv *env);

#endif
