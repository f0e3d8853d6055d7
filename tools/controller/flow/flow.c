// SPDX-License-Identifier: GPL-2.0-only
/* Posts the fragments of requested parts as credits are granted. */
#include "flow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "capacity.h"
#include "tools/controller/base/interface.h"
#include "tools/controller/base/schedule.h"

/* Added to the transmission time of all bytes in flight: covers round trips with room to spare. */
#define DRAIN_MARGIN_NS 1000000ULL
/* On a port of unknown speed. */
#define DRAIN_DEFAULT_NS 10000000ULL

/* The flows of a group of queue pairs, by class. */
struct flow_group {
	struct credit_group classes[CREDIT_CLASSES];
};

/* What the flows of a team of I/O threads share; no two teams share a cache line. */
#define TEAM_ALIGNMENT 64

/*
 * A group of queue pairs whose device is gone may still wait in its pool, and its number be that of
 * a group of another team by then: so each team has groups of its own.
 */
struct flow_team {
	struct credit_pool pool; /* first: a pointer to it is cast to the team */
	/* Of the control loop. */
	struct flow_group calls; /* all flows whose transport is a call */
	struct flow_group **groups; /* all others, by operations.group() */
	uint32_t group_count;
} __attribute__((aligned(TEAM_ALIGNMENT)));

struct flow_control {
	/* Constant after the first flow__open(). */
	enum settings_flow kind;
	uint64_t bytes; /* limit in flight; 0: derived from the speed of the port */
	uint64_t bits_per_s;
	char interface[IF_NAMESIZE]; /* of the first flow; "": not known */
	uint64_t drain_ns; /* how long fragments of a closed transport may be on the network */
	bool is_open; /* the first flow was opened: the pools are initialized */
	unsigned int team_count;
	/* Of the control loop. */
	TAILQ_HEAD(, flow) draining; /* closed flows, in order of drained_ns */
	struct timer timer; /* set to drained_ns of the first of them */
	struct flow_team teams[];
};

static void flow_group__init(struct flow_group *group, bool is_whole)
{
	for (int i = 0; i < CREDIT_CLASSES; i++) {
		credit_group__init(&group->classes[i]);
		group->classes[i].is_whole = is_whole;
	}
}

static bool flow__takes_credits(const struct flow *flow)
{
	return flow->is_counted && flow->control->kind != SETTINGS_FLOW_NONE;
}

static void flow_control__init_pools(struct flow_control *control, uint64_t bytes,
				     uint64_t flow_bytes)
{
	unsigned int i;

	for (i = 0; i < control->team_count; i++)
		credit_pool__init(&control->teams[i].pool,
				  bytes == UINT64_MAX ? bytes : bytes / control->team_count,
				  flow_bytes);
}

/* Derives the limits from the port that @path uses, once: when the first flow is opened. */
static void flow_control__learn(struct flow_control *control, const struct dart_endpoint_path *path)
{
	uint64_t bits_per_s = path->bits_per_s;

	if (control->is_open)
		return;
	control->is_open = true;
	if (interface__of_address(path->source, control->interface) && !bits_per_s)
		bits_per_s = interface__bits_per_s(control->interface);
	control->bits_per_s = bits_per_s;
	if (control->kind == SETTINGS_FLOW_BDP) {
		flow_control__init_pools(control, UINT64_MAX,
					 control->bytes ?: capacity__product(bits_per_s));
		control->drain_ns = DRAIN_MARGIN_NS;
		return;
	}
	control->bytes = control->bytes ?: capacity__credit(bits_per_s);
	flow_control__init_pools(control, control->bytes, UINT64_MAX);
	control->drain_ns = DRAIN_DEFAULT_NS;
	if (bits_per_s)
		control->drain_ns =
			DRAIN_MARGIN_NS + control->bytes * 8000 / (bits_per_s / 1000000);
}

/*
 * True if packets over @path may arrive at the port of the first flow: over RDMA always, and if
 * one of the two interfaces is not known.
 */
static bool flow_control__shares_port(const struct flow_control *control,
				      const struct dart_endpoint_path *path)
{
	char name[IF_NAMESIZE];

	return *path->device || !*control->interface ||
	       !interface__of_address(path->source, name) || !strcmp(name, control->interface);
}

