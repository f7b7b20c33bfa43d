// Judges how a schedule ended: what must be shown or told, and what no history may show.
import type { Device } from './device.ts'
import type { Weather } from './schedule.ts'
import { type AccountName, other, type SimulatedRelay } from './simulated-relay.ts'
import type { Watch } from './watch.ts'

const DAY_MS = 24 * 60 * 60_000
/** The words of `write`: what a history shows is one of them. */
export const textOf = (id: string): string => `text of ${id}`

/** A message that somebody wrote. */
export interface Posted {
  readonly id: string
  readonly from: AccountName
  readonly device: Device
  /** How often the device's store had been replaced by then. */
  readonly life: number
  readonly at: number
}

/** How a schedule ended. */
export interface Ending {
  readonly weather: Weather
  readonly watch: Watch
  readonly relay: SimulatedRelay
  readonly posted: readonly Posted[]
  /** The messages that were deleted, or lost with a block: the other side need not see them. */
  readonly given: ReadonlySet<string>
  /** The devices that are connected at the end. */
  readonly devices: readonly Device[]
  readonly lifeOf: (device: Device) => number
  readonly now: number
}

/** Adds what was broken to `watch.broken`. */
export function judge(ending: Ending): void {
  const { weather, devices } = ending
  if (weather !== 'all') judgeLosses(ending)
  if (weather === 'honest') judgeHonest(ending)
  for (const device of devices) judgeHistory(ending, device)
}

function judgeLosses({ weather, watch, relay, posted, given, devices, lifeOf, now }: Ending): void {
  const isStrict = weather === 'honest'
  for (const { id, from, device, life, at } of posted) {
    const to = other(from)
    if (watch.shown[to].has(id) || given.has(id) || relay.refused.has(id)) continue
    // What a device lost with its store was never sent, or its acknowledgement is unknown to everybody.
    if (!isStrict && !(devices.includes(device) && lifeOf(device) === life)) continue
    const isTold = watch.unreadable[to].has(id) || watch.missing[to] > 0
    const isOld = now - at > 29 * DAY_MS
    if (isStrict || (!isTold && !isOld))
      watch.broken.push(
        `${id} of ${device.name} is lost${isTold ? ', and told' : ''}${relay.accepted.has(id) ? ', accepted' : ''}`,
      )
  }
}

function judgeHonest({ watch, posted, given }: Ending): void {
  for (const notice of ['unreadable', 'rejoined', 'forked', 'store_behind', 'displaced'])
    if (watch.told.has(notice)) watch.broken.push(`told although nothing happened: ${notice}`)
  // What its sender deleted may be told as missing, if the relay erases it before it sends the deletion.
  for (const name of ['a', 'b'] as const) {
    const isErased = ({ id, from }: Posted) => from !== name && given.has(id) && !watch.shown[name].has(id)
    if (watch.missing[name] > posted.filter(isErased).length)
      watch.broken.push('told although nothing happened: missing')
  }
}

/** No text twice in a history, and none that nobody wrote. */
function judgeHistory({ watch, posted }: Ending, { store, name, account }: Device): void {
  const texts = new Set<string>()
  for (const [id, { body, from, isUnreadable }] of store.history) {
    if (isUnreadable) continue
    if (texts.has(body)) watch.broken.push(`${name} shows twice: ${body}`)
    texts.add(body)
    const isTrue = posted.some((each) => each.id === id && each.from === from && body === textOf(id))
    if (!isTrue) watch.broken.push(`${name} of ${account} shows what nobody wrote: ${body}`)
  }
}

/** A device that does not come to rest, in words. */
export function stateOf({ name, course, store }: Device): string {
  const { groups, doubt, stop, pending, connection } = course
  const { sealed, waiting } = store
  return JSON.stringify({
    ...{ name, epochs: groups.map(({ epoch }) => epoch), doubt, stop, pending: pending?.kind, connection },
    ...{ sealed: sealed.map(({ id, epoch }) => `${id}@${epoch}`), waiting: waiting.map(({ id }) => id) },
  })
}
