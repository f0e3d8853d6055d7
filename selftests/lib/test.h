/* SPDX-License-Identifier: GPL-2.0-only */
/* Tests of cmocka that are named by a sentence, which TAP prints. */
#ifndef DART_TEST_TEST_H
#define DART_TEST_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* An element of struct CMUnitTest []: @sentence says all that @function checks. */
#define TEST(sentence, function) TEST_FIXTURE(sentence, function, NULL, NULL)
#define TEST_FIXTURE(sentence, function, setup, teardown) { \
	.name = sentence, .test_func = function, \
	.setup_func = setup, .teardown_func = teardown }

#endif /* DART_TEST_TEST_H */
