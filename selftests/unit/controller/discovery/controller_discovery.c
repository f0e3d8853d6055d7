// SPDX-License-Identifier: GPL-2.0-only
/* Sources in files, and a configuration that is read again, while they change. */
#include "discovery_scene.h"

static void test_file(void **state)
{
	struct fixture fixture;

	begin(&fixture, "sources: [{file_sd: s/f, interval: 5ms}]\n");
	expect(&fixture, "own:1@1000");
	assert_false(discovery__is_complete(fixture.discovery));
	hear(&fixture, "s/f: cannot be opened: No such file or directory");
	assert_true(discovery__is_complete(fixture.discovery));

	/* The file comes into being, with its directory. */
	replace("g", "[{\"targets\": [\"b:1\", \"a:1\"]}]");
	assert_int_equal(mkdir("s", 0700), 0);
	assert_int_equal(rename("g", "s/f"), 0);
	hear(&fixture, "s/f: names 2 agents");
	expect(&fixture, "a:1@5 b:1@5 own:1@1000");
	replace("s/f", "[{\"targets\": [\"b:1\", \"c:1\"]}]");
	hear(&fixture, "s/f: names 2 agents");
	expect(&fixture, "b:1@5 c:1@5 own:1@1000");
	rewrite("s/f", "[{\"targets\": [\"own:1\"]}]");
	hear(&fixture, "s/f: names 1 agent");
	/* As on the command line. */
	expect(&fixture, "own:1@1000");

	replace("s/f", "[{\"targets\": [\"d:1\"]}]");
	hear(&fixture, "s/f: names 1 agent");
	replace("s/f", "[{\"targets\": [\"");
	hear(&fixture, "s/f: not JSON: line 1");
	expect(&fixture, "d:1@5 own:1@1000");
	replace("s/f", "[]");
	hear(&fixture, "s/f: names 0 agents");
	expect(&fixture, "own:1@1000");
	end(&fixture);
}

static void replace_link(const char *name, const char *target)
{
	assert_int_equal(symlink(target, "new"), 0);
	assert_int_equal(rename("new", name), 0);
}

/* Like a mounted ConfigMap, and then a directory that is a link. */
static void test_links(void **state)
{
	struct fixture fixture;

	begin(&fixture, "interval: 1s\n");
	assert_int_equal(mkdir("v1", 0700), 0);
	assert_int_equal(mkdir("v2", 0700), 0);
	assert_int_equal(mkdir("m", 0700), 0);
	replace("v1/f", "[{\"targets\": [\"a:1\"]}]");
	replace("v2/f", "[{\"targets\": [\"b:1\"]}]");
	replace_link("current", "v1");
	replace_link("m/..data", "../current");
	replace_link("m/f", "..data/f");
	replace("c", "sources: [{file_sd: m/f}]\n");
	discovery__reload(fixture.discovery);
	hear(&fixture, "c: read again");
	hear(&fixture, "m/f: names 1 agent");
	expect(&fixture, "a:1@1000 own:1@1000");

	replace_link("m/..data", "../v2");
	hear(&fixture, "m/f: names 1 agent");
	expect(&fixture, "b:1@1000 own:1@1000");
	rewrite("v2/f", "[{\"targets\": [\"c:1\"]}]");
	hear(&fixture, "m/f: names 1 agent");
	expect(&fixture, "c:1@1000 own:1@1000");
	replace_link("m/..data", "../current");
	hear(&fixture, "m/f: names 1 agent");
	expect(&fixture, "a:1@1000 own:1@1000");
	/* Far from the file. */
	replace_link("current", "v2");
	hear(&fixture, "m/f: names 1 agent");
	expect(&fixture, "c:1@1000 own:1@1000");
	end(&fixture);
}

/* Waits until the controller has looked at a source @more times. */
static void look(struct fixture *fixture, uint64_t more)
{
	struct discovery_source source;
	uint64_t looks;

	discovery__source(fixture->discovery, 0, &source);
	looks = source.looks + more;
	while (source.looks < looks) {
		discovery__reload(fixture->discovery);
		assert_int_not_equal(sd_event_run(fixture->event, WAIT_US), 0);
		discovery__source(fixture->discovery, 0, &source);
	}
}

