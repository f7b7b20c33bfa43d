// Received frames of version 3: given to the course of their conversation together with those that follow
// them, and confirmed once they are stored.
import { decodeBase64 } from '@sotto/crypto'
import type { ConversationId, RelayFrame } from '@sotto/protocol'
import type { ForwardContext } from './forward-context.ts'
import type { RunningCourse, TimedFrame } from './running-course.ts'

export type MsgFrame = Extract<RelayFrame, { readonly type: 'msg' }>

type Context = Pick<ForwardContext, 'confirmations' | 'hintFriendSync' | 'sessions' | 'store' | 'sync'>

/** How many frames are looked up together. What is not taken has to be looked up again. */
const [FEWEST_AHEAD, MOST_AHEAD] = [8, 256]

/** Gives frames to their courses. */
export class ReceivingFrames {
  readonly #context: Context
  readonly #courseOf: (conversationId: ConversationId) => RunningCourse
  readonly #onFailure: (error: unknown) => void
  /** Frames that were handled with one before them. */
  readonly #handled = new WeakSet<MsgFrame>()
  /** So many are looked up together: about as many as the last ones that were taken. */
  #ahead = FEWEST_AHEAD
  /** The conversations with frames that came before their contact was known. */
  readonly #unknown = new Set<ConversationId>()

  constructor(
    context: Context,
    courseOf: (conversationId: ConversationId) => RunningCourse,
    onFailure: (error: unknown) => void,
  ) {
    this.#context = context
    this.#courseOf = courseOf
    this.#onFailure = onFailure
  }

  /**
   * Handles a frame, and those of its conversation that follow it as far as they can share its write. Never
   * rejects.
   */
  async receive(frame: MsgFrame, following: readonly RelayFrame[]): Promise<void> {
    if (this.#handled.delete(frame)) return
    const { confirmations, hintFriendSync } = this.#context
    const { conv_id } = frame
    try {
      const frames = [frame, ...this.#withIt(frame, following).slice(0, this.#ahead - 1)]
      const latest = await this.#context.store.latestPeerSeq(conv_id)
      const given = await Promise.all(frames.map((each) => this.#timed(each, latest)))
      const results = await this.#courseOf(conv_id).giveFrames(given)
      this.#ahead = results.length === frames.length ? this.#ahead * 2 : results.length
      this.#ahead = Math.min(Math.max(this.#ahead, FEWEST_AHEAD), MOST_AHEAD)
      for (const [at, made] of results.entries()) {
        const { seq, from } = frames[at] ?? frame
        if (at > 0) this.#handled.add(frames[at] ?? frame)
        if (made === 'no_keys') {
          this.#unknown.add(conv_id)
          hintFriendSync()
        }
        if (typeof made === 'string' || made.outcome === 'later') return confirmations.await(conv_id, seq)
        confirmations.arrived(conv_id, seq)
        confirmations.add(conv_id, seq, from)
      }
    } catch (error) {
      confirmations.hold(conv_id)
      this.#onFailure(error)
    }
  }

  /** Contacts have become known: what they had sent is asked for again. */
  onReadable(): void {
    const { sessions, sync } = this.#context
    const known = [...this.#unknown].filter((id) => sessions.find(id))
    for (const id of known) this.#unknown.delete(id)
    if (known.length > 0) sync()
  }

  /** The frames of its conversation that come next. Whether a frame is known must not depend on another. */
  #withIt(frame: MsgFrame, following: readonly RelayFrame[]): readonly MsgFrame[] {
    const { conv_id, crypto_v } = frame
    const [ids, seqs] = [new Set<string>([frame.id]), new Set([frame.seq])]
    const taken: MsgFrame[] = []
    for (const next of following) {
      // Anything else, such as a retraction, must find the messages before it.
      if (next.type !== 'msg') break
      if (next.conv_id !== conv_id) continue
      const isNew = !ids.has(next.id) && !seqs.has(next.seq)
      if (next.crypto_v !== crypto_v || !isNew || this.#context.confirmations.isHeld(conv_id, next.seq)) break
      ids.add(next.id)
      seqs.add(next.seq)
      taken.push(next)
    }
    return taken
  }

  /** @param latest the highest `seq` of the contact's stored messages: above it none has to be looked up */
  async #timed(frame: MsgFrame, latest: number): Promise<TimedFrame> {
    const { store } = this.#context
    const { conv_id, id, seq, at } = frame
    const known = await Promise.all([
      store.findMessage(conv_id, false, id),
      seq > latest ? undefined : store.findMessageBySeq(conv_id, seq),
    ])
    return {
      event: {
        ...{ type: 'frame', id, seq, epoch: frame.epoch ?? 0, isHandshake: frame.handshake === true },
        ...{ payload: decodeBase64(frame.payload), isKnown: known.some(Boolean) },
      },
      at,
    }
  }
}
