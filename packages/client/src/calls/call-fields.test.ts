// The fields of call signals, as this client and older clients write them.
import { expect, test } from 'bun:test'
import { hasStatus, readCandidate, readDescription, readStatus, writeCandidate } from './call-fields.ts'

const candidate = {
  candidate: 'candidate:1 1 udp 1 192.0.2.7 9 typ host',
  sdpMid: '0',
  sdpMLineIndex: 0,
  usernameFragment: 'abcd',
}

test('a candidate is sent as an object, which older clients expect', () => {
  expect(writeCandidate(candidate)).toEqual({ candidate })
  expect(readCandidate(writeCandidate(candidate))).toEqual(candidate)
})

test('candidates of older clients are read in both of their forms', () => {
  const { usernameFragment: _, ...without } = candidate
  const read = { ...without, usernameFragment: null }
  expect(readCandidate({ candidate: without })).toEqual(read)
  expect(readCandidate(without)).toEqual(read)
  expect(readCandidate(candidate)).toEqual(candidate)
})

test('fields of wrong types make no candidate, or one without them', () => {
  for (const fields of [{}, { candidate: null }, { candidate: 7 }, { candidate: {} }, { candidate: ['a'] }])
    expect(readCandidate(fields)).toBeUndefined()
  // Members beside an object are not mixed with those in it.
  expect(readCandidate({ candidate: { candidate: 'x', sdpMid: 1 }, sdpMid: '1', sdpMLineIndex: 1 })).toEqual({
    candidate: 'x',
    sdpMid: null,
    sdpMLineIndex: null,
    usernameFragment: null,
  })
})

test('without a valid epoch, a side encrypts nothing and reports no status', () => {
  for (const epoch of [undefined, null, 0, -1, 1.5, '1', 2 ** 53]) {
    const fields = { sdp: 'v=0', sdp_type: 'offer', epoch }
    expect(readDescription('offer', fields)?.epoch).toBe(0)
    expect(hasStatus(fields)).toBe(false)
  }
  const fields = { sdp: 'v=0', epoch: 2, video: false }
  expect(readDescription('offer', fields)).toEqual({
    sdp: 'v=0',
    epoch: 2,
    media: { audio: true, video: false },
  })
  expect([hasStatus(fields), readStatus(fields).epoch]).toEqual([true, 2])
})
