// Sessions: the key shared with each friend, the protection against changed keys, and which contact an alias
// names.
import {
  decodeBase64,
  deriveSessionKey,
  encodeBase64,
  formatSecurityCode,
  type IdentityKeys,
  isValidX25519PublicKey,
} from '@sotto/crypto'
import type { ConversationId, FriendProfile } from '@sotto/protocol'
import { ClientError } from '../client-error.ts'
import type { Emitter, SecurityViolationEvent } from '../events/events.ts'
import type { Clock } from '../platform/platform.ts'
import type { ClientStore, Journal, SessionRecord, StoreChange, TrustState } from '../stores/stores.ts'
import { type CurrentKeys, derivedKeyId, hasKeys, keysIn, keysOf, needsSession } from './friend-keys.ts'
import { computeSecurityCodes, type SecurityCodes } from './security-code.ts'

/** How many former aliases are kept per contact. Without a limit a relay could rename a contact endlessly. */
const MAX_FORMER_ALIASES = 100

/** The values that a friend list needs and that take asynchronous work to compute. */
interface DerivedKeys {
  /** Session keys in Base64, by `derivedKeyId`. */
  readonly sessions: ReadonlyMap<string, string>
  readonly codes: SecurityCodes
}

export interface SessionsContext {
  readonly store: ClientStore
  readonly journal: Journal
  readonly emitter: Emitter
  readonly clock: Clock
  readonly keys: IdentityKeys
  /** Whether an alias is this account's. */
  readonly isOwnAlias: (aliasId: string) => boolean
}

/** Every session of the identity. Memory holds the same sessions as the store. */
export class Sessions {
  readonly #context: SessionsContext
  readonly #sessions = new Map<string, SessionRecord>()
  readonly #keys = new Map<string, Uint8Array>()
  /** The keys that the relay now reports, for conversations whose session has other keys. */
  readonly #changedKeys = new Map<string, CurrentKeys>()
  /** The changed keys for which `security_violation` was last emitted, by conversation. */
  readonly #reported = new Map<string, string>()
  /**
   * Computed in advance for the keys of all sessions and all changed keys, so that a violation is reported at
   * once.
   */
  #codes: SecurityCodes = new Map()

  constructor(context: SessionsContext) {
    this.#context = context
  }

  /** Reads the sessions, and compares their keys with the stored friend list. */
  async load(friends: readonly FriendProfile[]): Promise<void> {
    const sessions = await this.#context.store.listSessions()
    const keys = sessions.map(({ theirEcdhPublicKey }) => theirEcdhPublicKey)
    this.#codes = await this.codesOf([...keys, ...keysOf(friends)])
    for (const session of sessions) this.#remember(session)
    this.#compareKeys(friends)
  }

