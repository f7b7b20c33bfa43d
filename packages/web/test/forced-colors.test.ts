// With the colours of the system only, what is told by a colour elsewhere is seen, too.
import { expect, test } from 'bun:test'
import type { Locator, Page } from 'playwright-core'
import { sharedChromium } from '../../client/test/browser/shared-chromium.ts'
import { until } from '../../client/test/people.ts'
import { keepNotices } from './told.ts'
import { AppWorld } from './world.ts'

const world = new AppWorld()

interface Clip {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

/** Reads the colours of pictures: a page of its own, because the app's policy lets it load none. */
class Eye {
  readonly #page: Page

  private constructor(page: Page) {
    this.#page = page
  }

  static async open(): Promise<Eye> {
    return new Eye(await (await (await sharedChromium()).newContext()).newPage())
  }

  async close(): Promise<void> {
    await this.#page.context().close()
  }

  /** The different colours at the side where an element begins, half-way down, from outside to inside. */
  async edgeOf(place: Locator, side: 'left' | 'right' = 'left'): Promise<readonly string[]> {
    const [OUTSIDE_PX, INSIDE_PX] = [3, 7]
    const { x, y, width, height } = await this.#boxOf(place)
    const from = side === 'left' ? x - OUTSIDE_PX : x + width - INSIDE_PX
    const clip = { x: from, y: y + height / 2, width: OUTSIDE_PX + INSIDE_PX, height: 1 }
    return [...new Set(await this.#coloursIn(place.page(), clip))]
  }

  /** The colours of an element, in one text. */
  async lookOf(place: Locator): Promise<string> {
    return (await this.#coloursIn(place.page(), await this.#boxOf(place))).join(' ')
  }

  async #boxOf(place: Locator): Promise<Clip> {
    await place.scrollIntoViewIfNeeded()
    const box = await place.boundingBox()
    if (!box) throw new Error('it is not shown')
    return box
  }

  async #coloursIn(page: Page, clip: Clip): Promise<readonly string[]> {
    const png = await page.screenshot({ clip, animations: 'disabled', caret: 'hide' })
    return this.#page.evaluate(
      async (url) => {
        const image = new Image()
        image.src = url
        await image.decode()
        const context = new OffscreenCanvas(image.width, image.height).getContext('2d')
        if (!context) throw new Error('this browser cannot draw')
        context.drawImage(image, 0, 0)
        const { data } = context.getImageData(0, 0, image.width, image.height)
        return Array.from({ length: data.length / 4 }, (_, at) => data.slice(4 * at, 4 * at + 3).join(','))
      },
      `data:image/png;base64,${png.toString('base64')}`,
    )
  }
}

test('borders, marks and states are seen with the colours of the system only', async () => {
  const eye = await Eye.open()
  const { person: alice, friends, alias } = await world.withFriends('Alice', 'Bob', 'Carl')
  const [bob, carl] = friends
  const { page, t } = alice
  await page.emulateMedia({ forcedColors: 'active' })
  await carl?.client.send(alias, 'Unread')
  await alice.seesInList('Carl', 'Unread')
  await bob?.client.send(alias, 'From Bob')
  await alice.seesInList('Bob', 'From Bob')
  await alice.doesWith('Bob', t.chats.muteHours)
  await alice.opens('Bob')
  await alice.writes('From me')
  await bob?.receives('From me')
  const mark = (await alice.sees('From me', { mark: 'delivered' })).locator('.status-mark')
  const delivered = await eye.lookOf(mark)
  await bob?.client.markRead(alias)
  await alice.sees('From me', { mark: 'read' })
  expect(await eye.lookOf(mark)).not.toBe(delivered)
  const theirs = page.getByRole('article').filter({ hasText: 'From Bob' })
  const own = page.getByRole('article').filter({ hasText: 'From me' })
  const isSeen = (name: string, place: Locator): Promise<unknown> =>
    until(`${name} is seen`, async () => (await eye.edgeOf(place)).length > 1)
  await page.mouse.move(0, 0)
  await isSeen('their message', theirs)
  await isSeen('the own message', own)
  await isSeen('an avatar', alice.conversationWith('Carl').locator('.avatar'))
  await isSeen('a number', alice.conversationWith('Carl').locator('.badge'))
  expect(await eye.edgeOf(own, 'right')).not.toEqual(await eye.edgeOf(theirs, 'right'))
  const [current, other] = [alice.conversationWith('Bob'), alice.conversationWith('Carl')]
  expect(await eye.edgeOf(current)).not.toEqual(await eye.edgeOf(other))
  const destination = (name: string): Locator => page.getByRole('link', { name }).locator('.icon').first()
  const navigation = page.getByRole('navigation')
  expect(await eye.edgeOf(navigation.locator('[aria-current] .icon'))).not.toEqual(
    await eye.edgeOf(destination(t.common.contacts)),
  )

  await alice.doesWith('Carl', t.chats.markRead)
  await alice.doesWith('Carl', t.chats.markUnread)
  // Its place is that of the row's button while that has the focus.
  await alice.field.focus()
  await page.mouse.move(0, 0)
  await isSeen('a mark', alice.conversationWith('Carl').locator('.chats-dot'))
  await alice.types('Not sent')
  await isSeen('the button that sends', page.getByRole('button', { name: t.conversation.send, exact: true }))
  await alice.types('')
  await alice.opensMenuOf('From me')
  await isSeen('a menu', page.getByRole('menu'))
  await alice.choosesFromMenu(t.conversation.details)
  await isSeen('a dialog', page.getByRole('dialog'))
  await page.keyboard.press('Escape')
  await keepNotices(page)
  await alice.does(t.conversation.removeHere, 'From me')
  await isSeen('a notice', page.locator('.notice'))
  await alice.presses(t.common.undo)

  await alice.presses(t.conversation.record)
  await page.getByRole('button', { name: t.media.sendVoice }).waitFor()
  await isSeen('the recorder', page.locator('.recorder'))
  // The slider moves by whole seconds.
  await page
    .locator('.recorder')
    .getByText(/0:(?:0[2-9]|[1-5]\d)/)
    .waitFor()
  await alice.presses(t.media.sendVoice)
  const slider = page.getByRole('slider')
  await slider.waitFor()
  const waveform = page.locator('.waveform')
  const unplayed = await eye.lookOf(waveform)
  await slider.fill((await slider.getAttribute('max')) ?? '')
  await page.locator('.waveform [data-played="true"]').first().waitFor()
  expect(await eye.lookOf(waveform)).not.toBe(unplayed)

  await alice.goesTo('#/channels/new')
  const toggle = page.getByRole('switch').first()
  await isSeen('a switch', toggle)
  const isKnobSeen = new Set((await eye.lookOf(toggle)).split(' ')).size > 2
  expect(isKnobSeen).toBe(true)
  await eye.close()
})
