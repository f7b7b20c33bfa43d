// Sessions: the key shared with each friend, the guard against changed keys, and who stands behind an alias.
import {
  decodeBase64,
  deriveSessionKey,
  encodeBase64,
  type IdentityKeys,
  isValidX25519PublicKey,
  securityCode,
} from '@sotto/crypto'
import type { ConversationId, FriendProfile } from '@sotto/protocol'
import { ClientError } from './client-error.ts'
import type { Emitter, SecurityViolationEvent } from './events.ts'
import { asksForSession, type CurrentKeys, hasKeys, keysIn, keysOf, placeOf } from './friend-keys.ts'
import type { Journal } from './journal.ts'
import type { Clock } from './options.ts'
import type { SessionRecord, TrustState } from './stores/records.ts'
import type { ClientStore } from './stores/store.ts'

/** Aliases of before that a contact may have. A relay could rename it without end. */
const MAX_FORMER_ALIASES = 100

/** What a friend list takes that has to be computed. */
interface DerivedKeys {
  /** Session keys in Base64, by `placeOf`. */
  readonly sessions: ReadonlyMap<string, string>
  readonly codes: SecurityCodes
}

/** Security codes, by the contact's X25519 key. */
type SecurityCodes = ReadonlyMap<string, string>

/** What the sessions work with. */
export interface SessionsContext {
  readonly store: ClientStore
  readonly journal: Journal
  readonly emitter: Emitter
  readonly clock: Clock
  readonly keys: IdentityKeys
  /** Whether an alias is that of the identity itself. */
  readonly isOwnAlias: (aliasId: string) => boolean
}

/** Every session of the identity, in memory as in the store. */
export class Sessions {
  readonly #context: SessionsContext
  readonly #sessions = new Map<string, SessionRecord>()
  readonly #keys = new Map<string, Uint8Array>()
  /** Keys the relay gives now for a session made with others, by conversation. */
  readonly #changedKeys = new Map<string, CurrentKeys>()
  readonly #raised = new Map<string, string>()
  /** Of every key in the two above: at hand before, as a violation is told in the step that finds it. */
  #codes: SecurityCodes = new Map()

  constructor(context: SessionsContext) {
    this.#context = context
  }

