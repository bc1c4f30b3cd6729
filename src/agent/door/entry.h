/*
 * entry.h - the agent's front: what the JVM calls.
 */
#ifndef JSTROBE_DOOR_ENTRY_H
#define JSTROBE_DOOR_ENTRY_H

/*
 * The JVM ends: the control thread stops the session, writes the result it owes, tells the command that owns it. This
 * waits for that while it gets on, 10 s at most. To be called once, from the VMDeath callback, while the JVM is still
 * whole.
 */
void entry_vm_death(void);

#endif
