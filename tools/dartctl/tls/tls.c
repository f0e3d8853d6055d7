// SPDX-License-Identifier: GPL-2.0-only
/*
 * dartctl tls: certificates for both ends of a connection over TCP. And dartctl-tls, the program with
 * this command and 'doctor': see elsewhere.c.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <libdart/tls_places.h>

#include "bundle.h"
#include "files.h"
#include "revocation.h"
#include "tools/dartctl/cli/command.h"

/* Size limit of a file to install: a certificate has 1 to 2 KiB, a revoked entry 40 bytes. */
#define BUNDLE_MAX (16 << 20)

struct choice {
	const char *directory;
	const char *output;	/* NULL: this machine */
	long long days;
	bool may_replace;
};

#define DIRECTORY OPTION_WORD("directory", struct choice, directory)
#define OUTPUT OPTION_WORD("output", struct choice, output)
#define DAYS OPTION_NUMBER("days", struct choice, days, 1, TLS_AUTHORITY_DAYS)
#define REPLACE OPTION_FLAG("replace", struct choice, may_replace)

static const struct option_row create_rows[] = { OUTPUT, DAYS, REPLACE, DIRECTORY, {} };
static const struct option_row renew_rows[] = { OUTPUT, DAYS, DIRECTORY, {} };
static const struct option_row install_rows[] = { REPLACE, DIRECTORY, {} };
static const struct option_row directory_rows[] = { DIRECTORY, {} };

static int parse(struct options *options, int argc, char **argv, const struct option_row *rows,
		 struct choice *choice)
{
	*choice = (struct choice){ .directory = DART_TLS_DIRECTORY, .days = TLS_DAYS_DEFAULT };
	return options__take(options, argc, argv, rows, choice);
}

static void print_day(int64_t seconds, char text[static 32])
{
	const time_t time = seconds;
	struct tm day;

	if (!gmtime_r(&time, &day) || !strftime(text, 32, "%Y-%m-%d", &day))
		strcpy(text, "?");
}

static int check_names(char *const *names, int count)
{
	int i;

	if (count > TLS_NAMES_MAX)
		return misuse("a certificate has at most %d names", TLS_NAMES_MAX);
	for (i = 0; i < count; i++) {
		if (!tls_name__is_valid(names[i]))
			return misuse("'%s' is neither a name in the DNS nor an IP address",
				      names[i]);
		if (tls_role__find(names[i]))
			return misuse("'%s' is a name that '%s' has of itself", names[i],
				      tls_role__find(names[i])->name);
	}
	return EXIT_SUCCESS;
}

/* Prints to stderr with "--output -", because the file goes to stdout. */
static int tell(const struct options *options, const struct choice *choice,
		const struct tls_authority *authority, enum tls_kind kind,
		const char *name, int64_t expires)
{
	const char *place = choice->output ?: choice->directory;
	FILE *out = choice->output && !strcmp(choice->output, "-") ? stderr : stdout;
	char day[32];

	print_day(expires, day);
	if (options->json && out == stdout)
		return print_json(json_pack("{s:s, s:s, s:s, s:s, s:b}", "name", name, "kind",
					    tls_roles[kind].name, "place", place, "expires", day,
					    "new_authority", authority->is_new),
				  0);
	if (authority->is_new)
		fprintf(out,
			"made an authority in %s/authority (keep it, and let nobody read it)\n",
			choice->directory);
	fprintf(out, "%s: certificate and key of %s '%s', until %s\n",
		strcmp(place, "-") ? place : "stdout", tls_roles[kind].name, name, day);
	return EXIT_SUCCESS;
}

/* Makes files for @names in the place of @choice. */
static int issue(const struct options *options, const struct choice *choice,
		 struct tls_authority *authority, enum tls_kind kind,
		 char *const *names, int count)
{
	struct tls_bundle bundle = {};
	struct dart_error error;
	struct tls_pair pair;
	int64_t expires;
	int ret;

	ret = tls_authority__issue(authority, kind, names, count, choice->days, &pair, &error);
	if (ret)
		return fail(-ret, "%s", error.text);
	expires = pair.expires;
	ret = tls_bundle__make(&bundle, choice->directory, kind, &pair, &error);
	tls_pair__clear(&pair);
	/* Whoever reads a pipe may be slow, and the authority is not needed any more. */
	if (choice->output)
		tls_authority__close(authority);
	if (!ret)
		ret = choice->output ? tls_bundle__write(&bundle, choice->output, &error) :
				       tls_bundle__install(&bundle, choice->directory,
							   choice->may_replace, &error);
	tls_bundle__clear(&bundle);
	return ret ? fail(-ret, "%s", error.text) :
		     tell(options, choice, authority, kind, names[0], expires);
}

