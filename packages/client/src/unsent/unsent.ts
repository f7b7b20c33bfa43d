// What the user decides about messages that were not sent: to send them again, or to drop them.
import { MessageId } from '@sotto/protocol'
import * as v from 'valibot'
import { ClientError, checkArgument } from '../client-error.ts'
import type { Device } from '../device.ts'
import { contentOf } from '../messages/messages.ts'
import { type AnyClient, hostPart } from '../module-access.ts'
import { type HostedPart, ModulePart } from '../module-part.ts'
import { SerialQueue } from '../platform/platform.ts'
import { StoredMessage } from '../stores/stores.ts'
import { tabMethod } from '../tab-method.ts'

const MAX_ID_CHARACTERS = 128

/** Works next to the store. */
class UnsentPart {
  readonly #device: Device
  /** One at a time: two calls for one message must not send it twice. */
  readonly #queue = new SerialQueue()

  constructor(device: Device) {
    this.#device = device
  }

  resend(contact: string, messageId: StoredMessage['id']): Promise<StoredMessage> {
    return this.#queue.run(async () => {
      const { sessions, messages } = this.#device.needEngine()
      const { store } = this.#device.platform
      const { conversationId } = sessions.get(contact)
      const failed = await store.findMessage(conversationId, true, messageId)
      const id = nextIdOf(messageId)
      // An earlier call may have sent it and ended before it deleted the failed one, or answered.
      const resent = await store.findMessage(conversationId, true, id)
      if (!failed || (failed.removed && !resent))
        throw new ClientError('UNKNOWN_MESSAGE', 'there is no such message')
      if (failed.removed && resent) return resent
      const content = failed.status === 'failed' ? contentOf(failed) : undefined
      if (!content) throw new ClientError('INVALID_ARGUMENT', 'only a failed message is sent again')
      const { replyToId } = failed
      const options = { id, ...(replyToId === undefined ? {} : { replyToId }) }
      const message = await messages.posting.post(contact, content, options)
      // The application can have chosen this id for another message.
      if (message.removed || message.text !== failed.text)
        throw new ClientError('INVALID_ARGUMENT', 'the id for sending it again is taken')
      await this.#remove(failed)
      return message
    })
  }

  drop(contact: string, messageId: StoredMessage['id']): Promise<void> {
    return this.#queue.run(async () => {
      const { sessions, messages } = this.#device.needEngine()
      const session = sessions.get(contact)
      const message = await this.#device.platform.store.findMessage(session.conversationId, true, messageId)
      if (!message || message.removed) return
      if (message.status !== 'failed' && message.status !== 'sending')
        throw new ClientError('INVALID_ARGUMENT', 'the relay has accepted this message')
      // The relay may have it although it has not acknowledged it.
      if (message.status === 'sending') await messages.retractions.retract(session, messageId)
      await this.#remove(message)
    })
  }

  async #remove({ conversationId, id }: StoredMessage): Promise<void> {
    const { journal } = this.#device.needEngine()
    await journal.write([{ change: 'message_removed', conversationId, isMe: true, id }])
  }
}

/**
 * The id under which a message is sent again. It follows from the id, so that a repeated call sends nothing
 * twice.
 */
function nextIdOf(id: string): StoredMessage['id'] {
  const [, name = id, count = '0'] = /^(.*)~(\d+)$/.exec(id) ?? []
  const suffix = `~${Number(count) + 1}`
  return v.parse(MessageId, name.slice(0, MAX_ID_CHARACTERS - suffix.length) + suffix)
}

const Takes = v.tuple([v.string(), MessageId])
const methods = {
  resend: tabMethod(
    'unsent.resend',
    { takes: Takes, answers: StoredMessage },
    (part: UnsentPart, contact, id) => part.resend(contact, id),
  ),
  drop: tabMethod('unsent.drop', { takes: Takes, answers: v.void() }, (part: UnsentPart, contact, id) =>
    part.drop(contact, id),
  ),
}
const part = new ModulePart<UnsentPart>({
  methods: Object.values(methods),
  open: (device) => new UnsentPart(device),
})

/**
 * The messages of this account that were not sent: `const unsent = new UnsentMessages(client)`. A message
 * that the relay refused for good is `failed`, with the relay's code as its `failure`, and stays until the
 * user sends it again or drops it.
 *
 * A contact is named by its alias or by the id of the conversation with it.
 */
export class UnsentMessages {
  readonly #part: HostedPart<UnsentPart>

  /** @throws ClientError `INVALID_ARGUMENT` for what was not opened as a client */
  constructor(client: AnyClient) {
    this.#part = hostPart(client, part)
  }

  /**
   * Sends a failed message again: as a new message at the end of the conversation, which is returned. The
   * failed one is deleted on this device. A second call for the same message returns the same new one.
   * @throws ClientError `UNKNOWN_MESSAGE`, `INVALID_ARGUMENT` if the message has not failed, and as
   *   `SottoClient.send` does
   */
  async resend(contact: string, messageId: string): Promise<StoredMessage> {
    return this.#part.call(methods.resend, [contact, checkId(messageId)])
  }

  /**
   * Deletes a `failed` message on this device, or a `sending` one, which is then not sent. If the relay has
   * that one already, it is retracted. If the message is not there, nothing happens.
   * @throws ClientError `INVALID_ARGUMENT` if the relay has acknowledged the message: see
   *   `SottoClient.retract`; `UNKNOWN_CONTACT`, `STORE_FAILED`
   */
  async drop(contact: string, messageId: string): Promise<void> {
    return this.#part.call(methods.drop, [contact, checkId(messageId)])
  }
}

function checkId(messageId: string): StoredMessage['id'] {
  return checkArgument(MessageId, messageId, 'invalid message id')
}