static void test_said_once(void **state)
{
	struct discovery_source source;
	struct fixture fixture;
	unsigned int lists;

	begin(&fixture, "sources: [{file_sd: f}]\n");
	hear(&fixture, "f: cannot be opened");
	/* The configuration is read again with each look. */
	fixture.ignored = "c";
	rewrite("c", "x: y\n");
	look(&fixture, 3);
	discovery__source(fixture.discovery, 0, &source);
	assert_string_equal(source.name, "f");
	assert_string_equal(source.kind, "file_sd");
	assert_true(source.failures >= 4);
	assert_non_null(source.error);
	assert_int_equal(fixture.sentences, 0);

	replace("f", "[{\"targets\": [\"a:1\"]}]");
	hear(&fixture, "f: names 1 agent");
	/* The same list again is nothing new. */
	lists = fixture.lists;
	replace("f", "[{\"targets\": [\"a:1\", \"a:1\"]}]");
	look(&fixture, 1);
	assert_int_equal(fixture.lists, lists);
	discovery__source(fixture.discovery, 0, &source);
	assert_int_equal(source.targets, 1);
	assert_null(source.error);
	assert_true(source.heard_ns);
	end(&fixture);
}

static void test_left_out(void **state)
{
	struct discovery_source source;
	struct fixture fixture;

	begin(&fixture, "sources: [{file_sd: f}]\n");
	hear(&fixture, "f: cannot be opened");
	replace("f", "[{\"targets\": [\"a:1\", \"b:0\"]}, {\"targets\": null}]");
	hear(&fixture, "f: group 1: 'b:0' is not an agent (expected HOST, HOST:PORT or [V6]:PORT); it is left out");
	hear(&fixture, "f: names 1 agent");
	expect(&fixture, "a:1@1000 own:1@1000");
	discovery__source(fixture.discovery, 0, &source);
	assert_int_equal(source.targets, 1);
	assert_int_equal(source.left_out, 1);
	assert_non_null(strstr(source.error, "'b:0'"));
	assert_int_equal(source.failures, 1);

	/* The same mistake is not said again. */
	replace("f", "[{\"targets\": [\"a:1\", \"b:0\", \"c:1\"]}]");
	hear(&fixture, "f: names 2 agents");
	expect(&fixture, "a:1@1000 c:1@1000 own:1@1000");
	/* The list consists of mistakes: the targets of the previous list stay. */
	replace("f", "[{\"targets\": [\"b:0\"]}]");
	hear(&fixture, "f: group 1: 'b:0' is not an agent (expected HOST, HOST:PORT or [V6]:PORT); its 2 agents stay");
	replace("f", "[{\"targets\": [\"a:1\", \"c:1\"]}]");
	hear(&fixture, "f: nothing is left out any more");
	hear(&fixture, "f: names 2 agents");
	discovery__source(fixture.discovery, 0, &source);
	assert_int_equal(source.left_out, 0);
	assert_null(source.error);
	end(&fixture);
}

