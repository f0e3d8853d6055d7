// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <dart/store.h>

#include "store.h"
#include "tools/dartctl/client.h"
#include "tools/dartctl/command.h"
#include "tools/dartctl/table.h"

enum {
	OPTION_SLOTS = OPTIONS_OWN,
	OPTION_VALUE,
	OPTION_REDUNDANCY,
	OPTION_CHECKSUM,
	OPTION_FILE,
};

static const struct option create_options[] = {
	{ "slots", required_argument, NULL, OPTION_SLOTS },
	{ "value", required_argument, NULL, OPTION_VALUE },
	{ "redundancy", required_argument, NULL, OPTION_REDUNDANCY },
	{ "checksum", required_argument, NULL, OPTION_CHECKSUM },
	{ "file", required_argument, NULL, OPTION_FILE },
	{ }
};

/* What is to be created; dartd says what cannot be. */
struct wanted {
	long long slots_log2, value, redundancy, checksum;	/* -1: not said */
	const char *file;
};

/* -1 if @text is no number of @base 10. */
static long long number(const char *text)
{
	unsigned long long value;
	char *end;

	errno = 0;
	value = strtoull(text, &end, 10);
	if (errno || *end || *text < '0' || *text > '9' || value > LLONG_MAX)
		return -1;
	return value;
}

/* "2^20" or "1048576" as 20; -1 if it is neither. */
static long long logarithm(const char *text)
{
	long long value;

	if (!strncmp(text, "2^", 2))
		return number(text + 2);
	value = number(text);
	if (value <= 0 || (value & (value - 1)))
		return -1;
	return __builtin_ctzll(value);
}

static int take(struct wanted *wanted, int option)
{
	long long value = -1;

	switch (option) {
	case OPTION_SLOTS:
		value = wanted->slots_log2 = logarithm(optarg);
		if (value < 0)
			return misuse("'%s' slots are no power of two, like 2^20",
				      optarg);
		break;
	case OPTION_VALUE:
		value = wanted->value = number(optarg);
		break;
	case OPTION_REDUNDANCY:
		value = wanted->redundancy = number(optarg);
		break;
	case OPTION_CHECKSUM:
		value = wanted->checksum = number(optarg);
		break;
	case OPTION_FILE:
		wanted->file = optarg;
		return EXIT_SUCCESS;
	}
	if (value < 0)
		return misuse("'%s' is no number", optarg);
	return EXIT_SUCCESS;
}

/* Opens the file, and makes it if it is not there; -1 if why has been said. */
static int open_file(const char *path, char full[static PATH_MAX], bool *is_new)
{
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	*is_new = fd >= 0;
	if (fd < 0 && errno == EEXIST)
		fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0) {
		fail("cannot open %s: %s", path, strerror(errno));
		return -1;
	}
	if (!realpath(path, full)) {
		fail("cannot find %s: %s", path, strerror(errno));
		close(fd);
		return -1;
	}
	return fd;
}

static int ask_create(const struct options *options,
		      const struct wanted *wanted, const char *name,
		      const char *file, int fd)
{
	json_t *request, *reply;

	request = json_pack("{s:s, s:s, s:I, s:I, s:s*}",
			    "request", "store-create", "name", name,
			    "slots_log2", (json_int_t)wanted->slots_log2,
			    "value_length", (json_int_t)wanted->value,
			    "file", file);
	if (request && wanted->redundancy >= 0)
		json_object_set_new(request, "redundancy",
				    json_integer(wanted->redundancy));
	if (request && wanted->checksum >= 0)
		json_object_set_new(request, "checksum_bits",
				    json_integer(wanted->checksum));
	if (!client__ask(options, request, fd, "store", &reply))
		return EXIT_FAILURE;
	json_decref(reply);
	return EXIT_SUCCESS;
}

static int create(struct options *options, int argc, char **argv)
{
	struct wanted wanted = { -1, -1, -1, -1, NULL };
	char file[PATH_MAX];
	bool is_new;
	int option, fd, status;

	while ((option = options__next(options, argc, argv, create_options)) !=
	       -1)
		if (option == '?' || take(&wanted, option))
			return EXIT_USAGE;
	if (argc - optind != 1)
		return misuse("'store create' needs one name");
	if (wanted.slots_log2 < 0 || wanted.value < 0)
		return misuse("'store create' needs --slots and --value");
	if (!wanted.file)
		return ask_create(options, &wanted, argv[optind], NULL, -1);

	fd = open_file(wanted.file, file, &is_new);
	if (fd < 0)
		return EXIT_FAILURE;
	status = ask_create(options, &wanted, argv[optind], file, fd);
	if (status && is_new)
		unlink(file);
	close(fd);
	return status;
}

static const struct table_column columns[] = {
	{ "NAME", "name", false },
	{ "SLOTS 2^", "slots_log2", true },
	{ "VALUE", "value_length", true },
	{ "REDUNDANCY", "redundancy", true },
	{ "CHECKSUM", "checksum_bits", true },
	{ "BYTES", "bytes", true },
	{ "REPORTERS", "reporters", true },
	{ "READERS", "readers", true },
	{ "FILE", "file", false },
	{ }
};

static int list(const struct options *options, int argc, char **argv)
{
	json_t *stores, *reply;
	int status = EXIT_SUCCESS;

	if (argc)
		return misuse("'store list' takes no arguments");
	stores = client__ask(options,
			     json_pack("{s:s}", "request", "store-list"), -1,
			     "stores", &reply);
	if (!stores)
		return EXIT_FAILURE;
	if (!options->json)
		status = table__print_objects(stores, columns);
	json_decref(reply);
	return status;
}

static int delete(const struct options *options, int argc, char **argv)
{
	json_t *reply;

	if (argc != 1)
		return misuse("'store delete' needs one name");
	if (!client__ask(options,
			 json_pack("{s:s, s:s}", "request", "store-delete",
				   "name", argv[0]),
			 -1, "store", &reply))
		return EXIT_FAILURE;
	json_decref(reply);
	return EXIT_SUCCESS;
}

static const struct command commands[] = {
	{ "create", .parse = create },
	{ "list", .run = list },
	{ "show", .run = store_show },
	{ "delete", .run = delete },
	{ "export", .parse = store_export },
	{ }
};

int command_store(struct options *options, int argc, char **argv)
{
	return command__run(commands, options, argc, argv);
}