  /** Reads the sessions, and compares them with the friend list as it was last. */
  async load(): Promise<void> {
    const sessions = await this.#context.store.listSessions()
    const friends = await this.#context.store.listFriends()
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

  /** The session of a contact, named by alias (also a former one) or by conversation. @throws `UNKNOWN_CONTACT` */
  get(contact: string): SessionRecord {
    const session = this.#sessions.get(contact) ?? this.#findByAlias(contact)
    if (!session)
      throw new ClientError('UNKNOWN_CONTACT', `there is no conversation with ${contact} on this device`)
    return session
  }

  /** The session's key. */
  keyOf(session: SessionRecord): Uint8Array {
    let key = this.#keys.get(session.conversationId)
    if (!key) {
      key = decodeBase64(session.sessionKeyBase64)
      this.#keys.set(session.conversationId, key)
    }
    return key
  }

  /** Whether `aliasId` is or was the contact's. */
  isTheirAlias(session: SessionRecord, aliasId: string): boolean {
    return (
      session.theirAliasId === aliasId ||
      (session.formerAliasIds?.some((former) => former === aliasId) ?? false)
    )
  }

  /**
   * Whether `aliasId` is one's own, or is or was another contact's. An alias nobody has had yet may be a new one of this
   * contact: keys say whose a message is, an alias is only a name.
   */
  isAnothersAlias(session: SessionRecord, aliasId: string): boolean {
    if (this.isTheirAlias(session, aliasId)) return false
    return this.#context.isOwnAlias(aliasId) || this.isAlias(aliasId)
  }

  /** Whether `aliasId` is or was any contact's. */
  isAlias(aliasId: string): boolean {
    return this.#findByAlias(aliasId) !== undefined
  }

  /** Whether the relay gives other keys for this contact than those recorded. */
  hasChangedKeys(session: SessionRecord): boolean {
    return this.#changedKeys.has(session.conversationId)
  }

  /** False, and a `security_violation`, where the contact's keys are not those recorded. */
  guard(session: SessionRecord): boolean {
    const current = this.#changedKeys.get(session.conversationId)
    if (!current) return true
    this.#raise(session, current)
    return false
  }

  /** Whether a session may be used, and has the key it had: what was done with that key while others worked holds. */
  isCurrent(session: SessionRecord): boolean {
    const { conversationId, sessionKeyBase64 } = session
    return (
      this.#sessions.get(conversationId)?.sessionKeyBase64 === sessionKeyBase64 &&
      !this.#changedKeys.has(conversationId)
    )
  }

  /** The keys of the sessions that a friend list asks for and that are not there, and security codes. Changes nothing. */
  async deriveKeys(friends: readonly FriendProfile[]): Promise<DerivedKeys> {
    const sessions = new Map<string, string>()
    const { privateKey } = this.#context.keys.agreement
    for (const friend of friends) {
      if (!asksForSession(friend) || this.#sessions.has(friend.conversation_id)) continue
      const theirPublicKey = decodeBase64(friend.x25519_public_key)
      if (!this.#canBeTheirs(theirPublicKey)) continue
      const conversationId = friend.conversation_id
      const key = await deriveSessionKey({ privateKey, theirPublicKey, conversationId })
      sessions.set(placeOf(friend), encodeBase64(key))
      key.fill(0)
    }
    return { sessions, codes: await this.codesOf(keysOf(friends)) }
  }

  /** The security codes of X25519 keys. Changes nothing. */
  async codesOf(publicKeys: readonly string[]): Promise<SecurityCodes> {
    const own = this.#context.keys.agreement.publicKey
    const codes = publicKeys.map(
      async (key) => [key, this.#codes.get(key) ?? (await securityCode(own, decodeBase64(key)))] as const,
    )
    return new Map(await Promise.all(codes))
  }

  /**
   * Makes the sessions that a friend list asks for, with the keys derived for it, and never changes the keys of one that
   * is there. Answers the conversations in which something can be decrypted that could not be before.
   */
  reconcile(friends: readonly FriendProfile[], derived: DerivedKeys): readonly ConversationId[] {
    const refusedBefore = new Set(this.#changedKeys.keys())
    this.#codes = new Map([...this.#codes, ...derived.codes])
    this.#compareKeys(friends)
    for (const [conversationId, current] of this.#changedKeys) {
      const session = this.#sessions.get(conversationId)
      if (session && this.#raised.get(conversationId) !== current.x25519 + current.ed25519)
        this.#raise(session, current)
    }
    const readable: ConversationId[] = []
    for (const friend of friends) {
      if (!asksForSession(friend)) continue
      const session = this.#sessions.get(friend.conversation_id)
      const isReadable = session
        ? this.#rename(session, friend)
        : this.#create(friend, friend.conversation_id, derived.sessions.get(placeOf(friend)))
      const isBack =
        refusedBefore.has(friend.conversation_id) && !this.#changedKeys.has(friend.conversation_id)
      if (isReadable || isBack) readable.push(friend.conversation_id)
    }
    this.#dropCodes()
    return readable
  }

  /** Looks at keys the relay gives outside the friend list: false, and a `security_violation`, where they are others. */
  compare(aliasId: string, current: CurrentKeys, codes: SecurityCodes): boolean {
    const session = this.#findByAlias(aliasId)
    if (!session || hasKeys(session, current)) return true
    this.#codes = new Map([...this.#codes, ...codes])
    this.#changedKeys.set(session.conversationId, current)
    this.#raise(session, current)
    return false
  }

  /** Drops every session from memory, keys overwritten as far as JavaScript lets them be. The end of these sessions. */
  forgetKeys(): void {
    for (const key of this.#keys.values()) key.fill(0)
    this.#keys.clear()
    this.#sessions.clear()
  }

  /** The security code of a contact's X25519 key, one that is recorded or one the relay gives instead. */
  fingerprintOf(theirPublicKey: string): string {
    const code = this.#codes.get(theirPublicKey)
    if (code === undefined) throw new TypeError('the security code of a key in use was not computed')
    return code
  }

  /** Forgets a contact's keys; the next friend list gives those to record, unverified. */
  async forget(contact: string): Promise<void> {
    const { conversationId } = this.get(contact)
    await this.#context.journal.write([
      { change: 'session_removed', conversationId },
      { change: 'trust', conversationId, trust: { status: 'unverified' } },
    ])
    this.#sessions.delete(conversationId)
    this.#keys.delete(conversationId)
    this.#changedKeys.delete(conversationId)
    this.#raised.delete(conversationId)
  }

  /** Notes whether a contact is verified. */
  async setTrust(contact: string, trust: TrustState): Promise<void> {
    const session: SessionRecord = { ...this.get(contact), trustState: trust.status }
    await this.#context.journal.write([
      { change: 'session', session },
      { change: 'trust', conversationId: session.conversationId, trust },
    ])
    // Renamed or forgotten meanwhile, it stays so.
    const current = this.#sessions.get(session.conversationId)
    if (current) this.#remember({ ...current, trustState: trust.status })
  }

  #remember(session: SessionRecord): void {
    this.#sessions.set(session.conversationId, session)
  }

  #findByAlias(aliasId: string): SessionRecord | undefined {
    const sessions = this.list()
    // The latest, where a pair was given a conversation anew.
    return (
      sessions.findLast((session) => session.theirAliasId === aliasId) ??
      sessions.findLast((session) => this.isTheirAlias(session, aliasId))
    )
  }

  /**
   * Notes which contacts the relay now gives other keys than those recorded, by conversation or under a known alias. One
   * entry with others is enough, whatever else the list says.
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

  #raise(session: SessionRecord, current: CurrentKeys): void {
    this.#raised.set(session.conversationId, current.x25519 + current.ed25519)
    const violation: SecurityViolationEvent = {
      type: 'security_violation',
      contactId: session.theirAliasId,
      previousFingerprint: this.fingerprintOf(session.theirEcdhPublicKey),
      currentFingerprint: this.fingerprintOf(current.x25519),
      detectedAt: this.#context.clock.now(),
      message: null,
    }
    this.#context.emitter.emit('security_violation', violation)
  }

  #create(
    friend: FriendProfile,
    conversationId: ConversationId,
    sessionKeyBase64: string | undefined,
  ): boolean {
    const known = this.#findByAlias(friend.alias_id)
    // A known alias under a new conversation, with other keys: `#compareKeys` has told; no session is made for it.
    if (known && this.#changedKeys.has(known.conversationId)) return false
    // Its alias since a moment ago, when this list renamed it.
    const isTaken = known && !hasKeys(known, keysIn(friend))
    if (isTaken || this.#context.isOwnAlias(friend.alias_id)) return this.#refuse(friend, 'to two')
    if (!this.#canBeTheirs(decodeBase64(friend.x25519_public_key)))
      return this.#refuse(friend, 'a key that cannot be theirs')
    // Forgotten since its keys were asked for: whoever forgets a session has the list fetched again.
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

  /** One's own key, and keys that give no secret, are those of a relay that cheats. */
  #canBeTheirs(publicKey: Uint8Array): boolean {
    const own = this.#context.keys.agreement.publicKey
    return isValidX25519PublicKey(publicKey) && encodeBase64(publicKey) !== encodeBase64(own)
  }

