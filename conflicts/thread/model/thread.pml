/* One conversation about one pull request, from its open to its end.

   What is modelled. Computer 0 is main and has opened the conversation (record 0); its own copy of the file
   was never published. Computer 1, of the same fleet, made the pull request, is responsible for the result,
   and may take the role over, with a higher term, without 0 knowing of it yet. Computer 2 is another
   developer's, a lane peer. The main computer's records form the spine: open, interim, final, closed, each
   naming the record that it follows. The others are leaves: final-ready, and each computer's confirmation of
   one final. Every record reaches every computer by itself, in any order, any number of others before it; a
   computer's state is a fold over the set that it holds. One computer may be put back to an earlier state of
   its ledger while its files stay as they are. Two records that want one place of the spine are judged by
   term, and then by id, the order of which is chosen at the start.

   What is abstracted. Statements, objections and the interim's deadline: the spine never looks at them, so
   the interim may come whenever it is open; it always picks the pull request's copy, which is what a lane
   peer must not follow. The final does not change hands. Approvals, and what GitHub compares before a merge,
   stand in lanes/model. One file stands for all of a conversation. Leaves reach main computers alone, who
   alone look at them.

   What must hold, in every state that can be reached:
     - what a computer sees goes forward: its spine grows, and with it the phase, unless a record that
       precedes takes a place on it (S6, cases 6 and 17)
     - a lane peer's file takes master's copy or the final, never the pull request's (S3, P5, case 49)
     - unpublished work is never replaced (S1)
     - a final is named, and adopted, only when GitHub holds it (P18, case 30)
   And of every run (ltl ends): in the end the conversation is closed in every computer's eyes, for good.
   Every step changes something that is never changed back, so every run ends and nothing need be assumed
   of fairness. The verifier must be run without -f: with weak fairness it overlooks a run that has ended.

   Sizes: -DP=2 leaves the lane peer out. -DTAKE= take-overs, -DREST= restarts from a backup, of computer -DBACK=.

   Runs, none with an error (pan -a, and -DSAFETY with -noclaim):
     P=3                1,277 states
     P=3 FAULTY        17,373 states
     P=2 TAKE=1       243,039 states
     P=2 REST=1       151,277 states, with BACK=0
   Larger: -DP=3 -DTAKE=1 and -DREST=1 -DBACK=0 to 2, several minutes and more each.

   With -DFAULTY a main computer names the final too early, and goes back to the interim after it.

   Mutants, each a rule left out, which the verifier must refuse:
     -DLASTHEARD    the state is what the last record says, whatever it follows
     -DFAULTY -DROLLBACK  a record follows the head although its phase is an earlier one
     -DLANEPICK     a lane peer follows the interim's pick
     -DCLOBBER      an unpublished file is replaced
     -DEARLYFINAL   the final is named before the merge is on GitHub
     -DFAULTY -DNOVERIFY  a final is adopted without a look at GitHub
     -DNOCATCHUP    what got lost on the way is not asked for again (ltl)
     -DONCE         a computer confirms one final and no other (ltl, with a take-over)
     -DEDGE         the main computer acts on news alone, so that a restart ends its part (ltl, with one) */

#ifndef P
#define P 3
#endif
#ifndef TAKE
#define TAKE 0
#endif
#ifndef REST
#define REST 0
#endif
#ifndef BACK
#define BACK 0
#endif
#define S 15                         /* room for records; running out of it is an error */
#define NOBODY 255

#define BIT(x) (1 << (x))
#define HAS(m, x) (((m) >> (x)) & 1)

/* Kinds of records; those of the spine are also the phases. */
#define OPEN 1
#define INTERIM 2
#define FINAL 3
#define CLOSED 4
#define CLAIM 5                      /* of the role, by computer 1 */
#define READY 6
#define ADOPTED 7

#define LANE 2

/* The records. */
byte records = 1;
byte kind[S];
byte up[S];                          /* what it follows, or confirms */
byte who[S];
byte term[S];
short leaves = 0;

/* What each computer holds, and what follows from it: see fold. */
short known[3];
byte hd[3];                          /* last record of the spine */
byte ph[3];                          /* phase */
byte final[3];                       /* the final to be confirmed, NOBODY */
bit ready[3];
bit all[3];                          /* everybody has confirmed that final */
bit leads[3];

/* The file at each computer. */
#define OLD 0
#define MASTER 1
#define PULL 2
#define RESULT 3
#define OWN 4                        /* holds work that was never published */
byte file[3];

