// SPDX-License-Identifier: GPL-2.0-only
/*
 * The events of a target: its turn to connect, its name and its connection, reports of its I/O
 * thread, its timers; and its beginning and end.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include <dart/control.h>
#include <dart/rpc.h>

#include "target_private.h"
#include "tools/controller/transport/transport_call.h"
#include "tools/controller/transport/transport_read.h"

/* From connect to the table, with --once to the values. */
#define CONNECT_TIMEOUT_NS 10000000000ULL

static void target__set_connect_timeout(struct target *target)
{
	target->connect_deadline_ns = monotonic_ns() + CONNECT_TIMEOUT_NS;
	timer__set_at(&target->connect_timeout, target->connect_deadline_ns);
}

/* The interval at which the target is scraped, or will be if this controller takes over. */
static uint64_t target__scrape_interval(const struct target *target)
{
	if (target->settings->interval_ns)
		return target->settings->interval_ns;
	return target->context->options->settings.interval_ns ?: SETTINGS_INTERVAL_DEFAULT_NS;
}

/*
 * Milliseconds between two scrapes, for the agent, which keeps ended entries as long.  0: they stay
 * long enough in any case, or this agent does not understand.
 */
static uint32_t target__told_interval(const struct target *target)
{
	/* On standby, too: it may be scraped at any time. */
	const uint64_t interval_ms = target__scrape_interval(target) / 1000000;

	if (target->io.once || target->withholds_interval || interval_ms <= DART_CONTROL_RETRIES_MS)
		return 0;
	return interval_ms < UINT32_MAX ? interval_ms : UINT32_MAX;
}

/* An older agent refused to be told the interval. */
static bool target__is_too_old(const struct target *target, const struct dart_error *error)
{
	return target__told_interval(target) && strstr(error->text, DART_CONTROL_RESERVED);
}

static bool target__offers_mirror(const struct target *target)
{
	const struct options *options = target->context->options;

	return options->settings.mirror_bytes && !options->once && !target->withholds_mirror;
}

/* An older agent refused to tell of changes: with @error, in its answer to the first request. */
static bool target__cannot_tell(const struct target *target, const struct dart_error *error)
{
	return target->transport->operations->is_call && target__offers_mirror(target) &&
	       strstr(error->text, DART_RPC_UNKNOWN_TYPE);
}

/* Memory that cannot be registered, or iWARP. */
static void target__log_without_mirror(struct target *target)
{
	if (target__offers_mirror(target) && !target->transport->is_told)
		target__log(target,
			    "the RDMA device here has no mirror for it (check ulimit -l): new entries wait for the next scrape");
}

static void on_connected(void *data, const struct dart_error *error)
{
	struct target *target = data;

	if (!error) {
		target__log_without_mirror(target);
		target__hand_over(target);
	} else if (target__is_too_old(target, error)) {
		target->withholds_interval = true;
		target__lose(target,
			     "dartd there is older than this program: short-lived entries can be missed");
	} else if (target__offers_mirror(target) && strstr(error->text, DART_CONTROL_TAIL)) {
		target->withholds_mirror = true;
		target__lose(target,
			     "dartd there is older than this program: it cannot update a mirror");
	} else {
		target__lose(target, "%s", error->text);
	}
}

static void on_completed(void *data, int result)
{
	struct target *target = data;

	io_target__on_completion(&target->io, result);
}

static void on_updated(void *data)
{
	struct target *target = data;

	io_target__on_update(&target->io);
}

static const struct transport_handlers handlers = {
	.connected = on_connected,
	.completed = on_completed,
	.updated = on_updated,
};

static int target__read(struct target *target, const char *numeric, struct dart_error *error)
{
	struct io_threads *io = &target->context->io;

	if (!target->thread)
		target->thread = io_threads__choose(io, target->team, 0);
	return transport_read__connect(io->set, io_thread__number(target->thread), numeric,
				       target->settings->port, target__told_interval(target),
				       target__offers_mirror(target), &handlers, target,
				       &target->transport, error);
}

static int target__call(struct target *target, const char *numeric, struct dart_error *error)
{
	const struct target_settings *settings = target->settings;
	struct target_context *context = target->context;
	const struct transport_call_parts parts = {
		.event = context->event,
		.host = numeric,
		.port = settings->port,
		.dscp = context->dscp,
		.interval_ms = target__told_interval(target),
		.followed_max = target__offers_mirror(target) ?
					context->options->settings.mirror_bytes :
					0,
		.handlers = &handlers,
		.data = target,
	};
	int err = io_threads__call(&context->io, target->team, &target->thread);

	if (err)
		return dart_error__system(error, -err, "cannot start an I/O thread");
	if (settings->transport == SETTINGS_TRANSPORT_RPC)
		return transport_call__connect_rpc(&parts, &target->transport, error);
	/* A source may name such a target at any time. */
	if (!context->tls)
		return dart_error__set(error, EINVAL, SETTINGS_TCP_NEEDS_TLS);
	return transport_call__connect_tcp(&parts, context->tls, settings->host, &target->transport,
					   error);
}

