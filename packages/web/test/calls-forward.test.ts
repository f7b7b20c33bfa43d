// Two people whose messages have forward secrecy call each other with the app: the call has it, too.
import { expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { callOf, liveTracks, plays, recordTracks } from './call-window.ts'
import { callWorld } from './call-world.ts'
import { talkUntilSecret } from './secret-talk.ts'
import { isTold } from './told.ts'

const world = callWorld()

/** The call frames that a page sends and receives from its next connection on, as they come. */
function callFramesOf(page: Page): Record<string, unknown>[] {
  const frames: Record<string, unknown>[] = []
  const note = ({ payload }: { readonly payload: string | Buffer }): void => {
    const frame: Record<string, unknown> = JSON.parse(String(payload))
    if (String(frame.type).startsWith('call_')) frames.push(frame)
  }
  page.on('websocket', (socket) => socket.on('framesent', note).on('framereceived', note))
  return frames
}

/** Whether the picture of the other side comes with sound that is played. */
function sounds(page: Page, name: string): Promise<boolean> {
  return page.getByLabel(name, { exact: true }).evaluate(async (element) => {
    if (!(element instanceof HTMLVideoElement) || !(element.srcObject instanceof MediaStream)) return false
    const [track] = element.srcObject.getAudioTracks()
    return track?.readyState === 'live' && !track.muted && !element.muted
  })
}

test('friends with forward secrecy have a video call under it, and hang up', async () => {
  const [alice, bob] = await world.knownFriends('Alice', 'Bob')
  const { calls, conversation } = alice.t
  await alice.opens('Bob')
  await bob.opens('Alice')
  await talkUntilSecret(alice, bob)
  const frames = callFramesOf(alice.page)
  await alice.page.reload()
  for (const { page } of [alice, bob]) await recordTracks(page)

  await alice.presses(conversation.videoCall)
  await bob.reads(calls.incomingVideo)
  await bob.presses(calls.answerVideo)
  for (const [one, other] of [
    [alice, 'Bob'],
    [bob, 'Alice'],
  ] as const) {
    await plays(callOf(one).getByLabel(other, { exact: true }))
    expect(await sounds(one.page, other)).toBe(true)
  }
  await alice.presses(calls.hangUp)
  await isTold(bob, calls.ends.theyHungUp('Alice'))
  await callOf(bob).waitFor({ state: 'detached' })
  for (const { page } of [alice, bob]) expect(await liveTracks(page)).toEqual([])
  const types = new Set(frames.map(({ type }) => type))
  expect([...types].toSorted()).toEqual(['call_answer', 'call_hangup', 'call_ice', 'call_offer'])
  expect(new Set(frames.map(({ crypto_v }) => crypto_v))).toEqual(new Set([3]))
})
