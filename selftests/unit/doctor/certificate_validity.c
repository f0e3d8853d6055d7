// SPDX-License-Identifier: GPL-2.0-only
/* The doctors judge certificates by their times. */
#include <gnutls/x509.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "selftests/unit/unit.h"
#include "tools/doctor/certificate.h"

#define DAY (24 * 3600)

/* Writes a certificate that is valid from @since to @until, seconds from now. */
static void write_certificate(const char *path, long since, long until)
{
	gnutls_x509_crt_t certificate;
	gnutls_x509_privkey_t key;
	gnutls_datum_t text;
	FILE *file;

	assert_int_equal(gnutls_x509_privkey_init(&key), 0);
	assert_int_equal(gnutls_x509_privkey_generate(
				 key, GNUTLS_PK_ECDSA,
				 GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1), 0),
			 0);
	assert_int_equal(gnutls_x509_crt_init(&certificate), 0);
	assert_int_equal(gnutls_x509_crt_set_version(certificate, 3), 0);
	assert_int_equal(gnutls_x509_crt_set_serial(certificate, "1", 1), 0);
	assert_int_equal(gnutls_x509_crt_set_key(certificate, key), 0);
	assert_int_equal(
		gnutls_x509_crt_set_activation_time(certificate, time(NULL) + since), 0);
	assert_int_equal(
		gnutls_x509_crt_set_expiration_time(certificate, time(NULL) + until), 0);
	assert_int_equal(gnutls_x509_crt_sign2(certificate, certificate, key,
					       GNUTLS_DIG_SHA256, 0),
			 0);
	assert_int_equal(gnutls_x509_crt_export2(certificate, GNUTLS_X509_FMT_PEM, &text), 0);
	file = fopen(path, "we");
	assert_non_null(file);
	assert_int_equal(fwrite(text.data, 1, text.size, file), text.size);
	assert_int_equal(fclose(file), 0);
	gnutls_free(text.data);
	gnutls_x509_crt_deinit(certificate);
	gnutls_x509_privkey_deinit(key);
}

/* The result of the check, and a word of its sentence. */
static void assert_judged(long since, long until, const char *result, const char *word)
{
	char path[] = "/tmp/certificate-XXXXXX";
	const int fd = mkstemp(path);
	struct findings findings;

	assert_true(fd >= 0);
	close(fd);
	write_certificate(path, since, until);
	findings__open(&findings, true);
	check_certificate(&findings, path);
	assert_non_null(findings.last);
	assert_string_equal(json_string_value(json_object_get(findings.last, "result")), result);
	assert_non_null(
		strstr(json_string_value(json_object_get(findings.last, "found")), word));
	findings__close(&findings);
	unlink(path);
}

static void test_valid(void **state)
{
	assert_judged(-DAY, 90 * DAY, "ok", "more days");
}

static void test_expires(void **state)
{
	assert_judged(-DAY, 10 * DAY, "warn", "expires in");
}

static void test_expired(void **state)
{
	assert_judged(-20 * DAY, -10 * DAY, "fail", "has expired");
}

/* The clock of this machine is slow, or the authority's was fast. */
static void test_not_yet(void **state)
{
	assert_judged(10 * 3600 - 60, 365 * DAY, "fail", "in 10 hours");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("a certificate that is valid for long is right", test_valid),
		TEST("one that expires soon is a warning", test_expires),
		TEST("one that has expired is a failure", test_expired),
		TEST("one that is not valid yet is a failure", test_not_yet),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
