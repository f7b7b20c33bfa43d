// The commit race of crypto_v 3 (docs/decisions/0065): two devices of one group commit and send at the same time, acks
// are lost, devices crash between any two writes, and the relay may lie a bounded number of times.
//
// Each `atomic` is one write on a device, or one transaction on the relay. A crash falls between any two of them.
// The rules of a device are those of docs/decisions/0062: its events are named here as there, and a frame that it
// leaves for the next `sync` is one whose outcome is `later`.

#ifndef TEXTS
#define TEXTS 1      /* own messages of each device */
#endif
#ifndef COMMITS
#define COMMITS 1    /* commits of each device, at most */
#endif
#ifndef CRASHES
#define CRASHES 1    /* crashes of both together, at most; a connection that breaks is one of them */
#endif
#ifndef LIES
#define LIES 0       /* how often the relay breaks its rules */
#endif

#define IDS (2 * TEXTS)
#define GROUPS (2 * COMMITS + 1)           /* 0 is the group that both begin in; with BEGIN it is no group */
#define LOG (IDS + 2 * COMMITS + LIES)
#define GENERATIONS (TEXTS * (1 + CRASHES + LIES))
#define NONE 255
#define KEY(d, g, n) (((d) * GROUPS + (g)) * GENERATIONS + (n))

// Ids: texts of device d are d * TEXTS + i; the commit that makes group g is IDS + g.
#define isCommit(id) ((id) >= IDS)

#ifdef BEGIN
#define isIn(d) (device[d].group != 0)     /* nobody has a group at first: the first commit is a Welcome */
#define FEWEST 1
#else
#define isIn(d) true
#define FEWEST 0
#endif

// How far an own text is.
#define WRITTEN 0     /* by the user, not encrypted */
#define SEALED 1      /* encrypted: state and ciphertext are stored */
#define ACKED 2

mtype = { DELIVER, ACK, STALE }
chan up[2] = [1] of { byte, byte, byte, byte }                 /* id, group, generation, epoch */
chan down[2] = [1] of { mtype, byte, byte, byte, byte, byte }  /* id, group, generation, epoch, position after it */

typedef Entry { byte id; byte from; byte group; byte generation; byte epoch }
typedef Device {
  byte group; byte epoch; byte generation  /* of the next own message */
  bool has[GROUPS]                         /* groups whose keys the device keeps */
  byte pending; byte leaves                /* the group of the pending commit, and the epoch that it leaves */
  bool knows[GROUPS]                       /* commits that arrived, by the group that they make: kept after its keys */
  byte state[TEXTS]; byte inGroup[TEXTS]; byte inGeneration[TEXTS]; byte inEpoch[TEXTS]
  byte commitsLeft
}
typedef Memory { bool sent[TEXTS]; bool pendingSent; bool hasLeft; byte mustReach; byte toConfirm }

// The relay: durable, but for `reached`, how far each connection was sent.
Entry log[LOG]
byte logged, epoch
byte confirmed[2], reached[2]
byte lies = LIES
// The devices: durable, and lost in a crash.
Device device[2]
Memory memory[2]
byte crashesLeft
// What only the proof knows.
byte parent[GROUPS], begins[GROUPS]        /* of each group: the one before it, and its epoch */
bool leftUnder[2 * GROUPS * GENERATIONS]   /* a ciphertext under this key (sender, group, generation) left the device */
bool shown[IDS]
bool told[2]
bool withheld

#if LIES == 0
#define tell(d) assert(false)   /* an honest relay gives no reason to tell anything */
#else
#define tell(d) told[d] = true
#endif

inline forgetGroups(d) {
  for (j : 0 .. GROUPS - 1) { device[d].has[j] = false };
  j = 0
}

inline enter(d, g, e) {
  device[d].group = g; device[d].epoch = e; device[d].generation = 0; device[d].pending = NONE;
  memory[d].pendingSent = false;
  device[d].has[g] = true; device[d].knows[g] = true
}

// After an own commit, what the peer sent before it may still come: every older epoch is kept.
inline enterOwn(d, g, e) {
#ifdef BUG_DROP_OLD_EPOCHS
  forgetGroups(d);
#endif
#ifdef BUG_KEEP_ONE_OLD_EPOCH
  j = device[d].group;
  if :: j != 0 -> device[d].has[parent[j]] = false :: else fi;
  j = 0;
#endif
  enter(d, g, e)
}

// After the peer's commit, nothing of the peer can come from an older epoch.
inline enterPeers(d, g, e) { forgetGroups(d); enter(d, g, e) }

