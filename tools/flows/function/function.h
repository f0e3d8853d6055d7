/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A network function: the flows that there are, their entries in the table, and their end.  Pure
 * state: its user tells it packets, times and what became of the table, and it tells its user by
 * handlers what to write to the journal and to the table.  NAT and gateway are types of it, which
 * decide what becomes of a packet (function_type.h).
 *
 * Each flow has two entries in the table, one for each direction, except a kept flow: one that no
 * entry can describe, such as ICMP echoes, which have no key in the switch.  The daemon itself
 * handles all packets of a kept flow.  Flows of a gateway, its tunnels, have one entry each, never
 * age, and are in no journal.
 *
 * Ageing.  The daemon sees no packet of a flow that is in the table, or only packets that end it.
 * The switch stamps its entries, see <dart/tea_use.h>.  So when the time-out has passed since the
 * last packet that is known, the daemon asks the switch for the age of the flow: if it is idle for
 * its time-out, it ends, otherwise it is asked again when it may be.  Another flow with the same
 * stamps makes the answer too young, never too old.
 *
 * The daemon asks in another way if the switch does not answer, or has said so often in turn that
 * the flow is in use that it may be about another flow: it removes both entries, and keeps the
 * flow.  If another packet of the flow comes within another time-out, the flow is in use, and is
 * entered again; otherwise it was idle for at least a whole time-out, and ends.
 */
#ifndef FLOWS_FUNCTION_H
#define FLOWS_FUNCTION_H

#include "tools/flows/settings/policy.h"

enum flow_state {
	FLOW_KEPT, /* not in the table: the daemon handles all packets */
	FLOW_ENTERING, /* entries are on their way to the table */
	FLOW_ENTERED,
	FLOW_LEAVING, /* its entries are being removed, to learn whether it is in use */
	FLOW_ASKED, /* they are removed; another packet of the flow enters it again */
	FLOW_ENDING, /* they are being removed, and then the flow ends */
	FLOW_STATES
};

extern const char *const flow_state_names[FLOW_STATES];

struct flow;

/* A flow as users and the journal know it.  Without translation, @outside is @inside. */
struct flow_record {
	uint8_t protocol;
	struct end inside, outside, remote;
};

/* How the connection of a flow was closed, as far as the next process has to know. */
enum flow_closure {
	FLOW_OPEN,
	FLOW_CLOSED, /* by FIN of both ends */
	FLOW_RESET_BACK, /* by a RST in the direction FLOW_BACK, or FLOW_OUT */
	FLOW_RESET_OUT,
	FLOW_CLOSURES
};

/* What becomes of a packet. */
enum function_action {
	FUNCTION_DROPS,
	FUNCTION_PASSES, /* it leaves, rewritten if the function does so */
	FUNCTION_ANSWERS, /* its sender gets an answer instead: see function__answer() */
};

/* Called with the subject. */
struct function_handlers {
	/* for the journal */
	void (*begun)(void *subject, const struct flow *flow);
	/* its connection was closed, or goes on after that */
	void (*closed)(void *subject, const struct flow *flow);
	void (*ended)(void *subject, const struct flow *flow);
	/*
	 * for the table: insert, or remove, both entries, and call function__entered() or
	 * function__left(), in the order of the changes, unless function__compare() comes first
	 */
	/* false: there is no table, so all changes under way are forgotten until a comparison */
	bool (*enter)(void *subject, struct flow *flow);
	bool (*leave)(void *subject, struct flow *flow);
	/*
	 * Asks the switch for the ages of up to FUNCTION_QUESTION_FLOWS flows; function__answered()
	 * follows, or does not.  NULL: there is nobody to ask.
	 */
	void (*ask)(void *subject, uint32_t number, struct flow *const *flows, unsigned int count);
};

/* Flows that the switch is asked about at once. */
#define FUNCTION_QUESTION_FLOWS 8

struct function;

struct function_type;

/*
 * The policy is the caller's, and outlives @function or its place in it.  Returns 0, or -errno with
 * a sentence in @error.
 */
