// Attacks through frames: nested and large ones, frames that wait from many accounts, call signals, and more
// frames than the rates allow.
import { befriend } from '@sotto/relay/testing/wire'
import type { RawSocket } from '../load/raw-socket.ts'
import type { Attack } from './attack.ts'
import type { Attacker } from './attacker.ts'

/** What one connection may let wait, less what one frame takes. */
const HELD_BYTES = 3.5 * 1024 * 1024
const [NESTED_BYTES, LARGE_BYTES, CALL_BYTES] = [60_000, 250_000, 3500]
const DEPTH = 250

const nested: Attack = {
  name: 'nested-frames',
  run: (attacker) => {
    const group = `${'['.repeat(DEPTH)}${']'.repeat(DEPTH)}`
    const groups = Array(Math.floor(NESTED_BYTES / group.length)).fill(group)
    return sendBytes(attacker, `{"type":"msg","x":[${groups.join(',')}]}`)
  },
}

const large: Attack = {
  name: 'large-frames',
  run: (attacker) => sendBytes(attacker, `{"type":"msg","x":"${'x'.repeat(LARGE_BYTES)}"}`),
}

/** 20 accounts that each let almost as much wait as one may: more than all may together. */
const held: Attack = {
  name: 'held-frames',
  strangers: 20,
  run: async (attacker) => {
    const { strangers } = attacker.scene
    const payload = 'A'.repeat(61_000)
    const conv_id = crypto.randomUUID()
    await attacker.paced(strangers.length, async (index) => {
      const socket = await attacker.socket(attacker.stranger(index))
      // What follows more syncs than their rate allows waits behind them.
      for (let n = 0; n < attacker.allowed('sync') + 10; n++) attacker.send(socket, '{"type":"sync"}')
      for (let bytes = 0; bytes < HELD_BYTES; bytes += payload.length) {
        const to = attacker.stranger().alias
        const frame = { type: 'msg', id: `held-${bytes}`, to, conv_id, crypto_v: 1, payload }
        attacker.send(socket, JSON.stringify(frame))
      }
    })
  },
}

/** Call signals to bystanders who are friends of the attacker. */
const calls: Attack = {
  name: 'call-signals',
  prepare: async ({ strangers: [caller], bystanders }) => {
    for (const bystander of bystanders) if (caller) await befriend(caller, bystander)
    return []
  },
  run: async (attacker) => {
    const { alias } = attacker.stranger()
    const payload = 'A'.repeat(CALL_BYTES)
    const socket = await attacker.socket(attacker.stranger())
    const bytes = attacker.allowed('callBytes') + HELD_BYTES
    await attacker.paced(Math.floor(bytes / CALL_BYTES), (index) => {
      const to = attacker.scene.bystanders[index % attacker.scene.bystanders.length]
      const frame = { type: 'call_ice', to, call_id: `call-${index}`, from: alias, crypto_v: 2, payload }
      attacker.send(socket, JSON.stringify(frame))
    })
  },
}

/** Receipts and typing far above their rate, from a connection that is opened again when it is closed. */
const frameFlood: Attack = {
  name: 'frame-flood',
  run: (attacker) => flood(attacker, { type: 'typing', to: 'nobody_here', conv_id: crypto.randomUUID() }),
}

const pingFlood: Attack = {
  name: 'ping-flood',
  run: (attacker) => flood(attacker, { type: 'ping' }),
}

export const frameAttacks = [nested, large, held, calls, frameFlood, pingFlood]

/** Sends what the rate of bytes allows, and as much more as may wait. */
async function sendBytes(attacker: Attacker, frame: string): Promise<void> {
  const socket = await attacker.socket(attacker.stranger())
  const bytes = attacker.allowed('frameBytes') + HELD_BYTES
  await attacker.paced(Math.floor(bytes / frame.length), () => attacker.send(socket, frame))
}

const FLOOD_A_SECOND = 5000

async function flood(attacker: Attacker, frame: object): Promise<void> {
  const text = JSON.stringify(frame)
  let socket: RawSocket | undefined
  let isOpening = false
  const open = async (): Promise<void> => {
    isOpening = true
    socket = await attacker.tryToOpen(attacker.stranger(), () => {
      socket = undefined
    })
    isOpening = false
  }
  await attacker.paced(FLOOD_A_SECOND * attacker.scene.seconds, async () => {
    if (socket) attacker.send(socket, text)
    else if (!isOpening) await open()
  })
}