// The first message of the peer in an epoch ends the older ones: groups from which this one descends.
inline dropOlder(d, g) {
  j = g;
  do
  :: j == 0 -> break
  :: else -> j = parent[j]; device[d].has[j] = false
  od
}

// What the peer says in an epoch after the pending commit came before the commit's ack. It waits for the ack, unconfirmed,
// and so does everything after it.
#ifdef BUG_REFUSE_BEFORE_ACK
#define isLeft(d, ahead) false
#else
#define isLeft(d, ahead) (device[d].pending != NONE && (ahead) > device[d].leaves)
#endif

// Event `frame`, of a handshake.
inline takeCommit(d) {
  if
#ifdef BUG_KNOW_BY_KEYS
  :: device[d].has[id - IDS]
#else
  :: device[d].knows[id - IDS]                                              /* a repeat */
#endif
  :: else ->
     if
     :: isLeft(d, e) -> memory[d].hasLeft = true
     :: !isLeft(d, e) && e < device[d].epoch ->                             /* of an epoch that was left: a fork? */
        for (j : 1 + d * COMMITS .. (d + 1) * COMMITS) {
          if :: device[d].has[j] && begins[j] == e + 1 -> tell(d) :: else fi
        };
        j = 0
#if LIES == 0
        ; assert(false)
#endif
#ifdef BEGIN
     :: !isLeft(d, e) && e == 0 && device[d].epoch == 0 -> enterPeers(d, id - IDS, 1)   /* a Welcome needs no state before it */
     :: !isLeft(d, e) && e > 0 && e == device[d].epoch && g == device[d].group -> enterPeers(d, id - IDS, e + 1)
#else
     :: !isLeft(d, e) && e == device[d].epoch && g == device[d].group -> enterPeers(d, id - IDS, e + 1)
#endif
     :: else -> tell(d)                                                     /* not from where this device stands */
     fi
  fi
}

// Event `frame`, of a message.
inline takeText(d) {
  if
#ifndef BUG_NO_IDS
  :: shown[id]                                                              /* a repeat */
#endif
  :: else ->
     if
     :: device[d].has[g] -> assert(!shown[id]); shown[id] = true; dropOlder(d, g)
     :: !device[d].has[g] && isLeft(d, e) -> memory[d].hasLeft = true
     :: else -> tell(d)
     fi
  fi
}

// Event `accepted`.
inline takeAck(d) {
  if
  :: isCommit(id) ->
     if :: device[d].pending == id - IDS -> enterOwn(d, id - IDS, device[d].leaves + 1) :: else fi
  :: else -> device[d].state[id - d * TEXTS] = ACKED
  fi
}

// Event `stale`. A text is encrypted again, and so is every later one.
inline takeStale(d) {
  if
  :: isCommit(id) ->
     if :: device[d].pending == id - IDS -> device[d].pending = NONE; memory[d].pendingSent = false :: else fi
  :: else ->
     for (i : id - d * TEXTS .. TEXTS - 1) { device[d].state[i] = WRITTEN; memory[d].sent[i] = false };
     i = 0
  fi;
  if :: e > memory[d].mustReach -> memory[d].mustReach = e :: else fi
}

inline crash(d) {
  crashesLeft--;
  do :: nempty(up[d]) -> up[d]?_,_,_,_ :: empty(up[d]) -> break od;
  do :: nempty(down[d]) -> down[d]?_,_,_,_,_,_ :: empty(down[d]) -> break od;
  reached[d] = confirmed[d];
  for (i : 0 .. TEXTS - 1) { memory[d].sent[i] = false };
  memory[d].pendingSent = false; memory[d].hasLeft = false; memory[d].mustReach = 0; memory[d].toConfirm = 0;
  i = 0
}

