/*
 * jfr_io.c - reads, writes and the like under the names that the JDK has for them; what it has no name for is
 * profiler.IO. What cannot be known from outside is written as the JDK writes what does not apply. What they have no
 * place for stands in a jstrobe.IOWeight before each.
 */
#include <stdio.h>
#include <string.h>

#include "common/words/io_fields.h"
#include "profile/writers/jfr/jfr.h"

/* The host's address in TARGET, "10.0.0.7:5432", "[::1]:80", "10.0.0.7 (client of :8080)". */
static void address_of(const char *target, char *out, size_t size)
{
	size_t length = strcspn(target, " ");
	const char *colon = memchr(target, ':', length) ? strrchr(target, ':') : NULL;

	if (target[0] == '[') {
		length = strcspn(++target, "]");
	} else if (strncmp(target, "unix:", 5) != 0 && length == strlen(target) && colon) {
		length = (size_t)(colon - target);
	} else if (strncmp(target, "unix:", 5) == 0) {
		length = strlen(target);
	}
	snprintf(out, size, "%.*s", (int)length, target);
}

static void put_socket(struct jfr *j, const struct jfr_io *io, uint64_t ticks, uint64_t end)
{
	uint16_t port = io_port_in(io->values[IO_FIELD_KIND]);
	uint64_t bytes = io->values[IO_FIELD_BYTES];
	char address[256];

	address_of(io->target, address, sizeof(address));
	if (io_operation_in(io->values[IO_FIELD_OPERATION]) == IO_READ) {
		const struct jfr_value v[] = {JFR_N(ticks), JFR_N(io->thread), JFR_N(io->stack), JFR_S(""),
					      JFR_S(address), JFR_N(port), JFR_N(0), JFR_N(bytes), JFR_N(end)};

		jfr_event(j, JFR_SOCKET_READ, io->time, v, ARRAY_LEN(v));
	} else {
		const struct jfr_value v[] = {JFR_N(ticks), JFR_N(io->thread), JFR_N(io->stack), JFR_S(""),
					      JFR_S(address), JFR_N(port), JFR_N(bytes)};

		jfr_event(j, JFR_SOCKET_WRITE, io->time, v, ARRAY_LEN(v));
	}
}

void jfr_io(struct jfr *j, const struct jfr_io *io)
{
	enum io_operation operation = io_operation_in(io->values[IO_FIELD_OPERATION]);
	enum io_kind kind = io_kind_in(io->values[IO_FIELD_KIND]);
	uint8_t flags = io_flags_in(io->values[IO_FIELD_KIND]);
	uint64_t ticks = jfr_ticks_of(j, io->values[IO_FIELD_DURATION]), bytes = io->values[IO_FIELD_BYTES];
	const struct jfr_value read[] = {JFR_N(ticks), JFR_N(io->thread), JFR_N(io->stack), JFR_S(io->target),
					 JFR_N(bytes), JFR_N((flags & IO_FLAG_END) != 0)};
	const struct jfr_value write[] = {JFR_N(ticks), JFR_N(io->thread), JFR_N(io->stack), JFR_S(io->target),
					  JFR_N(bytes)};
	const struct jfr_value force[] = {JFR_N(ticks), JFR_N(io->thread), JFR_N(io->stack), JFR_S(io->target),
					  JFR_N(false)};
	const struct jfr_value other[] = {JFR_N(ticks), JFR_N(io->thread), JFR_N(io->stack),
					  JFR_S(io_operation_names[operation]), JFR_S(io_kind_names[kind].word),
					  JFR_S(io->target), JFR_N(bytes), JFR_N((flags & IO_FLAG_IDLE) != 0)};

	const struct jfr_value weight[] = {JFR_N(io->weight), JFR_N(jfr_symbol(j, io->target)),
					   JFR_N(io->values[IO_FIELD_IDLE]), JFR_N((flags & IO_FLAG_OPEN) != 0),
					   JFR_N(io_stands_for_others(io->weight, io->values))};

	jfr_event(j, JFR_IO_WEIGHT, io->time, weight, ARRAY_LEN(weight));
	if (kind == IO_KIND_FILE && operation == IO_READ)
		jfr_event(j, JFR_FILE_READ, io->time, read, ARRAY_LEN(read));
	else if (kind == IO_KIND_FILE && operation == IO_WRITE)
		jfr_event(j, JFR_FILE_WRITE, io->time, write, ARRAY_LEN(write));
	else if (kind == IO_KIND_FILE && operation == IO_SYNC)
		jfr_event(j, JFR_FILE_FORCE, io->time, force, ARRAY_LEN(force));
	else if (kind == IO_KIND_SOCKET && (operation == IO_READ || operation == IO_WRITE))
		put_socket(j, io, ticks, (flags & IO_FLAG_END) != 0);
	else
		jfr_event(j, JFR_IO, io->time, other, ARRAY_LEN(other));
}