static void target__connect(struct target *target, const char *numeric)
{
	const bool is_read = target->settings->transport == SETTINGS_TRANSPORT_READ;
	struct dart_error error;

	target->state = TARGET_CONNECTING;
	target__set_connect_timeout(target);
	if (is_read ? target__read(target, numeric, &error) : target__call(target, numeric, &error))
		target__lose(target, "%s", error.text);
}

static void on_resolved(void *data, const char *numeric, unsigned int count,
			const struct dart_error *error)
{
	struct target *target = data;

	target->address_count = count;
	target->resolution = NULL;
	target->has_no_address = !numeric;
	if (target->state != TARGET_RESOLVING)
		return;
	if (numeric)
		target__connect(target, numeric);
	else
		target__lose(target, "%s", error->text);
}

/* It is its turn to connect; its name is resolved first. */
static void target__on_turn(struct handshake *handshake)
{
	struct target *target = caa_container_of(handshake, struct target, handshake);
	const char *host = target->settings->host;
	int err;

	if (resolver__is_numeric(host)) {
		target__connect(target, host);
		return;
	}
	target->state = TARGET_RESOLVING;
	target__set_connect_timeout(target);
	/* One question a target, however long the name services take. */
	if (target->resolution)
		return;
	err = resolver__ask(target->context->resolver, host, target->has_no_address,
			    target->address_turn, on_resolved, target, &target->resolution);
	/* Until its answer. */
	target->has_no_address = true;
	if (err)
		target__lose(target, "cannot resolve '%s': %s", host, strerror(-err));
}

static void target__on_connect_timeout(void *data)
{
	struct target *target = data;

	if (target->state == TARGET_RESOLVING)
		target__lose(target,
			     "cannot resolve '%s': " TARGET_NO_ANSWER " from the name services",
			     target->settings->host);
	else
		target__lose(target, TARGET_NO_ANSWER);
}

/* As soon as it is its turn. */
static void target__ask_to_connect(struct target *target)
{
	/* The delay doubles when the target is lost, and again if it cannot be reached. */
	handshakes__ask(&target->context->handshakes, &target->handshake,
			target->backoff_us > 2 * TARGET_BACKOFF_MIN_US);
}

/* The I/O thread cannot get anything any more. */
static void target__explain_loss(struct target *target)
{
	const struct transport *transport = target->transport;
	const struct io_target *io = &target->io;
	struct dart_error error;

	switch (io->loss) {
	case IO_LOSS_TRANSPORT:
		transport->operations->explain(transport, &error);
		if (target__cannot_tell(target, &error)) {
			target->withholds_mirror = true;
			dart_error__set(&error, 0, "dartd there is older than this program: "
						   "it cannot tell that its table changes");
		}
		target__lose(target, "%s", error.text);
		break;
	case IO_LOSS_POST:
		if (transport->operations->is_call)
			transport->operations->explain(transport, &error);
		else
			dart_error__system(&error, -io->loss_error, "cannot post a READ");
		target__lose(target, "%s", error.text);
		break;
	case IO_LOSS_SILENCE:
		target__lose(target, TARGET_NO_ANSWER);
		break;
	case IO_LOSS_RESTART:
		target__lose(target, "the agent has restarted");
		break;
	}
}

static void on_reported(struct io_target *io, enum io_report report)
{
	struct target *target = (struct target *)io;

	/* It is to be released anyway. */
	if (target->state != TARGET_READING)
		return;
	switch (report) {
	case IO_WANTS_TABLE:
		target__prepare_fetch(target);
		break;
	case IO_TABLE_LANDED:
		target__take_landed(target);
		break;
	case IO_ADDED_TOLD:
		target__take_added(target);
		break;
	case IO_TABLE_TOLD:
		target__take_told(target);
		break;
	case IO_DONE:
		target__finish(target, target__outcome(target));
		break;
	case IO_LOST:
		target__explain_loss(target);
		break;
	}
}

static void on_released(struct io_target *io)
{
	struct target *target = (struct target *)io;

	target->state = TARGET_DISCONNECTED;
	/* It may have changed since the release was ordered. */
	if (io->schedule.interval_ns != target->interval_ns)
		schedule__change(&io->schedule, target->interval_ns, monotonic_ns());
	if (io->has_scraped)
		target->backoff_us = TARGET_BACKOFF_MIN_US;
	switch (target->next) {
	case TARGET_LOSE:
		target__retry(target);
		break;
	case TARGET_MOVE:
		target__disconnect(target);
		target__ask_to_connect(target);
		break;
	case TARGET_FINISH:
		target__finish(target, target->result);
		break;
	}
}

