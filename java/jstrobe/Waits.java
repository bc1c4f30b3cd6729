package jstrobe;

/** Binds natives of the JDK for `-e lock` (src/agent/sources/lock/lock_bind.c). Outside java.base, as jstrobe.Natives. */
public final class Waits {
    private Waits() {
    }

    /**
     * Binds the native method NAME with that SIGNATURE of class TO to FUNCTION; 0, or why not. From here, because the
     * JVM warns of those who bind natives of the JDK and whose caller is not of the boot loader.
     */
    public static int bind(Class<?> to, String name, String signature, long function) {
        return bindNow(to, name, signature, function);
    }

    private static native int bindNow(Class<?> to, String name, String signature, long function);
}
