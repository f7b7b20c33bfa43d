// Small values that the application keeps in the store, with the identity.
import * as v from 'valibot'
import { checkArgument } from '../client-error.ts'
import type { Device } from '../device.ts'
import { type AnyClient, hostPart } from '../module-access.ts'
import { type HostedPart, ModulePart } from '../module-part.ts'
import { AppRecord, LIBRARY_VALUES } from '../stores/stores.ts'
import { tabMethod } from '../tab-method.ts'

const Name = v.pipe(
  v.string(),
  v.minLength(1),
  v.maxLength(256),
  v.check((name) => !name.startsWith(LIBRARY_VALUES)),
)
const Value = v.pipe(v.string(), v.maxLength(1_048_576))

async function list(device: Device, prefix: string): Promise<readonly AppRecord[]> {
  device.needEngine()
  const all = await device.platform.store.listAppData()
  const found = all.filter(({ name }) => name.startsWith(prefix) && !name.startsWith(LIBRARY_VALUES))
  return found.sort((one, other) => (one.name < other.name ? -1 : 1))
}

async function set(device: Device, name: string, value: string | undefined): Promise<void> {
  const engine = device.needEngine()
  checkArgument(Name, name, `a name has 1 to 256 characters, and does not begin with ${LIBRARY_VALUES}`)
  checkArgument(v.union([Value, v.undefined()]), value, 'a value has at most 1,048,576 characters')
  const change =
    value === undefined
      ? ({ change: 'app_data_removed', name } as const)
      : ({ change: 'app_data', record: { name, value } } as const)
  await engine.work(engine.journal.write([change]))
}

const methods = {
  list: /* @__PURE__ */ tabMethod(
    'app_data.list',
    {
      takes: /* @__PURE__ */ v.tuple([v.string()]),
      answers: /* @__PURE__ */ v.pipe(v.array(AppRecord), v.readonly()),
    },
    list,
  ),
  set: /* @__PURE__ */ tabMethod(
    'app_data.set',
    {
      takes: /* @__PURE__ */ v.tuple([v.string(), v.union([v.string(), v.undefined()])]),
      answers: /* @__PURE__ */ v.void(),
    },
    set,
  ),
}
const part = /* @__PURE__ */ new ModulePart<Device>({
  methods: [methods.list, methods.set],
  open: (device) => device,
})

/**
 * Small values that the application keeps in the client's store: `const data = new AppData(client)`. They are
 * stored as safely as messages, belong to the identity on this device, are deleted with it, and are in
 * archives. Every tab has the same ones. Begin names with what they are for, such as `post-draft/`;
 * those of the library begin with `sotto/`.
 */
export class AppData {
  readonly #part: HostedPart<Device>

  /** @throws ClientError `INVALID_ARGUMENT` for what was not opened as a client */
  constructor(client: AnyClient) {
    this.#part = hostPart(client, part)
  }

  /** The value of a name, if it has one. @throws ClientError `NO_IDENTITY`, `LOCKED`, `STORE_FAILED` */
  async get(name: string): Promise<string | undefined> {
    return (await this.list(name)).find((record) => record.name === name)?.value
  }

  /** All values whose names begin with `prefix`, sorted by name. @throws ClientError as `get` does */
  list(prefix: string): Promise<readonly AppRecord[]> {
    return this.#part.call(methods.list, [prefix])
  }

  /**
   * Stores a value of at most 1,048,576 UTF-16 units under a name of 1 to 256; `undefined` deletes it.
   * Resolves once it is stored. @throws ClientError `INVALID_ARGUMENT`, and as `get` does
   */
  set(name: string, value: string | undefined): Promise<void> {
    return this.#part.call(methods.set, [name, value])
  }
}
