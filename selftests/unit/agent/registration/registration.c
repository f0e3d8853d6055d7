// SPDX-License-Identifier: GPL-2.0-only
/* A registration in the state file, which is JSON: a later dartd reads the same one. */
#include <stdlib.h>
#include <string.h>

#include "agent/registration/registration.h"
#include "selftests/unit/unit.h"

static struct registration *make(const char *path)
{
	json_t *request = json_pack("{s:s}", "request", "register");
	struct registration *registration =
		registration__new(request, path, 0, REGISTRATION_BY_COMMAND);

	json_decref(request);
	assert_non_null(registration);
	registration->name = strdup("entry packets");
	return registration;
}

/* Through the file, as text. */
static void check_path(const char *path)
{
	struct registration *registration = make(path), *later;
	json_t *json = registration__to_json(registration, true);
	char *text;

	assert_non_null(json);
	text = json_dumps(json, JSON_COMPACT);
	assert_non_null(text);
	json_decref(json);
	json = json_loads(text, 0, NULL);
	later = registration__from_json(json);
	assert_non_null(later);
	if (path)
		assert_string_equal(later->path, path);
	else
		assert_null(later->path);
	assert_string_equal(later->name, "entry packets");
	json_decref(json);
	free(text);
	registration__free(registration);
	registration__free(later);
}

static void test_paths(void **state)
{
	check_path(NULL);
	check_path("/sys/fs/bpf/packets");
	check_path("/sys/fs/bpf/p\xc3\xa4" "ckchen");
	check_path("/sys/fs/bpf/\xff\xc3");
	check_path("/sys/fs/bpf/a\nb\x01\x7f\"");
	check_path("/sys/fs/bpf/dev-mapper-a\\x2db\\xff\\");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("a path of any bytes is the same one in a later dartd", test_paths),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
