/* jvm.h - stands in for src/agent/jvm.h in the fake agent (see tests/fake/session.c). */
#ifndef JSTROBE_FAKE_JVM_H
#define JSTROBE_FAKE_JVM_H
#include <jni.h>

#include "base/error.h"

int jvm_init(JavaVM *vm, bool at_load, struct error *err);

#endif
