// What the judge of a schedule says about messages that expire.
import { expect, test } from 'bun:test'
import { Random } from '../../../../bench/faults/random.ts'
import { WireAccount } from '../wire.ts'
import { BySeqClient } from './by-seq-client.ts'
import { Judge } from './judge.ts'
import { Moments, ONE_ERA } from './moments.ts'

/** A message that the relay has acknowledged and nobody has got, in a world with this era. */
function unreceived(world: { era: number }) {
  const client = (number: number): BySeqClient =>
    new BySeqClient({
      account: new WireAccount('http://127.0.0.1:1'),
      moments: new Moments(() => undefined),
      random: new Random(1, number),
      eras: {
        ...ONE_ERA,
        get count() {
          return world.era
        },
      },
    })
  const [sender, recipient] = [client(1), client(2)] as const
  sender.write('conversation')
  for (const message of sender.own) Object.assign(message, { ackedOn: 1, seq: 1, status: 'sent' })
  const judge = new Judge([{ conv: 'conversation', clients: [sender, recipient] }], () => world.era)
  return { sender, judge }
}

test('a message is lost while its sender can still be told that it has expired, and was not', () => {
  const world = { era: 0 }
  const { sender, judge } = unreceived(world)
  expect(judge.lost).toHaveLength(1)
  world.era = 2
  expect(judge.lost).toHaveLength(1)
  for (const { id } of sender.own) sender.expired.add(id)
  expect(judge.lost).toEqual([])
})

test('a message of two jumps of the clock ago is not lost, because the notice of it has expired too', () => {
  for (const written of [0, 1]) {
    const world = { era: written }
    const { judge } = unreceived(world)
    world.era = 2
    expect(judge.lost).toHaveLength(1)
    world.era = 3
    expect(judge.lost).toEqual([])
  }
})
