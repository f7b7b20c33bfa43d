// Relays that deliberately break a promise: copies of this checkout with a few words of the source replaced.
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { startRelay } from '@sotto/relay/testing'
import type { BusKind } from './bus.ts'
import type { Deed } from './deeds.ts'
import type { ViolationKind } from './facts.ts'
import { type Patch, testedMutations } from './tested-mutations.ts'

const root = join(import.meta.dir, '../..')

export interface Mutation {
  readonly name: string
  readonly patches: readonly Patch[]
  /** The faults that reveal it. */
  readonly only: readonly Deed[]
  /** The violations that reveal it, at least one of them. */
  readonly breaks: readonly ViolationKind[]
  /** How many nodes it takes, if it takes several. */
  readonly nodes?: number
  /** What carries their notifications, if not PostgreSQL. */
  readonly bus?: BusKind
}

const NOBODY_LOOKS: Patch = {
  file: 'packages/relay/src/cluster/in-process-bus.ts',
  from: 'for (const listener of lossListeners) listener()',
  to: 'lossListeners.length = 0',
}

export const mutations: readonly Mutation[] = [
  {
    name: 'the sync turned off',
    patches: [
      {
        file: 'packages/relay/src/storage/sqlite.ts',
        from: 'PRAGMA synchronous = FULL',
        to: 'PRAGMA synchronous = OFF',
      },
    ],
    only: ['power'],
    breaks: ['lost', 'gap', 'changed'],
  },
  {
    name: 'the write-ahead log synced at checkpoints only',
    patches: [
      {
        file: 'packages/relay/src/storage/sqlite.ts',
        from: 'PRAGMA synchronous = FULL',
        to: 'PRAGMA synchronous = NORMAL',
      },
    ],
    only: ['power'],
    breaks: ['lost', 'gap', 'changed'],
  },
  {
    name: 'marks for older clients that are not true of all their messages',
    patches: [
      {
        file: 'packages/relay/src/messages/receipt-delivery.ts',
        from: '      if (this.#isOlder && !mark.coversAll) continue\n',
        to: '',
      },
    ],
    only: ['kill'],
    breaks: ['untrue'],
  },
  {
    name: 'deletion moved to the socket write',
    patches: [
      {
        file: 'packages/relay/src/messages/connection-delivery.ts',
        from: '      this.connection.send(row.frame)\n',
        to: '      this.connection.send(row.frame)\n      this.#erase(row.position)\n',
      },
      {
        file: 'packages/relay/src/messages/connection-delivery.ts',
        from: '    this.connection.sendAll(ring.frames)\n',
        to: '    this.connection.sendAll(ring.frames)\n    this.#erase(ring.lastPosition)\n',
      },
      {
        file: 'packages/relay/src/messages/connection-delivery.ts',
        from: '  #restart(): void {\n',
        to:
          '  #erase(retractionPosition: number): void {\n' +
          '    const arrived = { retractionPosition, noticeIds: new Set<number>(), receipts: new Map() }\n' +
          '    void this.#reader.confirm(this.connection.account, arrived)\n' +
          '  }\n\n  #restart(): void {\n',
      },
      {
        file: 'packages/relay/src/messages/mailbox-reader.ts',
        from: ' AND position <= ${arrived.retractionPosition} AND kind = 1`',
        to: ' AND position <= ${arrived.retractionPosition}`',
      },
      {
        file: 'packages/relay/src/messages/mailbox-reader.ts',
        from: ' AND position <= ${upToPosition} AND kind = 1\n',
        to: ' AND position <= ${upToPosition}\n',
      },
    ],
    only: ['half-open', 'deaf', 'kill', 'storm'],
    breaks: ['lost'],
  },
  {
    name: 'the duplicate check removed',
    patches: [
      {
        file: 'packages/relay/src/messages/batch.ts',
        from: '    if (known) return this.#repeat(known, sender, frame)\n',
        to: '    if (known && known.conversation < 0) return this.#repeat(known, sender, frame)\n',
      },
      {
        file: 'packages/relay/src/messages/sqlite-batch-store.ts',
        from: 'INSERT INTO sent_ids',
        to: 'INSERT OR REPLACE INTO sent_ids',
      },
    ],
    only: ['duplicates', 'storm', 'kill'],
    breaks: ['twice'],
  },
  {
    name: 'messages taken from somebody who was left or blocked',
    patches: [
      {
        file: 'packages/relay/src/messages/batch.ts',
        from: "      if (!conversation.isOpen) throw new ProtocolError('NOT_FRIENDS')\n",
        to: '',
      },
    ],
    only: ['quarrel'],
    breaks: ['parted'],
  },
  {
    name: 'parting that erases nothing',
    patches: [
      {
        file: 'packages/relay/src/messages/conversations.ts',
        from: '  for (const account of [low, high]) await emptyLane(sql, row.id, account)\n',
        to: '',
      },
    ],
    only: ['quarrel', 'storm'],
    breaks: ['parted'],
  },
  {
    name: 'requests that pass a block',
    patches: [
      {
        file: 'packages/relay/src/friends/friendships.ts',
        from: ' && !(await isBlocked(sql, { blocker: recipient, blocked: requester }))',
        to: '',
      },
    ],
    only: ['quarrel'],
    breaks: ['friends'],
  },
  {
    name: 'expiry that trusts a clock that has jumped',
    patches: [
      {
        file: 'packages/relay/src/operations/clock-trust.ts',
        from: 'const MOST_DRIFT_MS = 3_600_000',
        to: 'const MOST_DRIFT_MS = Number.POSITIVE_INFINITY',
      },
    ],
    only: ['clock'],
    breaks: ['lost', 'expiry'],
  },
  {
    name: 'expiry that tells nobody',
    patches: [
      {
        file: 'packages/relay/src/messages/erased-messages.ts',
        from: '  for (const { message_id: id, seq } of messages) {',
        to: '  for (const { message_id: id, seq } of messages.slice(0, 0)) {',
      },
    ],
    only: ['age'],
    breaks: ['expiry'],
  },
  {
    name: 'packets dropped on the bus, and nobody looks',
    patches: [
      {
        file: 'packages/relay/src/cluster/shared-bus.ts',
        from: '    if (packet.isAfterLoss) {\n',
        to: "    if (Math.random() < 0.3) return\n    if (packet.node === '') {\n",
      },
      NOBODY_LOOKS,
    ],
    only: ['storm'],
    breaks: ['lost', 'retraction', 'receipt'],
    nodes: 3,
  },
  {
    name: 'a bus that comes back, and nobody looks',
    patches: [NOBODY_LOOKS],
    only: ['deafness'],
    breaks: ['lost', 'retraction', 'receipt'],
    nodes: 3,
  },
  {
    name: 'a NATS server that comes back, and nobody looks',
    patches: [NOBODY_LOOKS],
    only: ['bus', 'unheard'],
    breaks: ['lost', 'retraction', 'receipt'],
    nodes: 3,
    bus: 'nats',
  },
  {
    name: 'positions of mailboxes given out without their lock',
    patches: [
      {
        file: 'packages/relay/src/messages/postgres-batch-rows.ts',
        from: 'ORDER BY account_id FOR UPDATE',
        to: 'ORDER BY account_id',
      },
    ],
    only: ['storm'],
    breaks: ['lost', 'order', 'gap', 'refused'],
    nodes: 3,
  },
  {
    name: 'numbers of conversations given out without their lock',
    patches: [
      {
        file: 'packages/relay/src/messages/postgres-batch-rows.ts',
        from: 'ORDER BY id FOR UPDATE',
        to: 'ORDER BY id',
      },
    ],
    only: ['storm'],
    breaks: ['lost', 'order', 'gap', 'twice', 'refused', 'receipt'],
    nodes: 3,
  },
]

