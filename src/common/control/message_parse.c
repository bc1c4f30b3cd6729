/*
 * Messages from bytes: what a header says, and messages that come in pieces. Nothing here waits or calls the system.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/control/control.h"

int control_header(const unsigned char header[CONTROL_HEADER], struct control_message *m, struct error *err)
{
	uint32_t length = header[0] | header[1] << 8 | header[2] << 16 | (uint32_t)header[3] << 24;

	if (length <= CONTROL_MAX && header[4] >= CONTROL_TYPES)
		return error_set(err, EPROTO, "control socket: a message of kind %u, which jstrobe %s does not know: "
				 "the other side is a newer build; use a command and an agent library of one version",
				 header[4], JSTROBE_VERSION);
	if (length > CONTROL_MAX || header[4] == CONTROL_NONE)
		return error_set(err, EPROTO, "control socket: broken message (type %u, %u bytes)", header[4], length);
	m->payload = malloc(length + 1);
	if (!m->payload)
		return error_set(err, ENOMEM, "control socket: out of memory for %u bytes", length);
	m->payload[length] = '\0';
	m->length = length;
	m->type = header[4];
	return 0;
}

int control_parse(struct control_parser *p, const void *bytes, size_t n, size_t *used, struct error *err)
{
	size_t part;
	int rc;

	*used = 0;
	if (p->got < CONTROL_HEADER) {
		part = MIN(CONTROL_HEADER - p->got, n);
		memcpy(p->header + p->got, bytes, part);
		p->got += part;
		*used = part;
		if (p->got < CONTROL_HEADER)
			return 0;
		control_release(&p->m);
		rc = control_header(p->header, &p->m, err);
		if (rc)
			return rc;
	}
	part = MIN(CONTROL_HEADER + p->m.length - p->got, n - *used);
	memcpy(p->m.payload + (p->got - CONTROL_HEADER), (const char *)bytes + *used, part);
	p->got += part;
	*used += part;
	if (p->got < CONTROL_HEADER + p->m.length)
		return 0;
	p->got = 0;
	return 1;
}

void control_parser_free(struct control_parser *p)
{
	control_release(&p->m);
	p->got = 0;
}
