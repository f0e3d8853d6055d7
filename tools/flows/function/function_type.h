/* SPDX-License-Identifier: GPL-2.0-only */
/* The state that all network functions have in common, and what each type of them adds. */
#ifndef FLOWS_FUNCTION_TYPE_H
#define FLOWS_FUNCTION_TYPE_H

#include <sys/queue.h>

#include "function.h"
#include "index.h"

/* The first member of the flows of each type. */
struct flow {
	struct index_link link;
	TAILQ_ENTRY(flow) of_queue;
	struct flow_queue *queue; /* that it is in */
	unsigned int timeout;
	enum flow_state state;
	bool is_kept; /* never in the table */
	bool was_entered; /* the table may have entries of it */
	bool is_waiting; /* FLOW_KEPT: for a table; the next comparison enters it */
	bool is_over; /* further packets do not enter it again */
	bool is_idle; /* it ends for no other reason: another packet enters it again */
	bool is_recorded; /* the journal has it */
	uint64_t number; /* as in struct flow_use */
	enum flow_closure closure; /* as the journal has it */
	uint8_t seen; /* entries that a comparison found in the table */
	uint32_t changes; /* since the last comparison, that the table has not made yet */
	uint64_t since_ns; /* when it got this state; FLOW_KEPT: last packet */
	uint64_t used_ns; /* no packet is known to be later */
	uint16_t question; /* that it is in: number of its place, + 1; 0: none */
	uint8_t tries; /* questions without an answer */
	uint8_t stays; /* answers in turn that it is in use */
	bool is_in_wheel;
	uint64_t packets, bytes; /* that the daemon saw */
};

TAILQ_HEAD(flow_queue, flow);

#define AGEING_SLOTS 4096 /* of a second */
#define AGEING_QUESTIONS 128 /* without an answer, at a time */

/* Flows in FLOW_ENTERED, by the time when they may be idle: see wheel__add(). */
struct ageing {
	struct flow_queue slots[AGEING_SLOTS];
	uint64_t next_s; /* time of the first slot that may have flows */
	uint64_t waiting; /* flows in slots */
	struct question {
		struct flow *flows[FUNCTION_QUESTION_FLOWS]; /* NULL: not any more */
		unsigned int count, left; /* flows at first, and now */
		uint64_t asked_ns;
	} questions[AGEING_QUESTIONS];
	uint32_t first, next; /* numbers; the next question is being made */
	bool is_silent; /* the switch answers no questions */
};

/* The first member of each type's state. */
struct function {
	const struct function_type *type;
	const struct policy *policy;
	const struct function_handlers *handlers;
	void *subject;
	struct index flows;
	/* By time-out and state: the flow that waits longest is first. */
	struct flow_queue queues[POLICY_TIMEOUTS][FLOW_STATES];
	struct ageing ageing;
	struct function_counts counts;
	uint64_t now_ns; /* of the last call that told a time */
	bool is_closed;
};

/*
 * Keys of a function whose flows are not between two ends.  Such a flow has one entry, and is none
 * of the journal's: it exists as long as a policy says so.
 */
struct function_keys {
	uint32_t length;
	void (*key)(const struct flow *flow, uint8_t *key);
	/* The flow with this key; NULL: no flow has it, so the entry is removed. */
	struct flow *(*find)(const struct function *function, const uint8_t *key);
	void (*names)(const struct flow *flow, struct flow_names *names);
	struct flow *(*find_named)(const struct function *function, const char *protocol,
				   const char *inside, const char *remote);
};

struct function_type {
	size_t size; /* of its state */
	const struct function_keys *keys; /* NULL: keys of two ends, in both directions */
	uint32_t value_length; /* with addresses of IPv4, and of both families; 0: it has none */
	uint32_t value_length_6;
	const char *const *verdict_names;
	unsigned int verdicts; /* number of names */

	/* The state is zero but for struct function.  Returns 0 or -errno; then free() follows. */
	int (*open)(struct function *function, struct dart_error *error);
	/* Frees all flows, whose end is no end, and what open() made. */
	void (*close)(struct function *function);
	/* As function__set_policy(); it sets function->policy. */
	int (*set_policy)(struct function *function, const struct policy *policy,
			  struct dart_error *error);
	/* *@verdict: what is counted */
	enum function_action (*take)(struct function *function, struct packet *packet,
				     uint64_t now_ns, unsigned int *verdict);
	/* With @keys there is none of find(), record(), restore() and restore_closure(). */
	struct flow *(*find)(const struct function *function, uint8_t protocol,
			     const struct end *inside, const struct end *remote);
	/* The flow is in no index and no queue of struct function any more: frees it. */
	void (*free_flow)(struct function *function, struct flow *flow);
	struct flow_record (*record)(const struct flow *flow);
	int (*restore)(struct function *function, const struct flow_record *record,
		       uint64_t now_ns);

