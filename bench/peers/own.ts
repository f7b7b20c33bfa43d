// Sotto's relay and the floor as peers, measured by the same driver as the others.
import { closePairs, floorPairs, type Pair, relayPairs } from '../load/pairs.ts'
import { type MeasuredServer, startFloor, startMeasuredRelay } from '../server-process.ts'
import { digitsAt, type Lane, NO_LISTENER, NUMBER_DIGITS, type Peer, payloadOf } from './peer.ts'

const TYPE_AT = '{"type":"'.length
const ACK = 'a'.charCodeAt(0)
const MSG = 'm'.charCodeAt(0)
const ID_IN_ACK = '{"type":"ack","id":"'.length
const ID_IN_MSG = '{"type":"msg","id":"'.length
const SEQ = Buffer.from('"seq":')

/** The floor of `relay`: the same runtime forwards messages and stores nothing. */
export const floor: Peer = {
  name: 'floor: this runtime, forwarding',
  promise: 'nothing; it is not stored',
  missing: 'storing',
  packages: [],
  start: () => ownPeer(startFloor(), floorPairs, true),
}

export const sotto: readonly Peer[] = [
  {
    name: 'Sotto',
    promise: 'on disk',
    missing: 'nothing',
    packages: [],
    start: () => ownPeer(startMeasuredRelay(), relayPairs, true),
  },
  {
    name: 'Sotto, recipients not confirming',
    promise: 'on disk',
    missing: "the recipient's confirmation",
    packages: [],
    start: () => ownPeer(startMeasuredRelay(), relayPairs, false),
  },
]

async function ownPeer(
  starting: Promise<MeasuredServer>,
  makePairs: (url: string, count: number) => Promise<Pair[]>,
  receipts: boolean,
) {
  const server = await starting
  return {
    pid: server.pid,
    openLanes: async (count: number, payloadBytes: number): Promise<Lane[]> => {
      const payload = payloadOf(payloadBytes)
      return (await makePairs(server.url, count)).map((pair) => laneOf(pair, payload, receipts))
    },
    stop: () => server.stop(),
  }
}

function laneOf(pair: Pair, payload: string, receipts: boolean): Lane {
  const { from, to, fromAlias, toAlias, conv } = pair
  const prefix = crypto.randomUUID().slice(0, 8)
  const lane: Lane = {
    listener: NO_LISTENER,
    send: (number) => {
      const id = prefix + String(number).padStart(NUMBER_DIGITS, '0')
      from.send(
        `{"type":"msg","id":"${id}","to":"${toAlias}","conv_id":"${conv}","crypto_v":1,"payload":"${payload}"}`,
      )
    },
    close: () => closePairs([pair]),
  }
  from.onFrame = (bytes, start) => {
    if (bytes[start + TYPE_AT] !== ACK) return
    lane.listener.acked(digitsAt(bytes, start + ID_IN_ACK + prefix.length))
  }
  to.onFrame = (bytes, start, end) => {
    if (bytes[start + TYPE_AT] !== MSG) return
    if (receipts) {
      const seq = digitsAt(bytes, bytes.lastIndexOf(SEQ, end) + SEQ.length)
      to.send(`{"type":"delivered","conv_id":"${conv}","seq":${seq},"to":"${fromAlias}"}`)
    }
    lane.listener.arrived(digitsAt(bytes, start + ID_IN_MSG + prefix.length))
  }
  return lane
}
