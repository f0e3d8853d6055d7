// SPDX-License-Identifier: GPL-2.0-only
/* Flows: taken in, used, ended and listed.  See function.h. */
#include "function.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "function_type.h"

#define SECOND_NS 1000000000ULL

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
	wheel__open(&function->ageing, function->flows.seed);
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
	uint64_t timeouts[POLICY_TIMEOUTS];
	int ret;

	memcpy(timeouts, function->policy->timeout_ns, sizeof(timeouts));
	ret = function->type->set_policy(function, policy, error);
	if (ret >= 0 && memcmp(timeouts, policy->timeout_ns, sizeof(timeouts)))
		wheel__renew(function);
	return ret;
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
	return packet__tell_mtu(packet, policy__own_address(function->policy, packet->is_ipv6), mtu,
				frame);
}

/* ---- flows */

/* ---- the wheel */

struct question *wheel__question(struct ageing *ageing, uint32_t number)
{
	return &ageing->questions[number % AGEING_QUESTIONS];
}

void wheel__open(struct ageing *ageing, uint32_t number)
{
	int i;

	ageing->first = ageing->next = number;
	for (i = 0; i < AGEING_SLOTS; i++)
		TAILQ_INIT(&ageing->slots[i]);
}

uint64_t wheel__deadline(const struct function *function, const struct flow *flow)
{
	return flow->used_ns + function->policy->timeout_ns[flow->timeout];
}

void wheel__add(struct function *function, struct flow *flow)
{
	const uint64_t now_s = function->now_ns / SECOND_NS;
	uint64_t second = (wheel__deadline(function, flow) + SECOND_NS - 1) / SECOND_NS;
	struct ageing *ageing = &function->ageing;

	if (!ageing->waiting && ageing->next_s < now_s)
		ageing->next_s = now_s;
	if (second < ageing->next_s)
		second = ageing->next_s;
	if (second >= ageing->next_s + AGEING_SLOTS)
		second = ageing->next_s + AGEING_SLOTS - 1;
	flow->is_in_wheel = true;
	flow->queue = &ageing->slots[second % AGEING_SLOTS];
	TAILQ_INSERT_TAIL(flow->queue, flow, of_queue);
	ageing->waiting++;
}

/* Questions in the order of their numbers end when nothing is left of them. */
static void end_questions(struct ageing *ageing)
{
	while (ageing->first != ageing->next && !wheel__question(ageing, ageing->first)->left)
		ageing->first++;
}

void wheel__forget(struct function *function, struct flow *flow)
{
	struct ageing *ageing = &function->ageing;
	struct question *question;
	unsigned int place;

	ageing->waiting -= flow->is_in_wheel;
	flow->is_in_wheel = false;
	if (!flow->question)
		return;
	place = flow->question - 1;
	question = &ageing->questions[place / FUNCTION_QUESTION_FLOWS];
	question->flows[place % FUNCTION_QUESTION_FLOWS] = NULL;
	question->left--;
	flow->question = 0;
	end_questions(ageing);
}

void wheel__move(struct function *function, struct flow *flow)
{
	wheel__forget(function, flow);
	TAILQ_REMOVE(flow->queue, flow, of_queue);
	wheel__add(function, flow);
}

void wheel__renew(struct function *function)
{
	struct index_link *link;
	struct flow *flow;
	uint64_t i;

	for (i = 0; i <= function->flows.mask; i++)
		for (link = function->flows.chains[i]; link; link = link->next) {
			flow = (struct flow *)((char *)link - offsetof(struct flow, link));
			if (flow->is_in_wheel)
				wheel__move(function, flow);
		}
}

/* ---- queues */

/* Puts the flow into the queue of its state. */
static void join_queue(struct function *function, struct flow *flow)
{
	if (flow->state == FLOW_ENTERED && !function->type->keys) {
		wheel__add(function, flow);
		return;
	}
	flow->queue = &function->queues[flow->timeout][flow->state];
	TAILQ_INSERT_TAIL(flow->queue, flow, of_queue);
}

