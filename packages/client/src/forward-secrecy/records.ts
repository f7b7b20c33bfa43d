// What a step of a conversation leaves in the store: messages of the history, and ciphertexts of the outbox.
import { encodeBase64 } from '@sotto/crypto'
import type { ConversationId } from '@sotto/protocol'
import { ClientError } from '../client-error.ts'
import type { Keep, Step } from '../secrecy/version-3/version-3.ts'
import {
  type AboutMessage,
  type OutboxIntent,
  type SessionRecord,
  type StoreChange,
  type StoredMessage,
  tombstoneOf,
} from '../stores/stores.ts'
import { readBody } from './contents.ts'
import type { ForwardContext } from './forward-context.ts'
import { changeByPeer } from './peer-changes.ts'
import type { Recorded } from './running-course.ts'
import type { SecretProfiles } from './secret-profiles.ts'

type Context = Pick<ForwardContext, 'emitter' | 'outbox' | 'platform' | 'sessions' | 'settings' | 'store'> & {
  readonly conversationId: ConversationId
  readonly profiles: Pick<SecretProfiles, 'received' | 'sentBy'>
  /** When the relay took the message that the step is about; undefined if it is about none. */
  readonly at: number | undefined
}

const NOTHING: Recorded = { changes: [], after: () => {} }
/** A commit begins the next epoch long before there are so many messages in one. */
const MOST_IN_EPOCH = 1e6

/**
 * Whether the records of a step depend on what the store has. A message of its own does not, nor does an
 * acknowledgement.
 */
export function readsStore({ keep, notices }: Step): boolean {
  return (
    notices.some(({ tell }) => tell === 'began') ||
    keep.some((each) => {
      if (each.keep === 'message')
        return each.resends !== undefined || ['change', 'profile'].includes(readBody(each.body).kind)
      return each.keep !== 'unreadable' && !(each.keep === 'ciphertext' && each.isHidden)
    })
  )
}

/** The changes of the records of a step, and what to do once they are stored. */
export async function recordsOf(context: Context, { keep, notices }: Step): Promise<Recorded> {
  const parts: Recorded[] = [context.profiles.sentBy(context.conversationId, { keep, notices })]
  const session = context.sessions.find(context.conversationId)
  // A contact that begins a group, joins it again or writes in it speaks version 3. Its announcement may not
  // have been read, or the user may have permitted an older version meanwhile.
  const isSpoken =
    notices.some(
      (notice) => notice.tell === 'began' || (notice.tell === 'rejoined' && notice.by === 'peer'),
    ) || keep.some((each) => each.keep === 'message')
  if (session && !session.speaks && isSpoken)
    parts.push({
      changes: [],
      late: () => speakingChange(context, session),
      after: () => context.outbox.resume(),
    })
  for (const each of keep) parts.push(await recordOf(context, each))
  return {
    changes: parts.flatMap(({ changes }) => changes),
    late: () => parts.flatMap(({ late }) => late?.() ?? []),
    after: () => {
      for (const { after } of parts) after()
    },
  }
}

function speakingChange({ sessions }: Context, before: SessionRecord): readonly StoreChange[] {
  const session = sessions.find(before.conversationId)
  return session && !session.speaks ? [sessions.noteSecrecy(session, { speaks: 3 })] : []
}

async function recordOf(context: Context, keep: Keep): Promise<Recorded> {
  switch (keep.keep) {
    case 'message':
      return messageRecord(context, keep)
    case 'unreadable':
      return shown(context, { ...baseOf(context, keep), text: '', msgType: 'undecryptable' })
    case 'ciphertext':
      return sealedRecord(context, keep)
    case 'ciphertext_gone':
      return unsealedRecord(context, keep.id)
    case 'needless':
      return withdrawn(context, keep.id)
    case 'key_package_used':
      // Its secrets go in the same write (`running-course.ts`).
      return NOTHING
    default:
      return keep satisfies never
  }
}

function baseOf(
  { conversationId, sessions, platform, at = platform.clock.now() }: Context,
  { id, seq }: { readonly id: string; readonly seq: number },
): Omit<StoredMessage, 'text'> {
  const fromAliasId = sessions.find(conversationId)?.theirAliasId
  return {
    ...{ id, conversationId, isMe: false, time: at, status: 'delivered', seq, version: 3 },
    ...(fromAliasId === undefined ? {} : { fromAliasId }),
  }
}

