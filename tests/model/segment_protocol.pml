/* The segment protocol, as shm/ and daemon/ carry it out, for the model checker Spin.
 *
 * One daemon (Publisher and Builder threads), readers in other processes, and a Fate that kills
 * the daemon between any two steps. Checked at every reachable state, for every interleaving:
 *
 *   reads      every key, looked up at the generation of one root word, is what the store held at
 *              that generation: a commit is seen whole or not at all, before, during and after
 *              flips, restarts, replacements and restores (Reader, READ)
 *   own writes no root is older than an answer that has left (Reader, OWN WRITES)
 *   monotony   a reader's generation never goes back (Reader, NEVER BACK)
 *   attach     a mapped arena is complete and is the one the root names; a missing one means that
 *              the root has moved (Reader, ATTACH)
 *   listing    names each live child once, and no other (Reader, LIST)
 *   feed       every generation after the token, whole and in order, or "gone" (Reader, FEED)
 *   waiting    asleep on an old word only while a wake is owed; every root that is stored, a
 *              flip's and RETIRED too, wakes all who were asleep then (Monitor); what was answered
 *              before a wait timed out is seen after it, a new page's too (Reader, READ ROOT)
 *   pins       a pinned snapshot is what it was, over flips, restarts and replacements (PINNED)
 *   room       publishing after the durable commit always fits (append)
 *
 * A STEP is one load or store of shared memory that another process can notice, one system call,
 * or one durable transaction. What nobody else can see until a later store is joined with it: the
 * bytes of a record with the store that links it, the copying of immutable records. Memory is
 * sequentially consistent here. A load may be delayed at will, so a snapshot held for long is a
 * slow reader. A crash is possible after every step; it frees locks and private state only.
 *
 * NOT MODELLED: memory orders; hashing and probing; the 32-bit wrap of epoch and generation;
 * checks against damage; retirement of mappings and fork inside one process; two daemons on one
 * directory; a directory deleted under a running daemon; tmpfs space.
 *
 * BOUNDS    TABLES in one namespace (NESTED: the first of them is a namespace, the others in it; 0:
 *           the namespace alone), COMMITS, FLIPS, CRASHES, READERS;
 *           INITIAL: the keys that are live in generation 1, as bits (bit 0 is the namespace)
 * SCENARIOS RUNNING the daemon has run before (else: first start) and left a control page
 *           TIGHT   arenas have little room, and the next one may have less than this one
 *           REST    answers of the daemon that come from read transactions
 *           REPLACE a start may replace the control page on purpose
 *           RESTORE a crash may come with an older copy of the store
 *           WIPE    a crash may come with the loss of the runtime directory
 *                   (RESTORE and WIPE: of both in one crash too, as when a host is set up anew)
 *           ANEW    both of these in each crash, which comes after a commit; the copy is the
 *                   store's first generation
 *           PIN     a reader may pin one snapshot, and read it later
 *           LOG     a commit may cut the daemon's log short
 *           ONLY_x  readers do nothing else: READ, LIST, FEED, WAIT
 * RULES     -DWITHOUT_x leaves one rule out, and must then be caught. Numbers are those of the
 *           protocol's rules:
 *
 *   1  root loaded whole            Reader, READ ROOT               WITHOUT_WHOLE_ROOT
 *   2  identity of arenas           Reader, ATTACH                  WITHOUT_CONTROL_ID
 *   3  next epoch                   Publisher, BUILD                WITHOUT_NEXT_EPOCH
 *      sweep spares root's arena    Publisher, SWEEP                WITHOUT_SPARING_SWEEP
 *      root before unlink           Builder, FLIP                   WITHOUT_ROOT_BEFORE_UNLINK
 *   4  control with root set        Publisher, CONTROL              (by construction)
 *   6  RETIRED                      Publisher, CONTROL              WITHOUT_RETIRED
 *      ... before the new page      Publisher, CONTROL              WITHOUT_RETIRED_FIRST
 *      ... wakes who slept there    wake_retired                    WITHOUT_RETIRED_WAKE
 *   7  wait: time-out, path check   Reader, WAIT                    WITHOUT_PATH_CHECK
 *   9  wake at a flip               Builder, FLIP                   WITHOUT_FLIP_WAKE
 *  10  reserve before commit        Publisher, RESERVE              WITHOUT_RESERVE
 *      ... under the publish mutex  Publisher, RESERVE              WITHOUT_RESERVE_LOCK
 *      ... and a flip keeps it      Builder, LAST CATCH-UP          WITHOUT_RESERVE_KEPT
 *  11  slots before root            Publisher, PUBLISH              WITHOUT_SLOTS_FIRST
 *      links before root            Publisher, PUBLISH              WITHOUT_LINKS_FIRST
 *      tail before root             Publisher, PUBLISH              WITHOUT_TAIL_FIRST
 *      wake after root              Publisher, PUBLISH              WITHOUT_WAKE_LAST
 *      ... of all who wait          wake_all                        WITHOUT_WAKE_ALL
 *  12  one record a key             Publisher, COMMIT               (by construction)
 *  14  no answer before publish     Answerer                        WITHOUT_ANSWER_AFTER_PUBLISH
 *  15  flip between publishes       Builder, LAST CATCH-UP          WITHOUT_FLIP_LOCK
 *  16  capture between publishes    Builder, CAPTURE                WITHOUT_CAPTURE_LOCK
 *      copy the old arena at c      Builder, BASE COPY              WITHOUT_COPY_OF_ARENA
 *  17  restored store               Publisher, RESTORED             WITHOUT_RESTORED_GENERATION
 *      ... found under RETIRED      Publisher, RESTORED             WITHOUT_RETIRED_GENERATION
 *      new incarnation              Publisher, RESTORED             WITHOUT_INCARNATION
 *      ... for a new control too    Publisher, RESTORED             WITHOUT_FRESH_INCARNATION
 *  20  ENOENT: look again           Reader, ATTACH                  (asserted: the root has moved)
 *  21  chains go down               newest_at, LIST                 (asserted)
 *  23  a pin holds its mapping      free_inodes                     WITHOUT_PIN_HOLDS
 *  24  linked by the first record   append                          WITHOUT_LINK_ONCE
 *      namespaces before tables     Publisher, PUBLISH              WITHOUT_NAMESPACE_FIRST
 *  25  feed from base on            Reader, FEED                    WITHOUT_BASE_CHECK
 *      ... else from the log        Reader, LOG                     WITHOUT_LOG_FLOOR
 *      ... once it is published     Reader, LOG                     WITHOUT_LOG_PUBLISHED
 *      ... of one incarnation       Reader, LOG                     WITHOUT_LOG_INCARNATION
 *  26  waits expect the word read   Reader, WAIT                    WITHOUT_EXPECTED_WORD
 */
