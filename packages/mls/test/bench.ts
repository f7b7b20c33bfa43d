// Sizes and times of the operations: `npx bun packages/mls/test/bench.ts`.
import {
  addMember,
  commitUpdate,
  createGroup,
  createKeyPackage,
  encodeGroup,
  encrypt,
  joinByWelcome,
  open,
  rejoin,
} from '@sotto/mls'
import { everyone, GROUP_ID, LIFETIME, leafOf, twoInAGroup, utf8 } from './people.ts'

const ROUNDS = 50

async function median(what: string, work: () => Promise<unknown>): Promise<void> {
  const times: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const start = performance.now()
    await work()
    times.push(performance.now() - start)
  }
  times.sort((a, b) => a - b)
  console.log(`${what}: ${times[ROUNDS / 2]?.toFixed(2)} ms`)
}

const { alice, bob, welcome, groupInfo, bobsPackage } = await twoInAGroup()
const name = { ...(await leafOf('x')), credential: new Uint8Array(300) }
const alone = await createGroup(alice.leaf, GROUP_ID)
const sent = await encrypt(alice.group, utf8('hello'), utf8(''))
const update = await commitUpdate(alice.group, alice.leaf)
const replaces = { replaces: ({ index }: { index: number }) => index === 0 }
await median('key package', () => createKeyPackage(name, LIFETIME))
await median('add', () => addMember(alone, bobsPackage.keyPackage, everyone))
await median('join', () => joinByWelcome(welcome, { ...bobsPackage, leaf: bob.leaf }, everyone))
await median('encrypt', () => encrypt(alice.group, utf8('hello'), utf8('')))
await median('open', () => open(bob.group, sent.message, everyone))
await median('commit', () => commitUpdate(alice.group, alice.leaf))
await median('open a commit', () => open(bob.group, update.commit, everyone))
await median('rejoin', () => rejoin(groupInfo, alice.leaf, replaces, everyone))
const opened = await open(bob.group, update.commit, everyone)
const sizes = {
  'key package': bobsPackage.keyPackage,
  welcome,
  groupInfo,
  commit: update.commit,
  rejoin: (await rejoin(groupInfo, alice.leaf, replaces, everyone)).commit,
  state: encodeGroup(alice.group),
  'state with a former epoch': encodeGroup(opened.group),
}
for (const [what, bytes] of Object.entries(sizes)) console.log(`${what}: ${bytes.length} bytes`)
console.log(`a message: ${sent.message.length - 'hello'.length} bytes beside its text`)
