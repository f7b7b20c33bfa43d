import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { waveformOf } from './waveform.ts'

test('a waveform has the peaks of 64 equal parts, relative to the loudest', () => {
  const audio = Float32Array.from({ length: 6400 }, (_, at) => (at < 100 ? -0.25 : at < 200 ? 0.5 : 0.05))
  expect(waveformOf(audio)).toEqual([50, 100, ...Array.from({ length: 62 }, () => 10)])
})

test('short and silent audio has a waveform, and no audio none', () => {
  expect(waveformOf(Float32Array.of(0.1, -0.2))).toEqual([50, 100])
  expect(waveformOf(new Float32Array(1000))).toEqual(Array.from({ length: 64 }, () => 0))
  expect(waveformOf(new Float32Array())).toBeUndefined()
})

test('the waveform of any audio can be sent', () => {
  fc.assert(
    fc.property(fc.float32Array({ minLength: 1, maxLength: 300 }), (audio) => {
      const waveform = waveformOf(audio) ?? []
      expect(waveform).toHaveLength(Math.min(64, audio.length))
      for (const sample of waveform)
        expect(Number.isInteger(sample) && sample >= 0 && sample <= 100).toBe(true)
    }),
  )
})
