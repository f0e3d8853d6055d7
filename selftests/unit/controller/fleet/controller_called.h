/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A controller whose targets are called over TCP: its control loop, I/O thread and
 * worker, and the agent, which shares the loop, in one process.
 */
#ifndef CONTROLLER_CALLED_H
#define CONTROLLER_CALLED_H

#include <stdatomic.h>
#include <sys/eventfd.h>

/* The names "sample" and "counts" mean other structures in the controller than in the agent. */
#define sample agent_sample
#define count__set agent_count__set
#define count__add agent_count__add
#include "selftests/unit/agent/serve/serve_tcp.h"
#undef sample
#undef count__set
#undef count__add

#include "tools/controller/fleet/target.h"

/* The name in the certificate of the agent: targets are not resolved. */
#define HOST "127.0.0.1"
#define TARGETS 3
#define WAIT_US 20000000

/* Where samples end: a worker compares them with the memory of the agent. */
struct seen {
	struct sink sink; /* first */
	int changed; /* eventfd */
	atomic_uint samples[TARGETS];
	atomic_ullong generation; /* of the last sample */
	atomic_uint wrong, lost;
};

struct controlled {
	struct fixture *fixture;
	struct options options;
	struct target_context context;
	struct seen seen;
	struct target_settings settings[TARGETS];
	struct target *targets[TARGETS];
	unsigned int count;
	sd_event_source *mail, *changed;
	unsigned int finished;
	int result;
};

/* ---- in the worker */

/* Do the values of @entry equal the memory of the agent? */
static inline bool is_entry_right(const struct sample_entry *entry)
{
	const struct dart_entry *of = entry->entry;
	const struct dart_range *range;
	const uint8_t *copy;
	uint32_t i, k;

	for (i = 0; i < of->range_count; i++) {
		range = &of->ranges[i];
		for (k = 0; k < range->copies; k++) {
			copy = (const uint8_t *)entry->copies +
			       (range->first_copy + k) * of->schema->length;
			if (memcmp(copy + range->offset,
				   exposure__memory(NULL, range->address + k * range->stride),
				   range->length))
				return false;
		}
	}
	return true;
}

static inline bool is_right(const struct sample *sample)
{
	uint32_t i;

	for (i = 0; i < sample->entry_count; i++)
		if (!is_entry_right(&sample->entries[i]))
			return false;
	return sample->entry_count == sample->table->entry_count;
}

static inline int take_sample(struct sink *sink, const struct target_settings *target,
			      const struct sample *sample, const struct latency *decoded)
{
	struct seen *seen = (struct seen *)sink;

	if (!is_right(sample) || sample->head.reads != 1 || !sample->head.clock_uncertainty_ns)
		atomic_fetch_add(&seen->wrong, 1);
	atomic_store(&seen->generation, sample->table->generation);
	atomic_fetch_add(&seen->samples[target->index], 1);
	return eventfd_write(seen->changed, 1);
}

static inline int take_loss(struct sink *sink, const struct target_settings *target,
		     const char *reason)
{
	struct seen *seen = (struct seen *)sink;

	atomic_fetch_add(&seen->lost, 1);
	return eventfd_write(seen->changed, 1);
}

static const struct sink_operations sink_operations = {
	.sample = take_sample,
	.lost = take_loss,
};

/* ---- in the loop */

static inline int on_changed(sd_event_source *source, int fd, uint32_t events, void *data)
{
	eventfd_t count;

	eventfd_read(fd, &count);
	return 0;
}

static inline int on_mail(sd_event_source *source, int fd, uint32_t events, void *data)
{
	mailbox__read(data);
	return 0;
}

static inline void on_finished(struct target_context *context, struct target *target, int result)
{
	struct controlled *controlled = caa_container_of(context, struct controlled, context);

	controlled->finished++;
	controlled->result = result;
}

static inline void no_completion(struct dart_endpoint *endpoint, int result)
{
	fail_msg("a READ has completed");
}

/* The agent shows the certificate of HOST, and accepts this @subject. */
static inline void admit(struct fixture *fixture, const char *subject)
{
	static const char *subjects[1];
	struct tcp_admission admission = fixture->admission;
	struct dart_error error;
	struct pem pem;

	subjects[0] = subject;
	admission.files = *files_of(&pem, known, HOST, known);
	admission.subjects = subjects;
	admission.subject_count = 1;
	if (tcp_listener__admit(&fixture->listener, &admission, &error))
		fail_msg("%s", error.text);
}

