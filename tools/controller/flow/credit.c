// SPDX-License-Identifier: GPL-2.0-only
/* Credits, and the flows that wait for them. */
#include "credit.h"

#include <stddef.h>

static uint32_t least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

static bool credit_flow__is_active(const struct credit_flow *flow)
{
	return flow->wanted || flow->held;
}

/* Credits that each flow of @class may hold now; flows of later classes share the rest. */
static uint32_t credit__share(const struct credit *credit, uint8_t class)
{
	uint32_t flows = 0, share;

	for (int i = 0; i <= class; i++)
		flows += credit->lines[i].active;
	share = flows ? credit->total / flows : 0;
	return least(share ?: 1, credit->flow_max);
}

static uint32_t fragments_of(uint64_t bytes)
{
	uint64_t fragments = bytes / CREDIT_FRAGMENT;

	return fragments > UINT32_MAX ? UINT32_MAX : fragments ?: 1;
}

static void credit__line_up(struct credit *credit, struct credit_flow *flow)
{
	struct credit_line *line = &credit->lines[flow->class];

	if (TAILQ_EMPTY(&line->flows))
		line->passed_over = 0;
	TAILQ_INSERT_TAIL(&line->flows, flow, place);
	flow->in_line = true;
	credit->waiting++;
}

static void credit__leave_line(struct credit *credit, struct credit_flow *flow)
{
	TAILQ_REMOVE(&credit->lines[flow->class].flows, flow, place);
	flow->in_line = false;
	credit->waiting--;
}

void credit__init(struct credit *credit, uint64_t bytes, uint64_t flow_bytes)
{
	int i;

	*credit = (struct credit){};
	credit->total = fragments_of(bytes);
	credit->flow_max = least(fragments_of(flow_bytes), CREDIT_FLOW_MAX);
	credit->free = credit->total;
	for (i = 0; i < CREDIT_CLASSES; i++)
		TAILQ_INIT(&credit->lines[i].flows);
}

void credit__ask(struct credit *credit, struct credit_flow *flow, uint8_t class, uint32_t fragments)
{
	if (!fragments)
		return;
	if (!credit_flow__is_active(flow)) {
		flow->class = class;
		credit->lines[class].active++;
	}
	flow->wanted += least(fragments, UINT32_MAX - flow->wanted);
	if (!flow->in_line)
		credit__line_up(credit, flow);
}

void credit__ask_whole(struct credit *credit, struct credit_flow *flow, uint8_t class,
		       uint32_t fragments)
{
	flow->is_whole = true;
	credit__ask(credit, flow, class, least(fragments, credit->total));
}

/* The line whose turn it is: the last one that was passed over for too long, or the first. */
static struct credit_line *credit__next_line(struct credit *credit)
{
	struct credit_line *next = NULL, *line;
	int i;

	for (i = CREDIT_CLASSES - 1; i >= 0; i--) {
		line = &credit->lines[i];
		if (TAILQ_EMPTY(&line->flows))
			continue;
		if (line->passed_over >= CREDIT_PATIENCE)
			return line;
		next = line;
	}
	return next;
}

/* How many credits @flow, the first in line, gets now; may be 0. */
static uint32_t credit__due(const struct credit *credit, const struct credit_flow *flow)
{
	uint32_t share;

	if (flow->is_whole)
		return flow->wanted <= credit->free ? flow->wanted : 0;
	share = credit__share(credit, flow->class);
	if (flow->held >= share)
		return 0;
	return least(least(flow->wanted, share - flow->held), credit->free);
}

static void credit__pass_over(struct credit *credit, struct credit_line *served, uint32_t fragments)
{
	struct credit_line *line;
	int i;

	served->passed_over = 0;
	for (i = 0; i < CREDIT_CLASSES; i++) {
		line = &credit->lines[i];
		if (line != served && !TAILQ_EMPTY(&line->flows))
			line->passed_over += fragments;
	}
}

struct credit_flow *credit__grant(struct credit *credit, uint32_t *fragments)
{
	struct credit_line *line;
	struct credit_flow *flow;

	while (credit->free && credit->waiting) {
		line = credit__next_line(credit);
		flow = TAILQ_FIRST(&line->flows);
		*fragments = credit__due(credit, flow);
		if (!*fragments && flow->is_whole && flow->wanted)
			return NULL;
		credit__leave_line(credit, flow);
		/* A flow with its full share lines up again when it gives back a credit. */
		if (!*fragments)
			continue;
		flow->wanted -= *fragments;
		flow->held += *fragments;
		credit->free -= *fragments;
		if (flow->wanted && flow->held < credit__share(credit, flow->class))
			credit__line_up(credit, flow);
		credit__pass_over(credit, line, *fragments);
		return flow;
	}
	return NULL;
}

void credit__give_back(struct credit *credit, struct credit_flow *flow, uint32_t fragments)
{
	flow->held -= fragments;
	credit->free += fragments;
	if (!credit_flow__is_active(flow))
		credit->lines[flow->class].active--;
	else if (flow->wanted && !flow->in_line)
		credit__line_up(credit, flow);
}

void credit__cancel(struct credit *credit, struct credit_flow *flow)
{
	bool was_active = credit_flow__is_active(flow);

	flow->wanted = 0;
	if (flow->in_line)
		credit__leave_line(credit, flow);
	if (was_active && !credit_flow__is_active(flow))
		credit->lines[flow->class].active--;
}

void credit__end(struct credit *credit, struct credit_flow *flow)
{
	if (credit_flow__is_active(flow))
		credit->lines[flow->class].active--;
	credit->free += flow->held;
	if (flow->in_line)
		credit__leave_line(credit, flow);
	*flow = (struct credit_flow){};
}
