// SPDX-License-Identifier: GPL-2.0-only
/*
 * snapshots PORT [SECTION=FILE...] COMMAND [ARGUMENT...]: sends the kernel's present
 * counters over each connection and closes it. For compare, which fetches many
 * snapshots: one process serves all, and starts only COMMAND.
 *
 * Sections begin with a line "== NAME": first the output of COMMAND, then files of
 * /proc and the named files, then the CPU time and context switches of dartd so far.
 */
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <systemd/sd-daemon.h>

static const char *const files[] = {
	"/proc/stat", "/proc/vmstat", "/proc/net/softnet_stat",
};

static int die(const char *what)
{
	fprintf(stderr, "snapshots: %s: %s\n", what, strerror(errno));
	return 1;
}

static bool run(int out, char *const command[])
{
	pid_t child = fork();
	int status;

	if (!child) {
		dup2(out, STDOUT_FILENO);
		execvp(command[0], command);
		_exit(die(command[0]));
	}
	return child > 0 && waitpid(child, &status, 0) == child && !status;
}

static void show_file(FILE *out, const char *section, const char *path)
{
	FILE *in = fopen(path, "re");
	char bytes[4096];
	size_t got;

	fprintf(out, "== %s\n", section);
	while (in && (got = fread(bytes, 1, sizeof(bytes), in)) > 0)
		fwrite(bytes, 1, got, out);
	if (in)
		fclose(in);
}

/* The sum over the lines of @path of the number after @prefix. */
static unsigned long long sum(const char *path, const char *prefix)
{
	unsigned long long total = 0;
	FILE *in = fopen(path, "re");
	char line[512];

	while (in && fgets(line, sizeof(line), in)) {
		const char *found = strstr(line, prefix);

		if (found)
			total += strtoull(found + strlen(prefix), NULL, 10);
	}
	if (in)
		fclose(in);
	return total;
}

/* The process of this name, or 0. */
static long find_process(const char *wanted)
{
	DIR *processes = opendir("/proc");
	struct dirent *process;
	long pid = 0;

	while (processes && !pid && (process = readdir(processes))) {
		char path[300], name[32] = "";
		FILE *in;

		snprintf(path, sizeof(path), "/proc/%s/comm", process->d_name);
		in = fopen(path, "re");
		if (in && fgets(name, sizeof(name), in) && !strncmp(name, wanted, strlen(wanted)) &&
		    name[strlen(wanted)] == '\n')
			pid = strtol(process->d_name, NULL, 10);
		if (in)
			fclose(in);
	}
	if (processes)
		closedir(processes);
	return pid;
}

static void show_agent(FILE *out)
{
	unsigned long long switches = 0, cpu_ns = 0;
	long pid = find_process("dartd");
	struct dirent *thread;
	char path[300];
	DIR *threads;

	snprintf(path, sizeof(path), "/proc/%ld/task", pid);
	threads = opendir(path);
	if (!threads)
		return;
	while ((thread = readdir(threads))) {
		if (thread->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "/proc/%ld/task/%s/status", pid, thread->d_name);
		switches += sum(path, "voluntary_ctxt_switches:");
		snprintf(path, sizeof(path), "/proc/%ld/task/%s/schedstat", pid, thread->d_name);
		cpu_ns += sum(path, "");
	}
	closedir(threads);
	fprintf(out, "== agent context switches\n%llu\n== agent cpu ns\n%llu\n", switches, cpu_ns);
}

static void serve(int client, char *const sections[], char *const command[])
{
	FILE *out;

	/* Without "== end" the client knows that there is no snapshot. */
	if (!run(client, command))
		return;
	out = fdopen(dup(client), "w");
	if (!out)
		return;
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		show_file(out, files[i], files[i]);
	for (; sections < command; sections++) {
		char *section = strdup(*sections);
		char *path = strchr(section, '=');

		*path++ = '\0';
		show_file(out, section, path);
		free(section);
	}
	show_agent(out);
	fputs("== end\n", out);
	fclose(out);
}

int main(int argc, char *argv[])
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	int listener, client, command = 2, one = 1;

	while (command < argc && strchr(argv[command], '='))
		command++;
	if (command >= argc) {
		fprintf(stderr, "usage: snapshots PORT [SECTION=FILE...] COMMAND [ARGUMENT...]\n");
		return 2;
	}
	address.sin_port = htons(atoi(argv[1]));
	listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(listener, (struct sockaddr *)&address, sizeof(address)) || listen(listener, 8))
		return die("listen");
	sd_notify(0, "READY=1");
	while ((client = accept4(listener, NULL, NULL, SOCK_CLOEXEC)) >= 0) {
		serve(client, argv + 2, argv + command);
		close(client);
	}
	return die("accept");
}
