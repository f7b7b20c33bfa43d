// The basic story as a program of its own, which prints what was read.
import {
  commitUpdate,
  decodeGroup,
  encodeGroup,
  encrypt,
  epochOf,
  type Group,
  open,
  rejoin,
} from '@sotto/mls'
import { everyone, textOf, twoInAGroup, utf8 } from './people.ts'

const seen: string[] = []

async function say(from: Group, to: Group, text: string): Promise<[Group, Group]> {
  const { group, message } = await encrypt(from, utf8(text), utf8('data'))
  const opened = await open(decodeGroup(encodeGroup(to)), message, everyone)
  if (opened.kind === 'message') seen.push(textOf(opened.plaintext))
  return [group, opened.group]
}

const { alice, bob } = await twoInAGroup()
let [a, b] = await say(alice.group, bob.group, 'from alice')
;[b, a] = await say(b, a, 'from bob')
const update = await commitUpdate(a, alice.leaf)
b = (await open(b, update.commit, everyone)).group
seen.push(String(epochOf(b)))
const replaces = { replaces: ({ index }: { index: number }) => index === 0 }
const again = await rejoin(update.groupInfo, alice.leaf, replaces, everyone)
b = (await open(b, again.commit, everyone)).group
await say(again.group, b, 'after the rejoin')
console.log(JSON.stringify(seen))