  /** Follows a contact to its new alias, unless that is one's own or was ever another contact's. */
  #rename(session: SessionRecord, friend: FriendProfile): boolean {
    if (session.theirAliasId === friend.alias_id || this.#changedKeys.has(session.conversationId))
      return false
    if (this.isAnothersAlias(session, friend.alias_id)) return this.#refuse(friend, 'to two')
    const former = new Set([...(session.formerAliasIds ?? []), session.theirAliasId])
    former.delete(friend.alias_id)
    // None is forgotten instead: it could be given to somebody else then.
    if (former.size > MAX_FORMER_ALIASES) return this.#refuse(friend, 'after too many other names')
    const renamed: SessionRecord = { ...session, theirAliasId: friend.alias_id, formerAliasIds: [...former] }
    this.#remember(renamed)
    this.#context.journal.record([{ change: 'session', session: renamed }])
    return true
  }

  #refuse({ alias_id }: FriendProfile, what: string): false {
    this.#context.emitter.emit('error', new ClientError('BAD_REPLY', `the relay gives ${alias_id} ${what}`))
    return false
  }

  // A relay can give other keys each time.
  #dropCodes(): void {
    const used = new Set(this.list().map(({ theirEcdhPublicKey }) => theirEcdhPublicKey))
    for (const { x25519 } of this.#changedKeys.values()) used.add(x25519)
    this.#codes = new Map([...this.#codes].filter(([key]) => used.has(key)))
  }
}
