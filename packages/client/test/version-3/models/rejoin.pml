// The rejoin of crypto_v 3 (docs/decisions/0065): devices lose their state or everything, the relay is restored from a
// backup, several rejoin at once. takeover.pml adds a second device of an account to the same model.
//
// Each `atomic` is one write on a device with what the relay does at once. Lost acks and crashes are in race.pml.
// Of docs/decisions/0062 it has the events `frame`, `synced` with a new incarnation, `group`, `send`, `stale` and
// `use_this_device`. Acknowledgements are of texts here; there they count messages since the last join.

#ifndef FAULTS
#define FAULTS 1      /* losses and restored backups together, at most */
#endif
#ifndef LIES
#define LIES 0        /* entries that the relay repeats against its rules */
#endif
#ifndef SWITCHES
#define SWITCHES 0    /* how often another device of account 0 connects */
#define WORDS 0       /* how often the user says "use this device" */
#endif

#define NONE 255
#define GROUPS 8      /* asserted to be enough, like LOG */
#define LOG 20
#define accountOf(d) ((d) % 2)               /* devices 0 and 2 are of account 0, device 1 is account 1 */
#define DEVICES 3

mtype = { TEXT, ACKNOWLEDGEMENT, REJOIN }
typedef Entry { mtype kind; byte from; byte group; byte epoch; byte made }
typedef Device {
  bool exists
  byte group, epoch, incarnation             /* NONE: no state */
  bool has[GROUPS]                           /* groups whose keys are on the device */
  bool displaced
  byte pending, leaves, joins                /* a rejoin under way: the group it makes, the epoch and group it leaves */
  bool wants                                 /* the own text is to be sent */
  bool isSealed; byte inGroup, inEpoch, mustReach /* the epoch that EPOCH_STALE named */
  bool acknowledged                          /* the peer said inside the encryption that it has the text */
  bool got              /* the peer's text is in the history */
  bool owesAcknowledgement
  bool isGone                                /* the user's own text went with everything else */
}
Device device[DEVICES]
Entry log[LOG]
byte logged, epoch, info, incarnation        /* `info`: the group of the stored GroupInfo */
byte position[2]                             /* what each account confirmed */
byte connected[2]                            /* the newest connection of each account wins */
byte faults, lies = LIES, switches = SWITCHES, words = WORDS
byte groups = 1                              /* made so far */
byte leaf[GROUPS]                            /* the device of account 0 that is in each group */
bool hasLied
// What only the proof knows.
bool been[DEVICES * GROUPS]
byte rejoins, given
bool had                                     /* device 0 showed the text, before everything on it was lost */

// A group is entered once: who enters it again uses its keys again.
inline enter(d, into, at) {
  assert(!been[(d) * GROUPS + into]); been[(d) * GROUPS + into] = true;
  device[d].group = into; device[d].epoch = at; device[d].has[into] = true; device[d].pending = NONE;
  device[d].mustReach = 0
}

inline append(what, d, into, makes) {
  assert(logged < LOG);
  log[logged].kind = what; log[logged].from = d; log[logged].group = into; log[logged].epoch = epoch; log[logged].made = makes; logged++
}

inline forget(d) {
  device[d].group = NONE; device[d].pending = NONE; device[d].displaced = false;
  for (i : 0 .. GROUPS - 1) { device[d].has[i] = false };
  i = 0
}

// The next entry of the peer. A device of an older epoch than the entry's looks at the GroupInfo first (`look`).
#define next log[position[accountOf(me)]]
#define isBehind (device[me].group != NONE && device[me].epoch < next.epoch)

#ifdef BUG_DISPLACED_CONFIRMS
#define mayTake (device[me].group != NONE)
#else
#ifdef BUG_CONFIRM_WITHOUT_STATE
#define mayTake (!isBehind && !device[me].displaced)
#else
#define mayTake (device[me].group != NONE && !isBehind && !device[me].displaced)
#endif
#endif

