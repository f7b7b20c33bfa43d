// Mosquitto as a peer: MQTT 3.1.1 with QoS 1. The recipients have persistent sessions.
import { digitsAt, type Lane, NO_LISTENER, NUMBER_DIGITS, type Peer, payloadOf } from './peer.ts'
import { startPeer } from './server.ts'
import { Wire } from './wire.ts'

const [CONNACK, PUBLISH, PUBACK, SUBACK] = [0x20, 0x30, 0x40, 0x90]
const [CONNECT, PUBLISH_QOS1, SUBSCRIBE] = [0x10, 0x32, 0x82]
const PACKET_IDS = 65_535

/** Once with the persistence of Debian's configuration, and once set to save after each change. */
export const mosquitto: readonly Peer[] = [
  {
    name: 'Mosquitto, QoS 1',
    promise: 'in memory; to disk every 30 minutes',
    ...mosquittoWith([]),
  },
  {
    name: 'Mosquitto, QoS 1, saving each change',
    promise: 'in memory; to disk soon after, not before',
    ...mosquittoWith(['autosave_on_changes true', 'autosave_interval 1']),
  },
]

function mosquittoWith(lines: readonly string[]): Omit<Peer, 'name' | 'promise'> {
  return {
    missing: 'the sender is not told of delivery',
    packages: ['mosquitto'],
    start: async () => {
      const server = await startPeer({
        user: 'mosquitto',
        files: ({ folder, port }) => ({
          // No limit for the queue, because a full queue loses messages that were acknowledged.
          'mosquitto.conf': [
            `listener ${port} 127.0.0.1`,
            'allow_anonymous true',
            'persistence true',
            `persistence_location ${folder}/`,
            'max_queued_messages 0',
            'log_type error',
            'log_dest stderr',
            ...lines,
            '',
          ].join('\n'),
        }),
        command: ({ folder }) => ['mosquitto', '-c', `${folder}/mosquitto.conf`],
      })
      return {
        pid: server.pid,
        openLanes: (count, payloadBytes) =>
          Promise.all(
            Array.from({ length: count }, (_, index) => openLane(server.port, index, payloadBytes)),
          ),
        stop: server.stop,
      }
    },
  }
}

async function openLane(port: number, index: number, payloadBytes: number): Promise<Lane> {
  const topic = `inbox/${index}`
  const payload = payloadOf(payloadBytes).slice(NUMBER_DIGITS)
  const numbers = new Uint32Array(PACKET_IDS + 1)
  const from = await connect(port, `s${index}`, true, (bytes, at) => {
    if (bytes[at] === PUBACK) lane.listener.acked(numbers[bytes.readUInt16BE(at + 2)] ?? 0)
  })
  const to = await connect(port, `r${index}`, false, (bytes, at, body) => {
    if (((bytes[at] ?? 0) & 0xf0) !== PUBLISH) return
    const idAt = body + 2 + bytes.readUInt16BE(body)
    to.send(Buffer.from([PUBACK, 2, bytes[idAt] ?? 0, bytes[idAt + 1] ?? 0]))
    lane.listener.arrived(digitsAt(bytes, idAt + 2))
  })
  await to.request(packet(SUBSCRIBE, [Buffer.from([0, 1]), text(topic), Buffer.from([1])]), SUBACK)
  const head = text(topic)
  const lane: Lane = {
    listener: NO_LISTENER,
    send: (number) => {
      const id = (number % PACKET_IDS) + 1
      numbers[id] = number
      const body = Buffer.from(String(number).padStart(NUMBER_DIGITS, '0') + payload)
      from.send(packet(PUBLISH_QOS1, [head, Buffer.from([id >> 8, id & 0xff]), body]))
    },
    close: () => {
      from.close()
      to.close()
    },
  }
  return lane
}

interface Client {
  send(packet: Buffer): void
  /** Sends a packet and waits for a packet of the kind `answer`. */
  request(packet: Buffer, answer: number): Promise<void>
  close(): void
}

async function connect(
  port: number,
  name: string,
  isClean: boolean,
  onPacket: (bytes: Buffer, at: number, body: number) => void,
): Promise<Client> {
  let awaited: { kind: number; resolve: () => void } | undefined
  const wire = await Wire.open(port, (bytes, at) => {
    let length = 0
    let body = at + 1
    for (let shift = 0; ; shift += 7) {
      const byte = bytes[body++]
      if (byte === undefined) return at
      length |= (byte & 0x7f) << shift
      if (byte < 0x80) break
    }
    if (bytes.length < body + length) return at
    if (awaited && bytes[at] === awaited.kind) awaited.resolve()
    else onPacket(bytes, at, body)
    return body + length
  })
  const client: Client = {
    send: (bytes) => wire.send(bytes),
    request: async (bytes, kind) => {
      await new Promise<void>((resolve, reject) => {
        awaited = { kind, resolve }
        wire.onClose = () => reject(new Error('Mosquitto closed the connection'))
        wire.send(bytes)
      })
      awaited = undefined
      wire.onClose = () => undefined
    },
    close: () => wire.close(),
  }
  const flags = isClean ? 2 : 0
  await client.request(
    // Version 4 is 3.1.1; no keep-alive.
    packet(CONNECT, [text('MQTT'), Buffer.from([4, flags, 0, 0]), text(name)]),
    CONNACK,
  )
  return client
}

function packet(kind: number, parts: readonly Buffer[]): Buffer {
  const head = [kind]
  let rest = parts.reduce((sum, part) => sum + part.length, 0)
  for (; rest > 127; rest >>= 7) head.push((rest & 0x7f) | 0x80)
  return Buffer.concat([Buffer.from([...head, rest]), ...parts])
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value)
  return Buffer.concat([Buffer.from([bytes.length >> 8, bytes.length & 0xff]), bytes])
}
