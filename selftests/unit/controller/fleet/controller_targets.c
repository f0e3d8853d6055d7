// SPDX-License-Identifier: GPL-2.0-only
/* A thousand targets, with all threads of a controller: their costs, and their READs. */
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>

#include "controller_hosts.h"
#include "tools/controller/base/schedule.h"
#include "tools/controller/decode/catalog.h"
#include "tools/controller/fleet/target_private.h"
#include "tools/controller/transport/transport_read.h"

#define HOSTS_OWN 200
#define HANDSHAKES 16
/* Memory of a target, with the queues of an adapter. */
#define TARGET_BYTES_MAX 64000
/* Far more than all takes. */
#define DEADLINE_NS 600000000000ULL

/* ---- memory, as the chunks that glibc's malloc() would take from the heap */

/*
 * Function of the sanitizers, whose heap mallinfo2(3) does not know; some compilers lack a header
 * for it.
 */
int __sanitizer_install_malloc_and_free_hooks(void (*malloced)(const volatile void *, size_t),
					      void (*freed)(const volatile void *));
size_t __sanitizer_get_allocated_size(const volatile void *memory);

static atomic_long heap;

static long chunk(size_t size)
{
	const long bytes = (size + 8 + 15) / 16 * 16;

	return bytes < 32 ? 32 : bytes;
}

static void on_malloc(const volatile void *memory, size_t size)
{
	atomic_fetch_add(&heap, chunk(size));
}

static void on_free(const volatile void *memory)
{
	if (memory)
		atomic_fetch_sub(&heap, chunk(__sanitizer_get_allocated_size(memory)));
}

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

static void bed__add_with(uint32_t index, uint64_t interval_ns, uint64_t standby_ns)
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