int function__new(const struct function_type *type, const struct policy *policy,
		  const struct function_handlers *handlers, void *subject,
		  struct function **function, struct dart_error *error);
void function__free(struct function *function);
/* Bytes of the keys and the values of its entries. */
uint32_t function__key_length(const struct function *function);
uint32_t function__value_length(const struct function *function);
/*
 * Takes another policy, which may differ in all but the settings of policy__check_reload().  Flows
 * that it has no place for end.  Returns 0; 1 if it was applied in part for want of memory; or
 * -errno with a sentence: then nothing has changed.
 */
int function__set_policy(struct function *function, const struct policy *policy,
			 struct dart_error *error);
/* If it is closed, no flow begins. */
void function__close(struct function *function, bool is_closed);

/* @now_ns: of one clock in all calls. */
enum function_action function__take(struct function *function, struct packet *packet,
				    uint64_t now_ns);
/*
 * Makes the answer to a packet that function__take() answers in @frame, and lets @packet be the
 * answer.  False for packets that must not be answered.
 */
bool function__answer(const struct function *function, struct packet *packet,
		      uint8_t frame[static PACKET_ANSWER_MAX]);
/*
 * The same for a packet, as it arrived, that is longer than @mtu, which the next link takes, and
 * must not be fragmented.
 */
bool function__tell_mtu(const struct function *function, struct packet *packet, uint16_t mtu,
			uint8_t frame[static PACKET_ANSWER_MAX]);

/*
 * The flow with this end inside, or this end outside, and this other end; NULL: none.  @protocol
 * as in a packet.
 */
struct flow *function__find(const struct function *function, uint8_t protocol,
			    const struct end *inside, const struct end *remote);
/* Ends a flow: it may be gone when this returns. */
void function__end(struct function *function, struct flow *flow);

struct flow_record function__record(const struct function *function, const struct flow *flow);

#define FLOW_NAME_MAX END_TEXT

/* The name of a flow for users: its protocol, and each end with its number. */
struct flow_names {
	const char *protocol;
	char inside[FLOW_NAME_MAX], outside[FLOW_NAME_MAX], remote[FLOW_NAME_MAX];
};

void function__names(const struct function *function, const struct flow *flow,
		     struct flow_names *names);
/* The flow with these names, @inside may be the one outside; NULL: no flow, or a wrong name. */
struct flow *function__find_named(const struct function *function, const char *protocol,
				  const char *inside, const char *remote);
/* Do its flows exist as long as the policy says so, and cannot be ended otherwise? */
bool function__is_permanent(const struct function *function);
/* The state of the connection of a flow; NULL: it is not tracked. */
const char *function__connection(const struct function *function, const struct flow *flow);

struct flow_use {
	enum flow_state state;
	enum flow_closure closure;
	bool is_recorded; /* in the journal */
	/* Among the flows that have begun, from 1 on, in their order; 0: before this process. */
	uint64_t number;
	bool is_static; /* it belongs to a static mapping */
	uint64_t since_ns; /* when it got the state; FLOW_KEPT: last packet */
	uint64_t packets, bytes; /* that the daemon saw */
};

struct flow_use function__use_of(const struct function *function, const struct flow *flow);
/*
 * A flow of an earlier process.  One that the policy has no place for is about to end.  If another
 * flow of the past stands in its way, its end was lost: that flow is forgotten.  Returns 0;
 * -EEXIST if it is there already, or in the way of the policy; -EINVAL if it is one of another
 * function; -ENOMEM or -ENOSPC.
 */
int function__restore(struct function *function, const struct flow_record *record, uint64_t now_ns);
/*
 * The connection of this flow of an earlier process was closed, or goes on: a closed one is not
 * entered, and ends after its time-out.
 */
void function__restore_closure(struct function *function, const struct flow_record *record,
			       enum flow_closure closure, uint64_t now_ns);
/* This flow of an earlier process ended. */
void function__forget(struct function *function, const struct flow_record *record);

