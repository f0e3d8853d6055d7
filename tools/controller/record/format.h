/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The format of recordings, which contain the scrapes of a controller as they landed.
 *
 * All numbers are little-endian.  Everything begins at a multiple of 8 bytes, and padding is 0.
 * Checksums are XXH64 with seed 0.
 *
 * Files.  A file consists of a header and chunks.  A recording consists of one file or several.
 * Each file can be read alone; all files of a recording contain the same random number, and count
 * from 0.
 *
 *   +--------+------------------------+------------------------+--
 *   | file   | chunk  | zstd frame    | chunk  | zstd frame    | ...
 *   | header | header | of records    | header | of records    |
 *   +--------+------------------------+------------------------+--
 *     64 B     64 B     stored_length   64 B
 *
 * Chunks.  Each chunk is complete in itself: its header contains a checksum of the header, a
 * checksum of the stored bytes, and the range of times of its records.  So a reader that looks for
 * other times skips a chunk without decompressing it.  After a damaged chunk a reader continues
 * with the next chunk: after the stored bytes if the header is intact, otherwise at the next intact
 * header, at a multiple of 8 bytes.  A file that ends in the middle of a chunk was cut, or its
 * recorder was killed.
 *
 * Records.  A chunk contains either definitions (RECORD_CHUNK_DEFINITIONS), which later chunks of
 * the file need whatever times are read, or events:
 *
 *   definitions  RECORD_TARGET   an agent, by a number that is unique in the recording
 *                RECORD_TABLE    the bytes of its table as they were fetched, and the READs
 *                                that the controller planned from it; replaces the previous
 *                                table of the agent
 *   events       RECORD_SCRAPE   the landed bytes of all READs, and when they landed
 *                RECORD_LOST     the controller could no longer scrape the agent
 *                RECORD_REMOVED  the controller removed the agent, or stands by for it: its
 *                                number ends, unless definitions follow that have it again
 *
 * A scrape may be a difference: its bytes are XORed with the bytes of the scrape of the same table
 * @previous bytes earlier in the same chunk, which must be decoded first.  Most values do not
 * change between two scrapes, so most of these bytes are 0.
 *
 * How to find a value: the table names the address of each copy of an entry (see <dart/control.h>),
 * and the READ that covers the address says where its first byte landed.  The last READ is the one
 * of the table's header.
 */
#ifndef CONTROLLER_RECORD_FORMAT_H
#define CONTROLLER_RECORD_FORMAT_H

#include <linux/types.h>

#define RECORD_FILE_MAGIC "DARTREC\n" /* without the NUL */
#define RECORD_VERSION 1
#define RECORD_ALIGNMENT 8

struct record_file_header {
	__u8 magic[8];
	__le32 version;
	__le32 length; /* of this header, after which the first chunk follows */
	__u8 recording[16]; /* random */
	__le64 number; /* of the file in its recording, from 0 */
	__le64 started_ns; /* start of this file, by CLOCK_REALTIME of the recorder */
	__le64 reserved; /* 0 */
	__le64 checksum; /* of the bytes before it */
};

#define RECORD_CHUNK_MAGIC 0x6b434452U /* "RDCk" */
#define RECORD_CHUNK_DEFINITIONS 1 /* flag; all other bits are 0 */
/*
 * Limit of the uncompressed records of a chunk: the largest scrape or table, with its record
 * headers.
 */
#define RECORD_CHUNK_MAX (320U << 20)

struct record_chunk_header {
	__le32 magic;
	__le32 flags;
	__le32 stored_length; /* bytes after this header, without up to 7 bytes of padding */
	__le32 raw_length; /* bytes of the decompressed records */
	__le32 records; /* number of records */
	__le32 reserved; /* 0 */
	/* Range of the events' times, see time_ns below; 0 for definitions. */
	__le64 first_ns;
	__le64 last_ns;
	__le64 stored_checksum; /* of the stored bytes */
	__le64 number; /* of the chunk in its file, from 0 */
	__le64 checksum; /* of the bytes before it */
};

enum record_type {
	RECORD_TARGET = 1,
	RECORD_TABLE = 2,
	RECORD_SCRAPE = 3,
	RECORD_LOST = 4,
	RECORD_REMOVED = 5,
};

/* Begins each record.  Readers skip unknown types. */
struct record_head {
	__le32 type;
	__le32 length; /* including this head; a multiple of 8 */
};

struct record_target {
	struct record_head head;
	__le32 target; /* number of the agent */
	__le16 name_length; /* HOST:PORT; texts contain no NUL */
	__le16 labels_length; /* a JSON object in ASCII; 0 without labels */
	__le64 interval_ns; /* between scrapes; 0 if unknown */
	/* name and labels follow */
};

struct record_read {
	__le64 address; /* on the agent's host */
	__le64 landing; /* offset of the landed bytes in the scrape */
	__le32 length;
	__le32 rkey;
};

struct record_table {
	struct record_head head;
	__le32 target;
	__le32 read_count; /* at least one */
	__le64 number; /* number of the table, unique in the recording */
	__le32 table_length;
	__le32 landing_length; /* bytes of each scrape */
	__le32 names_length; /* in bytes; 0 if all entries are scraped */
	__le32 reserved; /* 0 */
	/*
	 * These follow: the READs as struct record_read; the table, padded to a multiple of 8; the
	 * requested names of entries, or patterns, each with a NUL.
	 */
};

/* @time_ns is the recorder's time.  Older recordings contain the host's time. */
#define RECORD_SCRAPE_OWN_TIME (1 << 0)

struct record_scrape {
	struct record_head head;
	__le64 table;
	__le64 sequence; /* of this agent, from 1 */
	__le64 time_ns; /* start of the scrape by CLOCK_REALTIME, of the machine that @flags tell */
	/* CLOCK_MONOTONIC of the recorder, like the next two members: start of the scrape */
	__le64 start_ns;
	__le64 landed_ns; /* landing of the last byte */
	__le64 end_ns; /* end of decoding */
	__le64 clock_offset_ns; /* signed: the host's clock minus the recorder's */
	__le64 clock_uncertainty_ns; /* 0 if the host did not tell its time */
	__le64 bytes; /* of all READs, or of the answers */
	__le64 failed; /* failed scrapes of this agent so far */
	__le64 missed;
	__le32 reads; /* number of READs, or of requests */
	__le32 previous; /* distance to the previous scrape; 0: the bytes are not a difference */
	__le32 landing_length; /* same as in the table */
	__le32 flags; /* RECORD_SCRAPE_... */
	/* the landed bytes follow */
};

struct record_lost {
	struct record_head head;
	__le32 target;
	__le32 reason_length;
	__le64 time_ns; /* CLOCK_REALTIME of the recorder */
	__le64 monotonic_ns; /* CLOCK_MONOTONIC of the recorder */
	/* the reason follows, a sentence without NUL */
};

struct record_removed {
	struct record_head head;
	__le32 target;
	__le32 reserved; /* 0 */
	__le64 time_ns; /* as in struct record_lost */
	__le64 monotonic_ns;
};

static inline __u64 record__align(__u64 length)
{
	return (length + RECORD_ALIGNMENT - 1) / RECORD_ALIGNMENT * RECORD_ALIGNMENT;
}

#endif /* CONTROLLER_RECORD_FORMAT_H */