  list(): readonly SessionRecord[] {
    return [...this.#sessions.values()]
  }

  find(conversationId: string): SessionRecord | undefined {
    return this.#sessions.get(conversationId)
  }

  /**
   * The session of a contact, given by alias (also a former one) or conversation. @throws `UNKNOWN_CONTACT`
   */
  get(contact: string): SessionRecord {
    const session = this.#sessions.get(contact) ?? this.#findByAlias(contact)
    if (!session)
      throw new ClientError('UNKNOWN_CONTACT', `there is no conversation with ${contact} on this device`)
    return session
  }

  keyOf(session: SessionRecord): Uint8Array {
    let key = this.#keys.get(session.conversationId)
    if (!key) {
      key = decodeBase64(session.sessionKeyBase64)
      this.#keys.set(session.conversationId, key)
    }
    return key
  }

  /** Whether `aliasId` is an alias of this contact, or was one. */
  isTheirAlias(session: SessionRecord, aliasId: string): boolean {
    return (
      session.theirAliasId === aliasId ||
      (session.formerAliasIds?.some((former) => former === aliasId) ?? false)
    )
  }

  /**
   * Whether `aliasId` is this account's, or is or was another contact's. An unknown alias may be this
   * contact's new one: the keys tell who sent a message; an alias is only a name.
   */
  isAnothersAlias(session: SessionRecord, aliasId: string): boolean {
    if (this.isTheirAlias(session, aliasId)) return false
    return this.#context.isOwnAlias(aliasId) || this.isAlias(aliasId)
  }

  /** Whether `aliasId` is or was an alias of any contact. */
  isAlias(aliasId: string): boolean {
    return this.#findByAlias(aliasId) !== undefined
  }

  /** The security code of the keys that the relay now reports instead of the recorded ones. */
  changedCode(session: SessionRecord): string | undefined {
    const current = this.#changedKeys.get(session.conversationId)
    return current && formatSecurityCode(this.fingerprintOf(current.x25519))
  }

  /** Returns false and emits `security_violation` if the contact's keys are not the recorded ones. */
  guard(session: SessionRecord): boolean {
    const current = this.#changedKeys.get(session.conversationId)
    if (!current) return true
    this.#reportViolation(session, current)
    return false
  }

  /**
   * Whether a session still exists with the same key and is not refused. Check it after every asynchronous
   * step.
   */
  isCurrent(session: SessionRecord): boolean {
    const { conversationId, sessionKeyBase64 } = session
    return (
      this.#sessions.get(conversationId)?.sessionKeyBase64 === sessionKeyBase64 &&
      !this.#changedKeys.has(conversationId)
    )
  }

  /** Computes the keys of the missing sessions of a friend list, and the security codes. Changes nothing. */
  async deriveKeys(friends: readonly FriendProfile[]): Promise<DerivedKeys> {
    const sessions = new Map<string, string>()
    const { privateKey } = this.#context.keys.agreement
    for (const friend of friends) {
      if (!needsSession(friend) || this.#sessions.has(friend.conversation_id)) continue
      const theirPublicKey = decodeBase64(friend.x25519_public_key)
      if (!this.#isPlausibleKey(theirPublicKey)) continue
      const conversationId = friend.conversation_id
      const key = await deriveSessionKey({ privateKey, theirPublicKey, conversationId })
      sessions.set(derivedKeyId(friend), encodeBase64(key))
      key.fill(0)
    }
    return { sessions, codes: await this.codesOf(keysOf(friends)) }
  }

  /** The security codes of X25519 keys. Changes nothing. */
  codesOf(publicKeys: readonly string[]): Promise<SecurityCodes> {
    return computeSecurityCodes(this.#context.keys.agreement.publicKey, publicKeys, this.#codes)
  }

  /**
   * Creates the missing sessions of a friend list with the keys derived for it. Never changes the keys of an
   * existing session. Returns the conversations whose messages may be decryptable now and were not before.
   */
  reconcile(friends: readonly FriendProfile[], derived: DerivedKeys): readonly ConversationId[] {
    const refusedBefore = new Set(this.#changedKeys.keys())
    this.#codes = new Map([...this.#codes, ...derived.codes])
    this.#compareKeys(friends)
    for (const [conversationId, current] of this.#changedKeys) {
      const session = this.#sessions.get(conversationId)
      if (session && this.#reported.get(conversationId) !== current.x25519 + current.ed25519)
        this.#reportViolation(session, current)
    }
    for (const conversationId of refusedBefore)
      if (!this.#changedKeys.has(conversationId)) this.#announceKeys(conversationId)
    const readable: ConversationId[] = []
    for (const friend of friends) {
      if (!needsSession(friend)) continue
      const session = this.#sessions.get(friend.conversation_id)
      const isReadable = session
        ? this.#rename(session, friend)
        : this.#create(friend, friend.conversation_id, derived.sessions.get(derivedKeyId(friend)))
      const isBack =
        refusedBefore.has(friend.conversation_id) && !this.#changedKeys.has(friend.conversation_id)
      if (isReadable || isBack) readable.push(friend.conversation_id)
    }
    this.#dropUnusedCodes()
    return readable
  }

  /**
   * Checks keys that the relay reported outside the friend list. Returns false and emits `security_violation`
   * if they differ from the recorded ones.
   */
  compare(aliasId: string, current: CurrentKeys, codes: SecurityCodes): boolean {
    const session = this.#findByAlias(aliasId)
    if (!session || hasKeys(session, current)) return true
    this.#codes = new Map([...this.#codes, ...codes])
    this.#changedKeys.set(session.conversationId, current)
    this.#reportViolation(session, current)
    return false
  }

  /** Drops every session from memory and overwrites its key bytes. This object is of no use after that. */
  forgetKeys(): void {
    for (const key of this.#keys.values()) key.fill(0)
    this.#keys.clear()
    this.#sessions.clear()
  }

  /**
   * The security code of a contact's X25519 key: the recorded one, or the one that the relay reports instead.
   */
  fingerprintOf(theirPublicKey: string): string {
    const code = this.#codes.get(theirPublicKey)
    if (code === undefined) throw new TypeError('no security code')
    return code
  }

  /** Forgets a contact's keys. The keys in the next friend list are recorded instead, unverified. */
  async forget(contact: string): Promise<void> {
    const { conversationId } = this.get(contact)
    const { clock, journal } = this.#context
    await journal.write([
      { change: 'session_removed', conversationId },
      { change: 'trust', conversationId, trust: { status: 'unverified', renewedAt: clock.now() } },
    ])
    this.#sessions.delete(conversationId)
    this.#keys.delete(conversationId)
    this.#changedKeys.delete(conversationId)
    this.#reported.delete(conversationId)
  }

  /**
   * Replaces what is known of a contact's forward secrecy: that it was announced, that the conversation had
   * no group, or that the user permits an older version. Returns the change that stores it.
   */
  noteSecrecy(
    session: SessionRecord,
    known: Pick<SessionRecord, 'speaks' | 'hadNoGroup' | 'lowered'>,
  ): StoreChange {
    const current = this.find(session.conversationId) ?? session
    const { speaks: _, hadNoGroup: _hadNone, lowered: _lowered, ...rest } = current
    const noted: SessionRecord = { ...rest, ...known }
    this.#remember(noted)
    return { change: 'session', session: noted }
  }

  /** Stores whether a contact is verified. */
  async setTrust(contact: string, trust: TrustState): Promise<void> {
    const session: SessionRecord = { ...this.get(contact), trustState: trust.status }
    await this.#context.journal.write([
      { change: 'session', session },
      { change: 'trust', conversationId: session.conversationId, trust },
    ])
    // The contact may have been renamed or forgotten during the write; that is kept.
    const current = this.#sessions.get(session.conversationId)
    if (current) this.#remember({ ...current, trustState: trust.status })
  }

  #remember(session: SessionRecord): void {
    this.#sessions.set(session.conversationId, session)
  }

  #findByAlias(aliasId: string): SessionRecord | undefined {
    const sessions = this.list()
    // The latest session, if the relay gave the two accounts a new conversation.
    return (
      sessions.findLast((session) => session.theirAliasId === aliasId) ??
      sessions.findLast((session) => this.isTheirAlias(session, aliasId))
    )
  }

  /**
   * Records which contacts have other keys in this list than the recorded ones. Contacts are found by
   * conversation or by a known alias. One entry with other keys is enough, even if another entry has the
   * recorded ones.
   */
  #compareKeys(friends: readonly FriendProfile[]): void {
    const refused = new Set<string>()
    for (const friend of friends) {
      if (friend.status !== 'accepted') continue
      const session = this.#sessions.get(friend.conversation_id) ?? this.#findByAlias(friend.alias_id)
      if (!session) continue
      const { conversationId } = session
      const current = keysIn(friend)
      if (!hasKeys(session, current)) {
        refused.add(conversationId)
        this.#changedKeys.set(conversationId, current)
      } else if (!refused.has(conversationId)) this.#changedKeys.delete(conversationId)
    }
  }

  #reportViolation(session: SessionRecord, current: CurrentKeys): void {
    this.#reported.set(session.conversationId, current.x25519 + current.ed25519)
    const violation: SecurityViolationEvent = {
      type: 'security_violation',
      contactId: session.theirAliasId,
      previousFingerprint: this.fingerprintOf(session.theirEcdhPublicKey),
      currentFingerprint: this.fingerprintOf(current.x25519),
      detectedAt: this.#context.clock.now(),
      message: null,
    }
    this.#context.emitter.emit('security_violation', violation)
    this.#announceKeys(session.conversationId)
  }

  /** Whether a contact's keys are refused is stored nowhere, so no write says that it changed. */
  #announceKeys(conversationId: string): void {
    this.#context.emitter.emit('changes', [{ kind: 'conversation', conversationId }])
  }

  #create(
    friend: FriendProfile,
    conversationId: ConversationId,
    sessionKeyBase64: string | undefined,
  ): boolean {
    const known = this.#findByAlias(friend.alias_id)
    // A known alias in a new conversation with other keys gets no session; `#compareKeys` has recorded the
    // change.
    if (known && this.#changedKeys.has(known.conversationId)) return false
    // The alias may belong to a contact that an earlier entry of this list has just renamed to it.
    const isTaken = known && !hasKeys(known, keysIn(friend))
    if (isTaken || this.#context.isOwnAlias(friend.alias_id))
      return this.#refuse(friend, 'names two accounts')
    if (!this.#isPlausibleKey(decodeBase64(friend.x25519_public_key)))
      return this.#refuse(friend, 'has an invalid key')
    // The session was forgotten after its key was derived. `renewSession` fetches the list again, which
    // creates it.
    if (sessionKeyBase64 === undefined) return false
    const session: SessionRecord = {
      conversationId,
      theirAliasId: friend.alias_id,
      theirEcdhPublicKey: friend.x25519_public_key,
      theirEd25519PublicKey: friend.ed25519_public_key,
      sessionKeyBase64,
      trustState: 'unverified',
      createdAt: this.#context.clock.now(),
    }
    this.#remember(session)
    this.#context.journal.record([{ change: 'session', session }])
    return true
  }

  /** Only a cheating relay reports this account's own key, or a key that yields no secret, as a contact's. */
  #isPlausibleKey(publicKey: Uint8Array): boolean {
    const own = this.#context.keys.agreement.publicKey
    return isValidX25519PublicKey(publicKey) && encodeBase64(publicKey) !== encodeBase64(own)
  }

  /** Renames a contact to its new alias, unless that is this account's or is or was another contact's. */
  #rename(session: SessionRecord, friend: FriendProfile): boolean {
    if (session.theirAliasId === friend.alias_id || this.#changedKeys.has(session.conversationId))
      return false
    if (this.isAnothersAlias(session, friend.alias_id)) return this.#refuse(friend, 'names two accounts')
    const former = new Set([...(session.formerAliasIds ?? []), session.theirAliasId])
    former.delete(friend.alias_id)
    // The oldest alias is not dropped instead: the relay could then give it to another contact.
    if (former.size > MAX_FORMER_ALIASES) return this.#refuse(friend, 'was renamed too often')
    const renamed: SessionRecord = { ...session, theirAliasId: friend.alias_id, formerAliasIds: [...former] }
    this.#remember(renamed)
    this.#context.journal.record([{ change: 'session', session: renamed }])
    return true
  }

  #refuse({ alias_id }: FriendProfile, what: string): false {
    this.#context.emitter.emit('error', new ClientError('BAD_REPLY', `friend list: ${alias_id} ${what}`))
    return false
  }

  // Without this, a relay that reports other keys each time would fill the memory.
  #dropUnusedCodes(): void {
    const used = new Set(this.list().map(({ theirEcdhPublicKey }) => theirEcdhPublicKey))
    for (const { x25519 } of this.#changedKeys.values()) used.add(x25519)
    this.#codes = new Map([...this.#codes].filter(([key]) => used.has(key)))
  }
}
