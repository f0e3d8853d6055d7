// SPDX-License-Identifier: GPL-2.0-only
/* How often callers over TCP may begin a handshake. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>

#include "agent/base/crowd.h"
#include "selftests/unit/unit.h"

#define SECOND INT64_C(1000000000)
#define PER_SECOND 10
#define OWN 64
#define ALL 1000

static struct sockaddr_storage address_of(const char *text)
{
	struct sockaddr_storage address = {};
	struct sockaddr_in *v4 = (struct sockaddr_in *)&address;
	struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)&address;

	if (inet_pton(AF_INET, text, &v4->sin_addr) == 1) {
		v4->sin_family = AF_INET;
	} else {
		assert_int_equal(inet_pton(AF_INET6, text, &v6->sin6_addr), 1);
		v6->sin6_family = AF_INET6;
	}
	return address;
}

static struct handshake_rates *open_rates(void)
{
	static struct handshake_rates rates;

	assert_int_equal(handshake_rates__open(&rates, 50, PER_SECOND), 0);
	/* A seed that gives the addresses of the tests different hashes. */
	rates.seed = 1;
	return &rates;
}

/* How many of 200 can begin at @now. */
static int count(struct handshake_rates *rates, const char *text, int64_t now)
{
	const struct sockaddr_storage address = address_of(text);
	int i, taken = 0;

	for (i = 0; i < 200; i++)
		taken += handshake_rates__take(
			rates, (const struct sockaddr *)&address, OWN, ALL, now);
	return taken;
}

static void test_address(void **state)
{
	struct handshake_rates *rates = open_rates();

	assert_int_equal(count(rates, "10.0.0.1", SECOND), OWN);
	assert_int_equal(count(rates, "10.0.0.1", SECOND), 0);
	assert_int_equal(count(rates, "10.0.0.2", SECOND), OWN);
	assert_int_equal(count(rates, "::ffff:10.0.0.3", SECOND), OWN);
	assert_int_equal(count(rates, "::ffff:10.0.0.4", SECOND), OWN);
	assert_int_equal(count(rates, "10.0.0.1", 2 * SECOND), PER_SECOND);
	assert_int_equal(count(rates, "10.0.0.1", 1000 * SECOND), OWN);
}

static void test_network(void **state)
{
	struct handshake_rates *rates = open_rates();

	assert_int_equal(count(rates, "fd00::1", SECOND), OWN);
	assert_int_equal(count(rates, "fd00::ffff:2", SECOND), 0);
	assert_int_equal(count(rates, "fd00:0:0:1::1", SECOND), OWN);
}

static void test_all(void **state)
{
	struct handshake_rates *rates = open_rates();
	int i, taken = 0;
	char text[32];

	for (i = 1; i <= 200; i++) {
		snprintf(text, sizeof(text), "10.0.1.%d", i);
		taken += count(rates, text, SECOND);
	}
	assert_int_equal(taken, ALL);
	for (i = 1; i <= 200; i++) {
		snprintf(text, sizeof(text), "10.0.2.%d", i);
		taken += count(rates, text, 2 * SECOND);
	}
	assert_int_equal(taken, ALL + 50);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("an address has a reserve of handshakes, and then ten a second", test_address),
		TEST("an IPv6 network has the reserve of one address", test_network),
		TEST("200 addresses that begin as many as they may get no more than all together may",
		     test_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
