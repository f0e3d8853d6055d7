// SPDX-License-Identifier: GPL-2.0-only
/* Callers by TCP without a certificate: what they may not make the agent compute. */
#include <gnutls/abstract.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>

#include "serve_tcp.h"

/* One end of TLS that is not that of libdart. */
struct stranger {
	gnutls_certificate_credentials_t credentials;
	gnutls_session_t session;
	int fd;
};

static void stranger__open(struct stranger *stranger, struct fixture *fixture,
			   const char *priority)
{
	assert_int_equal(gnutls_certificate_allocate_credentials(
				 &stranger->credentials),
			 0);
	assert_int_equal(gnutls_init(&stranger->session,
				     GNUTLS_CLIENT | GNUTLS_NONBLOCK |
					     GNUTLS_FORCE_CLIENT_CERT),
			 0);
	assert_int_equal(gnutls_priority_set_direct(stranger->session, priority,
						    NULL),
			 0);
	assert_int_equal(gnutls_credentials_set(stranger->session,
						GNUTLS_CRD_CERTIFICATE,
						stranger->credentials),
			 0);
	stranger->fd = connect_socket(fixture);
	assert_int_equal(fcntl(stranger->fd, F_SETFL, O_NONBLOCK), 0);
	gnutls_transport_set_int(stranger->session, stranger->fd);
}

static void stranger__close(struct stranger *stranger)
{
	gnutls_deinit(stranger->session);
	gnutls_certificate_free_credentials(stranger->credentials);
	close(stranger->fd);
}

/* What the agent says to the handshake. */
static gnutls_alert_description_t stranger__alert(struct stranger *stranger,
						  struct fixture *fixture)
{
	struct pollfd descriptors[2];
	bool has_ended = false;
	ssize_t ret;
	char byte;

	for (;;) {
		/* This end may be content before the other one has looked. */
		ret = has_ended ? gnutls_record_recv(stranger->session, &byte, 1) :
				  gnutls_handshake(stranger->session);
		has_ended |= !ret;
		if (ret == GNUTLS_E_FATAL_ALERT_RECEIVED)
			return gnutls_alert_get(stranger->session);
		if (ret < 0 && ret != GNUTLS_E_AGAIN)
			fail_msg("%s", gnutls_strerror(ret));
		descriptors[0] = (struct pollfd){ .fd = stranger->fd,
						  .events = POLLIN };
		if (ret)
			wait_for(fixture, descriptors, 1);
	}
}

/* The peer would choose the group, and the largest one costs a tenth of a second. */
static void test_finite_field(void **state)
{
	struct stranger stranger;

	stranger__open(&stranger, *state,
		       "NORMAL:-VERS-ALL:+VERS-TLS1.3:-GROUP-ALL:+GROUP-FFDHE2048");
	assert_int_equal(stranger__alert(&stranger, *state),
			 GNUTLS_A_HANDSHAKE_FAILURE);
	stranger__close(&stranger);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST_FIXTURE("a caller that only knows groups of finite fields is refused at its first message",
			     test_finite_field, open_fixture, close_fixture),
	};

	return cmocka_run_group_tests(tests, make_files, remove_files);
}
