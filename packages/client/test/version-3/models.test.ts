// The models of crypto_v 3 in Promela (docs/decisions/0065) keep their promises in the whole space of small
// bounds, and spin finds every seeded mistake. `npm test -- --long` has larger bounds and more mistakes.
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { rounds } from '../../../protocol/test/rounds.ts'
import { search } from './spin.ts'

// One search may take minutes of a machine that does other things; what it costs is bounded by its states.
setDefaultTimeout(1_800_000)

type Mistake = [defines: string[], breaks: RegExp]

interface Model {
  model: string
  /** Sets of macros whose whole space keeps every promise. */
  holds: string[][]
  /** The same, for `--long`. */
  holdsLong: string[][]
  /** Sets whose executions all end: with the assertions at the end, this is liveness. */
  ends: string[][]
  endsLong: string[][]
  /** Seeded mistakes, with the bounds that they need, and the promise that each breaks. */
  mistakes: Mistake[]
  mistakesLong: Mistake[]
  /** A good ending that must be reachable: without it the promises would hold of nothing. */
  witness: string[]
}

const AT_THE_END = /assertion violated .*(device\[0\]|shown\[0\])/
const TOLD_FOR_NOTHING = /assertion violated 0 /
const KEY_TWICE = /assertion violated .*(leftUnder|been)\[/
const TWICE = /assertion violated\s+!\(+(shown\[id\]|device\[me\]\.got)/

const isLong = rounds(0, 1) === 1

const models: Model[] = [
  {
    model: 'race',
    holds: [['BEGIN'], ['CRASHES=0'], ['BEGIN', 'LIES=1', 'CRASHES=0']],
    holdsLong: [[], ['LIES=1', 'CRASHES=0']],
    ends: [['CRASHES=0']],
    endsLong: [['BEGIN']],
    mistakes: [
      [['BUG_STATE_AFTER_SENDING'], KEY_TWICE],
      [['BUG_SWITCH_BEFORE_ACK'], AT_THE_END],
      [['BUG_DROP_OLD_EPOCHS'], TOLD_FOR_NOTHING],
      [['BUG_REFUSE_BEFORE_ACK'], TOLD_FOR_NOTHING],
      [['BUG_CONFIRM_FIRST'], AT_THE_END],
    ],
    mistakesLong: [
      [['BUG_EPOCH_BEFORE_ID'], TOLD_FOR_NOTHING],
      [['BUG_NO_COMPARISON'], TOLD_FOR_NOTHING],
      [['BUG_PENDING_IN_MEMORY'], AT_THE_END],
      [['BUG_KEEP_ONE_OLD_EPOCH', 'COMMITS=2', 'CRASHES=0'], TOLD_FOR_NOTHING],
      [['BUG_KNOW_BY_KEYS'], TOLD_FOR_NOTHING],
      [['BUG_NO_IDS'], TWICE],
    ],
    witness: ['WITNESS'],
  },
  {
    model: 'rejoin',
    holds: [['ONE_TEXT'], ['ONE_TEXT', 'FAULTS=0', 'LIES=1']],
    holdsLong: [[], ['FAULTS=0', 'LIES=1']],
    ends: [['ONE_TEXT']],
    endsLong: [],
    mistakes: [
      [['BUG_NO_RESEND_AFTER_RESTORE'], AT_THE_END],
      [['BUG_ACKNOWLEDGE_ONCE'], AT_THE_END],
      [['BUG_ACCEPT_ANY_EPOCH', 'LIES=1'], KEY_TWICE],
    ],
    mistakesLong: [],
    witness: ['WITNESS'],
  },
  {
    model: 'takeover',
    holds: [[], ['WORDS=0']],
    holdsLong: [],
    ends: [[]],
    endsLong: [],
    mistakes: [
      [['BUG_RETURN_UNASKED'], /assertion violated \(rejoins/],
      [['BUG_DISPLACED_CONFIRMS', 'WORDS=0'], AT_THE_END],
      [['BUG_CONFIRM_WITHOUT_STATE'], AT_THE_END],
      [['BUG_RESEND_ALL'], /assertion violated\s+!\(device\[1\]\.acknowledged\)/],
    ],
    mistakesLong: [
      [['BUG_NO_RESEND'], AT_THE_END],
      // No mistake, but a limit that 0065 states: an acknowledgement under way does not protect.
      [['LIMIT_ACKNOWLEDGEMENT_UNDER_WAY'], /assertion violated\s+!\(device\[0\]\.got\)/],
      // The same limit: the text was sent to the device that displaced, and waits for it in the mailbox.
      [['SWITCHES=3'], /assertion violated\s+!\(device\[1\]\.acknowledged\)/],
    ],
    witness: ['WITNESS'],
  },
]

for (const each of models) {
  const { model, witness } = each
  const holds = [...each.holds, ...(isLong ? each.holdsLong : [])]
  const ends = [...each.ends, ...(isLong ? each.endsLong : [])]
  const mistakes = [...each.mistakes, ...(isLong ? each.mistakesLong : [])]
  describe(model, () => {
    for (const defines of holds) {
      test(`keeps its promises in every execution with ${name(defines)}`, async () => {
        expect((await search({ model, defines, for: 'promises' })).error).toBeUndefined()
      })
    }
    for (const defines of ends) {
      test(`ends in every execution with ${name(defines)}`, async () => {
        expect((await search({ model, defines, for: 'ends' })).error).toBeUndefined()
      })
    }
    for (const [defines, breaks] of mistakes) {
      test(`does not keep them with ${name(defines)}`, async () => {
        expect((await search({ model, defines, for: 'promises' })).error ?? 'none').toMatch(breaks)
      })
    }
    test('can end well', async () => {
      const { error } = await search({ model, defines: witness, for: 'promises' })
      expect(error ?? 'none').toMatch(/assertion violated\s+!\(/)
    })
  })
}

function name(defines: readonly string[]): string {
  return defines.length === 0 ? 'the usual bounds' : defines.join(', ')
}