proctype Run(byte me) {
  byte i, j, id, g, n, e, at
end:
  do
  // A text is encrypted when it is about to leave: no commit is pending, and the epoch that the relay named is reached.
  :: atomic {
       device[me].pending == NONE && device[me].epoch >= memory[me].mustReach && device[me].state[0] == WRITTEN &&
       isIn(me) -> i = 0; goto seal
     }
#if TEXTS > 1
  :: atomic {
       device[me].pending == NONE && device[me].epoch >= memory[me].mustReach && device[me].state[1] == WRITTEN &&
       (device[me].state[0] == ACKED || (device[me].state[0] == SEALED && device[me].inGroup[0] == device[me].group)) && isIn(me) -> i = 1; goto seal
     }
#endif
  :: atomic { device[me].state[0] == SEALED && !memory[me].sent[0] && nfull(up[me]) -> i = 0; goto send }
#if TEXTS > 1
  :: atomic { device[me].state[1] == SEALED && memory[me].sent[0] && !memory[me].sent[1] && nfull(up[me]) -> i = 1; goto send }
#endif
  // A commit is pending, with old and new state stored, before it leaves.
  :: atomic {
       device[me].commitsLeft > 0 && device[me].pending == NONE && device[me].epoch >= memory[me].mustReach ->
       g = 1 + me * COMMITS + device[me].commitsLeft - 1; device[me].commitsLeft--;
       parent[g] = device[me].group; begins[g] = device[me].epoch + 1;
       device[me].pending = g; device[me].leaves = device[me].epoch;
       g = 0
     }
  :: atomic { device[me].pending != NONE && !memory[me].pendingSent && nfull(up[me]) ->
       up[me]!IDS + device[me].pending, parent[device[me].pending], 0, device[me].leaves;
       memory[me].pendingSent = true;
#ifdef BUG_SWITCH_BEFORE_ACK
       g = device[me].pending; enterOwn(me, g, device[me].leaves + 1); g = 0;
#endif
#ifdef BUG_PENDING_IN_MEMORY
       crashesLeft > 0 -> device[me].pending = NONE; crash(me)
#endif
     }
  // What arrives is stored in one write, then confirmed.
  :: atomic { down[me]?DELIVER, id, g, n, e, at ->
#ifdef BUG_CONFIRM_FIRST
       confirmed[me] = at;
     }
     if
     :: atomic { crashesLeft > 0 -> crash(me) }
     :: atomic {
#endif
       if
       :: memory[me].hasLeft                                                /* after one that was left */
       :: !memory[me].hasLeft && isCommit(id) -> takeCommit(me)
       :: else -> takeText(me)
       fi;
       if :: !memory[me].hasLeft -> memory[me].toConfirm = at :: else fi;
       id = 0; g = 0; n = 0; e = 0; at = 0; j = 0
     }
#ifdef BUG_CONFIRM_FIRST
     fi
#endif
  // The next `sync` brings again what was left.
  :: atomic { memory[me].hasLeft && device[me].pending == NONE && empty(down[me]) ->
       memory[me].hasLeft = false; reached[me] = confirmed[me] }
  :: atomic { memory[me].toConfirm > 0 -> confirmed[me] = memory[me].toConfirm; memory[me].toConfirm = 0 }
  :: atomic { down[me]?ACK, id, _, _, _, _ -> takeAck(me); id = 0; j = 0 }
  :: atomic { down[me]?STALE, id, _, _, e, _ -> takeStale(me); id = 0; e = 0 }
  :: atomic { crashesLeft > 0 -> crash(me) }
  od;

seal:
  atomic {
    assert(device[me].generation < GENERATIONS && !leftUnder[KEY(me, device[me].group, device[me].generation)]);
    device[me].inGroup[i] = device[me].group; device[me].inEpoch[i] = device[me].epoch;
    device[me].inGeneration[i] = device[me].generation; device[me].state[i] = SEALED;
#ifdef BUG_STATE_AFTER_SENDING
    nfull(up[me]); up[me]!me * TEXTS + i, device[me].inGroup[i], device[me].inGeneration[i], device[me].inEpoch[i];
    leftUnder[KEY(me, device[me].inGroup[i], device[me].inGeneration[i])] = true; memory[me].sent[i] = true;
    if
    :: crashesLeft > 0 -> device[me].state[i] = WRITTEN; crash(me); goto end
    :: true
    fi;
#endif
    device[me].generation++; i = 0; goto end
  };
send:
  atomic {
    up[me]!me * TEXTS + i, device[me].inGroup[i], device[me].inGeneration[i], device[me].inEpoch[i];
    leftUnder[KEY(me, device[me].inGroup[i], device[me].inGeneration[i])] = true;
    memory[me].sent[i] = true; i = 0; goto end
  }
}

inline append(d) {
  log[logged].id = id; log[logged].from = d; log[logged].group = g; log[logged].generation = n; log[logged].epoch = e;
  logged++;
  if :: isCommit(id) -> epoch++ :: else fi
}

inline isAccepted(d) {
  accepted = false;
  for (k : 0 .. LOG - 1) {
    if :: k < logged && log[k].id == id && log[k].from == d -> accepted = true :: else fi
  };
  k = 0
}