/* Adds the missing groups up to @number. */
static int flow_team__add_groups(struct flow_team *team, uint32_t number)
{
	const size_t wanted = (size_t)number + 1;
	struct flow_group **groups, *group;

	if (wanted <= team->group_count)
		return 0;
	groups = reallocarray(team->groups, wanted, sizeof(*groups));
	if (!groups)
		return -ENOMEM;
	team->groups = groups;
	while (team->group_count < wanted) {
		group = malloc(sizeof(*group));
		if (!group)
			return -ENOMEM;
		flow_group__init(group, false);
		groups[team->group_count++] = group;
	}
	return 0;
}

/* The group of flows over @transport; NULL: out of memory. */
static struct flow_group *flow_team__group(struct flow_team *team,
					   const struct transport *transport)
{
	uint32_t number;

	if (!transport->operations->group)
		return &team->calls;
	number = transport->operations->group(transport);
	return flow_team__add_groups(team, number) ? NULL : team->groups[number];
}

static void flow_team__close(struct flow_team *team)
{
	while (team->group_count)
		free(team->groups[--team->group_count]);
	free(team->groups);
}

static void flow_control__set_timer(struct flow_control *control)
{
	const struct flow *first = TAILQ_FIRST(&control->draining);

	if (first)
		timer__set_at(&control->timer, first->drained_ns);
	else
		timer__stop(&control->timer);
}

static void flow__drained(struct flow *flow)
{
	const uint32_t draining = flow->draining;

	TAILQ_REMOVE(&flow->control->draining, flow, place);
	flow->draining = 0;
	credit_pool__give_back(flow->pool, NULL, &flow->share, draining);
}

static void on_drained(void *data)
{
	struct flow_control *control = data;
	uint64_t now_ns = monotonic_ns();
	struct flow *flow;

	while ((flow = TAILQ_FIRST(&control->draining)) && flow->drained_ns <= now_ns)
		flow__drained(flow);
	flow_control__set_timer(control);
}

int flow_control__new(struct timers *timers, const struct settings *settings, bool is_alone,
		      struct flow_control **controlp)
{
	const unsigned int teams = settings__io_teams(settings, is_alone);
	struct flow_control *control = aligned_alloc(
		TEAM_ALIGNMENT, sizeof(*control) + teams * sizeof(*control->teams));
	unsigned int i;

	if (!control)
		return -ENOMEM;
	memset(control, 0, sizeof(*control) + teams * sizeof(*control->teams));
	control->team_count = teams;
	/* The answers of one agent never meet others in a switch, so READs are not cut. */
	control->kind = settings->flow ?: (is_alone ? SETTINGS_FLOW_NONE : SETTINGS_FLOW_CREDIT);
	control->bytes = settings->flow_bytes;
	TAILQ_INIT(&control->draining);
	for (i = 0; i < teams; i++)
		flow_group__init(&control->teams[i].calls, true);
	timer__init(&control->timer, timers, on_drained, control);
	*controlp = control;
	return 0;
}

void flow_control__free(struct flow_control *control)
{
	unsigned int i;

	if (!control)
		return;
	timer__stop(&control->timer);
	for (i = 0; i < control->team_count; i++)
		flow_team__close(&control->teams[i]);
	free(control);
}

struct credit_pool *flow_control__pool(struct flow_control *control, unsigned int team)
{
	return &control->teams[team].pool;
}

uint64_t flow_control__bits_per_s(const struct flow_control *control)
{
	return control->bits_per_s;
}

int flow__open(struct flow *flow, struct flow_control *control, uint8_t class,
	       struct transport *transport, struct credit_taker *taker)
{
	const struct transport_operations *operations = transport->operations;
	struct flow_group *group = flow_team__group((struct flow_team *)taker->pool, transport);
	struct dart_endpoint_path path;

	if (!group)
		return -ENOMEM;
	operations->path(transport, &path);
	flow_control__learn(control, &path);
	flow->control = control;
	flow->pool = taker->pool;
	flow->group = &group->classes[class];
	flow->is_counted = flow_control__shares_port(control, &path);
	flow->class = class;
	flow->transport = transport;
	flow->share.taker = taker;
	flow->is_asking = false;
	flow->is_lent = false;
	flow->posted = 0;
	if (operations->cut && flow__takes_credits(flow))
		operations->cut(transport, CREDIT_FRAGMENT);
	return 0;
}

