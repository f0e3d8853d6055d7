/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * The control region: place and type of all values in the memory of a monitored host.
 *
 * The agent writes the control region, controllers fetch it with one RDMA READ (ZERO,
 * section 4.2, "control plane") and then READ the data by themselves.  The control
 * region consists of a header followed by seven sections.  All integers are
 * little-endian and of fixed width.  All references are indices or byte offsets, never
 * pointers.  Sections are 8-byte aligned, in the order below, and do not overlap; bytes
 * between the end of a section and the next section have no meaning and leave the
 * section room to grow.  A table that breaks a rule of this header is refused as a
 * whole.  Numbers that an enum does not list and undefined flags break the rules, too:
 * an agent that adds kinds increments the ABI version.
 *
 *   +--------+----------------+---------+--------+---------+--------+---------+
 *   | header | memory regions | entries | ranges | schemas | fields | strings |
 *   +--------+----------------+---------+--------+---------+--------+---------+
 *   | CPU sets |
 *   +----------+
 *
 *   memory region  the memory that one rkey opens for RDMA READ
 *   entry          one registered object: a name, a schema, a number of copies
 *   range          some bytes of some copies of an entry, and their location
 *   schema, field  the meaning of the bytes of one copy
 *   CPU sets       two bitmaps of 64-bit words, each as many as the header's cpus
 *                  need: bit b of word w is CPU 64 w + b, and bits from cpus on are 0.
 *                  First the CPUs that were online when the table was written, at least
 *                  one; then the CPUs of nohz_full=, on which fields with
 *                  DART_CONTROL_FIELD_LAGS lag
 *   string         ASCII 0x20 to 0x7e, ended by NUL; the section begins with
 *                  the empty string and ends with NUL
 *   name           of an entry or a field: a string of letters, digits and
 *                  "_-.:/@+=%~[]", 1 to DART_CONTROL_ENTRY_NAME_MAX - 1 of them for
 *                  an entry, 1 to DART_CONTROL_NAME_MAX - 1 for a field
 *
 * References can form neither loops nor aliases: the ranges of entry i follow the
 * ranges of entry i-1 without a gap, as the fields of schema i follow the fields of
 * schema i-1; no range or field is left over.  Memory regions, schemas and strings need
 * not be referred to.  Within an entry the ranges are ordered by their first copy, then
 * by their offset in the copy; the copies 0 ... n-1 are divided into consecutive
 * groups, and each group lists the same runs of bytes, so that every field of the
 * schema lies wholly inside one run, for every copy.  Bytes outside all runs are not
 * part of the entry, but one READ may fetch all bytes of a memory region, including the
 * bytes between runs or copies, whose contents have no meaning.
 *
 * Changing.  The agent changes the table in place: it sets generation_begin to the next
 * number, writes the rest, and sets generation_end to the same number last.  A table is
 * whole if both agree and the checksum fits; the InfiniBand architecture (volume 1,
 * chapter 9) does not promise in which order the bytes of one READ are fetched, so the
 * checksum decides.  A controller that READs the header after its data, and finds the
 * generation that it knows, can rely on every range that it used.  A range that the
 * agent takes back stays readable for lease_ms after the table has changed, so a scrape
 * in flight never fails because of a change; a controller that last read the generation
 * more than half a lease ago reads it again before the data.  If the header after the
 * data then shows another generation of the same instance, the data are valid if they
 * landed within lease_ms of that earlier read.
 *
 * Lingering.  When the object of an entry ends, such as a process with its slice or a
 * cgroup, the agent may leave the entry in the table with its final bytes, for two
 * intervals of the slowest connected controller, and at least for a lease.  So a
 * controller sees each object with its final values, also an object that lives for less
 * than its interval.  An entry leaves earlier if too many linger, or if a new entry needs
 * its name.  Nothing in the table tells that an object has ended.  The agent may list the
 * entry at another place, with the same name, schema and member since, and the final bytes
 * in other memory.
 *
 * Mirrors.  A controller may offer a mirror: memory that the agent may WRITE to.  After
 * each change of the table the agent WRITEs the blocks of DART_CONTROL_BLOCK bytes that
 * changed since the accept, or since its last such update, to the same offsets of the
 * mirror, as far as it reaches, perhaps with others between them.  The last WRITE of an
 * update, which may be of no bytes, carries immediate data, which have no meaning.  An
 * update begins at least DART_CONTROL_UPDATE_MS after the one before, and after its
 * completion, so one update may carry several changes.  A controller copies each table
 * that it READs into the mirror; after an update the mirror should then be a whole
 * table, which the controller treats like one that it READ.  But an update is only a
 * hint: if the checksum does not fit, because the agent changed the table or the
 * controller copied one meanwhile, or if the table is longer than the mirror, the
 * controller READs the table.  An update may be late, so it does not tell that its table
 * is current; but each range of it was readable later than the last moment at which the
 * controller knew an earlier generation to be current.  So data of such a range that
 * landed within lease_ms of that moment are valid without another look at the
 * generation.
 *
 * The time to add or remove an entry does not depend on the number of entries.  The
 * checksum is a sum, modulo 2^64: for each block i of DART_CONTROL_BLOCK bytes, of which
 * the last may be shorter, XXH64 with seed i, where the checksum itself is taken as 0;
 * so the agent hashes only the blocks that change.  A new entry goes into the free room
 * after each section.  A removed entry keeps its place and its ranges and gets the kind
 * DART_CONTROL_ENTRY_GONE; for a reader only its members first_range and ranges keep
 * their meaning, and its member since becomes the first generation without the entry.
 * (The agent keeps the schema of the removed entry for callers that still ask for its
 * values, see <dart/rpc.h>.) When room runs out, or too many entries were removed, the
 * agent writes all sections again, perhaps at other offsets.
 *
 * The values themselves are in the byte order of the host, which is
 * little-endian: the agent does not run on others.
 *
 * Sequences.  An integer at a multiple of its width is fetched whole, but a row of
 * several integers, or an integer elsewhere, may be fetched while it is being written.
 * So a schema of rows can have sequence fields.  Then a row is whole lines of
 * DART_CONTROL_LINE bytes at multiples of that, and so are its ranges and their memory
 * regions; each line begins and ends with a sequence, a schema contains no other
 * sequences, and all sequences of a schema are of one width.  The writer of a row sets
 * all its sequences to the next odd number, writes the rest of the row, and sets all
 * its sequences to the next even number, which is not 0.  Its stores become visible in
 * this order, each at one moment: where processors reorder stores, barriers stand
 * between the three steps (dma_wmb() in the module, in eBPF programs atomics that are
 * full barriers).  No number is used again, even by the next owner of
 * the row, while a READ that fetched it may still be in progress: 4 bytes are enough
 * for a count that continues from owner to owner.  A reader finds
 *
 *   all 0                     an empty row, to be skipped
 *   all the same even number  a whole row, as of one moment
 *   anything else             a torn row, to be discarded and read again in the
 *                             next cycle
 *
 * This holds however long fetching is paused, and for lines that are fetched in any
 * order, as long as the bytes of a line are fetched from its first to its last, from
 * its last to its first, or at one moment.  Suppose that a reader finds the same even
 * number s, not 0, at both ends of a line.  One end was fetched at a moment t, then the
 * values of the line, then the other end at a moment u.  At t the writer had written s
 * to the one end, so it had written all values of s before.  At u it had not made the
 * other end odd again, so it had changed no value since.  Therefore the line holds the
 * values of update s; if all lines show s, the whole row does.  This also holds for
 * sequences that are fetched byte by byte, as long as fewer than 128 updates pass
 * during the READ and the row is not emptied: then the equal lowest bytes of both ends
 * were fetched at t and u.
 *
 * Hosts.  Neither the InfiniBand architecture nor PCI Express promises an order of the
 * bytes of one READ, but this is how hosts fetch:
 *
 *   adapter    reads aligned lines, each at one moment, in any order, through the
 *              caches of the processors.
 *   agent      copies values for a caller over TCP from the first to the last, each
 *              load before the next one (acquire).
 *   soft-RoCE  copies each packet with memcpy() of the kernel and can be paused
 *              anywhere.  On x86 it copies from either end, and loads are in program
 *              order.  On arm64 it breaks the rule above: memcpy() of 65 to 128 bytes
 *              loads the last 32 bytes before those in the middle, and the processor
 *              may reorder loads within a line.  The same is true of soft-iWARP.
 *
 * So over an adapter and over TCP the sequences decide on x86 and arm64, and over
 * soft-RoCE on x86.  A controller that reads rows over soft-RoCE on arm64 may take a row
 * for whole that mixes values of two updates; single integers stay whole.  Agents and
 * doctors on such hosts say so, and advise to call the agent over TCP.
 *
 * To make packets end at the end of a line, a READ of such rows begins and ends at a
 * multiple of DART_CONTROL_LINE.
 *
 * A reader treats the table as hostile: copy, check, use.
 */