#ifdef ANEW
#define RESTORE
#define WIPE
#endif
#ifndef TABLES
#define TABLES 1
#endif
#if !defined(ONLY_WAIT) && !defined(ONLY_FEED) && !defined(ONLY_LIST)
#define DOES_READ
#endif
#if !defined(ONLY_WAIT) && !defined(ONLY_FEED) && !defined(ONLY_READ)
#define DOES_LIST
#endif
#if !defined(ONLY_WAIT) && !defined(ONLY_LIST) && !defined(ONLY_READ)
#define DOES_FEED
#endif
#if !defined(ONLY_READ) && !defined(ONLY_LIST) && !defined(ONLY_FEED)
#define DOES_WAIT
#endif
#ifndef INITIAL
#define INITIAL 1
#endif
#ifndef COMMITS
#define COMMITS 1
#endif
#ifndef FLIPS
#define FLIPS 1
#endif
#ifndef CRASHES
#define CRASHES 1
#endif
#ifndef READERS
#define READERS 1
#endif

#define KEYS (1 + TABLES)            /* key 0 is the namespace, the others are tables in it */
#define NAMESPACE 0
#ifdef NESTED
#define NAMESPACES 2                 /* key 1 is a namespace in the first, the others are in it */
#define PARENT(key) ((key) == 1 -> 0 : 1)
#else
#define NAMESPACES 1
#define PARENT(key) NAMESPACE
#endif
#ifdef RESTORE
#define FIRST_GENERATION 2           /* so that there is an older copy to restore */
#define RESTORES CRASHES             /* each restored store skips a generation */
#define HISTORIES (1 + CRASHES)
#else
#define FIRST_GENERATION 1
#define RESTORES 0
#define HISTORIES 1
#endif
#define GENERATIONS (FIRST_GENERATION + COMMITS + RESTORES + 1)
#define EPOCHS (4 + FLIPS + CRASHES)
#define RECORDS (1 + KEYS * (1 + COMMITS))                     /* offset 0 = none */
#define INODES (4 + 2 * READERS)                               /* 0 = none */
#define CONTROLS (3 + CRASHES)                                 /* 0 = none */
#define RETIRED 255                                            /* both halves of the root word */

/* An array of the model is large enough. What this stops shows nothing about the protocol. */
bit model_too_small = 0;
#define BOUND(condition) assert((condition) || model_too_small)

/* ---- what lies in the runtime directory ---- */

typedef Arena {
  bit used;                          /* the inode exists */
  bit complete;                      /* the header is written, checksum and all */
  byte epoch; byte control; byte incarnation;
  byte base; byte base_end;          /* generation and end of the base copy */
  byte capacity; byte end;           /* private to the daemon: records that fit, that are there */
  byte has_namespace;                /* private to the daemon: as bits, those with a record here */
  byte tail; byte published;         /* published_tail, published_generation */
  byte slot[KEYS];                   /* the index */
  byte children[NAMESPACES];         /* ChildHeads of each namespace's first record */
  byte generation[RECORDS]; byte previous[RECORDS]; byte sibling[RECORDS];
  byte key[RECORDS]; bit live[RECORDS];
  byte history;                      /* ghost: which of the store's histories it shows */
};
Arena arena[INODES];
byte arena_named[EPOCHS];            /* the name arena.<epoch> -> inode */

/* {epoch, generation} is ONE word: always stored and loaded together */
typedef Control { byte epoch; byte generation; byte id };
Control control[CONTROLS];
byte controls = 0;                   /* inodes used; an id is never drawn twice */
byte control_at_path = 0;

/* ---- the durable store ---- */

byte store_generation = FIRST_GENERATION;
byte store_incarnation = 1;
byte log_floor = 0;                  /* the log knows every change after this generation */

/* ---- the daemon's private state ---- */

byte life = 1;                       /* Fate adds one: what ran in the life before ends */
byte ready = 0;                      /* the life that has finished its start */
bit publish_mutex = 0;
byte current = 0;                    /* the arena appends go to */
byte page = 0;                       /* the control page in use */
byte reserved = 0;                   /* records reserved by a commit that is not yet published */

/* ---- the readers' state that the kernel sees ---- */

byte mapped[READERS]; byte opened[READERS];
#ifdef PIN
byte pinned[READERS]; byte pin_generation[READERS];
#endif
bit asleep[READERS]; byte sleeps_on[READERS]; byte expected[READERS];
bit wake_owed[CONTROLS];             /* ghost: root stored, wake not yet issued */
bit must_wake[READERS];              /* ghost: was asleep when a root was stored */
#if defined(WIPE) && !defined(RESTORE)
#define TELLS_FLOOR
byte floor[READERS];                 /* ghost: what was answered when its wait timed out */
#endif
byte readers = 0;

/* ---- ghost: the truth ---- */

typedef Content {
  byte version[KEYS];                /* generation of the key's record, 0 = absent */
  byte changed                       /* keys that have a record of this generation, as bits */
};
Content truth[HISTORIES * GENERATIONS];
byte history = 0;                    /* a restored store begins another one */
#define TRUTH(h, g) truth[(h) * GENERATIONS + (g)]
#define STORE TRUTH(history, store_generation)       /* what the store holds */
#define NEXT TRUTH(history, generation)              /* what it holds after the next transaction */
byte answered = 0;                   /* highest generation that an answer has revealed */
byte commits = 0, flips = 0, crashes = 0;

