/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The format of recordings: the scrapes of a controller as they have landed.
 *
 * All numbers are little-endian; everything begins at a multiple of 8 bytes, and what lies
 * between two things is 0.  Checksums are XXH64 with seed 0.
 *
 * Files.  A file is a header and then chunks.  A recording is one file or several, each of
 * which can be read alone; they have the same random number, and count from 0.
 *
 *   +--------+------------------------+------------------------+--
 *   | file   | chunk  | zstd frame    | chunk  | zstd frame    | ...
 *   | header | header | of records    | header | of records    |
 *   +--------+------------------------+------------------------+--
 *     64 B     64 B     stored_length   64 B
 *
 * Chunks.  Each is whole in itself: its header has a checksum of its own, one of the stored
 * bytes, and the range of times of its records, so a reader that wants other times leaves it
 * out without decompressing it.  A reader that finds a damaged chunk goes on with the next
 * one: behind the stored bytes if the header is whole, or else at the next header that is
 * whole, at a multiple of 8 bytes.  A file that ends in the middle of a chunk was cut, or its
 * recorder was killed.
 *
 * Records.  A chunk has either definitions (RECORD_CHUNK_DEFINITIONS), which later chunks of
 * the file need whatever times are wanted, or what happened:
 *
 *   definitions  RECORD_TARGET   an agent, by a number that no other one of the recording has
 *                RECORD_TABLE    the bytes of its table as they were fetched, and the READs
 *                                that the controller made of it; takes the place of the
 *                                agent's table before
 *   events       RECORD_SCRAPE   the landed bytes of all READs, and when they landed
 *                RECORD_LOST     the agent could not be scraped any more
 *                RECORD_REMOVED  the agent was not wanted any more: its number ends
 *
 * A scrape may be a difference: its bytes are XORed with those of the scrape of the same
 * table @previous bytes before it in the same chunk, which is decoded first.  Most values do
 * not change between two scrapes, so most of these bytes are 0.
 *
 * Where a value lies: the table names the address of each copy of an entry (see
 * <dart/control.h>), a READ with that address says where its first byte landed.  The last
 * READ is that of the table's header.
 */
#ifndef CONTROLLER_RECORD_FORMAT_H
#define CONTROLLER_RECORD_FORMAT_H

#include <endian.h>
#include <linux/types.h>

#define RECORD_FILE_MAGIC "DARTREC\n" /* without its NUL */
#define RECORD_VERSION 1
#define RECORD_ALIGNMENT 8

struct record_file_header {
	__u8 magic[8];
	__le32 version;
	__le32 length; /* of this header: the first chunk follows */
	__u8 recording[16]; /* random */
	__le64 number; /* of the file in the recording, from 0 */
	__le64 started_ns; /* CLOCK_REALTIME of the recorder: it began this file */
	__le64 reserved; /* 0 */
	__le64 checksum; /* of the bytes above */
};

#define RECORD_CHUNK_MAGIC 0x6b434452U /* "RDCk" */
#define RECORD_CHUNK_DEFINITIONS 1 /* flags; others are 0 */
/*
 * Of the records of a chunk, not compressed: the largest scrape, or a table, and what is
 * beside them.
 */
#define RECORD_CHUNK_MAX (320U << 20)

struct record_chunk_header {
	__le32 magic;
	__le32 flags;
	__le32 stored_length; /* bytes behind this header, then up to 7 of 0 */
	__le32 raw_length; /* bytes of records, decompressed */
	__le32 records; /* how many */
	__le32 reserved; /* 0 */
	/* Times of the events, as time_ns below; of definitions 0. */
	__le64 first_ns;
	__le64 last_ns;
	__le64 stored_checksum; /* of the stored bytes */
	__le64 number; /* of the chunk in the file, from 0 */
	__le64 checksum; /* of the bytes above */
};

enum record_type {
	RECORD_TARGET = 1,
	RECORD_TABLE = 2,
	RECORD_SCRAPE = 3,
	RECORD_LOST = 4,
	RECORD_REMOVED = 5,
};

/* At the beginning of each record.  Readers leave out types that they do not know. */
struct record_head {
	__le32 type;
	__le32 length; /* with this head; a multiple of 8 */
};

struct record_target {
	struct record_head head;
	__le32 target; /* its number */
	__le16 name_length; /* HOST:PORT; texts have no NUL */
	__le16 labels_length; /* a JSON object in ASCII; 0: none */
	__le64 interval_ns; /* between scrapes; 0: not known */
	/* name, labels */
};

struct record_read {
	__le64 address; /* on the host */
	__le64 landing; /* bytes from the first one that has landed */
	__le32 length;
	__le32 rkey;
};

struct record_table {
	struct record_head head;
	__le32 target;
	__le32 read_count; /* one at least */
	__le64 number; /* of the table: no other one of the recording has it */
	__le32 table_length;
	__le32 landing_length; /* of each scrape */
	__le32 names_length; /* bytes; 0: all entries are scraped */
	__le32 reserved; /* 0 */
	/* struct record_read; the table, up to a multiple of 8; the names of the entries that
	 * were asked for, or patterns, each with a NUL */
};

/* The time is that of the recorder, not that of the host, which it was in older recordings. */
#define RECORD_SCRAPE_OWN_TIME (1 << 0)

struct record_scrape {
	struct record_head head;
	__le64 table;
	__le64 sequence; /* from 1, of this agent */
	__le64 time_ns; /* when it was asked for: CLOCK_REALTIME as @flags say */
	__le64 start_ns; /* these three are CLOCK_MONOTONIC of the recorder: asked for, */
	__le64 landed_ns; /* the last byte has landed, */
	__le64 end_ns; /* all values were decoded */
	__le64 clock_offset_ns; /* signed: the host's clock minus the recorder's */
	__le64 clock_uncertainty_ns; /* 0: the host did not tell its time */
	__le64 bytes; /* of the READs, or of the answers */
	__le64 failed; /* scrapes of this agent so far */
	__le64 missed;
	__le32 reads; /* or requests */
	__le32 previous; /* 0: the bytes are as they landed */
	__le32 landing_length; /* that of the table */
	__le32 flags; /* RECORD_SCRAPE_... */
	/* bytes */
};

struct record_lost {
	struct record_head head;
	__le32 target;
	__le32 reason_length;
	__le64 time_ns; /* CLOCK_REALTIME of the recorder */
	__le64 monotonic_ns; /* CLOCK_MONOTONIC of it */
	/* reason: a sentence without NUL */
};

struct record_removed {
	struct record_head head;
	__le32 target;
	__le32 reserved; /* 0 */
	__le64 time_ns; /* as above */
	__le64 monotonic_ns;
};

static inline __u64 record__align(__u64 length)
{
	return (length + RECORD_ALIGNMENT - 1) / RECORD_ALIGNMENT * RECORD_ALIGNMENT;
}

#endif /* CONTROLLER_RECORD_FORMAT_H */