static void test_reload(void **state)
{
	struct fixture fixture;
	uint64_t reloads, refused;

	begin(&fixture, "interval: 2s\nagents: [{host: x}]\n"
			"sources: [{file_sd: f}]\n");
	expect(&fixture, "own:1@2000 x:4792@2000");
	hear(&fixture, "f: cannot be opened");
	replace("f", "[{\"targets\": [\"a:1\"]}]");
	hear(&fixture, "f: names 1 agent");
	expect(&fixture, "a:1@2000 own:1@2000 x:4792@2000");

	replace("c", "agents: [{host: x, interval: 7s}, {host: y}]\n"
		     "sources: [{file_sd: f}]\nworkers: 3\n");
	discovery__reload(fixture.discovery);
	hear(&fixture, "c: read again (agents: 3, sources: 1); "
		       "taken at the next start: flow, io, dscp, mirror, tls, workers, handshakes, clock_bound, limits, record (");
	/*
	 * The targets of the source stay until the controller has looked at it with another
	 * interval.
	 */
	hear(&fixture, "f: names 1 agent");
	expect(&fixture, "a:1@1000 own:1@1000 x:4792@7000 y:4792@1000");
	replace("c", "agents: [{host: x, interval: 7s}, {host: y, transport: rpc}]\n"
		     "sources: [{file_sd: f}]\n"
		     "tls: {certificate: c, key: k, authorities: a}\n");
	discovery__reload(fixture.discovery);
	hear(&fixture, "c: read again (agents: 3, sources: 1); "
		       "taken at the next start: flow, io, dscp, mirror, tls, workers, handshakes, clock_bound, limits, record (");

	replace("c", "agents: [{host: x}, {host: x}]\n");
	discovery__reload(fixture.discovery);
	hear(&fixture, "c:1: agent 'x' port 4792 is named twice; nothing has changed");
	assert_int_equal(unlink("c"), 0);
	discovery__reload(fixture.discovery);
	hear(&fixture, "cannot open 'c': No such file or directory; nothing has");
	replace("c", "interval: 1s\n");
	discovery__reload(fixture.discovery);
	/* The command line names an agent. */
	hear(&fixture, "c: read again (agents: 1, sources: 0)");
	expect(&fixture, "own:1@1000");
	assert_int_equal(discovery__source_count(fixture.discovery), 0);
	discovery__reloads(fixture.discovery, &reloads, &refused);
	assert_int_equal(reloads, 5);
	assert_int_equal(refused, 2);
	end(&fixture);
}

/* Settings that are only read when the program starts. */
/* Rules for targets, at the root and of a source, and a reload with others. */
static void test_rules(void **state)
{
	const struct target_faults *configured;
	struct discovery_source source;
	struct fixture fixture;

	begin(&fixture, "relabel_configs: [{source_labels: [__address__], regex: 'own:1|b:1', action: drop}]\n"
			"sources: [{file_sd: f}]\n");
	hear(&fixture, "c: relabel_configs drop 1 agents");
	configured = discovery__configured_faults(fixture.discovery);
	assert_string_equal(configured->dropped_first[0], "own:1");
	hear(&fixture, "f: cannot be opened");
	replace("f", "[{\"targets\": [\"a:1\", \"b:1\"]}]");
	hear(&fixture, "f: names 1 agent, and relabel_configs drop 1");
	expect(&fixture, "a:1@1000");
	discovery__source(fixture.discovery, 0, &source);
	assert_int_equal(source.dropped, 1);
	assert_string_equal(source.faults->dropped_first[0], "b:1");
	/* The rules of the root do not apply to a source with rules of its own. */
	replace("c", "relabel_configs: [{source_labels: [__address__], regex: 'own:1', action: drop}]\n"
		     "agents: [{host: x, port: 1}]\n"
		     "sources: [{file_sd: f, relabel_configs: [{source_labels: [__meta_filepath, __address__],"
		     " regex: 'f;(.):1', target_label: __address__, replacement: '${1}2:1'}]}]\n");
	discovery__reload(fixture.discovery);
	hear(&fixture, "c: read again (agents: 1, sources: 1, and relabel_configs drop 1)");
	hear(&fixture, "f: names 2 agents");
	expect(&fixture, "a2:1@1000 b2:1@1000 x:1@1000");
	replace("c", "sources: [{file_sd: f}]\n");
	discovery__reload(fixture.discovery);
	hear(&fixture, "c: read again (agents: 1, sources: 1)");
	hear(&fixture, "f: names 2 agents");
	expect(&fixture, "a:1@1000 b:1@1000 own:1@1000");
	end(&fixture);
}

