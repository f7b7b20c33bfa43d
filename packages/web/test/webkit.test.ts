// The app in WebKitGTK. The stories hold the expectations: each step waits for what it names, and fails with
// what the screen shows instead.
import { test } from 'bun:test'
import { english as en } from './all-texts.ts'
import { centralStory } from './engines/central-story.ts'
import { EngineWorld, STORY_MS } from './engines/engine-world.ts'
import { mlKemStory } from './engines/ml-kem-story.ts'
import { aliceAndBob, offlineStory } from './engines/more-stories.ts'
import { expectSupport } from './engines/support.ts'
import { startWebKit } from './engines/webkit.ts'

const world = new EngineWorld(startWebKit)

test('the central story', () => centralStory(world.engine, world.relay.url), STORY_MS)

test("version 3's ML-KEM is noble's there", () => mlKemStory(world.engine, 'noble'), STORY_MS)

test(
  'what it has and lacks is in the table of support, the app says so, and it works offline',
  async () => {
    const [alice, bob] = await aliceAndBob(world.engine, world.relay)
    await expectSupport('WebKitGTK', (expression) => alice.tab.compute(expression))
    await alice.presses(en.conversation.record)
    await alice.reads(en.errors.codes.UNSUPPORTED ?? '')
    await offlineStory(alice, bob, world.relay)
    await alice.presses(en.conversation.voiceCall)
    await alice.reads(en.errors.codes.UNSUPPORTED ?? '')
    await alice.follows(en.common.settings)
    await alice.tab.compute(`void (location.hash = '#/settings/storage')`)
    await alice.reads(en.device.storageNoPromise)
    await alice.tab.close()
    await bob.client.close()
  },
  STORY_MS,
)
