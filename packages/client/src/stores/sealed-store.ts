// A store that seals secrets: wraps another store, which then never sees them in plain.
import type { RandomBytes } from '@sotto/crypto'
import type { ConversationId, FriendProfile } from '@sotto/protocol'
import { ClientError } from '../client-error.ts'
import { grantSlots, KEYRING, slotsOf } from './erasure-slots.ts'
import type {
  AppRecord,
  CallRecord,
  ConversationSettings,
  ConversationSummary,
  MessageStatus,
  OfflineMessage,
  OutboxIntent,
  ReadMark,
  RetractIntent,
  SessionRecord,
  StoreChange,
  StoredIdentity,
  StoredMessage,
  TrustState,
  VaultRecord,
} from './records.ts'
import { grantRows, rowsOf } from './row-access.ts'
import {
  hasSecret,
  openChange,
  openIdentity,
  openKeyring,
  openSession,
  type Seal,
  sealChange,
} from './sealed-fields.ts'
import { isSealed } from './sealed-prefix.ts'
import type { Secrets, SecretsOptions } from './secrets.ts'
import type { ClientStore, MessageRange } from './store.ts'
import { DATA_KEY_BYTES, otherVault, type Vault } from './vault.ts'

/**
 * Seals three fields before they reach the wrapped store: the recovery phrase (`identity.mnemonic`), the
 * session keys (`session.sessionKeyBase64`) and the keyring of secret states. Each is sealed with AES-256-GCM
 * under a random data key, and bound to its record. A vault wraps the data key, which is then kept in the
 * store.
 *
 * Not sealed: messages, also those that wait to be sent and drafts, contacts, the user's names for them,
 * calls, aliases, public keys, times, and which contacts are verified. Lists and search need them, and
 * someone who can read the files of an unlocked device can also read its screen.
 */
export class SealedStore implements ClientStore, Secrets {
  readonly store = this
  readonly #store: ClientStore
  readonly #randomBytes: RandomBytes
  readonly #vaults: readonly Vault[]
  #record: VaultRecord | undefined
  #dataKey: Uint8Array | undefined
  #isSealing = false
  /** Calls made during sealing. They wait, so that none overtakes the write that is being sealed. */
  readonly #held: (() => void)[] = []

  private constructor({ store, randomBytes, vaults }: SecretsOptions) {
    this.#store = store
    this.#randomBytes = randomBytes
    this.#vaults = vaults
    // Messages are not sealed, nor is their index.
    grantRows(this, rowsOf(store))
    grantSlots(this, slotsOf(store))
  }

  /**
   * Wraps a store. Opens a store whose vault needs no passphrase, and leaves one with a passphrase locked.
   * Seals an unsealed store with the vault that needs no passphrase, if `options` has it.
   * @throws ClientError `STORE_FAILED` if the vault does not open the store, `LOCKED` for a sealed store
   *   without a vault.
   */
  static async open(options: SecretsOptions): Promise<SealedStore> {
    const sealed = new SealedStore(options)
    sealed.#record = await options.store.getVault()
    if (sealed.#record) {
      if (!sealed.#opener(sealed.#record).needsPassphrase) await sealed.unlock()
    } else if (options.vaults.length > 0) await sealed.protect()
    return sealed
  }

  /** Whether the secrets in the store are sealed. */
  get isSealed(): boolean {
    return this.#record !== undefined
  }

  /** Whether only a passphrase opens the secrets. */
  get hasPassphrase(): boolean {
    return this.#record !== undefined && this.#opener(this.#record).needsPassphrase
  }

  /** Whether the store is sealed and its data key is not in memory. */
  get isLocked(): boolean {
    return this.#record !== undefined && this.#dataKey === undefined
  }

  /** Overwrites and drops the data key. */
  lock(): void {
    this.#dataKey?.fill(0)
    this.#dataKey = undefined
  }

  /**
   * Opens the vault. Changes nothing if that fails.
   * @throws ClientError `WRONG_PASSPHRASE`, `STORE_FAILED`.
   */
  async unlock(passphrase?: string): Promise<void> {
    if (!this.#record || this.#dataKey) return
    const dataKey = await this.#opener(this.#record).unwrap(this.#record, passphrase)
    this.lock()
    this.#dataKey = dataKey
  }

  /**
   * Checks that this is the passphrase that opens the vault.
   * @throws ClientError `WRONG_PASSPHRASE`, `INVALID_ARGUMENT` if none is set, `STORE_FAILED`.
   */
  async check(passphrase: string): Promise<void> {
    if (!this.#record || !this.hasPassphrase)
      throw new ClientError('INVALID_ARGUMENT', 'no passphrase is set')
    const dataKey = await this.#opener(this.#record).unwrap(this.#record, passphrase)
    dataKey.fill(0)
  }

  /**
   * Protects the secrets with the vault for a passphrase or, without a passphrase, with the vault that needs
   * none. Plain secrets are sealed in the same write. If they are sealed already, only the data key is
   * wrapped again. Without a passphrase and without a vault that needs none, the secrets are stored in plain
   * again.
   * @throws ClientError `LOCKED`, `STORE_FAILED`, `INVALID_ARGUMENT` without such a vault.
   */
  async protect(passphrase?: string): Promise<void> {
    if (this.isLocked) throw locked()
    const needsPassphrase = passphrase !== undefined
    const vault = this.#vaults.find((candidate) => candidate.needsPassphrase === needsPassphrase)
    if (!vault && needsPassphrase)
      throw new ClientError('INVALID_ARGUMENT', 'no vault of this client takes a passphrase')
    if (!vault) {
      const seal = this.#seal()
      if (seal) await this.#rewrite(undefined, undefined, (change) => openChange(seal, change))
      return
    }
    const [record, randomBytes] = [this.#record, this.#randomBytes]
    // A copy, because `lock` overwrites the key itself with zeros.
    const dataKey = this.#dataKey?.slice() ?? new Uint8Array(this.#randomBytes(DATA_KEY_BYTES))
    try {
      const wrapped = await vault.wrap({ dataKey, passphrase, randomBytes })
      if (record) await this.#store.write([{ change: 'vault', vault: wrapped }])
      else await this.#rewrite(wrapped, dataKey, (change) => sealChange({ dataKey, randomBytes }, change))
      this.#record = wrapped
    } finally {
      dataKey.fill(0)
    }
  }

  write(changes: readonly StoreChange[]): Promise<void> {
    return this.#inOrder(async () => {
      if (changes.some(({ change }) => change === 'vault' || change === 'vault_removed'))
        throw new ClientError('INVALID_ARGUMENT', 'the vault of a sealed store is set by `protect`')
      const seal = changes.some(hasSecret) ? this.#seal() : undefined
      if (!seal) return this.#store.write(changes)
      return this.#writeSealed(() => Promise.all(changes.map((change) => sealChange(seal, change))))
    })
  }

  getVault(): Promise<VaultRecord | undefined> {
    return this.#inOrder(() => this.#store.getVault())
  }

  /** @throws ClientError `LOCKED`, `STORE_FAILED` if a sealed secret was altered. */
  getIdentity(): Promise<StoredIdentity | undefined> {
    return this.#inOrder(async () => {
      const seal = this.#seal()
      const identity = await this.#store.getIdentity()
      // If the store was locked meanwhile, the key is all zeros.
      if (this.isLocked) throw locked()
      if (!identity) return undefined
      if (!seal) return plain(identity, identity.mnemonic)
      return this.#unlessLocked(await openIdentity(seal, identity))
    })
  }

