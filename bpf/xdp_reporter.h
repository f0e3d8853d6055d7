/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Configuration and counters of the XDP reporter, for its programs and their loader.  A file that
 * includes this must first define the fixed-width types, and the tags of dart_tags.h or empty
 * macros in their place.
 */
#ifndef XDP_REPORTER_H
#define XDP_REPORTER_H

#include <dart/journal.h>
#include <dart/sketch.h>

/* Values are paths: the node IDs of the last hops, starting with the last one. */
#define REPORTER_HOPS	5
#define REPORTER_VALUE	(4 * REPORTER_HOPS)	/* bytes */

/* The CRCs that the reporter computes: indices of their tables. */
enum reporter_crc {
	REPORTER_CRC_SLOT_0,
	REPORTER_CRC_CHECKSUM_0 = REPORTER_CRC_SLOT_0 + 8,
	REPORTER_CRC_CHECKSUM_1,
	REPORTER_CRC_SHARE,
	REPORTER_CRCS,
};

/* The effect of a byte on the register of a CRC, if 0 to 3 others follow it in its word. */
struct reporter_crc_tables {
	__u32 after[4][256];
};

/*
 * A report begins with a part that is the same for all reports to a collector,
 * except for the source port; variable words follow.
 */
#define REPORTER_CONSTANT	50	/* bytes: up to the first half of the BTH */
#define REPORTER_WORDS		12	/* PSN, RETH, payload: as many at most */

#define COLLECTOR_NONE		0xffffffff

/* Read as one word, because both members change when a share moves. */
struct reporter_share {
	__u32 collector;	/* its number, or COLLECTOR_NONE */
	/* register of the ICRC after the BTH, for PSN 0 */
	__u32 icrc;
} __attribute__((aligned(8)));

/* The geometry of the journal that the program appends to; all 0 if it reports to stores. */
struct reporter_journal {
	__u8 lists_log2;
	__u8 batches_log2;
	__u8 batch_log2;
	__u8 entry_length;
};

/*
 * A list of a journal.  The number of the batch in progress is @batches, from 0 on.  @bytes
 * contains its entries, each at its place in the batch; the other bytes before the CRC are 0, and
 * the bytes from the CRC on are not used.
 */
struct reporter_list {
	struct bpf_spin_lock lock;
	__u32 count;		/* entries in the batch */
	__u32 written;		/* entries that a WRITE contained */
	__u32 reserved;
	__u64 batches;
	__u64 since;		/* ns: when the first entry came that no WRITE contained */
	__u8 bytes[DART_JOURNAL_BATCH_MAX + DART_JOURNAL_ENTRY_MAX];
};

/* How the program gathers postcards; all 0 if it does not. */
struct reporter_translation {
	__u64 age_ns;		/* after which a path is reported, and its row is free */
	__u32 rows_log2;
	__u16 port;		/* UDP port of postcards, in network order */
	__u16 reserved;
};

/*
 * A row of a translator: the postcards of a path.  The key and the values that are not known are
 * followed by zeros.
 */
struct reporter_row {
	struct bpf_spin_lock lock;
	__u32 key_length;	/* 0: the row is free */
	__u32 hops;
	__u32 is_reported;
	__u64 since;		/* ns: when the first postcard came */
	__u32 key[11];
	__u32 values[REPORTER_HOPS];	/* in network order */
};

/* How the program adds up the strips of sketchers; all 0 if it does not. */
struct reporter_merging {
	__u64 age_ns;		/* after which a sum is written that lacks sketchers */
	__u64 forget_ns;	/* after which a sum makes room for an earlier period, too */
	__u64 sketchers;	/* a bit for each of them */
	__u32 strips_log2;	/* of a bank */
	__u32 rows;
	__u32 kind;		/* DART_SKETCH_... */
	__u32 period;		/* s */
};

/* The sum of all strips of one period and number: see <dart/sketch.h>. */
struct reporter_sum {
	struct bpf_spin_lock lock;
	__u32 period;		/* 0: no strip has come yet */
	__u32 reporters;
	__u32 written;		/* reporters of the last WRITE of this sum */
	__u64 sketchers;	/* bits of those whose strips are in it */
	__u64 begun;		/* ns: when the first strip of the period came */
	__u64 since;		/* ns: when the first strip came that no WRITE contained */
	__u32 counters[DART_SKETCH_STRIP_COLUMNS * DART_SKETCH_ROWS_MAX];
};

