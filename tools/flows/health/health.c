// SPDX-License-Identifier: GPL-2.0-only
/* Connects to servers: see health.h. */
#include "health.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <unistd.h>

#define ACCURACY_US 1000

enum state { UNKNOWN, UP, DOWN };

struct target {
	struct health *health;
	size_t server; /* its number in the policy */
	sd_event_source *timer; /* the next check, or the end of this one */
	sd_event_source *io; /* of a check under way */
	TAILQ_ENTRY(target) of_waiting;
	int fd; /* -1: no check is under way */
	bool is_waiting; /* for a place among those under way */
	const char *failure; /* of the check under way; NULL: none yet */
	enum state state;
	uint64_t in_turn; /* results that contradict the state */
	struct health_result result;
};

struct health {
	sd_event *event;
	const struct policy *policy;
	const struct health_handlers *handlers;
	void *subject;
	struct target **targets; /* by the numbers of servers; NULL: not checked */
	size_t count;
	unsigned int under_way;
	TAILQ_HEAD(, target) waiting;
};

static const struct policy_check *check_of(const struct target *target)
{
	const struct policy *policy = target->health->policy;

	return &policy->services[policy->servers[target->server].service].check;
}

/* ---- a check */

static void wait_for(struct target *target, uint64_t pause_ns)
{
	sd_event_source_set_time_relative(target->timer, pause_ns / 1000);
	sd_event_source_set_enabled(target->timer, SD_EVENT_ONESHOT);
}

/* @reason: NULL if the server has answered. */
static void take_result(struct target *target, const char *reason)
{
	const enum state before = target->state, found = reason ? DOWN : UP;
	const struct policy_check *check = check_of(target);
	struct health *health = target->health;

	target->result.checks++;
	if (reason) {
		target->result.failures++;
		target->result.reason = reason;
	}
	if (found == before) {
		target->in_turn = 0;
		return;
	}
	target->in_turn++;
	if (before != UNKNOWN && target->in_turn < (reason ? check->fall : check->rise))
		return;
	target->in_turn = 0;
	target->state = found;
	/* A server that was never down is no news. */
	if (before != UNKNOWN || reason)
		health->handlers->changed(health->subject, target->server, !reason, reason);
}

static void start_waiting(struct health *health);

static void finish(struct target *target, const char *reason)
{
	const struct linger reset = { .l_onoff = 1 };

	/* A RST leaves no connection that waits on either side. */
	setsockopt(target->fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
	target->io = sd_event_source_disable_unref(target->io);
	close(target->fd);
	target->fd = -1;
	target->health->under_way--;
	start_waiting(target->health);
	wait_for(target, check_of(target)->interval_ns);
	take_result(target, reason);
}

static int on_connected(sd_event_source *source, int fd, uint32_t events, void *data)
{
	socklen_t length = sizeof(int);
	struct target *target = data;
	int code = 0;

	if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &code, &length))
		code = errno;
	finish(target, code ? strerrordesc_np(code) : NULL);
	return 0;
}

/* Returns the code of a failure, or 0: the result will come. */
static int connect_to(const struct target *target)
{
	const struct policy_server *server = &target->health->policy->servers[target->server];
	const bool is_ipv4 = address__is_ipv4(server->end.address);
	const uint16_t port = htons(check_of(target)->port ?: server->end.port);
	const struct sockaddr_in in = {
		.sin_family = AF_INET,
		.sin_port = port,
		.sin_addr.s_addr = htonl(server->end.address),
	};
	struct sockaddr_in6 in6 = { .sin6_family = AF_INET6, .sin6_port = port };
	int ret;

	address__put(in6.sin6_addr.s6_addr, ADDRESS_LENGTH, server->end.address);
	ret = is_ipv4 ? connect(target->fd, (const struct sockaddr *)&in, sizeof(in)) :
			connect(target->fd, (const struct sockaddr *)&in6, sizeof(in6));
	return !ret || errno == EINPROGRESS ? 0 : errno;
}

