// SPDX-License-Identifier: GPL-2.0-only
/* dartctl: tells dartd what to expose, and asks what it does. */
#include <getopt.h>
#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dart/registration.h>

#include "command.h"

static const char usage[] =
	"Usage: dartctl [OPTION]... COMMAND\n"
	"Tell dartd which metrics of this host controllers may read.\n"
	"\n"
	"  register source NAME    expose counters of the kernel: cpustat, vmstat,\n"
	"                          softnet, softirqs, irqs\n"
	"  register source snmp:FAMILY [--netns NAME|PID|PATH | --all-netns]\n"
	"                          of a network namespace, where FAMILY is ip, ip6,\n"
	"                          tcp, tcpext, udp, udp6, icmp or icmp6\n"
	"  register source netdev:stats|netdev:core --netdev INTERFACE\n"
	"                          [--netns NAME|PID|PATH]\n"
	"  register source disk:stats --disk DEVICE\n"
	"  register source cgroup:cpu --cgroup PATH | --all-cgroups PATH\n"
	"  register map PATH [as NAME]\n"
	"  register map id N [as NAME]\n"
	"  register map name X [as NAME]\n"
	"                          expose an eBPF array map: pinned at PATH, or by\n"
	"                          its id or name\n"
	"  register counters NAME  expose counters of another kernel module\n"
	"  register counters NAME COUNTER...\n"
	"                          make counters that eBPF programs add to\n"
	"  unregister NAME         expose it no longer\n"
	"  list                    what is exposed\n"
	"  show NAME               what its values are now\n"
	"  status                  how dartd is doing\n"
	"  probe list              which eBPF programs dartd can count with\n"
	"  probe load NAME         count with it, and expose what it counts\n"
	"  probe unload NAME       no longer\n"
	"\n"
	"  -j, --json              print the answer as JSON\n"
	"      --socket=PATH       dartd listens here, not at\n"
	"                          " DART_REGISTRATION_SOCKET "\n"
	"      --help              print this and exit\n"
	"      --version           print the version and exit\n";

enum {
	OPTION_SOCKET = 256,
	OPTION_NETNS,
	OPTION_NETDEV,
	OPTION_DISK,
	OPTION_CGROUP,
	OPTION_ALL_NETNS,
	OPTION_ALL_CGROUPS,
	OPTION_HELP,
	OPTION_VERSION,
};

static const struct option long_options[] = {
	{ "json", no_argument, NULL, 'j' },
	{ "socket", required_argument, NULL, OPTION_SOCKET },
	{ "netns", required_argument, NULL, OPTION_NETNS },
	{ "netdev", required_argument, NULL, OPTION_NETDEV },
	{ "disk", required_argument, NULL, OPTION_DISK },
	{ "cgroup", required_argument, NULL, OPTION_CGROUP },
	{ "all-netns", no_argument, NULL, OPTION_ALL_NETNS },
	{ "all-cgroups", required_argument, NULL, OPTION_ALL_CGROUPS },
	{ "help", no_argument, NULL, OPTION_HELP },
	{ "version", no_argument, NULL, OPTION_VERSION },
	{ }
};

static const struct command {
	const char *name;
	int (*run)(const struct options *options, int argc, char **argv);
} commands[] = {
	{ "register", command_register },
	{ "unregister", command_unregister },
	{ "list", command_list },
	{ "show", command_show },
	{ "status", command_status },
	{ "probe", command_probe },
};

static void say(const char *format, va_list arguments, const char *end)
{
	fputs("dartctl: ", stderr);
	vfprintf(stderr, format, arguments);
	fputs(end, stderr);
}

int fail(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	say(format, arguments, "\n");
	va_end(arguments);
	return EXIT_FAILURE;
}

int misuse(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	say(format, arguments, " (see dartctl --help)\n");
	va_end(arguments);
	return EXIT_USAGE;
}

static int run(const struct options *options, int argc, char **argv)
{
	size_t i;

	if (!argc)
		return misuse("no command");
	if (strcmp(argv[0], "register") &&
	    selector__is_given(&options->selector))
		return misuse("'%s' takes no selector", argv[0]);
	for (i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (!strcmp(commands[i].name, argv[0]))
			return commands[i].run(options, argc - 1, argv + 1);
	return misuse("there is no command '%s'", argv[0]);
}

int main(int argc, char **argv)
{
	struct options options = { .socket = DART_REGISTRATION_SOCKET };
	int option, status;

	/* Tables print texts as far as the terminal can show them. */
	setlocale(LC_CTYPE, "");

	while ((option = getopt_long(argc, argv, "j", long_options, NULL)) !=
	       -1) {
		switch (option) {
		case 'j':
			options.json = true;
			break;
		case OPTION_SOCKET:
			options.socket = optarg;
			break;
		case OPTION_NETNS:
			options.selector.netns = optarg;
			break;
		case OPTION_NETDEV:
			options.selector.netdev = optarg;
			break;
		case OPTION_DISK:
			options.selector.disk = optarg;
			break;
		case OPTION_CGROUP:
			options.selector.cgroup = optarg;
			break;
		case OPTION_ALL_NETNS:
			options.selector.all_netns = true;
			break;
		case OPTION_ALL_CGROUPS:
			options.selector.all_cgroups = optarg;
			break;
		case OPTION_HELP:
			fputs(usage, stdout);
			return EXIT_SUCCESS;
		case OPTION_VERSION:
			puts("dartctl " DART_VERSION);
			return EXIT_SUCCESS;
		default:
			fputs("Try 'dartctl --help'.\n", stderr);
			return EXIT_USAGE;
		}
	}

	status = run(&options, argc - optind, argv + optind);
	if (fflush(stdout) || ferror(stdout))
		return fail("cannot write the answer");
	return status;
}