/* ---- records and lookups; used inside a step ---- */

byte k_, x_; bit b_;                 /* scratch, 0 between steps */

/* A record is written whole, then linked if it is its key's first here. Its slot comes later. */
inline append(a, key_, generation_, live_) {
  arena[a].end++;
  BOUND(arena[a].end < RECORDS);
  assert(arena[a].end <= arena[a].capacity);            /* ROOM */
  arena[a].generation[arena[a].end] = generation_;
  arena[a].key[arena[a].end] = key_;
  arena[a].live[arena[a].end] = live_;
  arena[a].previous[arena[a].end] = arena[a].slot[key_];
  if
  :: key_ != NAMESPACE ->
     assert((arena[a].has_namespace >> PARENT(key_)) & 1);     /* with the parent's ChildHeads */
#ifndef WITHOUT_LINKS_FIRST
     link(a, key_, arena[a].end)
#endif
  :: else
  fi;
  if
  :: key_ < NAMESPACES -> arena[a].has_namespace = arena[a].has_namespace | (1 << key_)
  :: else
  fi
}

inline link(a, key_, record_) {
  if
#ifdef WITHOUT_LINK_ONCE
  :: arena[a].live[record_] && !arena[a].live[arena[a].slot[key_]] ->
#else
  :: arena[a].previous[record_] == 0 ->
#endif
     arena[a].sibling[record_] = arena[a].children[PARENT(key_)];
     arena[a].children[PARENT(key_)] = record_
  :: else
  fi
}

/* For an arena that nobody reads yet: the slot at once. */
inline append_unseen(a, key_, generation_, live_) {
  append(a, key_, generation_, live_);
#ifdef WITHOUT_LINKS_FIRST
  if :: key_ != NAMESPACE -> link(a, key_, arena[a].end) :: else fi;
#endif
  arena[a].slot[key_] = arena[a].end
}

/* The newest record of a key that is not newer than the generation; 0 if there is none. */
inline newest_at(a, key_, generation_, found) {
  found = arena[a].slot[key_];
  do
  :: found != 0 && arena[a].generation[found] > generation_ ->
     assert(arena[a].previous[found] < found);
     found = arena[a].previous[found]
  :: else -> break
  od
}

inline copy_from_store(a) {
  k_ = 0;
  do
  :: k_ < KEYS ->
     if
     :: TRUTH(history, store_generation).version[k_] != 0 ->
        append_unseen(a, k_, TRUTH(history, store_generation).version[k_], 1)
     :: else
     fi;
     k_++
  :: else -> break
  od;
  k_ = 0
}

inline catch_up(from, to, position) {
  assert(position <= arena[from].tail);
  do
  :: position < arena[from].tail ->
     position++;
     append_unseen(to, arena[from].key[position], arena[from].generation[position],
                   arena[from].live[position])
  :: else -> break
  od;
  assert(position == arena[from].tail)
}

inline complete_header(a, generation_) {
  arena[a].tail = arena[a].end; arena[a].published = generation_; arena[a].complete = 1
}

/* ---- the kernel ---- */

/* Frees inodes with neither a name nor a holder. Ids are used again: fewer states. */
inline free_inodes() {
  k_ = 1;
  do
  :: k_ < INODES ->
     b_ = (k_ == current);
     x_ = 0;
     do
     :: x_ < READERS ->
        b_ = (b_ || mapped[x_] == k_ || opened[x_] == k_);
#if defined(PIN) && !defined(WITHOUT_PIN_HOLDS)
        b_ = (b_ || pinned[x_] == k_);
#endif
        x_++
     :: else -> break
     od;
     x_ = 0;
     do :: x_ < EPOCHS -> b_ = (b_ || arena_named[x_] == k_); x_++ :: else -> break od;
     if
     :: !b_ && arena[k_].used ->
        arena[k_].used = 0; arena[k_].complete = 0; arena[k_].epoch = 0; arena[k_].control = 0;
        arena[k_].incarnation = 0; arena[k_].base = 0; arena[k_].base_end = 0;
        arena[k_].capacity = 0; arena[k_].end = 0; arena[k_].has_namespace = 0;
        arena[k_].tail = 0; arena[k_].published = 0;
        arena[k_].history = 0;
        x_ = 0; do :: x_ < NAMESPACES -> arena[k_].children[x_] = 0; x_++ :: else -> break od;
        x_ = 0; do :: x_ < KEYS -> arena[k_].slot[x_] = 0; x_++ :: else -> break od;
        x_ = 0;
        do
        :: x_ < RECORDS ->
           arena[k_].generation[x_] = 0; arena[k_].previous[x_] = 0; arena[k_].sibling[x_] = 0;
           arena[k_].key[x_] = 0; arena[k_].live[x_] = 0; x_++
        :: else -> break
        od
     :: else
     fi;
     k_++
  :: else -> break
  od;
  k_ = 0; x_ = 0; b_ = 0
}

/* open(O_CREAT|O_EXCL): never finds the name taken. The header is all zero until it is complete. */
inline create_arena(a, epoch_) {
  a = 1;
  do :: a < INODES && arena[a].used -> a++ :: else -> break od;
  BOUND(a < INODES);
  BOUND(epoch_ < EPOCHS);
#ifndef WITHOUT_NEXT_EPOCH
  assert(arena_named[epoch_] == 0);
#endif
  arena_named[epoch_] = a;
  arena[a].used = 1; arena[a].history = history
}

/* Ghost: with the store of a root. */
inline owe_wake(c) {
  wake_owed[c] = 1; k_ = 0;
  do
  :: k_ < READERS -> must_wake[k_] = asleep[k_] && sleeps_on[k_] == c; k_++
  :: else -> break
  od;
  k_ = 0
}

