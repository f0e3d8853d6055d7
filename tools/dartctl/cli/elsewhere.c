// SPDX-License-Identifier: GPL-2.0-only
/*
 * The commands that need GnuTLS are in a program of their own, dartctl-tls: GnuTLS and its nine
 * libraries would make up half of the time in which every other command starts.
 */
#include <errno.h>
#include <libdart/files.h>
#include <limits.h>
#include <unistd.h>

#include "command.h"

#define PROGRAM "../libexec/dart/dartctl-tls"

/*
 * dartctl-tls is linked with this file as well, and with the functions below that are not weak.
 */
#define ELSEWHERE __attribute__((weak))

/* Replaces this process by dartctl-tls with the same command line. */
static int run_elsewhere(const struct options *options)
{
	char program[PATH_MAX];

	dart_files__beside_program(PROGRAM, program);
	execv(program, options->line);
	return fail(errno, "cannot run %s", *program ? program : PROGRAM);
}

ELSEWHERE int command_doctor(const struct options *options, int argc, char **argv)
{
	return run_elsewhere(options);
}

ELSEWHERE int command_tls_create(struct options *options, int argc, char **argv)
{
	return run_elsewhere(options);
}

ELSEWHERE int command_tls_install(struct options *options, int argc, char **argv)
{
	return run_elsewhere(options);
}

ELSEWHERE int command_tls_renew(struct options *options, int argc, char **argv)
{
	return run_elsewhere(options);
}

ELSEWHERE int command_tls_revoke(struct options *options, int argc, char **argv)
{
	return run_elsewhere(options);
}

ELSEWHERE int command_tls_list(struct options *options, int argc, char **argv)
{
	return run_elsewhere(options);
}

const struct command tls_commands[] = {
	{ "create",
	  "host|controller|flows NAME... [--output FILE] [--days N] [--replace] [--directory DIRECTORY]",
	  "make a certificate and a key, and an authority if there is none",
	  .parse = command_tls_create },
	{ "install", "FILE [--replace] [--directory DIRECTORY]",
	  "put files of 'tls create --output' where this machine looks",
	  .parse = command_tls_install },
	{ "renew", "NAME [--output FILE] [--days N] [--directory DIRECTORY]",
	  "make a certificate and a key for the same names again",
	  .parse = command_tls_renew },
	{ "revoke", "NAME [--directory DIRECTORY]",
	  "list all certificates of a name as revoked",
	  .parse = command_tls_revoke },
	{ "list", "[--directory DIRECTORY]",
	  "list the certificates that the authority has signed",
	  .parse = command_tls_list },
	{ }
};
