// The quality of a call, from the browser's statistics.
import { expect, test } from 'bun:test'
import { QualityMeter } from './call-quality.ts'

type Stat = Readonly<Record<string, unknown>>

/** Statistics as browsers give them. */
function stats({
  received = 100,
  lost = 0,
  fractionLost = 0,
  seconds = 0.02,
  type = 'host',
}): readonly Stat[] {
  return [
    { id: 'in', type: 'inbound-rtp', packetsReceived: received, packetsLost: lost, codecId: 'opus' },
    { id: 'video', type: 'inbound-rtp', packetsReceived: 0, packetsLost: 0, codecId: 'vp9' },
    { id: 'opus', type: 'codec', mimeType: 'audio/opus' },
    { id: 'vp9', type: 'codec', mimeType: 'video/VP9' },
    { id: 'out', type: 'remote-inbound-rtp', fractionLost },
    { id: 'other', type: 'candidate-pair', state: 'succeeded', nominated: false, currentRoundTripTime: 9 },
    {
      ...{ id: 'pair', type: 'candidate-pair', state: 'succeeded', nominated: true },
      ...{ currentRoundTripTime: seconds, localCandidateId: 'here', remoteCandidateId: 'there' },
    },
    { id: 'here', type: 'local-candidate', candidateType: 'host' },
    { id: 'there', type: 'remote-candidate', candidateType: type },
  ]
}

test('a quick connection without losses is good, and says its codec and way', () => {
  expect(new QualityMeter().measure(stats({}))).toEqual({
    ...{ level: 'good', loss: 0, roundTripMs: 20, isRelayed: false, codecs: ['audio/opus'] },
  })
  expect(new QualityMeter().measure(stats({ type: 'relay' })).isRelayed).toBe(true)
})

test('a slow connection is fair, then poor; so is one that loses packets in either direction', () => {
  const level = (given: Parameters<typeof stats>[0]) => new QualityMeter().measure(stats(given)).level
  expect([level({ seconds: 0.25 }), level({ seconds: 0.5 })]).toEqual(['fair', 'poor'])
  expect([level({ fractionLost: 0.03 }), level({ fractionLost: 0.1 })]).toEqual(['fair', 'poor'])
  expect([level({ received: 97, lost: 3 }), level({ received: 90, lost: 10 })]).toEqual(['fair', 'poor'])
})

test('losses count since the measurement before, and earlier ones no more', () => {
  const meter = new QualityMeter()
  expect(meter.measure(stats({ received: 50, lost: 50 })).loss).toBe(0.5)
  expect(meter.measure(stats({ received: 150, lost: 50 })).loss).toBe(0)
  expect(meter.measure(stats({ received: 159, lost: 51 })).loss).toBe(0.1)
})

test('what the browser does not know is left out', () => {
  expect(new QualityMeter().measure([])).toEqual({ level: 'good', codecs: [] })
})