/** The patched source. @throws unless the words to replace occur exactly once */
function apply(source: string, { file, from, to }: Patch): string {
  const found = source.split(from).length - 1
  if (found !== 1)
    throw new Error(`a mutation is out of date: in ${file}, ${JSON.stringify(from)} stands ${found} times`)
  return source.replace(from, () => to)
}

/** The patched files, by path. @throws if the patches no longer match the source */
export function patched(patches: readonly Patch[]): Map<string, string> {
  const files = new Map<string, string>()
  for (const patch of patches) {
    const source = files.get(patch.file) ?? readFileSync(join(root, patch.file), 'utf8')
    files.set(patch.file, apply(source, patch))
  }
  return files
}

/** A patched copy of the relay, and of what else is named, in a folder of its own. */
export function copyWith(
  patches: readonly Patch[],
  ...others: readonly string[]
): { folder: string; remove: () => void } {
  const files = patched(patches)
  const folder = mkdtempSync(join(tmpdir(), 'sotto-mutant-'))
  for (const each of ['packages/relay', 'package.json', 'tsconfig.json', 'scripts', ...others])
    cpSync(join(root, each), join(folder, each), { recursive: true })
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  for (const [file, source] of files) writeFileSync(join(folder, file), source)
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) }
}

/** A copy of the checkout with the mutation, ready to start its relay. */
export async function plant(mutation: Mutation): Promise<{ start: typeof startRelay; remove: () => void }> {
  const { folder, remove } = copyWith(mutation.patches)
  return { start: await starterIn(folder), remove }
}

/** The function that starts the relay of another checkout. */
export async function starterIn(folder: string): Promise<typeof startRelay> {
  // That checkout's copy of the module, which starts the relay beside it.
  const path = join(resolve(folder), 'packages/relay/test/relay-process.ts')
  const { startRelay: start }: typeof import('@sotto/relay/testing') = await import(path)
  return start
}

/** @throws if a mutation no longer matches the source */
export function allMutationsApply(): void {
  for (const { patches } of [...mutations, ...testedMutations]) patched(patches)
}
