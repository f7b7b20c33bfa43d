// Two accounts with one device each at a simulated relay, for stories that are told step by step.
import { Device } from './device.ts'
import { type AccountName, SimulatedRelay } from './simulated-relay.ts'
import { type Account, newStore } from './store.ts'
import type { Surrounding } from './surrounding.ts'
import { Watch } from './watch.ts'

/** What the stories use. */
export interface Pair {
  readonly relay: SimulatedRelay
  readonly watch: Watch
  readonly a: Device
  readonly b: Device
  /** Another device of an account, with a new store. */
  addDevice(account: AccountName): Promise<Device>
  /** Carries frames until these devices have nothing to send or handle. */
  settle(...devices: readonly Device[]): Promise<void>
  /** Lets time pass, and tells the devices. */
  pass(ms: number, ...devices: readonly Device[]): Promise<void>
  /** What is handed to the steps of an account's devices. */
  around(account: AccountName): Surrounding
}

/** More rounds than any story takes. */
const MOST_ROUNDS = 2000

/** Two devices, not connected yet. */
export async function openPair([first, second]: readonly [Account, Account]): Promise<Pair> {
  const [relay, watch] = [new SimulatedRelay(), new Watch()]
  let now = Date.UTC(2026, 0, 1)
  let devices = 0
  const shared = {
    ...{ relay, watch, now: () => now },
    random: (length: number) => crypto.getRandomValues(new Uint8Array(length)),
  }
  const surroundings = {
    a: { ...shared, own: first, peer: second },
    b: { ...shared, own: second, peer: first },
  }
  const addDevice = async (account: AccountName): Promise<Device> => {
    devices += 1
    const around = surroundings[account]
    return new Device(`${account}${devices}`, await newStore(around), around)
  }
  const settle = async (...of: readonly Device[]): Promise<void> => {
    for (let round = 0; round < MOST_ROUNDS; round++) {
      let isQuiet = true
      for (const device of of) {
        await device.pump()
        const { line } = device
        if (!line) continue
        if (line.isBusy) isQuiet = false
        while (line.up.length + line.mail.length > 0) relay.serve(line)
        await device.handle()
      }
      if (isQuiet) return
    }
    throw new Error('the devices do not come to rest')
  }
  return {
    ...{ relay, watch, a: await addDevice('a'), b: await addDevice('b'), addDevice, settle },
    around: (account) => surroundings[account],
    async pass(ms, ...of) {
      now += ms
      for (const device of of) {
        await device.give({ type: 'tick' })
        await device.pump()
      }
      await settle(...of)
    },
  }
}
