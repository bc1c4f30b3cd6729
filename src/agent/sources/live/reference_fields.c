#include "agent/sources/live/reference_fields.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "common/base/base.h"
#include "common/base/java_type.h"

#define CLASSES 256 /* superclasses of a class, or interfaces, that are looked at */

/* Local references, each given back. */
struct classes {
	jclass items[CLASSES];
	unsigned count;
};

static void give_back(JNIEnv *env, struct classes *c)
{
	while (c->count)
		(*env)->DeleteLocalRef(env, c->items[--c->count]);
}

/* CLASS (given back or kept) is one of C from now on; false: it was, or there is no room. */
static bool add(JNIEnv *env, struct classes *c, jclass class)
{
	unsigned i = 0;

	while (i < c->count && !(*env)->IsSameObject(env, c->items[i], class))
		i++;
	if (i < c->count || i == CLASSES) {
		(*env)->DeleteLocalRef(env, class);
		return false;
	}
	c->items[c->count++] = class;
	return true;
}

static void add_interfaces(jvmtiEnv *ti, JNIEnv *env, struct classes *c, jclass class)
{
	jclass *interfaces = NULL;
	jint count = 0, i;

	if ((*ti)->GetImplementedInterfaces(ti, class, &count, &interfaces))
		return;
	for (i = 0; i < count; i++)
		add(env, c, interfaces[i]);
	(*ti)->Deallocate(ti, (unsigned char *)interfaces);
}

static jint fields_of(jvmtiEnv *ti, jclass class)
{
	jfieldID *fields = NULL;
	jint count = 0;

	if ((*ti)->GetClassFields(ti, class, &count, &fields))
		return 0;
	(*ti)->Deallocate(ti, (unsigned char *)fields);
	return count;
}

/* CLASS and its superclasses, Object last; of them what CLASS itself is stays the caller's. */
static void superclasses(JNIEnv *env, struct classes *c, jclass class)
{
	jclass at = (*env)->NewLocalRef(env, class);

	while (at && add(env, c, at))
		at = (*env)->GetSuperclass(env, at);
}

jint reference_fields_of_interfaces(jvmtiEnv *ti, JNIEnv *env, jclass class)
{
	struct classes chain = {.count = 0}, interfaces = {.count = 0};
	jint sum = 0;
	unsigned i;

	superclasses(env, &chain, class);
	for (i = 0; i < chain.count; i++)
		add_interfaces(ti, env, &interfaces, chain.items[i]);
	for (i = 0; i < interfaces.count; i++) { /* it grows meanwhile */
		add_interfaces(ti, env, &interfaces, interfaces.items[i]);
		sum += fields_of(ti, interfaces.items[i]);
	}
	give_back(env, &interfaces);
	give_back(env, &chain);
	return sum;
}

static void put_signature(const char *signature, struct buffer *out)
{
	struct java_class c;
	char one[512];
	size_t i, length = strlen(signature);

	/* java_class_of takes a class that is no array without its letter */
	snprintf(one, sizeof(one), "%s", signature[0] == 'L' ? signature + 1 : signature);
	if (signature[0] == 'L' && length > 1 && length - 2 < sizeof(one))
		one[length - 2] = '\0';
	c = java_class_of(one);
	for (i = 0; i < c.length; i++)
		buffer_putc(out, c.element[i] == '/' ? '.' : c.element[i]);
	for (; c.dimensions; c.dimensions--)
		buffer_puts(out, "[]");
}

void reference_fields_put_class(jvmtiEnv *ti, jclass class, const char *before, struct buffer *out)
{
	char *signature = NULL;

	buffer_puts(out, before);
	if ((*ti)->GetClassSignature(ti, class, &signature, NULL) || !signature) {
		buffer_puts(out, "?");
		return;
	}
	put_signature(signature, out);
	(*ti)->Deallocate(ti, (unsigned char *)signature);
}

/* Field number INDEX of those that CLASS itself declares. */
static void put_field(jvmtiEnv *ti, jclass class, jint index, const char *before, struct buffer *out)
{
	jfieldID *fields = NULL;
	char *name = NULL;
	jint count = 0;

	reference_fields_put_class(ti, class, before, out);
	if ((*ti)->GetClassFields(ti, class, &count, &fields) == JVMTI_ERROR_NONE && index < count &&
	    (*ti)->GetFieldName(ti, class, fields[index], &name, NULL, NULL) == JVMTI_ERROR_NONE && name)
		buffer_printf(out, ".%s", name);
	(*ti)->Deallocate(ti, (unsigned char *)name);
	(*ti)->Deallocate(ti, (unsigned char *)fields);
}

void reference_fields_put(jvmtiEnv *ti, JNIEnv *env, jclass class, jint index, const char *before, struct buffer *out)
{
	struct classes chain = {.count = 0};
	unsigned i;
	jint count;

	index -= reference_fields_of_interfaces(ti, env, class);
	superclasses(env, &chain, class);
	for (i = chain.count; i > 0 && index >= 0; i--) {
		count = fields_of(ti, chain.items[i - 1]);
		if (index < count)
			break;
		index -= count;
	}
	if (i && index >= 0)
		put_field(ti, chain.items[i - 1], index, before, out);
	else
		reference_fields_put_class(ti, class, before, out); /* of an interface, or the class is not linked */
	give_back(env, &chain);
}

void reference_fields_put_method(jvmtiEnv *ti, JNIEnv *env, jmethodID method, struct buffer *out)
{
	jclass class = NULL;
	char *name = NULL;

	if ((*ti)->GetMethodName(ti, method, &name, NULL, NULL) || !name)
		return;
	buffer_puts(out, " of ");
	if ((*ti)->GetMethodDeclaringClass(ti, method, &class) == JVMTI_ERROR_NONE) {
		reference_fields_put_class(ti, class, "", out);
		buffer_putc(out, '.');
		(*env)->DeleteLocalRef(env, class);
	}
	buffer_puts(out, name);
	(*ti)->Deallocate(ti, (unsigned char *)name);
}
