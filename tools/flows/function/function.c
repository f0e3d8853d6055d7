// SPDX-License-Identifier: GPL-2.0-only
/* Flows: taken in, used, ended and listed.  See function.h. */
#include "function.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "function_type.h"

#define OF(link) ((struct flow *)((char *)(link)-offsetof(struct flow, link)))

const char *const flow_state_names[FLOW_STATES] = {
	[FLOW_KEPT] = "kept",	    [FLOW_ENTERING] = "entering", [FLOW_ENTERED] = "entered",
	[FLOW_LEAVING] = "leaving", [FLOW_ASKED] = "asked",	  [FLOW_ENDING] = "ending",
};

/* ---- life */

int function__new(const struct function_type *type, const struct policy *policy,
		  const struct function_handlers *handlers, void *subject, struct function **made,
		  struct dart_error *error)
{
	struct function *function = calloc(1, type->size);
	int timeout, state, ret;

	if (!function)
		return dart_error__no_memory(error);
	function->type = type;
	function->policy = policy;
	function->handlers = handlers;
	function->subject = subject;
	for (timeout = 0; timeout < POLICY_TIMEOUTS; timeout++)
		for (state = 0; state < FLOW_STATES; state++)
			TAILQ_INIT(&function->queues[timeout][state]);
	ret = index__open(&function->flows, policy->flows) ? dart_error__no_memory(error) :
							     type->open(function, error);
	if (ret)
		function__free(function);
	else
		*made = function;
	return ret;
}

static void forget(void *subject, const struct flow *flow)
{
}

void function__free(struct function *function)
{
	static const struct function_handlers silent = { .ended = forget };

	if (!function)
		return;
	function->handlers = &silent;
	function->type->close(function);
	index__close(&function->flows);
	free(function);
}

int function__set_policy(struct function *function, const struct policy *policy,
			 struct dart_error *error)
{
	return function->type->set_policy(function, policy, error);
}

void function__close(struct function *function, bool is_closed)
{
	function->is_closed = is_closed;
}

enum function_action function__take(struct function *function, struct packet *packet,
				    uint64_t now_ns)
{
	enum function_action action;
	unsigned int verdict;

	function->now_ns = now_ns;
	action = function->type->take(function, packet, now_ns, &verdict);
	function->counts.verdicts[verdict]++;
	return action;
}

bool function__answer(const struct function *function, struct packet *packet,
		      uint8_t frame[static PACKET_ANSWER_MAX])
{
	return function->type->answer ? function->type->answer(function, packet, frame) :
					packet__refuse(packet, frame);
}

bool function__tell_mtu(const struct function *function, struct packet *packet, uint16_t mtu,
			uint8_t frame[static PACKET_ANSWER_MAX])
{
	if (function->type->tell_mtu)
		return function->type->tell_mtu(function, packet, mtu, frame);
	return packet__tell_mtu(packet, policy__own_address(function->policy), mtu, frame);
}

/* ---- flows */

static struct flow_queue *queue_of(struct function *function, const struct flow *flow)
{
	return &function->queues[flow->timeout][flow->state];
}

void function__add(struct function *function, struct flow *flow, uint64_t hash,
		   unsigned int timeout, enum flow_state state, uint64_t now_ns)
{
	flow->timeout = timeout;
	flow->state = state;
	flow->since_ns = now_ns;
	index__add(&function->flows, &flow->link, hash);
	TAILQ_INSERT_TAIL(queue_of(function, flow), flow, of_queue);
	function->counts.flows++;
	function->counts.by_state[state]++;
}

void function__remove(struct function *function, struct flow *flow)
{
	if (flow->is_recorded) {
		function->handlers->ended(function->subject, flow);
		function->counts.ended++;
	}
	index__remove(&function->flows, &flow->link);
	TAILQ_REMOVE(queue_of(function, flow), flow, of_queue);
	function->counts.flows--;
	function->counts.by_state[flow->state]--;
	function->type->free_flow(function, flow);
}