/* The memory that reports go to, and how many slots of a key they fill there. */
struct reporter_memory {
	__u32 rkey;		/* in network order */
	__u32 redundancy;
	__u64 base;
};

/*
 * A change of the memory alone, as at a rotation of the store, writes the memory that is not in
 * use first, and then its index: programs that run meanwhile see one or the other.
 */
struct reporter_collector {
	__u8 constant[REPORTER_CONSTANT];
	__u8 slots_log2;	/* of a store; columns of a sketch */
	__u8 redundancy_max;	/* of all memories of the store */
	struct reporter_journal journal;
	__u32 out_interface;	/* number of the interface that reports leave through */
	__u32 current;		/* index of the memory in use */
	__u32 is_reliable;	/* its connection is: a struct reporter_sequence has the PSNs */
	__u32 kind;		/* of a sketch */
	struct reporter_memory memories[2];
};

/* Each frame is counted once.  A row for each CPU, on cache lines of its own. */
struct reporter {
	__u64 reports DART_COUNTER DART_UNIT("frames");	/* WRITEs sent */
	__u64 appended DART_COUNTER DART_UNIT("frames");	/* their entries wait in a batch */
	/* Postcards that wait in a row, and strips that wait in a sum. */
	__u64 gathered DART_COUNTER DART_UNIT("frames");
	/* These were passed on unchanged: no telemetry, */
	__u64 others DART_COUNTER DART_UNIT("frames");
	/* a header that exceeds the frame, */
	__u64 truncated DART_COUNTER DART_UNIT("frames");
	/* another version or type, or lengths that contradict one another, */
	__u64 malformed DART_COUNTER DART_UNIT("frames");
	/* a path that lacks hops (E, M), */
	__u64 incomplete DART_COUNTER DART_UNIT("frames");
	/* no node IDs, */
	__u64 anonymous DART_COUNTER DART_UNIT("frames");
	/* a share without a collector, or too long a key or path, */
	__u64 unassigned DART_COUNTER DART_UNIT("frames");
	/* no room in the buffer for the report, */
	__u64 cramped DART_COUNTER DART_UNIT("frames");
	/* a wrong checksum of an IPv4 header, */
	__u64 damaged DART_COUNTER DART_UNIT("frames");
	/* more than two tags of VLANs. */
	__u64 tagged DART_COUNTER DART_UNIT("frames");
	/* Answers of collectors over reliable connections, which no other program gets. */
	__u64 answers DART_COUNTER DART_UNIT("frames");
	/*
	 * Strips that their sum contains already, of a period before that of the sum, or of one that
	 * has not begun.
	 */
	__u64 stale DART_COUNTER DART_UNIT("frames");
} DART_COPIES_ARE_CPUS __attribute__((aligned(64)));

/* Reports to a collector; all CPUs count here, because PSNs are consecutive. */
struct reporter_reports {
	__u64 reports DART_COUNTER DART_UNIT("frames");
	__u32 first_psn;
	__u32 qpn;
	__u32 address[4] DART_ADDRESS;
	char store[64];
} __attribute__((aligned(64)));

/* Bits of the state of a sequence.  All are 0 until the first report. */
#define SEQUENCE_FOLLOWED	0x01	/* the expected PSN is known */
#define SEQUENCE_ASKING		0x02	/* a report that asks is under way */
#define SEQUENCE_FAR		0x04	/* it has a PSN far from the first one */
#define SEQUENCE_REFUSED	0x08	/* the queue pair has sent its NAK of the expected PSN */
#define SEQUENCE_BROKEN		0x10	/* the queue pair is in the error state */

/* The PSNs of reports over a reliable connection. */
struct reporter_sequence {
	struct bpf_spin_lock lock;
	__u32 first_psn;	/* by which queue pairs of one number are told apart */
	__u32 state;
	__u32 next;		/* PSN of the next report */
	__u32 expected;		/* by the queue pair, as the last answer said */
	__u32 top;		/* after all reports that can have arrived */
	__u32 asked_end;	/* after the last report that asked */
	__u32 reserved;
	__u64 asked_at;		/* ns */
	__u64 lost;		/* reports, that are known to be */
	__u64 stops;
};

/* Where answers come from, in network order. */
struct reporter_source {
	__u32 address;
	__u32 queue_pair;
};

#endif /* XDP_REPORTER_H */
