/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * All that scrapes in a controller, for the hosts of controller_hosts.h: its control loop, I/O
 * threads and a worker, and an output that looks at each value.
 */
#ifndef CONTROLLER_BED_H
#define CONTROLLER_BED_H

#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>

#include "controller_hosts.h"
#include "tools/controller/base/schedule.h"
#include "tools/controller/decode/catalog.h"
#include "tools/controller/fleet/target_private.h"
#include "tools/controller/transport/transport_read.h"

#define HANDSHAKES 16
/* Far more than all takes. */
#define DEADLINE_NS 600000000000ULL

/* ---- a sink that looks at each value, in the worker */

static atomic_uint samples, wrong, losses, passed[HOSTS];
static bool has_sample[HOSTS]; /* of the worker */

static int check_sample(struct sink *sink, const struct target_settings *target,
			const struct sample *sample, const struct latency *decoded)
{
	const uint64_t *copies;
	char node[32];
	uint32_t i, k;

	snprintf(node, sizeof(node), "host%zu", target->index);
	if (strcmp(sample->table->node_name, node) ||
	    sample->table->instance != target->index + 1 || sample->entry_count != ENTRIES)
		atomic_fetch_add(&wrong, 1);
	for (i = 0; i < sample->entry_count; i++) {
		copies = sample->entries[i].copies;
		for (k = 0; k < FIELDS; k++) {
			if (copies[k] != value_of(target->index, i * FIELDS + k))
				atomic_fetch_add(&wrong, 1);
		}
	}
	atomic_fetch_add(&passed[target->index], 1);
	if (!has_sample[target->index])
		atomic_fetch_add(&samples, 1);
	has_sample[target->index] = true;
	return 0;
}

static int note_loss(struct sink *sink, const struct target_settings *target, const char *reason)
{
	atomic_fetch_add(&losses, 1);
	return 0;
}

static const struct sink_operations operations = {
	.sample = check_sample,
	.lost = note_loss,
};

static struct sink sink = { .operations = &operations };

/* ---- the controller around the targets */

static struct options options = {
	/* Each target gets its first sample long before the second is due. */
	.settings.interval_ns = 60000000000,
};

static struct {
	struct target_context context;
	struct catalogs catalogs;
	sd_event_source *connections, *mail;
	int null;
	struct target *targets[HOSTS];
	struct target_settings *settings[HOSTS];
	unsigned int finished;
} bed;

static void on_finished(struct target_context *context, struct target *target, int result)
{
	assert_int_equal(result, 0);
	bed.finished++;
}

static int on_connection(sd_event_source *source, int fd, uint32_t events, void *data)
{
	return dart_endpoint_set__on_connection(bed.context.io.set, transport_read__on_connection);
}

static int on_mail(sd_event_source *source, int fd, uint32_t events, void *data)
{
	mailbox__read(&bed.context.mailbox);
	return 0;
}

static void bed__open(void)
{
	struct target_context *context = &bed.context;
	struct dart_error error;

	memset(&bed, 0, sizeof(bed));
	atomic_store(&samples, 0);
	atomic_store(&wrong, 0);
	atomic_store(&losses, 0);
	memset(has_sample, 0, sizeof(has_sample));
	bed.null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	context->options = &options;
	context->sink = &sink;
	context->catalogs = &bed.catalogs;
	context->finished = on_finished;
	context->target_count = SIZE_MAX;
	assert_int_equal(sd_event_new(&context->event), 0);
	assert_int_equal(output__open(bed.null, "null", 1 << 20, NULL, &context->log), 0);
	assert_int_equal(workers__start(1, &context->workers), 0);
	assert_int_equal(catalogs__open(&bed.catalogs), 0);
	assert_int_equal(timers__new(context->event, &context->timers), 0);
	clock_messages__open(&context->clocks, 0, context->log);
	handshakes__open(&context->handshakes, context->timers, HANDSHAKES);
	assert_int_equal(resolver__new(context->event, &context->resolver), 0);
	assert_int_equal(flow_control__new(context->timers, &options.settings,
					   false, &context->flow_control),
			 0);
	assert_int_equal(mailbox__open(&context->mailbox), 0);
	assert_true(sd_event_add_io(context->event, &bed.mail, mailbox__fd(&context->mailbox),
				    EPOLLIN, on_mail, NULL) >= 0);
	assert_int_equal(io_threads__start(&context->io, &options.settings, false,
					   context->flow_control, transport_read__on_completion,
					   &error),
			 0);
	assert_true(sd_event_add_io(context->event, &bed.connections,
				    dart_endpoint_set__connection_fd(context->io.set), EPOLLIN,
				    on_connection, NULL) >= 0);
}

static void bed__add(uint32_t index, uint64_t interval_ns, uint64_t standby_ns)
{
	struct target_settings *settings = calloc(1, sizeof(*settings));
	char text[32];

	assert_non_null(settings);
	snprintf(text, sizeof(text), "10.0.%u.%u", index / 256, index % 256);
	settings->index = index;
	settings->port = DART_CONTROL_PORT;
	settings->transport = SETTINGS_TRANSPORT_READ;
	settings->interval_ns = interval_ns;
	settings->standby_ns = standby_ns;
	settings->host = strdup(text);
	settings->name = strdup(text);
	bed.settings[index] = settings;
	assert_int_equal(target__new(&bed.context, settings, &bed.targets[index]), 0);
}

/* The target finished, and its worker is done with it; or all threads ended. */
static void bed__remove(uint32_t index)
{
	target__free(bed.targets[index]);
	bed.targets[index] = NULL;
	free(bed.settings[index]->host);
	free(bed.settings[index]->name);
	free(bed.settings[index]);
}

/* Runs the loop until @done. */
static void bed__run(bool (*done)(void))
{
	const uint64_t end_ns = monotonic_ns() + DEADLINE_NS;

	while (!done()) {
		assert_true(sd_event_run(bed.context.event, 10000) >= 0);
		assert_true(monotonic_ns() < end_ns);
	}
}

static bool all_have_samples(void)
{
	return atomic_load(&samples) >= host_count;
}

static bool all_are_finished(void)
{
	return bed.finished == host_count;
}

static void bed__close(void)
{
	struct target_context *context = &bed.context;
	uint32_t i;

	for (i = 0; i < host_count; i++)
		target__stop(bed.targets[i]);
	bed__run(all_are_finished);
	io_threads__stop(&context->io);
	workers__stop(context->workers);
	for (i = 0; i < host_count; i++)
		bed__remove(i);
	assert_int_equal(content_store__count(&bed.catalogs.catalogs), 0);
	assert_int_equal(content_store__count(&bed.catalogs.schemas), 0);
	sd_event_source_disable_unref(bed.connections);
	io_threads__free(&context->io);
	sd_event_source_disable_unref(bed.mail);
	mailbox__close(&context->mailbox);
	resolver__free(context->resolver);
	flow_control__free(context->flow_control);
	handshakes__close(&context->handshakes);
	timers__free(context->timers);
	clock_messages__close(&context->clocks);
	catalogs__close(&bed.catalogs);
	sd_event_unref(context->event);
	output__close(context->log);
	close(bed.null);
}

#endif /* CONTROLLER_BED_H */