/* Waits again, from now on, with this state and time-out. */
static void wait(struct function *function, struct flow *flow, enum flow_state state,
		 unsigned int timeout, uint64_t now_ns)
{
	TAILQ_REMOVE(queue_of(function, flow), flow, of_queue);
	function->counts.by_state[flow->state]--;
	flow->state = state;
	flow->timeout = timeout;
	flow->since_ns = now_ns;
	TAILQ_INSERT_TAIL(queue_of(function, flow), flow, of_queue);
	function->counts.by_state[state]++;
}

static void set_state(struct function *function, struct flow *flow, enum flow_state state,
		      uint64_t now_ns)
{
	wait(function, flow, state, flow->timeout, now_ns);
}

void function__set_timeout(struct function *function, struct flow *flow, unsigned int timeout,
			   uint64_t now_ns)
{
	wait(function, flow, flow->state, timeout, now_ns);
}

void function__begin(struct function *function, struct flow *flow)
{
	if (flow->is_recorded)
		return;
	flow->is_recorded = true;
	function->counts.begun++;
	function->handlers->begun(function->subject, flow);
}

void function__set_closure(struct function *function, struct flow *flow, enum flow_closure closure)
{
	if (flow->closure == closure)
		return;
	flow->closure = closure;
	if (flow->is_recorded)
		function->handlers->closed(function->subject, flow);
}

bool function__use(struct function *function, struct flow *flow, const struct packet *packet,
		   uint64_t now_ns)
{
	switch (flow->state) {
	case FLOW_ENDING:
		return false;
	case FLOW_KEPT:
		set_state(function, flow, FLOW_KEPT, now_ns);
		break;
	case FLOW_LEAVING:
		if (!flow->is_over)
			function__enter(function, flow, now_ns);
		break;
	case FLOW_ASKED:
		if (flow->is_over)
			set_state(function, flow, FLOW_ASKED, now_ns);
		else
			function__enter(function, flow, now_ns);
		break;
	default:
		break;
	}
	flow->packets++;
	flow->bytes += packet->length;
	return true;
}

/* ---- changes of the table */

static void insert(struct function *function, struct flow *flow)
{
	flow->changes++;
	function->handlers->enter(function->subject, flow);
}

static bool leave(struct function *function, struct flow *flow)
{
	flow->changes++;
	return function->handlers->leave(function->subject, flow);
}

void function__enter(struct function *function, struct flow *flow, uint64_t now_ns)
{
	set_state(function, flow, FLOW_ENTERING, now_ns);
	insert(function, flow);
}

void function__ask(struct function *function, struct flow *flow, uint64_t now_ns)
{
	if (flow->state != FLOW_ENTERING && flow->state != FLOW_ENTERED)
		return;
	set_state(function, flow, FLOW_LEAVING, now_ns);
	if (leave(function, flow))
		return;
	/* The comparison removes entries of an asked flow. */
	flow->changes = 0;
	set_state(function, flow, FLOW_ASKED, now_ns);
}

void function__end(struct function *function, struct flow *flow)
{
	switch (flow->state) {
	case FLOW_KEPT:
	case FLOW_ASKED:
		function__remove(function, flow);
		break;
	case FLOW_ENTERING:
	case FLOW_ENTERED:
		set_state(function, flow, FLOW_ENDING, flow->since_ns);
		leave(function, flow);
		break;
	case FLOW_LEAVING: /* the removal is on its way */
		set_state(function, flow, FLOW_ENDING, flow->since_ns);
		break;
	default:
		break;
	}
}

bool function__waits_for(const struct flow *flow)
{
	return flow->state == FLOW_ENTERING && flow->changes == 1;
}

void function__entered(struct function *function, struct flow *flow, bool is_there, uint64_t now_ns)
{
	/* The answers to later changes of the flow still name it, and the last one counts. */
	if (--flow->changes || flow->state != FLOW_ENTERING)
		return;
	if (!is_there) {
		flow->is_kept = true;
		function->counts.refused++;
	}
	set_state(function, flow, is_there ? FLOW_ENTERED : FLOW_KEPT, now_ns);
}

