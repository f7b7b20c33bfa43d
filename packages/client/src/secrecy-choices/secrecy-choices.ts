// What only the user can decide about the forward secrecy of a conversation.
import * as v from 'valibot'
import type { Device } from '../device.ts'
import { needForward } from '../forward-secrecy/need-forward.ts'
import type { SecrecyStop, SecrecyWord } from '../messages/messages.ts'
import { type AnyClient, hostPart } from '../module-access.ts'
import { type HostedPart, ModulePart } from '../module-part.ts'
import { tabMethod } from '../tab-method.ts'

const Contact = /* @__PURE__ */ v.tuple([/* @__PURE__ */ v.string()])
const Stop = /* @__PURE__ */ v.picklist(['displaced', 'own_rejoins', 'peer_rejoins'])

const stopOf = /* @__PURE__ */ tabMethod(
  'secrecy.stopOf',
  { takes: Contact, answers: /* @__PURE__ */ v.union([Stop, v.undefined()]) },
  async (device: Device, contact): Promise<SecrecyStop | undefined> => {
    const engine = device.needEngine()
    const { conversationId } = engine.sessions.get(contact)
    return (await needForward(engine)).stopOf(conversationId)
  },
)
const useThisDevice = /* @__PURE__ */ tabMethod(
  'secrecy.useThisDevice',
  { takes: Contact, answers: /* @__PURE__ */ v.void() },
  (device: Device, contact): Promise<void> => decide(device, contact, 'use_this_device'),
)
const allowRejoins = /* @__PURE__ */ tabMethod(
  'secrecy.allowRejoins',
  { takes: Contact, answers: /* @__PURE__ */ v.void() },
  (device: Device, contact): Promise<void> => decide(device, contact, 'allow_rejoins'),
)
const allowOlderVersion = /* @__PURE__ */ tabMethod(
  'secrecy.allowOlderVersion',
  { takes: Contact, answers: /* @__PURE__ */ v.void() },
  (device: Device, contact): Promise<void> => decide(device, contact, 'allow_older_version'),
)
const part = /* @__PURE__ */ new ModulePart<Device>({
  methods: [stopOf, useThisDevice, allowRejoins, allowOlderVersion],
  open: (device) => device,
})

async function decide(device: Device, contact: string, word: SecrecyWord): Promise<void> {
  const engine = device.needEngine()
  const { conversationId } = engine.sessions.get(contact)
  await (await needForward(engine)).decide(conversationId, word)
}

/**
 * The user's decisions about forward secrecy: `const choices = new SecrecyChoices(client)`. The event
 * `secrecy` says when one is needed. Contacts are given by alias or by the id of the conversation.
 *
 * Every method throws `UNKNOWN_CONTACT`, `NO_IDENTITY`, `LOCKED`, `CLOSED`, `STORE_FAILED`, `LATER_VERSION`,
 * and `INVALID_ARGUMENT` without the option `forwardSecrecy`.
 */
export class SecrecyChoices {
  readonly #part: HostedPart<Device>

  /** @throws ClientError `INVALID_ARGUMENT` for what was not opened as a client */
  constructor(client: AnyClient) {
    this.#part = hostPart(client, part)
  }

  /** What holds up a conversation now; undefined if nothing does. */
  async stopOf(contact: string): Promise<SecrecyStop | undefined> {
    return this.#part.call(stopOf, [contact])
  }

  /** This device takes a conversation back from another one of this account, or joins it once more. */
  async useThisDevice(contact: string): Promise<void> {
    return this.#part.call(useThisDevice, [contact])
  }

  /** The contact may go on joining again. */
  async allowRejoins(contact: string): Promise<void> {
    return this.#part.call(allowRejoins, [contact])
  }

  /**
   * Messages to the contact, and calls, may go without forward secrecy again: for a contact whose present app
   * lacks it. Texts that the contact has not got, on this device and at the relay, leave at once; files with
   * keys of their own wait on. The permission ends by itself when the contact is seen to have forward
   * secrecy.
   *
   * Show it as loudly as changed keys. A relay can make a contact seem to have an older app, and who has the
   * one key of the conversation then reads the messages.
   */
  async allowOlderVersion(contact: string): Promise<void> {
    return this.#part.call(allowOlderVersion, [contact])
  }
}
