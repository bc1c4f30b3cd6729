/*
 * rseq.c - the native method of truth.ForeignRseq: a library with restartable sequences of its own. Each thread counts
 * in a counter of the CPU that it runs on, with three plain instructions: that no count is missed is the kernel's
 * doing, which starts the section again when the thread was interrupted in it. Code that takes the section's address
 * away from struct rseq meanwhile makes counts disappear.
 */
#include <jni.h>
#include <stddef.h>
#include <stdint.h>

#define CPUS 4096
#define LINE_SHIFT 6

static struct {
	long long count;
	char pad[(1 << LINE_SHIFT) - sizeof(long long)];
} counters[CPUS];

#if defined(__x86_64__) && defined(__has_include)
#if __has_include(<sys/rseq.h>)
#include <sys/rseq.h>
#define HAVE_RSEQ 1
#endif
#endif

#ifdef HAVE_RSEQ
/* One count; false: it was interrupted, nothing was counted. The loop in the middle makes that likely. */
static int try_count(struct rseq *r)
{
	__asm__ volatile goto(
		".pushsection __rseq_cs, \"aw\"\n\t"
		".balign 32\n"
		"3:\t.long 0, 0\n\t"
		".quad 1f, 2f - 1f, 4f\n\t"
		".popsection\n\t"
		"leaq 3b(%%rip), %%rax\n\t"
		"movq %%rax, %[section]\n"
		"1:\tmovl %[cpu], %%eax\n\t"
		"shlq %[shift], %%rax\n\t"
		"movq (%[counters], %%rax), %%rdx\n\t"
		"movl $200, %%ecx\n"
		"5:\tdecl %%ecx\n\t"
		"jnz 5b\n\t"
		"incq %%rdx\n\t"
		"movq %%rdx, (%[counters], %%rax)\n"
		"2:\n\t"
		".pushsection __rseq_failure, \"ax\"\n\t"
		".byte 0x0f, 0xb9, 0x3d\n\t"
		".long %c[signature]\n"
		"4:\tjmp %l[interrupted]\n\t"
		".popsection"
		:
		: [section] "m"(r->rseq_cs), [cpu] "m"(r->cpu_id), [counters] "r"(counters), [shift] "i"(LINE_SHIFT),
		  [signature] "i"(RSEQ_SIG)
		: "rax", "rcx", "rdx", "memory", "cc"
		: interrupted);
	return 1;
interrupted:
	return 0;
}

/* Count N times; how often that was interrupted, -1: the C library has registered no rseq. */
JNIEXPORT jlong JNICALL Java_truth_ForeignRseq_count(JNIEnv *env, jclass type, jint n)
{
	struct rseq *r = (struct rseq *)((char *)__builtin_thread_pointer() + __rseq_offset);
	jlong interrupted = 0;

	(void)env;
	(void)type;
	if (!__rseq_size)
		return -1;
	while (n > 0) {
		if (try_count(r))
			n--;
		else
			interrupted++;
	}
	return interrupted;
}
#else
JNIEXPORT jlong JNICALL Java_truth_ForeignRseq_count(JNIEnv *env, jclass type, jint n)
{
	(void)env;
	(void)type;
	(void)n;
	return -1;
}
#endif

JNIEXPORT jlong JNICALL Java_truth_ForeignRseq_sum(JNIEnv *env, jclass type)
{
	jlong sum = 0;
	int i;

	(void)env;
	(void)type;
	for (i = 0; i < CPUS; i++)
		sum += counters[i].count;
	return sum;
}
