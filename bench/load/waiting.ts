// Stores messages on a relay for accounts that are not connected.
import { befriend, type WireAccount } from '@sotto/relay/testing/wire'
import { connect } from './pairs.ts'

/** Base64 of 300 bytes. */
export const WAITING_PAYLOAD = Buffer.alloc(300, 7).toString('base64')
const IN_FLIGHT = 200

/** Makes the two accounts friends and sends `count` messages. Resolves when the last one is acknowledged. */
export async function storeMessages(from: WireAccount, to: WireAccount, count: number): Promise<void> {
  const conv = await befriend(from, to)
  const socket = await connect(from)
  let [sent, acked] = [0, 0]
  const send = (): void => {
    if (sent === count) return
    sent += 1
    socket.send(
      `{"type":"msg","id":"${to.alias}-${sent}","to":"${to.alias}","conv_id":"${conv}","crypto_v":1,"payload":"${WAITING_PAYLOAD}"}`,
    )
  }
  await new Promise<void>((resolve) => {
    socket.onFrame = (bytes, start) => {
      if (bytes.toString('latin1', start, start + 13) !== '{"type":"ack"') return
      acked += 1
      if (acked === count) resolve()
      send()
    }
    for (let n = 0; n < IN_FLIGHT; n++) send()
  })
  socket.close()
}
