/* The main computer's role, and what may reach GitHub under it.

   What is modelled. N computers of one fleet and one pull request. Up to C claims of the role, each with a
   term and the list of the claims that it takes over; a computer is main when exactly one claim that it
   knows is not taken over, and that one is its own (P2, P22). Nobody is told anything but by an exchange
   between two computers, at any moment or never, so two of them may each be main in good faith. The main
   computer opens the conversation, asks its person, spends the approval, writes to GitHub, and names the
   final. GitHub compares before it writes: the pull request is open and its head is the one that the
   approval names. Persons move the head meanwhile. The answer to a write may be lost, as by a crash. A
   computer may be put back to an earlier backup, once.

   What is abstracted. A record is the claim that it was made under; a second one under the same claim is
   the same. Ids are the order of making. Exchanges are whole and go both ways. Releasing the role, removing
   a computer and pairing are left out: lanes/roster.go and its tests have those. A push is left out; it is
   the same one-shot approval and the same compare-and-swap as a merge. What one conversation is made of
   stands in conflicts/thread/model.

   What must hold, in every state that can be reached:
     - GitHub is written at most once, and what it merged is the head that a person approved (P15, S4)
     - each press is spent at most once, also after a backup came back (S4, case 40)
     - a final is named only when GitHub holds it, and a copy adopted only then (P18, cases 30 and 38)
     - who takes the role over is main afterwards in its own eyes: one press is enough (P22)
     - of two openings the one whose author knew of the other counts (case 14)

   Sizes: -DN= computers, -DC= claims, -DK= presses in all, -DH= moves of the head.
   With -DFAULTY a main computer may name a final too early; the others still must not adopt it.

   Runs, none with an error (-DSAFETY -DCOLLAPSE):
     N=2 C=3      350,973 states   2 s
     N=3 C=2      927,008 states   0.2 GB
     N=3 C=3   31,399,730 states   488 s, 3.8 GB, 426,087,480 transitions (two busy cores)
   The last by
     spin -a -DN=3 -DC=3 roles.pml && gcc -w -O2 -DSAFETY -DCOLLAPSE -o pan pan.c && nice ./pan -m1000000 -w26

   Mutants, each a rule left out, which the verifier must refuse:
     -DNOCAS        GitHub does not compare
     -DEARLYFINAL   the final is named once the approval is spent
     -DTRUSTFINAL   (with -DFAULTY) a final is adopted without a look at GitHub
     -DREPLAY       approvals come back with a backup
     -DNOSUPER      a claim does not list those that it takes over
     -DSAMETERM     a claim does not raise the term */

#ifndef N
#define N 2
#endif
#ifndef C
#define C 3
#endif
#ifndef K
#define K 2
#endif
#ifndef H
#define H 1
#endif

#define BIT(x) (1 << (x))
#define HAS(m, x) (((m) >> (x)) & 1)

/* The claims that were ever made. */
byte claims = 0;
byte owner[C];
byte term[C];
byte over[C];    /* those that it takes over */

/* What each computer holds. */
byte kc[N];      /* claims that it knows */
byte ko[N];      /* openings that it knows, by claim */
bit kf[N];       /* it knows a final */
byte appr[N];    /* its approval: 0 none, 1 approved, 2 spent and the outcome unknown */
bit bound[N];    /* the head that the approval names */

/* GitHub and the persons. */
bit head = 0;
bit merged = 0;
byte moves = 0;
byte clicks = 0;
byte left[N];    /* presses at this computer that were not spent */

/* One backup of one computer. */
byte saved = 0;  /* 0 none, n+1 of computer n, N+1 it was used */
byte sc;
byte so;
bit sf;
byte sa;
bit sb;

/* lv: the claims that n knows and that no claim known to n takes over. main: whether n is main, by me. */
inline look(n) {
	d_step {
		lv = kc[n]; i = 0;
		do
		:: i < claims ->
			if
			:: HAS(kc[n], i) -> lv = lv & (255 - over[i])
			:: else
			fi;
			i++
		:: else -> break
		od;
		main = 0; i = 0;
		do
		:: i < claims ->
			if
			:: lv == BIT(i) && owner[i] == n -> main = 1; me = i
			:: else
			fi;
			i++
		:: else -> break
		od;
		i = 0
	}
}

/* b: the opening that counts for n, by term and then by id; C: it knows none. */
inline winner(n) {
	d_step {
		b = C; i = 0;
		do
		:: i < claims ->
			if
			:: HAS(ko[n], i) && (b == C || term[i] > term[b]) -> b = i
			:: else
			fi;
			i++
		:: else -> break
		od;
		i = 0;
		do
		:: i < claims && b < C ->
			assert(!(HAS(ko[n], i) && HAS(over[i], b)));
			i++
		:: else -> break
		od;
		i = 0
	}
}