bit merged = 0;                      /* GitHub holds the result on the base branch */
bit lower = 0;                       /* of two ids, the one that was made first is the lower */
byte takes = 0;
byte rests = 0;
byte claim = NOBODY;
#ifdef FAULTY
bit back = 0;
#endif
bit asleep[3];                       /* EDGE: restarted, and nothing came since */

#define claimed(n) (claim != NOBODY && HAS(known[n], claim))
#define precedes(a, b) (term[a] > term[b] || (term[a] == term[b] && ((lower && a < b) || (!lower && a > b))))
#define acts(n) (leads[n] && !asleep[n])
#define settled(n) (ph[n] != OPEN && ph[n] != INTERIM)

#ifdef ROLLBACK
#define later(k, p) (k > p || (k == INTERIM && p == FINAL))
#else
#define later(k, p) (k > p)
#endif

#ifdef NOVERIFY
#define seen true
#else
#define seen merged
#endif

#if defined(EARLYFINAL) || defined(FAULTY)
#define nameable true
#else
#define nameable merged
#endif

#ifdef CLOBBER
#define replaceable(n) true
#else
#define replaceable(n) (file[n] != OWN)
#endif

#ifdef LANEPICK
#define wanted PULL
#else
#define wanted MASTER
#endif

#ifdef NOCATCHUP
short missed[3];
#define offered(n) (~missed[n])
#else
#define offered(n) 32767
#endif

/* What n has not heard that somebody holds, and that it has a use for. */
#define news(n) (offered(n) & (known[0] | known[1] | known[2]) & ~known[n] & (leads[n] -> 32767 : ~leaves))

/* fold: what the set of records gives. Uses h, p, x, q, i. */
inline fold(n) {
	leads[n] = ((n == 0 && !claimed(n)) || (n == 1 && claimed(n)));
	h = 0; p = OPEN;
	if
	:: !HAS(known[n], 0) -> h = NOBODY; p = 0
	:: else ->
		do
		:: x = NOBODY; i = 1;
			do
			:: i < records ->
				if
				:: HAS(known[n], i) && kind[i] <= CLOSED && up[i] == h && (term[i] == 1 || claimed(n)) &&
				   term[i] >= term[h] && later(kind[i], p) && (x == NOBODY || precedes(i, x)) -> x = i
				:: else
				fi;
				i++
			:: else -> break
			od;
			if
			:: x == NOBODY -> break
			:: else -> h = x; p = kind[x]
			fi
		od
	fi;
	hd[n] = h; ph[n] = p;
	do
	:: h != NOBODY && h != 0 && kind[h] != FINAL -> h = up[h]
	:: else -> break
	od;
	final[n] = (h == 0 -> NOBODY : h);
	ready[n] = 0; q = 0; p = 0; i = 1;
	do
	:: i < records ->
		if
		:: HAS(known[n], i) && kind[i] == READY -> ready[n] = 1
		:: HAS(known[n], i) && kind[i] == ADOPTED && up[i] == final[n] -> q = q | BIT(who[i])
		:: else
		fi;
#ifdef ONCE
		if
		:: HAS(known[n], i) && kind[i] == ADOPTED && who[i] == n -> p = 1
		:: else
		fi;
#endif
		i++
	:: else -> break
	od;
	all[n] = (q == BIT(P) - 1);
	if
	:: HAS(q, n) || p -> final[n] = NOBODY
	:: else
	fi
}

/* path: the records from the open to h. */
inline path(h, m) {
	m = 0;
	if
	:: h == NOBODY
	:: else ->
		i = h;
		do
		:: m = m | BIT(i);
			if
			:: i == 0 -> break
			:: else -> i = up[i]
			fi
		od
	fi
}

/* hear: n comes to hold record r. What it saw before must still stand, or something precedes it. */
inline hear(n, r) {
	d_step {
		asleep[n] = 0;
		t = ph[n];
		path(hd[n], was);
		known[n] = known[n] | BIT(r);
		fold(n);
#ifdef LASTHEARD
		if
		:: kind[r] <= CLOSED -> hd[n] = r; ph[n] = kind[r]
		:: else
		fi;
#endif
		path(hd[n], now);
		if
		:: (was & ~now) == 0 -> assert(ph[n] >= t)
		:: else ->
			x = NOBODY; h = NOBODY; i = 1;
			do
			:: i < records ->
				if
				:: HAS(now, i) && !HAS(was, i) && HAS(was, up[i]) -> x = i
				:: else
				fi;
				i++
			:: else -> break
			od;
			assert(x != NOBODY);
			i = 1;
			do
			:: i < records ->
				if
				:: HAS(was, i) && !HAS(now, i) && up[i] == up[x] -> h = i
				:: else
				fi;
				i++
			:: else -> break
			od;
			assert(h != NOBODY && precedes(x, h))
		fi;
		x = 0; h = 0; p = 0; q = 0; i = 0; t = 0; was = 0; now = 0
	}
}

