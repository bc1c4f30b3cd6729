package jdk.internal.misc;

/** What the probe uses of the JDK's class of that name, for the compiler; not part of the agent. */
public final class Unsafe {
    public static native Unsafe getUnsafe();
    public native long objectFieldOffset(Class<?> type, String field);
    public native int getInt(Object object, long offset);
    public native void putInt(Object object, long offset, int value);
    public native long getLong(Object object, long offset);
    public native long getLongVolatile(Object object, long offset);
    public native void putLong(Object object, long offset, long value);
}
