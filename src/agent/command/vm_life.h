/*
 * vm_life.h - what a session and its parts do when the JVM has started, and when it ends. On the JVM's own threads.
 */
#ifndef JSTROBE_COMMAND_VM_LIFE_H
#define JSTROBE_COMMAND_VM_LIFE_H

/* VMInit: one at a time with commands and timers. */
void session_vm_init(void);
/* VMDeath, before the end of the session: nothing more is asked of the JVM for waits and traces. */
void session_vm_dies(void);

#endif
