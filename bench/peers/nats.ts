// NATS JetStream as a peer: a work queue in files. Each recipient has a durable push consumer with explicit
// acknowledgements.
import { digitsAt, type Lane, NO_LISTENER, NUMBER_DIGITS, type Peer, payloadOf } from './peer.ts'
import { type PeerProcess, startPeer } from './server.ts'
import { Wire } from './wire.ts'

const STREAM = 'INBOX'
const ACK = '+ACK'

/** Once with one stream for all recipients, and once with a stream for each recipient, like a mailbox. */
export const nats: readonly Peer[] = [
  natsWith('NATS JetStream, one stream', () => STREAM),
  natsWith('NATS JetStream, a stream each', (index) => `${STREAM}${index}`),
]

function natsWith(name: string, streamOf: (index: number) => string): Peer {
  return {
    name,
    promise: 'written to the file; flushed every 2 minutes',
    missing: 'the sender is not told of delivery',
    packages: ['nats-server'],
    start: async () => {
      const server = await startPeer({
        user: 'nats',
        files: ({ folder, port }) => ({
          'nats.conf': `listen: "127.0.0.1:${port}"\njetstream { store_dir: "${folder}/store" }\n`,
        }),
        command: ({ folder }) => ['nats-server', '-c', `${folder}/nats.conf`],
      })
      return {
        pid: server.pid,
        openLanes: (count, payloadBytes) => openLanes(server, streamOf, count, payloadBytes),
        stop: server.stop,
      }
    },
  }
}

async function openLanes(
  { port }: PeerProcess,
  streamOf: (index: number) => string,
  count: number,
  payloadBytes: number,
): Promise<Lane[]> {
  const admin = await connectAdmin(port)
  const subjects = new Map<string, string[]>()
  for (let index = 0; index < count; index++) {
    const stream = streamOf(index)
    subjects.set(stream, [...(subjects.get(stream) ?? []), inbox(index)])
  }
  for (const [name, of] of subjects) {
    const config = { name, subjects: of, storage: 'file', retention: 'workqueue', num_replicas: 1 }
    await admin.request(`$JS.API.STREAM.CREATE.${name}`, config)
  }
  const lanes: Lane[] = []
  for (let index = 0; index < count; index++) {
    const lane = await openLane(port, index, payloadBytes)
    lanes.push(lane)
    await admin.request(`$JS.API.CONSUMER.DURABLE.CREATE.${streamOf(index)}.c${index}`, {
      stream_name: streamOf(index),
      config: {
        durable_name: `c${index}`,
        deliver_subject: `deliver.${index}`,
        filter_subject: inbox(index),
        ack_policy: 'explicit',
        deliver_policy: 'all',
      },
    })
  }
  admin.close()
  return lanes
}

function inbox(index: number): string {
  return `inbox.${index}`
}

async function openLane(port: number, index: number, payloadBytes: number): Promise<Lane> {
  const payload = payloadOf(payloadBytes).slice(NUMBER_DIGITS)
  const tail = ` ${NUMBER_DIGITS + payload.length}\r\n`
  const answers = `answer.${index}.`
  const answerAt = 'MSG '.length + answers.length
  const from = await connect(port, (bytes, at, body) => {
    // The e of {"error". The message gets no acknowledgement and counts as lost.
    if (bytes[body + 2] === 0x65) return
    lane.listener.acked(digitsAt(bytes, at + answerAt))
  })
  const to = await connect(port, (bytes, at, body) => {
    const head = bytes.toString('latin1', at, body)
    // MSG <subject> <subscription> <where to acknowledge> <length>
    const end = head.lastIndexOf(' ')
    to.send(`PUB ${head.slice(head.lastIndexOf(' ', end - 1) + 1, end)} ${ACK.length}\r\n${ACK}\r\n`)
    lane.listener.arrived(digitsAt(bytes, body))
  })
  from.send(`SUB ${answers}* 1\r\n`)
  to.send(`SUB deliver.${index} 1\r\n`)
  await Promise.all([from.ready(), to.ready()])
  const subject = inbox(index)
  const lane: Lane = {
    listener: NO_LISTENER,
    send: (number) => {
      const digits = String(number).padStart(NUMBER_DIGITS, '0')
      from.send(`PUB ${subject} ${answers}${number}${tail}${digits}${payload}\r\n`)
    },
    close: () => {
      from.close()
      to.close()
    },
  }
  return lane
}

interface Client {
  send(text: string): void
  /** Resolves when the server has read everything that was sent before. */
  ready(): Promise<void>
  close(): void
}

/** Receives a message: its head begins at `at`, its payload is from `body` to `end`. */
type MessageListener = (bytes: Buffer, at: number, body: number, end: number) => void

async function connect(port: number, onMessage: MessageListener): Promise<Client> {
  let onPong = (): void => undefined
  let onError = (_error: Error): void => undefined
  const wire = await Wire.open(port, (bytes, at) => {
    const line = bytes.indexOf('\r\n', at)
    if (line < 0) return at
    const body = line + 2
    if (bytes[at] === 0x4d) {
      const end = body + digitsAt(bytes, bytes.lastIndexOf(0x20, line) + 1)
      if (bytes.length < end + 2) return at
      onMessage(bytes, at, body, end)
      return end + 2
    }
    const command = bytes.toString('latin1', at, line)
    if (command === 'PING') wire.send('PONG\r\n')
    else if (command === 'PONG') onPong()
    else if (command.startsWith('-ERR')) onError(new Error(command))
    return body
  })
  wire.send('CONNECT {"verbose":false,"pedantic":false,"protocol":1}\r\n')
  return {
    send: (text) => wire.send(text),
    ready: () =>
      new Promise((resolve, reject) => {
        onPong = resolve
        onError = reject
        wire.send('PING\r\n')
      }),
    close: () => wire.close(),
  }
}

async function connectAdmin(port: number) {
  let onAnswer = (_answer: string): void => undefined
  const client = await connect(port, (bytes, _at, body, end) => onAnswer(bytes.toString('utf8', body, end)))
  client.send('SUB admin 1\r\n')
  return {
    request: async (subject: string, config: unknown): Promise<void> => {
      const text = JSON.stringify(config)
      const answer = await new Promise<string>((resolve) => {
        onAnswer = resolve
        client.send(`PUB ${subject} admin ${Buffer.byteLength(text)}\r\n${text}\r\n`)
      })
      if (answer.includes('"error"')) throw new Error(`NATS refused ${subject}: ${answer}`)
    },
    close: () => client.close(),
  }
}
