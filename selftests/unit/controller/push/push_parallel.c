// SPDX-License-Identifier: GPL-2.0-only
/* Messages that are under way at the same time, and a receiver that serves several connections. */
#include "push_receiver.h"
#include "tools/bench/invented_metrics.h"
#include "tools/controller/base/schedule.h"
#include "tools/controller/push/push.h"
#include "tools/controller/push/senders.h"

#define SERIES 50
#define HOSTS 8
#define SCRAPES 200
#define CONNECTIONS 10
#define WAIT_S 300
#define SECOND_NS 1000000000LL
#define START_NS (1700000000 * SECOND_NS)

/* State that the threads of the receiver share. */
struct crowd {
	struct receiver receivers[CONNECTIONS];
	pthread_mutex_t lock;
	pthread_cond_t has_changed;
	bool is_given;			/* all samples, to the output */
	bool was_asked;			/* by a HEAD */
	unsigned int under_way;
	bool have_met;			/* two were under way at a time */
	uint32_t next[HOSTS * SERIES];	/* of each series: the next scrape */
	char *labels[HOSTS * SERIES];
	size_t count;
};

static size_t find_series(struct crowd *crowd, const char *labels, size_t length)
{
	size_t i;

	for (i = 0; i < crowd->count; i++) {
		if (strlen(crowd->labels[i]) == length && !memcmp(crowd->labels[i], labels, length))
			return i;
	}
	assert_true(i < HOSTS * SERIES);
	crowd->labels[crowd->count++] = strndup(labels, length);
	return i;
}

/* Checks that the next sample of each series comes, over any connection. */
static void take_text(struct crowd *crowd, const char *text)
{
	const char *line, *labels;
	size_t series, length;
	uint64_t time_ms;

	for (line = text; *line; line = strchr(line, '\n') + 1) {
		time_ms = strtoull(line, NULL, 10);
		labels = strchr(strchr(line, ' ') + 1, ' ');
		length = strcspn(labels, "\n");
		series = find_series(crowd, labels, length);
		assert_int_equal(time_ms, START_NS / 1000000 + 1000 * crowd->next[series]);
		crowd->next[series]++;
	}
}

/*
 * The receiver answers no message before all wait, and then, after the probing request, none
 * before another message arrives.
 */
static const char *choose(struct receiver *receiver, const char *text)
{
	struct crowd *crowd = receiver->data;
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += WAIT_S;
	pthread_mutex_lock(&crowd->lock);
	if (!text) {
		crowd->was_asked = true;
		pthread_mutex_unlock(&crowd->lock);
		return ACCEPTED;
	}
	take_text(crowd, text);
	if (++crowd->under_way > 1)
		crowd->have_met = true;
	pthread_cond_broadcast(&crowd->has_changed);
	while (!crowd->is_given || (crowd->was_asked && !crowd->have_met))
		assert_int_equal(pthread_cond_timedwait(&crowd->has_changed, &crowd->lock, &until),
				 0);
	crowd->under_way--;
	pthread_mutex_unlock(&crowd->lock);
	return ACCEPTED_2;
}

static void open_crowd(struct crowd *crowd)
{
	struct receiver *first = crowd->receivers;
	size_t i;

	pthread_mutex_init(&crowd->lock, NULL);
	pthread_cond_init(&crowd->has_changed, NULL);
	receiver__bind(first);
	for (i = 0; i < CONNECTIONS; i++) {
		crowd->receivers[i].fd = first->fd;
		crowd->receivers[i].choose = choose;
		crowd->receivers[i].data = crowd;
		receiver__run(crowd->receivers + i);
	}
}

static void close_crowd(struct crowd *crowd)
{
	size_t i;

	shutdown(crowd->receivers->fd, SHUT_RDWR);
	for (i = 0; i < CONNECTIONS; i++) {
		pthread_join(crowd->receivers[i].thread, NULL);
		fclose(crowd->receivers[i].out);
		free(crowd->receivers[i].accepted);
	}
	close(crowd->receivers->fd);
	for (i = 0; i < crowd->count; i++)
		free(crowd->labels[i]);
	pthread_cond_destroy(&crowd->has_changed);
	pthread_mutex_destroy(&crowd->lock);
}