/* Returns false if this host cannot check now, which says nothing about the server. */
static bool open_check(struct target *target)
{
	const struct end *end = &target->health->policy->servers[target->server].end;
	int code;

	target->fd = socket(address__is_ipv4(end->address) ? AF_INET : AF_INET6,
			    SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (target->fd < 0)
		return false;
	code = connect_to(target);
	target->failure = code ? strerrordesc_np(code) : NULL;
	if (code && code != EADDRNOTAVAIL && code != EAGAIN)
		return true;
	if (!code && sd_event_add_io(target->health->event, &target->io, target->fd, EPOLLOUT,
				     on_connected, target) >= 0) {
		/* An answer that is there counts, even if the loop comes to it after the time-out. */
		sd_event_source_set_priority(target->io, SD_EVENT_PRIORITY_IMPORTANT);
		return true;
	}
	close(target->fd);
	target->fd = -1;
	return false;
}

/* Starts a check, or waits for a place. */
static void begin(struct target *target)
{
	struct health *health = target->health;

	if (health->under_way >= HEALTH_AT_ONCE) {
		target->is_waiting = true;
		TAILQ_INSERT_TAIL(&health->waiting, target, of_waiting);
		return;
	}
	if (!open_check(target)) {
		wait_for(target, check_of(target)->interval_ns);
		return;
	}
	health->under_way++;
	/* A failure that is known already counts in the next turn of the loop. */
	wait_for(target, target->failure ? 0 : check_of(target)->timeout_ns);
}

/* Gives free places to the ones that have waited longest. */
static void start_waiting(struct health *health)
{
	struct target *next;

	while (health->under_way < HEALTH_AT_ONCE && (next = TAILQ_FIRST(&health->waiting))) {
		TAILQ_REMOVE(&health->waiting, next, of_waiting);
		next->is_waiting = false;
		begin(next);
	}
}

static int on_time(sd_event_source *source, uint64_t usec, void *data)
{
	struct target *target = data;

	if (target->fd < 0)
		begin(target);
	else
		finish(target, target->failure ?: "no answer in time");
	return 0;
}

/* ---- life */

static void free_target(struct target *target)
{
	if (!target)
		return;
	sd_event_source_disable_unref(target->timer);
	sd_event_source_disable_unref(target->io);
	if (target->is_waiting)
		TAILQ_REMOVE(&target->health->waiting, target, of_waiting);
	if (target->fd >= 0) {
		close(target->fd);
		target->health->under_way--;
	}
	free(target);
}

static void free_targets(struct target **targets, size_t count)
{
	size_t i;

	for (i = 0; targets && i < count; i++)
		free_target(targets[i]);
	free(targets);
}

static struct target *new_target(struct health *health)
{
	struct target *target = calloc(1, sizeof(*target));

	if (!target)
		return NULL;
	target->health = health;
	target->fd = -1;
	if (sd_event_add_time_relative(health->event, &target->timer, CLOCK_MONOTONIC, 0,
				       ACCURACY_US, on_time, target) >= 0)
		return target;
	free(target);
	return NULL;
}

/* The target of the same server before; -1: there was none. */
static long find_before(const struct health *health, const struct policy *policy, size_t server)
{
	const struct policy_service *service = &policy->services[policy->servers[server].service];
	const struct policy_server *before;

	service = policy__find_service(health->policy, service->protocol, &service->end);
	before = service ? policy__find_server(health->policy, service,
					       &policy->servers[server].end) :
			   NULL;
	return before && health->targets[before - health->policy->servers] ?
		       before - health->policy->servers :
		       -1;
}

/* Takes over the targets of servers that the new policy has, too. */
static int make_targets(struct health *health, const struct policy *policy, struct target **targets)
{
	size_t i;
	long before;

	for (i = 0; i < policy->server_count; i++) {
		if (!policy->services[policy->servers[i].service].check.is_given)
			continue;
		before = health->targets ? find_before(health, policy, i) : -1;
		if (before >= 0) {
			targets[i] = health->targets[before];
			health->targets[before] = NULL;
		} else {
			targets[i] = new_target(health);
		}
		if (!targets[i])
			return -ENOMEM;
		targets[i]->server = i;
	}
	return 0;
}

int health__set_policy(struct health *health, const struct policy *policy, struct dart_error *error)
{
	struct target **targets = calloc(policy->server_count, sizeof(struct target *));
	int ret = -ENOMEM;

	if (targets)
		ret = make_targets(health, policy, targets);
	if (ret) {
		free_targets(targets, policy->server_count);
		targets = NULL;
	}
	free_targets(health->targets, health->count);
	health->targets = targets;
	health->count = policy->server_count;
	health->policy = policy;
	start_waiting(health);
	return ret ? dart_error__no_memory(error) : 0;
}

int health__new(sd_event *event, const struct policy *policy,
		const struct health_handlers *handlers, void *subject, struct health **made,
		struct dart_error *error)
{
	struct health *health = calloc(1, sizeof(*health));
	int ret;

	if (!health)
		return dart_error__no_memory(error);
	health->event = event;
	health->handlers = handlers;
	health->subject = subject;
	TAILQ_INIT(&health->waiting);
	ret = health__set_policy(health, policy, error);
	if (ret)
		free(health);
	else
		*made = health;
	return ret;
}

void health__free(struct health *health)
{
	if (!health)
		return;
	free_targets(health->targets, health->count);
	free(health);
}

struct health_result health__result(const struct health *health, size_t server)
{
	if (!health->targets || !health->targets[server])
		return (struct health_result){};
	return health->targets[server]->result;
}
