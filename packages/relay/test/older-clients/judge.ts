// Compares what the clients of a schedule show with what is true. The truth is what each client stored and
// what its user read.
import type { ModelClient, OwnMessage } from './model-client.ts'

/** A conversation of two clients. */
export interface Pair {
  readonly conv: string
  readonly clients: readonly [ModelClient, ModelClient]
}

interface Lie {
  readonly sender: ModelClient
  readonly message: OwnMessage
  /** Whether the message had certainly not expired when the lie was seen. */
  readonly isCertain: boolean
  readonly text: string
}

export class Judge {
  readonly #pairs: readonly Pair[]
  readonly #era: () => number
  readonly #lies = new Map<OwnMessage, Lie>()

  constructor(pairs: readonly Pair[], era: () => number) {
    this.#pairs = pairs
    this.#era = era
  }

  /** Looks at every status, at a moment when no handler is running. */
  look(): void {
    for (const { sender, recipient, messages } of this.#directions()) {
      for (const message of messages) {
        if (this.#lies.has(message)) continue
        const isLie =
          (message.status === 'read' && !hasRead(recipient, message)) ||
          (message.status === 'delivered' && !hasGot(recipient, message))
        if (!isLie) continue
        const isCertain = this.#era() === message.era
        const text = `${sender.kind} shows ${nameOf(message)} as ${message.status} to ${recipient.kind}`
        this.#lies.set(message, { sender, message, isCertain, text })
      }
    }
  }

  /** Every `delivered` and `read` that was shown and not true. The relay may be late to report an expiry. */
  get lies(): string[] {
    const genuine = [...this.#lies.values()].filter(
      ({ sender, message, isCertain }) => isCertain || !this.#isExpired(sender, message),
    )
    return genuine.filter(({ message }) => isJudged(message)).map(({ text }) => text)
  }

  /**
   * Messages that were written and are neither acknowledged nor retracted, and retractions without an
   * answer.
   */
  get unanswered(): string[] {
    const all = this.#pairs.flatMap(({ clients }) => clients.flatMap(({ own }) => own))
    return all
      .filter((message) => (message.isRetracted ? !message.isRetractAcked : message.ackedOn === undefined))
      .map((message) => `${message.isRetracted ? 'the retraction of ' : ''}${nameOf(message)}`)
  }

  /** Messages that are acknowledged and valid, and that their recipients do not have. */
  get lost(): string[] {
    return this.#directions().flatMap(({ sender, recipient, messages }) =>
      messages
        .filter((message) => !this.#isExpired(sender, message) && !hasGot(recipient, message))
        .map((message) => `${recipient.kind} has not got ${nameOf(message)}`),
    )
  }

  /** Messages that were retracted and that their recipients still show, unless the retraction has expired. */
  get keptInSpiteOfRetraction(): string[] {
    return this.#pairs.flatMap(({ conv, clients: [one, other] }) =>
      [[one, other] as const, [other, one] as const].flatMap(([sender, recipient]) => {
        const { stored, retracted } = recipient.inbox(conv)
        const gone = sender.own.filter(
          (message) => message.conv === conv && message.retractedIn === this.#era(),
        )
        return gone
          .filter(({ id, mayBeErased }) => stored.has(id) && !retracted.has(id) && !mayBeErased)
          .map((message) => `${recipient.kind} still shows ${nameOf(message)}`)
      }),
    )
  }

  /** Messages that should be shown as delivered or read by now, as everybody has confirmed what it has. */
  withheld(): { text: string; isOvertaken: boolean }[] {
    return this.#directions().flatMap(({ conv, sender, recipient, messages }) => {
      const { decrypted: delivered, read } = recipient.inbox(conv)
      const all = sender.own.filter((message) => message.conv === conv && !message.isRetracted)
      const valid = all.filter((message) => !this.#isExpired(sender, message)).map(({ seq = 0 }) => seq)
      // For an older client a mark counts only if it covers the last valid message.
      const needed = (message: OwnMessage): number =>
        sender.kind === 'older' ? Math.max(...valid) : (message.seq ?? 0)
      return messages.flatMap((message) => {
        if (this.#isExpired(sender, message)) return []
        const isRead = needed(message) <= read
        const isDelivered = needed(message) <= delivered
        if (isRead ? message.status === 'read' : !isDelivered || message.status !== 'sent') return []
        const text = `${sender.kind} shows ${nameOf(message)} as ${message.status} to ${recipient.kind}`
        return [{ text, isOvertaken: message.isOvertaken }]
      })
    })
  }

  /**
   * Whether the sender was told that the message has expired, or may never be told: the first jump of the
   * clock lets a message expire, and the second lets the notice of it expire, if the sender was away
   * meanwhile.
   */
  #isExpired(sender: ModelClient, { id, era }: OwnMessage): boolean {
    return sender.expired.has(id) || this.#era() >= eraOfJump(2, era)
  }

  /** Each direction of each conversation, with the messages that can be judged. */
  #directions() {
    return this.#pairs.flatMap(({ conv, clients: [one, other] }) =>
      [[one, other] as const, [other, one] as const].map(([sender, recipient]) => {
        const messages = sender.own.filter((message) => message.conv === conv && isJudged(message))
        return { conv, sender, recipient, messages }
      }),
    )
  }
}

/**
 * The era that begins with the first, second or later jump of the clock since a message of this era was
 * written. Each jump begins two eras; a message of the first of them may have come before the jump.
 */
function eraOfJump(count: number, era: number): number {
  return 2 * (Math.floor(era / 2) + count) - 1
}

// The relay knows nothing of a message that it has not accepted; a client shows that one as it likes. What
// the end of a friendship erases counts as valid, but nobody gets it.
function isJudged(message: OwnMessage): boolean {
  return message.ackedOn !== undefined && !message.isRetracted && !message.mayBeErased
}

function hasGot(recipient: ModelClient, { conv, id }: OwnMessage): boolean {
  return recipient.inbox(conv).stored.has(id)
}

function hasRead(recipient: ModelClient, message: OwnMessage): boolean {
  return hasGot(recipient, message) && (message.seq ?? 0) <= recipient.inbox(message.conv).read
}

function nameOf({ id, seq, conv }: OwnMessage): string {
  return `message ${seq ?? '?'} (${id.slice(0, 8)} in ${conv.slice(0, 8)})`
}
