// SPDX-License-Identifier: GPL-2.0-only
/*
 * A sketcher whose clock is set back, and whose collector gets other queue pairs, by clocks and an
 * interface of this test.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "selftests/unit/unit.h"
#include "tools/report/sketching.h"

#define S UINT64_C(1000000000)
#define PERIOD 10

/* ---- clocks */

static uint64_t monotonic_ns;
static int64_t ahead_ns; /* CLOCK_REALTIME - CLOCK_MONOTONIC */
static uint64_t step_at_ns; /* CLOCK_MONOTONIC: when the clock is set back by a day; 0: never */

static void advance_to(uint64_t ns)
{
	if (ns > monotonic_ns)
		monotonic_ns = ns;
	if (step_at_ns && monotonic_ns >= step_at_ns) {
		ahead_ns -= 86400 * S;
		step_at_ns = 0;
	}
}

int clock_gettime(clockid_t clock, struct timespec *time)
{
	const uint64_t ns = monotonic_ns + (clock == CLOCK_REALTIME ? ahead_ns : 0);

	*time = (struct timespec){ ns / S, ns % S };
	return 0;
}

/* If the clock is set back before the end, an absolute time of CLOCK_REALTIME comes later. */
int clock_nanosleep(clockid_t clock, int flags, const struct timespec *time, struct timespec *left)
{
	const uint64_t ns = time->tv_sec * S + time->tv_nsec;

	assert_int_equal(flags, TIMER_ABSTIME);
	if (clock == CLOCK_REALTIME && step_at_ns && ns - ahead_ns >= step_at_ns)
		advance_to(step_at_ns);
	advance_to(clock == CLOCK_REALTIME ? ns - ahead_ns : ns);
	return 0;
}

/* ---- the interface, and the kernel */

static char path[] = "/tmp/sketches.XXXXXX";
static uint8_t frame[DART_PACKET_SOCKET_FRAME_MAX];
static uint32_t frames, renew_at, queue_pairs[256];

static void write_export(uint32_t queue_pair)
{
	char new[sizeof(path) + 4];
	FILE *file;

	snprintf(new, sizeof(new), "%s.new", path);
	file = fopen(new, "w");
	assert_non_null(file);
	fprintf(file,
		"{\"dart_sketches\": 1, \"sketches\": [{\"name\": \"flows\","
		" \"reporter\": \"10.0.0.1\", \"mac\": \"02:00:00:00:00:aa\", \"ip\": \"10.0.0.2\","
		" \"qpn\": %u, \"rkey\": 7, \"base\": \"0x10000\", \"epoch\": %u, \"first_psn\": 0,"
		" \"kind\": \"count-min\", \"rows\": 1, \"columns_log2\": 10, \"period\": %u}]}",
		queue_pair, queue_pair, PERIOD);
	fclose(file);
	assert_int_equal(rename(new, path), 0);
}

const uint8_t *dart_packet_socket__mac(const struct dart_packet_socket *socket)
{
	static const uint8_t mac[6] = { 2 };

	return mac;
}

uint8_t *dart_packet_socket__next(struct dart_packet_socket *socket)
{
	return frame;
}

int dart_packet_socket__push(struct dart_packet_socket *socket, size_t length)
{
	/* Of the BTH, after Ethernet, IPv4 and UDP. */
	queue_pairs[frames % 256] = frame[47] << 16 | frame[48] << 8 | frame[49];
	if (++frames == renew_at)
		write_export(0x222);
	return 0;
}

int dart_packet_socket__flush(struct dart_packet_socket *socket)
{
	return 0;
}

int live__drain_columns(struct live *live, struct dart_sketcher *sketcher)
{
	return 0;
}

struct flow_counter_rest live__rest(const struct live *live)
{
	return (struct flow_counter_rest){};
}

static struct sketching sketching;

static int open_sketching(void **state)
{
	const struct in_addr address = { htonl(0x0a000001) };
	struct dart_error error = {};
	int fd;

	strcpy(path + sizeof(path) - 7, "XXXXXX");
	fd = mkstemp(path);
	assert_true(fd >= 0);
	close(fd);
	write_export(0x111);
	monotonic_ns = 5000 * S;
	ahead_ns = 1700000000 * S;
	step_at_ns = frames = renew_at = 0;
	memset(&sketching, 0, sizeof(sketching));
	if (sketching__open(&sketching, path, address, true, &error))
		fail_msg("%s", error.text);
	return 0;
}

static int close_sketching(void **state)
{
	sketching__close(&sketching);
	unlink(path);
	return 0;
}

/* ---- tests */

#define STRIPS 64

static void run_live(uint64_t seconds)
{
	const uint64_t end = monotonic_ns + seconds * S;

	while (monotonic_ns < end)
		assert_int_equal(sketching__take(&sketching, NULL, monotonic_ns + S / 2, NULL), 0);
}

static void test_live(void **state)
{
	run_live(4 * PERIOD);
	assert_true(frames >= 2 * STRIPS);
	step_at_ns = monotonic_ns + 3 * S;
	frames = 0;
	run_live(5 * PERIOD);
	assert_in_range(frames, 2 * STRIPS, 4 * STRIPS);
}

static void test_wait(void **state)
{
	const uint64_t start = monotonic_ns;

	step_at_ns = start + 2 * S;
	sketching__await_period(&sketching);
	assert_true(dart_sketcher__is_whole(sketching.sketcher));
	assert_true(monotonic_ns - start <= 3 * PERIOD * S);
	assert_int_equal(sketching__count(&sketching, (const uint8_t *)"key", 3, 1, NULL), 0);
	step_at_ns = monotonic_ns + 2 * S;
	assert_int_equal(sketching__finish(&sketching, NULL), 0);
	assert_true(monotonic_ns - start <= 5 * PERIOD * S);
	assert_int_equal(dart_sketcher__counts(sketching.sketcher)->strips, 0);
}

static void test_renewal(void **state)
{
	uint32_t i;

	sketching__await_period(&sketching);
	renew_at = 10;
	assert_int_equal(sketching__finish(&sketching, NULL), 0);
	assert_int_equal(frames, STRIPS);
	for (i = 0; i < STRIPS; i++)
		assert_int_equal(queue_pairs[i], i < renew_at ? 0x111 : 0x222);
	assert_int_equal(sketching.renewals, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST_FIXTURE("a sketcher goes on with the periods of a clock that was set back",
			     test_live, open_sketching, close_sketching),
		TEST_FIXTURE("a clock that was set back does not prolong a wait", test_wait,
			     open_sketching, close_sketching),
		TEST_FIXTURE("strips go to the next queue pair as soon as the file has it",
			     test_renewal, open_sketching, close_sketching),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
