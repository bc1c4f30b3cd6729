/* What a thread works for as OpenTelemetry's libraries tell it (OTEP 4947), for truth.Requests. */
#include <endian.h>
#include <jni.h>
#include <stdint.h>

struct record {
	uint64_t trace_high, trace_low, span; /* network order */
	uint8_t valid, flags;
	uint16_t attributes;
};

__attribute__((visibility("default"))) __thread struct record *volatile otel_thread_ctx_v1;
static __thread struct record record;

JNIEXPORT void JNICALL Java_truth_Requests_publish(JNIEnv *env, jclass class, jlong high, jlong low, jlong span)
{
	otel_thread_ctx_v1 = NULL;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	record = (struct record){htobe64((uint64_t)high), htobe64((uint64_t)low), htobe64((uint64_t)span), 1, 0, 0};
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (span)
		otel_thread_ctx_v1 = &record;
}
