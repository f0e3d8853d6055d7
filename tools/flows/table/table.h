/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The lookup table of dartd, on this host or on another one: its entries are compared with those of
 * the flows whenever dartd is there again, and changed in the order of the calls, many in one
 * request.  Changes that are not made when dartd goes away are forgotten: the next comparison finds
 * them missing.  Nothing blocks.
 */
#ifndef FLOWS_TABLE_H
#define FLOWS_TABLE_H

#include <stdbool.h>
#include <stdint.h>
#include <systemd/sd-event.h>

#include <libdart/error.h>
#include <libdart/rpc/tls.h>

struct table;

/* Ways to the dartd that has the table: its socket on this host, or TLS to another one. */
extern const struct table_way table_socket, table_remote;

/* Called with the subject. */
struct table_handlers {
	/* dartd is there: an entry; false removes it */
	bool (*see)(void *subject, const uint8_t *key, const uint8_t *value);
	/* these were all */
	void (*compare)(void *subject);
	/*
	 * A change with this token has been made, and so have all before; @is_there: the table has
	 * the entries that it inserted.
	 */
	void (*changed)(void *subject, void *token, bool is_inserted, bool is_there);
	/* The table is there, or no longer, with the reason. */
	void (*connected)(void *subject, bool is_there, const char *reason);
};

/* The dartd of another host.  The strings are the caller's. */
struct table_server {
	const char *address; /* a number: names are not resolved here */
	uint16_t port;
	const char *name; /* in its certificate */
	struct dart_tls_files files; /* of this side, read for each connection */
};

/* Keys and values have these lengths.  The strings are the caller's. */
struct table_settings {
	const struct table_way *way;
	const char *socket; /* of dartd, for table_socket */
	const struct table_server *server; /* for table_remote; otherwise NULL */
	const char *name;
	uint32_t key_length, value_length;
	/* Changes that wait for dartd, at most: then it is taken as away. */
	uint64_t changes_max;
};

/* Returns 0, or -errno with a sentence in @error. */
int table__new(sd_event *event, const struct table_settings *settings,
	       const struct table_handlers *handlers, void *subject, struct table **table,
	       struct dart_error *error);
void table__free(struct table *table);

/* Has it been compared, so that changes reach it? */
bool table__is_there(const struct table *table);
/* Bytes of the longest frame that the switch looks up; 0: the table was never there. */
uint32_t table__frame_length(const struct table *table);
/*
 * Inserts an entry, or removes the entry with this key.  @token comes back once the change and all
 * before it are made; NULL: the change is a part of a later one.  Without a table it does nothing.
 */
void table__insert(struct table *table, const uint8_t *key, const uint8_t *value, void *token);
void table__remove(struct table *table, const uint8_t *key, void *token);

struct change_counts {
	uint64_t inserted, removed; /* as dartd counts them; inserted: changed ones, too */
	uint64_t full, foreign; /* entries that the table does not take */
	uint64_t requests, waiting;
	uint64_t comparisons, stray; /* entries that a comparison removed */
};

const struct change_counts *table__counts(struct table *table);

#endif /* FLOWS_TABLE_H */
