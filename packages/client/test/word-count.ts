// A module with a part next to the store, as an application or this library would write one.
import * as v from 'valibot'
import type { AnyClient } from '../src/client.ts'
import type { Device } from '../src/device.ts'
import { hostPart } from '../src/module-access.ts'
import { type HostedPart, ModulePart, type Publish } from '../src/module-part.ts'
import { tabMethod } from '../src/tab-method.ts'

const Count = v.object({ contact: v.string(), words: v.number() })
type Count = v.InferOutput<typeof Count>

const counted = { name: 'words.counted', schema: Count }

/** Counts the words of stored messages. */
class WordStore {
  readonly #device: Device
  readonly #publish: Publish
  #calls = 0

  constructor(device: Device, publish: Publish) {
    this.#device = device
    this.#publish = publish
  }

  async count(contact: string): Promise<Count> {
    const { sessions } = this.#device.needEngine()
    const { conversationId } = sessions.get(contact)
    const messages = await this.#device.platform.store.listMessages(conversationId)
    const count = { contact, words: messages.flatMap(({ text }) => text.split(' ')).length }
    this.#calls += 1
    this.#publish(counted, count)
    return count
  }

  /** How often this part has counted. Different in each tab that has run the client. */
  calls(): number {
    return this.#calls
  }

  async finish(): Promise<void> {
    // The store is still open.
    await this.#device.platform.store.listOutbox()
    closedParts.push(this.#calls)
  }
}

/** The calls of each part that was closed. */
export const closedParts: number[] = []

const count = tabMethod(
  'words.count',
  { takes: v.tuple([v.string()]), answers: Count },
  (store: WordStore, contact) => store.count(contact),
)
const calls = tabMethod('words.calls', { takes: v.tuple([]), answers: v.number() }, (store: WordStore) =>
  store.calls(),
)
const part = new ModulePart({
  methods: [count, calls],
  open: (device, publish) => new WordStore(device, publish),
  close: (store: WordStore) => store.finish(),
})

/** Counts words: `new WordCount(client)`. */
export class WordCount {
  readonly #part: HostedPart<WordStore>

  constructor(client: AnyClient) {
    this.#part = hostPart(client, part)
  }

  count(contact: string): Promise<Count> {
    return this.#part.call(count, [contact])
  }

  calls(): Promise<number> {
    return this.#part.call(calls, [])
  }

  onCounted(handler: (count: Count) => void): () => void {
    return this.#part.on(counted, handler)
  }
}
