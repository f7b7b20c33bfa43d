// A relay in memory, as far as one conversation of version 3 needs it: the order of handshakes, two
// mailboxes, key packages, and the lies that a hostile relay can tell.

export type AccountName = 'a' | 'b'

export function other(account: AccountName): AccountName {
  return account === 'a' ? 'b' : 'a'
}

/** What a device sends. */
export type Upward =
  | {
      readonly type: 'msg'
      readonly id: string
      readonly epoch: number
      readonly payload: Uint8Array
      readonly groupInfo?: Uint8Array
      readonly after?: string
    }
  | { readonly type: 'delivered'; readonly seq: number }
  | { readonly type: 'sync' }
  | { readonly type: 'group' }
  | { readonly type: 'claim' }
  | { readonly type: 'retract'; readonly id: string }

/** A message that waits for its recipient. */
export interface Waiting {
  readonly id: string
  readonly seq: number
  readonly epoch: number
  readonly isHandshake: boolean
  readonly payload: Uint8Array
}

/** What a device gets. */
export type Downward =
  | ({ readonly type: 'msg' } & Waiting)
  | { readonly type: 'ack'; readonly id: string; readonly seq: number }
  | { readonly type: 'stale'; readonly id: string; readonly epoch: number }
  | { readonly type: 'out_of_order'; readonly id: string }
  | { readonly type: 'refused'; readonly id: string }
  | { readonly type: 'unanswered' }
  | { readonly type: 'sync_end'; readonly incarnation: string }
  | {
      readonly type: 'group'
      readonly epoch: number
      readonly groupInfo?: Uint8Array
      readonly sentSeq?: number
    }
  | {
      readonly type: 'key_packages'
      readonly packages: readonly { readonly device: string; readonly package: Uint8Array }[]
    }

export interface HeldPackage {
  readonly device: string
  readonly package: Uint8Array
  readonly isLastResort: boolean
}

/** Everything that a backup of the relay has. */
interface Stored {
  readonly seq: number
  readonly epoch: number
  readonly groupInfo: Uint8Array | undefined
  readonly mailboxes: Readonly<Record<AccountName, readonly Waiting[]>>
  readonly known: ReadonlyMap<string, number>
  readonly sentSeq: Readonly<Record<AccountName, number>>
  readonly packages: Readonly<Record<AccountName, readonly HeldPackage[]>>
}

/**
 * One connection. Answers keep their order, and so does mail; mail may come after later answers. A cut loses
 * what is under way.
 */
export class Line {
  readonly account: AccountName
  readonly up: Upward[] = []
  readonly down: Downward[] = []
  /** Messages that the relay has for this connection and has not sent yet. */
  readonly mail: Downward[] = []
  isOpen = true
  hasSynced = false

  constructor(account: AccountName) {
    this.account = account
  }

  /** Whether something is under way. */
  get isBusy(): boolean {
    return this.up.length + this.mail.length + this.down.length > 0
  }
}

/** What a hostile relay does to the next thing of its kind. */
export type Lie =
  | 'drop'
  | 'repeat'
  | 'swap'
  | 'corrupt'
  | 'rename'
  | 'false_group_info'
  | 'stale_group_info'
  | 'foreign_key_package'
  | 'fork'
  | 'false_stale'
  | 'no_group_info'
  | 'low_epoch'
  | 'high_epoch'
  | 'high_sent_seq'
  | 'no_sent_seq'
  | 'no_key_packages'
  | 'accepted_as_stale'

