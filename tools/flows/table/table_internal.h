/* SPDX-License-Identifier: GPL-2.0-only */
/* A table and the ways to its dartd: for the files table*.c. */
#ifndef FLOWS_TABLE_INTERNAL_H
#define FLOWS_TABLE_INTERNAL_H

#include <dart/registration.h>
#include <libdart/tea/tea_geometry.h>
#include <sys/types.h>

#include "table.h"

#define ENTRY_MAX (DART_TEA_KEY_MAX + DART_TEA_VALUE_MAX)

struct change {
	void *token;
	uint8_t operation; /* DART_REGISTRATION_TABLE_INSERT or _REMOVE */
	uint8_t entry[ENTRY_MAX];
};

/*
 * A way to dartd: its socket, or its port of TLS.  A way calls table__opened() once it has the
 * table, table__changed() after each request of changes, and table__go_away() at any time.
 */
struct table_way {
	/* Before dartd is tried again, and after it was away twice for the same reason. */
	uint64_t pause_us, long_pause_us;
	/* Changes of a request, at most. */
	uint32_t (*batch)(const struct table *table);
	/* Makes table->link.  Returns 0, or -errno with a sentence in @error. */
	int (*prepare)(struct table *table, struct dart_error *error);
	void (*free)(struct table *table);
	/* Connects and asks for the table; likewise.  close() follows a failure. */
	int (*open)(struct table *table, struct dart_error *error);
	/* In any state. */
	void (*close)(struct table *table);
	/* Once it is open: the next entry that the table had then; false: there are no more. */
	bool (*next)(struct table *table, uint8_t entry[static ENTRY_MAX]);
	/* Sends the first changes, see table__take_changes(); as open(). */
	int (*send)(struct table *table, struct dart_error *error);
	/* Has the table the entry of the change @number in the request that was answered? */
	bool (*has_entry)(const struct table *table, size_t number, const struct change *change);
};

struct table {
	const struct table_settings *settings;
	const struct table_handlers *handlers;
	void *subject;
	sd_event *event;
	sd_event_source *timer, *later, *deadline;
	enum { AWAY, OPENING, THERE } state;
	char said[DART_ERROR_MAX]; /* the last reason, told once */

	void *link; /* of the way */
	bool is_asked; /* a request has no reply yet */
	struct dart_tea_geometry geometry; /* once open */
	uint32_t epoch;

	/* A ring of changes: the first @asked are in the request. */
	struct change *changes;
	size_t first, count, size, asked;

	struct change_counts counts;
};

/* Bytes of the record of a change: the operation, the key, the value. */
size_t table__record_length(const struct table *table);
/* Keeps a geometry that fits the settings; likewise. */
int table__take_geometry(struct table *table, const struct dart_tea_geometry *geometry,
			 uint32_t epoch, struct dart_error *error);
/* Compares the entries.  The table may be away afterwards. */
void table__opened(struct table *table);
/* Writes the records of the next request, one after the other; they are asked for. */
void table__take_changes(struct table *table, uint8_t *records);
/*
 * The request was answered: tells who waits for its changes.  @counts: of this request; if entries
 * were refused each one is looked up.  The table may be away afterwards.
 */
void table__changed(struct table *table, const struct change_counts *counts);
/* Sends further changes, if there are any and no request is under way. */
int table__send_changes(struct table *table, struct dart_error *error);
/*
 * A request, or the connection, is under way, and has TABLE_DEADLINE_S: a dartd that is slower is
 * away, so that flows age, and changes do not wait for ever.  Returns 0, or -errno with a sentence.
 */
#define TABLE_DEADLINE_S 10
int table__await(struct table *table, struct dart_error *error);
/* It has been answered. */
void table__answered(struct table *table);
/* Ends the connection; dartd is tried again later. */
void table__go_away(struct table *table, const char *reason);

#endif /* FLOWS_TABLE_INTERNAL_H */