static void scrape_all(struct metric_output *output, struct metric_plan *plan)
{
	static char names[HOSTS][8];
	struct target_settings targets[HOSTS] = {};
	struct metric_point points[SERIES];
	struct metric_scrape made = { .plan = plan, .points = points };
	uint32_t scrape, host, i;

	for (scrape = 0; scrape < SCRAPES; scrape++) {
		made.time_ns = START_NS + scrape * SECOND_NS;
		for (i = 0; i < SERIES; i++)
			points[i] = (struct metric_point){
				.value = i,
				.time_ns = made.time_ns,
			};
		for (host = 0; host < HOSTS; host++) {
			snprintf(names[host], sizeof(names[host]), "h%u:1", host);
			targets[host].name = names[host];
			targets[host].index = host;
			output->operations->scrape(output, targets + host, &made);
		}
	}
}

static void test_parallel(void **state)
{
	struct crowd *crowd = calloc(1, sizeof(*crowd));
	struct metric_plan *plan = invented_plan__new(SERIES, 0);
	struct receiver_settings settings = {
		.format = "remote_write",
		.delay_ns = RECEIVER_DELAY_NONE,
		.batch = SERIES,
	};
	struct pollfd ended = { .events = POLLIN };
	struct metric_output *output;
	struct push_counts counts;
	struct dart_error error;
	char url[100];
	size_t i;

	assert_non_null(crowd);
	open_crowd(crowd);
	snprintf(url, sizeof(url), "http://127.0.0.1:%u/",
		 crowd->receivers->port);
	settings.url = url;
	if (push__new(&settings, NULL, &output, &error))
		fail_msg("%s", error.text);
	push__set_waits(output, true);
	scrape_all(output, plan);
	pthread_mutex_lock(&crowd->lock);
	crowd->is_given = true;
	pthread_cond_broadcast(&crowd->has_changed);
	pthread_mutex_unlock(&crowd->lock);
	push__end(output);
	ended.fd = push__event_fd(output);
	assert_int_equal(poll(&ended, 1, WAIT_S * 1000), 1);
	push__counts(output, &counts);
	output->operations->free(output);
	close_crowd(crowd);
	assert_true(crowd->have_met);
	assert_int_equal(counts.sent, HOSTS * SERIES * SCRAPES);
	assert_int_equal(counts.retries, 0);
	assert_int_equal(crowd->count, HOSTS * SERIES);
	for (i = 0; i < crowd->count; i++)
		assert_int_equal(crowd->next[i], SCRAPES);
	metric_plan__put(plan);
	free(crowd);
}

static void test_senders(void **state)
{
	struct senders senders;
	unsigned int i;

	senders__open(&senders, 6);
	/* One sender is enough while at most one message waits. */
	for (i = 0; i < 100; i++)
		assert_false(senders__take(&senders, 1, 0));
	assert_int_equal(senders.count, 1);
	for (i = 1; i < SENDERS_BUSY; i++)
		assert_false(senders__take(&senders, 5, 0));
	assert_true(senders__take(&senders, 5, 0));
	/* The question fails, and is repeated later. */
	senders__take_question(&senders, false, 1);
	assert_false(senders__take(&senders, 5, SENDERS_AGAIN_MIN_NS));
	assert_true(senders__take(&senders, 5, SENDERS_AGAIN_MIN_NS + 1));
	senders__take_question(&senders, false, 1);
	assert_false(senders__take(&senders, 5, 2 * SENDERS_AGAIN_MIN_NS));
	assert_true(senders__take(&senders, 5, 2 * SENDERS_AGAIN_MIN_NS + 1));
	senders__take_question(&senders, true, 1);
	assert_int_equal(senders.count, 2);
	for (i = 0; i < 10 * SENDERS_BUSY; i++)
		assert_false(senders__take(&senders, 100, 0));
	assert_int_equal(senders.count, 6);
	for (i = 0; i < SENDERS_IDLE; i++)
		senders__take(&senders, 0, 0);
	assert_int_equal(senders.count, 3);
	senders__fail(&senders);
	assert_int_equal(senders.count, 1);
	for (i = 1; i < SENDERS_BUSY; i++)
		assert_false(senders__take(&senders, 5, UINT64_MAX));
	assert_true(senders__take(&senders, 5, UINT64_MAX));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("messages are under way at the same time, and each series is in order",
		     test_parallel),
		TEST("senders double while more waits, once the receiver has answered beside one",
		     test_senders),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
