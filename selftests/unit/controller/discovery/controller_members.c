// SPDX-License-Identifier: GPL-2.0-only
/* The targets that are wanted of a controller that shares them with others. */
#include "discovery_scene.h"
#include "tools/controller/base/validity.h"

/* Of two members, the first has "a", "c" and the agent of the command line, the second "b". */
static void test_shard(void **state)
{
	const struct membership *members;
	struct shard_parts parts;
	struct fixture fixture;
	const char *error;

	begin(&fixture, "sources: [{file_sd: f}]\n");
	hear(&fixture, "f: cannot be opened");
	replace("f", "[{\"targets\": [\"a:1\", \"b:1\", \"c:1\"]}]");
	hear(&fixture, "f: names 3 agents");
	replace("c", "sources: [{file_sd: f}]\nshard: {member: 1, members: 2}\n");
	discovery__reload(fixture.discovery);
	hear(&fixture, "c: read again");
	expect(&fixture, "a:1@1000 c:1@1000 own:1@1000");
	members = discovery__membership(fixture.discovery, &parts, &error);
	assert_int_equal(members->shard.members, 2);
	assert_null(error);
	assert_int_equal(parts.own, 3);
	assert_int_equal(parts.standby, 0);
	assert_int_equal(parts.left, 1);
	replace("c", "sources: [{file_sd: f}]\nshard: {member: 2, members: 2}\n");
	discovery__reload(fixture.discovery);
	hear(&fixture, "c: read again");
	expect(&fixture, "b:1@1000");
	replace("c", "sources: [{file_sd: f}]\nshard: {member: 3, members: 2}\n");
	discovery__reload(fixture.discovery);
	hear(&fixture, "c: there is no member 3 of 2");
	expect(&fixture, "b:1@1000");
	end(&fixture);
}

/* The first member stands by for "b"; of three members, one has "b" for whom it does not. */
static void test_standby(void **state)
{
	struct shard_parts parts;
	struct fixture fixture;
	const char *error;

	begin(&fixture,
	      "sources: [{file_sd: f}]\nshard: {member: 1, members: 2, replication: 2}\n");
	hear(&fixture, "f: cannot be opened");
	replace("f", "[{\"targets\": [\"a:1\", \"b:1\", \"c:1\"]}]");
	hear(&fixture, "f: names 3 agents");
	expect(&fixture, "a:1@1000 b:1@1000/60000 c:1@1000 own:1@1000");
	discovery__membership(fixture.discovery, &parts, &error);
	assert_int_equal(parts.own, 3);
	assert_int_equal(parts.standby, 1);
	assert_int_equal(parts.left, 0);
	replace("c", "sources: [{file_sd: f}]\n"
		     "shard: {member: 2, members: 2, replication: 2, standby: 5s}\n");
	discovery__reload(fixture.discovery);
	hear(&fixture, "c: read again");
	expect(&fixture, "a:1@1000/5000 b:1@1000 c:1@1000/5000 own:1@1000/5000");
	/* The takeover of a lone member. */
	replace("c", "sources: [{file_sd: f}]\nshard: {member: 1, members: 1}\n");
	discovery__reload(fixture.discovery);
	hear(&fixture, "c: read again");
	expect(&fixture, "a:1@1000 b:1@1000 c:1@1000 own:1@1000");
	end(&fixture);
}

/* Runs the loop until the targets are wanted so. */
static void await_wanted(struct fixture *fixture, const char *wanted)
{
	while (strcmp(fixture->wanted, wanted))
		assert_int_not_equal(sd_event_run(fixture->event, WAIT_US), 0);
}