static void on_scrape_due(void *data)
{
	struct target *target = data;
	struct schedule *schedule = &target->io.schedule;

	count__add(&target->summary.failed, schedule__take(schedule, monotonic_ns()));
	timer__set_at(&target->scrape_timer, schedule->next_ns);
	target__finish_if_done(target);
}

static void on_retry(void *data)
{
	struct target *target = data;

	if (target->state == TARGET_DISCONNECTED)
		target__ask_to_connect(target);
	else if (target->state == TARGET_READING)
		target__fetch_again(target);
}

static void target__init_io(struct target *target)
{
	const struct options *options = target->context->options;
	const struct target_settings *settings = target->settings;
	struct io_target *io = &target->io;

	io->control = &target->context->mailbox;
	io->reported = on_reported;
	io->released = on_released;
	io->finds_added = target__finds_added;
	io->summary = &target->summary;
	io->once = options->once;
	io->wanted = options->once ? 1 : options->count;
	io->decoder = (struct decoder){
		.workers = target->context->workers,
		.sink = target->context->sink,
		.tap = target->context->tap,
		.validity = &target->context->validity,
		.settings = settings,
		.summary = &target->summary,
		.clocks = &target->context->clocks.listener,
	};
	atomic_init(&io->decoder.is_muted, settings->standby_ns);
	target->role.standby_ns = settings->standby_ns;
	target->interval_ns = settings->standby_ns ?: target__scrape_interval(target);
	io->schedule.interval_ns = target->interval_ns;
	io->schedule.phase = XXH3_64bits(settings->name, strlen(settings->name));
}

/*
 * Scrapes in 1000 s, as if all targets that this controller stands by for were taken over: which
 * ones will be, nobody knows.
 */
static uint64_t target__load(const struct target *target)
{
	return 1000000000000ULL / target__scrape_interval(target) ?: 1;
}

int target__new(struct target_context *context, const struct target_settings *settings,
		struct target **targetp)
{
	struct timers *timers = context->timers;
	struct target *target;

	target = calloc(1, sizeof(*target));
	if (!target)
		return -ENOMEM;
	target->context = context;
	target->settings = settings;
	target->backoff_us = TARGET_BACKOFF_MIN_US;
	target->since_ns = monotonic_ns();
	target->handshake.begin = target__on_turn;
	target__init_io(target);
	target->load = target__load(target);
	target->team = io_threads__join(&context->io, target->load);
	timer__init(&target->scrape_timer, timers, on_scrape_due, target);
	timer__init(&target->retry_timer, timers, on_retry, target);
	timer__init(&target->connect_timeout, timers, target__on_connect_timeout, target);
	timer__init(&target->down_timer, timers, target__on_down, target);
	if (!context->options->once)
		target__watch_down(target);
	/* Connects as soon as the loop runs. */
	timer__set(&target->retry_timer, 0);
	*targetp = target;
	return 0;
}

static void target__retime(struct target *target)
{
	struct schedule *schedule = &target->io.schedule;

	switch (target->state) {
	case TARGET_READING:
		io_target__retime(&target->io, target->interval_ns);
		break;
	case TARGET_RELEASING: /* on_released() does */
	case TARGET_FINISHED:
		break;
	default:
		schedule__change(schedule, target->interval_ns, monotonic_ns());
		if (schedule->next_ns)
			timer__set_at(&target->scrape_timer, schedule->next_ns);
	}
}

void target__change(struct target *target, uint64_t standby_ns)
{
	struct capacity *capacity = &target->context->capacity;
	const uint64_t interval_ns = standby_ns ?: target__scrape_interval(target);

	if (target->is_counted) {
		capacity__remove(capacity, target->interval_ns, target->counted_bytes);
		capacity__add(capacity, interval_ns, target->counted_bytes);
	}
	target->role.standby_ns = standby_ns;
	target->interval_ns = interval_ns;
	target->changed_ns = monotonic_ns();
	/* Outputs that get the target now have not heard why it is lost. */
	target->last_error.text[0] = '\0';
	target__retime(target);
	if (target->state != TARGET_FINISHED)
		target__watch_down(target);
	target__log(target, standby_ns ? "on standby" : "not on standby any more");
}

void target__mute(struct target *target, bool is_muted)
{
	atomic_store(&target->io.decoder.is_muted, is_muted);
}

void target__free(struct target *target)
{
	struct io_target *io;

	if (!target)
		return;
	io = &target->io;
	/* The I/O thread ended before it released the target. */
	if (target->transport)
		target->transport->operations->leave(target->transport);
	flow__end(&io->flow);
	target__disconnect(target);
	resolution__cancel(target->resolution);
	handshakes__end(&target->context->handshakes, &target->handshake);
	timer__stop(&target->scrape_timer);
	timer__stop(&target->retry_timer);
	timer__stop(&target->connect_timeout);
	timer__stop(&target->down_timer);
	io_threads__leave(&target->context->io, target->team, target->load);
	free(target->tapped.bytes);
	free(target->failure);
	free(target);
}
