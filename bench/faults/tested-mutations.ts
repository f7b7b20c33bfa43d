// Relays that deliberately break a promise between nodes which the history of clients tells rarely, or not at
// all. Each names the test of `npm test` that shows it at once.

/** Words of a file that others replace. */
export interface Patch {
  readonly file: string
  readonly from: string
  readonly to: string
}

export interface TestedMutation {
  readonly name: string
  readonly patches: readonly Patch[]
  /** A test of the relay that fails, and words of its name. */
  readonly test: { readonly file: string; readonly name: string }
}

export const testedMutations: readonly TestedMutation[] = [
  {
    // Clients repeat frames with the same ids, so it hardly matters to them by which connection one is
    // stored.
    name: 'a takeover decided by the clock of a node',
    patches: [
      {
        file: 'packages/relay/src/gateway/epochs.ts',
        from: 'DO UPDATE SET epoch = connections.epoch + 1,',
        to: `DO UPDATE SET epoch = \${Date.now()},`,
      },
    ],
    test: {
      file: 'packages/relay/src/messages/epochs.contract.test.ts',
      name: 'grow with each connection of an account',
    },
  },
  {
    name: 'a batch that does not check epochs',
    patches: [
      {
        file: 'packages/relay/src/messages/batch.ts',
        from: 'if (epoch !== undefined && this.#rows.epochOf(account) !== epoch) {',
        to: 'if (epoch === Number.POSITIVE_INFINITY) {',
      },
    ],
    test: {
      file: 'packages/relay/src/messages/epochs.contract.test.ts',
      name: 'of replaced connections let no frame have an effect',
    },
  },
  {
    name: 'a batch that checks epochs before it has the locks',
    patches: [
      {
        file: 'packages/relay/src/messages/postgres-batch-rows.ts',
        from: 'const [[locked], [read]] = await Promise.all([lock(sql, keys), readProtected(sql, keys)])',
        to: 'const [[read], [locked]] = await Promise.all([readProtected(sql, keys), lock(sql, keys)])',
      },
    ],
    test: {
      file: 'packages/relay/src/messages/epochs.contract.test.ts',
      name: 'are checked after the conversation is locked',
    },
  },
  {
    name: 'epochs of conversations that are not compared',
    patches: [
      {
        file: 'packages/relay/src/messages/batch.ts',
        from: 'if (epoch !== undefined && epoch !== conversation.groupEpoch)',
        to: 'if (epoch === Number.POSITIVE_INFINITY)',
      },
    ],
    test: {
      file: 'packages/relay/src/messages/group-epochs.contract.test.ts',
      name: 'of two who begin at the same moment one wins',
    },
  },
  {
    name: 'epochs of conversations compared without a lock',
    patches: [
      {
        file: 'packages/relay/src/messages/postgres-batch-rows.ts',
        from: 'ORDER BY id FOR UPDATE',
        to: 'ORDER BY id',
      },
    ],
    test: {
      file: 'packages/relay/src/messages/group-epochs.contract.test.ts',
      name: 'an epoch is compared after the conversation is locked',
    },
  },
  {
    name: 'marks of a client over what it could not read',
    patches: [
      {
        file: 'packages/relay/src/messages/batch.ts',
        from: 'readsVersion3 ? undefined : this.#rows.firstOfVersion3(conversation, lane)',
        to: 'undefined',
      },
    ],
    test: {
      file: 'packages/relay/src/messages/group-epochs.contract.test.ts',
      name: 'confirms nothing from the first such message on',
    },
  },
  {
    // Two nodes that sweep at once do no harm, which is why the history does not tell.
    name: 'a lease without a fence',
    patches: [
      {
        file: 'packages/relay/src/cluster/lease.ts',
        from: 'if (own) return\n',
        to: 'if (fence > 0) return\n',
      },
    ],
    test: {
      file: 'packages/relay/src/cluster/lease.contract.test.ts',
      name: 'a turn that is over fails its next transaction',
    },
  },
  {
    // Two nodes would have to add notices for the same account within milliseconds.
    name: 'notices confirmed up to the highest id',
    patches: [
      {
        file: 'packages/relay/src/messages/mailbox-reader.ts',
        from: 'DELETE FROM notices WHERE account_id = ${account} AND id = ${id}',
        to: 'DELETE FROM notices WHERE account_id = ${account} AND id <= ${id}',
      },
    ],
    test: {
      file: 'packages/relay/src/messages/notices.contract.test.ts',
      name: 'a notice is kept although one with a higher id has arrived',
    },
  },
]
