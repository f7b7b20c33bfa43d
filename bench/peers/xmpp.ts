// XMPP for load: a client of a server without TLS, and lanes whose acknowledgement is XEP-0198's <a/>, asked for after
// each message: it is the one answer a sender gets from its server rather than from the recipient, and it comes after
// the server took the message on. The recipient confirms with XEP-0184, which the server forwards to the sender.
import { DEAF, digitsAt, type Lane, type Peer, payloadOf } from './peer.ts'
import { Wire } from './wire.ts'

const DOMAIN = 'localhost'
const PASSWORD = 'bench'
const RESOURCE = 'r'
const CLOSE_TAG = 0x3e
const SLASH = 0x2f
// The first letters of what XEP-0198 adds; stanzas begin with others.
const A = 0x61
const R = 0x72

/** What the peers of this protocol have in common. */
export const XMPP_MISSING: Peer['missing'] = 'nothing; archives it for both sides'

/** Registers and connects so many pairs. */
export async function openXmppLanes(port: number, count: number, payloadBytes: number): Promise<Lane[]> {
  const lanes: Lane[] = []
  for (let index = 0; index < count; index++) lanes.push(await openLane(port, index, payloadBytes))
  return lanes
}

async function openLane(port: number, index: number, payloadBytes: number): Promise<Lane> {
  const [fromName, toName] = [`s${index}`, `r${index}`]
  const payload = payloadOf(payloadBytes)
  const from = await logIn(port, fromName)
  const to = await logIn(port, toName)
  await from.request("<enable xmlns='urn:xmpp:sm:3'/>", '<enabled')
  await to.request('<presence/>', '<presence')
  let handled = 0
  let received = 0
  from.onStanza = (bytes, at, end) => {
    const first = bytes[at + 1]
    if (first === A) {
      const upTo = digitsAt(bytes, attributeAt(bytes, at, end, 'h'))
      while (handled < upTo) lane.listener.acked(++handled)
    } else if (first === R) {
      // Unanswered, the server would keep every receipt it forwarded.
      from.send(`<a xmlns='urn:xmpp:sm:3' h='${received}'/>`)
    } else received += 1
  }
  const head = `<message to='${fromName}@${DOMAIN}/${RESOURCE}' type='chat' id='c`
  to.onStanza = (bytes, at) => {
    if (bytes.toString('latin1', at, at + 8) !== '<message') return
    const number = digitsAt(bytes, attributeAt(bytes, at, bytes.indexOf(CLOSE_TAG, at), 'id'))
    // Without a hint Prosody would archive the receipt as well.
    to.send(
      `${head}${number}'><received xmlns='urn:xmpp:receipts' id='${number}'/><no-store xmlns='urn:xmpp:hints'/></message>`,
    )
    lane.listener.arrived(number)
  }
  const lane: Lane = {
    listener: DEAF,
    send: (number) =>
      from.send(
        `<message to='${toName}@${DOMAIN}' type='chat' id='${number}'><body>${payload}</body>` +
          "<request xmlns='urn:xmpp:receipts'/></message><r xmlns='urn:xmpp:sm:3'/>",
      ),
    close: () => {
      from.close()
      to.close()
    },
  }
  return lane
}

interface Client {
  onStanza: (bytes: Buffer, at: number, end: number) => void
  send(xml: string): void
  /** Sends and resolves with the first stanza that begins so. */
  request(xml: string, answer: string): Promise<string>
  close(): void
}

async function logIn(port: number, name: string): Promise<Client> {
  const client = await connect(port)
  const open = `<stream:stream to='${DOMAIN}' version='1.0' xmlns='jabber:client' xmlns:stream='http://etherx.jabber.org/streams'>`
  await client.request(`<?xml version='1.0'?>${open}`, '<stream:features')
  await client.request(
    `<iq type='set' id='reg'><query xmlns='jabber:iq:register'><username>${name}</username><password>${PASSWORD}</password></query></iq>`,
    '<iq',
  )
  const plain = Buffer.from(`\0${name}\0${PASSWORD}`).toString('base64')
  await client.request(
    `<auth xmlns='urn:ietf:params:xml:ns:xmpp-sasl' mechanism='PLAIN'>${plain}</auth>`,
    '<success',
  )
  await client.request(open, '<stream:features')
  await client.request(
    `<iq type='set' id='bind'><bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'><resource>${RESOURCE}</resource></bind></iq>`,
    '<iq',
  )
  return client
}

async function connect(port: number): Promise<Client> {
  let awaited:
    | { begins: string; resolve: (stanza: string) => void; reject: (error: Error) => void }
    | undefined
  const wire = await Wire.open(port, (bytes, at) => {
    const end = stanzaEnd(bytes, at)
    if (end < 0) return at
    if (!awaited) client.onStanza(bytes, at, end)
    else {
      const stanza = bytes.toString('utf8', at, end)
      if (stanza.includes("type='error'") || stanza.includes('type="error"') || stanza.startsWith('<failure'))
        awaited.reject(new Error(`XMPP server refused: ${stanza}`))
      else if (stanza.startsWith(awaited.begins)) awaited.resolve(stanza)
    }
    return end
  })
  const client: Client = {
    onStanza: () => undefined,
    send: (xml) => wire.send(xml),
    request: async (xml, begins) => {
      const answer = await new Promise<string>((resolve, reject) => {
        awaited = { begins, resolve, reject }
        wire.onClose = () => reject(new Error(`XMPP server closed before ${begins}`))
        wire.send(xml)
      })
      awaited = undefined
      wire.onClose = () => undefined
      return answer
    },
    close: () => {
      wire.send('</stream:stream>')
      setTimeout(() => wire.close(), 50)
    },
  }
  return client
}

/**
 * Where the element at `at` ends, or -1. Enough of XML for what these servers send here: no stanza holds one of its
 * own name, and the stream's own tags are units by themselves.
 */
function stanzaEnd(bytes: Buffer, at: number): number {
  const close = bytes.indexOf(CLOSE_TAG, at)
  if (close < 0) return -1
  const tag = bytes.toString('latin1', at, Math.min(close, at + 40))
  if (tag.startsWith('<?') || tag.startsWith('<stream:stream') || tag.startsWith('</')) return close + 1
  if (bytes[close - 1] === SLASH) return close + 1
  const [name] = tag.slice(1).split(' ')
  const ending = `</${name}>`
  const end = bytes.indexOf(ending, close)
  return end < 0 ? -1 : end + ending.length
}

/** Where the value of an attribute begins, whichever quotes the server writes. */
function attributeAt(bytes: Buffer, at: number, end: number, name: string): number {
  const found = bytes.toString('latin1', at, end).indexOf(` ${name}=`)
  return at + found + name.length + 3
}