  /** @throws ClientError `LOCKED`, `STORE_FAILED` if a sealed secret was altered. */
  listSessions(): Promise<readonly SessionRecord[]> {
    return this.#inOrder(async () => {
      const seal = this.#seal()
      const sessions = await this.#store.listSessions()
      if (this.isLocked) throw locked()
      if (!seal) return sessions.map((session) => plain(session, session.sessionKeyBase64))
      return this.#unlessLocked(await Promise.all(sessions.map((session) => openSession(seal, session))))
    })
  }

  getTrust(conversationId: string): Promise<TrustState> {
    return this.#inOrder(() => this.#store.getTrust(conversationId))
  }

  listFriends(): Promise<readonly FriendProfile[]> {
    return this.#inOrder(() => this.#store.listFriends())
  }

  listMessages(conversationId: string, range?: MessageRange): Promise<readonly StoredMessage[]> {
    return this.#inOrder(() => this.#store.listMessages(conversationId, range))
  }

  findMessage(conversationId: string, isMe: boolean, id: string): Promise<StoredMessage | undefined> {
    return this.#inOrder(() => this.#store.findMessage(conversationId, isMe, id))
  }

  findMessageBySeq(conversationId: string, seq: number): Promise<StoredMessage | undefined> {
    return this.#inOrder(() => this.#store.findMessageBySeq(conversationId, seq))
  }

  hasNonce(conversationId: string, nonce: string): Promise<boolean> {
    return this.#inOrder(() => this.#store.hasNonce(conversationId, nonce))
  }

  latestPeerSeq(conversationId: string): Promise<number> {
    return this.#inOrder(() => this.#store.latestPeerSeq(conversationId))
  }

  listSummaries(conversationIds: readonly ConversationId[]): Promise<readonly ConversationSummary[]> {
    return this.#inOrder(() => this.#store.listSummaries(conversationIds))
  }

  listOwnMessages(
    conversationId: string,
    upToSeq: number,
    statuses: readonly MessageStatus[],
  ): Promise<readonly StoredMessage[]> {
    return this.#inOrder(() => this.#store.listOwnMessages(conversationId, upToSeq, statuses))
  }

  listOutbox(): Promise<readonly OutboxIntent[]> {
    return this.#inOrder(() => this.#store.listOutbox())
  }

  listRetractIntents(): Promise<readonly RetractIntent[]> {
    return this.#inOrder(() => this.#store.listRetractIntents())
  }

  listOfflineMessages(conversationId?: string): Promise<readonly OfflineMessage[]> {
    return this.#inOrder(() => this.#store.listOfflineMessages(conversationId))
  }

  findOfflineMessage(conversationId: string, seq: number): Promise<OfflineMessage | undefined> {
    return this.#inOrder(() => this.#store.findOfflineMessage(conversationId, seq))
  }

  countOfflineMessages(): Promise<number> {
    return this.#inOrder(() => this.#store.countOfflineMessages())
  }

  listReadMarks(): Promise<readonly ReadMark[]> {
    return this.#inOrder(() => this.#store.listReadMarks())
  }

  listSettings(): Promise<readonly ConversationSettings[]> {
    return this.#inOrder(() => this.#store.listSettings())
  }

  listAppData(): Promise<readonly AppRecord[]> {
    return this.#inOrder(() => this.#store.listAppData())
  }

  listCalls(): Promise<readonly CallRecord[]> {
    return this.#inOrder(() => this.#store.listCalls())
  }

  /** @throws ClientError `LOCKED` for the keyring, `STORE_FAILED` if it was altered. */
  findSecret(name: string): Promise<string | undefined> {
    return this.#inOrder(async () => {
      if (name !== KEYRING) return this.#store.findSecret(name)
      const seal = this.#seal()
      const value = await this.#store.findSecret(name)
      // If the store was locked meanwhile, the key is all zeros.
      if (this.isLocked) throw locked()
      if (value === undefined || !seal) return value && plain(value, value)
      return this.#unlessLocked(await openKeyring(seal, value))
    })
  }

  async close(): Promise<void> {
    await this.#inOrder(() => this.#store.close())
    this.lock()
  }

  async abandon(): Promise<void> {
    await this.#store.abandon()
    this.lock()
  }

  /** Sets or removes the vault, and rewrites all secrets, in one write. Calls made meanwhile wait. */
  #rewrite(
    vault: VaultRecord | undefined,
    dataKey: Uint8Array | undefined,
    convert: (change: StoreChange) => Promise<StoreChange>,
  ): Promise<void> {
    // It waits for a running sealing, whose write still belongs to the current vault.
    return this.#inOrder(async () => {
      this.#isSealing = true
      try {
        const identity = await this.#store.getIdentity()
        const sessions = await this.#store.listSessions()
        const keyring = await this.#store.findSecret(KEYRING)
        // Secrets whose vault record is gone cannot be opened. Sealing them again would hide that.
        if (!this.#record && identity) {
          plain(identity, identity.mnemonic)
          for (const session of sessions) plain(session, session.sessionKeyBase64)
        }
        const secrets: readonly StoreChange[] = [
          ...(identity ? [{ change: 'identity', identity } as const] : []),
          ...sessions.map((session) => ({ change: 'session', session }) as const),
          ...(keyring === undefined ? [] : [{ change: 'secret', name: KEYRING, value: keyring } as const]),
        ]
        const converted = await Promise.all(secrets.map(convert))
        await this.#store.write([
          vault ? { change: 'vault', vault } : { change: 'vault_removed' },
          ...converted,
        ])
        this.lock()
        this.#record = vault
        this.#dataKey = dataKey?.slice()
      } finally {
        this.#release()
      }
    })
  }

  /**
   * Seals changes and passes them to the store. Calls made meanwhile wait. Resolves once the changes are
   * written.
   */
  async #writeSealed(seal: () => Promise<readonly StoreChange[]>): Promise<void> {
    this.#isSealing = true
    let written: Promise<void>
    try {
      written = this.#store.write(await seal())
    } finally {
      this.#release()
    }
    await written
  }

  /** Runs a call now, or after the running sealing has reached the store, in the order of the calls. */
  #inOrder<T>(call: () => Promise<T>): Promise<T> {
    if (!this.#isSealing) return call()
    return new Promise((resolve, reject) => this.#held.push(() => void call().then(resolve, reject)))
  }

  /** Runs the held calls, until one of them seals again. */
  #release(): void {
    this.#isSealing = false
    while (!this.#isSealing) {
      const call = this.#held.shift()
      if (!call) return
      call()
    }
  }

  /** Returns `opened`, unless the key was dropped while it was being opened. */
  #unlessLocked<T>(opened: T): T {
    if (this.isLocked) throw locked()
    return opened
  }

  /** The seal with the data key; undefined if the store is not sealed. */
  #seal(): Seal | undefined {
    if (this.isLocked) throw locked()
    return this.#dataKey && { dataKey: this.#dataKey, randomBytes: this.#randomBytes }
  }

  /** The vault that can open a record. */
  #opener(record: VaultRecord): Vault {
    if (this.#vaults.length === 0)
      throw new ClientError('LOCKED', 'the secrets of this store are sealed: pass the option `secrets`')
    const opener = this.#vaults.find(({ kind }) => kind === record.kind)
    if (!opener) throw otherVault(record)
    return opener
  }
}

/**
 * Returns a record of an unsealed store. @throws ClientError `STORE_FAILED` if its secret is sealed all the
 * same
 */
function plain<T>(record: T, field: string): T {
  if (!isSealed(field)) return record
  throw new ClientError('STORE_FAILED', 'the vault record of this store is gone')
}

function locked(): ClientError {
  return new ClientError('LOCKED', 'the client is locked')
}