inline take(d) {
  if
  :: next.kind == TEXT ->
     if
     :: device[d].has[next.group] ->
        if
        :: device[d].got                      /* a repeat, or sent again: it names the first id of the text */
        :: else ->
           assert(!device[d].got); device[d].got = true;
#if SWITCHES > 0
           if :: d == 2 -> given++; assert(!device[1].acknowledged)
#ifdef LIMIT_ACKNOWLEDGEMENT_UNDER_WAY
              ; assert(!device[0].got)
#endif
           :: else fi
#endif
        fi;
        device[d].owesAcknowledgement = true
     :: else                                  /* cannot be opened: said once; the peer sends it again after the rejoin */
     fi
  :: next.kind == ACKNOWLEDGEMENT ->
     if :: device[d].has[next.group] -> device[d].acknowledged = true :: else fi
  :: next.kind == REJOIN ->
     if
#ifdef BUG_ACCEPT_ANY_EPOCH
     :: device[d].has[next.group] ->
#else
     :: next.epoch == device[d].epoch && next.group == device[d].group ->
#endif
        enter(d, next.made, next.epoch + 1);
#ifndef BUG_NO_RESEND
        device[d].wants = (device[d].wants || !device[d].acknowledged) && !device[d].isGone;
#ifdef BUG_RESEND_ALL
        device[d].wants = true;
#endif
#endif
#ifndef BUG_ACKNOWLEDGE_ONCE
        device[d].owesAcknowledgement = device[d].got
#endif
     :: else ->
        if
        :: device[d].group != NONE && next.epoch >= device[d].epoch && !hasLied -> forget(d)  /* it cannot follow: it rejoins itself */
        :: else                               /* from before this device came in, or a repeat */
        fi
     fi
  fi;
  position[accountOf(d)]++
}

// Frames leave after sync_end only, which names the incarnation.
#define speaks(d) (device[d].exists && connected[accountOf(d)] == d && !device[d].displaced)
#define isCurrent(d) (device[d].group != NONE && device[d].incarnation == incarnation)
#define isUnread(d) (position[accountOf(d)] < logged)
#define isOfPeer(d) (accountOf(next.from) != accountOf(d))

#define isOutdated (device[me].inGroup != device[me].group)   /* of before a rejoin: encrypted again */

proctype Run(byte me) {
  byte i
end:
  do
  // ── What arrives.
  :: atomic { connected[accountOf(me)] == me && isUnread(me) && !isOfPeer(me) -> position[accountOf(me)]++ }
  :: atomic { connected[accountOf(me)] == me && isUnread(me) && isOfPeer(me) && mayTake -> take(me) }
  // The relay's epoch is ahead of this device's, and nothing of the peer explains it: look at the leaves.
  :: atomic { speaks(me) && isCurrent(me) && device[me].epoch < epoch && (!isUnread(me) || (isOfPeer(me) && isBehind)) ->
       if
#ifndef BUG_RETURN_UNASKED
       :: accountOf(me) == 0 && leaf[info] != me -> device[me].displaced = true; device[me].pending = NONE
#endif
       :: else -> forget(me)
       fi
     }
  // ── Rejoin: without a state, or after a restored backup.
  :: atomic { speaks(me) && !isCurrent(me) && device[me].pending == NONE ->
       assert(groups < GROUPS);
       device[me].pending = groups; device[me].leaves = epoch; device[me].joins = info;
       leaf[groups] = (accountOf(me) == 0 -> me : leaf[info]); groups++
     }
  :: atomic { speaks(me) && device[me].pending != NONE ->
       if
       :: device[me].leaves == epoch && device[me].joins == info ->
          append(REJOIN, me, info, device[me].pending); epoch++; info = device[me].pending; rejoins++;
#ifndef BUG_NO_RESEND_AFTER_RESTORE
          if
          :: device[me].incarnation != incarnation && !device[me].acknowledged && !device[me].isGone -> device[me].wants = true
          :: else
          fi;
#endif
          device[me].incarnation = incarnation;
          enter(me, info, epoch)
       :: else -> device[me].pending = NONE      /* EPOCH_STALE: another GroupInfo, another external commit */
       fi
     }
  // ── What leaves.
  :: atomic { speaks(me) && isCurrent(me) && device[me].pending == NONE && device[me].wants && !device[me].isSealed &&
       device[me].epoch >= device[me].mustReach ->
       device[me].isSealed = true; device[me].inGroup = device[me].group; device[me].inEpoch = device[me].epoch }
  :: atomic { speaks(me) && isCurrent(me) && device[me].isSealed ->
       if
       :: device[me].inEpoch != epoch || isOutdated -> device[me].isSealed = false; device[me].mustReach = epoch
       :: else -> append(TEXT, me, device[me].inGroup, 0); device[me].isSealed = false; device[me].wants = false
       fi
     }
  :: atomic { speaks(me) && isCurrent(me) && device[me].owesAcknowledgement && device[me].epoch == epoch ->
       append(ACKNOWLEDGEMENT, me, device[me].group, 0); device[me].owesAcknowledgement = false }
  // ── Faults.
  :: atomic { faults > 0 && me < 2 -> faults--; forget(me); device[me].isSealed = false }
  :: atomic { faults > 0 && me == 0 -> faults--; forget(0); device[0].isSealed = false; had = had || device[0].got; device[0].got = false;
       device[0].owesAcknowledgement = false; device[0].wants = false; device[0].isGone = true }
  // ── The user's word on a displaced device.
  :: atomic { device[me].displaced && connected[accountOf(me)] == me && words > 0 -> words--; forget(me) }
  od
}