#ifndef _UAPI_DART_CONTROL_H
#define _UAPI_DART_CONTROL_H

#include <linux/types.h>

#define DART_CONTROL_MAGIC	0x4c52544354524144ULL	/* "DARTCTRL" */
#define DART_CONTROL_ABI_VERSION 4

/* TCP port space of the RDMA CM. */
#define DART_CONTROL_PORT	4792

/*
 * Settings of a controller's RC queue pair: how long it waits for an acknowledgment,
 * 4.096 us << DART_CONTROL_ACK_TIMEOUT (268 ms), and how often it retransmits.  So a
 * READ ends within DART_CONTROL_RETRIES_MS, answered or not.  (The InfiniBand
 * architecture, volume 1, section 9.7.6.1.3, lets an adapter wait up to four times as
 * long.)  An agent gives leases of at least twice that time: a READ that begins in the
 * first half of a lease ends within it, even after retransmissions.
 */
#define DART_CONTROL_ACK_TIMEOUT	16
#define DART_CONTROL_RETRY_COUNT	6
#define DART_CONTROL_RETRIES_MS						\
	(((4096ULL << DART_CONTROL_ACK_TIMEOUT) *			\
	  (DART_CONTROL_RETRY_COUNT + 1) + 999999) / 1000000)

/* Bytes of a block of the checksum. */
#define DART_CONTROL_BLOCK	256