/* Refuses existing files before any key is made. */
static int check_place(const struct choice *choice, enum tls_kind kind)
{
	const char *const names[] = { tls_roles[kind].key, tls_roles[kind].certificate };
	struct dart_error error;
	size_t i;

	if (choice->output)
		return strcmp(choice->output, "-") && !access(choice->output, F_OK) ?
			       fail(EEXIST, "'%s' is there already", choice->output) :
			       EXIT_SUCCESS;
	for (i = 0; i < 2 && !choice->may_replace; i++)
		if (tls_files__exist(choice->directory, names[i]))
			return fail(
				EEXIST,
				"'%s/%s' is there already (dartctl tls renew replaces it, --output makes files for another machine)",
				choice->directory, names[i]);
	return tls_bundle__check_reader(kind, choice->directory, &error) ?
		       fail(ENOENT, "%s", error.text) :
		       EXIT_SUCCESS;
}

int command_tls_create(struct options *options, int argc, char **argv)
{
	struct tls_authority authority;
	struct dart_error error;
	struct choice choice;
	enum tls_kind kind;
	int status, ret;

	status = parse(options, argc, argv, create_rows, &choice);
	if (status)
		return status;
	argv += optind;
	argc -= optind;
	for (kind = TLS_HOST; kind < TLS_KINDS; kind++)
		if (argc > 1 && !strcmp(argv[0], tls_roles[kind].name))
			break;
	if (kind == TLS_KINDS)
		return misuse("'tls create' needs 'host', 'controller' or 'flows', and its name");
	status = check_names(argv + 1, argc - 1) ?: check_place(&choice, kind);
	if (status)
		return status;
	ret = tls_authority__open(&authority, choice.directory, true, &error);
	if (ret)
		return fail(-ret, "%s", error.text);
	status = issue(options, &choice, &authority, kind, argv + 1, argc - 1);
	tls_authority__close(&authority);
	return status;
}

/* The newest certificate of a name. */
struct found {
	const char *name;
	char names[TLS_NAMES_MAX][256];
	int count;
	enum tls_kind kind;
	int64_t activated;
};

static int find(void *data, const char *file, gnutls_x509_crt_t certificate, bool is_revoked)
{
	const int64_t activated = gnutls_x509_crt_get_activation_time(certificate);
	struct found *found = data;
	char name[256];
	unsigned int i;

	if (is_revoked || activated < found->activated ||
	    !tls_certificate__has_name(certificate, found->name))
		return 0;
	found->activated = activated;
	found->kind = tls_certificate__kind(certificate);
	found->count = 0;
	for (i = 0; tls_certificate__name(certificate, i, name); i++)
		if (*name && found->count < TLS_NAMES_MAX && !tls_role__find(name))
			strcpy(found->names[found->count++], name);
	return 0;
}

int command_tls_renew(struct options *options, int argc, char **argv)
{
	struct tls_authority authority;
	char *names[TLS_NAMES_MAX];
	struct dart_error error;
	struct found found = {};
	struct choice choice;
	int status, ret, i;

	status = parse(options, argc, argv, renew_rows, &choice);
	if (status)
		return status;
	if (argc - optind != 1)
		return misuse("'tls renew' needs one name");
	choice.may_replace = true;
	found.name = argv[optind];
	ret = tls_authority__open(&authority, choice.directory, false, &error);
	if (ret)
		return fail(-ret, "%s", error.text);
	ret = tls_authority__list(choice.directory, find, &found, &error);
	for (i = 0; i < found.count; i++)
		names[i] = found.names[i];
	if (ret)
		status = fail(-ret, "%s", error.text);
	else if (!found.count)
		status = fail(ENOENT,
			      "no certificate has the name '%s' (dartctl tls list names them)",
			      found.name);
	else
		status = check_place(&choice, found.kind) ?:
				 issue(options, &choice, &authority, found.kind,
				       names, found.count);
	tls_authority__close(&authority);
	return status;
}

static int read_all(const char *path, gnutls_datum_t *text, struct dart_error *error)
{
	const bool is_stdin = !strcmp(path, "-");
	FILE *in = is_stdin ? stdin : fopen(path, "re");
	int ret = 0;

	if (!in)
		return dart_error__system(error, errno, "cannot read '%s'", path);
	text->data = gnutls_malloc(BUNDLE_MAX + 1);
	if (text->data) {
		text->size = fread(text->data, 1, BUNDLE_MAX + 1, in);
		if (ferror(in))
			ret = dart_error__system(error, errno, "cannot read '%s'", path);
		else if (text->size > BUNDLE_MAX)
			ret = dart_error__set(error, EFBIG, "'%s' has more than %d bytes", path,
					      BUNDLE_MAX);
		else
			text->data[text->size] = '\0';
	} else {
		ret = dart_error__no_memory(error);
	}
	if (!is_stdin)
		fclose(in);
	return ret;
}

