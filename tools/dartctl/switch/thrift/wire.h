/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Bytes to and from a server over TCP, with limits on the time and the answer of each call.  After
 * an error no byte is sent, and zeros are read.
 */
#ifndef THRIFT_WIRE_H
#define THRIFT_WIRE_H

#include <stdarg.h>
#include <stdint.h>

#include <libdart/error.h>

#define THRIFT_WIRE_CALL_MAX	4096		/* bytes */
#define THRIFT_WIRE_ANSWER_MAX	(16 << 20)	/* likewise */

struct thrift_wire {
	int socket;
	int ret;		/* -errno of the first error, or 0 */
	struct dart_error error; /* its sentence */
	int64_t call_end;	/* ms of CLOCK_MONOTONIC */
	int64_t end;		/* of the whole connection, likewise */
	uint32_t answer_left;	/* bytes that the answer may still contain */
	uint32_t out_length;
	uint32_t in_start, in_end;
	uint8_t out[THRIFT_WIRE_CALL_MAX];
	uint8_t in[65536];
};

/* @name: "HOST:PORT".  Returns 0, or -errno with a sentence in wire->error. */
int thrift_wire__connect(struct thrift_wire *wire, const char *name);
void thrift_wire__close(struct thrift_wire *wire);

void thrift_wire__put(struct thrift_wire *wire, const void *bytes, uint32_t length);
/* Sends the bytes that were put, and starts the time limit of the answer. */
void thrift_wire__send(struct thrift_wire *wire);
void thrift_wire__get(struct thrift_wire *wire, void *bytes, uint32_t length);

/* Records an error, @code an errno, unless there is one already. */
__attribute__((format(printf, 3, 4)))
static inline void thrift_wire__fail(struct thrift_wire *wire, int code, const char *format, ...)
{
	va_list arguments;

	if (wire->ret)
		return;
	va_start(arguments, format);
	wire->ret = dart_error__vset(&wire->error, code, format, arguments);
	va_end(arguments);
}

#endif /* THRIFT_WIRE_H */
