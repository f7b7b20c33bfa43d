// XMPP for load: a client without TLS, and lanes over it. A message counts as acknowledged with the <a/> of
// XEP-0198, which the sender requests after each message. It is the only answer that comes from the sender's
// server and not from the recipient, and the server sends it after it has accepted the message. The recipient
// confirms with XEP-0184, and the server forwards that to the sender.
import { digitsAt, type Lane, NO_LISTENER, type Peer, payloadOf } from './peer.ts'
import { Wire } from './wire.ts'

const DOMAIN = 'localhost'
const PASSWORD = 'bench'
const RESOURCE = 'r'
const CLOSE_TAG = 0x3e
const SLASH = 0x2f
// The first letters of the elements of XEP-0198. Stanzas begin with other letters.
const A = 0x61
const R = 0x72

/** The same for all XMPP servers; see `Peer`. */
export const XMPP_MISSING: Peer['missing'] = 'nothing; archives it for both sides'

/** Registers and connects `count` pairs. */
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
      // Without this answer the server would keep every receipt that it forwarded.
      from.send(`<a xmlns='urn:xmpp:sm:3' h='${received}'/>`)
    } else received += 1
  }
  const head = `<message to='${fromName}@${DOMAIN}/${RESOURCE}' type='chat' id='c`
  to.onStanza = (bytes, at) => {
    if (bytes.toString('latin1', at, at + 8) !== '<message') return
    const number = digitsAt(bytes, attributeAt(bytes, at, bytes.indexOf(CLOSE_TAG, at), 'id'))
    // Without the no-store hint Prosody would archive the receipt as well.
    to.send(
      `${head}${number}'><received xmlns='urn:xmpp:receipts' id='${number}'/><no-store xmlns='urn:xmpp:hints'/></message>`,
    )
    lane.listener.arrived(number)
  }
  const lane: Lane = {
    listener: NO_LISTENER,
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
  /** Sends `xml` and resolves with the first stanza that begins with `answer`. */
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
 * Where the element at `at` ends, or -1 if it is not complete. This reads only the XML that these servers
 * send here: no stanza contains an element of its own name, and each tag of the stream itself counts as one
 * unit.
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

/** Where the value of an attribute begins, after a single or double quote. */
function attributeAt(bytes: Buffer, at: number, end: number, name: string): number {
  const found = bytes.toString('latin1', at, end).indexOf(` ${name}=`)
  return at + found + name.length + 3
}
