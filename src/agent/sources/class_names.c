/*
 * class_names.c - a table of fixed size, without a lock. Two threads that bring a new name at once may give it two
 * numbers: a thread that reads goes by the name. Its memory goes back when records do; a late writer only makes a page
 * dirty again. Names of waits that go on in the next session keep their numbers.
 */
#include "agent/sources/class_names.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

#include "common/base/hash.h"
#include "common/base/map.h"
#include "common/os/os.h"

#define CLASSES 4096u /* beyond, classes have no name */
#define PROBES 16
#define NAME 248
#define SIGNATURE 512

enum { FREE, WRITING, READY };

struct class_name {
	_Atomic uint32_t state;
	bool kept;            /* once, beyond the release */
	char name[NAME];
};

static struct class_name *classes;

int class_names_open(void)
{
	size_t bytes = CLASSES * sizeof(*classes);

	if (!classes)
		classes = os_reserve(bytes);
	return classes && os_make_writable(classes, bytes) == 0 ? 0 : -1;
}

static uint32_t kept;

void class_name_keep(uint32_t class)
{
	if (!class_name_of(class) || classes[class - 1].kept)
		return;
	classes[class - 1].kept = true;
	kept++;
}

void class_names_release(void)
{
	uint32_t i;

	if (classes && !kept)
		madvise(classes, CLASSES * sizeof(*classes), MADV_DONTNEED);
	for (i = 0; kept && i < CLASSES; i++) {
		if (!classes[i].kept && atomic_load(&classes[i].state) == READY)
			memset(&classes[i], 0, sizeof(classes[i]));
		classes[i].kept = false;
	}
	kept = 0;
}

uint32_t class_number(const char *name)
{
	uint64_t at = hash_mix(hash_bytes(HASH_BEGIN, name, strlen(name)));
	uint32_t i;

	if (!classes)
		return 0;
	for (i = 0; i < PROBES; i++) {
		uint32_t slot = (uint32_t)(at + i) % CLASSES, expected = FREE;
		struct class_name *c = &classes[slot];
		uint32_t state = atomic_load_explicit(&c->state, memory_order_acquire);

		if (state == FREE && atomic_compare_exchange_strong(&c->state, &expected, WRITING)) {
			strncpy(c->name, name, NAME - 1);
			atomic_store_explicit(&c->state, READY, memory_order_release);
			return slot + 1;
		}
		if (state == READY && strncmp(c->name, name, NAME - 1) == 0)
			return slot + 1;
	}
	return 0;
}

const char *class_name_of(uint32_t class)
{
	if (!class || class > CLASSES || !classes ||
	    atomic_load_explicit(&classes[class - 1].state, memory_order_acquire) != READY)
		return NULL;
	return classes[class - 1].name;
}

/* "Ljava/lang/Object;" as java/lang/Object; arrays stay as the JVM spells them. */
static void put_name(const char *signature, char *out)
{
	size_t length = MIN(strlen(signature), (size_t)SIGNATURE - 1);
	bool object = signature[0] == 'L' && length > 2;

	if (object) {
		signature++;
		length -= 2;
	}
	memcpy(out, signature, length);
	out[length] = '\0';
}

uint32_t class_number_of_class(jvmtiEnv *ti, jclass class)
{
	char *signature = NULL, name[SIGNATURE];

	if (!class || (*ti)->GetClassSignature(ti, class, &signature, NULL) || !signature)
		return 0;
	put_name(signature, name);
	(*ti)->Deallocate(ti, (unsigned char *)signature);
	return class_number(name);
}

uint32_t class_number_of(jvmtiEnv *ti, JNIEnv *env, jobject object)
{
	jclass class = (*env)->GetObjectClass(env, object);
	uint32_t number = class_number_of_class(ti, class);

	(*env)->DeleteLocalRef(env, class);
	return number;
}
