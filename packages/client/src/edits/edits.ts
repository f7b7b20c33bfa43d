// Edits messages of this account.
import { MessageId } from '@sotto/protocol'
import * as v from 'valibot'
import { checkArgument } from '../client-error.ts'
import type { Device } from '../device.ts'
import { needForward } from '../forward-secrecy/need-forward.ts'
import { type AnyClient, hostPart } from '../module-access.ts'
import { type HostedPart, ModulePart } from '../module-part.ts'
import { StoredMessage } from '../stores/stores.ts'
import { tabMethod } from '../tab-method.ts'

const edit = /* @__PURE__ */ tabMethod(
  'edits.edit',
  {
    takes: /* @__PURE__ */ v.tuple([/* @__PURE__ */ v.string(), MessageId, /* @__PURE__ */ v.string()]),
    answers: StoredMessage,
  },
  async (device: Device, contact, messageId, text): Promise<StoredMessage> =>
    (await needForward(device.needEngine())).changes.edit(contact, messageId, text),
)
const part = /* @__PURE__ */ new ModulePart<Device>({ methods: [edit], open: (device) => device })

/**
 * Edits messages of this account: `const edits = new Edits(client)`. A text with forward secrecy can be
 * edited for a day (`isEditable`). The contact sees the latest text and that it was edited; the earlier one
 * is not kept. The event `edited` tells both.
 */
export class Edits {
  readonly #part: HostedPart<Device>

  /** @throws ClientError `INVALID_ARGUMENT` for what was not opened as a client */
  constructor(client: AnyClient) {
    this.#part = hostPart(client, part)
  }

  /**
   * Gives a sent message another text. Resolves once that is stored; needs no connection. If the relay
   * refuses the edit later, the event `error` has `REFUSED` with the relay's code, and the contact keeps the
   * earlier text. `contact` is an alias or the id of the conversation.
   * @returns the message as it is now
   * @throws ClientError `UNKNOWN_CONTACT`, `UNKNOWN_MESSAGE`, `KEY_CHANGED`, `MESSAGE_TOO_LARGE`,
   *   `STORE_FAILED`, and `INVALID_ARGUMENT` if it cannot be edited
   */
  async edit(contact: string, messageId: string, text: string): Promise<StoredMessage> {
    return this.#part.call(edit, [contact, checkArgument(MessageId, messageId, 'invalid message id'), text])
  }
}