inline store_root(c, epoch_, generation_) {
  control[c].epoch = epoch_; control[c].generation = generation_; owe_wake(c)
}

inline wake_all(c) {
  k_ = 0;
  do
  :: k_ < READERS ->
     if
     :: asleep[k_] && sleeps_on[k_] == c ->
        asleep[k_] = 0; must_wake[k_] = 0;
#ifdef WITHOUT_WAKE_ALL
        break
#endif
     :: else
     fi;
     k_++
  :: else -> break
  od;
  k_ = 0; wake_owed[c] = 0
}

inline wake_retired(c) {
#ifndef WITHOUT_RETIRED_WAKE
  d_step { wake_all(c) }
#else
  wake_owed[c] = 0
#endif
}

/* ---- the daemon: start, then commits ---- */

active proctype Publisher() {
  byte my_life, new, epoch, old_epoch, known, generation, key, need;
  byte record[KEYS];
  bit fresh, replace;
  d_step {
    k_ = 0;
    do
    :: k_ < KEYS ->
       TRUTH(0, 1).version[k_] = (INITIAL >> k_) & 1;
       TRUTH(0, 1).changed = TRUTH(0, 1).changed | (INITIAL & (1 << k_));
#ifdef RESTORE
       TRUTH(0, 2).version[k_] = 2;
       TRUTH(0, 2).changed = TRUTH(0, 2).changed | (1 << k_);
#endif
       k_++
    :: else -> break
    od;
    k_ = 0;
#ifdef RUNNING
    create_arena(new, 1);
    arena[new].epoch = 1; arena[new].control = 1; arena[new].incarnation = 1;
    arena[new].capacity = RECORDS - 1;
    copy_from_store(new);
    arena[new].base = store_generation; arena[new].base_end = arena[new].end;
    complete_header(new, store_generation);
    control[1].epoch = 1; control[1].generation = store_generation; control[1].id = 1;
    controls = 1; control_at_path = 1; answered = store_generation; new = 0
#endif
  };

start:
  atomic {
    my_life = life; new = 0; epoch = 0; old_epoch = 0; known = 0; generation = 0; key = 0; need = 0;
    fresh = 0; replace = 0; k_ = 0;
    do :: k_ < KEYS -> record[k_] = 0; k_++ :: else -> break od; k_ = 0;
    publish_mutex = 0; current = 0; reserved = 0
  };
  {
    d_step {
      page = control_at_path;
      fresh = (page == 0 || control[page].epoch == RETIRED);
      /* What readers of that page may have seen. RETIRED hides it; the arenas still tell. */
      if
      :: page != 0 && !fresh ->
         x_ = arena_named[control[page].epoch];
         known = (x_ != 0 -> arena[x_].published : control[page].generation);
         x_ = 0
#ifndef WITHOUT_RETIRED_GENERATION
      :: page != 0 && fresh ->
         k_ = 0;
         do
         :: k_ < EPOCHS ->
            x_ = arena_named[k_];
            if :: x_ != 0 && arena[x_].control == page && arena[x_].published > known ->
                  known = arena[x_].published
               :: else
            fi;
            k_++
         :: else -> break
         od;
         k_ = 0; x_ = 0
#endif
      :: else
      fi
    };
#ifdef RESTORE
    /* RESTORED: one durable transaction before anything is published */
    d_step {
      if
#ifndef WITHOUT_RESTORED_GENERATION
      :: known > store_generation ->
         generation = known + 1; BOUND(generation < GENERATIONS);
         k_ = 0;
         do
         :: k_ < KEYS ->
            NEXT.version[k_] = STORE.version[k_];
            k_++
         :: else -> break
         od;
         k_ = 0; NEXT.changed = 0;
         store_generation = generation; log_floor = generation; generation = 0;
#ifndef WITHOUT_INCARNATION
         store_incarnation++
#endif
#endif
#if !defined(WITHOUT_INCARNATION) && !defined(WITHOUT_FRESH_INCARNATION)
      /* No page to adopt: it does not tell whether the store is the one that it showed. */
      :: fresh && controls != 0 && known <= store_generation -> store_incarnation++
#endif
      :: else
      fi;
      known = 0
    };
#else
    known = 0;
#endif
#ifdef REPLACE
    if :: !fresh && controls < CONTROLS - 1 -> replace = 1 :: replace = 0 fi;
#endif
    /* SWEEP */
    d_step {
      k_ = 1;
      do
      :: k_ < EPOCHS ->
#ifndef WITHOUT_SPARING_SWEEP
         if :: fresh || k_ != control[page].epoch -> arena_named[k_] = 0 :: else fi;
#else
         arena_named[k_] = 0;
#endif
         k_++
      :: else -> break
      od;
      free_inodes()
    };
    /* BUILD: create, then copy the store in one read transaction; nothing commits meanwhile */
    d_step {
      epoch = (fresh -> 1 : control[page].epoch + 1);
#ifdef WITHOUT_NEXT_EPOCH
      epoch = (fresh -> 1 : control[page].epoch);
#endif
      create_arena(new, epoch)
    };
    atomic {
#ifdef TIGHT
      if :: arena[new].capacity = KEYS :: arena[new].capacity = 3 * KEYS fi;
#else
      arena[new].capacity = RECORDS - 1;
#endif
      d_step {
        arena[new].epoch = epoch;
        arena[new].control = ((fresh || replace) -> controls + 1 : control[page].id);
        arena[new].incarnation = store_incarnation;
        copy_from_store(new);
        arena[new].base = store_generation; arena[new].base_end = arena[new].end;
        complete_header(new, store_generation)
      }
    };
    /* CONTROL */
    if
    :: fresh || replace ->
       if
       :: replace ->
          old_epoch = control[page].epoch;
#if !defined(WITHOUT_RETIRED) && !defined(WITHOUT_RETIRED_FIRST)
          d_step { store_root(page, RETIRED, RETIRED) }
#endif
       :: else
       fi;
       /* written under another name with its root set; then link, or rename over the old one */
       d_step {
         controls++; BOUND(controls < CONTROLS);
         control[controls].epoch = epoch; control[controls].generation = store_generation;
         control[controls].id = controls;
         control_at_path = controls
       };
       if
       :: replace ->
#ifdef WITHOUT_RETIRED_FIRST
          d_step { store_root(page, RETIRED, RETIRED) };
#endif
          wake_retired(page);
          d_step { arena_named[old_epoch] = 0; free_inodes() }
       :: !replace && page != 0 -> wake_retired(page)
       :: else
       fi;
       page = controls
    :: else ->
       d_step {
         old_epoch = control[page].epoch;
         store_root(page, epoch, store_generation)
       };
       d_step {
         if :: arena_named[old_epoch] != new -> arena_named[old_epoch] = 0 :: else fi;
         free_inodes()
       };
       d_step { wake_all(page) }
    fi;
    d_step {
      current = new; ready = my_life;
      new = 0; epoch = 0; old_epoch = 0; fresh = 0; replace = 0
    };

    do
    :: commits < COMMITS ->
       /* COMMIT: the transaction: every key that is or becomes live has one record */
       atomic {
         generation = store_generation + 1; BOUND(generation < GENERATIONS);
         d_step {
           NEXT.changed = 0; k_ = 0;
           do
           :: k_ < KEYS ->
              NEXT.version[k_] = 0;
              if :: STORE.version[k_] != 0 ->
                    NEXT.changed = NEXT.changed | (1 << k_)
                 :: else
              fi;
              k_++
           :: else -> break
           od;
           k_ = 0
         };
         key = 0;
         do
         :: key < KEYS ->
            if
            :: key == NAMESPACE || NEXT.version[PARENT(key)] != 0 ->
               NEXT.version[key] = generation;
               NEXT.changed = NEXT.changed | (1 << key)
            :: NEXT.changed != 0  /* dropped or still absent; no empty commits */
#if INITIAL == 0
            :: key == NAMESPACE || (NEXT.changed >> PARENT(key)) & 1 ->    /* created and dropped */
               NEXT.changed = NEXT.changed | (1 << key)
#endif
            fi;
            key++
         :: else -> break
         od;
         key = 0;
#ifdef TIGHT
         do
         :: key < KEYS -> need = need + ((NEXT.changed >> key) & 1); key++
         :: else -> break
         od;
         key = 0
#endif
       };
#if defined(TIGHT) && !defined(WITHOUT_RESERVE)
       /* RESERVE: room for all of it, between two publishes; else wait for a flip */
end_full:                                               /* for good, once FLIPS are used up */
#ifdef WITHOUT_RESERVE_LOCK
       d_step { arena[current].end + need <= arena[current].capacity ->
#else
       d_step { publish_mutex == 0 && arena[current].end + need <= arena[current].capacity ->
#endif
         reserved = need
       };
#endif
       d_step { store_generation = generation; commits++ };        /* durable */
#ifdef LOG
       if :: log_floor = generation - 1 :: skip fi;                /* in the same transaction */
#endif

       /* PUBLISH */
       atomic { publish_mutex == 0 -> publish_mutex = 1 };
#ifdef WITHOUT_RESERVE
       if
       :: arena[current].end + KEYS > arena[current].capacity ->    /* "refuse the commit" */
          d_step { publish_mutex = 0; generation = 0; need = 0 };
          goto refused
       :: else
       fi;
#endif
#ifdef WITHOUT_SLOTS_FIRST
       d_step { control[page].generation = generation; owe_wake(page) };
#endif
#ifdef WITHOUT_NAMESPACE_FIRST
       key = KEYS;
       do
       :: key > 0 ->
          key--;
#else
       key = 0;
       do
       :: key < KEYS ->
#endif
          if
          :: (NEXT.changed >> key) & 1 ->
             d_step {
               append(current, key, generation, NEXT.version[key] != 0);
               record[key] = arena[current].end
             };
             d_step {
               arena[current].slot[key] = record[key];
#ifndef WITHOUT_LINKS_FIRST
               record[key] = 0
#endif
             }
          :: else
          fi;
#ifndef WITHOUT_NAMESPACE_FIRST
          key++
#endif
       :: else -> break
       od;
       key = 0;
#ifndef WITHOUT_TAIL_FIRST
       d_step { arena[current].published = generation; arena[current].tail = arena[current].end };
#endif
#ifdef WITHOUT_WAKE_LAST
       d_step { wake_all(page) };
#endif
#ifndef WITHOUT_SLOTS_FIRST
       d_step {
         control[page].generation = generation;
#ifdef WITHOUT_FLIP_LOCK
         control[page].epoch = arena[current].epoch;    /* the arena it knows */
#endif
#ifndef WITHOUT_WAKE_LAST
         owe_wake(page)
#endif
       };
#endif
#ifdef WITHOUT_TAIL_FIRST
       d_step { arena[current].published = generation; arena[current].tail = arena[current].end };
#endif
#ifdef WITHOUT_LINKS_FIRST
       d_step {
         key = 1;
         do
         :: key < KEYS ->
            if :: record[key] != 0 -> link(current, key, record[key]) :: else fi;
            key++
         :: else -> break
         od;
         key = 0
       };
#endif
       d_step { publish_mutex = 0; reserved = 0; need = 0 };
#ifndef WITHOUT_WAKE_LAST
       d_step { wake_all(page) };
#endif
       d_step {
         if :: generation > answered -> answered = generation :: else fi;    /* it leaves */
         generation = 0; k_ = 0;
         do :: k_ < KEYS -> record[k_] = 0; k_++ :: else -> break od; k_ = 0
       };
#ifdef WITHOUT_RESERVE
refused: skip
#endif
    :: commits >= COMMITS ->
end_idle:
       life != my_life
    od
  } unless { life != my_life };
  goto start
}

/* ---- the daemon: the thread that builds the next arena ---- */

active proctype Builder() {
  byte my_life, old, new, at, position, epoch, found, key;
begin:
  atomic {
    ready == life -> my_life = life;
    old = 0; new = 0; at = 0; position = 0; epoch = 0; found = 0; key = 0
  };
  {
    do
    :: flips < FLIPS ->
       /* CAPTURE: generation and tail belong together */
#ifdef WITHOUT_CAPTURE_LOCK
       d_step {
#else
       d_step { publish_mutex == 0 ->
#endif
         flips++; old = current; at = control[page].generation; position = arena[current].tail
       };
       d_step { epoch = arena[old].epoch + 1; create_arena(new, epoch) };
#ifdef WITHOUT_COPY_OF_ARENA
       at = store_generation;
#endif
       /* BASE COPY: what is live at the captured generation, the namespace first */
       d_step {
         arena[new].capacity = RECORDS - 1;
#ifdef TIGHT
         if :: flips == 1 -> arena[new].capacity = 2 * KEYS :: else fi   /* for what is live */
#endif
       };
       do
       :: key < KEYS -> d_step {
#ifdef WITHOUT_COPY_OF_ARENA
            if :: TRUTH(history, at).version[key] != 0 ->
                  append_unseen(new, key, TRUTH(history, at).version[key], 1)
               :: else
            fi;
#else
            newest_at(old, key, at, found);
            if :: found != 0 && arena[old].live[found] ->
                  append_unseen(new, key, arena[old].generation[found], 1)
               :: else
            fi;
#endif
            found = 0; key++
          }
       :: else -> break
       od;
       key = 0;
       d_step {
         arena[new].base = at; arena[new].base_end = arena[new].end;
         arena[new].epoch = epoch; arena[new].control = arena[old].control;
         arena[new].incarnation = arena[old].incarnation;
#ifdef WITHOUT_COPY_OF_ARENA
         position = arena[old].tail
#endif
       };
       /* CATCH-UP beside commits, as often as one likes; too full: give this one up */
       do
       :: d_step {
            position < arena[old].tail &&
            arena[new].end + arena[old].tail - position <= arena[new].capacity ->
            catch_up(old, new, position)
          }
       :: break
       od;
       /* LAST CATCH-UP, with publishing held off, and the switch */
#ifndef WITHOUT_FLIP_LOCK
       atomic { publish_mutex == 0 -> publish_mutex = 1 };
#endif
       if
#ifdef TIGHT
#ifdef WITHOUT_RESERVE_KEPT
       :: arena[new].end + arena[old].tail - position > arena[new].capacity ->
#else
       :: arena[new].end + arena[old].tail - position + reserved > arena[new].capacity ->
#endif
          d_step { publish_mutex = 0; arena_named[epoch] = 0; free_inodes() };
          goto given_up
#endif
       :: else
       fi;
       d_step { catch_up(old, new, position); complete_header(new, control[page].generation) };
#ifdef WITHOUT_ROOT_BEFORE_UNLINK
       d_step { arena_named[arena[old].epoch] = 0; free_inodes() };
#endif
       /* FLIP */
       d_step { control[page].epoch = epoch; owe_wake(page) };
       d_step { epoch = arena[old].epoch; current = new };
#ifndef WITHOUT_FLIP_LOCK
       publish_mutex = 0;
#endif
       d_step { arena_named[epoch] = 0; free_inodes() };
#ifndef WITHOUT_FLIP_WAKE
       d_step { wake_all(page) };
#else
       wake_owed[page] = 0;
#endif
given_up:
       atomic { old = 0; new = 0; at = 0; position = 0; epoch = 0 }
    :: flips >= FLIPS ->
end_idle:
       life != my_life
    od
  } unless { life != my_life };
  goto begin
}

#ifdef REST
/* A REST read, an idempotent replay, a 409: an answer that reveals a generation of the store. The
 * most that a waiting one may reveal is what is published at the moment it leaves. */
active proctype Answerer() {
  d_step {
    ready == life ->
#ifndef WITHOUT_ANSWER_AFTER_PUBLISH
    x_ = control[page].generation;
#else
    x_ = store_generation;
#endif
    if :: x_ > answered -> answered = x_ :: else fi;
    x_ = 0
  }
}
#endif

/* ---- what may happen to the daemon and its directories ---- */

active proctype Fate() {
  do
#ifdef ANEW
  :: crashes < CRASHES && store_generation > FIRST_GENERATION ->
#else
  :: crashes < CRASHES ->
#endif
     atomic {
       crashes++; life++;
#ifdef RESTORE
       if                                               /* the store becomes an older copy */
       :: store_generation > 1 ->
#ifdef ANEW
          store_generation = 1;
#else
          store_generation--;
#endif
          d_step {
            history++; k_ = 0;
            do
            :: k_ <= store_generation ->
               TRUTH(history, k_).changed = TRUTH(history - 1, k_).changed;
               x_ = 0;
               do
               :: x_ < KEYS ->
                  TRUTH(history, k_).version[x_] = TRUTH(history - 1, k_).version[x_];
                  x_++
               :: else -> break
               od;
               k_++
            :: else -> break
            od;
            k_ = 0; x_ = 0;
            /* what was answered since the copy was made is lost, as its owner has decided */
            if :: answered > store_generation -> answered = store_generation :: else fi
          }
#ifndef ANEW
       :: skip
#endif
       fi;
#endif
#ifdef WIPE
       if
       :: d_step {
            control_at_path = 0; k_ = 0;
            do :: k_ < EPOCHS -> arena_named[k_] = 0; k_++ :: else -> break od; k_ = 0
          }
#ifndef ANEW
       :: skip
#endif
       fi
#endif
     }
  :: else -> break
  od
}

/* ---- a reader process ---- */

inline attach_anew() {
  page_ = control_at_path; mapped[id] = 0; opened[id] = 0; mapped_epoch = 0
}

#ifndef WITHOUT_INCARNATION
#define SAME_INCARNATION(a, b) ((a) == (b))
#else
#define SAME_INCARNATION(a, b) true
#endif

/* A start that notices a restored store cuts the log, and nothing below reaches it. One that has no
 * page and no arena left to notice it by draws another incarnation only. */
#ifndef WITHOUT_LOG_FLOOR
#define LOG_REACHES(g) ((g) >= log_floor)
#else
#define LOG_REACHES(g) true
#endif
#if !defined(WITHOUT_LOG_INCARNATION) && !defined(WITHOUT_INCARNATION)
#define LOG_IS_OF(i) ((i) == store_incarnation)
#else
#define LOG_IS_OF(i) true
#endif

active [READERS] proctype Reader() {
  byte id, page_, mapped_epoch, epoch, generation, record, found, at, listed;
  byte token, token_incarnation, token_history;         /* where this reader's feed stands */
  d_step { id = readers; readers++ };
  atomic { control_at_path != 0 -> page_ = control_at_path };
again:
  atomic {
    /* READ ROOT */
    epoch = control[page_].epoch; generation = control[page_].generation;
    if
    :: epoch == RETIRED ->
       if :: control_at_path != page_ && control_at_path != 0 -> attach_anew() :: else fi;
       epoch = 0; generation = 0;
       goto again
    :: else
    fi;
#ifdef WIPE
    /* Whoever is left on a page that somebody deleted can be behind until the next path check. */
    assert(generation >= answered || page_ != control_at_path)      /* OWN WRITES */
#else
    assert(generation >= answered)                                  /* OWN WRITES */
#endif
#ifdef TELLS_FLOOR
    assert(generation >= floor[id]);                    /* a wait that timed out has looked */
    floor[id] = 0
#endif
  };
#ifdef WITHOUT_WHOLE_ROOT
  if :: control[page_].generation != RETIRED -> generation = control[page_].generation :: else fi;
#endif
  /* ATTACH */
  if
  :: epoch != mapped_epoch ->
     atomic {
       opened[id] = arena_named[epoch];
       if
       :: opened[id] == 0 ->                            /* ENOENT */
#ifdef WIPE
          if
          :: control[page_].epoch == epoch && control_at_path != 0 && control_at_path != page_ ->
             attach_anew()
          :: else
          fi;
#else
          assert(control[page_].epoch != epoch);        /* the root has moved: look again */
#endif
          epoch = 0; generation = 0;
          goto again
       :: else
       fi
     };
     atomic {
#ifndef WITHOUT_CONTROL_ID
       if
       :: arena[opened[id]].control != control[page_].id || arena[opened[id]].epoch != epoch ->
          opened[id] = 0; epoch = 0; generation = 0;
#ifdef WIPE
          if :: control_at_path != 0 && control_at_path != page_ -> attach_anew() :: else fi;
#endif
          goto again
       :: else
       fi;
#endif
       d_step {
         mapped[id] = opened[id]; opened[id] = 0; mapped_epoch = epoch;
         assert(arena[mapped[id]].complete);
         assert(arena[mapped[id]].epoch == epoch);
         assert(arena[mapped[id]].control == control[page_].id);
         assert(arena[mapped[id]].published >= generation);
         free_inodes()
       }
     }
  :: else
  fi;
  d_step {
    assert(generation >= arena[mapped[id]].base);
#if defined(RESTORE) && defined(WIPE)
    assert(generation >= token || arena[mapped[id]].history != token_history);
#else
    assert(generation >= token);                        /* NEVER BACK */
#endif
    epoch = 0
  };
  if
#ifdef ONLY_WAIT
  :: skip
#endif
#ifdef PIN
  :: d_step { pinned[id] == 0 -> pinned[id] = mapped[id]; pin_generation[id] = generation }
  :: /* PINNED: at any time later. Its arena is not the current one any more, maybe, and its root
      * is not looked at. */
     d_step {
       pinned[id] != 0 ->
       do
       :: record < KEYS ->
          newest_at(pinned[id], record, pin_generation[id], found);
          found = ((found != 0 && arena[pinned[id]].live[found])
                   -> arena[pinned[id]].generation[found] : 0);
          assert(found == TRUTH(arena[pinned[id]].history, pin_generation[id]).version[record]);
          found = 0; record++
       :: else -> break
       od;
       record = 0; pinned[id] = 0; pin_generation[id] = 0; free_inodes()
     }
#endif
#ifdef DOES_READ
  :: /* READ: every key. A slot's load and the walk behind it are one step, since what the slot
      * reaches is immutable. */
     do
     :: record < KEYS -> d_step {
          newest_at(mapped[id], record, generation, found);
          found = ((found != 0 && arena[mapped[id]].live[found])
                   -> arena[mapped[id]].generation[found] : 0);
          assert(found == TRUTH(arena[mapped[id]].history, generation).version[record]);
          found = 0; record++
        }
     :: else -> break
     od;
     record = 0
#endif
#ifdef DOES_LIST
  :: /* LIST: a namespace at this generation, then the chain of its children, each looked up */
#ifdef NESTED
     if :: at = 0 :: at = 1 fi;
#endif
     d_step {
       newest_at(mapped[id], at, generation, found);
       if
       :: found != 0 && arena[mapped[id]].live[found] -> listed = 1 << at
       :: else
       fi;
       found = 0
     };
     if
     :: listed ->
        record = arena[mapped[id]].children[at];
        do
        :: record != 0 -> d_step {
             newest_at(mapped[id], arena[mapped[id]].key[record], generation, found);
             if
             :: found != 0 && arena[mapped[id]].live[found] ->
                assert(((listed >> arena[mapped[id]].key[record]) & 1) == 0);       /* once */
                listed = listed | (1 << arena[mapped[id]].key[record])
             :: else
             fi;
             found = 0;
             assert(arena[mapped[id]].sibling[record] < record);
             record = arena[mapped[id]].sibling[record]
           }
        :: else -> break
        od
     :: else
     fi;
     atomic {
       record = 0;
       d_step {
       do
       :: record < KEYS ->
          assert(((listed >> record) & 1) ==
                 (TRUTH(arena[mapped[id]].history, generation).version[record] != 0 &&
                  (record == at || (record != NAMESPACE && PARENT(record) == at))));
          record++
       :: else -> break
       od;
       record = 0; listed = 0; at = 0
       }
     }
#endif
#ifdef DOES_FEED
  :: /* FEED: (token, generation], then the token moves up. Tokens of another incarnation, and of a
      * generation that is not reached yet, are gone. */
     d_step {
       found = mapped[id];
       if
       :: token == 0                                    /* the first position: nothing to compare */
       :: token != 0 && !SAME_INCARNATION(token_incarnation, arena[found].incarnation)   /* gone */
       :: token > generation                                                             /* gone */
       :: token != 0 && token <= generation &&
          SAME_INCARNATION(token_incarnation, arena[found].incarnation) ->
          if
#ifdef WITHOUT_BASE_CHECK
          :: true ->
#else
          :: token >= arena[found].base ->
#endif
             /* from the arena: starts from the state that the token stands for ... */
             k_ = 0;
             do
             :: k_ < KEYS ->
                assert(TRUTH(token_history, token).version[k_] ==
                       TRUTH(arena[found].history, token).version[k_]);
                k_++
             :: else -> break
             od;
             /* ... and has every change after it, whole and in order */
             at = token; listed = TRUTH(arena[found].history, token).changed;
             record = arena[found].base_end + 1;
             do
             :: record <= arena[found].tail ->
                x_ = arena[found].generation[record];
                if
                :: x_ > token && x_ <= generation ->
                   if
                   :: x_ != at ->
                      assert(listed == TRUTH(arena[found].history, at).changed);
                      assert(x_ == at + 1);
                      at = x_; listed = 0
                   :: else
                   fi;
                   listed = listed | (1 << arena[found].key[record])
                :: else
                fi;
                record++
             :: else -> break
             od;
             assert(listed == TRUTH(arena[found].history, at).changed);
             assert(at == generation)
#ifndef WITHOUT_BASE_CHECK
          :: else -> listed = 255                       /* by the daemon's log, in a while */
#endif
          fi
       fi;
       k_ = 0; x_ = 0; at = 0; record = 0;
       if
       :: listed == 255
       :: else ->
          token = generation; token_incarnation = arena[found].incarnation;
          token_history = arena[found].history; found = 0; listed = 0
       fi
     };
     if
     :: listed == 255 ->
        /* LOG: whichever daemon is there answers from one read transaction: where it can, every
         * change up to its store's generation. The answer leaves once that is published. */
        found = 0; listed = 0;
        if
        :: d_step {
             ready == life ->
             if
             :: token <= store_generation && LOG_REACHES(token) && LOG_IS_OF(token_incarnation) ->
                k_ = 0;
                do
                :: k_ < KEYS ->                         /* it starts from the token's state ... */
                   assert(TRUTH(token_history, token).version[k_] ==
                          TRUTH(history, token).version[k_]);
                   k_++
                :: else -> break
                od;
                k_ = token + 1;
                do
                :: k_ <= store_generation ->            /* ... and nothing is cut from the log */
                   assert(k_ > log_floor || TRUTH(history, k_).changed == 0);
                   k_++
                :: else -> break
                od;
                k_ = 0; at = store_generation; record = life; x_ = store_incarnation;
                listed = history; found = x_; x_ = 0
             :: else                                    /* gone */
             fi
           }
        :: skip                                         /* there is none */
        fi;
        if
        :: at != 0 ->
           if
           :: atomic {
#ifndef WITHOUT_LOG_PUBLISHED
                record == life && control[page].generation >= at ->
#else
                record == life ->
#endif
                token = at; token_incarnation = found; token_history = listed
              }
           :: record != life                            /* killed before it answered */
           fi
        :: else                                         /* the feed stays: asked again */
        fi;
        d_step { at = 0; record = 0; found = 0; listed = 0 }
     :: else
     fi
#endif
  fi;
  /* WAIT for a change, with a time-out after which the path is checked */
#ifdef DOES_WAIT
  if
  :: skip
  :: d_step {                                           /* FUTEX_WAIT compares the low half */
#ifndef WITHOUT_EXPECTED_WORD
       if
       :: control[page_].generation == generation ->
          asleep[id] = 1; sleeps_on[id] = page_; expected[id] = generation
       :: else
       fi
#else
       asleep[id] = 1; sleeps_on[id] = page_; expected[id] = generation
#endif
     };
     if
     :: asleep[id] == 0
     :: d_step {
          asleep[id] == 1 -> asleep[id] = 0; must_wake[id] = 0;
#ifdef TELLS_FLOOR
          floor[id] = answered;
#endif
#ifndef WITHOUT_PATH_CHECK
          if :: control_at_path != 0 && control_at_path != page_ -> attach_anew() :: else fi
#else
          skip
#endif
        }
     fi;
     d_step { sleeps_on[id] = 0; expected[id] = 0 }
  fi;
#endif
  generation = 0;
progress:
  goto again
}

/* A reader sleeps on a word that is no longer there only while somebody still owes the wake, or was
 * killed owing it: then the next start wakes, and the time-out bounds the wait. (Who falls asleep
 * after a flip with the root of before does not notice: the half that FUTEX_WAIT compares is the
 * same. It holds nothing but the page.) */
#define OVERSLEPT(r) (asleep[r] && !wake_owed[sleeps_on[r]] && \
                      (control[sleeps_on[r]].generation != expected[r] || must_wake[r]))
active proctype Monitor() {
end:
#if READERS == 1
  d_step { OVERSLEPT(0) -> assert(false) }
#else
  d_step { (OVERSLEPT(0) || OVERSLEPT(1)) -> assert(false) }
#endif
}