/* ---- the table */

/* Bytes of keys of a function whose flows are between two ends, as its policy has addresses. */
#define FLOW_KEY_LENGTH 13
#define FLOW_KEY_LENGTH_6 37
#define FLOW_KEY_MAX FLOW_KEY_LENGTH_6
/* Bytes of values of schemas/nat.yaml and nat6.yaml. */
#define FLOW_NAT_LENGTH 7
#define FLOW_NAT_LENGTH_6 19
#define FLOW_VALUE_MAX FLOW_NAT_LENGTH_6

enum flow_direction { FLOW_BACK, FLOW_OUT, FLOW_DIRECTIONS };

/* The first direction that flows have an entry of; all have one of the last, FLOW_OUT. */
enum flow_direction function__first_direction(const struct function *function);
/*
 * An entry of the flow, as in schemas/nat.yaml, nat6.yaml, firewall.yaml, firewall6.yaml,
 * gateway.yaml and gateway6.yaml.
 */
void function__entry(const struct function *function, const struct flow *flow,
		     enum flow_direction direction, uint8_t key[static FLOW_KEY_MAX],
		     uint8_t value[static FLOW_VALUE_MAX]);
/* Is the insertion that is made now the last change of the flow, which should be in the table? */
bool function__waits_for(const struct flow *flow);
/* The entries are in the table, or cannot be there: then the flow is kept. */
void function__entered(struct function *function, struct flow *flow, bool is_there,
		       uint64_t now_ns);
/* They are not in the table.  The flow may be gone when this returns. */
void function__left(struct function *function, struct flow *flow, uint64_t now_ns);
/*
 * The table has gone away with the changes that it had not made: the next comparison removes entries
 * of flows that were leaving, which end or begin anew without it.
 */
void function__lose_table(struct function *function, uint64_t now_ns);
/*
 * Comparison with the table: call function__see() for each of its entries, which returns false for
 * an entry that has to be removed, and then function__compare(), which enters all flows that miss
 * an entry and lets others leave as their states say.
 */
bool function__see(struct function *function, const uint8_t *key, const uint8_t *value);
void function__compare(struct function *function);

/*
 * Lets time pass: a bounded number of flows is asked, or ends.  Without a table no flow is asked.
 * Returns true if more have waited long enough.
 */
bool function__tick(struct function *function, uint64_t now_ns, bool has_table);
/*
 * The answer to the question with this number: each of its flows had no packet for at least so
 * long.
 */
void function__answered(struct function *function, uint32_t number,
			const uint64_t idle_ns[static FUNCTION_QUESTION_FLOWS], uint64_t now_ns);

/* ---- for users and the journal */

#define FUNCTION_VERDICTS_MAX 16

struct function_counts {
	uint64_t verdicts[FUNCTION_VERDICTS_MAX];
	uint64_t begun, ended, refused; /* refused by the table */
	/* Flows that the switch was asked about, and answers; @removed: whose entries were, to ask. */
	uint64_t asked, in_use, idle, unanswered, removed;
	uint64_t late; /* answers that came too late, or to no question */
	uint64_t flows;
	uint64_t by_state[FLOW_STATES];
};

const struct function_counts *function__counts(const struct function *function);
/* The names of its verdicts, by their numbers; NULL: there are no more. */
const char *function__verdict_name(const struct function *function, unsigned int verdict);
/* Calls @tell for further counts; @group: "flows", or the name of a group of its own. */
void function__tell_counts(const struct function *function,
			   void (*tell)(void *subject, const char *group, const char *name,
					uint64_t count),
			   void *subject);
/*
 * Calls @tell for the flows of the next @chains chains from *@place on, 0 at first.  Returns false
 * after the last one.  @tell must not end flows.
 */
bool function__walk(const struct function *function, uint64_t *place, uint64_t chains,
		    void (*tell)(void *subject, const struct flow *flow), void *subject);

#endif /* FLOWS_FUNCTION_H */
