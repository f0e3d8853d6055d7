/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The series of a message, one by one: so one that is refused can be counted by host, and sent
 * again in pieces, until what the receiver does not take is alone.  Pure functions; messages
 * come from files, and are not trusted.
 *
 * A series of remote write is one of its message; of InfluxDB, a line.
 */
#ifndef CONTROLLER_PIECES_H
#define CONTROLLER_PIECES_H

#include "bytes.h"
#include "label_set.h"
#include "message.h"

/* The label that names the host of a series. */
#define PIECES_HOST_LABEL "instance"
#define PIECES_HOST_MAX 256

struct pieces_series {
	size_t begin, end;	/* in the bytes; the field's head included */
	uint32_t samples;
	uint32_t host;		/* index */
	uint64_t hash;		/* of its labels, see pieces__hash(); InfluxDB: of its line */
};

struct pieces_host {
	uint64_t hash;
	char name[PIECES_HOST_MAX]; /* cut off if it is longer; "" without the label */
	uint64_t samples;
	uint32_t series;
};

struct pieces {
	enum message_format format;
	struct bytes bytes;	/* the message, not compressed */
	struct bytes common;	/* what all pieces begin with: symbols of 2.0 */
	struct pieces_series *series;
	size_t count, room;
	struct pieces_host *hosts; /* in the order of their first series */
	size_t host_count, host_room;
};

/* Returns 0; -EINVAL if the message cannot be read; -ENOMEM.  The caller clears @pieces. */
int pieces__open(const struct message *message, struct pieces *pieces);
void pieces__clear(struct pieces *pieces);

/* Can it be split? */
static inline bool pieces__are_several(const struct pieces *pieces)
{
	return pieces->count > 1;
}

/*
 * Two messages: half of the hosts each, or of one host every other series each: neighbours,
 * which may be refused for the same reason, part at once.  Returns 0; -EINVAL if there is one series; -ENOMEM.
 */
int pieces__split(const struct pieces *pieces, struct message **first,
		  struct message **second);

/* Of remote write. */
uint64_t pieces__hash(const struct merged_labels *labels);

#endif /* CONTROLLER_PIECES_H */
