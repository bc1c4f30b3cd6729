/*
 * entry.h - the agent's front: what the JVM and the command call.
 *
 * One lock serialises everything that commands a session: conversations with
 * the command, option strings given to the JVM, and the JVM's end.
 */
#ifndef JSTROBE_AGENT_ENTRY_H
#define JSTROBE_AGENT_ENTRY_H

/*
 * The JVM ends: stop the session, write the result it owes, tell the command that owns it.
 * To be called once, from the VMDeath callback, while the JVM is still whole.
 */
void entry_vm_death(void);

/* Enter and leave the front. Not recursive. Any attached thread in normal code. */
void entry_lock(void);
void entry_unlock(void);

#endif
