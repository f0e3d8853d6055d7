/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The series of a message, one by one: so a refused message can be counted by host, and sent again
 * in pieces, until the series that the receiver refuses is alone.  Pure functions; messages come
 * from files and are not trusted.
 *
 * The format of the message defines a series: for InfluxDB each line counts as one.
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
	size_t begin, end; /* in the bytes of the message */
	uint32_t samples;
	uint32_t host; /* index */
	uint64_t hash; /* of its labels, see pieces__hash(); others: of its bytes */
};

struct pieces_host {
	uint64_t hash;
	char name[PIECES_HOST_MAX]; /* cut off if it is longer; "" without the label */
	uint64_t samples;
	uint32_t series;
};

struct pieces {
	const struct format *format;
	struct bytes bytes; /* the message, unpacked */
	struct bytes common; /* the bytes that each piece begins with, such as symbols */
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
 * which may be refused for the same reason, part at once.  Returns 0; -EINVAL if there is one
 * series; -ENOMEM.
 */
int pieces__split(const struct pieces *pieces, struct message **first, struct message **second);

/* The sum of labels that the formats of remote write give to a series. */
uint64_t pieces__hash(const struct merged_labels *labels);

/* ---- for the operation read() of a format */

/* A series that is being read; zeros before its first label. */
struct found_series {
	const void *host; /* the text of PIECES_HOST_LABEL */
	size_t host_length;
	uint64_t hash;
	uint32_t samples;
};

/* The next label of @found, in the order of names. */
void found_series__take_label(struct found_series *found, const void *name, size_t name_length,
			      const void *value, size_t value_length);
/* Adds @found, whose bytes of the message are from @begin to @end.  Returns 0 or -ENOMEM. */
int pieces__add(struct pieces *pieces, const struct found_series *found, const uint8_t *begin,
		const uint8_t *end);

#endif /* CONTROLLER_PIECES_H */