async function messageRecord(
  context: Context,
  keep: Extract<Keep, { readonly keep: 'message' }>,
): Promise<Recorded> {
  const { store, conversationId } = context
  const read = readBody(keep.body)
  if (read.kind === 'change' || read.kind === 'profile') {
    const { changes, after } =
      read.kind === 'profile'
        ? context.profiles.received(conversationId, read.profile)
        : ((await changeByPeer(context, read.content)) ?? NOTHING)
    return {
      changes: [...changes, ...(await unreadableChange(context, keep)), seenChange(context, keep)],
      after,
    }
  }
  const { resends } = keep
  const earlier = resends === undefined ? undefined : await store.findMessage(conversationId, false, resends)
  // It was shown, or the user removed it.
  if (earlier && earlier.msgType !== 'undecryptable')
    return { ...NOTHING, changes: [seenChange(context, keep)] }
  const base = earlier ?? baseOf(context, { id: resends ?? keep.id, seq: keep.seq })
  const { msgType: _, ...rest } = base
  const record =
    read.kind === 'unreadable'
      ? shown(context, { ...rest, text: '', msgType: 'undecryptable' })
      : shown(context, { ...rest, ...read.fields })
  return earlier ? { ...record, changes: [...record.changes, seenChange(context, keep)] } : record
}

/** A hidden message that was told as unreadable, and that this one repeats, is shown no more. */
async function unreadableChange(
  { store, conversationId }: Context,
  { resends }: Extract<Keep, { readonly keep: 'message' }>,
): Promise<readonly StoreChange[]> {
  const earlier = resends === undefined ? undefined : await store.findMessage(conversationId, false, resends)
  if (earlier?.msgType !== 'undecryptable') return []
  return [{ change: 'message_removed', conversationId, isMe: false, id: earlier.id }]
}

/**
 * What is kept of a message that is shown nowhere, or in the place of an earlier one. By it the client knows
 * the message when the relay sends it again: its key is gone by then.
 */
function seenChange(context: Context, keep: { readonly id: string; readonly seq: number }): StoreChange {
  return { change: 'message', message: tombstoneOf({ ...baseOf(context, keep), text: '' }) }
}

function withdrawn({ outbox }: Pick<Context, 'outbox'>, id: string): Recorded {
  return { changes: [{ change: 'outbox_removed', internalId: id }], after: () => outbox.forget(id) }
}

function shown({ settings, emitter, conversationId }: Context, message: StoredMessage): Recorded {
  return {
    changes: [{ change: 'message', message }],
    late: () => settings.woken(conversationId),
    after: () => {
      emitter.emit('message', message)
      if (message.msgType !== 'undecryptable') return
      const text = `a message from ${message.fromAliasId} could not be opened`
      emitter.emit('error', new ClientError('UNDECRYPTABLE', text))
    },
  }
}

function sealedRecord(
  { outbox, platform, conversationId, sessions }: Context,
  { id, epoch, payload, number, isHidden }: Extract<Keep, { readonly keep: 'ciphertext' }>,
): Recorded {
  const before = outbox.find(id)
  const toAliasId = sessions.find(conversationId)?.theirAliasId
  const sealed = { payload: encodeBase64(payload), epoch, place: epoch * MOST_IN_EPOCH + number }
  // The user withdrew it while it was encrypted.
  if ((!before && !isHidden) || toAliasId === undefined) return NOTHING
  const intent: OutboxIntent = before
    ? { ...before, ...sealed }
    : {
        internalId: id,
        conversationId,
        toAliasId,
        text: '',
        addedAt: platform.clock.now(),
        version: 3,
        ...sealed,
      }
  const changes: StoreChange[] = [{ change: 'outbox_added', intent }]
  if (intent.about && !intent.resends) changes.push(hiddenChange(intent, intent.about))
  // What was withdrawn while it was encrypted leaves all the same, because it has its place now.
  return { changes, after: () => (outbox.find(id) ? outbox.replace(intent) : outbox.accept(intent)) }
}

/** By what is kept of a hidden message of this account, it can be sent again. */
function hiddenChange({ internalId: id, conversationId }: OutboxIntent, about: AboutMessage): StoreChange {
  const message = {
    id,
    conversationId,
    isMe: true,
    text: '',
    time: 0,
    status: 'sending',
    version: 3,
  } as const
  return { change: 'message', message: tombstoneOf({ ...message, about }) }
}

async function unsealedRecord({ outbox, store, conversationId }: Context, id: string): Promise<Recorded> {
  const before = outbox.find(id)
  if (!before) return NOTHING
  const { payload: _, epoch: _epoch, ...intent } = before
  const { resends, about } = intent
  // An acknowledgement is made anew when it is due.
  if (!resends && !about && !(await store.findMessage(conversationId, true, id)))
    return withdrawn({ outbox }, id)
  return { changes: [{ change: 'outbox_added', intent }], after: () => outbox.replace(intent) }
}