/* Shortest time between the beginnings of two updates of a mirror, in ms. */
#define DART_CONTROL_UPDATE_MS	10

/* Bytes of a line of a row with sequences. */
#define DART_CONTROL_LINE	64

/* Limits; a table beyond one of them is refused. */
#define DART_CONTROL_LENGTH_MAX	(16 << 20)	/* bytes of a table */
#define DART_CONTROL_MIRROR_MAX	(1 << 20)	/* bytes of a mirror */
#define DART_CONTROL_COPIES_MAX	(1 << 20)	/* copies of an entry */
#define DART_CONTROL_VALUE_MAX	(1 << 20)	/* bytes of a copy */
#define DART_CONTROL_DATA_MAX	(256 << 20)	/* bytes of all copies */
#define DART_CONTROL_NAME_MAX	256		/* bytes of a string, with a NUL */
/*
 * Bytes of the name of an entry, with a NUL: a path is at most 4,095 bytes long, each byte
 * can become %XX, and the agent adds a source and an interval.
 */
#define DART_CONTROL_ENTRY_NAME_MAX 16384
#define DART_CONTROL_NODE_NAME_MAX 72		/* bytes, with a NUL */

struct dart_control_section {
	__le32 offset;		/* bytes from the first byte of the header */
	__le32 count;		/* elements; bytes for the strings */
};

enum dart_control_exposure {
	/* memory regions over exactly the bytes of the variables */
	DART_CONTROL_EXPOSURE_EXACT = 1,
	/* one memory region over whole pages */
	DART_CONTROL_EXPOSURE_PAGE = 2,
};

struct dart_control_header {
	__le64 magic;
	__le32 abi_version;
	__le32 header_size;	/* sizeof(struct dart_control_header) */
	__le64 generation_begin; /* counts changes, from 1 */
	__le64 checksum;	/* of the table_length bytes, see above */
	__le32 table_length;	/* bytes, header and all sections */
	__le32 exposure;	/* enum dart_control_exposure */
	__u8 host_id[16];	/* machine-id(5) as bytes, or zeros */
	__u8 boot_id[16];	/* of this boot of the kernel */
	__le64 instance;	/* random, of this run of the agent, never 0 */
	/*
	 * CLOCK_REALTIME - CLOCK_BOOTTIME in ns when the table was written; an agent writes it
	 * again when CLOCK_REALTIME is set (older ones do not)
	 */
	__le64 clock_offset_ns;
	__le32 cpus;		/* highest possible CPU + 1, not 0 */
	__le32 page_size;	/* bytes, a power of two */
	__le32 lease_ms;	/* how long a removed range stays readable */
	__le32 reserved;	/* 0 */
	struct dart_control_section memory_regions;
	struct dart_control_section entries;
	struct dart_control_section ranges;
	struct dart_control_section schemas;
	struct dart_control_section fields;
	struct dart_control_section strings;
	struct dart_control_section cpu_sets;
	/* uname(2)'s nodename: ASCII 0x20 to 0x7e, NULs to the end */
	char node_name[DART_CONTROL_NODE_NAME_MAX];
	__le64 generation_end;
};