#define clear lv = 0; i = 0; me = 0; main = 0; b = 0; t = 0

proctype computer(byte n) {
	byte lv = 0, i = 0, me = 0, b = 0, t = 0;
	bit main = 0;
end:
	do
	/* Its person gives it the role, whatever it knows. */
	:: atomic { claims < C ->
		look(n);
		do
		:: i < claims ->
			if
			:: HAS(kc[n], i) && term[i] > t -> t = term[i]
			:: else
			fi;
			i++
		:: else -> break
		od;
		owner[claims] = n;
#ifdef SAMETERM
		term[claims] = 1;
#else
		term[claims] = t + 1;
#endif
#ifdef NOSUPER
		over[claims] = 0;
#else
		over[claims] = lv;
#endif
		kc[n] = kc[n] | BIT(claims);
		claims++;
		look(n);
		assert(main);
		clear }

	/* It opens the conversation. */
	:: atomic { ko[n] == 0 && !merged && kc[n] != 0 ->
		look(n);
		if
		:: main -> ko[n] = BIT(me)
		:: else
		fi;
		clear }

	/* Its person approves the merge of the head that the card shows. */
	:: atomic { appr[n] == 0 && clicks < K && ko[n] != 0 && !merged ->
		winner(n); look(n);
		if
		:: main -> appr[n] = 1; bound[n] = head; clicks++; left[n]++
		:: else
		fi;
		clear }

	/* It sees that the head has moved: the approval is void. */
	:: atomic { appr[n] == 1 && bound[n] != head -> appr[n] = 0; bound[n] = 0; left[n]-- }

	/* It spends the approval, durably, before it does anything. */
	:: atomic { appr[n] == 1 ->
		look(n);
		if
		:: main -> assert(left[n] > 0); left[n]--; appr[n] = 2
		:: else
		fi;
		clear }

	/* It sends the write, and again while the outcome is unknown. */
	:: atomic { appr[n] == 2 ->
		if
#ifdef NOCAS
		:: true ->
#else
		:: !merged && bound[n] == head ->
#endif
			assert(!merged && bound[n] == head);
			merged = 1;
			if
			:: appr[n] = 0; bound[n] = 0
			:: true /* the answer was lost */
			fi
#ifndef NOCAS
		:: else -> appr[n] = 0; bound[n] = 0 /* refused, or done by an earlier try */
#endif
		fi }

	/* It names the final. */
	:: atomic { !kf[n] && ko[n] != 0 &&
#if defined(FAULTY)
		true
#elif defined(EARLYFINAL)
		(merged || appr[n] == 2)
#else
		merged
#endif
		->
		look(n);
		if
		:: main ->
#ifndef FAULTY
			assert(merged);
#endif
			kf[n] = 1
		:: else
		fi;
		clear }

	/* It adopts the final: nothing of the model's changes by it. */
#ifdef TRUSTFINAL
	:: atomic { kf[n] -> assert(merged) }
#else
	:: atomic { kf[n] && merged -> assert(merged) }
#endif

	/* It and another computer tell each other what they know. */
	:: atomic { b = 0;
		do
		:: b < N - 1 -> b++
		:: break
		od;
		if
		:: b != n ->
			kc[n] = kc[n] | kc[b]; kc[b] = kc[n];
			ko[n] = ko[n] | ko[b]; ko[b] = ko[n];
			kf[n] = kf[n] | kf[b]; kf[b] = kf[n]
		:: else
		fi;
		clear }

	/* It is backed up, and put back. Approvals are never part of a backup. */
	:: atomic { saved == 0 -> saved = n + 1;
		sc = kc[n]; so = ko[n]; sf = kf[n]
#ifdef REPLAY
		; sa = appr[n]; sb = bound[n]
#endif
		}
	:: atomic { saved == n + 1 -> saved = N + 1;
		kc[n] = sc; ko[n] = so; kf[n] = sf;
		sc = 0; so = 0; sf = 0;
#ifdef REPLAY
		appr[n] = sa; bound[n] = sb; sa = 0; sb = 0
#else
		appr[n] = 0; bound[n] = 0; left[n] = 0
#endif
		}
	od
}

/* Somebody pushes to the pull request's branch, or puts it back. */
proctype person() {
end:
	do
	:: atomic { moves < H && !merged -> head = 1 - head; moves++ }
	od
}

init {
	byte n = 0;
	atomic {
		run person();
		do
		:: n < N -> run computer(n); n++
		:: else -> break
		od
	}
}
