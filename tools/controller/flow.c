// SPDX-License-Identifier: GPL-2.0-only
/* Posts READs as the flow control permits. */
#include "flow.h"

#include <errno.h>
#include <stdlib.h>

#include "capacity.h"
#include "schedule.h"

/* Of what is in flight, beside the time that its bytes take: round trips, and more. */
#define DRAIN_MARGIN_NS 1000000ULL
/* On a port of unknown speed. */
#define DRAIN_DEFAULT_NS 10000000ULL

struct flow_control {
	enum settings_flow kind;
	uint64_t bytes; /* 0: that of the port */
	uint64_t bits_per_s;
	struct credit credit;
	bool is_open; /* the credit */
	bool is_granting;
	uint64_t drain_ns;
	TAILQ_HEAD(, flow) draining; /* the first to be drained first */
	struct timer timer; /* of the first of them */
};

static bool flow_control__is_on(const struct flow_control *control)
{
	return control->kind != SETTINGS_FLOW_NONE;
}

static void flow_control__learn(struct flow_control *control,
				const struct dart_endpoint *endpoint)
{
	struct dart_endpoint_path path;

	if (control->is_open)
		return;
	control->is_open = true;
	dart_endpoint__path(endpoint, &path);
	control->bits_per_s = path.bits_per_s;
	if (control->kind == SETTINGS_FLOW_BDP) {
		credit__init(&control->credit, UINT64_MAX,
			     control->bytes ?:
				     capacity__product(path.bits_per_s));
		control->drain_ns = DRAIN_MARGIN_NS;
		return;
	}
	control->bytes = control->bytes ?: capacity__credit(path.bits_per_s);
	credit__init(&control->credit, control->bytes, UINT64_MAX);
	control->drain_ns = DRAIN_DEFAULT_NS;
	if (path.bits_per_s)
		control->drain_ns =
			DRAIN_MARGIN_NS +
			control->bytes * 8000 / (path.bits_per_s / 1000000);
}

/*
 * Posts all that there are credits for.  If posting fails, the user may close a flow, whose
 * credits come back later, so that this loop ends.
 */
static void flow_control__grant(struct flow_control *control)
{
	struct credit_flow *granted;
	uint32_t fragments;
	struct flow *flow;
	uint64_t now_ns;
	int err;

	if (control->is_granting)
		return;
	control->is_granting = true;
	while ((granted = credit__grant(&control->credit, &fragments))) {
		flow = (struct flow *)granted;
		now_ns = monotonic_ns();
		flow->posted_ns = flow->posted_ns ?: now_ns;
		if (granted->held - flow->draining == fragments)
			flow->heard_ns = now_ns;
		err = dart_endpoint__post(flow->endpoint, fragments);
		if (err)
			flow->failed(flow, err);
	}
	control->is_granting = false;
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
	TAILQ_REMOVE(&flow->control->draining, flow, place);
	credit__give_back(&flow->control->credit, &flow->credit,
			  flow->draining);
	flow->draining = 0;
}

static void on_drained(void *data)
{
	struct flow_control *control = data;
	uint64_t now_ns = monotonic_ns();
	struct flow *flow;

	while ((flow = TAILQ_FIRST(&control->draining)) &&
	       flow->drained_ns <= now_ns)
		flow__drained(flow);
	flow_control__set_timer(control);
	flow_control__grant(control);
}

int flow_control__new(struct timers *timers, const struct settings *settings,
		      struct flow_control **controlp)
{
	struct flow_control *control = calloc(1, sizeof(*control));

	if (!control)
		return -ENOMEM;
	/* One agent has nobody to meet in a switch: its READs need not be cut. */
	control->kind = settings->flow ?:
			(settings->target_count > 1 ? SETTINGS_FLOW_CREDIT :
						      SETTINGS_FLOW_NONE);
	control->bytes = settings->flow_bytes;
	TAILQ_INIT(&control->draining);
	timer__init(&control->timer, timers, on_drained, control);
	*controlp = control;
	return 0;
}

void flow_control__free(struct flow_control *control)
{
	if (!control)
		return;
	timer__stop(&control->timer);
	free(control);
}

uint64_t flow_control__bits_per_s(const struct flow_control *control)
{
	return control->bits_per_s;
}

void flow__open(struct flow *flow, struct flow_control *control, uint8_t class,
		struct dart_endpoint *endpoint, flow_failed *failed)
{
	flow_control__learn(control, endpoint);
	flow->control = control;
	flow->class = class;
	flow->endpoint = endpoint;
	flow->failed = failed;
	if (flow_control__is_on(control))
		dart_endpoint__cut(endpoint, CREDIT_FRAGMENT);
}

void flow__close(struct flow *flow)
{
	struct flow_control *control = flow->control;

	if (!flow->endpoint)
		return;
	flow->endpoint = NULL;
	flow->is_reading = false;
	credit__cancel(&control->credit, &flow->credit);
	if (!flow->credit.held)
		return;
	if (flow->draining)
		TAILQ_REMOVE(&control->draining, flow, place);
	flow->draining = flow->credit.held;
	flow->drained_ns = monotonic_ns() + control->drain_ns;
	TAILQ_INSERT_TAIL(&control->draining, flow, place);
	flow_control__set_timer(control);
}

void flow__end(struct flow *flow)
{
	flow__close(flow);
	if (flow->draining)
		flow__drained(flow);
}

int flow__read(struct flow *flow, const struct dart_read *reads, uint32_t count)
{
	struct flow_control *control = flow->control;
	int err;

	if (flow_control__is_on(control))
		err = dart_endpoint__begin(flow->endpoint, reads, count);
	else
		err = dart_endpoint__read(flow->endpoint, reads, count);
	if (err)
		return err;
	flow->is_reading = true;
	if (!flow_control__is_on(control)) {
		flow->posted_ns = flow->heard_ns = monotonic_ns();
		return 0;
	}
	flow->posted_ns = 0;
	credit__ask(&control->credit, &flow->credit, flow->class,
		    dart_endpoint__operations(flow->endpoint, reads, count));
	flow_control__grant(control);
	return 0;
}

int flow__on_completion(struct flow *flow, struct dart_error *error)
{
	int ret = dart_endpoint__on_completion(flow->endpoint, error);
	uint32_t completed = dart_endpoint__take_completed(flow->endpoint);

	if (ret < 0)
		return ret;
	flow->is_reading = flow->is_reading && !ret;
	if (completed)
		flow->heard_ns = monotonic_ns();
	if (completed && flow_control__is_on(flow->control)) {
		credit__give_back(&flow->control->credit, &flow->credit,
				  completed);
		flow_control__grant(flow->control);
	}
	return ret;
}

uint64_t flow__silence_ns(const struct flow *flow)
{
	if (!flow->is_reading || flow__waits(flow))
		return 0;
	return monotonic_ns() - flow->heard_ns;
}

bool flow__waits(const struct flow *flow)
{
	return flow->is_reading && flow_control__is_on(flow->control) &&
	       flow->credit.held == flow->draining;
}
