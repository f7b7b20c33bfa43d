// Relays that deliberately break a promise, and that only several nodes show, or that the simulation can show
// too.
import { mutations as faultMutations } from '../faults/mutations.ts'
import type { Patch } from '../faults/tested-mutations.ts'

/** See bench/faults/mutations.ts. */
export interface SimulatedMutation {
  readonly name: string
  readonly patches: readonly Patch[]
}

/** Of the fault program's mutants those whose parts take part in a simulation. */
const SHARED = [
  'marks for older clients that are not true of all their messages',
  'deletion moved to the socket write',
  'the duplicate check removed',
]

export const mutations: readonly SimulatedMutation[] = [
  ...faultMutations.filter(({ name }) => SHARED.includes(name)),
  {
    name: 'a ring dropped and nobody looks',
    patches: [
      {
        file: 'packages/relay/src/cluster/shared-bus.ts',
        from: '    if (this.#isLookDue) return\n',
        to: '    if (this.node !== "") return\n',
      },
    ],
  },
  {
    name: 'a ring that is taken for the next one although it is not',
    patches: [
      {
        file: 'packages/relay/src/messages/connection-delivery.ts',
        from: 'ring.firstPosition !== this.#position + 1 ||',
        to: 'ring.firstPosition === 0 ||',
      },
    ],
  },
  {
    name: 'a late ring of marks believed, whatever its connection knows since',
    patches: [
      {
        file: 'packages/relay/src/messages/receipt-delivery.ts',
        from: '?? Number.POSITIVE_INFINITY) > lastSeq',
        to: '?? 0) > lastSeq + 1_000_000',
      },
    ],
  },
  {
    name: 'a commit that failed and is acknowledged',
    patches: [
      {
        file: 'packages/relay/src/messages/group-commit.ts',
        from: '      this.#metrics.commitsFailed.count()\n',
        to:
          '      this.#metrics.commitsFailed.count()\n' +
          "      for (const { operation, resolve } of group) if (operation.kind === 'append') resolve({ answers: " +
          "[{ type: 'ack', id: operation.frame.id, conv_id: operation.frame.conv_id, seq: 1, at: 1 }] })\n",
      },
    ],
  },
  {
    name: 'a reading that trusts rings which came before its query',
    patches: [
      {
        file: 'packages/relay/src/messages/connection-delivery.ts',
        from: '      if (!state.isCaughtUp) return\n',
        to: '',
      },
    ],
  },
]
