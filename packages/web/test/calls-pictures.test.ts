// Stories of what is shown in a call: through a TURN server alone, by one camera or another, or the screen.
import { expect, test } from 'bun:test'
import { until } from '../../client/test/people.ts'
import type { AppPerson } from './app-person.ts'
import { callOf, plays } from './call-window.ts'
import { callWorld } from './call-world.ts'

const world = callWorld()

/** Two people in a call with video. */
async function inVideoCall(...people: readonly [AppPerson, AppPerson]): Promise<void> {
  const [alice, bob] = people
  const { calls } = alice.t
  await alice.opens('Bob')
  await alice.presses(alice.t.conversation.videoCall)
  await bob.presses(calls.answerVideo)
  await plays(callOf(alice).getByLabel('Bob', { exact: true }))
  await plays(callOf(bob).getByLabel('Alice', { exact: true }))
}

test('people who can reach each other through the TURN server alone have a video call', async () => {
  const [alice, bob] = await world.friends('Alice', 'Bob')
  for (const { page } of [alice, bob]) await page.evaluate(allowRelayOnly)
  await inVideoCall(alice, bob)
  for (const { page } of [alice, bob])
    expect(await page.evaluate(() => usedWays())).toEqual(['relay to relay'])
})

test('the camera is switched, and the first one is used again when the second one is gone', async () => {
  const [alice, bob] = await world.friends('Alice', 'Bob')
  await inVideoCall(alice, bob)
  const { calls } = alice.t
  const own = callOf(alice).getByLabel(calls.ownPicture)
  const camera = async () => ((await own.count()) > 0 ? own.evaluate(cameraOf) : undefined)
  const first = await camera()
  await alice.presses(calls.switchCamera)
  await until('another camera is used', async () => ![undefined, first].includes(await camera()))
  await plays(own)
  await plays(callOf(bob).getByLabel('Alice', { exact: true }))

  await alice.page.evaluate(unplug, (await camera()) ?? '')
  await alice.page.getByRole('button', { name: calls.camera, pressed: true }).click()
  await own.waitFor({ state: 'detached' })
  await alice.page.getByRole('button', { name: calls.camera, pressed: false }).click()
  await until('the first camera is used again', async () => (await camera()) === first)
})

test('the screen is shared, and the camera is on again after it', async () => {
  const [alice, bob] = await world.friends('Alice', 'Bob')
  await inVideoCall(alice, bob)
  const { calls } = alice.t
  const own = callOf(alice).getByLabel(calls.ownPicture)
  const camera = await own.evaluate(cameraOf)
  await alice.presses(calls.share)
  await alice.reads(calls.sharing)
  await alice.page.getByRole('button', { name: calls.share, pressed: true }).waitFor()
  await plays(own)
  expect(await own.evaluate(cameraOf)).not.toBe(camera)
  await plays(callOf(bob).getByLabel('Alice', { exact: true }))
  await alice.presses(calls.share)
  await alice.page.getByRole('button', { name: calls.camera, pressed: true }).waitFor()
  await plays(callOf(bob).getByLabel('Alice', { exact: true }))
})

declare global {
  /** The kinds of addresses over which the page's connections go. */
  var usedWays: () => Promise<readonly string[]>
}

function allowRelayOnly(): void {
  const connections: RTCPeerConnection[] = []
  globalThis.RTCPeerConnection = class extends RTCPeerConnection {
    constructor(configuration: RTCConfiguration = {}) {
      super({ ...configuration, iceTransportPolicy: 'relay' })
      connections.push(this)
    }
  }
  globalThis.usedWays = async () => {
    const ways: string[] = []
    for (const connection of connections) {
      const stats = await connection.getStats()
      for (const each of stats.values())
        if (each.type === 'transport') {
          const pair = stats.get(each.selectedCandidatePairId)
          const types = [pair.localCandidateId, pair.remoteCandidateId].map(
            (id) => stats.get(id).candidateType,
          )
          ways.push(types.join(' to '))
        }
    }
    return ways
  }
}

/** From now on the browser finds no device with this id. */
function unplug(gone: string): void {
  const devices = navigator.mediaDevices
  const open = devices.getUserMedia.bind(devices)
  devices.getUserMedia = async (constraints) => {
    if (JSON.stringify(constraints).includes(gone)) throw new OverconstrainedError('deviceId')
    return await open(constraints)
  }
}

function cameraOf(video: Element): string | undefined {
  if (!(video instanceof HTMLVideoElement && video.srcObject instanceof MediaStream)) return undefined
  return video.srcObject.getVideoTracks()[0]?.getSettings().deviceId
}