void function__left(struct function *function, struct flow *flow, uint64_t now_ns)
{
	if (--flow->changes)
		return;
	if (flow->state == FLOW_ENDING)
		function__remove(function, flow);
	else if (flow->state == FLOW_LEAVING)
		set_state(function, flow, FLOW_ASKED, now_ns);
}

/* ---- comparison with the table */

/* Lets the flow leave, or enters it, as its state says. */
static void compare_flow(struct function *function, struct flow *flow, bool enters)
{
	const bool is_there = flow->seen >> function__first_direction(function) ==
			      (function->type->keys ? 1 : 3);

	/* Changes from before the comparison were forgotten. */
	if (!enters)
		flow->changes = 0;
	switch (flow->state) {
	case FLOW_KEPT:
		/* The table may have a place by now. */
		if (!enters || !function->type->keys)
			break;
		flow->is_kept = false;
		function__enter(function, flow, flow->since_ns);
		break;
	case FLOW_ENTERING:
	case FLOW_ENTERED:
		if (!enters || (is_there && flow->state == FLOW_ENTERED))
			break;
		function__enter(function, flow, flow->since_ns);
		break;
	case FLOW_LEAVING:
	case FLOW_ENDING:
		if (!enters)
			leave(function, flow);
		break;
	default:
		break;
	}
	if (enters)
		flow->seen = 0;
}

void function__compare(struct function *function)
{
	struct index_link *link;
	uint64_t i;
	int enters;

	/* A flow that ends may have an entry with the key of another flow of its host. */
	for (enters = 0; enters < 2; enters++)
		for (i = 0; i <= function->flows.mask; i++)
			for (link = function->flows.chains[i]; link; link = link->next)
				compare_flow(function, OF(link), enters);
}

/* ---- ageing */

/* Flows of a time-out that are asked, or end, in one call. */
#define TICK_FLOWS 1000

/* The first flow in this state, if it has waited for its time-out. */
static struct flow *due(const struct function *function, unsigned int timeout,
			enum flow_state state, uint64_t now_ns)
{
	struct flow *flow = TAILQ_FIRST(&function->queues[timeout][state]);

	if (!flow || now_ns < flow->since_ns + function->policy->timeout_ns[timeout])
		return NULL;
	return flow;
}

static bool tick_queues(struct function *function, unsigned int timeout, uint64_t now_ns,
			bool has_table)
{
	struct flow *flow;
	int i;

	for (i = 0; i < TICK_FLOWS; i++) {
		flow = due(function, timeout, FLOW_ASKED, now_ns) ?:
			       due(function, timeout, FLOW_KEPT, now_ns);
		if (flow) {
			function__remove(function, flow);
			continue;
		}
		flow = has_table ? due(function, timeout, FLOW_ENTERED, now_ns) : NULL;
		if (!flow)
			return false;
		function__ask(function, flow, now_ns);
	}
	return true;
}

bool function__tick(struct function *function, uint64_t now_ns, bool has_table)
{
	bool has_more = false;
	int timeout;

	function->now_ns = now_ns;
	if (function->type->keys)
		return false;
	for (timeout = 0; timeout < POLICY_TIMEOUTS; timeout++)
		has_more |= tick_queues(function, timeout, now_ns, has_table);
	return has_more;
}

/* ---- for users and the journal */

struct flow *function__find(const struct function *function, uint8_t protocol,
			    const struct end *inside, const struct end *remote)
{
	if (function->type->keys)
		return NULL;
	return function->type->find(function, protocol, inside, remote);
}

struct flow_record function__record(const struct function *function, const struct flow *flow)
{
	return function->type->record(flow);
}

void function__names(const struct function *function, const struct flow *flow,
		     struct flow_names *names)
{
	struct flow_record record;

