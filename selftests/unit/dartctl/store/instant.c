// SPDX-License-Identifier: GPL-2.0-only
/* Instants as people write them. */
#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "selftests/unit/unit.h"
#include "tools/dartctl/store/instant.h"

#define NOW UINT64_C(1795804865123456789)

static uint64_t parse(const char *text)
{
	uint64_t ns = 0;

	if (instant__parse(text, NOW, &ns))
		fail_msg("'%s' is refused", text);
	return ns;
}

static void test_forms(void **state)
{
	assert_true(parse("@1795804865") == UINT64_C(1795804865000000000));
	assert_true(parse("@1795804865.5") == UINT64_C(1795804865500000000));
	assert_true(parse("@1795804865.123456789") == NOW);
	assert_true(parse("@0") == 0);
	assert_true(parse("2026-11-27T18:41:05Z") == UINT64_C(1795804865000000000));
	assert_true(parse("2026-11-27T18:41:05.123456789Z") == NOW);
	assert_true(parse("1970-01-01T00:00:00.1Z") == 100000000);
	assert_true(parse("5min ago") == NOW - UINT64_C(300000000000));
	assert_true(parse("1ms ago") == NOW - 1000000);
	setenv("TZ", "XXX-02", 1);
	tzset();
	assert_true(parse("2026-11-27T20:41:05") == UINT64_C(1795804865000000000));
	assert_true(parse("2026-11-27T18:41:05Z") == UINT64_C(1795804865000000000));
}

static void test_refused(void **state)
{
	static const char *const wrong[] = {
		"", "@", "@-1", "@1.", "@.5", "@1x", "@99999999999", "@9999999999", "@ 1", "now",
		"2026-02-30T00:00:00Z", "2026-11-27", "2026-11-27T18:41:05ZZ", "2026-13-01T00:00:00Z",
		"2026-11-27T18:41:05.Z", "2026-11-27T18:41:05.1234567890Z", "1969-12-31T23:59:59Z",
		"5 ago", " ago", "ago", "5min", "99999999999999min ago", "-5min ago",
	};
	uint64_t ns;
	size_t i;

	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		if (instant__parse(wrong[i], NOW, &ns) != -EINVAL)
			fail_msg("'%s' is taken", wrong[i]);
}

static void test_printed(void **state)
{
	char text[INSTANT_MAX];

	instant__print(NOW, text);
	assert_string_equal(text, "2026-11-27T18:41:05.123Z");
	instant__print(0, text);
	assert_string_equal(text, "1970-01-01T00:00:00.000Z");
	instant__print(UINT64_MAX, text);
	assert_string_equal(text, "2554-07-21T23:34:33.709Z");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("times are seconds, dates in UTC or local time, or ages", test_forms),
		TEST("other times are refused", test_refused),
		TEST("times are printed in UTC", test_printed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