int command_tls_install(struct options *options, int argc, char **argv)
{
	struct tls_bundle bundle = {};
	gnutls_datum_t text = {};
	struct dart_error error;
	struct choice choice;
	int status, ret;

	status = parse(options, argc, argv, install_rows, &choice);
	if (status)
		return status;
	if (argc - optind != 1)
		return misuse("'tls install' needs one file, or - for stdin");
	ret = read_all(argv[optind], &text, &error) ?:
		      tls_bundle__parse(&bundle, &text, choice.directory, &error) ?:
		      tls_bundle__install(&bundle, choice.directory, choice.may_replace, &error);
	if (text.data)
		gnutls_memset(text.data, 0, text.size);
	gnutls_free(text.data);
	if (ret)
		status = fail(-ret, "%s", error.text);
	else if (!options->json)
		printf("%s: %s\n", choice.directory,
		       !bundle.certificate.data ?
			       "list of revoked certificates" :
			       tls_roles[bundle.kind].purpose);
	tls_bundle__clear(&bundle);
	return status;
}

int command_tls_revoke(struct options *options, int argc, char **argv)
{
	struct tls_authority authority;
	struct dart_error error;
	struct choice choice;
	int status, count;

	status = parse(options, argc, argv, directory_rows, &choice);
	if (status)
		return status;
	if (argc - optind != 1)
		return misuse("'tls revoke' needs one name");
	count = tls_authority__open(&authority, choice.directory, false, &error);
	if (count)
		return fail(-count, "%s", error.text);
	count = tls_revocation__add(&authority, argv[optind], &error);
	tls_authority__close(&authority);
	if (count < 0)
		return fail(-count, "%s", error.text);
	if (!count)
		return fail(
			ENOENT,
			"no certificate that is not revoked has the name '%s' (dartctl tls list names them)",
			argv[optind]);
	if (options->json)
		return print_json(json_pack("{s:s, s:i}", "name", argv[optind], "revoked", count),
				  0);
	printf("%s/revoked.pem: %d of '%s' revoked; install it on each other machine (dartctl tls install), and reload dartd and dart-controller\n",
	       choice.directory, count, argv[optind]);
	return EXIT_SUCCESS;
}

static int add_line(void *data, const char *file, gnutls_x509_crt_t certificate, bool is_revoked)
{
	const int64_t expires = gnutls_x509_crt_get_expiration_time(certificate);
	json_t *list = data, *names = json_array();
	char day[32], name[256];
	unsigned int i;

	for (i = 0; tls_certificate__name(certificate, i, name); i++)
		if (*name && !tls_role__find(name))
			json_array_append_new(names, json_string(name));
	print_day(expires, day);
	return json_array_append_new(
		       list,
		       json_pack("{s:o, s:s, s:s, s:s, s:s#}", "names", names,
				 "kind",
				 tls_roles[tls_certificate__kind(certificate)].name,
				 "expires", day, "state",
				 is_revoked		? "revoked" :
				 expires < time(NULL) ? "expired" :
							"valid",
				 "serial", file,
				 (int)(strlen(file) - strlen(".pem")))) ?
		       -ENOMEM :
		       0;
}

static const struct table_column columns[] = {
	TEXT_COLUMN("NAMES", "names"),
	TEXT_COLUMN("KIND", "kind"),
	TEXT_COLUMN("EXPIRES", "expires"),
	TEXT_COLUMN("STATE", "state"),
	TEXT_COLUMN("SERIAL", "serial"),
	{ }
};

int command_tls_list(struct options *options, int argc, char **argv)
{
	struct dart_error error = { .text = "out of memory" };
	json_t *found = json_array();
	struct choice choice;
	int status, ret;

	status = parse(options, argc, argv, directory_rows, &choice);
	if (!status && argc != optind)
		status = misuse("'tls list' takes no operand");
	if (!status) {
		ret = tls_authority__list(choice.directory, add_line, found, &error);
		if (ret)
			status = fail(-ret, "%s", error.text);
		else if (options->json)
			return print_json(found, 0);
		else
			status = table__print_objects(found, columns);
	}
	json_decref(found);
	return status;
}

static const struct command commands[] = {
	{ "tls", .commands = tls_commands, .summary = "" },
	{ "doctor", NULL, "find the faults of this host and their remedies",
	  .run = command_doctor },
	{ }
};

int main(int argc, char **argv)
{
	return command__main(commands, argc, argv);
}
