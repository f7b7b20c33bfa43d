// Finds the messages that others reply to, which may be far above them.
import * as v from 'valibot'
import type { Device } from '../device.ts'
import { type AnyClient, hostPart } from '../module-access.ts'
import { type HostedPart, ModulePart } from '../module-part.ts'
import { StoredMessage } from '../stores/stores.ts'
import { tabMethod } from '../tab-method.ts'

const Reply = v.object({
  conversationId: v.string(),
  isMe: v.boolean(),
  replyToId: v.string(),
})

/** What says to which message another one replies. A `StoredMessage` does. */
export interface ReplyName {
  readonly conversationId: string
  readonly isMe: boolean
  readonly replyToId?: string
}

const originalOf = /* @__PURE__ */ tabMethod(
  'replies.originalOf',
  {
    takes: /* @__PURE__ */ v.tuple([Reply]),
    answers: /* @__PURE__ */ v.union([StoredMessage, v.undefined()]),
  },
  async (device: Device, { conversationId, isMe, replyToId }): Promise<StoredMessage | undefined> => {
    device.needEngine()
    const { store } = device.platform
    // An id is unique only among the messages of one side.
    for (const side of [!isMe, isMe]) {
      const message = await store.findMessage(conversationId, side, replyToId)
      if (message && !message.removed) return message
    }
    return undefined
  },
)
const part = /* @__PURE__ */ new ModulePart<Device>({ methods: [originalOf], open: (device) => device })

/**
 * The messages that others reply to: `const replies = new Replies(client)`. A message names the one that it
 * replies to by `replyToId`, and that one may be on no page of `messages` that the application has read.
 */
export class Replies {
  readonly #part: HostedPart<Device>

  /** @throws ClientError `INVALID_ARGUMENT` for what was not opened as a client */
  constructor(client: AnyClient) {
    this.#part = hostPart(client, part)
  }

  /**
   * The message that this one replies to, or that a draft will reply to. Undefined if it replies to none, or
   * if that one is not on this device or was deleted here. Both sides choose their ids: if both have one with
   * this id, it is the other side's. @throws ClientError `NO_IDENTITY`, `LOCKED`, `CLOSED`, `STORE_FAILED`
   */
  async originalOf({ conversationId, isMe, replyToId }: ReplyName): Promise<StoredMessage | undefined> {
    return replyToId === undefined
      ? undefined
      : this.#part.call(originalOf, [{ conversationId, isMe, replyToId }])
  }
}
