// The app in Firefox. The stories hold the expectations: each step waits for what it names, and fails with
// what the screen shows instead.
import { test } from 'bun:test'
import { centralStory } from './engines/central-story.ts'
import { EngineWorld, STORY_MS } from './engines/engine-world.ts'
import { startFirefox } from './engines/firefox.ts'
import { mlKemStory } from './engines/ml-kem-story.ts'
import { aliceAndBob, offlineStory, voiceStory } from './engines/more-stories.ts'
import { expectSupport } from './engines/support.ts'

const world = new EngineWorld(startFirefox)

test('the central story', () => centralStory(world.engine, world.relay.url), STORY_MS)

test("version 3's ML-KEM is noble's there", () => mlKemStory(world.engine, 'noble'), STORY_MS)

test(
  'what it has and lacks is in the table of support, voice messages are recorded, and it works offline',
  async () => {
    const [alice, bob] = await aliceAndBob(world.engine, world.relay)
    await expectSupport('Firefox', (expression) => alice.tab.compute(expression))
    await voiceStory(alice, bob)
    await offlineStory(alice, bob, world.relay)
    await alice.tab.close()
    await bob.client.close()
  },
  STORY_MS,
)