/* The memory that one rkey opens for RDMA READ: [address, address + length). */
struct dart_control_memory_region {
	__le64 address;
	__le64 length;		/* bytes, not 0; the end is below 2^64 */
	__le32 rkey;
	__le32 reserved;	/* 0 */
};

enum dart_control_entry_kind {
	DART_CONTROL_ENTRY_SOURCE = 1,	/* per-CPU variable of the kernel */
	DART_CONTROL_ENTRY_MAP = 2,	/* eBPF array map */
	/* per-CPU counters of another module, or that eBPF programs add to */
	DART_CONTROL_ENTRY_COUNTERS = 3,
	DART_CONTROL_ENTRY_SLICE = 4,	/* memory that a process writes */
};

/* Instead of a kind: the entry was removed, see above. */
#define DART_CONTROL_ENTRY_GONE	0

/* ZERO, section 4.2: the three lifetimes of metrics. */
enum dart_control_lifetime {
	DART_CONTROL_LIFETIME_IMMOBILE = 1,
	DART_CONTROL_LIFETIME_DYNAMIC = 2,
	DART_CONTROL_LIFETIME_SERVERLESS = 3,
};

/* The meaning of the copies of an entry. */
enum dart_control_copies {
	DART_CONTROL_COPIES_CPU = 1,	/* copy c is of CPU c: counters add up */
	DART_CONTROL_COPIES_ROW = 2,	/* copy c is row c of a table */
	/* the only copy is a row in which the host added up the copies of all CPUs */
	DART_CONTROL_COPIES_SUM = 3,
};

struct dart_control_entry {
	__le32 name;		/* bytes into the strings; unique */
	__le32 schema;		/* index */
	__le32 kind;		/* enum dart_control_entry_kind */
	__le32 lifetime;	/* enum dart_control_lifetime */
	__le32 copies_are;	/* enum dart_control_copies */
	__le32 copies;		/* 1 ... DART_CONTROL_COPIES_MAX */
	__le32 first_range;	/* index */
	__le32 ranges;		/* at least one */
	/*
	 * The first generation that published this entry.  A counter that falls has
	 * wrapped around at its width if the instance and this number are unchanged;
	 * otherwise it is another counter, or began again.
	 */
	__le64 since;		/* 1 ... generation */
};

/*
 * @length bytes of each of @copies copies.  The bytes of copy @first_copy + i lie at
 * @address + i * @stride; they begin at byte @offset of that copy.
 */
struct dart_control_range {
	__le64 address;
	__le64 stride;		/* bytes, at least @length if copies > 1 */
	__le32 memory_region;	/* index; holds all the bytes */
	__le32 first_copy;
	__le32 copies;
	__le32 offset;		/* bytes */
	__le32 length;		/* bytes, not 0 */
	__le32 reserved;	/* 0 */
};

/*
 * One copy: @length bytes, described by fields that are ordered by their offset
 * and do not overlap.
 */
struct dart_control_schema {
	__le32 name;		/* bytes into the strings: the type's, may be "" */
	__le32 length;		/* bytes of a copy, 1 ... DART_CONTROL_VALUE_MAX */
	__le32 first_field;	/* index */
	__le32 fields;
};

enum dart_control_field_kind {
	DART_CONTROL_FIELD_COUNTER = 1,		/* only grows; copies add up */
	DART_CONTROL_FIELD_GAUGE = 2,		/* goes up and down */
	/*
	 * element i counts the values from 2^i to 2^(i+1) - 1 of the unit, the
	 * first element also 0, the last one also all greater values
	 */
	DART_CONTROL_FIELD_HISTOGRAM = 3,
	DART_CONTROL_FIELD_TEXT = 4,		/* bytes, ended by NUL or width */
	/* tells whether the row is whole, see above: 4 or 8 bytes, unsigned */
	DART_CONTROL_FIELD_SEQUENCE = 5,
	/* IPv6, 16 bytes in network order; an IPv4 address as ::ffff:a.b.c.d */
	DART_CONTROL_FIELD_ADDRESS = 6,
	/*
	 * when the row was written: CLOCK_BOOTTIME of the host, ns; 8 bytes, unsigned;
	 * the first one of a schema counts
	 */
	DART_CONTROL_FIELD_TIME = 7,
};

#define DART_CONTROL_FIELD_SIGNED	(1 << 0)	/* two's complement */
/*
 * A time that the kernel adds up in its ticks.  A CPU of nohz_full= gets no ticks while
 * it runs one task: there the value lags, by up to seconds or as long as the task stays
 * in user space, and then jumps.
 */
#define DART_CONTROL_FIELD_LAGS		(1 << 1)