/* say: n makes a record, which follows or confirms another, and holds what it says. */
inline say(n, k, about, age) {
	assert(records < S);
	kind[records] = k; up[records] = about; who[records] = n; term[records] = age;
	if
	:: k == READY || k == ADOPTED -> leaves = leaves | BIT(records)
	:: else
	fi;
	records++;
	hear(n, records - 1)
}

proctype computer(byte n) {
	byte h = 0, p = 0, q = 0, x = 0, i = 0, r = 0, t = 0;
	short was = 0, now = 0;
end:
	do
	/* Its file follows the interim (A2); the author's keeps what it has. */
	:: atomic { ph[n] == INTERIM && n != 1 && file[n] != wanted && replaceable(n) ->
		assert(file[n] != OWN);
		file[n] = wanted;
		assert(n != LANE || file[n] != PULL) }

	/* It adopts the final that GitHub holds, and confirms it (A4). */
	:: atomic { final[n] != NOBODY && seen ->
		assert(merged);
		if
		:: replaceable(n) -> assert(file[n] != OWN); file[n] = RESULT
		:: else
		fi;
		r = final[n];
		say(n, ADOPTED, r, 0);
		r = 0 }

	/* The responsible side has built and pushed the result. */
	:: atomic { n == 1 && !settled(n) && !ready[n] -> say(n, READY, 0, 0) }

	/* The main computer settles the interim (B1 to B3). */
	:: atomic { acts(n) && ph[n] == OPEN ->
		r = hd[n];
		say(n, INTERIM, r, n + 1);
		r = 0 }

	/* It merges the result; its person has pressed (B4). */
	:: atomic { acts(n) && !settled(n) && ready[n] && !merged -> merged = 1 }

	/* It names the final (B5). */
	:: atomic { acts(n) && !settled(n) && nameable ->
#ifndef FAULTY
		assert(merged);
#endif
		r = hd[n];
		say(n, FINAL, r, n + 1);
		r = 0 }

#ifdef FAULTY
	/* It would go back to the interim, once. */
	:: atomic { acts(n) && ph[n] == FINAL && !back ->
		back = 1;
		r = hd[n];
		say(n, INTERIM, r, n + 1);
		r = 0 }
#endif

	/* It closes once every computer has confirmed (B8). */
	:: atomic { acts(n) && ph[n] == FINAL && all[n] ->
		r = hd[n];
		say(n, CLOSED, r, n + 1);
		r = 0 }

	/* A record reaches it. */
	:: atomic { news(n) != 0 ->
		do
		:: HAS(news(n), r) -> break
		:: (news(n) >> (r + 1)) != 0 -> r++
		od;
		if
		:: hear(n, r)
#ifdef NOCATCHUP
		:: missed[n] = missed[n] | BIT(r)
#endif
		fi;
		r = 0 }

	/* Computer 1 takes the role over; 0 hears of it like of anything else. */
	:: atomic { n == 1 && takes < TAKE && HAS(known[1], 0) ->
		takes++;
		claim = records;
		say(n, CLAIM, 0, 0) }

	/* It is put back: it holds nothing that was made after some moment. */
	:: atomic { rests < REST && n == BACK && (known[n] >> 1) != 0 ->
		r = 1;
		do
		:: (known[n] >> (r + 1)) != 0 -> r++
		:: break
		od;
		d_step {
			known[n] = known[n] & (BIT(r) - 1);
			rests++;
#ifdef EDGE
			asleep[n] = 1;
#endif
			fold(n);
			h = 0; p = 0; q = 0; x = 0; i = 0; r = 0
		} }
	od
}

init {
	atomic {
		kind[0] = OPEN; term[0] = 1;
		known[0] = 1; ph[0] = OPEN; leads[0] = 1;
		hd[1] = NOBODY; hd[2] = NOBODY;
		final[0] = NOBODY; final[1] = NOBODY; final[2] = NOBODY;
		file[0] = OWN; file[1] = PULL; file[LANE] = OLD;
		if
		:: REST > 0 -> lower = 1
		:: true
		fi;
		run computer(0); run computer(1);
		if
		:: P > LANE -> run computer(LANE)
		:: else
		fi
	}
}

ltl ends { <>[] (ph[0] == CLOSED && ph[1] == CLOSED && (P <= LANE || ph[LANE] == CLOSED)) }
