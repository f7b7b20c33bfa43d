// The log of calls: writes each call when it has ended, and answers the log to applications.
import * as v from 'valibot'
import type { Device } from '../device.ts'
import type { Engine } from '../engine.ts'
import { type AnyClient, hostPart } from '../module-access.ts'
import { type HostedPart, ModulePart } from '../module-part.ts'
import { CallRecord, type StoreChange } from '../stores/stores.ts'
import { tabMethod } from '../tab-method.ts'
import type { CallInfo } from './call-info.ts'

/**
 * How many calls with each contact are kept: the latest. So many calls of one
 * contact displace no calls of others.
 */
const MAX_CALLS = 200

/** What is known of a call that has not ended. */
interface Course {
  readonly startedAt: number
  isAccepted: boolean
  connectedAt?: number
}

/** What a record needs of a changed call. */
type Changed = Pick<CallInfo, 'id' | 'conversationId' | 'isCaller' | 'state' | 'end'>

/** Makes a record of each call from its changes. */
export class CallRecords {
  readonly #now: () => number
  /** The latest call; without a course if it has ended. */
  #latest: { readonly id: string; readonly course?: Course } | undefined

  constructor(now: () => number) {
    this.#now = now
  }

  /** Call it for every change of a call. Returns the record once the call has ended. */
  follow({ id, conversationId, isCaller, state, end }: Changed): CallRecord | undefined {
    const now = this.#now()
    // There is one call at a time, so what is known of an earlier one is not needed any more.
    if (this.#latest?.id !== id) this.#latest = { id, course: { startedAt: now, isAccepted: false } }
    const { course } = this.#latest
    if (!course) return undefined
    if (state === 'connecting' || state === 'connected') course.isAccepted = true
    if (state === 'connected') course.connectedAt ??= now
    const { startedAt, connectedAt, isAccepted } = course
    if (end === undefined) return undefined
    this.#latest = { id }
    return {
      ...{ id, conversationId, isCaller, startedAt, end },
      ...(connectedAt === undefined ? {} : { durationMs: Math.max(0, now - connectedAt) }),
      missed: !isCaller && !isAccepted && end !== 'declined',
    }
  }

  /** The record of a contact's call that was refused because there is another call. */
  refused({ id, conversationId }: Pick<CallInfo, 'id' | 'conversationId'>): CallRecord {
    return { id, conversationId, isCaller: false, startedAt: this.#now(), end: 'busy', missed: true }
  }
}

/**
 * Stores a record, and removes the contact's oldest beyond the limit. A call that is logged already keeps
 * its record: its tab may have logged it just before it closed, and a contact may use an id again.
 */
export async function logCall(device: Device, engine: Engine, call: CallRecord): Promise<void> {
  const logged = await device.platform.store.listCalls()
  if (logged.some(({ id }) => id === call.id)) return
  const ofContact = logged.filter(({ conversationId }) => conversationId === call.conversationId)
  await engine.journal.write([{ change: 'call_logged', call }, ...removalOf(ofContact.slice(MAX_CALLS - 1))])
  device.emitter.emit('call_logged', call)
}

function removalOf(calls: readonly Pick<CallRecord, 'id'>[]): readonly StoreChange[] {
  return calls.map(({ id }) => ({ change: 'call_removed', id }) as const)
}

async function list(device: Device): Promise<readonly CallRecord[]> {
  device.needEngine()
  return device.platform.store.listCalls()
}

async function remove(device: Device, ids: readonly string[]): Promise<void> {
  const engine = device.needEngine()
  await engine.work(engine.journal.write(removalOf(ids.map((id) => ({ id })))))
}

const methods = {
  list: /* @__PURE__ */ tabMethod(
    'calls.list',
    { takes: v.tuple([]), answers: v.pipe(v.array(CallRecord), v.readonly()) },
    list,
  ),
  remove: /* @__PURE__ */ tabMethod(
    'calls.remove',
    { takes: v.tuple([v.pipe(v.array(v.string()), v.readonly())]), answers: v.void() },
    remove,
  ),
}
const part = /* @__PURE__ */ new ModulePart<Device>({
  methods: [methods.list, methods.remove],
  open: (device) => device,
})

/**
 * The calls of this device: `const log = new CallLog(client)`. `Calls` writes it. The latest 200 calls with
 * each contact are kept. The event `call_logged` reports each call that has ended, and `changes` of the kind
 * `calls` every change.
 */
export class CallLog {
  readonly #part: HostedPart<Device>

  constructor(client: AnyClient) {
    this.#part = hostPart(client, part)
  }

  /** The calls that have ended, the latest first. */
  list(): Promise<readonly CallRecord[]> {
    return this.#part.call(methods.list, [])
  }

  /** Removes calls from the log, by their ids. */
  remove(ids: readonly string[]): Promise<void> {
    return this.#part.call(methods.remove, [ids])
  }
}