	/* Gives a flow of TCP a connection that was closed like this, or is open. */
	void (*restore_closure)(struct flow *flow, enum flow_closure closure);

	void (*value)(const struct function *function, const struct flow *flow,
		      enum flow_direction direction, uint8_t *value);
	/* With @keys there is none of the next two. */
	/* The flow that has an entry with these ends and this value; otherwise NULL. */
	struct flow *(*flow_of_entry)(const struct function *function, uint8_t protocol,
				      const struct end *source, const struct end *destination,
				      const uint8_t *value, enum flow_direction *direction);
	/* Without a flow: is an entry with these ends and this value one of a lost flow? */
	bool (*is_stray)(const struct function *function, uint8_t protocol,
			 const struct end *destination, const uint8_t *value);

	/* These may be NULL. */
	/* As function__answer() and function__tell_mtu(). */
	bool (*answer)(const struct function *function, struct packet *packet, uint8_t *frame);
	bool (*tell_mtu)(const struct function *function, struct packet *packet, uint16_t mtu,
			 uint8_t *frame);
	const char *(*connection)(const struct flow *flow);
	bool (*is_static)(const struct flow *flow);
	void (*tell_counts)(const struct function *function,
			    void (*tell)(void *subject, const char *group, const char *name,
					 uint64_t count),
			    void *subject);
};

/* ---- flows in the table, by the time when they may be idle */

/* @number: of the first question, which no answer to an earlier process should have. */
void wheel__open(struct ageing *ageing, uint32_t number);
/* Puts a flow into its slot. */
void wheel__add(struct function *function, struct flow *flow);
/* It is about to leave its queue, whatever that is. */
void wheel__forget(struct function *function, struct flow *flow);
/* Puts a flow in a slot or a question into its slot: @used_ns is another time. */
void wheel__move(struct function *function, struct flow *flow);
/* The time-outs of the policy are others. */
void wheel__renew(struct function *function);

/* When the flow may be idle. */
uint64_t wheel__deadline(const struct function *function, const struct flow *flow);
struct question *wheel__question(struct ageing *ageing, uint32_t number);

/* ---- what a type needs */

/* Takes in a flow of the type's, which is zero but for the members of the type. */
void function__add(struct function *function, struct flow *flow, uint64_t hash,
		   unsigned int timeout, enum flow_state state, uint64_t now_ns);
/* For the journal: it begins now, unless it has begun before. */
void function__begin(struct function *function, struct flow *flow);
/* For the journal: its connection is like this now. */
void function__set_closure(struct function *function, struct flow *flow, enum flow_closure closure);
/* Is it being ended, whatever packets come? */
bool function__is_ending(const struct flow *flow);
/* A packet of the flow is here: enters it again if it was asked.  False: it is being ended. */
bool function__use(struct function *function, struct flow *flow, const struct packet *packet,
		   uint64_t now_ns);
/* Changes the table; see struct function_handlers. */
void function__enter(struct function *function, struct flow *flow, uint64_t now_ns);
/* Removes its entries, if any; the flow ends after its time-out. */
void function__ask(struct function *function, struct flow *flow, uint64_t now_ns);
void function__set_timeout(struct function *function, struct flow *flow, unsigned int timeout,
			   uint64_t now_ns);
/* Flags of a value of schemas/nat.yaml, or nat6.yaml: see p4/functions/nat.p4. */
#define VALUE_SOURCE 1
#define VALUE_TRACKED 2
/* Writes such a value: the end that a packet gets, and flags. */
void function__put_value(const struct function *function, uint8_t *value, const struct end *end,
			 uint8_t flags);
/* Reads it.  Returns the flags. */
uint8_t function__get_value(const struct function *function, const uint8_t *value,
			    struct end *end);
/* The flow is over. */
void function__remove(struct function *function, struct flow *flow);

#endif /* FLOWS_FUNCTION_TYPE_H */
