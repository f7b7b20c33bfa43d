// The takeover of crypto_v 3 (docs/decisions/0065): a second device of account 0 (its owner's, or a thief's with the phrase)
// displaces the first by a rejoin. The first learns it and stops. The user's word brings it back. The rest is rejoin.pml.

#define FAULTS 0
#ifndef WORDS
#define WORDS 1
#endif
#ifndef SWITCHES
#define SWITCHES 2
#endif
#include "rejoin.pml"