proctype Relay() {
  byte k
end:
  do
  :: atomic { faults > 0 && incarnation == 0 && logged > 0 -> faults--;
       incarnation = 1; epoch = 0; info = 0; logged = 0; position[0] = 0; position[1] = 0 }
#if SWITCHES > 0
  :: atomic { switches > 0 -> switches--; connected[0] = 2 - connected[0] }
#endif
#if LIES > 0
  :: atomic { lies > 0 && logged > 0 -> select(k : 0 .. logged - 1); lies--; hasLied = true;
       log[logged].kind = log[k].kind; log[logged].from = log[k].from; log[logged].group = log[k].group;
       log[logged].epoch = log[k].epoch; log[logged].made = log[k].made; logged++; k = 0 }
#endif
  od
}

#define isTogether(d) (device[d].group == device[1].group && device[d].group == info)

// When nothing can happen any more.
active proctype Judge() {
  timeout ->
#if LIES == 0 && SWITCHES == 0
  assert(isTogether(0));
  assert((device[1].got || device[0].isGone) && (device[0].got || had));
  assert((device[0].acknowledged || device[0].isGone) && device[1].acknowledged);
#endif
#if SWITCHES > 0
  assert(rejoins <= 1 + WORDS - words);
  // Who is connected is in the peer's group, or was told that another device is.
  assert(isTogether(connected[0]) || device[connected[0]].displaced);
  // The text was shown, or it waits for the device that is in the group and away.
  assert(device[0].got || device[2].got || (connected[0] != leaf[info] && position[0] < logged));
#endif
#ifdef WITNESS
#if SWITCHES > 0
  assert(!(rejoins == 2 && isTogether(0) && given == 1))
#else
  assert(!(incarnation == 1 && isTogether(0) && rejoins >= 2))
#endif
#endif
}

init {
  byte c;
  atomic {
    select(c : 0 .. FAULTS); faults = c;
    connected[1] = 1;
    device[0].exists = true; device[1].exists = true; device[2].exists = (SWITCHES > 0);
    device[0].has[0] = true; device[1].has[0] = true; device[2].group = NONE;
    device[0].pending = NONE; device[1].pending = NONE; device[2].pending = NONE;
    device[1].wants = true;
#ifdef ONE_TEXT
    device[0].isGone = true;                 /* device 0 has nothing to say */
#else
    device[0].wants = true;
#endif
    been[0] = true; been[GROUPS] = true;
    run Run(0); run Run(1); run Relay();
#if SWITCHES > 0
    run Run(2)
#endif
  }
}
