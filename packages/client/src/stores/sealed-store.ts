// A store whose secrets are sealed: wraps any other, which then never sees them.
import type { RandomBytes } from '@sotto/crypto'
import type { FriendProfile } from '@sotto/protocol'
import { ClientError } from '../client-error.ts'
import type {
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
import {
  hasSecret,
  isSealed,
  openChange,
  openIdentity,
  openSession,
  type Seal,
  sealChange,
} from './sealed-fields.ts'
import type { ClientStore, MessageRange } from './store.ts'
import { DATA_KEY_BYTES, otherVault, type Vault } from './vault.ts'

/** What a sealed store is made of. */
export interface SealedStoreOptions {
  readonly store: ClientStore
  readonly randomBytes: RandomBytes
  /** At most one that needs a passphrase, and one that needs none. Without any, a store that is not sealed stays so. */
  readonly vaults: readonly Vault[]
}

/**
 * Seals two fields before they reach the store it wraps: the recovery phrase (`identity.mnemonic`) and the session keys
 * (`session.sessionKeyBase64`), each with AES-256-GCM under a random data key, bound to its record. The data key lies in
 * the store, wrapped by a vault.
 *
 * Not sealed: messages, those that wait to be sent, contacts, aliases, public keys, times, and which contacts are
 * verified. Lists and search need them, and who can read the device's files while it is unlocked reads the screen as well.
 */
export class SealedStore implements ClientStore {
  readonly #store: ClientStore
  readonly #randomBytes: RandomBytes
  readonly #vaults: readonly Vault[]
  #record: VaultRecord | undefined
  #dataKey: Uint8Array | undefined
  /** Whether something is being sealed, and the calls that came meanwhile: none may overtake what is written then. */
  #isSealing = false
  readonly #held: (() => void)[] = []

  private constructor({ store, randomBytes, vaults }: SealedStoreOptions) {
    this.#store = store
    this.#randomBytes = randomBytes
    this.#vaults = vaults
  }

  /**
   * Wraps a store. A vault that needs no passphrase is opened, and set where there is none yet; one that needs a
   * passphrase is left locked.
   * @throws ClientError `STORE_FAILED` where the vault does not open the store, `LOCKED` for a sealed store without a vault.
   */
  static async open(options: SealedStoreOptions): Promise<SealedStore> {
    const sealed = new SealedStore(options)
    sealed.#record = await options.store.getVault()
    if (sealed.#record) {
      if (!sealed.#opener(sealed.#record).needsPassphrase) await sealed.unlock()
    } else if (options.vaults.length > 0) await sealed.protect()
    return sealed
  }

  /** Whether there is a vault. */
  get isSealed(): boolean {
    return this.#record !== undefined
  }

  /** Whether the secrets can be neither read nor written now. */
  get isLocked(): boolean {
    return this.#record !== undefined && this.#dataKey === undefined
  }

  /** Drops the data key. */
  lock(): void {
    this.#dataKey?.fill(0)
    this.#dataKey = undefined
  }

  /**
   * Opens the vault. Leaves everything as it is where that fails.
   * @throws ClientError `WRONG_PASSPHRASE`, `STORE_FAILED`.
   */
  async unlock(passphrase?: string): Promise<void> {
    if (!this.#record || this.#dataKey) return
    const dataKey = await this.#opener(this.#record).unwrap(this.#record, passphrase)
    this.lock()
    this.#dataKey = dataKey
  }

  /**
   * Keeps the secrets by the vault for a passphrase or, without one, by that which needs none. What lies open is sealed in
   * the same write; of what is sealed the data key is wrapped anew, and nothing else is touched. Without a passphrase and
   * a vault that needs none, the secrets are laid open again.
   * @throws ClientError `LOCKED`, `STORE_FAILED`, `INVALID_ARGUMENT` without such a vault.
   */
  async protect(passphrase?: string): Promise<void> {
    if (this.isLocked) throw locked()
    const needsPassphrase = passphrase !== undefined
    const keeper = this.#vaults.find((vault) => vault.needsPassphrase === needsPassphrase)
    if (!keeper && needsPassphrase)
      throw new ClientError('INVALID_ARGUMENT', 'no vault of this client takes a passphrase')
    if (!keeper) {
      const seal = this.#seal()
      if (seal) await this.#rewrite(undefined, undefined, (change) => openChange(seal, change))
      return
    }
    const [record, randomBytes] = [this.#record, this.#randomBytes]
    // A copy: who locks meanwhile turns the key itself to zeros.
    const dataKey = this.#dataKey?.slice() ?? new Uint8Array(this.#randomBytes(DATA_KEY_BYTES))
    try {
      const vault = await keeper.wrap({ dataKey, passphrase, randomBytes })
      if (record) await this.#store.write([{ change: 'vault', vault }])
      else await this.#rewrite(vault, dataKey, (change) => sealChange({ dataKey, randomBytes }, change))
      this.#record = vault
    } finally {
      dataKey.fill(0)
    }
  }

  write(changes: readonly StoreChange[]): Promise<void> {
    return this.#inTurn(async () => {
      if (changes.some(({ change }) => change === 'vault' || change === 'vault_removed'))
        throw new ClientError('INVALID_ARGUMENT', 'the vault of a sealed store is set by `protect`')
      const seal = changes.some(hasSecret) ? this.#seal() : undefined
      if (!seal) return this.#store.write(changes)
      return this.#writeSealed(() => Promise.all(changes.map((change) => sealChange(seal, change))))
    })
  }

  getVault(): Promise<VaultRecord | undefined> {
    return this.#inTurn(() => this.#store.getVault())
  }

  /** @throws ClientError `LOCKED`, `STORE_FAILED` where what is sealed was altered. */
  getIdentity(): Promise<StoredIdentity | undefined> {
    return this.#inTurn(async () => {
      const seal = this.#seal()
      const identity = await this.#store.getIdentity()
      // Locked meanwhile, the key is zeros.
      if (this.isLocked) throw locked()
      if (!identity) return undefined
      if (!seal) return plain(identity, identity.mnemonic)
      return this.#unlessLocked(await openIdentity(seal, identity))
    })
  }

  /** @throws ClientError `LOCKED`, `STORE_FAILED` where what is sealed was altered. */
  listSessions(): Promise<readonly SessionRecord[]> {
    return this.#inTurn(async () => {
      const seal = this.#seal()
      const sessions = await this.#store.listSessions()
      if (this.isLocked) throw locked()
      if (!seal) return sessions.map((session) => plain(session, session.sessionKeyBase64))
      return this.#unlessLocked(await Promise.all(sessions.map((session) => openSession(seal, session))))
    })
  }

  getTrust(conversationId: string): Promise<TrustState> {
    return this.#inTurn(() => this.#store.getTrust(conversationId))
  }

  listFriends(): Promise<readonly FriendProfile[]> {
    return this.#inTurn(() => this.#store.listFriends())
  }

  listMessages(conversationId: string, range?: MessageRange): Promise<readonly StoredMessage[]> {
    return this.#inTurn(() => this.#store.listMessages(conversationId, range))
  }

  findMessage(conversationId: string, isMe: boolean, id: string): Promise<StoredMessage | undefined> {
    return this.#inTurn(() => this.#store.findMessage(conversationId, isMe, id))
  }

  findMessageBySeq(conversationId: string, seq: number): Promise<StoredMessage | undefined> {
    return this.#inTurn(() => this.#store.findMessageBySeq(conversationId, seq))
  }

  hasNonce(conversationId: string, nonce: string): Promise<boolean> {
    return this.#inTurn(() => this.#store.hasNonce(conversationId, nonce))
  }

  latestPeerSeq(conversationId: string): Promise<number> {
    return this.#inTurn(() => this.#store.latestPeerSeq(conversationId))
  }

  listOwnMessages(
    conversationId: string,
    upToSeq: number,
    statuses: readonly MessageStatus[],
  ): Promise<readonly StoredMessage[]> {
    return this.#inTurn(() => this.#store.listOwnMessages(conversationId, upToSeq, statuses))
  }

  listOutbox(): Promise<readonly OutboxIntent[]> {
    return this.#inTurn(() => this.#store.listOutbox())
  }

  listRetractIntents(): Promise<readonly RetractIntent[]> {
    return this.#inTurn(() => this.#store.listRetractIntents())
  }

  listOfflineMessages(conversationId?: string): Promise<readonly OfflineMessage[]> {
    return this.#inTurn(() => this.#store.listOfflineMessages(conversationId))
  }

  findOfflineMessage(conversationId: string, seq: number): Promise<OfflineMessage | undefined> {
    return this.#inTurn(() => this.#store.findOfflineMessage(conversationId, seq))
  }

  countOfflineMessages(): Promise<number> {
    return this.#inTurn(() => this.#store.countOfflineMessages())
  }

  listReadMarks(): Promise<readonly ReadMark[]> {
    return this.#inTurn(() => this.#store.listReadMarks())
  }

  async close(): Promise<void> {
    await this.#inTurn(() => this.#store.close())
    this.lock()
  }

  async abandon(): Promise<void> {
    await this.#store.abandon()
    this.lock()
  }

  /** Writes all secrets anew in the one write that sets the vault or takes it away, before any call that comes meanwhile. */
  #rewrite(
    vault: VaultRecord | undefined,
    dataKey: Uint8Array | undefined,
    convert: (change: StoreChange) => Promise<StoreChange>,
  ): Promise<void> {
    // In turn itself: what is being sealed at this moment is written under the vault there is.
    return this.#inTurn(async () => {
      this.#isSealing = true
      try {
        const identity = await this.#store.getIdentity()
        const sessions = await this.#store.listSessions()
        const secrets: readonly StoreChange[] = [
          ...(identity ? [{ change: 'identity', identity } as const] : []),
          ...sessions.map((session) => ({ change: 'session', session }) as const),
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

  /** Seals changes and gives them to the store, before any call that comes meanwhile. Resolves once they are written. */
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

  /** Makes a call now, or once what is being sealed is with the store, in the order of the calls. */
  #inTurn<T>(call: () => Promise<T>): Promise<T> {
    if (!this.#isSealing) return call()
    return new Promise((resolve, reject) => this.#held.push(() => void call().then(resolve, reject)))
  }

  /** Makes the calls that were held, up to one that seals again. */
  #release(): void {
    this.#isSealing = false
    while (!this.#isSealing) {
      const call = this.#held.shift()
      if (!call) return
      call()
    }
  }

  /** What was opened, unless the key was dropped while it was. */
  #unlessLocked<T>(opened: T): T {
    if (this.isLocked) throw locked()
    return opened
  }

  /** What seals and opens; undefined where nothing is sealed. */
  #seal(): Seal | undefined {
    if (this.isLocked) throw locked()
    return this.#dataKey && { dataKey: this.#dataKey, randomBytes: this.#randomBytes }
  }

  /** The vault that opens a record. */
  #opener(record: VaultRecord): Vault {
    if (this.#vaults.length === 0)
      throw new ClientError('LOCKED', 'the secrets of this store are sealed: pass the option `secrets`')
    const opener = this.#vaults.find(({ kind }) => kind === record.kind)
    if (!opener) throw otherVault(record)
    return opener
  }
}

/** What is not sealed, in a store that is not. */
function plain<T>(record: T, field: string): T {
  if (!isSealed(field)) return record
  throw new ClientError('STORE_FAILED', 'the secrets of this store are sealed, and its vault record is gone')
}

function locked(): ClientError {
  return new ClientError('LOCKED', 'the client is locked')
}
