/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A host of the invented fleet: its table, and values that follow from a rule, so that each
 * sample at a receiver is right or wrong in all bits.
 *
 * The host writes its values for each answer.  Entry 0 is a gathered row, entry 1 a map of
 * FLEET_MAP_ROWS rows.  Word @word of copy @copy of entry @entry is
 *
 *   host * 1000003 + entry * 100003 + copy * 10007 + word * 1009 + epoch * 37 + update * (word + 1)
 *
 * @update counts the answers of an epoch from 1, and @epoch the starts of the host from 1.  The
 * row contains host, epoch and update unchanged, and then FLEET_ROW_VALUES words of the rule.
 *
 * Hosts of one kind are good; each other kind breaks one thing, at moments that its seed chooses.
 */
#ifndef FLEET_HOST_H
#define FLEET_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <libdart/random.h>
#include <libdart/table/table_writer.h>

enum fleet_kind {
	FLEET_GOOD,
	/* Clocks. */
	FLEET_AHEAD, /* two days */
	FLEET_BEHIND, /* two hours */
	FLEET_STEPS, /* set again and again, by up to three days */
	FLEET_LIES, /* times of rows are any numbers */
	/* Faults in the messages. */
	FLEET_NAMES, /* foreign names, equal names, a name of 3 KB */
	FLEET_TORN, /* the row is always being written */
	FLEET_NOISE, /* bytes that are not TLS */
	FLEET_GARBAGE, /* messages that break a rule, at any point */
	/* How much. */
	FLEET_ENDLESS, /* a table whose last part never comes */
	FLEET_CHANGING, /* a new entry after each answer, while the previous one ends */
	/* When. */
	FLEET_RESETS, /* reboots: another boot ID, counters from 0 */
	FLEET_DIES, /* in the middle of an answer, and stays away for a while */
	FLEET_SILENT, /* does not answer any more on this connection */
	FLEET_KINDS,
};

const char *fleet_kind__name(enum fleet_kind kind);

#define FLEET_ROW_LINES 2
#define FLEET_ROW_VALUES 10
#define FLEET_MAP_ROWS 2
#define FLEET_MAP_WORDS 8
#define FLEET_ENTRIES_MAX 8

struct fleet_host {
	uint32_t index;
	enum fleet_kind kind;
	uint32_t interval_ms; /* the controller scrapes it so often */
	struct dart_random random;
	uint32_t epoch;
	uint64_t update; /* of this epoch */
	uint64_t generation;
	int64_t wrong_ns; /* its CLOCK_REALTIME - the right CLOCK_REALTIME */
	uint32_t guest; /* the number of an entry that comes and goes */
	bool is_row_odd; /* the row that was written last is torn, or its time is a lie */

	uint8_t *memory; /* of the table */
	uint32_t used; /* bytes of the table */
	struct dart_table_writer *writer;
	/* Offsets in the values: bytes of each place of the table. */
	uint8_t *values;
	uint32_t entry_count;
	uint32_t offsets[FLEET_ENTRIES_MAX + 1];
};

/* Greatest length of a table, in bytes. */
#define FLEET_TABLE_MAX 65536

/* Ends the process with a message if memory runs out. */
void fleet_host__open(struct fleet_host *host, uint32_t index, enum fleet_kind kind, uint64_t seed,
		      uint32_t interval_ms);
void fleet_host__close(struct fleet_host *host);

/* CLOCK_REALTIME of the host. */
int64_t fleet_host__now(const struct fleet_host *host);
uint64_t fleet_host__instance(const struct fleet_host *host);

/* True once in @times, by the host's own seed. */
bool fleet_host__chance(struct fleet_host *host, uint32_t times);

/* Between two answers: reboots, sets its clock, changes its table.  True if something happened. */
bool fleet_host__live(struct fleet_host *host);
/* Writes the values of the next update. */
void fleet_host__write(struct fleet_host *host);

#endif /* FLEET_HOST_H */
