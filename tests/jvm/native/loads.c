/* Libraries that come and go: for truth.Crowds. */
#include <dlfcn.h>
#include <jni.h>

JNIEXPORT jint JNICALL Java_truth_Crowds_load(JNIEnv *env, jclass type)
{
	static const char *const names[] = {"libresolv.so.2", "libanl.so.1", "libutil.so.1", "libBrokenLocale.so.1"};
	jint loaded = 0;
	int i;

	for (i = 0; i < 4; i++) {
		void *library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);

		if (library) {
			dlclose(library);
			loaded++;
		}
	}
	return loaded;
}
