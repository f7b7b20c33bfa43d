// Reactions of this account to messages.
import { MessageId } from '@sotto/protocol'
import * as v from 'valibot'
import { checkArgument } from '../client-error.ts'
import type { Device } from '../device.ts'
import { needForward } from '../forward-secrecy/need-forward.ts'
import { type AnyClient, hostPart } from '../module-access.ts'
import { type HostedPart, ModulePart } from '../module-part.ts'
import { StoredMessage } from '../stores/stores.ts'
import { tabMethod } from '../tab-method.ts'

const Target = /* @__PURE__ */ v.object({
  conversationId: /* @__PURE__ */ v.string(),
  isMe: /* @__PURE__ */ v.boolean(),
  id: MessageId,
})

/** Which message. A `StoredMessage` says it. */
export interface ReactionTarget {
  readonly conversationId: string
  readonly isMe: boolean
  readonly id: string
}

const react = /* @__PURE__ */ tabMethod(
  'reactions.react',
  {
    takes: /* @__PURE__ */ v.tuple([
      Target,
      /* @__PURE__ */ v.union([/* @__PURE__ */ v.string(), /* @__PURE__ */ v.undefined()]),
    ]),
    answers: StoredMessage,
  },
  async (device: Device, { conversationId, ...name }, emoji): Promise<StoredMessage> =>
    (await needForward(device.needEngine())).changes.react(conversationId, name, emoji),
)
const part = /* @__PURE__ */ new ModulePart<Device>({ methods: [react], open: (device) => device })

/**
 * Reactions to messages of both sides: `const reactions = new Reactions(client)`. Each account has at most
 * one for a message: a new one takes the place of the one before. `reactions` of a message has them; one
 * without a `text` was taken back. The event `reacted` tells both sides. The conversation must have forward
 * secrecy.
 *
 * Both methods resolve once the change is stored, need no connection, and return the message as it is now.
 * They throw `UNKNOWN_CONTACT`, `UNKNOWN_MESSAGE`, `KEY_CHANGED`, `STORE_FAILED`, and `INVALID_ARGUMENT` if
 * this message can have no such reaction.
 */
export class Reactions {
  readonly #part: HostedPart<Device>

  /** @throws ClientError `INVALID_ARGUMENT` for what was not opened as a client */
  constructor(client: AnyClient) {
    this.#part = hostPart(client, part)
  }

  /** Reacts with one emoji, of at most 64 bytes. */
  async react(message: ReactionTarget, emoji: string): Promise<StoredMessage> {
    return this.#part.call(react, [checkTarget(message), emoji])
  }

  /** Takes the reaction back, if there is one. */
  async takeBack(message: ReactionTarget): Promise<StoredMessage> {
    return this.#part.call(react, [checkTarget(message), undefined])
  }
}

function checkTarget({ conversationId, isMe, id }: ReactionTarget): v.InferOutput<typeof Target> {
  return checkArgument(Target, { conversationId, isMe, id }, 'this does not name a message')
}