export class SimulatedRelay {
  incarnation = 'first'
  #stored: Stored = {
    ...{ seq: 0, epoch: 0, groupInfo: undefined },
    mailboxes: { a: [], b: [] },
    known: new Map(),
    sentSeq: { a: 0, b: 0 },
    packages: { a: [], b: [] },
  }
  #backup: { readonly stored: Stored; readonly accepted: number } | undefined
  #earlierGroupInfos: Uint8Array[] = []
  #restores = 0
  readonly #lines = new Map<AccountName, Line>()
  readonly lies = new Set<Lie>()
  /** What it refuses for good next: a message or a handshake. */
  readonly refuses = new Set<'message' | 'handshake'>()
  /** The ids of the messages that it refused for good. */
  readonly refused = new Set<string>()
  /** So many requests come to nothing. */
  unanswered = 0
  /** A key package of somebody else. */
  foreignPackage: HeldPackage | undefined
  /** The ids that it accepted as messages. */
  readonly accepted = new Set<string>()
  /** Their bytes. */
  readonly acceptedPayloads = new Set<Uint8Array>()

  get epoch(): number {
    return this.#stored.epoch
  }

  connect(account: AccountName): Line {
    this.cut(account)
    const line = new Line(account)
    this.#lines.set(account, line)
    for (const waiting of this.#stored.mailboxes[account]) line.down.push({ type: 'msg', ...waiting })
    return line
  }

  cut(account: AccountName): void {
    const line = this.#lines.get(account)
    if (!line) return
    line.isOpen = false
    line.up.length = 0
    line.mail.length = 0
    line.down.length = 0
    this.#lines.delete(account)
  }

  upload(account: AccountName, packages: readonly HeldPackage[]): void {
    const own = [...this.#stored.packages[account], ...packages]
    this.#change({ packages: { ...this.#stored.packages, [account]: own } })
  }

  backUp(): void {
    this.#backup = { stored: this.#stored, accepted: this.acceptedPayloads.size }
  }

  /**
   * Comes back with its last backup, and says so unless it is silent.
   * @returns the payloads that it has forgotten without saying so
   */
  restore(isSilent = false): readonly Uint8Array[] {
    if (!this.#backup) return []
    const { stored, accepted } = this.#backup
    this.cut('a')
    this.cut('b')
    this.#restores += 1
    // Numbers that clients may have seen are never given again.
    this.#stored = { ...stored, seq: this.#stored.seq + 1_000_000 }
    if (!isSilent) {
      this.incarnation = `restored ${this.#restores}`
      return []
    }
    const forgotten = [...this.acceptedPayloads].slice(accepted)
    for (const payload of forgotten) this.acceptedPayloads.delete(payload)
    return forgotten
  }

  /** Carries out the next frame of a connection, or else sends its mail. */
  serve(line: Line): void {
    if (!line.isOpen) return
    const frame = line.up.shift()
    if (!frame) {
      line.down.push(...line.mail.splice(0))
      return
    }
    const { account } = line
    switch (frame.type) {
      case 'msg':
        return this.#onMessage(line, frame)
      case 'delivered': {
        const left = this.#stored.mailboxes[account].filter(({ seq }) => seq > frame.seq)
        this.#change({ mailboxes: { ...this.#stored.mailboxes, [account]: left } })
        return
      }
      case 'sync': {
        const mail = line.mail.splice(0)
        const waiting = this.#stored.mailboxes[account].map((each) => ({ type: 'msg', ...each }) as const)
        const sent = line.hasSynced ? waiting : mail
        line.hasSynced = true
        line.down.push(...sent)
        line.down.push({ type: 'sync_end', incarnation: this.incarnation })
        return
      }
      case 'group':
      case 'claim':
        if (this.unanswered > 0) {
          this.unanswered -= 1
          line.down.push({ type: 'unanswered' })
          return
        }
        return frame.type === 'group' ? this.#onGroup(line) : this.#onClaim(line)
      case 'retract':
        return this.#retract(account, [frame.id])
      default:
        return frame satisfies never
    }
  }

  /** Erases what waits for the other account of an account's messages, and gives back their ids. */
  withdraw(account: AccountName): readonly Pick<Waiting, 'id' | 'seq'>[] {
    const messages = this.#stored.mailboxes[other(account)].filter(({ isHandshake }) => !isHandshake)
    const ids = messages.map(({ id }) => id)
    this.#retract(account, ids)
    const known = new Map(this.#stored.known)
    for (const id of ids) known.delete(`${account} ${id}`)
    this.#change({ known })
    return messages
  }

  #retract(account: AccountName, ids: readonly string[]): void {
    const to = other(account)
    const left = this.#stored.mailboxes[to].filter(({ id, isHandshake }) => isHandshake || !ids.includes(id))
    this.#change({ mailboxes: { ...this.#stored.mailboxes, [to]: left } })
    const mail = this.#lines.get(to)?.mail ?? []
    const kept = mail.filter((each) => each.type !== 'msg' || each.isHandshake || !ids.includes(each.id))
    mail.splice(0, mail.length, ...kept)
  }

  #onMessage(line: Line, frame: Extract<Upward, { type: 'msg' }>): void {
    const { account } = line
    const key = `${account} ${frame.id}`
    const seen = this.#stored.known.get(key)
    if (seen !== undefined) {
      line.down.push({ type: 'ack', id: frame.id, seq: seen })
      return
    }
    const isHandshake = frame.groupInfo !== undefined
    if (this.refuses.delete(isHandshake ? 'handshake' : 'message')) {
      this.refused.add(frame.id)
      line.down.push({ type: 'refused', id: frame.id })
      return
    }
    const isFork = isHandshake && frame.epoch === this.#stored.epoch - 1 && this.lies.delete('fork')
    const isFalselyStale = frame.epoch === this.#stored.epoch && this.lies.delete('false_stale')
    if ((frame.epoch !== this.#stored.epoch && !isFork) || isFalselyStale) {
      const epoch = isFalselyStale ? this.#stored.epoch + 1 : this.#stored.epoch
      line.down.push({ type: 'stale', id: frame.id, epoch })
      return
    }
    if (frame.after !== undefined && !this.#stored.known.has(`${account} ${frame.after}`)) {
      line.down.push({ type: 'out_of_order', id: frame.id })
      return
    }
    const seq = this.#stored.seq + 1
    if (frame.groupInfo && this.#stored.groupInfo) this.#earlierGroupInfos.push(this.#stored.groupInfo)
    this.#change({
      seq,
      known: new Map(this.#stored.known).set(key, seq),
      sentSeq: { ...this.#stored.sentSeq, [account]: seq },
      ...(frame.groupInfo && !isFork ? { epoch: frame.epoch + 1, groupInfo: frame.groupInfo } : {}),
    })
    this.accepted.add(frame.id)
    this.acceptedPayloads.add(frame.payload)
    // It answers that it refuses what it delivers.
    if (!isHandshake && this.lies.delete('accepted_as_stale'))
      line.down.push({ type: 'stale', id: frame.id, epoch: this.#stored.epoch + 1 })
    else line.down.push({ type: 'ack', id: frame.id, seq })
    const { id, epoch, payload } = frame
    this.#deliver(other(account), { id, seq, epoch, isHandshake, payload })
  }

  #deliver(to: AccountName, waiting: Waiting): void {
    if (this.lies.delete('drop')) return
    let given = waiting
    if (this.lies.delete('corrupt')) given = { ...given, payload: corrupted(given.payload) }
    if (this.lies.delete('rename')) given = { ...given, id: `${given.id}x` }
    let mailbox = [...this.#stored.mailboxes[to], given]
    const before = mailbox.at(-2)
    if (before && this.lies.delete('swap')) {
      // The same numbers, with the content of each other.
      const [first, second] = [
        { ...given, seq: before.seq },
        { ...before, seq: given.seq },
      ]
      mailbox = [...mailbox.slice(0, -2), first, second]
      given = second
    }
    const isTwice = this.lies.delete('repeat')
    if (isTwice) mailbox.push({ ...given, id: `${given.id}y`, seq: given.seq + 1 })
    this.#change({
      mailboxes: { ...this.#stored.mailboxes, [to]: mailbox },
      seq: Math.max(this.#stored.seq, given.seq + (isTwice ? 1 : 0)),
    })
    const line = this.#lines.get(to)
    for (const each of mailbox.slice(isTwice ? -2 : -1)) line?.mail.push({ type: 'msg', ...each })
  }

  #onGroup(line: Line): void {
    const { epoch, groupInfo, sentSeq } = this.#stored
    // It goes on until the lie is taken back.
    let given = this.lies.has('no_group_info') ? undefined : groupInfo
    if (given && this.lies.delete('false_group_info')) given = corrupted(given)
    if (given && this.#earlierGroupInfos.length > 0 && this.lies.delete('stale_group_info'))
      given = this.#earlierGroupInfos.at(-1)
    const isLow = epoch > 0 && this.lies.delete('low_epoch')
    const isHigh = this.lies.delete('high_epoch')
    const last = sentSeq[line.account] + (this.lies.delete('high_sent_seq') ? 1 : 0)
    line.down.push({
      ...{ type: 'group', epoch: isLow ? epoch - 1 : isHigh ? epoch + 1 : epoch },
      ...(this.lies.delete('no_sent_seq') ? {} : { sentSeq: last }),
      ...(given === undefined ? {} : { groupInfo: given }),
    })
  }

  #onClaim(line: Line): void {
    const peer = other(line.account)
    const held = this.#stored.packages[peer]
    const devices = [...new Set(held.map(({ device }) => device))]
    const chosen = devices.flatMap((device) => {
      const own = held.filter((each) => each.device === device)
      return own.find(({ isLastResort }) => !isLastResort) ?? own.slice(0, 1)
    })
    const left = held.filter((each) => each.isLastResort || !chosen.includes(each))
    this.#change({ packages: { ...this.#stored.packages, [peer]: left } })
    line.down.push({ type: 'key_packages', packages: this.#claimed(chosen) })
  }

  #claimed(chosen: readonly HeldPackage[]): readonly HeldPackage[] {
    if (this.lies.delete('no_key_packages')) return []
    const isForeign = this.foreignPackage !== undefined && this.lies.delete('foreign_key_package')
    return isForeign && this.foreignPackage ? [this.foreignPackage] : chosen
  }

  #change(changes: Partial<Stored>): void {
    this.#stored = { ...this.#stored, ...changes }
  }
}

function corrupted(bytes: Uint8Array): Uint8Array {
  const changed = bytes.slice()
  const at = changed.length - 5
  changed[at] = (changed[at] ?? 0) ^ 1
  return changed
}
