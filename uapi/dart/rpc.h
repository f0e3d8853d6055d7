/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * Requests for values: the agent answers with the bytes of its table, or of entries.  Some callers
 * may also change lookup tables of switches.
 *
 * A controller that cannot READ the memory of a host, or does not want to, asks the
 * agent for the same bytes: over RDMA with SEND and RECEIVE (ZERO, section 6, "ZERO
 * RPC"), or over TCP.  Here the agent runs for each request.  The answer contains the
 * same bytes as a READ, so a controller decodes both alike, see <dart/control.h>.  All
 * integers are little-endian and of fixed width.
 *
 *   controller                         agent
 *     hello                  ---->
 *                            <----     welcome, or an error and the end
 *     get table              ---->
 *                            <----     parts, the last one marked, or an error
 *     get values             ---->
 *                            <----     parts, the last one marked, or an error
 *     get epochs             ---->
 *                            <----     parts, the last one marked, or an error
 *     get epoch              ---->
 *                            <----     parts, the last one marked, or an error
 *     get lookups            ---->
 *                            <----     parts, the last one marked, or an error
 *     change lookups         ---->
 *                            <----     parts, the last one marked, or an error
 *     ...
 *                            <----     changed, if a follow table asked for it
 *
 * A controller has one request at a time: it sends the next one after it has the last
 * part or the error.  A message begins with struct dart_rpc_header.  A peer that breaks
 * a rule of this header is disconnected, after an error that says why.
 *
 * Over RDMA the connection is one of the RDMA CM at the port of the control region.
 * Hello and welcome are the private data of the connect request and of its acceptance,
 * without a header; private data as described there.  Every SEND is one message.  The
 * controller has posted the receives that its hello announces, and posts each again when
 * it has used it.  The queue pair of the agent grants no remote access at all.
 *
 * Over TCP the connection begins with TLS 1.3, with certificates of both sides.  The
 * messages follow each other without a gap.  Hello and welcome have a header there, and
 * in this version end with their structures.
 *
 * The table.  The answer consists of the first bytes of the control region, up to the
 * length in the request or the end of the table, as of one moment: a complete answer is
 * a consistent table.  After DART_RPC_FOLLOW_TABLE, which is answered alike, the agent sends
 * DART_RPC_CHANGED, with the id of this request, as soon as its table is another one than that of
 * the answer and no answer is under way: once, so the controller bounds by its requests how often
 * it is told.  A request of the controller may be under way meanwhile.  A later request for the
 * table replaces this one; an error ends it.  An agent that does not know the request disconnects,
 * for a reason that contains DART_RPC_UNKNOWN_TYPE; the controller then connects again, and does
 * without.
 *
 * Values.  The request names the entries by their places in the entries section of a
 * table, any number of runs of places in ascending order, and the instance and the
 * generation of that table, which the agent must have published in this run.  A
 * controller can ask only for bytes of registered entries.  The answer consists,
 * without a gap, of the bytes of the entries in this order; for each entry the ranges
 * in their order; for each range its copies in their order, @length bytes of each
 * (without the bytes between copies, which a READ would fetch, too).  The header of the
 * control region as of that moment follows: generation_begin and generation_end are
 * equal; if they exceed the generation of the request the values are valid, but the
 * controller should fetch the table again.
 *
 * The agent answers requests for an earlier generation until 7/8 of lease_ms, or a bit
 * more, after the table has changed, unless it has written all sections again meanwhile.
 * Otherwise the answer is the error DART_RPC_ERROR_STALE, also instead of the next part
 * if that time ends during an answer: fetch the table and ask again.
 *
 * Aligned integers in the values are whole.  A row that is being written arrives torn,
 * as its sequences show, or whole.
 *
 * Epochs of a store, see <dart/epoch.h>: a reader that asks for a key of the past cannot READ
 * files, so it asks for the list of epochs, and then for the bytes that it needs of each.  The
 * agent only copies bytes: the reader finds the slots of its key, decompresses them and checks
 * them, as it does with a file of the local host.  The answer to the first request is struct
 * dart_rpc_epochs, followed by the epochs in the order of their beginnings, the oldest first; if
 * more epochs overlap the time of the request than one answer has room for, the reader asks again,
 * from the beginning of the next one, which is the end of the last one unless a clock was set
 * back.  The answer to the second request is these bytes of one epoch: of its file, or of its
 * slots in memory.  An epoch that has gone, or that moved from memory to a file, is the error
 * DART_RPC_ERROR_STALE, also instead of the next part: ask for the list again.  A store that does
 * not exist, or has no epochs, and bytes that an epoch does not have, are the error
 * DART_RPC_ERROR_NOT_FOUND; the connection stays.  So is every store for an address that may not
 * READ stores.  An agent that does not know these requests disconnects, as after any rule that is
 * broken.
 *
 * Lookup tables of switches, see <dart/tea.h>: a control plane on another host than the server of a
 * table lists its entries and changes them.  Only over TCP, and only for callers whose certificate
 * has a name that the agent's configuration lists for this; all others get the error
 * DART_RPC_ERROR_REFUSED, and the connection stays.  The answer to DART_RPC_GET_LOOKUPS is struct
 * dart_rpc_lookups, which describes the table, followed by some of its entries, each a key and its
 * value without a gap; the caller asks again from @next on until that is 0.  Entries that move
 * meanwhile may come twice or not at all.  DART_RPC_CHANGE_LOOKUPS carries changes as the request
 * table-change of <dart/registration.h> does: one byte, DART_REGISTRATION_TABLE_INSERT or
 * DART_REGISTRATION_TABLE_REMOVE, then a key and a value.  The agent makes them in their order; the
 * answer has one byte for each, enum dart_rpc_lookup_outcome.  Records that break a rule are the
 * error DART_RPC_ERROR_REFUSED, and none of them is made.  A table that does not exist is the error
 * DART_RPC_ERROR_NOT_FOUND, and another epoch of it than that of the request DART_RPC_ERROR_STALE:
 * list it again.
 *
 * Time.  The agent disconnects a controller that does not finish the handshake, a request
 * that it has begun, or the reception of an answer, its last message included, within
 * lease_ms, unless the agent itself was late.  Over TCP an answer ends when the agent has
 * written its last bytes to its socket; the agent disconnects a controller that does not
 * take these within 90 s.  So an answer must not be larger than the network can carry in
 * that time: a controller divides the entries among requests.  A table cannot be divided.
 *
 * Memory.  The agent keeps a few copies of its table for controllers that fetch it.  When
 * it needs more, it withdraws the oldest copy: it sends the error DART_RPC_ERROR_BUSY
 * instead of the next part of that answer.
 *
 * Both sides treat messages as hostile: copy, check, use.
 */
#ifndef _UAPI_DART_RPC_H
#define _UAPI_DART_RPC_H

#include <linux/types.h>

#define DART_RPC_MAGIC		0x4350525654524144ULL	/* "DARTVRPC" */
#define DART_RPC_ABI_VERSION	1

/* TCP port.  Over RDMA, controllers connect to DART_CONTROL_PORT. */
#define DART_RPC_TCP_PORT	4793

/* Bytes of a message to the agent, and of one from it, at most. */
#define DART_RPC_REQUEST_MAX	4096
#define DART_RPC_ANSWER_MAX	16384
/* A controller may take shorter messages, but not shorter ones than this. */
#define DART_RPC_ANSWER_MIN	512
/* Receives that a hello may announce. */
#define DART_RPC_RECEIVES_MAX	64

#define DART_RPC_REASON_MAX	128	/* bytes */

enum dart_rpc_type {
	/* From the controller */
	DART_RPC_HELLO = 1,		/* struct dart_rpc_hello */
	DART_RPC_GET_TABLE = 2,		/* struct dart_rpc_get_table */
	DART_RPC_GET_VALUES = 3,	/* struct dart_rpc_get_values */
	DART_RPC_GET_EPOCHS = 4,	/* struct dart_rpc_get_epochs */
	DART_RPC_GET_EPOCH = 5,		/* struct dart_rpc_get_epoch */
	DART_RPC_FOLLOW_TABLE = 6,	/* struct dart_rpc_get_table */
	DART_RPC_GET_LOOKUPS = 7,	/* struct dart_rpc_get_lookups */
	DART_RPC_CHANGE_LOOKUPS = 8,	/* struct dart_rpc_change_lookups */
	/* From the agent */
	DART_RPC_WELCOME = 16,		/* struct dart_rpc_welcome */
	DART_RPC_PART = 17,		/* struct dart_rpc_part */
	DART_RPC_ERROR = 18,		/* struct dart_rpc_error */
	DART_RPC_CHANGED = 19,		/* nothing follows the header */
};

/* Flag of a part: the answer ends with it. */
#define DART_RPC_LAST	(1 << 0)

/* The same in all versions, as are the hello and the error. */
struct dart_rpc_header {
	__le32 length;		/* bytes of the message, this header included */
	__le16 type;		/* enum dart_rpc_type */
	__le16 flags;		/* DART_RPC_LAST, otherwise 0 */
	__le32 id;		/* chosen by the request; 0 in the handshake */
	__le32 reserved;	/* 0 */
};

struct dart_rpc_hello {
	__le64 magic;		/* DART_RPC_MAGIC */
	__le32 abi_version;	/* DART_RPC_ABI_VERSION */
	/*
	 * How often the controller asks for values, in ms; 0: not told.  As in struct
	 * dart_control_request: older agents refuse a hello in which it is not 0.
	 */
	__le32 interval_ms;
	/* Longest message to the controller, DART_RPC_ANSWER_MIN ... DART_RPC_ANSWER_MAX */
	__le32 answer_max;	/* bytes */
	__le32 receives;	/* posted: 1 ... DART_RPC_RECEIVES_MAX; TCP: 0 */
};

struct dart_rpc_welcome {
	__le64 magic;		/* DART_RPC_MAGIC */
	__le32 abi_version;	/* DART_RPC_ABI_VERSION */
	__le32 reserved;	/* 0 */
	__le32 length;		/* bytes that a table can have on this host */
	__le32 used;		/* bytes of the table, at least a header */
	/* CLOCK_REALTIME of the host, in ns */
	__le64 time_ns;
};

/* Follows the header. */
struct dart_rpc_get_table {
	__le32 length;		/* bytes, at most; at least a header */
	__le32 reserved;	/* 0 */
};

/* A run of entries: places @first ... @first + @count - 1. */
struct dart_rpc_run {
	__le32 first;		/* after the places of the run before */
	__le32 count;		/* not 0 */
};

/* Followed by @runs times struct dart_rpc_run. */
struct dart_rpc_get_values {
	__le64 instance;	/* of the table, from its header */
	__le64 generation;
	__le32 runs;		/* 0 ... DART_RPC_RUNS_MAX */
	__le32 reserved;	/* 0 */
};

#define DART_RPC_RUNS_MAX						\
	((DART_RPC_REQUEST_MAX - sizeof(struct dart_rpc_header) -	\
	  sizeof(struct dart_rpc_get_values)) / sizeof(struct dart_rpc_run))

#define DART_RPC_STORE_MAX	40	/* bytes of the name of a store, with the NUL */

/* The epochs of a store of which a part lies between two times, both included. */
struct dart_rpc_get_epochs {
	char store[DART_RPC_STORE_MAX];	/* NULs to the end */
	__le64 since_ns;	/* CLOCK_REALTIME */
	__le64 until_ns;	/* not below since_ns */
};

/* Epochs of an answer, at most. */
#define DART_RPC_EPOCHS_MAX	1024

/* The answer to this request begins with it. */
struct dart_rpc_epochs {
	/* Of the store now; each file has its own in its header. */
	__le32 slots_log2;
	__le32 value_length;	/* bytes */
	__le32 checksum_bits;
	__le32 redundancy;	/* slots of a key that readers look at */
	__le32 count;		/* of struct dart_rpc_epoch that follow */
	__le32 reserved;	/* 0 */
	/*
	 * CLOCK_REALTIME: 0, or the beginning of the next epoch.  The answer to a request from
	 * there on repeats epochs of this one whose end is later.
	 */
	__le64 more_ns;
};

enum dart_rpc_epoch_place {
	DART_RPC_EPOCH_FILE = 1,
	DART_RPC_EPOCH_MEMORY = 2,
};

struct dart_rpc_epoch {
	__le64 since_ns;	/* ascending */
	__le64 until_ns;	/* above since_ns; 0: it has not ended */
	__le64 length;		/* bytes of the file, or of the slots */
	__le32 place;		/* enum dart_rpc_epoch_place */
	__le32 reserved;	/* 0 */
};

/* Bytes of an epoch that a request may ask for. */
#define DART_RPC_EPOCH_MAX	(256 << 10)

/* @length bytes at @offset of the file, or the slots, of the epoch that began at @since_ns. */
struct dart_rpc_get_epoch {
	char store[DART_RPC_STORE_MAX];	/* NULs to the end */
	__le64 since_ns;
	__le64 offset;
	__le32 length;		/* 1 to DART_RPC_EPOCH_MAX */
	__le32 place;		/* enum dart_rpc_epoch_place */
};

#define DART_RPC_LOOKUP_TABLE_MAX 40	/* bytes of the name of a lookup table, with the NUL */

/* The entries of a lookup table, from a place on. */
struct dart_rpc_get_lookups {
	char table[DART_RPC_LOOKUP_TABLE_MAX];	/* NULs to the end */
	__le64 first;		/* 0, or @next of the answer before */
	__le32 epoch;		/* of the answer before; 0: the epoch that the table has */
	__le32 reserved;	/* 0 */
};

/* Bytes of an answer, at most. */
#define DART_RPC_LOOKUPS_LENGTH_MAX	(64 << 10)

/* The answer to this request begins with it. */
struct dart_rpc_lookups {
	/* See <dart/tea.h>. */
	__le32 rows_log2;
	__le32 cells;		/* of a bucket */
	__le32 key_length;	/* bytes */
	__le32 value_length;	/* bytes */
	__le32 packet_length;	/* bytes of the longest packet */
	__le32 epoch;		/* not 0 */
	__le32 count;		/* of entries that follow */
	__le32 reserved;	/* 0 */
	__le64 next;		/* above @first of the request; 0: these were the last entries */
};

/*
 * Followed by @count records, 1 to as many as a request has room for, of 1 + key_length +
 * value_length bytes.
 */
struct dart_rpc_change_lookups {
	char table[DART_RPC_LOOKUP_TABLE_MAX];	/* NULs to the end */
	__le32 epoch;		/* of an answer; not 0 */
	__le32 count;
};

#define DART_RPC_RECORDS_LENGTH_MAX						\
	(DART_RPC_REQUEST_MAX - sizeof(struct dart_rpc_header) -	\
	 sizeof(struct dart_rpc_change_lookups))

/* What became of a change. */
enum dart_rpc_lookup_outcome {
	DART_RPC_LOOKUP_INSERTED = 1,
	DART_RPC_LOOKUP_STASHED = 2,	/* inserted, but into the stash */
	DART_RPC_LOOKUP_CHANGED = 3,	/* the key had another value, or this one */
	DART_RPC_LOOKUP_REMOVED = 4,
	DART_RPC_LOOKUP_MISSING = 5,	/* a removal, of a key without an entry */
	DART_RPC_LOOKUP_FOREIGN = 6,	/* not made: the key is another server's */
	DART_RPC_LOOKUP_FULL = 7,	/* not made: no place */
};

/* Followed by bytes of the answer, at least one. */
struct dart_rpc_part {
	__le32 offset;		/* bytes of the answer before this part */
	__le32 reserved;	/* 0 */
};

enum dart_rpc_error_code {
	/* The agent disconnects: the version differs; or a rule was broken. */
	DART_RPC_ERROR_VERSION = 1,
	DART_RPC_ERROR_MALFORMED = 2,
	/* Fetch the table and ask again. */
	DART_RPC_ERROR_STALE = 3,
	/* The agent is short of memory: ask again later. */
	DART_RPC_ERROR_BUSY = 4,
	/* There is no such store or lookup table, or it has no such bytes. */
	DART_RPC_ERROR_NOT_FOUND = 5,
	/* The caller may not do that, or its changes break a rule. */
	DART_RPC_ERROR_REFUSED = 6,
};

struct dart_rpc_error {
	__le32 code;		/* enum dart_rpc_error_code */
	__le32 abi_version;	/* that the agent speaks */
	char reason[DART_RPC_REASON_MAX];	/* ASCII; NULs to the end */
};

/* In the reason of an agent that is older than a request. */
#define DART_RPC_UNKNOWN_TYPE	"is of the unknown type"

#endif /* _UAPI_DART_RPC_H */