static inline int open_controlled_with(void **state, unsigned int io_threads)
{
	struct controlled *controlled = calloc(1, sizeof(*controlled));
	struct target_context *context = &controlled->context;
	struct dart_error error;

	assert_non_null(controlled);
	open_fixture((void **)&controlled->fixture);
	admit(controlled->fixture, CALLER);
	controlled->seen.sink.operations = &sink_operations;
	controlled->seen.sink.owns_terminal = true;
	controlled->seen.changed = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	context->event = controlled->fixture->loop;
	context->tls = controlled->fixture->tls;
	context->sink = &controlled->seen.sink;
	context->options = &controlled->options;
	context->finished = on_finished;
	assert_int_equal(workers__start(1, &context->workers), 0);
	assert_int_equal(timers__new(context->event, &context->timers), 0);
	assert_int_equal(resolver__new(context->event, &context->resolver), 0);
	assert_int_equal(mailbox__open(&context->mailbox), 0);
	assert_true(sd_event_add_io(context->event, &controlled->mail,
				    mailbox__fd(&context->mailbox), EPOLLIN, on_mail,
				    &context->mailbox) >= 0);
	assert_true(sd_event_add_io(context->event, &controlled->changed, controlled->seen.changed,
				    EPOLLIN, on_changed, NULL) >= 0);
	controlled->options.settings.flow = SETTINGS_FLOW_CREDIT;
	controlled->options.settings.flow_bytes = io_threads * CREDIT_FRAGMENT;
	controlled->options.settings.io_threads = io_threads;
	assert_int_equal(flow_control__new(context->timers, &controlled->options.settings, false,
					   &context->flow_control),
			 0);
	if (io_threads__start(&context->io, &controlled->options.settings, false,
			      context->flow_control, no_completion, &error))
		fail_msg("%s", error.text);
	clock_messages__open(&context->clocks, 0, NULL);
	handshakes__open(&context->handshakes, context->timers, SETTINGS_HANDSHAKES_DEFAULT);
	*state = controlled;
	return 0;
}

static inline int open_controlled(void **state)
{
	return open_controlled_with(state, 1);
}

static inline int close_controlled(void **state)
{
	struct controlled *controlled = *state;
	struct target_context *context = &controlled->context;
	unsigned int i;

	io_threads__stop(&context->io);
	workers__stop(context->workers);
	/* Like the other parts: no handshake begins because another ends. */
	handshakes__close(&context->handshakes);
	for (i = 0; i < controlled->count; i++)
		target__free(controlled->targets[i]);
	io_threads__free(&context->io);
	sd_event_source_disable_unref(controlled->mail);
	sd_event_source_disable_unref(controlled->changed);
	mailbox__close(&context->mailbox);
	resolver__free(context->resolver);
	flow_control__free(context->flow_control);
	clock_messages__close(&context->clocks);
	timers__free(context->timers);
	close(controlled->seen.changed);
	run_agent(controlled->fixture);
	close_fixture((void **)&controlled->fixture);
	free(controlled);
	return 0;
}

/* Begins to scrape the agent at @port. */
static inline void start_every(struct controlled *controlled, uint16_t port, uint64_t interval_ns)
{
	const unsigned int index = controlled->count++;
	struct target_settings *settings = &controlled->settings[index];

	*settings = (struct target_settings){
		.index = index,
		.host = (char *)HOST,
		.name = (char *)HOST,
		.port = port,
		.transport = SETTINGS_TRANSPORT_TCP,
		.interval_ns = interval_ns,
	};
	assert_int_equal(target__new(&controlled->context, settings, &controlled->targets[index]),
			 0);
}

static inline void start_at(struct controlled *controlled, uint16_t port)
{
	start_every(controlled, port, 2000000);
}

static inline void start(struct controlled *controlled)
{
	start_at(controlled, port_of(controlled->fixture));
}

/* One turn of the loop, for the control loop or the agent. */
static inline void turn(struct controlled *controlled)
{
	const int ret = sd_event_run(controlled->fixture->loop, WAIT_US);

	assert_true(ret > 0);
	assert_int_equal(atomic_load(&controlled->seen.wrong), 0);
}

/* Waits until each target got this number of further samples. */
static inline void scrape(struct controlled *controlled, unsigned int more)
{
	unsigned int i, wanted[TARGETS];

	for (i = 0; i < controlled->count; i++)
		wanted[i] = atomic_load(&controlled->seen.samples[i]) + more;
	for (i = 0; i < controlled->count; i++)
		while (atomic_load(&controlled->seen.samples[i]) < wanted[i])
			turn(controlled);
}

#endif /* CONTROLLER_CALLED_H */
