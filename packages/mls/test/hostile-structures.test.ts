// Structures on which the library would never return, or which it takes though it should not.
import { expect, test } from 'bun:test'
import { commitUpdate } from '@sotto/mls'
import { type MlsMessage, nodeTypes, type Proposal, type PublicMessage, proposalOrRefTypes } from 'ts-mls'
import { heldOf } from '../src/group.ts'
import { checkTree, MAX_LEAVES, readMessage, shapeOfCommit } from '../src/inspect.ts'
import { twoInAGroup } from './people.ts'

const two = await twoInAGroup()
const { group, commit } = await commitUpdate(two.alice.group, two.alice.leaf)
const tree = heldOf(group).state.ratchetTree

test('a tree whose nodes name leaves outside it, or twice, or stand in the wrong place, or that is too large', () => {
  expect(() => checkTree(tree)).not.toThrow()
  const [leaf, parent] = tree
  if (parent?.nodeType !== nodeTypes.parent) throw new Error('no parent')
  const naming = (...unmergedLeaves: number[]) =>
    tree.with(1, { ...parent, parent: { ...parent.parent, unmergedLeaves } })
  for (const broken of [naming(0xffffffff), naming(2), naming(1, 1), [parent], [leaf, leaf, leaf]])
    expect(() => checkTree(broken)).toThrow(expect.objectContaining({ code: 'INVALID' }))
  const large = Array.from({ length: 2 * MAX_LEAVES + 1 }, () => undefined)
  expect(() => checkTree(large)).toThrow('leaves')
})

test('a commit without new keys, with proposals, or that removes nobody in the group', () => {
  const update = publicMessage(readMessage(commit))
  expect(shapeOfCommit(update, tree)).toEqual({ isExternal: false, sender: 0 })
  const init: Proposal = { proposalType: 6, externalInit: { kemOutput: new Uint8Array(1120) } }
  const remove = (removed: number): Proposal => ({ proposalType: 3, remove: { removed } })
  const external = (...proposals: Proposal[]) => withProposals(update, proposals, true)
  expect(shapeOfCommit(external(init, remove(1)), tree)).toEqual({ isExternal: true, removes: 1 })
  expect(shapeOfCommit(external(init), tree)).toEqual({ isExternal: true, removes: undefined })
  const refused = [
    withProposals(update, [remove(1)], false),
    withoutPath(update),
    external(),
    external(init, init),
    external(init, remove(0), remove(1)),
    external(init, remove(0xffffffff)),
    external(init, remove(2)),
    external(init, { proposalType: 0xf000, proposalData: new Uint8Array(0) }),
  ]
  for (const message of refused)
    expect(() => shapeOfCommit(message, tree)).toThrow(expect.objectContaining({ code: 'INVALID' }))
})

function publicMessage(message: MlsMessage): PublicMessage {
  if (!('publicMessage' in message)) throw new Error('not a public message')
  return message.publicMessage
}

function withProposals(message: PublicMessage, proposals: Proposal[], isExternal: boolean): PublicMessage {
  if (!('commit' in message.content)) throw new Error('not a commit')
  const given = proposals.map((proposal) => ({ proposalOrRefType: proposalOrRefTypes.proposal, proposal }))
  const commit = { ...message.content.commit, proposals: given }
  const sender = isExternal ? ({ senderType: 4 } as const) : message.content.sender
  return { ...message, content: { ...message.content, sender, commit } }
}

function withoutPath(message: PublicMessage): PublicMessage {
  if (!('commit' in message.content)) throw new Error('not a commit')
  return { ...message, content: { ...message.content, commit: { proposals: [], path: undefined } } }
}
