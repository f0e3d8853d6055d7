/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * Requests for values: the agent answers with the bytes of its table, or of entries.
 *
 * A controller that cannot READ the memory of a host, or does not want to, asks the
 * agent for the same bytes: over RDMA with SEND and RECEIVE (ZERO, section 6, "ZERO
 * RPC"), or over TCP.  Here the agent runs for each request.  What arrives is what a
 * READ would have landed, so that a controller decodes both alike, see
 * <dart/control.h>.  All integers are little-endian and of fixed width.
 *
 *   controller                         agent
 *     hello                  ---->
 *                            <----     welcome, or an error and the end
 *     get table              ---->
 *                            <----     parts, the last one marked, or an error
 *     get values             ---->
 *                            <----     parts, the last one marked, or an error
 *     ...
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
 * messages follow each other without a gap, hello and welcome with a header.
 *
 * The table.  The answer is the control region's first bytes, as many as the request
 * wants or the table has, as of one moment: a table that arrives whole is whole.
 *
 * Values.  The request names the entries by their places in the entries section of a
 * table, any number of runs of places in ascending order, and the instance and the
 * generation of that table, which the agent must have published in this run.  Only the
 * bytes of registered entries can be asked for.  The answer consists, without a gap, of
 * the bytes of the entries in this order; of each the ranges in their order; of each
 * range its copies in their order, @length bytes of each (without the bytes between
 * copies, which a READ would fetch, too).  Behind them is the header of the control
 * region as it is then: generation_begin and generation_end are equal, and if they are
 * of a later generation than the request's the values are valid, but the table should
 * be fetched again.
 *
 * A generation that is not the present one can be asked for within lease_ms after the
 * table has changed, unless the agent has written all sections again meanwhile.
 * Otherwise the answer is the error DART_RPC_ERROR_STALE, also instead of the next part
 * if that time ends during an answer: fetch the table and ask again.
 *
 * Aligned integers in the values are whole.  A row that is being written arrives torn,
 * as its sequences show, or whole.
 *
 * Time.  A controller that has not finished the handshake, a request that has begun, or
 * the reception of an answer, its last message included, after lease_ms is disconnected.
 * So an answer must not be larger than the network carries in that time: a controller
 * divides the entries among requests.  A table cannot be divided.
 *
 * Memory.  The agent keeps a few copies of its table for those who fetch it.  When it
 * needs more, the oldest one is withdrawn: the error DART_RPC_ERROR_BUSY comes instead of
 * the next part of it.
 *
 * Both sides treat messages as hostile: copy, check, use.
 */
#ifndef _UAPI_DART_RPC_H
#define _UAPI_DART_RPC_H

#include <linux/types.h>

#define DART_RPC_MAGIC		0x4350525654524144ULL	/* "DARTVRPC" */
#define DART_RPC_ABI_VERSION	1

/* Of TCP.  Over RDMA, DART_CONTROL_PORT. */
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
	/* From the agent */
	DART_RPC_WELCOME = 16,		/* struct dart_rpc_welcome */
	DART_RPC_PART = 17,		/* struct dart_rpc_part */
	DART_RPC_ERROR = 18,		/* struct dart_rpc_error */
};

/* Of a part: the answer ends with it. */
#define DART_RPC_LAST	(1 << 0)

/* The same in all versions, as are the hello and the error. */
struct dart_rpc_header {
	__le32 length;		/* bytes of the message, this header included */
	__le16 type;		/* enum dart_rpc_type */
	__le16 flags;		/* DART_RPC_LAST, otherwise 0 */
	__le32 id;		/* of the request, which chooses it; 0 in the handshake */
	__le32 reserved;	/* 0 */
};

struct dart_rpc_hello {
	__le64 magic;		/* DART_RPC_MAGIC */
	__le32 abi_version;	/* DART_RPC_ABI_VERSION */
	__le32 reserved;	/* 0 */
	/* Of a message to the controller, DART_RPC_ANSWER_MIN ... DART_RPC_ANSWER_MAX */
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

/* Behind the header: */
struct dart_rpc_get_table {
	__le32 length;		/* bytes, at most; at least a header */
	__le32 reserved;	/* 0 */
};

/* A run of entries: places @first ... @first + @count - 1. */
struct dart_rpc_run {
	__le32 first;		/* behind those of the run before */
	__le32 count;		/* not 0 */
};

/* Followed by @runs times struct dart_rpc_run. */
struct dart_rpc_get_values {
	__le64 instance;	/* of the table, as its header has them */
	__le64 generation;
	__le32 runs;		/* 0 ... DART_RPC_RUNS_MAX */
	__le32 reserved;	/* 0 */
};

#define DART_RPC_RUNS_MAX						\
	((DART_RPC_REQUEST_MAX - sizeof(struct dart_rpc_header) -	\
	  sizeof(struct dart_rpc_get_values)) / sizeof(struct dart_rpc_run))

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
};

struct dart_rpc_error {
	__le32 code;		/* enum dart_rpc_error_code */
	__le32 abi_version;	/* that the agent speaks */
	char reason[DART_RPC_REASON_MAX];	/* ASCII; NULs to the end */
};

#endif /* _UAPI_DART_RPC_H */
