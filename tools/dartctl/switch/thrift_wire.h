/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Bytes to and from a server over TCP, each call of which has so much time and
 * may answer so much.  After a mistake nothing is sent, and zeros are read.
 */
#ifndef SWITCH_WIRE_H
#define SWITCH_WIRE_H

#include <stddef.h>
#include <stdint.h>

#include <libdart/rdma/read_plan.h>

#define WIRE_CALL_MAX	4096		/* bytes */
#define WIRE_ANSWER_MAX	(16 << 20)	/* likewise */

struct wire {
	int socket;
	int error;		/* -errno of the first mistake, or 0 */
	char why[DART_ERROR_MAX]; /* and what it was */
	int64_t call_end;	/* ms of CLOCK_MONOTONIC */
	int64_t end;		/* of the whole conversation, likewise */
	uint32_t answer_left;	/* bytes that may still come */
	uint32_t out_length;
	uint32_t in_start, in_end;
	uint8_t out[WIRE_CALL_MAX];
	uint8_t in[65536];
};

/* @name: "HOST:PORT".  Returns 0 or -errno, and a sentence in wire->why. */
int wire__connect(struct wire *wire, const char *name);
void wire__close(struct wire *wire);

void wire__put(struct wire *wire, const void *bytes, uint32_t length);
/* Sends what has been put.  The time for its answer begins. */
void wire__send(struct wire *wire);
void wire__get(struct wire *wire, void *bytes, uint32_t length);
/* Bytes that may still come in this answer. */
uint32_t wire__left(const struct wire *wire);

/* The first mistake counts. */
__attribute__((format(printf, 3, 4)))
void wire__fail(struct wire *wire, int error, const char *format, ...);

#endif /* SWITCH_WIRE_H */
