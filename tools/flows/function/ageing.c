// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which flows in the table are idle: see function.h.  The switch is asked about flows whose slot in
 * the wheel has come, once in each time-out.
 */
#include "function.h"
#include "function_type.h"

#define SECOND_NS 1000000000ULL
#define LOOKS 1000 /* flows, in one call */
#define PATIENCE_NS SECOND_NS /* with an answer */
#define TRIES 3
/*
 * Answers in turn that a flow is in use before it is asked by a removal, because another flow may
 * have the same stamps.  A removal takes another time-out, so it comes when a stamp is new, or at
 * last.
 */
#define STAYS 8
#define STAYS_MAX 32
#define NEW_NS (5 * SECOND_NS)

static void send_question(struct function *function, uint64_t now_ns)
{
	struct ageing *ageing = &function->ageing;
	struct question *question = wheel__question(ageing, ageing->next);

	question->asked_ns = now_ns;
	function->counts.asked += question->count;
	function->handlers->ask(function->subject, ageing->next++, question->flows,
				question->count);
}

static bool is_full(const struct ageing *ageing)
{
	return ageing->next - ageing->first == AGEING_QUESTIONS;
}

/* False: so many questions are without an answer that this flow has to wait. */
static bool ask(struct function *function, struct flow *flow, uint64_t now_ns)
{
	struct ageing *ageing = &function->ageing;
	struct question *question = wheel__question(ageing, ageing->next);

	/* A switch that does not answer is asked one question at a time whether it does again. */
	if (!function->handlers->ask || (ageing->is_silent && ageing->first != ageing->next)) {
		function__ask(function, flow, now_ns);
		return true;
	}
	if (is_full(ageing))
		return false;
	wheel__forget(function, flow);
	TAILQ_REMOVE(flow->queue, flow, of_queue);
	flow->queue = &function->queues[flow->timeout][FLOW_ENTERED];
	TAILQ_INSERT_TAIL(flow->queue, flow, of_queue);
	if (!question->left)
		question->count = 0;
	flow->question =
		(ageing->next % AGEING_QUESTIONS) * FUNCTION_QUESTION_FLOWS + question->count + 1;
	question->flows[question->count++] = flow;
	question->left++;
	if (question->count == FUNCTION_QUESTION_FLOWS)
		send_question(function, now_ns);
	return true;
}

static void give_up(struct function *function, struct question *question, uint64_t now_ns)
{
	struct ageing *ageing = &function->ageing;
	struct flow *flow;
	unsigned int i;

	for (i = 0; i < question->count; i++) {
		flow = question->flows[i];
		if (!flow)
			continue;
		function->counts.unanswered++;
		if (ageing->is_silent || ++flow->tries == TRIES) {
			ageing->is_silent = true;
			flow->tries = 0;
			function__ask(function, flow, now_ns);
		} else {
			/* It is asked again from its slot. */
			wheel__move(function, flow);
		}
	}
}

static void give_up_old(struct function *function, uint64_t now_ns)
{
	struct ageing *ageing = &function->ageing;
	struct question *question;

	/* The last flow of a question ends it. */
	while (ageing->first != ageing->next) {
		question = wheel__question(ageing, ageing->first);
		if (now_ns < question->asked_ns + PATIENCE_NS)
			return;
		give_up(function, question, now_ns);
	}
}

static void take_answer(struct function *function, struct flow *flow, uint64_t idle_ns,
			uint64_t now_ns)
{
	const uint64_t used_ns = idle_ns < now_ns ? now_ns - idle_ns : 0;

	flow->tries = 0;
	if (used_ns > flow->used_ns)
		flow->used_ns = used_ns;
	if (wheel__deadline(function, flow) <= now_ns) {
		function->counts.idle++;
		function__end(function, flow);
		flow->is_idle = true; /* it has entries, so it is there until these are removed */
		return;
	}
	function->counts.in_use++;
	flow->stays++;
	if (flow->stays >= STAYS_MAX || (flow->stays >= STAYS && idle_ns <= NEW_NS))
		function__ask(function, flow, now_ns);
	else
		wheel__move(function, flow);
}

void function__answered(struct function *function, uint32_t number,
			const uint64_t idle_ns[static FUNCTION_QUESTION_FLOWS], uint64_t now_ns)
{
	struct ageing *ageing = &function->ageing;
	struct question *question = wheel__question(ageing, number);
	unsigned int i;

	function->now_ns = now_ns;
	if (number - ageing->first >= ageing->next - ageing->first) {
		function->counts.late++;
		return;
	}
	ageing->is_silent = false;
	for (i = 0; i < question->count; i++)
		if (question->flows[i])
			take_answer(function, question->flows[i], idle_ns[i], now_ns);
}

static bool tick_wheel(struct function *function, uint64_t now_ns)
{
	const uint64_t now_s = now_ns / SECOND_NS;
	struct ageing *ageing = &function->ageing;
	unsigned int looks = 0;
	bool has_more = false;
	struct flow *flow;

	give_up_old(function, now_ns);
	if (!ageing->waiting && ageing->next_s < now_s)
		ageing->next_s = now_s;
	while (ageing->next_s <= now_s) {
		flow = TAILQ_FIRST(&ageing->slots[ageing->next_s % AGEING_SLOTS]);
		if (!flow) {
			ageing->next_s++;
			continue;
		}
		has_more = looks++ == LOOKS;
		if (!has_more && wheel__deadline(function, flow) > now_ns)
			wheel__move(function, flow);
		else if (!has_more)
			has_more = !ask(function, flow, now_ns);
		if (has_more)
			break;
	}
	if (!is_full(ageing) && wheel__question(ageing, ageing->next)->left)
		send_question(function, now_ns);
	return has_more;
}

/* ---- time */

/* Flows of a time-out that end in one call. */
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

static bool tick_queues(struct function *function, unsigned int timeout, uint64_t now_ns)
{
	struct flow *flow;
	int i;

	for (i = 0; i < TICK_FLOWS; i++) {
		flow = due(function, timeout, FLOW_ASKED, now_ns) ?:
			       due(function, timeout, FLOW_KEPT, now_ns);
		if (!flow)
			return false;
		function__remove(function, flow);
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
		has_more |= tick_queues(function, timeout, now_ns);
	return (has_table && tick_wheel(function, now_ns)) || has_more;
}
