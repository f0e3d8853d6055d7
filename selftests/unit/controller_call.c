// SPDX-License-Identifier: GPL-2.0-only
/*
 * Targets that are called by TCP: the control loop, the I/O thread and a worker of a
 * controller, and the agent, which shares the loop, in one process.
 */
#include <stdatomic.h>
#include <sys/eventfd.h>

/* Samples and counts of a controller are others than those of the agent and its tests. */
#define sample agent_sample
#define count__set agent_count__set
#define count__add agent_count__add
#include "serve_tcp.h"
#undef sample
#undef count__set
#undef count__add

#include "tools/controller/target.h"

/* Of the certificate of the agent: targets are not resolved. */
#define HOST "127.0.0.1"
#define TARGETS 3
#define WAIT_US 20000000

/* Where samples end: a worker compares them with the memory of the agent. */
struct seen {
	struct sink sink; /* first */
	int changed; /* eventfd */
	atomic_uint samples[TARGETS];
	atomic_ullong generation; /* of the last one */
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

/* Are the values those that READs would have landed? */
static bool is_right(const struct sample *sample)
{
	struct dart_read_plan *plan;
	const struct dart_read *reads;
	uint8_t *landing, *expected;
	uint32_t i, count;
	bool same = true;
	size_t size;

	if (dart_read_plan__new(sample->table, NULL, 0, &plan))
		return false;
	landing = calloc(1, dart_read_plan__landing_size(plan));
	reads = dart_read_plan__reads(plan, &count);
	for (i = 0; landing && i < count; i++)
		memcpy(landing + reads[i].landing,
		       exposure__memory(NULL, reads[i].address),
		       reads[i].length);
	for (i = 0; landing && i < sample->entry_count; i++) {
		size = dart_entry__size(sample->entries[i].entry);
		expected = malloc(size);
		same &= !!expected;
		if (!expected)
			break;
		dart_read_plan__gather(plan,
				       sample->entries[i].entry -
					       sample->table->entries,
				       landing, expected);
		same &= !memcmp(expected, sample->entries[i].copies, size);
		free(expected);
	}
	same &= landing && sample->entry_count == sample->table->entry_count;
	free(landing);
	dart_read_plan__free(plan);
	return same;
}

static int take_sample(struct sink *sink, const struct target_settings *target,
		       const struct sample *sample,
		       const struct latency *decoded)
{
	struct seen *seen = (struct seen *)sink;

	if (!is_right(sample) || sample->head.reads != 1 ||
	    !sample->head.clock_uncertainty_ns)
		atomic_fetch_add(&seen->wrong, 1);
	atomic_store(&seen->generation, sample->table->generation);
	atomic_fetch_add(&seen->samples[target->index], 1);
	return eventfd_write(seen->changed, 1);
}

static int take_loss(struct sink *sink, const struct target_settings *target,
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

static int on_changed(sd_event_source *source, int fd, uint32_t events,
		      void *data)
{
	eventfd_t count;

	eventfd_read(fd, &count);
	return 0;
}

static int on_mail(sd_event_source *source, int fd, uint32_t events, void *data)
{
	mailbox__read(data);
	return 0;
}

static void on_finished(struct target_context *context, struct target *target,
			int result)
{
	struct controlled *controlled =
		caa_container_of(context, struct controlled, context);

	controlled->finished++;
	controlled->result = result;
}

static void no_completion(struct dart_endpoint *endpoint, int result)
{
	fail_msg("a READ has completed");
}

/* The agent has the certificate of HOST, and accepts this @subject. */
static void admit(struct fixture *fixture, const char *subject)
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

static int open_controlled(void **state)
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
	handshakes__open(&context->handshakes, context->timers,
			 SETTINGS_HANDSHAKES_DEFAULT);
	assert_int_equal(resolver__new(context->event, &context->resolver), 0);
	assert_int_equal(mailbox__open(&context->mailbox), 0);
	assert_true(sd_event_add_io(context->event, &controlled->mail,
				    mailbox__fd(&context->mailbox), EPOLLIN,
				    on_mail, &context->mailbox) >= 0);
	assert_true(sd_event_add_io(context->event, &controlled->changed,
				    controlled->seen.changed, EPOLLIN,
				    on_changed, NULL) >= 0);
	controlled->options.settings.flow = SETTINGS_FLOW_CREDIT;
	controlled->options.settings.flow_bytes = CREDIT_FRAGMENT;
	assert_int_equal(flow_control__new(context->timers,
					   &controlled->options.settings, false,
					   &context->flow_control),
			 0);
	if (io_threads__start(&context->io, &controlled->options.settings, false,
			      context->flow_control, no_completion, &error))
		fail_msg("%s", error.text);
	*state = controlled;
	return 0;
}

static int close_controlled(void **state)
{
	struct controlled *controlled = *state;
	struct target_context *context = &controlled->context;
	unsigned int i;

	io_threads__stop(&context->io);
	workers__stop(context->workers);
	for (i = 0; i < controlled->count; i++)
		target__free(controlled->targets[i]);
	io_threads__free(&context->io);
	sd_event_source_disable_unref(controlled->mail);
	sd_event_source_disable_unref(controlled->changed);
	mailbox__close(&context->mailbox);
	resolver__free(context->resolver);
	flow_control__free(context->flow_control);
	timers__free(context->timers);
	close(controlled->seen.changed);
	run_agent(controlled->fixture);
	close_fixture((void **)&controlled->fixture);
	free(controlled);
	return 0;
}

/* Begins to scrape every 2 ms. */
static void start(struct controlled *controlled)
{
	const unsigned int index = controlled->count++;
	struct target_settings *settings = &controlled->settings[index];

	*settings = (struct target_settings){
		.index = index,
		.host = (char *)HOST,
		.name = (char *)HOST,
		.port = port_of(controlled->fixture),
		.transport = SETTINGS_TRANSPORT_TCP,
		.interval_ns = 2000000,
	};
	assert_int_equal(target__new(&controlled->context, settings,
				     &controlled->targets[index]),
			 0);
}

/* One turn of the loop, for the control loop or the agent. */
static void turn(struct controlled *controlled)
{
	const int ret = sd_event_run(controlled->fixture->loop, WAIT_US);

	assert_true(ret > 0);
	assert_int_equal(atomic_load(&controlled->seen.wrong), 0);
}

/* Until each target has so many samples more. */
static void scrape(struct controlled *controlled, unsigned int more)
{
	unsigned int i, wanted[TARGETS];

	for (i = 0; i < controlled->count; i++)
		wanted[i] = atomic_load(&controlled->seen.samples[i]) + more;
	for (i = 0; i < controlled->count; i++)
		while (atomic_load(&controlled->seen.samples[i]) < wanted[i])
			turn(controlled);
}

/* Until the first target is not up, for a reason with these words. */
static void lose(struct controlled *controlled, const char *words)
{
	struct target_status status;

	do {
		turn(controlled);
		target__status(controlled->targets[0], &status);
	} while (!status.error || !strstr(status.error, words));
	assert_string_not_equal(status.state, "up");
}

static void test_scrapes(void **state)
{
	struct controlled *controlled = *state;
	struct target_status status;

	start(controlled);
	scrape(controlled, 200);
	target__status(controlled->targets[0], &status);
	assert_string_equal(status.state, "up");
	assert_null(status.error);
	assert_int_equal(status.failed, 0);
	assert_int_equal(status.discarded, 0);
	assert_int_equal(atomic_load(&controlled->seen.lost), 0);
}

/* There is one credit, and each answer is longer. */
static void test_credits(void **state)
{
	struct controlled *controlled = *state;
	unsigned int i;

	for (i = 0; i < TARGETS; i++)
		start(controlled);
	scrape(controlled, 100);
	assert_int_equal(atomic_load(&controlled->seen.lost), 0);
}

static void test_changes(void **state)
{
	struct controlled *controlled = *state;
	struct fixture *fixture = controlled->fixture;
	struct target_status status;
	unsigned long long generation;

	start(controlled);
	scrape(controlled, 5);
	for (int i = 0; i < 3; i++) {
		/* Every place may have another entry then. */
		served_host__change(fixture->host, true);
		generation = fixture->host->control_region.generation;
		while (atomic_load(&controlled->seen.generation) != generation)
			scrape(controlled, 1);
	}
	target__status(controlled->targets[0], &status);
	assert_in_range(status.discarded, 1, 3);
	served_host__change(fixture->host, false);
	generation = fixture->host->control_region.generation;
	while (atomic_load(&controlled->seen.generation) != generation)
		scrape(controlled, 1);
	assert_int_equal(status.failed, 0);
	assert_int_equal(atomic_load(&controlled->seen.lost), 0);
}

static void test_refused(void **state)
{
	struct controlled *controlled = *state;

	start(controlled);
	scrape(controlled, 5);
	admit(controlled->fixture, "another.example");
	lose(controlled, "refuses the certificate of this side");
	admit(controlled->fixture, CALLER);
	scrape(controlled, 5);
	assert_true(atomic_load(&controlled->seen.lost) > 0);
}

static void test_gone(void **state)
{
	static char loopback[] = HOST;
	static char *addresses[] = { loopback };
	struct controlled *controlled = *state;
	struct fixture *fixture = controlled->fixture;
	const struct tcp_place place = {
		.addresses = addresses,
		.count = 1,
		.port = port_of(fixture),
	};
	struct tcp_admission admission = fixture->admission;
	struct dart_error error;
	struct pem pem;

	start(controlled);
	scrape(controlled, 5);
	tcp_listener__close(&fixture->listener);
	lose(controlled, "cannot connect: Connection refused");
	admission.files = *files_of(&pem, known, HOST, known);
	if (tcp_listener__open(&fixture->listener, fixture->loop, &place,
			       &admission, &fixture->snapshots,
			       &changes, &counts, &refused, &error))
		fail_msg("%s", error.text);
	scrape(controlled, 5);
}

/* It is stopped amid scrapes, and the other goes on. */
static void test_stopped(void **state)
{
	struct controlled *controlled = *state;
	struct target *target;

	start(controlled);
	start(controlled);
	scrape(controlled, 5);
	target = controlled->targets[--controlled->count];
	target__stop(target);
	while (!controlled->finished || target__is_draining(target))
		turn(controlled);
	assert_int_equal(controlled->result, 0);
	scrape(controlled, 20);
	assert_int_equal(counts.peers.connected, 1);
	/* Its worker has nothing of it any more: all samples are later. */
	target__free(target);
}

static void test_without_tls(void **state)
{
	struct controlled *controlled = *state;

	controlled->context.tls = NULL;
	start(controlled);
	lose(controlled, "tcp needs --tls-certificate");
	controlled->context.tls = controlled->fixture->tls;
	scrape(controlled, 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST_FIXTURE("a target that is called by TCP is scraped by its own table, with the bytes that READs would land",
			     test_scrapes, open_controlled, close_controlled),
		TEST_FIXTURE("several share a credit that is shorter than their answers",
			     test_credits, open_controlled, close_controlled),
		TEST_FIXTURE("after a change the table is fetched again, and no value of another table is shown",
			     test_changes, open_controlled, close_controlled),
		TEST_FIXTURE("a certificate that is refused is told, and once it is accepted values come back",
			     test_refused, open_controlled, close_controlled),
		TEST_FIXTURE("an agent that has gone is lost, and scraped again when it is back",
			     test_gone, open_controlled, close_controlled),
		TEST_FIXTURE("a target that is stopped disconnects, and disturbs no other",
			     test_stopped, open_controlled, close_controlled),
		TEST_FIXTURE("without a certificate of its own a controller says what it needs",
			     test_without_tls, open_controlled, close_controlled),
	};

	return cmocka_run_group_tests(tests, make_files, remove_files);
}
