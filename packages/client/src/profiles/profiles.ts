// What this account and its contacts call themselves among each other, without the relay.
import * as v from 'valibot'
import type { Device } from '../device.ts'
import { needForward } from '../forward-secrecy/need-forward.ts'
import { ContactProfile, namesOfContacts, readProfiles } from '../forward-secrecy/profile-records.ts'
import { type AnyClient, hostPart } from '../module-access.ts'
import { type HostedPart, ModulePart } from '../module-part.ts'
import { tabMethod } from '../tab-method.ts'

const MaybeName = /* @__PURE__ */ v.union([/* @__PURE__ */ v.string(), /* @__PURE__ */ v.undefined()])

const setName = /* @__PURE__ */ tabMethod(
  'profiles.setName',
  { takes: /* @__PURE__ */ v.tuple([MaybeName]), answers: /* @__PURE__ */ v.void() },
  async (device: Device, name): Promise<void> =>
    (await needForward(device.needEngine())).profiles.setName(name),
)
const ownName = /* @__PURE__ */ tabMethod(
  'profiles.ownName',
  { takes: /* @__PURE__ */ v.tuple([]), answers: MaybeName },
  async (device: Device): Promise<string | undefined> => {
    device.needEngine()
    return (await readProfiles(device.platform.store)).own?.name || undefined
  },
)
const list = /* @__PURE__ */ tabMethod(
  'profiles.list',
  {
    takes: /* @__PURE__ */ v.tuple([]),
    answers: /* @__PURE__ */ v.pipe(/* @__PURE__ */ v.array(ContactProfile), /* @__PURE__ */ v.readonly()),
  },
  async (device: Device): Promise<readonly ContactProfile[]> => {
    const { sessions } = device.needEngine()
    return namesOfContacts(await readProfiles(device.platform.store), sessions.list())
  },
)
const part = /* @__PURE__ */ new ModulePart<Device>({
  methods: [setName, ownName, list],
  open: (device) => device,
})

/**
 * A name that only contacts see: `const profiles = new Profiles(client)`. It travels inside the encryption,
 * only with forward secrecy, to friends, just before the next message to each. So the relay neither reads nor
 * changes it. The nickname stays what the relay shows to everybody.
 *
 * A contact chooses its name freely: show its alias with it, and never as a sign of who it is. The event
 * `changes` says that a conversation has changed when one of these names has.
 */
export class Profiles {
  readonly #part: HostedPart<Device>

  /** @throws ClientError `INVALID_ARGUMENT` for what was not opened as a client */
  constructor(client: AnyClient) {
    this.#part = hostPart(client, part)
  }

  /**
   * Says what contacts shall call this account: one line of 1 to 64 characters, from which control,
   * bidirectional and invisible characters are taken out. Without a name it is taken back. Resolves once that
   * is stored; needs no connection.
   * @throws ClientError `INVALID_ARGUMENT` for what is no name or without the option `forwardSecrecy`,
   *   `NETWORK`, `NO_IDENTITY`, `LOCKED`, `STORE_FAILED`
   */
  async setName(name: string | undefined): Promise<void> {
    return this.#part.call(setName, [name])
  }

  /**
   * What contacts are told to call this account.
   * @throws ClientError `NO_IDENTITY`, `LOCKED`, `STORE_FAILED`
   */
  async ownName(): Promise<string | undefined> {
    return this.#part.call(ownName, [])
  }

  /** What contacts call themselves, of those who say it. @throws ClientError as `ownName` does */
  async list(): Promise<readonly ContactProfile[]> {
    return this.#part.call(list, [])
  }
}

export type { ContactProfile }
