// What is seen can be used at once: keys that are pressed before the next frame reach it.
import { test } from 'bun:test'
import { withoutFrames } from './held-frames.ts'
import { AppWorld } from './world.ts'

const world = new AppWorld()

test('Enter takes the emoji that is offered, as soon as it is', async () => {
  const [alice] = await world.withFriend('Alice', 'Bob')
  const { page, field } = alice
  const fire = page.getByRole('option', { name: 'fire' })
  await alice.opens('Bob')
  // The list is loaded now.
  await alice.types(':fire')
  await fire.waitFor()
  await alice.types('')
  await fire.waitFor({ state: 'detached' })
  await alice.settles()

  await withoutFrames(page, async () => {
    await alice.types('so :fire')
    await fire.waitFor()
    await field.press('Enter')
    await alice.finds('so 🔥')
  })
})
