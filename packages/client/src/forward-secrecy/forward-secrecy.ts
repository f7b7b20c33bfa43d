// Version 3 next to the engine: the courses of all conversations, the keys of this device, and the stock
// of key packages at the relay. A script of its own, loaded with the first use.
import { encodeBase64 } from '@sotto/crypto'
import type { ConversationId, RelayFrame } from '@sotto/protocol'
import { asClientError } from '../client-error.ts'
import type { Forward, MessageOfContact, SecrecyWord, UserSecrecy } from '../messages/messages.ts'
import { randomUuid } from '../platform/platform.ts'
import type { Ask, Course, CourseEvent, Notice, Step, Surroundings } from '../secrecy/version-3/version-3.ts'
import { SecretStates } from '../stores/secret-states.ts'
import type { OutboxIntent, SessionRecord, StoreChange } from '../stores/stores.ts'
import type { ForwardContext } from './forward-context.ts'
import { givenWorker } from './given-worker.ts'
import { KeyPackageStock } from './key-package-stock.ts'
import { KnownSides } from './known-sides.ts'
import { OpenHandshakes } from './open-handshakes.ts'
import { OutgoingMessages } from './outgoing-messages.ts'
import { OwnChanges, refusedChange } from './own-changes.ts'
import { accountOf, type OwnLeaf, openOwnLeaf } from './own-leaf.ts'
import { type MsgFrame, ReceivingFrames } from './receiving-frames.ts'
import { readsStore, recordsOf } from './records.ts'
import { answerTo } from './relay-answers.ts'
import { ofLaterVersion, RunningCourse, type Synced } from './running-course.ts'
import { SecretCalls } from './secret-calls.ts'
import { SecretProfiles } from './secret-profiles.ts'
import { WithdrawnMessages } from './withdrawn-messages.ts'

export { eraseKeys } from './erase-keys.ts'

/** How often the courses look at the time, in milliseconds. */
const TICK_MS = 10_000

type Answer = Extract<RelayFrame, { readonly type: 'ack' | 'error' }>

/** Version 3 of one identity on this device. */
export class ForwardSecrecy implements Omit<Forward, 'announcer' | 'knows' | 'onFrame'>, UserSecrecy {
  readonly calls: SecretCalls
  /** The edits and reactions of this account. */
  readonly changes: OwnChanges
  readonly profiles: SecretProfiles
  readonly #context: ForwardContext
  readonly #states: SecretStates
  readonly #stock: KeyPackageStock
  readonly #courses = new Map<ConversationId, RunningCourse>()
  readonly #sides: KnownSides
  readonly #handshakes: OpenHandshakes
  readonly #receiving: ReceivingFrames
  readonly #withdrawn: WithdrawnMessages
  readonly #outgoing: OutgoingMessages
  /** The conversations of which it was told that messages wait for another client of the contact. */
  readonly #waiting = new Set<ConversationId>()
  readonly #timers = new Set<() => void>()
  #synced: Synced | undefined
  /** Whether another device of the account may have been connected since the last `sync_end`. */
  #isDoubtful = false
  #isStopped = false

  /**
   * Opens the keys of this device.
   * @throws ClientError `LATER_VERSION`, `STORE_FAILED`, `STORE_LOCKED`, `LOCKED`
   */
  static async open(context: ForwardContext): Promise<ForwardSecrecy> {
    const { platform, store, journal, emitter, keys } = context
    const states = await SecretStates.open({
      store,
      write: (changes) => journal.write(changes),
      randomBytes: platform.random,
      clock: platform.clock,
      onFailure: (error) => emitter.emit('error', error),
      startWorker: givenWorker(),
    })
    const { host } = platform.relayUrl
    try {
      const leaf = await openOwnLeaf(states, host, keys, platform.random, platform.clock.now())
      return new ForwardSecrecy(context, states, leaf, await SecretProfiles.open(context))
    } catch (error) {
      // The next use opens them again.
      await states.abandon()
      throw error
    }
  }