struct dart_control_field {
	__le32 name;		/* bytes into the strings; unique in a schema */
	__le32 unit;		/* bytes into the strings: "ns", "bytes", "" */
	__le32 offset;		/* bytes from the start of a copy */
	__le32 width;		/* 1, 2, 4, 8; bytes of a text or an address */
	/* elements side by side; 1 except for counters, gauges and histograms */
	__le32 count;
	__le16 kind;		/* enum dart_control_field_kind */
	__le16 flags;
};

/*
 * Private data of the RDMA CM handshake (IBTA volume 1, section 12.6).
 *
 * The connect request identifies the controller; a request without this data is
 * rejected.  The offer of a mirror may follow.  InfiniBand and RoCE pad private data with
 * zeros, to 56 bytes in a request, which hides its end: bytes after both structures must
 * be 0, or the agent rejects the request.
 *
 * The accept tells the location of the control region: a READ of @used bytes at
 * @address fetches the table as of that moment.  While the connection lasts the header
 * stays at @address.  The table may have grown meanwhile, up to @length bytes: a
 * controller whose READ was shorter than the @table_length in the header READs that
 * many bytes.  As many READs may be outstanding as the initiator depth of the accept
 * says: the number that the request asked for, or fewer if the device of the host
 * cannot serve that many.
 */
struct dart_control_request {
	__le64 magic;		/* DART_CONTROL_MAGIC */
	__le32 abi_version;	/* DART_CONTROL_ABI_VERSION */
	/*
	 * How often the controller reads the values, in ms; 0: not told.  See "Lingering".
	 * Agents that do not know this member reject a request in which it is not 0, with a
	 * reason that begins with DART_CONTROL_RESERVED; the controller then connects again
	 * with 0.  It tells only an interval above DART_CONTROL_RETRIES_MS: for a shorter one
	 * agents let entries linger long enough in any case.
	 */
	__le32 interval_ms;
};

/*
 * The offer of a mirror, directly after the request; all 0, or missing: none.  The queue
 * pair of the controller permits REMOTE WRITE, the rkey opens nothing but the mirror, and
 * no other queue pair can use the rkey.  The end of an update waits for a receive of the
 * controller, which limits the rate by them.  On iWARP, which has no immediate data, no
 * mirror is offered.
 * Agents that do not know mirrors reject a request with one, with a reason that ends with
 * DART_CONTROL_TAIL; the controller then connects again without one.
 */
struct dart_control_mirror {
	__le64 address;
	__le32 rkey;
	/* bytes, a multiple of DART_CONTROL_BLOCK, at most DART_CONTROL_MIRROR_MAX */
	__le32 length;
};

/* The reason of older agents ends with it, see struct dart_control_mirror. */
#define DART_CONTROL_TAIL	"but its request has 16 bytes"

/* The reason of older agents, see struct dart_control_request. */
#define DART_CONTROL_RESERVED	"a reserved member of its "

struct dart_control_accept {
	__le64 magic;		/* DART_CONTROL_MAGIC */
	__le32 abi_version;	/* DART_CONTROL_ABI_VERSION */
	__le32 rkey;
	__le64 address;
	__le32 length;		/* bytes that the rkey opens */
	__le32 used;		/* bytes of the table, at least a header */
	/* CLOCK_REALTIME of the host when it accepts, in ns; 0: not told */
	__le64 time_ns;
};

/*
 * The path MTU.  A connect request carries the path MTU of the controller's end, which may be
 * larger than the host's end takes.  So each accept, in all protocols that connect to an agent
 * over RDMA, carries the path MTU of the host's end after its private data, at this offset.
 * Both ends set up their queue pairs with the smaller one.  Older agents send 0 there; a
 * controller then uses its own path MTU.
 */
#define DART_CONTROL_PATH_OFFSET	64	/* bytes from the start of the private data */

struct dart_control_path {
	__le32 mtu;		/* bytes of a packet's payload; 0: not told */
	__le32 reserved;	/* 0 */
};

/*
 * Private data of a rejection by the agent: its version of the protocol that the magic
 * of the request names (this protocol or <dart/store_access.h>), and the reason. Older
 * agents send none.
 */
#define DART_CONTROL_REASON_MAX	128	/* bytes */

struct dart_control_reject {
	__le64 magic;		/* of the protocol */
	__le32 abi_version;	/* that the agent speaks */
	__le32 reserved;	/* 0 */
	char reason[DART_CONTROL_REASON_MAX];	/* ASCII; NULs to the end */
};

#endif /* _UAPI_DART_CONTROL_H */
