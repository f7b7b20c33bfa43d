// Attacks every decoder with mutated and random inputs, in a worker, because a decoder may never return.
import {
  commitUpdate,
  createKeyPackage,
  decodeGroup,
  encodeGroup,
  encrypt,
  joinByWelcome,
  MlsError,
  open,
  readKeyPackage,
  readWelcome,
  rejoin,
} from '@sotto/mls'
import { checkWelcomeGroupInfo } from '../src/inspect.ts'
import { asMlsError } from '../src/mls-error.ts'
import { type FuzzAnswer, type FuzzOrder, INPUT_AT } from './fuzz-order.ts'
import { everyone, LIFETIME, leafOf, twoInAGroup, utf8 } from './people.ts'

declare const self: Worker

self.onmessage = async ({ data }: MessageEvent<FuzzOrder>) => {
  try {
    self.postMessage({ taken: await attack(data) } satisfies FuzzAnswer)
  } catch (error) {
    self.postMessage({
      wrong: error instanceof Error ? `${error.message} ${error.stack}` : 'unknown',
    } satisfies FuzzAnswer)
  }
}

async function attack({ seed, count, progress }: FuzzOrder): Promise<Record<string, number>> {
  const { alice, bob, welcome, groupInfo, bobsPackage } = await twoInAGroup()
  const { message } = await encrypt(alice.group, utf8('a message of a usual length, padded'), utf8('data'))
  const { commit, group } = await commitUpdate(alice.group, alice.leaf)
  const rejoined = await rejoin(groupInfo, alice.leaf, { replaces: ({ index }) => index === 0 }, everyone)
  const { keyPackage } = await createKeyPackage(await leafOf('carol'), LIFETIME)
  const header = 4
  const targets: { name: string; valid: Uint8Array; run: (bytes: Uint8Array) => unknown }[] = [
    { name: 'readKeyPackage', valid: keyPackage, run: readKeyPackage },
    { name: 'readWelcome', valid: welcome, run: readWelcome },
    {
      name: 'joinByWelcome',
      valid: welcome,
      run: (bytes) => joinByWelcome(bytes, { ...bobsPackage, leaf: bob.leaf }, everyone),
    },
    { name: 'open a message', valid: message, run: (bytes) => open(bob.group, bytes, everyone) },
    { name: 'open a commit', valid: commit, run: (bytes) => open(bob.group, bytes, everyone) },
    { name: 'open a rejoin', valid: rejoined.commit, run: (bytes) => open(bob.group, bytes, everyone) },
    {
      name: 'rejoin',
      valid: groupInfo,
      run: (bytes) => rejoin(bytes, alice.leaf, { replaces: ({ index }) => index === 0 }, everyone),
    },
    // What stands inside a Welcome, which a mutation outside never reaches.
    {
      name: "a Welcome's GroupInfo",
      valid: groupInfo.subarray(header),
      run: (bytes) => asMlsError('the GroupInfo', () => checkWelcomeGroupInfo(bytes)),
    },
    {
      name: 'decodeGroup',
      valid: encodeGroup(group),
      run: (bytes) => encrypt(decodeGroup(bytes), utf8('on'), utf8('')),
    },
  ]
  const taken: Record<string, number> = {}
  const [numbers, input] = [new Int32Array(progress, 0, 2), new Uint8Array(progress, INPUT_AT)]
  for (let at = 0; at < count; at++) {
    const random = randomOf(seed + at)
    const target = targets[at % targets.length] ?? targets[0]
    if (target === undefined) continue
    const bytes = random() < 0.1 ? randomBytes(random) : mutate(target.valid, random)
    input.set(bytes)
    numbers[1] = bytes.length
    Atomics.store(numbers, 0, at + 1)
    try {
      await target.run(bytes)
      taken[target.name] = (taken[target.name] ?? 0) + 1
    } catch (error) {
      if (error instanceof MlsError && error.code !== 'UNAVAILABLE') continue
      const what = error instanceof Error ? `${error.name} ${error.message}` : 'unknown'
      throw new Error(
        `${target.name}, seed ${seed}, input ${at}: ${what}: ${Buffer.from(bytes).toString('hex')}`,
      )
    }
  }
  return taken
}

const INTERESTING = [0, 1, 0x3f, 0x40, 0x7f, 0x80, 0xbf, 0xc0, 0xff]

function mutate(valid: Uint8Array, random: () => number): Uint8Array {
  const bytes = [...valid]
  const below = (limit: number) => Math.floor(random() * limit)
  for (let edits = 1 + below(4); edits > 0; edits--) {
    // Structure stands at the beginning more often than in the middle of keys.
    const at = random() < 0.5 ? below(Math.min(80, bytes.length)) : below(bytes.length)
    const kind = below(6)
    if (kind === 0) bytes[at] = below(256)
    if (kind === 1) bytes[at] = INTERESTING[below(INTERESTING.length)] ?? 0
    if (kind === 2) bytes[at] = (bytes[at] ?? 0) ^ (1 << below(8))
    if (kind === 3) bytes.splice(at, 1 + below(8))
    if (kind === 4) bytes.splice(at, 0, ...bytes.slice(below(bytes.length)).slice(0, 1 + below(64)))
    if (kind === 5) bytes.length = at
  }
  return Uint8Array.from(bytes)
}

function randomBytes(random: () => number): Uint8Array {
  const bytes = Uint8Array.from({ length: Math.floor(random() * 400) }, () => Math.floor(random() * 256))
  // Half of them begin as an MLS message does.
  if (random() < 0.5) bytes.set([0, 1, 0, 1 + Math.floor(random() * 5)].slice(0, bytes.length))
  return bytes
}

/** Mulberry32: the same numbers for the same seed. */
function randomOf(seed: number): () => number {
  let state = seed | 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
}
