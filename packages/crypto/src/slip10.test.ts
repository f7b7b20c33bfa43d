import { describe, expect, test } from 'bun:test'
import { ed25519 } from '@noble/curves/ed25519.js'
import standard from '../../../vectors/standards/slip10.json'
import { expectCode } from '../test/expectations.ts'
import { bytesToHex, hexToBytes } from './hex.ts'
import { deriveEd25519Path, parseEd25519Path } from './slip10.ts'

describe('SLIP-0010, ed25519', () => {
  for (const { name, seed, nodes } of standard.vectors) {
    for (const node of nodes) {
      test(`${name}, ${node.path}`, async () => {
        const { privateKey, chainCode } = await deriveEd25519Path(
          hexToBytes(seed),
          parseEd25519Path(node.path),
        )
        expect(bytesToHex(chainCode)).toBe(node.chain_code)
        expect(bytesToHex(privateKey)).toBe(node.private)
        expect(bytesToHex(ed25519.getPublicKey(privateKey))).toBe(node.public)
      })
    }
  }
})

const seed = new Uint8Array(64).fill(7)

test('a path in text has the same levels as a path of numbers', () => {
  expect(parseEd25519Path("m/44'/1'/0'/0'/0'")).toEqual([44, 1, 0, 0, 0])
  expect(parseEd25519Path('m')).toEqual([])
})

test('a path with a level that is not hardened is refused, and so is any other invalid path', async () => {
  for (const path of [
    "m/44'/0'/0'/0/0",
    'm/44',
    "m/44'/",
    "44'",
    '',
    "m/-1'",
    "m/044'",
    "m/2147483648'",
    "m/1e3'",
    "M/0'",
  ]) {
    await expectCode('INVALID_PATH', async () => deriveEd25519Path(seed, parseEd25519Path(path)))
  }
  for (const path of [[-1], [0.5], [2 ** 31], [Number.NaN]])
    await expectCode('INVALID_PATH', () => deriveEd25519Path(seed, path))
})

test('a seed must have 16 to 64 bytes', async () => {
  for (const length of [16, 32, 64])
    expect((await deriveEd25519Path(new Uint8Array(length), [])).privateKey).toHaveLength(32)
  for (const length of [0, 15, 65]) {
    await expectCode('INVALID_ARGUMENT', () => deriveEd25519Path(new Uint8Array(length), []))
  }
})