	if (function->type->keys) {
		function->type->keys->names(flow, names);
		return;
	}
	record = function->type->record(flow);
	names->protocol = policy__protocol_name(record.protocol);
	policy__print_end(&record.inside, names->inside);
	policy__print_end(&record.outside, names->outside);
	policy__print_end(&record.remote, names->remote);
}

struct flow *function__find_named(const struct function *function, const char *protocol,
				  const char *inside, const char *remote)
{
	const uint8_t number = policy__protocol(protocol);
	struct end inside_end, remote_end;

	if (function->type->keys)
		return function->type->keys->find_named(function, protocol, inside, remote);
	if (!number || !policy__take_end(inside, &inside_end) ||
	    !policy__take_end(remote, &remote_end))
		return NULL;
	return function__find(function, number, &inside_end, &remote_end);
}

bool function__is_permanent(const struct function *function)
{
	return function->type->keys;
}

const char *function__connection(const struct function *function, const struct flow *flow)
{
	return function->type->connection ? function->type->connection(flow) : NULL;
}

struct flow_use function__use_of(const struct function *function, const struct flow *flow)
{
	return (struct flow_use){
		.state = flow->state,
		.closure = flow->closure,
		.is_recorded = flow->is_recorded,
		.is_static = function->type->is_static && function->type->is_static(flow),
		.since_ns = flow->since_ns,
		.packets = flow->packets,
		.bytes = flow->bytes,
	};
}

int function__restore(struct function *function, const struct flow_record *record, uint64_t now_ns)
{
	if (function->type->keys)
		return -EINVAL;
	if (function->counts.flows >= function->policy->flows)
		return -ENOSPC;
	return function->type->restore(function, record, now_ns);
}

/* The flow with all ends of the record; NULL: there is none. */
static struct flow *find_recorded(const struct function *function, const struct flow_record *record)
{
	struct flow_record found;
	struct flow *flow;

	/* A flow whose mapping leaves is found by its end outside only. */
	flow = function__find(function, record->protocol, &record->outside, &record->remote);
	if (!flow)
		return NULL;
	found = function->type->record(flow);
	return end__equal(&found.inside, &record->inside) &&
			       end__equal(&found.outside, &record->outside) ?
		       flow :
		       NULL;
}

void function__restore_closure(struct function *function, const struct flow_record *record,
			       enum flow_closure closure, uint64_t now_ns)
{
	struct flow *flow = find_recorded(function, record);
	enum flow_state state;

	if (!flow || policy__class(record->protocol) != POLICY_TCP || flow->state == FLOW_ENDING)
		return;
	function->type->restore_closure(flow, closure);
	flow->closure = closure;
	flow->is_over = closure != FLOW_OPEN;
	/* A comparison removes the entries of an asked flow. */
	state = flow->is_over ? FLOW_ASKED : FLOW_ENTERING;
	wait(function, flow, flow->is_kept ? FLOW_KEPT : state,
	     flow->is_over ? POLICY_TRANSITORY : POLICY_TCP, now_ns);
}

void function__forget(struct function *function, const struct flow_record *record)
{
	struct flow *flow = find_recorded(function, record);

	if (flow)
		function__remove(function, flow);
}

const struct function_counts *function__counts(const struct function *function)
{
	return &function->counts;
}

const char *function__verdict_name(const struct function *function, unsigned int verdict)
{
	return verdict < function->type->verdicts ? function->type->verdict_names[verdict] : NULL;
}

void function__tell_counts(const struct function *function,
			   void (*tell)(void *subject, const char *group, const char *name,
					uint64_t count),
			   void *subject)
{
	if (function->type->tell_counts)
		function->type->tell_counts(function, tell, subject);
}

bool function__walk(const struct function *function, uint64_t *place, uint64_t chains,
		    void (*tell)(void *subject, const struct flow *flow), void *subject)
{
	const struct index_link *link;

	for (; chains && *place <= function->flows.mask; ++*place, chains--)
		for (link = function->flows.chains[*place]; link; link = link->next)
			tell(subject, OF(link));
	return *place <= function->flows.mask;
}