void flow__close(struct flow *flow)
{
	struct flow_control *control = flow->control;

	if (!flow->transport)
		return;
	flow->transport = NULL;
	if (!flow->posted)
		return;
	if (flow->draining)
		TAILQ_REMOVE(&control->draining, flow, place);
	flow->draining += flow->posted;
	flow->posted = 0;
	flow->drained_ns = monotonic_ns() + control->drain_ns;
	TAILQ_INSERT_TAIL(&control->draining, flow, place);
	flow_control__set_timer(control);
}

void flow__end(struct flow *flow)
{
	if (flow->transport && flow__takes_credits(flow))
		credit_pool__cancel(flow->pool, NULL, &flow->share);
	flow__close(flow);
	if (flow->draining)
		flow__drained(flow);
}

/*
 * Posts all fragments that were granted to flows of this thread.  If posting fails, the user may
 * stop the flow.  Its credits come back later than that, so this loop ends.
 */
static void flow__post_granted(struct credit_taker *taker)
{
	struct credit_share *share;
	uint32_t fragments;
	struct flow *flow;
	uint64_t now_ns;
	int err;

	/* failed() below may stop a flow, which calls this function: the loop posts for both. */
	if (taker->is_posting)
		return;
	taker->is_posting = true;
	while ((fragments = credit_pool__take(taker->pool, taker, &share))) {
		flow = (struct flow *)share;
		now_ns = monotonic_ns();
		flow->posted_ns = flow->posted_ns ?: now_ns;
		if (!flow->posted)
			flow->heard_ns = now_ns;
		flow->posted += fragments;
		err = flow->transport->operations->post(flow->transport, fragments);
		if (err)
			flow->failed(flow, err);
	}
	taker->is_posting = false;
}

int flow__ask(struct flow *flow, enum transport_part part)
{
	const struct transport_operations *operations = flow->transport->operations;
	const bool takes_credits = flow__takes_credits(flow);
	uint32_t fragments;
	int err;

	/* Without credits, begin() posts, and the host may answer before it returns. */
	flow->posted_ns = 0;
	if (!takes_credits)
		flow->posted_ns = flow->heard_ns = monotonic_ns();
	err = operations->begin(flow->transport, part, takes_credits ? &fragments : NULL);
	if (err)
		return err;
	flow->is_asking = true;
	flow->is_lent = false;
	if (!takes_credits)
		return 0;
	credit_pool__ask(flow->pool, flow->group, &flow->share, flow->class,
			 flow->is_slow ? 1 : fragments);
	flow__post_granted(flow->share.taker);
	return 0;
}

void flow__complete(struct flow *flow, int result)
{
	uint32_t completed = flow->transport->operations->take_completed(flow->transport);

	flow->heard_ns = monotonic_ns();
	if (result)
		flow->is_asking = false;
	if (result > 0 && !flow->is_lent)
		flow->is_slow = false;
	/* flow__lend() gave the credits of a lent request back. */
	if (flow->is_lent || !completed || !flow__takes_credits(flow))
		return;
	flow->posted -= completed;
	credit_pool__give_back(flow->pool, flow->share.taker, &flow->share, completed);
	flow__post_granted(flow->share.taker);
}

bool flow__lend(struct flow *flow)
{
	const uint32_t posted = flow->posted;

	if (!flow->is_asking || flow->is_lent || !flow__takes_credits(flow))
		return true;
	if (!posted || monotonic_ns() - flow->posted_ns < FLOW_LATE_NS)
		return false;
	flow->is_lent = true;
	flow->is_slow = true;
	flow->posted = 0;
	credit_pool__give_back(flow->pool, flow->share.taker, &flow->share, posted);
	flow__post_granted(flow->share.taker);
	return true;
}

void flow__stop(struct flow *flow)
{
	flow->is_asking = false;
	if (!flow__takes_credits(flow))
		return;
	credit_pool__cancel(flow->pool, flow->share.taker, &flow->share);
	flow__post_granted(flow->share.taker);
}

void flow__wake_up(struct credit_taker *taker)
{
	credit_pool__wake_up(taker->pool, taker);
	flow__post_granted(taker);
}

uint64_t flow__silence_ns(const struct flow *flow)
{
	if (!flow->is_asking || flow__waits(flow))
		return 0;
	return monotonic_ns() - flow->heard_ns;
}

bool flow__waits(const struct flow *flow)
{
	return flow->is_asking && flow__takes_credits(flow) && !flow->posted && !flow->is_lent;
}
