// SPDX-License-Identifier: GPL-2.0-only
/* Settings of dartd: finding the changed ones. */
#include <stdlib.h>
#include <string.h>

#include "agent/settings.h"
#include "selftests/unit/unit.h"

static char device[] = "rxe1", address[] = "10.0.0.1", file[] = "/file.pem";
static char *addresses[] = { address };

static const struct dart_configuration defaults = {
	.tcp.certificate = file,
};

/* Each setting differs from its default. */
static const struct dart_configuration others = {
	.device = device,
	.listen = addresses,
	.listen_count = 1,
	.port = 1,
	.dscp = 46,
	.keepalive = 5,
	.exposure = DART_CONTROL_EXPOSURE_PAGE,
	.gatherer = DART_CONFIGURATION_GATHERER_PROGRAMS,
	.rest = 8,
	.tcp = {
		.certificate = file,
		.listen = addresses,
		.listen_count = 1,
		.port = 2,
	},
};

/* Compares them with names in @size bytes, beyond which nothing may be written. */
static void expect(const struct dart_configuration *a, const struct dart_configuration *b,
		   size_t size, int count, const char *expected)
{
	static const struct options options;
	char *names = malloc(size);
	struct settings first, second;
	struct dart_error error;

	assert_non_null(names);
	assert_int_equal(settings__open(&first, &options, a, &error), 0);
	assert_int_equal(settings__open(&second, &options, b, &error), 0);
	assert_int_equal(settings__compare(&first, &second, names, size), count);
	assert_string_equal(names, expected);
	settings__close(&first);
	settings__close(&second);
	free(names);
}

static void test_names(void **state)
{
	expect(&defaults, &defaults, SETTINGS_NAMES_MAX, 0, "");
	expect(&defaults, &others, SETTINGS_NAMES_MAX, 8,
	       "device, listen, port, dscp, keepalive, exposure, gatherer, rest");
}

static void test_cut_off(void **state)
{
	expect(&defaults, &others, 20, 8, "device, listen, por");
	expect(&defaults, &others, 1, 8, "");
}

/* Takes the tcp place of @b, and returns whether it did. */
static bool takes(const struct dart_configuration *a, const struct dart_configuration *b)
{
	static const struct options options;
	struct settings first, second;
	struct dart_error error;
	uint16_t port;
	bool has_taken;

	assert_int_equal(settings__open(&first, &options, a, &error), 0);
	assert_int_equal(settings__open(&second, &options, b, &error), 0);
	port = second.tcp.port;
	has_taken = settings__take_tcp(&first, &second);
	assert_int_equal(first.tcp.port, port);
	assert_int_equal(first.tcp.count, b->tcp.listen_count);
	settings__close(&first);
	settings__close(&second);
	return has_taken;
}

static void test_tcp(void **state)
{
	static const struct dart_configuration none;

	assert_true(takes(&defaults, &none));
	assert_true(takes(&none, &defaults));
	assert_true(takes(&defaults, &others));
	assert_true(takes(&others, &defaults));
	assert_false(takes(&none, &none));
	assert_false(takes(&others, &others));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("the settings that differ are named, all of them", test_names),
		TEST("names that do not fit are cut off", test_cut_off),
		TEST("the place of tcp is taken without a restart if it differs", test_tcp),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