static void bed__add(uint32_t index)
{
	bed__add_with(index, 0, 0);
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
	for (i = 0; i < host_count; i++) {
		target__free(bed.targets[i]);
		free(bed.settings[i]->host);
		free(bed.settings[i]->name);
		free(bed.settings[i]);
	}
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

/* ---- tests */

static void scrape_all(const char *kind, size_t catalogs)
{
	long before, bytes;
	uint32_t i;

	bed__open();
	before = atomic_load(&heap);
	for (i = 0; i < host_count; i++)
		bed__add(i);
	bed__run(all_have_samples);
	bytes = (atomic_load(&heap) - before) / host_count;
	print_message("# %s: %ld bytes for each target, %zu of them its own structure\n", kind,
		      bytes, sizeof(struct target));
	assert_int_equal(content_store__count(&bed.catalogs.catalogs), catalogs);
	assert_int_equal(content_store__count(&bed.catalogs.schemas), ENTRIES);
	assert_in_range(bytes, VALUES * sizeof(uint64_t), TARGET_BYTES_MAX);
	bed__close();
	assert_in_range(simulated_network__asking_max(), 2,
			HANDSHAKES + bed.context.handshakes.late);
	assert_int_equal(atomic_load(&losses), 0);
	assert_int_equal(atomic_load(&samples), host_count);
	assert_int_equal(atomic_load(&wrong), 0);
	/* Not even the targets' places in other structures remain. */
	assert_in_range(atomic_load(&heap), 0, before);
}

static void test_equal(void **state)
{
	make_hosts(HOSTS, false);
	scrape_all("equal hosts", 1);
	free_hosts();
}

static void test_different(void **state)
{
	make_hosts(HOSTS_OWN, true);
	scrape_all("hosts with an entry of their own", HOSTS_OWN);
	free_hosts();
}

/* Targets 0 and 1 are on standby at first, target 2 is scraped. */
#define STANDBY_NS 50000000
#define INTERVAL_NS 5000000

static uint64_t wanted_scrapes[3];

static bool are_scraped(void)
{
	uint32_t i;

	for (i = 0; i < 3; i++)
		if (count__of(&target__summary(bed.targets[i])->scrapes) < wanted_scrapes[i])
			return false;
	return true;
}

/* Each target is scraped @count times more. */
static void bed__scrape(unsigned int count)
{
	uint32_t i;

	for (i = 0; i < 3; i++)
		wanted_scrapes[i] = count__of(&target__summary(bed.targets[i])->scrapes) + count;
	bed__run(are_scraped);
}

static atomic_bool is_fenced;

static void run_fence(struct work *work)
{
	atomic_store(&is_fenced, true);
}

static bool is_behind_fence(void)
{
	return atomic_load(&is_fenced);
}

static void change(uint32_t index, uint64_t standby_ns)
{
	target__change(bed.targets[index], standby_ns);
	target__mute(bed.targets[index], standby_ns);
}

static const char *state_of(uint32_t index)
{
	struct target_status status;

	target__status(bed.targets[index], &status);
	return status.state;
}

static void test_standby(void **state)
{
	struct work fence = { .run = run_fence };
	struct transport *connections[3];
	uint64_t started_ns, scrapes;
	unsigned int before;
	uint32_t i;

	make_hosts(3, false);
	bed__open();
	memset(passed, 0, sizeof(passed));
	for (i = 0; i < 3; i++)
		bed__add_with(i, INTERVAL_NS, i < 2 ? STANDBY_NS : 0);
	started_ns = monotonic_ns();
	bed__scrape(4);
	/* Four scrapes on standby are three intervals apart, less the phase of the first. */
	assert_true(monotonic_ns() - started_ns > 2 * STANDBY_NS);
	assert_int_equal(atomic_load(&passed[0]), 0);
	assert_int_equal(atomic_load(&passed[1]), 0);
	assert_true(atomic_load(&passed[2]) >= 4);
	assert_string_equal(state_of(0), "standby");
	assert_string_equal(state_of(2), "up");
	for (i = 0; i < 3; i++)
		connections[i] = bed.targets[i]->transport;

	/* Target 0 takes over, target 2 goes on standby. */
	scrapes = count__of(&target__summary(bed.targets[1])->scrapes);
	change(0, 0);
	change(2, STANDBY_NS);
	bed__scrape(3);
	assert_string_equal(state_of(0), "up");
	assert_string_equal(state_of(2), "standby");
	/* Its last scrapes before may still be with the worker. */
	workers__hand_over_always(bed.context.workers, 2, &fence);
	bed__run(is_behind_fence);
	before = atomic_load(&passed[2]);
	bed__scrape(10);
	assert_int_equal(atomic_load(&passed[2]), before);
	assert_int_equal(atomic_load(&passed[1]), 0);
	assert_true(atomic_load(&passed[0]) >= 10);
	assert_true(count__of(&target__summary(bed.targets[1])->scrapes) > scrapes);
	for (i = 0; i < 3; i++) {
		assert_ptr_equal(bed.targets[i]->transport, connections[i]);
		assert_int_equal(count__of(&target__summary(bed.targets[i])->failed), 0);
	}
	bed__close();
	free_hosts();
	assert_int_equal(atomic_load(&losses), 0);
	assert_int_equal(atomic_load(&wrong), 0);
}

#define TEAMS 2
#define HOSTS_SHARED 40

static void check_threads(const struct target *target)
{
	const struct io_team *team = &bed.context.io.teams[target->team];

	assert_true(target->thread == team->event || target->thread == team->poll);
	assert_ptr_equal(target->io.flow.pool,
			 flow_control__pool(bed.context.flow_control, target->team));
}

/* Each of the teams has half of the targets, and the threads of a team have no others. */
static void check_teams(uint32_t count)
{
	uint32_t i, targets[TEAMS] = {};

	for (i = 0; i < count; i++) {
		check_threads(bed.targets[i]);
		targets[bed.targets[i]->team]++;
	}
	for (i = 0; i < TEAMS; i++) {
		assert_int_equal(targets[i], count / TEAMS);
		assert_int_equal(bed.context.io.teams[i].targets, count / TEAMS);
	}
}

static bool is_one_finished(void)
{
	return bed.finished;
}

/* A target of @team ends, and another begins at its place. */
static void replace_one_of(unsigned int team)
{
	uint32_t index = 0;

	while (bed.targets[index]->team != team)
		index++;
	bed.finished = 0;
	target__stop(bed.targets[index]);
	bed__run(is_one_finished);
	workers__hand_over_always(bed.context.workers, index, &(struct work){ .run = run_fence });
	bed__run(is_behind_fence);
	atomic_store(&is_fenced, false);
	target__free(bed.targets[index]);
	free(bed.settings[index]->host);
	free(bed.settings[index]->name);
	free(bed.settings[index]);
	has_sample[index] = false;
	atomic_fetch_sub(&samples, 1);
	bed__add(index);
	assert_int_equal(bed.targets[index]->team, team);
	bed.finished = 0;
}

static void test_teams(void **state)
{
	uint32_t i;

	make_hosts(HOSTS_SHARED, false);
	options.settings.io = SETTINGS_IO_HYBRID;
	options.settings.io_threads = TEAMS;
	bed__open();
	for (i = 0; i < host_count; i++)
		bed__add(i);
	bed__run(all_have_samples);
	check_teams(host_count);
	for (i = 0; i < TEAMS; i++) {
		atomic_store(&is_fenced, false);
		replace_one_of(i);
		bed__run(all_have_samples);
		check_teams(host_count);
	}
	bed__close();
	for (i = 0; i < TEAMS; i++)
		assert_int_equal(bed.context.io.teams[i].load, 0);
	options.settings.io = 0;
	options.settings.io_threads = 0;
	free_hosts();
	assert_int_equal(atomic_load(&losses), 0);
	assert_int_equal(atomic_load(&wrong), 0);
}

/* A target that is scraped ten times as often weighs as much as ten others. */
static void test_load(void **state)
{
	uint32_t i, others = 0;

	make_hosts(12, false);
	options.settings.io_threads = TEAMS;
	bed__open();
	bed__add_with(0, 1000000000, 0);
	for (i = 1; i < 12; i++)
		bed__add_with(i, 10000000000, 0);
	for (i = 1; i < 12; i++)
		others += bed.targets[i]->team != bed.targets[0]->team;
	assert_in_range(others, 10, 11);
	bed__run(all_have_samples);
	bed__close();
	options.settings.io_threads = 0;
	free_hosts();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("of 1,000 equal hosts with 4 KiB of values each takes 64 kB at most, and all values are its own",
		     test_equal),
		TEST("so does each of 200 hosts that have an entry of their own", test_different),
		TEST("a target on standby is connected and READ slowly, and outputs get nothing of it; it takes over, and goes back, with the connection that it has",
		     test_standby),
		TEST("two teams of I/O threads have half of the targets each, also after some of them are replaced",
		     test_teams),
		TEST("their load is counted in scrapes", test_load),
	};

	__sanitizer_install_malloc_and_free_hooks(on_malloc, on_free);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