/* Another program lists the members: of two, member 1 has "a", "c" and "own", member 2 "b". */
static void test_members_file(void **state)
{
	static const char own[] = "a:1@1000 b:1@1000/60000 c:1@1000 own:1@1000";
	static const char all[] = "a:1@1000 b:1@1000 c:1@1000 own:1@1000";
	const struct membership *members;
	struct shard_parts parts;
	struct fixture fixture;
	unsigned int lists;
	const char *error;

	begin(&fixture, "agents: [{host: a, port: 1}, {host: b, port: 1}, {host: c, port: 1}]\n"
			"shard: {member: 1, members_file: m, replication: 2, handover: 1ms}\n");
	expect(&fixture, "");
	assert_false(discovery__is_complete(fixture.discovery));
	hear(&fixture, "m: cannot be opened: No such file or directory; no agent is scraped");
	assert_true(discovery__is_complete(fixture.discovery));
	expect(&fixture, "");
	replace("m", "{\"members\": [1, 2]}");
	hear(&fixture, "m: lists 2 members");
	await_wanted(&fixture, own);

	/* A list that cannot be read, or is none, keeps the last one. */
	lists = fixture.lists;
	replace("m", "{\"members\": [1, ");
	hear(&fixture, "m: line 1: ");
	members = discovery__membership(fixture.discovery, &parts, &error);
	assert_int_equal(membership__count(members), 2);
	assert_int_equal(parts.own, 3);
	assert_non_null(strstr(error, "line 1"));
	assert_int_equal(unlink("m"), 0);
	discovery__reload(fixture.discovery);
	hear_both(&fixture, "c: read again",
		  "m: cannot be opened: No such file or directory; its 2 members stay");
	lists = fixture.lists;
	assert_int_equal(fixture.lists, lists);
	replace("m", "{\"members\": [2, 1]}");
	hear(&fixture, "m: lists 2 members");
	assert_int_equal(fixture.lists, lists);
	discovery__membership(fixture.discovery, &parts, &error);
	assert_null(error);

	/* Member 2 goes: its targets are taken over, and given back when it comes. */
	replace("m", "{\"members\": [1]}");
	hear(&fixture, "m: lists 1 members");
	expect(&fixture, all);
	replace("m", "{\"members\": [1, 2]}");
	hear(&fixture, "m: lists 2 members");
	expect(&fixture, own);
	/* A reload keeps the list. */
	discovery__reload(fixture.discovery);
	hear(&fixture, "c: read again");
	expect(&fixture, own);

	/* Until the list of another file is read, the members stay. */
	replace("c", "agents: [{host: a, port: 1}, {host: b, port: 1}, {host: c, port: 1}]\n"
		     "shard: {member: 1, members: 2, replication: 2}\n");
	discovery__reload(fixture.discovery);
	hear(&fixture, "c: read again");
	expect(&fixture, own);
	replace("c", "agents: [{host: a, port: 1}, {host: b, port: 1}, {host: c, port: 1}]\n"
		     "shard: {member: 1, members_file: m, replication: 2, handover: 1ms}\n");
	discovery__reload(fixture.discovery);
	hear(&fixture, "c: read again");
	expect(&fixture, own);
	hear(&fixture, "m: lists 2 members");
	expect(&fixture, own);

	/* The list leaves this member out, and names it again. */
	replace("m", "{\"members\": [2, 3, 4, 5, 6, 7, 8]}");
	hear(&fixture, "m: lists 7 members, and not this one, which scrapes nothing");
	discovery__membership(fixture.discovery, &parts, &error);
	assert_int_equal(parts.own, 0);
	replace("m", "{\"members\": [1, 2]}");
	hear(&fixture, "m: lists 2 members");
	await_wanted(&fixture, own);
	end(&fixture);
}

/* Writes the list of members, which is valid until @until_ns. */
static void list_until(const char *members, uint64_t until_ns)
{
	char text[100];

	snprintf(text, sizeof(text), "{\"members\": %s, \"valid_until\": %.3f}", members,
		 until_ns / 1e9);
	replace("m", text);
}

/* The writer of the list lags behind, and goes on. */
static void test_validity(void **state)
{
	static const char own[] = "a:1@1000 b:1@1000/60000 c:1@1000 own:1@1000";
	static const char none[] = "a:1@1000/60000 b:1@1000/60000 c:1@1000/60000 own:1@1000/60000";
	const uint64_t hour_ns = 3600000000000ULL;
	struct fixture fixture;
	uint64_t valid_ns;
	unsigned int lists;

	begin(&fixture, "agents: [{host: a, port: 1}, {host: b, port: 1}, {host: c, port: 1}]\n"
			"shard: {member: 1, members_file: m, replication: 2, handover: 1ms}\n");
	hear(&fixture, "m: cannot be opened");
	list_until("[1, 2]", boottime_ns() + hour_ns);
	hear(&fixture, "m: lists 2 members");
	await_wanted(&fixture, own);
	/* The same list once more, for a short time. */
	lists = fixture.lists;
	valid_ns = boottime_ns() + 50000000;
	list_until("[1, 2]", valid_ns);
	hear(&fixture, "m: the list of members is not valid any more; no agent is scraped");
	/* The list has milliseconds. */
	assert_in_range(fixture.valid_ns, valid_ns - 1000000, valid_ns + 1000000);
	assert_true(boottime_ns() >= fixture.valid_ns);
	await_wanted(&fixture, none);
	assert_int_equal(fixture.lists, lists + 1);
	list_until("[1, 2]", boottime_ns() + hour_ns);
	hear(&fixture, "m: the list of members is valid again");
	hear(&fixture, "m: lists 2 members");
	assert_true(fixture.valid_ns > boottime_ns());
	await_wanted(&fixture, own);
	end(&fixture);
}

/* A list that is renewed, and was written for this controller before it started, may be over. */
static void test_earlier(void **state)
{
	char path[] = "/tmp/members-XXXXXX", configuration[200];
	const int fd = mkstemp(path);
	struct fixture fixture;

	assert_true(fd >= 0);
	assert_true(dprintf(fd, "{\"members\": [1, 2], \"agreed\": true, \"valid_until\": %.3f}",
			    boottime_ns() / 1e9 + 600) > 0);
	close(fd);
	snprintf(configuration, sizeof(configuration),
		 "shard: {member: 1, members_file: %s, replication: 2, handover: 1ms}\n", path);
	begin(&fixture, configuration);
	hear(&fixture, path);
	await_wanted(&fixture, "own:1@1000/60000");
	/* The same list, written since. */
	snprintf(configuration, sizeof(configuration), "mv %s m && cp m new && mv new %s", path,
		 path);
	assert_int_equal(system(configuration), 0);
	hear(&fixture, path);
	await_wanted(&fixture, "own:1@1000");
	unlink(path);
	hear(&fixture, path);
	end(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("the targets of a member are wanted, and others when the shard changes",
		     test_shard),
		TEST("with a replication, targets of other members are wanted on standby",
		     test_standby),
		TEST("the members of a file count as soon as they change; a file that is missing or wrong keeps them",
		     test_members_file),
		TEST("a list with a validity that was there before names this controller only when it is written again",
		     test_earlier),
		TEST("nothing is wanted after the validity of the list of members, and all again with the next list",
		     test_validity),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
