/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Messages of <dart/rpc.h>: checks hostile ones, and writes own ones.  Both ends use it.
 */
#ifndef DART_RPC_MESSAGE_H
#define DART_RPC_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <dart/rpc.h>
#include <libdart/error.h>

/* A message that was checked, in the machine's byte order. */
struct dart_rpc_message {
	enum dart_rpc_type type;
	uint32_t id;
	bool is_last;			/* of the parts of an answer */
	union {
		struct dart_rpc_hello_values {
			uint32_t abi_version;	/* only of this one the rest is known */
			uint32_t answer_max, receives;
			uint32_t interval_ms;	/* 0: not told */
		} hello;
		struct dart_rpc_welcome_values {
			uint32_t length, used;	/* bytes of the table */
			uint64_t time_ns;	/* CLOCK_REALTIME of the agent */
		} welcome;
		uint32_t table_length;		/* bytes that are asked for */
		struct {
			uint64_t instance, generation;
			uint32_t runs;
			/* little-endian, any alignment: dart_rpc_message__run() */
			const uint8_t *raw_runs;
		} values;
		struct {
			char store[DART_RPC_STORE_MAX];
			uint64_t since_ns, until_ns;
		} epochs;
		struct dart_rpc_epoch_bytes {
			char store[DART_RPC_STORE_MAX];
			uint64_t since_ns, offset;
			uint32_t length;	/* 1 to DART_RPC_EPOCH_MAX */
			enum dart_rpc_epoch_place place;
		} epoch;
		struct dart_rpc_lookups_wanted {
			char table[DART_RPC_LOOKUP_TABLE_MAX];
			uint64_t first;
			uint32_t epoch;		/* 0: whichever it has */
		} lookups;
		struct dart_rpc_lookup_changes {
			char table[DART_RPC_LOOKUP_TABLE_MAX];
			uint32_t epoch;		/* not 0 */
			uint32_t count;		/* of records, not 0 */
			/* In the bytes of the message, not checked; a multiple of @count. */
			const uint8_t *records;
			uint32_t length;	/* bytes of all of them */
		} changes;
		struct {
			uint32_t offset;	/* bytes before these */
			const uint8_t *data;	/* in the bytes of the message */
			uint32_t length;	/* bytes, not 0 */
		} part;
		struct {
			uint32_t code;		/* enum dart_rpc_error_code, or later */
			uint32_t abi_version;
			char reason[DART_RPC_REASON_MAX + 1];
		} error;
	};
};

/*
 * The bytes of the message that begins with @header, for a stream, in which @most are
 * allowed; 0: the stream is broken.
 */
uint32_t dart_rpc__message_length(const struct dart_rpc_header *header, uint32_t most);

/*
 * Checks @length hostile bytes, a whole message with its header, which must not change
 * meanwhile.  Returns 0, or sets @error and returns -EBADMSG, or -EPROTONOSUPPORT for a
 * welcome of another version.
 */
int dart_rpc_message__decode(const void *bytes, size_t length, struct dart_rpc_message *message,
			     struct dart_error *error);

/* A run of the request for values, its index below @runs. */
struct dart_rpc_entries {
	uint32_t first, count;		/* places; count is not 0 */
};
struct dart_rpc_entries dart_rpc_message__run(const struct dart_rpc_message *message,
					      uint32_t index);

/*
 * The same for a hello and a welcome without a header, as the RDMA CM carries them: at least their
 * structures; the caller checks the bytes after them.
 */
int dart_rpc_hello__decode(const void *bytes, size_t length, struct dart_rpc_hello_values *values,
			   struct dart_error *error);
int dart_rpc_welcome__decode(const void *bytes, size_t length,
			     struct dart_rpc_welcome_values *values, struct dart_error *error);
struct dart_rpc_hello dart_rpc_hello__make(uint32_t answer_max, uint32_t receives,
					   uint32_t interval_ms);
struct dart_rpc_welcome dart_rpc_welcome__make(const struct dart_rpc_welcome_values *values);

/*
 * Write a message to @bytes, with room for it, and return its length.  A part: the data are already
 * at @bytes + DART_RPC_PART_HEAD.
 */
size_t dart_rpc__put_hello(void *bytes, uint32_t answer_max, uint32_t receives,
			   uint32_t interval_ms);
size_t dart_rpc__put_welcome(void *bytes, const struct dart_rpc_welcome_values *values);
size_t dart_rpc__put_get_table(void *bytes, uint32_t id, uint32_t length);
/* The same, and the answer is followed by the message below when the table changes. */
size_t dart_rpc__put_follow_table(void *bytes, uint32_t id, uint32_t length);
size_t dart_rpc__put_changed(void *bytes, uint32_t id);
/* At most DART_RPC_RUNS_MAX of @runs. */
size_t dart_rpc__put_get_values(void *bytes, uint32_t id, uint64_t instance, uint64_t generation,
				const struct dart_rpc_entries *runs, uint32_t count);
/* A @store of at most DART_RPC_STORE_MAX - 1 characters. */
size_t dart_rpc__put_get_epochs(void *bytes, uint32_t id, const char *store, uint64_t since_ns,
				uint64_t until_ns);
size_t dart_rpc__put_get_epoch(void *bytes, uint32_t id, const struct dart_rpc_epoch_bytes *wanted);
/* A @table of at most DART_RPC_LOOKUP_TABLE_MAX - 1 characters. */
size_t dart_rpc__put_get_lookups(void *bytes, uint32_t id,
				 const struct dart_rpc_lookups_wanted *wanted);
/* @changes->length is at most DART_RPC_RECORDS_LENGTH_MAX. */
size_t dart_rpc__put_change_lookups(void *bytes, uint32_t id,
				    const struct dart_rpc_lookup_changes *changes);
size_t dart_rpc__put_part(void *bytes, uint32_t id, uint32_t offset, uint32_t data_length,
			  bool is_last);
/* A longer @reason is cut off. */
size_t dart_rpc__put_error(void *bytes, uint32_t id,
			   enum dart_rpc_error_code code, const char *reason);

#define DART_RPC_PART_HEAD						\
	(sizeof(struct dart_rpc_header) + sizeof(struct dart_rpc_part))

#endif /* DART_RPC_MESSAGE_H */
