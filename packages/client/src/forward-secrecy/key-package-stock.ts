// The key packages of this device: made in advance and given to the relay, so that a contact can begin or
// renew a conversation while this device is away. Their secrets are kept until they are used, or long
// after they expire.
import { bytesToHex, encodeBase64 } from '@sotto/crypto'
import { ByteReader, ByteWriter } from '@sotto/crypto/version-3'
import { createKeyPackage } from '@sotto/mls'
import { keyPackageEndpoints } from '@sotto/protocol'
import type { OwnKeyPackage } from '../secrecy/version-3/version-3.ts'
import type { SecretStates, SecretUpdate } from '../stores/secret-states.ts'
import type { Http } from '../wire/wire.ts'
import type { OwnLeaf } from './own-leaf.ts'

const VERSION = 1
const DAY_MS = 86_400_000
/** The stock is filled to this number when fewer than `FEW` are left. */
const ENOUGH = 40
const FEW = 20
/** So many fit into the body of a request. */
const IN_REQUEST = 12
/** How long a package can be given out. */
const LIFE_MS = 60 * DAY_MS
/** A last resort is replaced when it has less time left: the device may be away for as long. */
const RENEW_MS = 30 * DAY_MS
/** A Welcome waits so long for its recipient, after the package was given out. */
const WAIT_MS = 30 * DAY_MS
/** For clocks that differ. */
const SKEW_MS = DAY_MS

interface Stored extends OwnKeyPackage {
  readonly isLastResort: boolean
  readonly notAfter: number
}

/** The key packages of this device. */
export class KeyPackageStock {
  readonly #states: SecretStates
  readonly #leaf: OwnLeaf
  readonly #http: Pick<Http, 'call'>
  readonly #now: () => number

  constructor(states: SecretStates, leaf: OwnLeaf, http: Pick<Http, 'call'>, now: () => number) {
    this.#states = states
    this.#leaf = leaf
    this.#http = http
    this.#now = now
  }

  /** The package with this reference, if its secrets are still here. */
  async find(reference: Uint8Array): Promise<OwnKeyPackage | undefined> {
    const state = await this.#states.get('package', bytesToHex(reference))
    return state instanceof Uint8Array ? readPackage(state) : undefined
  }

  /** Erases what was used. A last resort stays, because others may have got the same one. */
  async used(references: readonly Uint8Array[]): Promise<readonly SecretUpdate[]> {
    const updates: SecretUpdate[] = []
    for (const reference of references) {
      const id = bytesToHex(reference)
      const state = await this.#states.get('package', id)
      const stored = state instanceof Uint8Array ? readPackage(state) : undefined
      if (stored && !stored.isLastResort) updates.push({ kind: 'package', id, state: undefined })
    }
    return updates
  }

  /**
   * Fills the stock at the relay if it is low, replaces a last resort that ends soon, and erases secrets that
   * no Welcome can need any more.
   * @throws ClientError as `Http.call` does
   */
  async fill(): Promise<void> {
    const kept = await this.#eraseOld()
    const { device } = this.#leaf
    const { devices } = await this.#http.call(keyPackageEndpoints.listKeyPackages, {})
    const own = devices.find((each) => each.device === device)
    let missing = (own?.count ?? 0) < FEW ? ENOUGH - (own?.count ?? 0) : 0
    // The relay never ends one. Contacts would refuse it after its time.
    const lastEnd = Math.max(0, ...kept.map(({ isLastResort, notAfter }) => (isLastResort ? notAfter : 0)))
    let needsLastResort = !own?.has_last_resort || lastEnd < this.#now() + RENEW_MS
    while (missing > 0 || needsLastResort) {
      const packages = await this.#make(Math.min(missing, IN_REQUEST), false)
      const [lastResort] = needsLastResort ? await this.#make(1, true) : []
      const lastOf = lastResort && { id: lastResort.id, package: lastResort.package }
      const body = { device, packages, ...(lastOf ? { last_resort: lastOf } : {}) }
      await this.#http.call(keyPackageEndpoints.uploadKeyPackages, { body })
      missing -= packages.length
      needsLastResort = false
    }
  }

  /** Makes packages. Their secrets are durable before anybody can use them. */
  async #make(count: number, isLastResort: boolean) {
    const notBefore = this.#now() - SKEW_MS
    const notAfter = this.#now() + LIFE_MS
    const made = []
    for (let at = 0; at < count; at++)
      made.push(await createKeyPackage(this.#leaf.keys, { notBefore, notAfter }))
    await this.#states.write(
      made.map(({ keyPackage, secrets, reference }) => ({
        kind: 'package',
        id: bytesToHex(reference),
        state: writePackage({ keyPackage, secrets, isLastResort, notAfter }),
      })),
    )
    return made.map(({ keyPackage, reference }) => ({
      id: bytesToHex(reference).slice(0, 32),
      package: encodeBase64(keyPackage),
      expires_at: new Date(notAfter).toISOString(),
    }))
  }

  /** Erases what no Welcome can need any more. @returns what is left */
  async #eraseOld(): Promise<readonly Stored[]> {
    const old: string[] = []
    const kept: Stored[] = []
    for (const id of await this.#states.list('package')) {
      const state = await this.#states.get('package', id)
      const stored = state instanceof Uint8Array ? readPackage(state) : undefined
      // One that only a later version reads is left to it.
      const isLost = !(state instanceof Uint8Array)
      if (isLost || (stored && stored.notAfter + WAIT_MS < this.#now())) old.push(id)
      else if (stored) kept.push(stored)
    }
    if (old.length > 0) await this.#states.write(old.map((id) => ({ kind: 'package', id, state: undefined })))
    return kept
  }
}

function writePackage({ keyPackage, secrets, isLastResort, notAfter }: Stored): Uint8Array {
  const to = new ByteWriter().number(VERSION).flag(isLastResort).number(notAfter)
  return to.bytes(keyPackage).bytes(secrets).done()
}

function readPackage(state: Uint8Array): Stored | undefined {
  const from = new ByteReader(state)
  if (from.number() !== VERSION) return undefined
  const isLastResort = from.flag()
  return { isLastResort, notAfter: from.number(), keyPackage: from.bytes(), secrets: from.bytes() }
}