static void test_for_start(void **state)
{
	static const char *const changes[] = {
		"flow: {control: none}\n",
		"flow: {bytes: 8K}\n",
		"io: {kind: poll}\n",
		"io: {kind: event, fragments: 3}\n",
		"io: {kind: event, group: 2}\n",
		"workers: 2\n",
		"io: {threads: 2}\n",
		"record: {file: r}\n",
	};
	struct fixture fixture;
	size_t i;

	begin(&fixture, "interval: 1s\n");
	for (i = 0; i < sizeof(changes) / sizeof(*changes); i++) {
		replace("c", changes[i]);
		discovery__reload(fixture.discovery);
		hear(&fixture,
		     "c: read again (agents: 1, sources: 0); "
		     "taken at the next start: flow, io, dscp, mirror, tls, workers, handshakes, clock_bound, limits, record (");
	}
	replace("c", "interval: 2s\n");
	discovery__reload(fixture.discovery);
	hear(&fixture, "c: read again (agents: 1, sources: 0)");
	expect(&fixture, "own:1@2000");
	end(&fixture);
}

/* Makes the controller read the configuration again, from a pipe; returns when the pipe is open. */
static int reload_from_pipe(struct fixture *fixture)
{
	int fd;

	/*
	 * A new pipe each time: a thread that still reads the previous pipe gets nothing of this.
	 */
	assert_int_equal(mkfifo("new", 0600), 0);
	assert_int_equal(rename("new", "c"), 0);
	discovery__reload(fixture->discovery);
	fd = open("c", O_WRONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	return fd;
}

static void write_and_close(int fd, const char *text)
{
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

/* While the loop is busy, the configuration is read twice, and refused the second time. */
static void test_refused_behind(void **state)
{
	uint64_t reloads, refused;
	struct fixture fixture;
	int fd;

	begin(&fixture, "interval: 1s\n");
	write_and_close(reload_from_pipe(&fixture), "interval: 7s\n");
	write_and_close(reload_from_pipe(&fixture), "interval: x\n");
	/* When the third read begins, the news of the second have arrived. */
	fd = reload_from_pipe(&fixture);
	hear(&fixture, "c: read again (agents: 1, sources: 0)");
	expect(&fixture, "own:1@7000");
	hear(&fixture, "c:1: 'x' is not an interval");
	write_and_close(fd, "interval: 8s\n");
	hear(&fixture, "c: read again (agents: 1, sources: 0)");
	expect(&fixture, "own:1@8000");
	discovery__reloads(fixture.discovery, &reloads, &refused);
	assert_int_equal(reloads, 3);
	assert_int_equal(refused, 1);
	end(&fixture);
}

/* A file with the greatest number of agents, and an agent on the command line. */
static void test_too_many(void **state)
{
	struct discovery_source source;
	struct fixture fixture;
	unsigned int i;
	FILE *file;

	begin(&fixture, "sources: [{file_sd: f}]\n");
	hear(&fixture, "f: cannot be opened");
	file = fopen("new", "we");
	assert_non_null(file);
	fputs("[{\"targets\": [\"h\"", file);
	for (i = 1; i < SETTINGS_TARGETS_MAX; i++)
		fprintf(file, ",\"h%u\"", i);
	fputs("]}]", file);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(rename("new", "f"), 0);
	hear(&fixture, "f: all sources together name more than 10000 agents");
	expect(&fixture, "own:1@1000");
	fixture.ignored = "c";
	look(&fixture, 1);
	discovery__source(fixture.discovery, 0, &source);
	assert_int_equal(source.targets, 0);
	assert_non_null(source.error);
	replace("f", "[{\"targets\": [\"a:1\"]}]");
	hear(&fixture, "f: names 1 agent");
	expect(&fixture, "a:1@1000 own:1@1000");
	end(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("a file of targets is followed as it is created, replaced and written; one that is refused changes nothing",
		     test_file),
		TEST("a file is followed as symbolic links on the way to it are replaced",
		     test_links),
		TEST("a source that fails says so once, and one that names the same again says nothing",
		     test_said_once),
		TEST("a target that cannot be used is left out, said once and counted, and the rest is wanted",
		     test_left_out),
		TEST("a configuration that is read again changes agents and sources; one that is refused changes nothing",
		     test_reload),
		TEST("rules for targets apply to agents and sources, and change with the configuration",
		     test_rules),
		TEST("what counts only when the program starts is said to stay", test_for_start),
		TEST("a configuration is taken, even if the one behind it is refused before the loop hears of both",
		     test_refused_behind),
		TEST("more than 10,000 agents of all sources together are refused", test_too_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