static void leave_queue(struct function *function, struct flow *flow)
{
	wheel__forget(function, flow);
	TAILQ_REMOVE(flow->queue, flow, of_queue);
}

void function__add(struct function *function, struct flow *flow, uint64_t hash,
		   unsigned int timeout, enum flow_state state, uint64_t now_ns)
{
	flow->timeout = timeout;
	flow->state = state;
	flow->since_ns = now_ns;
	flow->used_ns = now_ns;
	index__add(&function->flows, &flow->link, hash);
	join_queue(function, flow);
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
	leave_queue(function, flow);
	function->counts.flows--;
	function->counts.by_state[flow->state]--;
	function->type->free_flow(function, flow);
}

/* Waits again, from now on, with this state and time-out. */
static void wait(struct function *function, struct flow *flow, enum flow_state state,
		 unsigned int timeout, uint64_t now_ns)
{
	leave_queue(function, flow);
	function->counts.by_state[flow->state]--;
	flow->state = state;
	flow->timeout = timeout;
	flow->since_ns = now_ns;
	join_queue(function, flow);
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
	flow->number = ++function->counts.begun;
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

bool function__is_ending(const struct flow *flow)
{
	return flow->state == FLOW_ENDING && !flow->is_idle;
}

bool function__use(struct function *function, struct flow *flow, const struct packet *packet,
		   uint64_t now_ns)
{
	switch (flow->state) {
	case FLOW_ENDING:
		if (!flow->is_idle)
			return false;
		flow->is_idle = false;
		function__enter(function, flow, now_ns);
		break;
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
	flow->used_ns = now_ns;
	flow->stays = 0;
	flow->packets++;
	flow->bytes += packet->length;
	return true;
}

/* ---- changes of the table */

static bool insert(struct function *function, struct flow *flow)
{
	flow->changes++;
	return function->handlers->enter(function->subject, flow);
}

static bool leave(struct function *function, struct flow *flow)
{
	flow->changes++;
	return function->handlers->leave(function->subject, flow);
}

void function__enter(struct function *function, struct flow *flow, uint64_t now_ns)
{
	flow->is_waiting = false;
	set_state(function, flow, FLOW_ENTERING, now_ns);
	if (insert(function, flow)) {
		flow->was_entered = true;
	} else if (!flow->was_entered && !function->type->keys) {
		/* All of its packets come here, so it ages by them meanwhile. */
		flow->changes = 0;
		flow->is_waiting = true;
		set_state(function, flow, FLOW_KEPT, now_ns);
	}
}

void function__ask(struct function *function, struct flow *flow, uint64_t now_ns)
{
	if (flow->state != FLOW_ENTERING && flow->state != FLOW_ENTERED)
		return;
	function->counts.removed++;
	set_state(function, flow, FLOW_LEAVING, now_ns);
	if (leave(function, flow))
		return;
	/* The comparison removes entries of an asked flow. */
	flow->changes = 0;
	set_state(function, flow, FLOW_ASKED, now_ns);
}

void function__end(struct function *function, struct flow *flow)
{
	flow->is_idle = false;
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
	function->now_ns = now_ns;
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
	flow->was_entered = false;
	if (flow->state == FLOW_ENDING)
		function__remove(function, flow);
	else if (flow->state == FLOW_LEAVING)
		set_state(function, flow, FLOW_ASKED, now_ns);
}

void function__lose_table(struct function *function, uint64_t now_ns)
{
	struct flow *flow;
	int timeout;

	for (timeout = 0; timeout < POLICY_TIMEOUTS; timeout++)
		while ((flow = TAILQ_FIRST(&function->queues[timeout][FLOW_LEAVING]))) {
			flow->changes = 0;
			set_state(function, flow, FLOW_ASKED, now_ns);
		}
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
		/* The table is there, or may have a place by now. */
		if (!enters || flow->is_over || !(function->type->keys || flow->is_waiting))
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

/* ---- flows of an earlier process */

struct flow *function__find(const struct function *function, uint8_t protocol,
			    const struct end *inside, const struct end *remote)
{
	if (function->type->keys)
		return NULL;
	return function->type->find(function, protocol, inside, remote);
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
