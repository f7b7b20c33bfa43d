// Checks how nodes notify each other: it sends something that no node reads, hears it, and hears the other
// nodes, which say every second that they work.

import { readNodes } from '../cluster/node-list.ts'
import { openCarrier } from '../cluster/open-bus.ts'
import { PacketReader } from '../cluster/packets.ts'
import type { Carrier } from '../cluster/shared-bus.ts'
import { findNameInStore } from '../operations/name-in-store.ts'
import { randomText } from '../operations/random.ts'
import { within } from '../operations/within.ts'
import { type Finding, findingsOf, reasonOf } from './finding.ts'
import type { Patient } from './patient.ts'

const ANSWERS_WITHIN_MS = 8000

export async function checkBus({
  config,
  storage,
  clock,
  randomBytes,
}: Patient): Promise<readonly Finding[]> {
  const { ok, unused, failed, warning } = findingsOf('bus')
  const { databaseUrl, nats } = config
  if (databaseUrl === undefined) return [unused('a relay with the embedded database is one node')]
  if (!storage) return [unused('the database cannot be used, so no nodes work together')]
  const name = nats ? 'NATS' : 'PostgreSQL'
  const repair = nats
    ? 'start the NATS server, or correct NATS_URL; until then messages between nodes are late by up to two seconds'
    : 'let nodes reach PostgreSQL itself, and not through a pool that gives each transaction another connection'
  const expected = (await readNodes(storage)).filter(({ state }) => state !== 'silent')
  const ours = `doctor ${randomText(randomBytes, 9)}`
  const heard = new PacketReader()
  const heardOwn = Promise.withResolvers<void>()
  const heardAll = Promise.withResolvers<void>()
  const missing = () => expected.filter(({ node }) => !heard.nodes.includes(node))
  let failure: unknown
  const opening = openCarrier({
    databaseUrl,
    nats,
    relay: (await findNameInStore('bus', storage)) ?? 'doctor',
  })({
    onPacket: (text) => {
      if (text === ours) heardOwn.resolve()
      heard.read(text, clock.monotonic())
      if (missing().length === 0) heardAll.resolve()
    },
    onAgain: () => undefined,
    onFailure: (error) => {
      failure ??= error
    },
  })
  let carrier: Carrier | undefined
  try {
    if (await within(ANSWERS_WITHIN_MS, opening)) carrier = await opening
    if (!carrier) return [failed(`${name} does not answer`, repair)]
    const sentAt = clock.monotonic()
    await carrier.send([ours])
    if (!(await within(ANSWERS_WITHIN_MS, heardOwn.promise)))
      return [failed(`what is sent through ${name} does not come back`, repair)]
    const took = Math.max(1, Math.round(clock.monotonic() - sentAt))
    if (expected.length > 0) await within(ANSWERS_WITHIN_MS, heardAll.promise)
    const says = `${name} carries what nodes tell, in ${took} ms`
    const unheard = missing().map(({ place }) => place)
    if (unheard.length === 0) return [ok(`${says}; nodes heard: ${heard.nodes.length}`)]
    return [
      warning(
        `${says}, but these nodes are not heard: ${unheard.join(', ')}`,
        'give all nodes the same NATS_URL and DATABASE_URL; `sotto status` says whether their bus works',
      ),
    ]
  } catch (error) {
    return [failed(`${name} refuses: ${reasonOf(failure ?? error)}`, repair)]
  } finally {
    if (carrier) await carrier.stop()
    else void opening.then((late) => late.stop()).catch(() => undefined) // What it failed by is told above.
  }
}
