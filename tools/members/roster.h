/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The knowledge of this host about the members of its shard, and its consequences: whether its own
 * node exists, which list the controller gets, and until when that list is valid.
 *
 * The node of a member is ephemeral: ZooKeeper deletes it when it has not heard from the session
 * for the session time-out, and the others then take over.  So a list is valid at most until that
 * time after a request to which ZooKeeper has answered was begun.  The controller is watched, too:
 * a list is valid at most until a session time-out after a question that the controller answered,
 * and then the node is deleted; so whatever list a frozen controller had is over when others
 * replace it.
 *
 * While no server answers (and the session may be valid still, since without a quorum none
 * expires), the last list stays valid as long as this program runs, unless the user wants it to
 * end.  If this program itself was frozen for longer than its list was valid, it makes no other
 * list before ZooKeeper has answered a request that was begun afterwards.
 *
 * The controller also says which portions of agents it does not reach (settings/shard.h), and
 * ZooKeeper contains that for each member.  A list names portions of another member once its
 * controller has used a list that names them, and no longer than ZooKeeper does; and it names the
 * own portions until all others have used a list that does not.
 *
 * Pure code: the caller tells the time, CLOCK_BOOTTIME in ns.
 */
#ifndef MEMBERS_ROSTER_H
#define MEMBERS_ROSTER_H

#include <stdbool.h>
#include <stdint.h>

#include "tools/controller/settings/shard.h"

enum roster_stage {
	ROSTER_STARTS, /* it has not connected to all targets that it would have or stand by for */
	ROSTER_RUNS,
	ROSTER_LEAVES, /* it is about to end */
};

/* The answer of the controller of this host. */
struct roster_answer {
	uint64_t begun_ns; /* when the question was begun; 0: it is dead */
	uint64_t used; /* the version that it uses */
	enum roster_stage stage;
	bool is_named; /* by a list that it has, and that is valid */
	struct portion_set unreached; /* portions of which it does not reach an agent */
};

/* The nodes below the node of all members, at one time. */
struct roster_nodes {
	struct member_set present;
	struct portion_set unreached[SHARD_UNREACHED_MEMBERS]; /* by roster_nodes__add() */
	uint64_t unreaching; /* bit I: member I + 1 has some */
	uint64_t version; /* the transaction of ZooKeeper that changed them last */
};

/* Portions that one member does not reach. */
struct roster_unreached {
	struct portion_set told; /* by ZooKeeper */
	struct portion_set listed; /* in the list that is written */
	uint64_t since; /* the version that last changed @told */
};

struct roster {
	unsigned int member; /* of this host */
	uint64_t session_ns;
	bool goes_on; /* without servers */

	/* Of ZooKeeper. */
	bool has_session; /* false: it expired, or there was none so far */
	bool is_confirmed; /* a request that was begun after connecting was answered */
	uint64_t confirmed_ns; /* when the newest request that was answered was begun */
	bool has_node; /* of this session */
	bool is_known; /* the members below are of this session */
	struct member_set present; /* of these, the own one only if it has_node */
	uint64_t version; /* of the members: the transaction of ZooKeeper that changed them last */
	uint64_t since; /* the first version since which the own member is there, or is not */
	uint64_t used[SHARD_MEMBERS_MAX]; /* versions that the controllers of others use; 0: none */
	struct roster_unreached unreached[SHARD_UNREACHED_MEMBERS];
	uint64_t unreaching; /* bit I: that of member I + 1 is not empty */

	/* Of the controller of this host. */
	struct roster_answer answer;

	/* Of this program. */
	uint64_t lapsed_ns; /* it was frozen, noticed then; 0: it was not, or that is over */
	struct member_list written; /* the newest list; no members: none */
	uint64_t listed; /* bit I: it has portions that member I + 1 does not reach */
};

void roster__begin(struct roster *roster, unsigned int member, uint64_t session_ns, bool goes_on);

/* ---- news */

/* Other servers are asked; the session may still be valid. */
void roster__disconnect(struct roster *roster);
/* The session is new. */
void roster__connect(struct roster *roster, uint64_t session_ns);
/* The session is over: the node is deleted, and others may have taken over. */
void roster__expire(struct roster *roster);
/* ZooKeeper answered a request that was begun then. */
void roster__confirm(struct roster *roster, uint64_t begun_ns);
/* One node says that @member does not reach these portions. */
void roster_nodes__add(struct roster_nodes *nodes, unsigned int member,
		       const struct portion_set *portions);
/* ZooKeeper answered which nodes there are. */
void roster__take(struct roster *roster, const struct roster_nodes *nodes);
void roster__hear(struct roster *roster, const struct roster_answer *answer);
/* Nobody listens at the control socket. */
void roster__lose_controller(struct roster *roster);

/* ---- consequences */

/* Does the controller run, and not end? */
bool roster__has_controller(const struct roster *roster, uint64_t now_ns);
/*
 * True if ZooKeeper should contain the node of this host.  As soon as it does, the others give the
 * controller its targets: so it has used a list of the others before, and connected to them.  As
 * soon as an earlier node is gone, the others take them: so a controller that started again, or
 * whose program did, has a list before that does not name it.
 */
bool roster__wants_node(const struct roster *roster, uint64_t now_ns);
/*
 * The list that is to be written now, if it says more than the one that was written last.  False:
 * no list is to be written.  To be called several times for each session time-out.
 */
bool roster__list(struct roster *roster, uint64_t now_ns, struct member_list *list);
/* @list was written. */
void roster__set_written(struct roster *roster, const struct member_list *list);
/* Do all other members that are there use a list since which the own member is there, or is not? */
bool roster__is_agreed(const struct roster *roster);

#endif /* MEMBERS_ROSTER_H */