inline judge(d) {
  isAccepted(d);
  if
#ifdef BUG_EPOCH_BEFORE_ID
  :: e != epoch -> down[d]!STALE, id, 0, 0, epoch, 0
  :: e == epoch && accepted -> down[d]!ACK, id, 0, 0, 0, 0
#else
  :: accepted -> down[d]!ACK, id, 0, 0, 0, 0                              /* its first ack, whatever the epoch is now */
#ifndef BUG_NO_COMPARISON
  :: !accepted && e != epoch -> down[d]!STALE, id, 0, 0, epoch, 0
#endif
#endif
#ifdef BUG_NO_COMPARISON
  :: !accepted -> append(d); down[d]!ACK, id, 0, 0, 0, 0
#else
  :: !accepted && e == epoch -> append(d); down[d]!ACK, id, 0, 0, 0, 0
#endif
#if LIES > 0
  :: lies > 0 -> lies--; down[d]!STALE, id, 0, 0, epoch, 0                 /* refuses what it may take or has taken */
  :: lies > 0 && !accepted && e == epoch -> lies--; append(d); down[d]!STALE, id, 0, 0, epoch, 0
  :: lies > 0 && !accepted && e == epoch && !isCommit(id) -> lies--; append(d); down[d]!STALE, id, 0, 0, epoch + 1, 0
  :: lies > 0 && !accepted && e != epoch -> lies--; append(d); down[d]!ACK, id, 0, 0, 0, 0   /* a fork */
#endif
  fi;
  accepted = false; id = 0; g = 0; n = 0; e = 0
}

// Sends a device the next entry of its peer.
inline deliver(d) {
  do
  :: reached[d] < logged && log[reached[d]].from == d -> reached[d]++
  :: else -> break
  od;
  if
  :: reached[d] < logged ->
     down[d]!DELIVER, log[reached[d]].id, log[reached[d]].group, log[reached[d]].generation, log[reached[d]].epoch, reached[d] + 1;
     reached[d]++
  :: else
  fi
}

#define waits(d) (nfull(down[d]) && reached[d] < logged)

proctype Relay() {
  byte id, g, n, e, k; bool accepted
end:
  do
  :: atomic { nfull(down[0]) && nempty(up[0]) -> up[0]?id, g, n, e; judge(0) }
  :: atomic { nfull(down[1]) && nempty(up[1]) -> up[1]?id, g, n, e; judge(1) }
  :: atomic { waits(0) -> deliver(0) }
  :: atomic { waits(1) -> deliver(1) }
#if LIES > 0
  :: atomic { waits(0) && lies > 0 -> lies--; reached[0]++; withheld = true }
  :: atomic { waits(1) && lies > 0 -> lies--; reached[1]++; withheld = true }
  :: atomic { lies > 0 && reached[0] > confirmed[0] -> lies--; reached[0] = confirmed[0] }      /* repeats */
  :: atomic { lies > 0 && reached[1] > 0 -> lies--; reached[1] = 0 }
#endif
  od
}

#define isDone(d) (device[d].pending == NONE && device[d].state[0] == ACKED && device[d].state[TEXTS - 1] == ACKED)
#define knows(d) (told[d] || memory[d].mustReach > device[d].epoch || !isIn(d))   /* its texts are seen to wait */
#define allShown (shown[0] && shown[TEXTS - 1] && shown[TEXTS] && shown[IDS - 1])

// When nothing can happen any more.
active proctype Judge() {
  timeout ->
#if LIES == 0
  assert(isDone(0) && isDone(1) && device[0].group == device[1].group && device[0].epoch == device[1].epoch);
  assert(allShown);
#else
  assert(allShown || withheld || knows(0) || knows(1));
#endif
#ifdef WITNESS
  // Both committed, both crashed, and all ended well.
  assert(!(device[0].group >= 1 && epoch == 2 * COMMITS && crashesLeft == 0))
#endif
}

init {
  byte c;
  atomic {
    device[0].pending = NONE; device[1].pending = NONE;
#ifndef BEGIN
    device[0].has[0] = true; device[1].has[0] = true;
#endif
    select(c : FEWEST .. COMMITS); device[0].commitsLeft = c;  /* the two are alike: who must begin is device 0 */
    select(c : 0 .. COMMITS); device[1].commitsLeft = c;
    select(c : 0 .. CRASHES); crashesLeft = c;
    run Run(0); run Run(1); run Relay()
  }
}