  private constructor(
    context: ForwardContext,
    states: SecretStates,
    leaf: OwnLeaf,
    profiles: SecretProfiles,
  ) {
    this.#context = context
    this.profiles = profiles
    this.#states = states
    this.#sides = new KnownSides(context, leaf)
    const courseOf = (conversationId: ConversationId): RunningCourse => this.#courseOf(conversationId)
    const report = (error: unknown): void => this.#report(error)
    this.#receiving = new ReceivingFrames(context, courseOf, report)
    this.#handshakes = new OpenHandshakes({
      ...context,
      isLowered: (id) => this.#isLowered(id),
      onAnswer: (id, event) => {
        this.#give(id, event)
        if (event.type === 'accepted') this.#takeBack(id)
      },
      later: (ms, run) => this.#later(ms, run),
    })
    this.#withdrawn = new WithdrawnMessages({
      ...{ context, courseOf },
      isSynced: () => this.#synced !== undefined,
      seal: (id) => this.seal(id),
      later: (ms, run) => this.#later(ms, run),
    })
    this.#outgoing = new OutgoingMessages(context, courseOf, this.#withdrawn, profiles, report)
    this.changes = new OwnChanges(context, {
      alone: (id, work) => courseOf(id).alone(work),
      isSealing: (id) => this.#outgoing.isSealing(id),
    })
    this.#stock = new KeyPackageStock(states, leaf, context.http, () => context.platform.clock.now())
    this.calls = new SecretCalls({ context, own: accountOf(context.keys), courseOf })
    this.#tickLater()
  }

  /** Fills the stock of key packages. @returns the own public key once the relay has some of this device */
  async fillStock(): Promise<string | undefined> {
    try {
      await this.#stock.fill()
      return encodeBase64(this.#context.keys.agreement.publicKey)
    } catch (error) {
      this.#report(error)
      return undefined
    }
  }

  /** Every frame before this `sync_end` was handled: what waited for it goes on. */
  async onSynced(incarnation: string | undefined): Promise<void> {
    const isDoubtful = this.#isDoubtful
    this.#isDoubtful = false
    this.#synced = incarnation === undefined ? { isDoubtful } : { incarnation, isDoubtful }
    for (const id of await this.#states.list('conversation')) {
      const session = this.#context.sessions.find(id)
      if (session) this.#tick(session.conversationId)
    }
    for (const { conversationId, speaks, lowered } of this.#context.sessions.list())
      if (lowered || (speaks && this.#context.outbox.firstUnsealed(conversationId))) this.seal(conversationId)
  }

  /** Another device of the account has connected. */
  onOtherDevice(): void {
    this.#isDoubtful = true
  }

  /** The connection is gone. */
  onDown(): void {
    this.#synced = undefined
    this.#handshakes.onDown()
    this.#waiting.clear()
    this.#withdrawn.onDown()
    for (const id of this.#courses.keys()) this.#give(id, { type: 'down' })
  }

  onAnnounced(conversationId: ConversationId): void {
    this.#handshakes.sendHeld(conversationId)
    this.#context.outbox.resume()
    this.#give(conversationId, { type: 'peer_speaks' })
    this.seal(conversationId)
  }

  receive(frame: MsgFrame, following: readonly RelayFrame[]): Promise<void> {
    // The contact has a client of version 3 again.
    this.#waiting.delete(frame.conv_id)
    return this.#receiving.receive(frame, following)
  }

  /** Contacts have become known: what they had sent is asked for again. */
  onReadable(): void {
    this.#receiving.onReadable()
  }

  seal(conversationId: ConversationId): void {
    this.#outgoing.seal(conversationId)
  }

  accepted(intent: MessageOfContact, seq: number, changes: readonly StoreChange[], after: () => void): void {
    const { conversationId, internalId: id } = intent
    this.#give(conversationId, { type: 'accepted', id, seq }, changes, () => {
      after()
      this.#takeBack(conversationId)
    })
  }

  failed(intent: MessageOfContact, changes: readonly StoreChange[], after: () => void): void {
    const { conversationId, internalId: id, about } = intent
    const lost = this.profiles.lost(conversationId, [id])
    this.#give(conversationId, { type: 'failed', id }, [...changes, ...lost.changes], () => {
      lost.after()
      after()
      // Other messages have a status that says it, and a refused retraction is told by itself.
      if (about && about.kind !== 'deletion') this.#report(refusedChange(changes))
    })
  }

  /** A message was taken back, which the user permitted by permitting an older version. */
  async onWithdrawn({ conv_id, id, seq }: Extract<RelayFrame, { readonly type: 'error' }>): Promise<void> {
    const session = conv_id === undefined ? undefined : this.#context.sessions.find(conv_id)
    if (!session || id === undefined || seq === undefined) return
    await this.#withdrawn.told(session.conversationId, { id, seq })
    this.seal(session.conversationId)
  }

  /** Whether the messages of a contact wait until earlier ones are taken back. */
  holds(session: SessionRecord): boolean {
    return this.#withdrawn.holds(session)
  }

  stale(intent: OutboxIntent, epoch: number): void {
    this.#give(intent.conversationId, { type: 'stale', id: intent.internalId, epoch })
  }

  /** Resolves once all that was told of a conversation before is written. */
  async settled(conversationId: ConversationId): Promise<void> {
    await this.#courses.get(conversationId)?.settled()
  }

  /** The answer to a handshake. @returns false if the frame is about something else */
  onAnswer(frame: Answer): boolean {
    if (frame.type === 'ack' && frame.waits) this.#tellWaiting(frame.conv_id)
    return this.#handshakes.onAnswer(frame)
  }

  /** What holds up a conversation until the user decides. */
  stopOf(conversationId: ConversationId): Promise<Course['stop']> {
    return this.#courseOf(conversationId).stop()
  }

  /** Carries out what the user decided. Resolves once it is stored. */
  async decide(conversationId: ConversationId, word: SecrecyWord): Promise<void> {
    if (word === 'allow_older_version') return this.#lower(conversationId)
    const made = await this.#courseOf(conversationId).give({ type: word })
    if (made === 'later_version') throw ofLaterVersion()
  }

  /** Stops permanently, once the work under way is stored. */
  async stop(): Promise<void> {
    this.#isStopped = true
    this.#outgoing.stop()
    for (const cancel of this.#timers) cancel()
    this.calls.stop()
    await Promise.all(Array.from(this.#courses.values(), (course) => course.settled()))
    for (const course of this.#courses.values()) course.forget()
    await this.#states.close()
    this.#sides.erase()
  }

  async #lower(conversationId: ConversationId): Promise<void> {
    const { sessions, journal } = this.#context
    const session = sessions.get(conversationId)
    if (!session.speaks) return
    // What the relay has of it is taken back, too.
    const lost = this.profiles.lost(conversationId)
    await journal.write([sessions.noteSecrecy(session, { hadNoGroup: true, lowered: true }), ...lost.changes])
    lost.after()
    this.#withdrawn.mayBeThere(conversationId)
    this.#tell(conversationId, { tell: 'lowered' })
    this.seal(conversationId)
  }

  /** The relay has accepted something of version 3, which an older client of the contact cannot read. */
  #takeBack(conversationId: ConversationId): void {
    if (!this.#isLowered(conversationId)) return
    this.#withdrawn.mayBeThere(conversationId)
    this.seal(conversationId)
  }

  #give(
    conversationId: ConversationId,
    event: CourseEvent,
    changes: readonly StoreChange[] = [],
    after: () => void = () => {},
  ): void {
    const given = this.#courseOf(conversationId).give(event, changes)
    const done = given.then(
      // The message stays in the outbox then: the later version has to learn the relay's answer to it.
      (made) => (made === 'later_version' ? undefined : after()),
      (error: unknown) => this.#report(error),
    )
    void this.#context.work(done)
  }

  #courseOf(conversationId: ConversationId): RunningCourse {
    const before = this.#courses.get(conversationId)
    if (before) return before
    const course: RunningCourse = new RunningCourse({
      states: this.#states,
      conversationId,
      clock: this.#context.platform.clock,
      surroundings: () => this.#surroundingsOf(conversationId),
      record: (made, at) =>
        recordsOf({ ...this.#context, profiles: this.profiles, conversationId, at }, made),
      readsStore,
      usedSecrets: ({ keep }) =>
        this.#stock.used(keep.flatMap((each) => (each.keep === 'key_package_used' ? [each.reference] : []))),
      afterStep: (made) => this.#afterStep(conversationId, made),
      onLaterVersion: () => this.#tell(conversationId, { tell: 'later_version' }),
      peerSpeaks: () => this.#context.sessions.find(conversationId)?.speaks === 3,
      synced: () => this.#synced,
    })
    this.#courses.set(conversationId, course)
    return course
  }

  async #surroundingsOf(conversationId: ConversationId): Promise<Surroundings | undefined> {
    const { sessions, platform } = this.#context
    const session = sessions.find(conversationId)
    const sides = session && !sessions.changedCode(session) ? await this.#sides.of(session) : undefined
    return (
      sides && {
        sides,
        now: platform.clock.now(),
        random: platform.random,
        newId: () => randomUuid(platform.random),
        findKeyPackage: (reference) => this.#stock.find(reference),
      }
    )
  }

  #afterStep(conversationId: ConversationId, made: Step): void {
    const { handshake, asks, notices, maySend } = made
    for (const notice of notices) this.#tell(conversationId, notice)
    if (handshake) this.#handshakes.send(conversationId, handshake)
    this.#handshakes.sendHeld(conversationId)
    for (const ask of asks) void this.#context.work(this.#ask(conversationId, ask))
    if (notices.some(({ tell }) => tell === 'began')) this.#outgoing.begun(conversationId)
    if (maySend) this.seal(conversationId)
    this.calls.onStep(conversationId, made)
  }

  async #ask(conversationId: ConversationId, ask: Ask): Promise<void> {
    if (ask.ask === 'sync') return this.#context.sync()
    if (ask.ask === 'again') {
      for (const id of await this.#outgoing.sendAgain(conversationId, ask.ids))
        this.#give(conversationId, { type: 'failed', id })
      return
    }
    try {
      this.#give(conversationId, await answerTo(this.#context.http, conversationId, ask.ask))
    } catch (error) {
      this.#give(conversationId, { type: 'unanswered' })
      this.#report(error)
    }
  }

  /** Once for each connection, until the contact writes under version 3. */
  #tellWaiting(conversationId: ConversationId): void {
    if (this.#waiting.has(conversationId)) return
    this.#waiting.add(conversationId)
    this.#tell(conversationId, { tell: 'waits' })
  }

  #tell(conversationId: ConversationId, notice: Notice): void {
    this.#context.emitter.emit('secrecy', { conversationId, notice })
  }

  #tick(conversationId: ConversationId): void {
    if (!this.#isLowered(conversationId)) this.#give(conversationId, { type: 'tick' })
  }

  /**
   * Whether the user has permitted an older version. Nothing goes under version 3 then, also nothing hidden:
   * at the relay it would hold up what the contact's older client reads.
   */
  #isLowered(conversationId: ConversationId): boolean {
    return this.#context.sessions.find(conversationId)?.lowered === true
  }

  #tickLater(): void {
    this.#later(TICK_MS, () => {
      if (this.#synced) for (const id of this.#courses.keys()) this.#tick(id)
      this.#tickLater()
    })
  }

  #later(ms: number, run: () => void): void {
    const cancel = this.#context.platform.clock.after(ms, () => {
      this.#timers.delete(cancel)
      if (!this.#isStopped) run()
    })
    this.#timers.add(cancel)
  }

  #report(error: unknown): void {
    if (!this.#isStopped) this.#context.emitter.emit('error', asClientError(error, 'STORE_FAILED'))
  }
}
