// SPDX-License-Identifier: GPL-2.0-only
/* Selects the half-open connection that makes room for a new connection. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>

#include "agent/base/crowd.h"
#include "selftests/unit/unit.h"

/* Half-open connections, the oldest first, as addresses. */
struct half_open {
	struct sockaddr_storage address;
	const char *text;
};

static void parse(struct half_open *connection, const char *text)
{
	struct sockaddr_in *v4 = (struct sockaddr_in *)&connection->address;
	struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)&connection->address;

	*connection = (struct half_open){ .text = text };
	if (inet_pton(AF_INET, text, &v4->sin_addr) == 1) {
		v4->sin_family = AF_INET;
		return;
	}
	assert_int_equal(inet_pton(AF_INET6, text, &v6->sin6_addr), 1);
	v6->sin6_family = AF_INET6;
}

/* The index of the victim among @count connections. */
static int victim(const char *newcomer, const char *const *texts, size_t count)
{
	static struct half_open list[16];
	struct half_open new;
	struct crowd crowd;
	size_t i;

	parse(&new, newcomer);
	crowd__open(&crowd, 1, (struct sockaddr *)&new.address);
	for (i = 0; i < count; i++) {
		parse(&list[i], texts[i]);
		crowd__count(&crowd, (struct sockaddr *)&list[i].address);
	}
	for (i = 0; i < count; i++)
		crowd__choose(&crowd, (struct sockaddr *)&list[i].address, &list[i]);
	assert_non_null(crowd.victim);
	return (struct half_open *)crowd.victim - list;
}

#define VICTIM(newcomer, ...)                                                  \
	victim(newcomer, (const char *const[]){ __VA_ARGS__ },                 \
	       sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *))

static void test_largest(void **state)
{
	assert_int_equal(VICTIM("10.0.0.3", "10.0.0.1", "10.0.0.2", "10.0.0.2"), 1);
	assert_int_equal(VICTIM("10.0.0.1", "10.0.0.1", "10.0.0.2", "10.0.0.2"), 1);
	assert_int_equal(VICTIM("10.0.0.2", "10.0.0.1", "10.0.0.2", "10.0.0.2"), 1);
}

static void test_own(void **state)
{
	assert_int_equal(VICTIM("10.0.0.2", "10.0.0.1", "10.0.0.2"), 1);
	assert_int_equal(VICTIM("10.0.0.3", "10.0.0.1", "10.0.0.2"), 0);
}

static void test_networks(void **state)
{
	assert_int_equal(VICTIM("10.0.0.3", "10.0.0.1", "fd00::1", "fd00::2"), 1);
	assert_int_equal(VICTIM("10.0.0.3", "10.0.0.1", "fd00::1", "fd00:0:0:1::2"), 0);
	assert_int_equal(VICTIM("10.0.0.3", "10.0.0.1", "::ffff:10.0.0.5", "::ffff:10.0.0.6"), 0);
}

static void test_none(void **state)
{
	struct half_open new;
	struct crowd crowd;

	parse(&new, "10.0.0.1");
	crowd__open(&crowd, 1, (struct sockaddr *)&new.address);
	assert_null(crowd.victim);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("the oldest one of the largest crowd makes room", test_largest),
		TEST("of equal crowds the newcomer's own makes room", test_own),
		TEST("addresses of an IPv6 network of 64 bits are one crowd", test_networks),
		TEST("without a half-open connection nobody makes room", test_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
